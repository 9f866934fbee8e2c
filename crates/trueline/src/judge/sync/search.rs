//! Searches for a synchronization linearization.
//!
//! Lawrence & Lowe, section 7.1: a configuration is a place in the history, the set of open executions that have
//! synchronized, and the state. The moves are the next call, the next return if its execution has synchronized, and a
//! synchronization of open executions. The graph of configurations is searched depth first, and each configuration is
//! visited once.
//!
//! [`Discipline`] determines when synchronizations are tried. Trying them only at certain places
//! leaves fewer alternatives to search, and does not change the verdict.
//!
//! # Complexity
//! Exponential: the problem is NP-complete if the object has a state (section 7.2), or if three or
//! more executions synchronize (section 7.5). In practice the cost depends on how many executions
//! are open at once.

use super::task::SyncTask;
use crate::history::{EventKind, OpId};
use crate::judge::graph::{Graph, Marks, Places, START};
use crate::judge::interner::Interner;
use crate::judge::search::Meter;
use crate::verdict::{LimitKind, Synchronizations};

/// The times at which synchronizations are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// Synchronizations are tried at any time.
    Anytime,
    /// A synchronization is tried just after the call of an execution that takes part in it, or
    /// directly after another synchronization (definition 17).
    ///
    /// This is sound by lemma 18: a synchronization can be moved earlier until it comes directly
    /// after the call of an execution that takes part in it, or after another synchronization.
    AsSoonAsPossible,
    /// Synchronizations are tried just before the return of an execution that has not synchronized
    /// yet. If the object is stateless, only synchronizations that include that execution are
    /// tried.
    ///
    /// This is sound: a synchronization can be moved later until it comes directly before the
    /// return of an execution that takes part in it, or before another synchronization. So the last
    /// synchronization before a return contains the returning execution. Without a state, the order
    /// of synchronizations does not matter, so each synchronization can wait, independently of the
    /// others, for the first return of one of its executions. A synchronization of executions that
    /// never return can be left out, or moved to the end.
    JustInTime,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of events that precede the configuration's place in the history.
    position: u32,
    phase: Phase,
    state: u32,
    /// The slots of the open executions that have synchronized.
    synchronized: Marks,
}

/// The synchronizations that are tried next, for [`Discipline::AsSoonAsPossible`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// No synchronization is tried before the next call.
    None,
    /// Only synchronizations that include the execution that was just called are tried.
    Called,
    /// All synchronizations are tried, because another one has just taken place.
    Any,
}

/// A function that is called with each group that was tried: its executions and their results.
type OnGroup<'f> = dyn FnMut(&[OpId], &[u32]) + 'f;

pub(super) struct GroupSearch<'s, 'a> {
    task: &'s SyncTask<'a>,
    discipline: Discipline,
    places: Places,
    states: Interner<u32>,
    graph: Graph<'s, Key, OpId>,
}

impl<'s, 'a> GroupSearch<'s, 'a> {
    pub(super) fn new(task: &'s SyncTask<'a>, discipline: Discipline, meter: &'s mut Meter) -> Result<Self, LimitKind> {
        let places = Places::new(task.events(), |op| task.rank(op), meter)?;
        Ok(Self { task, discipline, places, states: Interner::default(), graph: Graph::new(meter) })
    }

    /// Returns a synchronization linearization, or `None` if none exists. If `left_over` is given,
    /// the linearization must be maximal: no synchronization of the executions in `left_over`
    /// extends it.
    pub(super) fn run(&mut self, left_over: Option<&[OpId]>) -> Result<Option<Synchronizations>, LimitKind> {
        self.start()?;
        while let Some((key, way)) = self.graph.pop() {
            let is_end = self.places.event(key.position).is_none();
            if is_end {
                let state = &self.states[key.state];
                let is_maximal = left_over.is_none_or(|left_over| self.task.find_group(state, left_over).is_none());
                if is_maximal {
                    return Ok(Some(self.graph.path(way)));
                }
            }
            self.expand(&key, way, is_end, &mut |_, _| {})?;
        }
        Ok(None)
    }

    /// Returns the results of `op` in all synchronizations that the search tries, without
    /// duplicates. Some of these synchronizations may lead to a dead end.
    pub(super) fn results(&mut self, op: OpId) -> Result<Vec<u32>, LimitKind> {
        let mut results: Vec<u32> = Vec::new();
        self.start()?;
        while let Some((key, way)) = self.graph.pop() {
            let is_end = self.places.event(key.position).is_none();
            self.expand(&key, way, is_end, &mut |group: &[OpId], of_group: &[u32]| {
                for (_, result) in group.iter().zip(of_group).filter(|(member, _)| **member == op) {
                    if !results.contains(result) {
                        results.push(*result);
                    }
                }
            })?;
        }
        Ok(results)
    }

    fn start(&mut self) -> Result<(), LimitKind> {
        let state = self.states.number(self.task.spec.initial());
        let synchronized = Marks::none(self.places.slot_count);
        self.graph.enter(Key { position: 0, phase: Phase::None, state, synchronized }, START)
    }

    /// Pushes all configurations that are one move away. The last one pushed is the first to be visited.
    fn expand(&mut self, key: &Key, way: u32, is_end: bool, seen: &mut OnGroup<'_>) -> Result<(), LimitKind> {
        // The next event is pushed first, so it is tried last: synchronizations are tried before it, because executions
        // that are open now may not be open later.
        self.advance(key, way)?;
        let returning = self.next_return(key);
        let (may_synchronize, must) = match self.discipline {
            Discipline::Anytime => (true, None),
            Discipline::AsSoonAsPossible => match key.phase {
                Phase::None => (false, None),
                Phase::Called => (true, self.places.event(key.position - 1).map(|event| event.op())),
                Phase::Any => (true, None),
            },
            // After the last event, synchronizations are useful only to make the linearization
            // maximal.
            Discipline::JustInTime if is_end => (true, None),
            Discipline::JustInTime => (returning.is_some(), returning.filter(|_| self.task.spec.is_stateless())),
        };
        if !may_synchronize {
            return Ok(());
        }
        let is_free = |op: &&OpId| !key.synchronized.has(self.places.slot(**op));
        let candidates: Vec<OpId> = self.places.open(key.position).iter().filter(is_free).copied().collect();
        let mut moves: Vec<(Box<[OpId]>, u32)> = Vec::new();
        self.task.for_each_group(&self.states[key.state], &candidates, must, &mut |group, state, results| {
            seen(group, &results);
            moves.push((group.into(), state));
        });
        for (group, state) in moves {
            let mut next = Key { phase: Phase::Any, state: self.states.number(state), ..key.clone() };
            for op in &group {
                next.synchronized.set(self.places.slot(*op));
            }
            self.graph.enter_by(group, next, way)?;
        }
        Ok(())
    }

    /// If the next event is the return of an execution that has not synchronized, returns this execution.
    fn next_return(&self, key: &Key) -> Option<OpId> {
        let event = self.places.event(key.position)?;
        let has_synchronized = key.synchronized.has(self.places.slot(event.op()));
        (event.kind() == EventKind::Return && !has_synchronized).then(|| event.op())
    }

    /// Moves past the next event, except at the end of the history and before the return of an
    /// execution that has not synchronized.
    fn advance(&mut self, key: &Key, way: u32) -> Result<(), LimitKind> {
        let Some(event) = self.places.event(key.position) else { return Ok(()) };
        let slot = self.places.slot(event.op());
        let mut next = Key { position: key.position + 1, phase: Phase::Called, ..key.clone() };
        if event.kind() == EventKind::Return {
            if !key.synchronized.has(slot) {
                return Ok(());
            }
            next.synchronized.clear(slot);
            next.phase = Phase::None;
        }
        if self.discipline != Discipline::AsSoonAsPossible {
            next.phase = Phase::Any;
        }
        self.graph.enter(next, way)
    }

    pub(super) fn states(&self) -> u64 {
        self.states.len() as u64
    }
}
