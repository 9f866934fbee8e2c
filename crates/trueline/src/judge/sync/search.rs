//! Search for a synchronisation linearisation.
//!
//! Lawrence & Lowe, section 7.1: a configuration is a place in the history, which of the open executions have
//! synchronised, and the state; the moves are the next call, the next return if its execution has synchronised, and a
//! synchronisation of executions that are open. The graph of configurations is searched depth first, and each
//! configuration is visited once.
//!
//! When synchronisations are tried is a matter of [`Discipline`]: to move them all to certain places loses nothing, and
//! leaves fewer ways to go.
//!
//! # Complexity
//! Exponential: the problem is NP-complete with a state (section 7.2), and without one if three or more synchronise
//! (section 7.5). In practice it is decided by how many executions are open at once.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::task::Task;
use crate::history::{Event, EventKind, OpId};
use crate::judge::search::{Meter, hash};
use crate::spec::sync::SyncSpec;
use crate::verdict::{LimitKind, Synchronisations};

/// When synchronisations are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// At any time.
    Anytime,
    /// Right behind the call of one that takes part, and behind such a synchronisation (definition 17).
    ///
    /// Sound by lemma 18: a synchronisation can be moved earlier until it meets a call of one that takes part, or another
    /// synchronisation.
    AsSoonAsPossible,
    /// Right before the return of one that has not synchronised yet; without a state, only with that one.
    ///
    /// Sound: a synchronisation can be moved later until it meets a return of one that takes part, or another
    /// synchronisation; so the last one before a return has the returning execution in it. Without a state the order of
    /// synchronisations does not matter, so each can wait for the first return in it alone. One without any return can be
    /// left out, or comes at the end.
    JustInTime,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of events behind it.
    position: u32,
    phase: Phase,
    state: u32,
    /// Which of the open executions have synchronised, by slot.
    synchronised: SmallVec<[u64; 2]>,
}

/// Which synchronisations may come next, as soon as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// None before the next call.
    None,
    /// Those with the execution that was just called.
    Called,
    /// Any: one has just been.
    Any,
}

/// What is told of a group that was tried: what each of it returns.
type Seen<'f, S> = dyn FnMut(&[OpId], &[<S as SyncSpec>::Ret]) + 'f;

/// A way to a configuration, by the last synchronisation in it.
struct Way {
    before: u32,
    group: Box<[OpId]>,
}

const START: u32 = u32::MAX;

pub(super) struct Search<'s, 'a, S: SyncSpec> {
    task: &'s Task<'a, S>,
    discipline: Discipline,
    events: Vec<Event>,
    /// By operation of the history: the slot while it is open.
    slots: HashMap<OpId, u32, hash::Builder>,
    words: usize,
    /// The open executions at each position, one list behind the other, sorted by rank.
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

    /// A synchronisation linearisation, if there is one. If executions are `left_over`, one that no synchronisation of
    /// them extends.
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

    /// What `op` may return, each once: all that it might in any synchronisation on any way, of which some may lead
    /// nowhere.
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

    /// Pushes all configurations that are one move away; the last one pushed is the first to be looked at.
    fn expand(&mut self, key: &Key, way: u32, is_end: bool, seen: &mut Seen<'_, S>) -> Result<(), LimitKind> {
        // A synchronisation is tried before the next event, where both are possible: what is open now may not be later.
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
            // What is left at the end is of no use but to be maximal.
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

    /// The execution that returns next, if it has not synchronised.
    fn next_return(&self, key: &Key) -> Option<OpId> {
        let event = self.events.get(key.position as usize)?;
        let op = event.op();
        (event.kind() == EventKind::Return && !has(&key.synchronised, self.slots[&op])).then_some(op)
    }

    /// Goes behind the next event, if that is possible.
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
        // The configuration in the table, which is at most half full after it has grown, and on the stack.
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
