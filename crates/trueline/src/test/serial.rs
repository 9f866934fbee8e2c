//! Uses the serial executions of an object as its specification, so that users need not write one.
//!
//! Burckhardt, Dern, Musuvathi and Tan, "Line-Up: a complete and automatic linearizability checker"
//! (2010): first, all serial executions of a program are enumerated; then, each concurrent
//! execution must be explained by one of them. Stuck executions count, too: an operation that is
//! stuck in a concurrent execution must also be stuck in a serial execution, after the operations
//! that have returned (definition 3 of the paper). Phase 1 of Round-Up, by Zhang, Chattopadhyay and
//! Wang, takes the serial executions from another object, which is trusted.
//!
//! The serial histories are stored as a tree. When a checker for linearizability judges a
//! concurrent history, the nodes of this tree serve as the states of the object. Equal operations
//! of different threads are distinct, because a serial history explains a concurrent history only
//! if each thread executes the same operations in both.

use std::collections::HashMap;
use std::sync::Arc;

use crate::drive::Call;
use crate::history::{History, Value};
use crate::judge::quasi::{self, Factors, Semantics, SerialHistories};
use crate::judge::{Config, check};
use crate::spec::{Outcomes, Spec, blocked, outcome};
use crate::verdict::Verdict;

/// An operation of a serial history: the process and its call.
type Operation = (u32, Call);

/// The result of an operation, or `Stuck` if the operation did not return.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Returned {
    Value(Value),
    Stuck,
}

/// All serial histories of a program.
#[derive(Debug, Default)]
pub(super) struct Serial {
    /// For each node, a map from the operations that may come next to their possible results, each
    /// with the node that this result leads to.
    nodes: Vec<HashMap<Operation, Vec<(Returned, u32)>>>,
    count: u64,
    /// Whether one of the serial histories is stuck.
    has_stuck: bool,
    /// The number of places by which each operation may be out of order; `None` if all operations
    /// must be in order.
    factors: Option<NamedFactors>,
}

/// For each operation with a factor: its number, its name, and the factor. The factor is the number
/// of places by which the operation may be out of order.
pub(super) type NamedFactors = Arc<[(u32, Arc<str>, u32)]>;

/// Returns the name of the criterion for comparing histories with serial ones. The criterion is the
/// semantics that Round-Up uses, which is labeled (C) in [`quasi`].
pub(super) fn semantics(factors: &[(u32, Arc<str>, u32)]) -> String {
    Semantics::of_program(classes(factors), &|_: &[(&Call, &Value)]| false).to_string()
}

fn classes(factors: &[(u32, Arc<str>, u32)]) -> Factors<'_, Call, Value> {
    let none = Factors::new();
    factors.iter().fold(none, |all, (number, name, factor)| {
        all.class(name.to_string(), *factor, move |call: &Call| call.operation == *number)
    })
}

impl Serial {
    pub(super) fn new() -> Self {
        Self { nodes: vec![HashMap::new()], count: 0, has_stuck: false, factors: None }
    }

    /// Creates an empty set of serial histories, to explain histories whose operations may be out
    /// of order by these factors. If there are factors, processes are not distinguished.
    pub(super) fn with_factors(factors: Option<NamedFactors>) -> Self {
        Self { factors, ..Self::new() }
    }

    /// Returns the factors, if operations may be out of order.
    pub(super) fn factors(&self) -> Option<&[(u32, Arc<str>, u32)]> {
        self.factors.as_deref()
    }

    /// Returns whether one of the histories is stuck.
    pub(super) fn has_stuck(&self) -> bool {
        self.has_stuck
    }

    /// Adds a serial history in which all operations have returned.
    pub(super) fn add_sequence(&mut self, sequence: impl IntoIterator<Item = (u32, Call, Value)>) {
        self.count += 1;
        let mut node = 0;
        for (process, call, result) in sequence {
            node = self.child(node, (self.who(process), call), Returned::Value(result));
        }
    }

    fn who(&self, process: u32) -> u32 {
        if self.factors.is_some() { 0 } else { process }
    }

    /// Returns the number of histories.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Adds a history whose operations do not overlap. The last operation may be stuck.
    pub(super) fn add(&mut self, history: &History<Call, Value>) {
        self.count += 1;
        let mut node = 0;
        for operation in history.operations() {
            let returned = match operation.outcome.result() {
                Some(result) => Returned::Value(result.clone()),
                None => Returned::Stuck,
            };
            self.has_stuck |= returned == Returned::Stuck;
            node = self.child(node, (self.who(operation.process.0), operation.op.clone()), returned);
        }
    }

    fn child(&mut self, node: u32, operation: Operation, returned: Returned) -> u32 {
        let new = u32::try_from(self.nodes.len()).expect("memory runs out before 2^32 nodes");
        let next = self.nodes[node as usize].entry(operation).or_default();
        if let Some((_, child)) = next.iter().find(|(known, _)| *known == returned) {
            return *child;
        }
        next.push((returned, new));
        self.nodes.push(HashMap::new());
        new
    }

    /// Returns whether a serial history explains `history`, or `None` if this was not decided
    /// within the limits.
    pub(super) fn explains(&self, history: &History<Call, Value>, config: &Config) -> Option<bool> {
        if let Some(factors) = &self.factors {
            let semantics = Semantics::of_program(classes(factors), self);
            return match quasi::judge(&Anything, history, &semantics, config).verdict {
                Verdict::Accepted(_) => Some(true),
                Verdict::Rejected(_) => Some(false),
                Verdict::Unknown(_) => None,
            };
        }
        let pending: Vec<_> =
            history.operations().iter().filter(|operation| operation.outcome.result().is_none()).collect();
        if pending.is_empty() {
            return self.accepts(history, None, config);
        }
        // Check each stuck operation separately, after all operations that have returned.
        for stuck in pending {
            match self.accepts(history, Some(stuck.call_position()), config) {
                Some(true) => {}
                other => return other,
            }
        }
        Some(true)
    }

    /// Returns whether a serial history explains the operations of `history` that have returned.
    /// Operations that have not returned are ignored, except one: if `stuck` is the position of a
    /// call, the serial history must also end with that call's operation, which is stuck.
    fn accepts(&self, history: &History<Call, Value>, stuck: Option<u32>, config: &Config) -> Option<bool> {
        let mut builder = History::builder();
        for (position, event) in (0_u32..).zip(history.events()) {
            let operation = &history[event.op()];
            let process = operation.process.0;
            if operation.call_position() == position {
                let is_it = Some(position) == stuck;
                if operation.outcome.result().is_some() || is_it {
                    builder.call(process, (process, operation.op.clone())).expect("the order of events is unchanged");
                }
            } else if let Some(result) = operation.outcome.result() {
                builder.ret(process, Returned::Value(result.clone())).expect("the order of events is unchanged");
            }
        }
        if let Some(position) = stuck {
            let operation = history.operations().iter().find(|operation| operation.call_position() == position);
            builder
                .ret(operation.expect("the stuck operation has a call").process.0, Returned::Stuck)
                .expect("the stuck operation is open");
        }
        match check(self, &builder.finish(), config).verdict {
            Verdict::Accepted(_) => Some(true),
            Verdict::Rejected(_) => Some(false),
            Verdict::Unknown(_) => None,
        }
    }
}

impl SerialHistories<Call, Value> for Serial {
    fn contains(&self, sequence: &[(&Call, &Value)]) -> bool {
        // All complete sequences of operations have the same length, so they end at leaves of the
        // tree.
        self.walk(sequence).is_some_and(|node| self.nodes[node as usize].is_empty())
    }

    fn may_begin(&self, sequence: &[(&Call, &Value)]) -> bool {
        self.walk(sequence).is_some()
    }
}

impl Serial {
    /// Returns the node that this sequence leads to.
    fn walk(&self, sequence: &[(&Call, &Value)]) -> Option<u32> {
        sequence.iter().try_fold(0_u32, |node, (call, result)| {
            let next = self.nodes[node as usize].get(&(0, (*call).clone()))?;
            let is_it = |returned: &Returned| matches!(returned, Returned::Value(value) if value == *result);
            next.iter().find(|(returned, _)| is_it(returned)).map(|(_, child)| *child)
        })
    }
}

/// An object that may do anything, for criteria that do not use a specification.
struct Anything;

impl Spec for Anything {
    type Op = Call;
    type Ret = Value;
    type State = ();
    type Key = ();
    type Value = ();

    fn initial(&self) {}

    fn step(&self, (): &(), _call: &Call, recorded: Option<&Value>) -> Outcomes<Value, ()> {
        recorded.map_or_else(blocked, |recorded| outcome(recorded.clone(), ()))
    }
}

/// Calls `each` with every interleaving of the threads' calls that keeps the order of the calls of
/// each thread. An interleaving is given as a sequence of thread numbers.
pub(super) fn interleavings(lengths: &[usize], each: &mut dyn FnMut(&[usize])) {
    fn go_on(left: &mut [usize], sequence: &mut Vec<usize>, each: &mut dyn FnMut(&[usize])) {
        if left.iter().all(|left| *left == 0) {
            return each(sequence);
        }
        for thread in 0..left.len() {
            if left[thread] > 0 {
                left[thread] -= 1;
                sequence.push(thread);
                go_on(left, sequence, each);
                sequence.pop();
                left[thread] += 1;
            }
        }
    }
    go_on(&mut lengths.to_vec(), &mut Vec::new(), each);
}

impl Spec for Serial {
    type Op = Operation;
    type Ret = Returned;
    type State = u32;
    type Key = ();
    type Value = ();

    fn initial(&self) -> u32 {
        0
    }

    fn step(&self, node: &u32, operation: &Operation, recorded: Option<&Returned>) -> Outcomes<Returned, u32> {
        let Some(next) = self.nodes[*node as usize].get(operation) else { return blocked() };
        match recorded {
            Some(recorded) => match next.iter().find(|(returned, _)| returned == recorded) {
                Some((returned, child)) => outcome(returned.clone(), *child),
                None => blocked(),
            },
            None => next.iter().cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: u32) -> Call {
        Call { operation, argument: Value::Null }
    }

    /// Builds a history from events: a process, and its call or its result.
    fn history(events: &[(u32, Result<u32, i64>)]) -> History<Call, Value> {
        let mut builder = History::builder();
        for (process, event) in events {
            match event {
                Ok(operation) => drop(builder.call(*process, call(*operation)).expect("the process has no open call")),
                Err(result) => drop(builder.ret(*process, Value::Int(*result)).expect("the process has an open call")),
            }
        }
        builder.finish()
    }

    #[test]
    fn concurrent_histories_are_explained_by_serial_ones() {
        let mut serial = Serial::new();
        // Two processes draw numbers, in either order.
        serial.add(&history(&[(0, Ok(0)), (0, Err(0)), (1, Ok(0)), (1, Err(1))]));
        serial.add(&history(&[(1, Ok(0)), (1, Err(0)), (0, Ok(0)), (0, Err(1))]));
        let explains = |events: &[_]| serial.explains(&history(events), &Config::new());
        assert_eq!(explains(&[(0, Ok(0)), (1, Ok(0)), (0, Err(1)), (1, Err(0))]), Some(true));
        assert_eq!(explains(&[(0, Ok(0)), (1, Ok(0)), (0, Err(0)), (1, Err(0))]), Some(false), "the numbers are equal");
        assert_eq!(explains(&[(0, Ok(0)), (0, Err(1)), (1, Ok(0)), (1, Err(0))]), Some(false), "draws do not overlap");
    }

    #[test]
    fn what_is_stuck_must_be_stuck_alone() {
        let mut serial = Serial::new();
        // A receive waits, unless there was a send before it.
        serial.add(&history(&[(0, Ok(1))]));
        serial.add(&history(&[(1, Ok(0)), (1, Err(0)), (0, Ok(1)), (0, Err(7))]));
        let explains = |events: &[_]| serial.explains(&history(events), &Config::new());
        assert_eq!(explains(&[(0, Ok(1))]), Some(true));
        assert_eq!(explains(&[(0, Ok(1)), (1, Ok(0)), (1, Err(0))]), Some(false), "the receive should have returned");
        assert_eq!(explains(&[(0, Ok(1)), (1, Ok(0)), (1, Err(0)), (0, Err(7))]), Some(true));
    }
}
