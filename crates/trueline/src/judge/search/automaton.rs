//! The specification as a graph of numbered states, which is built as it is explored.

use super::budget::Meter;
use super::hash;
use super::problem::{ClassId, Classes};
use crate::verdict::LimitKind;

/// The number of a state of the specification. The initial state has number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StateId(pub(crate) u32);

impl StateId {
    pub(crate) const INITIAL: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a result that an operation could have had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ResultId(pub(crate) u32);

/// The numbered states of a specification. This trait hides the types of the user, so that a search
/// is compiled only once, not once for each specification.
pub(crate) trait StateSpace {
    /// Finds the states to which `class` leads from `state` with its recorded result, and appends
    /// their numbers to `next`.
    fn successors(&mut self, state: StateId, class: ClassId, next: &mut Vec<StateId>);
    /// Finds the states to which `class` leads from `state` with any result other than the recorded
    /// one, and appends their numbers to `next`.
    fn other_successors(&mut self, state: StateId, class: ClassId, next: &mut Vec<StateId>);
    /// Returns whether a goal (an operation that the foresight rule looks ahead to) may have its
    /// result in `state`, or in a state that can follow `state` without a blind write.
    fn reaches(&self, state: StateId, goal: ClassId) -> bool;
    fn len(&self) -> usize;
    /// Returns the number of bytes that the states and their table occupy.
    fn bytes(&self) -> usize;
    /// Forgets all states except those in `keep`, which is ascending, and numbers these from 0 in the order of `keep`.
    fn retain(&mut self, keep: &[StateId]);
}

/// Removes all but the first of equal states. The remaining states keep the specification's order.
/// They are not sorted by number, because a search that is halfway through a list must find the
/// list in the same order after the states have been renumbered.
pub(crate) fn keep_first_of_equal(states: &mut Vec<StateId>) {
    if states.len() < 2 {
        return;
    }
    let mut known = hashbrown::HashSet::<StateId, hash::Builder>::default();
    states.retain(|state| known.insert(*state));
}

/// The states to which one step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStates {
    /// No state: the operation cannot have this result here.
    None,
    /// One state.
    One(StateId),
    /// Several states. [`Automaton::several`] returns the list.
    Several(u32),
}

/// Memoized steps, by state and class.
#[derive(Debug)]
pub(crate) struct Steps {
    memo: Memo,
    /// Lists of states. `NextStates::Several` holds the index of a list.
    several: Vec<Box<[StateId]>>,
    /// For each state and class, an index in `several`. Unlike `memo`, this map never replaces an
    /// entry by another one, so a step that is computed again does not store its list again.
    several_of: hashbrown::HashMap<(StateId, ClassId), u32, hash::Builder>,
    scratch: Vec<StateId>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { memo: Memo::new(), several: Vec::new(), several_of: hashbrown::HashMap::default(), scratch: Vec::new() }
    }

    /// Forgets the steps of a class.
    pub(crate) fn forget(&mut self, class: ClassId) {
        self.memo.entries.iter_mut().filter(|entry| entry.class == class.0).for_each(|entry| *entry = EMPTY);
        self.several_of.retain(|(_, of), _| *of != class);
    }
}

/// The automaton of a specification over the classes of a history. Its states are computed when
/// they are needed.
pub(crate) struct Automaton<'a> {
    space: &'a mut (dyn StateSpace + 'a),
    steps: &'a mut Steps,
    classes: &'a Classes,
    /// The total number of bytes that have been reported to the meter.
    charged: usize,
}

impl std::fmt::Debug for Automaton<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Automaton").field("states", &self.space.len()).finish_non_exhaustive()
    }
}

impl<'a> Automaton<'a> {
    /// Returns the automaton with the given states. `steps` holds the steps that were memoized for
    /// these states.
    pub(crate) fn new(space: &'a mut (dyn StateSpace + 'a), steps: &'a mut Steps, classes: &'a Classes) -> Self {
        Self { space, steps, classes, charged: 0 }
    }

    /// Returns the number of states encountered so far.
    pub(crate) fn states(&self) -> usize {
        self.space.len()
    }

    /// Returns whether the operations of the class leave every state unchanged.
    #[inline]
    pub(crate) fn observes(&self, class: ClassId) -> bool {
        self.classes.observes(class)
    }

    pub(crate) fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Returns the states to which `NextStates::Several(list)` leads.
    pub(crate) fn several(&self, list: u32) -> &[StateId] {
        &self.steps.several[list as usize]
    }

    /// Returns the states to which `class` leads from `state` with its recorded result. If `class`
    /// has no recorded result, any result is possible.
    ///
    /// # Complexity
    /// O(1) if the step was taken recently; otherwise one step of the specification.
    #[inline]
    pub(crate) fn step(&mut self, state: StateId, class: ClassId, meter: &mut Meter) -> Result<NextStates, LimitKind> {
        match self.steps.memo.get(state, class) {
            Some(step) => Ok(step),
            None => self.compute(state, class, meter),
        }
    }

    #[cold]
    fn compute(&mut self, state: StateId, class: ClassId, meter: &mut Meter) -> Result<NextStates, LimitKind> {
        let Steps { memo, several, several_of, scratch } = &mut *self.steps;
        scratch.clear();
        self.space.successors(state, class, scratch);
        let step = match **scratch {
            [] => NextStates::None,
            [next] => NextStates::One(next),
            _ => NextStates::Several(*several_of.entry((state, class)).or_insert_with(|| {
                several.push(scratch.as_slice().into());
                u32::try_from(several.len() - 1).expect("memory runs out before 2^32 lists")
            })),
        };
        memo.insert(state, class, step);
        self.charge(meter)?;
        Ok(step)
    }

    /// Appends to `next` the states to which `class` leads from `state` with any result other than
    /// the recorded one.
    pub(crate) fn other_steps(
        &mut self,
        state: StateId,
        class: ClassId,
        next: &mut Vec<StateId>,
        meter: &mut Meter,
    ) -> Result<(), LimitKind> {
        self.space.other_successors(state, class, next);
        self.charge(meter)
    }

    /// Returns whether a goal (an operation that the foresight rule looks ahead to) may have its
    /// result in `state`, or in a state that can follow `state` without a blind write.
    pub(crate) fn reaches(&self, state: StateId, goal: ClassId) -> bool {
        self.space.reaches(state, goal)
    }

    /// Returns the size of the states and the tables, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let Steps { memo, several, several_of, .. } = &*self.steps;
        self.space.bytes() + memo.bytes() + several_of.allocation_size() + several.len() * 48
    }

    /// Returns the size of the states alone, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.space.bytes()
    }

    /// Reports newly allocated bytes to the meter. The first report covers all bytes, because the meter is new.
    fn charge(&mut self, meter: &mut Meter) -> Result<(), LimitKind> {
        let bytes = self.bytes();
        let more = bytes.saturating_sub(self.charged);
        self.charged = self.charged.max(bytes);
        if more > 0 { meter.allocate(more) } else { Ok(()) }
    }

    /// Forgets all states except those in `keep`, and numbers these from 0 in the order of `keep`.
    /// `keep` is ascending and starts with the initial state.
    pub(crate) fn retain(&mut self, keep: &[StateId], meter: &mut Meter) {
        debug_assert_eq!(keep.first(), Some(&StateId::INITIAL), "the initial state keeps its number");
        self.space.retain(keep);
        *self.steps = Steps::new();
        let bytes = self.bytes();
        meter.free(self.charged.saturating_sub(bytes));
        self.charged = bytes;
    }
}

/// A cache of recent steps. A step that is not in the cache is computed again.
///
/// The cache is direct-mapped. It stores whole keys, so it never returns the result of another step.
#[derive(Debug)]
struct Memo {
    /// The entries. The state of an empty entry is `u32::MAX`.
    entries: Vec<CachedStep>,
    shift: u32,
    /// The number of misses since the cache last grew.
    misses: usize,
}

#[derive(Clone, Copy, Debug)]
struct CachedStep {
    state: u32,
    class: u32,
    step: u32,
}

const EMPTY: CachedStep = CachedStep { state: u32::MAX, class: 0, step: 0 };
const STEP_NONE: u32 = u32::MAX;
const STEP_SEVERAL: u32 = 1 << 31;

impl Memo {
    const SMALLEST: u32 = 8;
    const LARGEST: u32 = 18;

    fn new() -> Self {
        Self { entries: vec![EMPTY; 1 << Self::SMALLEST], shift: 64 - Self::SMALLEST, misses: 0 }
    }

    fn bytes(&self) -> usize {
        self.entries.len() * size_of::<CachedStep>()
    }

    #[inline]
    fn place(&self, state: StateId, class: ClassId) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "shifted down to at most 18 bits")]
        let place = (hash::word(u64::from(state.0) << 32 | u64::from(class.0)) >> self.shift) as usize;
        place
    }

    #[inline]
    fn get(&self, state: StateId, class: ClassId) -> Option<NextStates> {
        let entry = self.entries[self.place(state, class)];
        if entry.state != state.0 || entry.class != class.0 {
            return None;
        }
        Some(match entry.step {
            STEP_NONE => NextStates::None,
            step if step & STEP_SEVERAL != 0 => NextStates::Several(step & !STEP_SEVERAL),
            step => NextStates::One(StateId(step)),
        })
    }

    fn insert(&mut self, state: StateId, class: ClassId, step: NextStates) {
        self.misses += 1;
        if self.misses > self.entries.len() && 64 - self.shift < Self::LARGEST {
            self.grow();
        }
        let place = self.place(state, class);
        let step = match step {
            NextStates::None => STEP_NONE,
            NextStates::One(next) => {
                debug_assert!(next.0 & STEP_SEVERAL == 0, "memory runs out before 2^31 states");
                next.0
            }
            NextStates::Several(list) => list | STEP_SEVERAL,
        };
        self.entries[place] = CachedStep { state: state.0, class: class.0, step };
    }

    fn grow(&mut self) {
        self.misses = 0;
        self.shift -= 2;
        let old = std::mem::replace(&mut self.entries, vec![EMPTY; 1 << (64 - self.shift)]);
        for entry in old {
            if entry.state != EMPTY.state {
                let place = self.place(StateId(entry.state), ClassId(entry.class));
                self.entries[place] = entry;
            }
        }
    }
}
