//! Searches for an interval linearization.
//!
//! This is similar to the search for synchronizations of Lawrence & Lowe, *Synchronisation: Specification and Testing*,
//! section 7.1. A configuration is a place in the history, the state, and the sets of open executions that have begun
//! and that have ended. The moves are the next call, the next return if its execution has ended, and a step of open
//! executions that have not ended. The graph of configurations is searched depth first, and each configuration is
//! visited once.
//!
//! Steps are tried just before the return of an execution that has not ended, and at the end. *Why this is enough.*
//! Given some steps, each placed in time, move the last one later until it meets the return of an execution that ends
//! with it; then move the one before it until it meets such a return or the next step, and so on. Beginning later does
//! no harm, and no execution returns before a step that it takes part in. So if there are steps between a return and
//! the event before it, the returning execution ends with the last of them, and had not ended before these steps. Steps
//! that meet no return are at the end.
//!
//! # Complexity
//! Exponential: synchronizations are a special case, which is NP-complete (section 7.2). In practice the cost depends
//! on how many executions are open at once: for k of them there are 3^k configurations for each place and state.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::task::{Member, Step, Task, step};
use crate::history::{Event, EventKind, OpId};
use crate::judge::search::{Meter, hash};
use crate::spec::interval::IntervalSpec;
use crate::verdict::LimitKind;

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of events that have been passed.
    position: u32,
    state: u32,
    /// For each open execution, by slot, two bits: whether it has begun, and whether it has ended.
    marks: SmallVec<[u64; 2]>,
}

/// A function that is called with each step that was tried: the executions that take part, and the results of those
/// that end.
type Seen<'f, S> = dyn FnMut(&[Member], &[Option<<S as IntervalSpec>::Ret>]) + 'f;

/// A path to a configuration, given by the last step on it.
struct Way {
    before: u32,
    step: Box<[(OpId, bool)]>,
}

const START: u32 = u32::MAX;
const HAS_BEGUN: u32 = 0;
const HAS_ENDED: u32 = 1;

pub(super) struct Search<'s, 'a, S: IntervalSpec> {
    task: &'s Task<'a, S>,
    events: Vec<Event>,
    /// The slot of each operation of the history while it is open.
    slots: HashMap<OpId, u32, hash::Builder>,
    words: usize,
    /// The open executions at each position; the lists are concatenated.
    open: Vec<OpId>,
    open_from: Vec<u32>,
    states: Vec<S::State>,
    numbers: HashMap<S::State, u32, hash::Builder>,
    seen: HashSet<Key, hash::Builder>,
    ways: Vec<Way>,
    stack: Vec<(Key, u32)>,
    meter: &'s mut Meter,
}

impl<'s, 'a, S: IntervalSpec> Search<'s, 'a, S> {
    pub(super) fn new(task: &'s Task<'a, S>, meter: &'s mut Meter) -> Result<Self, LimitKind> {
        let events: Vec<Event> = task.events().collect();
        let (mut slots, mut free, mut count) = (HashMap::default(), Vec::new(), 0_u32);
        let (mut now, mut open, mut open_from) = (Vec::<OpId>::new(), Vec::new(), vec![0]);
        for event in &events {
            let op = event.op();
            match event.kind() {
                EventKind::Call => {
                    let slot = free.pop().unwrap_or_else(|| {
                        count += 1;
                        count - 1
                    });
                    slots.insert(op, slot);
                    now.push(op);
                }
                EventKind::Return => {
                    free.push(slots[&op]);
                    now.retain(|other| *other != op);
                }
            }
            meter.allocate(now.len() * size_of::<OpId>() + 3 * size_of::<OpId>())?;
            open_from.push(u32::try_from(open.len()).expect("memory ends before 2^32 entries"));
            open.extend_from_slice(&now);
        }
        open_from.push(u32::try_from(open.len()).expect("memory ends before 2^32 entries"));
        Ok(Self {
            task,
            events,
            slots,
            words: (2 * count).div_ceil(64) as usize,
            open,
            open_from,
            states: Vec::new(),
            numbers: HashMap::default(),
            seen: HashSet::default(),
            ways: Vec::new(),
            stack: Vec::new(),
            meter,
        })
    }

    /// Returns an interval linearization if there is one. If executions are `stuck`, it must be one that no step of
    /// them extends, even if some of them would end with it.
    pub(super) fn run(&mut self, stuck: Option<&[OpId]>) -> Result<Option<Vec<Step>>, LimitKind> {
        self.start()?;
        while let Some((key, way)) = self.stack.pop() {
            let is_end = key.position as usize == self.events.len();
            if is_end && stuck.is_none_or(|stuck| !self.may_go_on(&key, stuck)) {
                return Ok(Some(self.path(way)));
            }
            self.expand(&key, way, is_end, &mut |_, _| {})?;
        }
        Ok(None)
    }

    /// Returns the results that `op` may return, without duplicates: all that it may return in any step on any path,
    /// including paths that do not lead to a linearization.
    pub(super) fn results(&mut self, op: OpId) -> Result<Vec<S::Ret>, LimitKind> {
        let mut results: Vec<S::Ret> = Vec::new();
        self.start()?;
        while let Some((key, way)) = self.stack.pop() {
            let is_end = key.position as usize == self.events.len();
            self.expand(&key, way, is_end, &mut |members: &[Member], of_members: &[Option<S::Ret>]| {
                for (_, result) in members.iter().zip(of_members).filter(|(member, _)| member.op == op) {
                    if let Some(result) = result.as_ref().filter(|result| !results.contains(result)) {
                        results.push(result.clone());
                    }
                }
            })?;
        }
        Ok(results)
    }

    /// Returns whether some of the stuck executions may take a step at the end.
    fn may_go_on(&self, key: &Key, stuck: &[OpId]) -> bool {
        let task = Task { spec: self.task.spec, cut: self.task.cut, only_returned_end: false };
        let members = self.members(key, stuck);
        task.find_step(&self.states[key.state as usize], &members).is_some()
    }

    /// Returns those of `ops` that have not ended, sorted.
    fn members(&self, key: &Key, ops: &[OpId]) -> Vec<Member> {
        let has_ended = |op: &OpId| has(&key.marks, self.slots[op], HAS_ENDED);
        let member = |op: OpId| Member { op, has_begun: has(&key.marks, self.slots[&op], HAS_BEGUN) };
        let mut members: Vec<Member> = ops.iter().copied().filter(|op| !has_ended(op)).map(member).collect();
        self.task.sort(&mut members);
        members
    }

    fn start(&mut self) -> Result<(), LimitKind> {
        let state = self.number(self.task.spec.initial())?;
        let marks = SmallVec::from_elem(0, self.words);
        self.enter(Key { position: 0, state, marks }, START)
    }

    /// Pushes all configurations that are one move away; the last one pushed is visited first.
    fn expand(&mut self, key: &Key, way: u32, is_end: bool, seen: &mut Seen<'_, S>) -> Result<(), LimitKind> {
        if !is_end {
            let event = self.events[key.position as usize];
            let slot = self.slots[&event.op()];
            let mut next = Key { position: key.position + 1, ..key.clone() };
            match event.kind() {
                EventKind::Call => return self.enter(next, way),
                EventKind::Return if has(&key.marks, slot, HAS_ENDED) => {
                    clear(&mut next.marks, slot);
                    return self.enter(next, way);
                }
                EventKind::Return => {}
            }
        }
        let [from, to] = [0, 1].map(|next| self.open_from[key.position as usize + next] as usize);
        let members = self.members(key, &self.open[from..to]);
        let mut moves: Vec<(Step, S::State)> = Vec::new();
        self.task.for_each_step(&self.states[key.state as usize], &members, &mut |members, state, results| {
            seen(members, &results);
            moves.push((step(members, &results), state));
        });
        for (step, state) in moves {
            let mut next = Key { state: self.number(state)?, ..key.clone() };
            for (op, ends) in &step {
                set(&mut next.marks, self.slots[op], HAS_BEGUN);
                if *ends {
                    set(&mut next.marks, self.slots[op], HAS_ENDED);
                }
            }
            let number = u32::try_from(self.ways.len()).expect("memory ends before 2^32 ways");
            self.meter.allocate(size_of::<Way>() + step.len() * size_of::<(OpId, bool)>())?;
            self.ways.push(Way { before: way, step: step.into() });
            self.enter(next, number)?;
        }
        Ok(())
    }

    fn enter(&mut self, key: Key, way: u32) -> Result<(), LimitKind> {
        self.meter.configuration()?;
        if self.seen.contains(&key) {
            return Ok(());
        }
        // Charge for the configuration in the table, which is at most half full after it has grown, and on the stack.
        self.meter.allocate(3 * size_of::<Key>())?;
        self.seen.insert(key.clone());
        self.stack.push((key, way));
        Ok(())
    }

    fn number(&mut self, state: S::State) -> Result<u32, LimitKind> {
        if let Some(number) = self.numbers.get(&state) {
            return Ok(*number);
        }
        self.meter.allocate(3 * size_of::<S::State>())?;
        let number = u32::try_from(self.states.len()).expect("memory ends before 2^32 states");
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        Ok(number)
    }

    fn path(&self, mut way: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        while way != START {
            let Way { before, step } = &self.ways[way as usize];
            steps.push(step.to_vec());
            way = *before;
        }
        steps.reverse();
        steps
    }

    pub(super) fn states(&self) -> u64 {
        self.states.len() as u64
    }
}

fn bit(slot: u32, mark: u32) -> (usize, u64) {
    let bit = 2 * slot + mark;
    (bit as usize / 64, 1 << (bit % 64))
}

fn has(words: &[u64], slot: u32, mark: u32) -> bool {
    let (word, bit) = bit(slot, mark);
    words[word] & bit != 0
}

fn set(words: &mut [u64], slot: u32, mark: u32) {
    let (word, bit) = bit(slot, mark);
    words[word] |= bit;
}

fn clear(words: &mut [u64], slot: u32) {
    for mark in [HAS_BEGUN, HAS_ENDED] {
        let (word, bit) = bit(slot, mark);
        words[word] &= !bit;
    }
}
