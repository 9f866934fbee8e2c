//! A part of a history in the form that a search needs: operations are numbers, and time is counted
//! in returns.

use super::foresight::Foresight;
use super::mask::{Field, Layout, Mask};
use super::rules::Rules;
use crate::history::{Event, EventKind, OpId};

/// A class of operations that the specification cannot distinguish: they have equal arguments, and
/// either equal results or no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassId(pub(crate) u32);

impl ClassId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The classes of the operations of a whole history.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// The class of each operation.
    of: Vec<ClassId>,
    /// For each class, an operation that represents it.
    first: Vec<OpId>,
    /// For each class, whether its operations leave every state unchanged
    /// ([`Spec::observes`](crate::spec::Spec::observes)).
    observes: Vec<bool>,
    /// For each class of blind writes, the part of the state that they overwrite
    /// ([`Spec::overwrites`](crate::spec::Spec::overwrites)).
    overwrites: Vec<Option<Reach>>,
    /// For each class, whether its operations are goals
    /// ([`Spec::is_goal`](crate::spec::Spec::is_goal)). The classes after the last goal have no
    /// entries.
    goals: Vec<bool>,
    /// For each class, the number of its key, if it has a key. Empty if there are no goals.
    keys: Vec<Option<u32>>,
}

/// The part of the state that a blind write overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Key,
    Everything,
}

impl Classes {
    /// Returns an empty set of classes for a history with the given number of operations.
    pub(crate) fn none(operations: usize) -> Self {
        Self {
            of: vec![ClassId(u32::MAX); operations],
            first: Vec::new(),
            observes: Vec::new(),
            overwrites: Vec::new(),
            goals: Vec::new(),
            keys: Vec::new(),
        }
    }

    /// Adds a class, represented by `first`.
    pub(crate) fn add(&mut self, first: OpId, observes: bool, overwrites: Option<Reach>, is_goal: bool) -> ClassId {
        let class = ClassId(u32::try_from(self.first.len()).expect("there are no more classes than operations"));
        self.first.push(first);
        self.observes.push(observes);
        self.overwrites.push(overwrites);
        if is_goal {
            self.goals.resize(class.index(), false);
            self.goals.push(true);
        }
        class
    }

    /// Puts an operation into a class.
    #[inline]
    pub(crate) fn put(&mut self, id: OpId, class: ClassId) {
        self.of[id.index()] = class;
    }

    /// For each class, sets the number of its key, which is computed from the operation that
    /// represents the class.
    pub(crate) fn set_keys(&mut self, key: &mut dyn FnMut(OpId) -> Option<u32>) {
        self.keys = self.first.iter().map(|id| key(*id)).collect();
    }

    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    pub(crate) fn of(&self, id: OpId) -> ClassId {
        self.of[id.index()]
    }

    /// Returns an operation of the class.
    pub(crate) fn representative(&self, class: ClassId) -> OpId {
        self.first[class.index()]
    }

    pub(crate) fn observes(&self, class: ClassId) -> bool {
        self.observes[class.index()]
    }

    pub(crate) fn has_goals(&self) -> bool {
        !self.goals.is_empty()
    }

    pub(crate) fn is_goal(&self, class: ClassId) -> bool {
        self.goals.get(class.index()).is_some_and(|is_goal| *is_goal)
    }

    /// Numbers the keys of the given classes from 0. Returns the number of the key of each class,
    /// and the number of keys. If no class has a key, returns an empty vector and 1. Returns `None`
    /// if only some classes have keys, or if there are no goals.
    pub(crate) fn number_keys(&self, classes: &[ClassId]) -> Option<(Vec<u32>, usize)> {
        let key = |class: &ClassId| self.keys.get(class.index()).copied().flatten();
        if classes.iter().all(|class| key(class).is_none()) {
            return (!self.keys.is_empty()).then_some((Vec::new(), 1));
        }
        let mut numbers: hashbrown::HashMap<u32, u32, super::hash::Builder> = hashbrown::HashMap::default();
        let mut number = |key: u32| {
            let next = u32::try_from(numbers.len()).expect("there are no more keys than operations");
            *numbers.entry(key).or_insert(next)
        };
        let of: Option<Vec<u32>> = classes.iter().map(|class| key(class).map(&mut number)).collect();
        Some((of?, numbers.len()))
    }

    /// Returns whether the operations of the class are blind writes in a part. `one_key` is set if
    /// the part has only one key.
    pub(crate) fn overwrites(&self, class: ClassId, one_key: bool) -> bool {
        self.overwrites[class.index()].is_some_and(|reach| one_key || reach == Reach::Everything)
    }
}

/// The level of an operation that never returns.
pub(crate) const NEVER: u32 = u32::MAX;

/// Never-returning operations that a search does not distinguish: all those of one class, or a single one if the rule
/// `counters` is off.
#[derive(Clone, Debug)]
pub(crate) struct Optional {
    pub(crate) class: ClassId,
    /// The operations, in the order of their calls. They are interchangeable, so a search always
    /// uses the first unused one.
    pub(crate) members: Vec<u32>,
    /// The field of the mask that counts how many members were used.
    pub(crate) field: Field,
}

/// The operations of one part, numbered from 0 in the order of their calls.
///
/// Observers that never return are not included, because a linearization never needs them.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// The number that each operation has in the history.
    pub(crate) ids: Vec<OpId>,
    /// The class of each operation.
    pub(crate) class: Vec<ClassId>,
    /// For each operation, the number of operations that return before it returns, or `NEVER` if it
    /// never returns.
    pub(crate) level: Vec<u32>,
    /// For each operation that returns, its *slot*: the bit of the mask that is set if the
    /// operation is linearized while it is open. Slots are reused after the return. For each
    /// operation that never returns, the entry is its index in `optional`.
    pub(crate) place: Vec<u32>,
    /// For each level, the operation that returns at this level.
    pub(crate) returns: Vec<u32>,
    /// For each level, the number of operations that were called before the return at that level.
    pub(crate) called: Vec<u32>,
    pub(crate) optional: Vec<Optional>,
    /// The maximum number of slots in use at the same time.
    pub(crate) slots: u32,
    /// The number of words of a mask.
    pub(crate) words: usize,
    /// The meaning of the second bit of each slot.
    pub(crate) second: SecondBit,
    /// The position in a mask where the second bits of the slots begin.
    pub(crate) second_bits: u32,
    /// For each operation, whether it is a blind write. Empty if the absorption rule is off.
    overwrites: Vec<bool>,
    /// The goals to look ahead to. `None` if the foresight rule is off, or if the part has no
    /// goals.
    pub(crate) foresight: Option<Foresight>,
}

/// The meaning of the second bit that a mask has for each open operation. The first bit is set if
/// the operation is linearized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecondBit {
    /// Masks have no second bits.
    None,
    /// The operation was linearized with a result other than the recorded one.
    Wrong,
    /// The operation no longer needs to be linearized: it is linearized, or a blind write has absorbed it.
    Settled,
}

/// A flag that marks an operation in a *trail* as absorbed: the operation takes effect just before
/// the preceding blind write. A trail is the list of the operations that a search has linearized so
/// far.
pub(crate) const ABSORBED: u32 = 1 << 31;

/// A part of a history to be judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'e> {
    pub(crate) events: &'e [Event],
    /// Whether all operations have the same key.
    pub(crate) one_key: bool,
}

impl Problem {
    /// Returns the problem for the given events. `numbers` is scratch space that has one entry for
    /// each operation of the history.
    ///
    /// # Complexity
    /// Linear in the number of events.
    pub(crate) fn new(
        task: Task<'_>,
        classes: &Classes,
        rules: Rules,
        compare_at_return: bool,
        numbers: &mut [u32],
    ) -> Self {
        let events = task.events;
        let returned = events.iter().filter(|event| event.kind() == EventKind::Return).count();
        let most = events.len() - returned;
        let mut problem = Self {
            ids: Vec::with_capacity(most),
            class: Vec::with_capacity(most),
            level: Vec::with_capacity(most),
            place: Vec::with_capacity(most),
            returns: Vec::with_capacity(returned),
            called: Vec::with_capacity(returned),
            optional: Vec::new(),
            slots: 0,
            words: 0,
            second: SecondBit::None,
            second_bits: 0,
            overwrites: Vec::new(),
            foresight: None,
        };
        problem.number_by_calls(events, classes, numbers);
        if compare_at_return {
            problem.second = SecondBit::Wrong;
        } else if rules.absorption {
            problem.overwrites = problem.class.iter().map(|class| classes.overwrites(*class, task.one_key)).collect();
            // Only a blind write that returns can be absorbed, so the second bit is needed only if
            // the part has such a write.
            let any = problem.returns.iter().any(|op| problem.overwrites[*op as usize]);
            problem.second = if any { SecondBit::Settled } else { SecondBit::None };
        }
        let widths = problem.place_operations(rules);
        problem.lay_out(&widths);
        if rules.foresight {
            problem.foresight = Foresight::new(&problem, classes, task.one_key);
        }
        problem
    }

    /// Fills `ids`, `class`, `level`, `returns` and `called`.
    fn number_by_calls(&mut self, events: &[Event], classes: &Classes, numbers: &mut [u32]) {
        for event in events {
            let id = event.op();
            match event.kind() {
                EventKind::Call => {
                    numbers[id.index()] =
                        u32::try_from(self.ids.len()).expect("the number of operations fits in 32 bits");
                    self.ids.push(id);
                    self.class.push(classes.of(id));
                    self.level.push(NEVER);
                }
                EventKind::Return => {
                    let level = u32::try_from(self.returns.len()).expect("the number of operations fits in 32 bits");
                    let op = numbers[id.index()];
                    self.level[op as usize] = level;
                    self.returns.push(op);
                    self.called.push(u32::try_from(self.ids.len()).expect("the number of operations fits in 32 bits"));
                }
            }
        }
        // Operations called after the last return can be left out, because nothing depends on them.
        let relevant = self.called.last().copied().unwrap_or(0) as usize;
        self.ids.truncate(relevant);
        self.class.truncate(relevant);
        self.level.truncate(relevant);
        // Observers that never return are dropped here, because only now is it known which
        // operations never return.
        let dropped = |op: usize| self.level[op] == NEVER && classes.observes(self.class[op]);
        if (0..self.ids.len()).any(dropped) {
            let kept: Vec<usize> = (0..self.ids.len()).filter(|op| !dropped(*op)).collect();
            // For each operation by its old number, the number of kept operations that come before
            // it.
            let mut before = vec![0; self.ids.len() + 1];
            for op in 0..self.ids.len() {
                before[op + 1] = before[op] + u32::from(!dropped(op));
            }
            self.ids = kept.iter().map(|op| self.ids[*op]).collect();
            self.class = kept.iter().map(|op| self.class[*op]).collect();
            self.level = kept.iter().map(|op| self.level[*op]).collect();
            for op in &mut self.returns {
                *op = before[*op as usize];
            }
            for called in &mut self.called {
                *called = before[*called as usize];
            }
        }
    }

    /// Gives slots to the operations that return, and sorts the never-returning operations into
    /// `optional`. Returns, for each entry of `optional`, the maximum count that its field of the
    /// mask must hold. The positions of the fields are determined later.
    fn place_operations(&mut self, rules: Rules) -> Vec<u32> {
        let mut free: Vec<u32> = Vec::new();
        let mut by_class: hashbrown::HashMap<ClassId, u32, super::hash::Builder> = hashbrown::HashMap::default();
        let mut next = 0;
        for (returning, called) in self.returns.iter().zip(&self.called) {
            for op in next..*called {
                let class = self.class[op as usize];
                let place = if self.level[op as usize] == NEVER {
                    let new = u32::try_from(self.optional.len()).expect("the number of operations fits in 32 bits");
                    let index = if rules.counters { *by_class.entry(class).or_insert(new) } else { new };
                    if index == new {
                        let field = Layout::default().field(1);
                        self.optional.push(Optional { class, members: Vec::new(), field });
                    }
                    self.optional[index as usize].members.push(op);
                    index
                } else {
                    free.pop().unwrap_or_else(|| {
                        self.slots += 1;
                        self.slots - 1
                    })
                };
                self.place.push(place);
            }
            next = *called;
            free.push(self.place[*returning as usize]);
        }
        self.optional
            .iter()
            .map(|optional| u32::try_from(optional.members.len()).expect("the number of operations fits in 32 bits"))
            .collect()
    }

    fn lay_out(&mut self, widths: &[u32]) {
        let mut layout = Layout::default();
        layout.bits(self.slots);
        if self.second != SecondBit::None {
            self.second_bits = layout.bits(self.slots);
        }
        for (optional, most) in self.optional.iter_mut().zip(widths) {
            optional.field = layout.field(*most);
        }
        self.words = layout.words();
    }

    /// Returns the first level at which an operation is open, or `None` if the problem does not include the operation.
    pub(crate) fn level_of_call(&self, id: OpId) -> Option<u32> {
        let op = self.ids.iter().position(|other| *other == id)?;
        let level = self.called.partition_point(|called| *called as usize <= op);
        Some(u32::try_from(level).expect("the number of operations fits in 32 bits"))
    }

    /// Returns the number of returns.
    pub(crate) fn levels(&self) -> u32 {
        u32::try_from(self.returns.len()).expect("the number of operations fits in 32 bits")
    }

    pub(crate) fn returns_never(&self, op: u32) -> bool {
        self.level[op as usize] == NEVER
    }

    pub(crate) fn class(&self, op: u32) -> ClassId {
        self.class[op as usize]
    }

    /// Returns the slot of an operation that returns.
    #[inline]
    pub(crate) fn slot(&self, op: u32) -> u32 {
        debug_assert!(!self.returns_never(op), "only operations that return have slots");
        self.place[op as usize]
    }

    /// Returns whether an operation is a blind write that absorbs other blind writes.
    #[inline]
    pub(crate) fn absorbs(&self, op: u32) -> bool {
        self.second == SecondBit::Settled && self.overwrites[op as usize]
    }

    /// Returns whether `op` no longer needs to be linearized.
    #[inline]
    pub(crate) fn is_settled<M: Mask>(&self, mask: &M, op: u32) -> bool {
        match self.second {
            SecondBit::Settled => mask.has(self.second_bits + self.slot(op)),
            _ => mask.has(self.slot(op)),
        }
    }

    /// Marks `op`, which is open, as linearized. If `op` is a blind write, the other blind writes
    /// in `open` become settled.
    #[inline]
    pub(crate) fn linearize<M: Mask>(&self, mask: &mut M, op: u32, open: &[u32]) {
        self.mark(mask, op);
        if self.absorbs(op) {
            self.settle_blind_writes(mask, open);
        }
    }

    /// Marks `op`, which is open, as linearized, and settles no other operation.
    #[inline]
    pub(crate) fn mark<M: Mask>(&self, mask: &mut M, op: u32) {
        if self.returns_never(op) {
            mask.increment(self.optional[self.place[op as usize] as usize].field);
        } else {
            mask.set(self.slot(op));
            if self.second == SecondBit::Settled {
                mask.set(self.second_bits + self.slot(op));
            }
        }
    }

    /// Settles the blind writes in `open`. The second bits of the mask must mean [`SecondBit::Settled`].
    #[inline]
    pub(crate) fn settle_blind_writes<M: Mask>(&self, mask: &mut M, open: &[u32]) {
        for &other in open {
            if self.overwrites[other as usize] {
                mask.set(self.second_bits + self.slot(other));
            }
        }
    }

    /// Clears the bits of `op`, which returns now, so that another operation can use its slot.
    #[inline]
    pub(crate) fn leave<M: Mask>(&self, mask: &mut M, op: u32) {
        mask.clear(self.slot(op));
        if self.second != SecondBit::None {
            mask.clear(self.second_bits + self.slot(op));
        }
    }

    /// Returns the trail with absorbed operations moved to where they take effect: just before the preceding blind
    /// write.
    pub(crate) fn unfold(&self, trail: Vec<u32>) -> Vec<u32> {
        if self.second != SecondBit::Settled {
            return trail;
        }
        // Linked lists of indices in the trail. The entry of a blind write is the last operation
        // that it absorbed; the entry of an absorbed operation is the previous operation that the
        // same write absorbed.
        let mut absorbed_by = vec![u32::MAX; trail.len()];
        let mut last = None;
        let places = || (0u32..).zip(&trail);
        for (place, &op) in places() {
            if op & ABSORBED != 0 {
                let by: &mut u32 =
                    &mut absorbed_by[last.expect("an absorbed operation follows the write that absorbed it") as usize];
                absorbed_by[place as usize] = std::mem::replace(by, place);
            } else if self.absorbs(op) {
                last = Some(place);
            }
        }
        let mut order = Vec::with_capacity(trail.len());
        for (place, &op) in places().filter(|(_, op)| **op & ABSORBED == 0) {
            let mut absorbed = absorbed_by[place as usize];
            while absorbed != u32::MAX {
                order.push(trail[absorbed as usize] & !ABSORBED);
                absorbed = absorbed_by[absorbed as usize];
            }
            order.push(op);
        }
        order
    }

    /// Returns the approximate number of bytes that the problem takes.
    pub(crate) fn bytes(&self) -> usize {
        let foresight = self.foresight.as_ref().map_or(0, Foresight::bytes);
        self.ids.capacity() * 16 + self.returns.capacity() * 8 + self.optional.len() * 64 + foresight
    }
}
