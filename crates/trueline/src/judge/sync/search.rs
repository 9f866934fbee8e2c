//! Searches for a synchronization linearization.
//!
//! Lawrence & Lowe, section 7.1: a configuration is a place in the history, the set of open executions that have
//! synchronized, and the state. The moves are the next call, the next return if its execution has synchronized, and a
//! synchronization of open executions. The graph of configurations is searched depth first, and each configuration is
//! visited once.
//!
//! [`Discipline`] determines when synchronizations are tried: moving them all to certain places loses nothing, and
//! leaves fewer alternatives.
//!
//! # Complexity
//! Exponential: the problem is NP-complete with a state (section 7.2), and without one if three or more executions
//! synchronize (section 7.5). In practice the cost depends on how many executions are open at once.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::task::Task;
use crate::history::{Event, EventKind, OpId};
use crate::judge::search::{Meter, hash};
use crate::spec::sync::SyncSpec;
use crate::verdict::{LimitKind, Synchronisations};

/// When synchronizations are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// At any time.
    Anytime,
    /// Just after the call of an execution that takes part, and after such a synchronization (definition 17).
    ///
    /// Sound by lemma 18: a synchronization can be moved earlier until it meets the call of an execution that takes
    /// part, or another synchronization.
    AsSoonAsPossible,
    /// Just before the return of an execution that has not synchronized yet; without a state, only together with that
    /// execution.
    ///
    /// Sound: a synchronization can be moved later until it meets the return of an execution that takes part, or
    /// another synchronization. So the last synchronization before a return contains the returning execution. Without a
    /// state, the order of synchronizations does not matter, so each can wait independently for the first return in it.
    /// A synchronization without any return can be left out, or comes at the end.
    JustInTime,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of events that have been passed.
    position: u32,
    phase: Phase,
    state: u32,
    /// The open executions that have synchronized, by slot.
    synchronised: SmallVec<[u64; 2]>,
}

/// Which synchronizations may come next, for [`Discipline::AsSoonAsPossible`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// No synchronization before the next call.
    None,
    /// Only synchronizations with the execution that was just called.
    Called,
    /// Any synchronization, because one has just happened.
    Any,
}

/// A function that is called with each group that was tried, and the results of its members.
type Seen<'f, S> = dyn FnMut(&[OpId], &[<S as SyncSpec>::Ret]) + 'f;

/// A path to a configuration, given by the last synchronization on it.
struct Way {
    before: u32,
    group: Box<[OpId]>,
}

const START: u32 = u32::MAX;

pub(super) struct Search<'s, 'a, S: SyncSpec> {
    task: &'s Task<'a, S>,
    discipline: Discipline,
    events: Vec<Event>,
    /// The slot of each operation of the history while it is open.
    slots: HashMap<OpId, u32, hash::Builder>,
    words: usize,
    /// The open executions at each position, sorted by rank; the lists are concatenated.
    open: Vec<OpId>,
    open_from: Vec<u32>,
    states: Vec<S::State>,
    numbers: HashMap<S::State, u32, hash::Builder>,
    seen: HashSet<Key, hash::Builder>,
    ways: Vec<Way>,
    stack: Vec<(Key, u32)>,
    meter: &'s mut Meter,
}

impl<'s, 'a, S: SyncSpec> Search<'s, 'a, S> {
    pub(super) fn new(task: &'s Task<'a, S>, discipline: Discipline, meter: &'s mut Meter) -> Result<Self, LimitKind> {
        let events: Vec<Event> = task.events().collect();
        let (mut slots, mut free, mut words) = (HashMap::default(), Vec::new(), 0_u32);
        let (mut now, mut open, mut open_from) = (Vec::<OpId>::new(), Vec::new(), vec![0]);
        for event in &events {
            let op = event.op();
            match event.kind() {
                EventKind::Call => {
                    let slot = free.pop().unwrap_or_else(|| {
                        words += 1;
                        words - 1
                    });
                    slots.insert(op, slot);
                    let at = now.partition_point(|other| task.rank(*other) < task.rank(op));
                    now.insert(at, op);
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
            discipline,
            events,
            slots,
            words: words.div_ceil(64) as usize,
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

    /// Returns a synchronization linearization if there is one. If executions are `left_over`, it must be one that no
    /// synchronization of them extends.
    pub(super) fn run(&mut self, left_over: Option<&[OpId]>) -> Result<Option<Synchronisations>, LimitKind> {
        self.start()?;
        while let Some((key, way)) = self.stack.pop() {
            let is_end = key.position as usize == self.events.len();
            if is_end {
                let state = &self.states[key.state as usize];
                let is_maximal = left_over.is_none_or(|left_over| self.task.find_group(state, left_over).is_none());
                if is_maximal {
                    return Ok(Some(self.path(way)));
                }
            }
            self.expand(&key, way, is_end, &mut |_, _| {})?;
        }
        Ok(None)
    }

    /// Returns the results that `op` may return, without duplicates: all that it may return in any synchronization on
    /// any path, including paths that do not lead to a linearization.
    pub(super) fn results(&mut self, op: OpId) -> Result<Vec<S::Ret>, LimitKind> {
        let mut results: Vec<S::Ret> = Vec::new();
        self.start()?;
        while let Some((key, way)) = self.stack.pop() {
            let is_end = key.position as usize == self.events.len();
            self.expand(&key, way, is_end, &mut |group: &[OpId], of_group: &[S::Ret]| {
                for (_, result) in group.iter().zip(of_group).filter(|(member, _)| **member == op) {
                    if !results.contains(result) {
                        results.push(result.clone());
                    }
                }
            })?;
        }
        Ok(results)
    }

    fn start(&mut self) -> Result<(), LimitKind> {
        let state = self.number(self.task.spec.initial());
        let synchronised = SmallVec::from_elem(0, self.words);
        self.enter(Key { position: 0, phase: Phase::None, state, synchronised }, START)
    }

    /// Pushes all configurations that are one move away; the last one pushed is visited first.
    fn expand(&mut self, key: &Key, way: u32, is_end: bool, seen: &mut Seen<'_, S>) -> Result<(), LimitKind> {
        // If both are possible, a synchronization is tried before the next event, because executions that are open now
        // may not be open later.
        if !is_end {
            self.advance(key, way)?;
        }
        let returning = self.next_return(key);
        let (may_synchronise, must) = match self.discipline {
            Discipline::Anytime => (true, None),
            Discipline::AsSoonAsPossible => match key.phase {
                Phase::None => (false, None),
                Phase::Called => (true, Some(self.events[key.position as usize - 1].op())),
                Phase::Any => (true, None),
            },
            // At the end, synchronizations are only useful to make the linearization maximal.
            Discipline::JustInTime if is_end => (true, None),
            Discipline::JustInTime => (returning.is_some(), returning.filter(|_| self.task.spec.is_stateless())),
        };
        if !may_synchronise {
            return Ok(());
        }
        let [from, to] = [key.position, key.position + 1].map(|at| self.open_from[at as usize] as usize);
        let is_free = |op: &&OpId| !has(&key.synchronised, self.slots[*op]);
        let candidates: Vec<OpId> = self.open[from..to].iter().filter(is_free).copied().collect();
        let mut moves: Vec<(Box<[OpId]>, S::State)> = Vec::new();
        self.task.for_each_group(&self.states[key.state as usize], &candidates, must, &mut |group, state, results| {
            seen(group, &results);
            moves.push((group.into(), state));
        });
        for (group, state) in moves {
            let mut next = Key { phase: Phase::Any, state: self.number(state), ..key.clone() };
            for op in &group {
                set(&mut next.synchronised, self.slots[op]);
            }
            let number = u32::try_from(self.ways.len()).expect("memory ends before 2^32 ways");
            self.meter.allocate(size_of::<Way>() + group.len() * size_of::<OpId>())?;
            self.ways.push(Way { before: way, group });
            self.enter(next, number)?;
        }
        Ok(())
    }

    /// Returns the execution that returns next, if it has not synchronized.
    fn next_return(&self, key: &Key) -> Option<OpId> {
        let event = self.events.get(key.position as usize)?;
        let op = event.op();
        (event.kind() == EventKind::Return && !has(&key.synchronised, self.slots[&op])).then_some(op)
    }

    /// Passes the next event, if that is possible.
    fn advance(&mut self, key: &Key, way: u32) -> Result<(), LimitKind> {
        let event = self.events[key.position as usize];
        let slot = self.slots[&event.op()];
        let mut next = Key { position: key.position + 1, phase: Phase::Called, ..key.clone() };
        if event.kind() == EventKind::Return {
            if !has(&key.synchronised, slot) {
                return Ok(());
            }
            clear(&mut next.synchronised, slot);
            next.phase = Phase::None;
        }
        if self.discipline != Discipline::AsSoonAsPossible {
            next.phase = Phase::Any;
        }
        self.enter(next, way)
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

    fn number(&mut self, state: S::State) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = u32::try_from(self.states.len()).expect("memory ends before 2^32 states");
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }

    fn path(&self, mut way: u32) -> Synchronisations {
        let mut groups = Vec::new();
        while way != START {
            let Way { before, group } = &self.ways[way as usize];
            groups.push(group.to_vec());
            way = *before;
        }
        groups.reverse();
        groups
    }

    pub(super) fn states(&self) -> u64 {
        self.states.len() as u64
    }
}

fn has(words: &[u64], slot: u32) -> bool {
    words[slot as usize / 64] >> (slot % 64) & 1 == 1
}

fn set(words: &mut [u64], slot: u32) {
    words[slot as usize / 64] |= 1 << (slot % 64);
}

fn clear(words: &mut [u64], slot: u32) {
    words[slot as usize / 64] &= !(1 << (slot % 64));
}
