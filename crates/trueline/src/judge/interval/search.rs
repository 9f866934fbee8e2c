//! Searches for an interval linearization.
//!
//! This is similar to the search for synchronizations of Lawrence & Lowe, *Synchronisation:
//! Specification and Testing*, section 7.1. A configuration consists of a position in the history,
//! the state, the set of open executions that have begun, and the set of open executions that have
//! ended. The moves are the next call, the next return if its execution has ended, and a step of
//! open executions that have not ended. The graph of configurations is searched depth first, and
//! each configuration is visited once.
//!
//! Steps are tried just before the return of an execution that has not ended, and at the end. *Why this is enough.*
//! Given some steps, each placed in time, move the last one later until it meets the return of an execution that ends
//! with it; then move the step before it until it meets such a return or the next step, and so on. Beginning later does
//! no harm, and no execution returns before a step that it takes part in. So if there are steps between a return and
//! the event before it, the returning execution ends with the last of them, and had not ended before these steps. Steps
//! that meet no return are at the end.
//!
//! # Complexity
//! Exponential: synchronizations are a special case, which is NP-complete (section 7.2). In practice the cost depends
//! on how many executions are open at once: for k of them there are 3^k configurations for each place and state.

use super::task::{IntervalStep, IntervalTask, Member, step};
use crate::history::{EventKind, OpId};
use crate::judge::graph::{Graph, Marks, Places, START};
use crate::judge::interner::Interner;
use crate::judge::search::Meter;
use crate::spec::interval::IntervalSpec;
use crate::verdict::LimitKind;

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    /// The number of events that the search has passed.
    position: u32,
    state: u32,
    /// For each open execution, by slot, two bits: whether it has begun, and whether it has ended.
    marks: Marks,
}

/// A function that is called with each step that was tried: the executions that take part, and the
/// results of the executions that end.
type OnStep<'f, S> = dyn FnMut(&[Member], &[Option<<S as IntervalSpec>::Ret>]) + 'f;

fn has_begun(slot: u32) -> u32 {
    2 * slot
}

fn has_ended(slot: u32) -> u32 {
    2 * slot + 1
}

pub(super) struct IntervalSearch<'s, 'a, S: IntervalSpec> {
    task: &'s IntervalTask<'a, S>,
    places: Places,
    states: Interner<S::State>,
    graph: Graph<'s, Key, (OpId, bool)>,
}

impl<'s, 'a, S: IntervalSpec> IntervalSearch<'s, 'a, S> {
    pub(super) fn new(task: &'s IntervalTask<'a, S>, meter: &'s mut Meter) -> Result<Self, LimitKind> {
        let places = Places::new(task.events(), |op| task.history[op].call_position(), meter)?;
        Ok(Self { task, places, states: Interner::default(), graph: Graph::new(meter) })
    }

    /// Returns an interval linearization if there is one. If `stuck` is given, considers only
    /// linearizations after which the executions in `stuck` cannot take any step, not even a step
    /// with which some of them end.
    pub(super) fn run(&mut self, stuck: Option<&[OpId]>) -> Result<Option<Vec<IntervalStep>>, LimitKind> {
        self.start()?;
        while let Some((key, way)) = self.graph.pop() {
            let is_end = self.places.event(key.position).is_none();
            if is_end && stuck.is_none_or(|stuck| !self.may_go_on(&key, stuck)) {
                return Ok(Some(self.graph.path(way)));
            }
            self.expand(&key, way, &mut |_, _| {})?;
        }
        Ok(None)
    }

    /// Returns the results that `op` may return, without duplicates: all that it may return in any step on any path,
    /// including paths that do not lead to a linearization.
    pub(super) fn results(&mut self, op: OpId) -> Result<Vec<S::Ret>, LimitKind> {
        let mut results: Vec<S::Ret> = Vec::new();
        self.start()?;
        while let Some((key, way)) = self.graph.pop() {
            self.expand(&key, way, &mut |members: &[Member], of_members: &[Option<S::Ret>]| {
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
        let task = IntervalTask { spec: self.task.spec, cut: self.task.cut, only_returned_end: false };
        let members = self.members(key, stuck);
        task.find_step(&self.states[key.state], &members).is_some()
    }

    /// Returns those of `ops` that have not ended, sorted.
    fn members(&self, key: &Key, ops: &[OpId]) -> Vec<Member> {
        let is_open = |op: &OpId| !key.marks.has(has_ended(self.places.slot(*op)));
        let member = |op: OpId| Member { op, has_begun: key.marks.has(has_begun(self.places.slot(op))) };
        let mut members: Vec<Member> = ops.iter().copied().filter(is_open).map(member).collect();
        self.task.sort(&mut members);
        members
    }

    fn start(&mut self) -> Result<(), LimitKind> {
        let state = self.number(self.task.spec.initial())?;
        let marks = Marks::none(2 * self.places.slot_count);
        self.graph.enter(Key { position: 0, state, marks }, START)
    }

    /// Pushes all configurations that are one move away; the one that is pushed last is visited first.
    fn expand(&mut self, key: &Key, way: u32, seen: &mut OnStep<'_, S>) -> Result<(), LimitKind> {
        if let Some(event) = self.places.event(key.position) {
            let slot = self.places.slot(event.op());
            let mut next = Key { position: key.position + 1, ..key.clone() };
            match event.kind() {
                EventKind::Call => return self.graph.enter(next, way),
                EventKind::Return if key.marks.has(has_ended(slot)) => {
                    next.marks.clear(has_begun(slot));
                    next.marks.clear(has_ended(slot));
                    return self.graph.enter(next, way);
                }
                EventKind::Return => {}
            }
        }
        let members = self.members(key, self.places.open(key.position));
        let mut moves: Vec<(IntervalStep, S::State)> = Vec::new();
        self.task.for_each_step(&self.states[key.state], &members, &mut |members, state, results| {
            seen(members, &results);
            moves.push((step(members, &results), state));
        });
        for (step, state) in moves {
            let mut next = Key { state: self.number(state)?, ..key.clone() };
            for (op, ends) in &step {
                let slot = self.places.slot(*op);
                next.marks.set(has_begun(slot));
                if *ends {
                    next.marks.set(has_ended(slot));
                }
            }
            self.graph.enter_by(step.into(), next, way)?;
        }
        Ok(())
    }

    fn number(&mut self, state: S::State) -> Result<u32, LimitKind> {
        let (number, is_new) = self.states.intern(state);
        if is_new {
            self.graph.meter.allocate(3 * size_of::<S::State>())?;
        }
        Ok(number)
    }

    pub(super) fn states(&self) -> u64 {
        self.states.len() as u64
    }
}
