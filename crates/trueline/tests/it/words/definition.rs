//! Computes the truth from the definitions, by trying all orders of a few operations.
//!
//! - A history is *linearizable up to an event* if the specification allows an order of calls in which each call is
//!   within its interval. The order contains every call that returned by this event, and any of the calls that are open
//!   at this event; these have their recorded results, if there are any.
//! - The *place* of a rejection is the first event up to which the history is not linearizable.
//! - The *allowed results* of the return at this event are the results with which the history would be linearizable up
//!   to it.
//! - A call is *left out* if it took effect within its own interval with its recorded result, or not at all.

use std::collections::HashSet;

use trueline::history::{EventKind, History, ObjectId, OpId, Operation};
use trueline::spec::Spec;

/// The known facts about an operation.
pub(super) struct Known<'h, S: Spec> {
    pub(super) id: OpId,
    pub(super) op: &'h S::Op,
    /// The result; `None` if it may be any.
    pub(super) result: Option<&'h S::Ret>,
    /// Whether the operation certainly took effect.
    pub(super) is_sure: bool,
    call: u32,
    /// The position of the return, if the return counts.
    until: u32,
}

impl<S: Spec> Clone for Known<'_, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<S: Spec> Known<'_, S> {
    fn precedes(&self, other: &Self) -> bool {
        self.until < other.call
    }
}

/// Returns the known facts about an object before the event `end`. An operation that is open at that event may or may
/// not have taken effect; if it did, it has its recorded result, if there is one.
pub(super) fn before<S: Spec>(history: &History<S::Op, S::Ret>, object: ObjectId, end: u32) -> Vec<Known<'_, S>> {
    let mut calls = all(history);
    calls.retain(|call| history[call.id].object == object && call.call < end);
    for call in calls.iter_mut().filter(|call| call.until >= end) {
        (call.is_sure, call.until) = (false, u32::MAX);
    }
    calls
}

/// Returns the known facts about all operations of a history.
pub(super) fn all<S: Spec>(history: &History<S::Op, S::Ret>) -> Vec<Known<'_, S>> {
    fn known<S: Spec>((id, operation): (OpId, &Operation<S::Op, S::Ret>)) -> Known<'_, S> {
        Known {
            id,
            op: &operation.op,
            result: operation.outcome.result(),
            is_sure: operation.return_position().is_some(),
            call: operation.call_position(),
            until: operation.return_position().unwrap_or(u32::MAX),
        }
    }
    (0..).map(OpId).zip(history.operations()).map(known).collect()
}

/// Enumerates all legal orders of operations within their intervals.
struct Orders<'k, S: Spec> {
    spec: &'k S,
    calls: &'k [Known<'k, S>],
    /// The operation whose possible results are requested.
    asked: Option<usize>,
    /// The operations that took effect, the state after them, and the result of the requested operation.
    seen: HashSet<(u32, S::State, Option<S::Ret>)>,
    /// The possible results of the requested operation: with each of them, all operations have a legal order.
    results: Vec<S::Ret>,
    is_found: bool,
}

impl<S: Spec> Orders<'_, S> {
    fn go_on(&mut self, placed: u32, state: &S::State, returned: Option<&S::Ret>) {
        if (self.is_found && self.asked.is_none()) || !self.seen.insert((placed, state.clone(), returned.cloned())) {
            return;
        }
        let is_placed = |at: usize| placed & (1 << at) != 0;
        if (0..self.calls.len()).all(|at| is_placed(at) || !self.calls[at].is_sure) {
            self.is_found = true;
            if let Some(result) = returned.filter(|result| !self.results.contains(result)) {
                self.results.push(result.clone());
            }
        }
        for next in (0..self.calls.len()).filter(|at| !is_placed(*at)) {
            let call = &self.calls[next];
            let comes_too_late = |at: usize| is_placed(at) && call.precedes(&self.calls[at]);
            let has_to_wait =
                |at: usize| !is_placed(at) && at != next && self.calls[at].is_sure && self.calls[at].precedes(call);
            if (0..self.calls.len()).any(|at| comes_too_late(at) || has_to_wait(at)) {
                continue;
            }
            let is_asked = self.asked == Some(next);
            let recorded = if is_asked { None } else { call.result };
            for (result, after) in self.spec.step(state, call.op, recorded) {
                if recorded.is_none_or(|recorded| *recorded == result) {
                    self.go_on(placed | 1 << next, &after, if is_asked { Some(&result) } else { returned });
                }
            }
        }
    }
}

fn orders<'k, S: Spec>(spec: &'k S, calls: &'k [Known<'k, S>], asked: Option<usize>) -> Orders<'k, S> {
    let mut orders = Orders { spec, calls, asked, seen: HashSet::new(), results: Vec::new(), is_found: false };
    orders.go_on(0, &spec.initial(), None);
    orders
}

pub(super) fn is_linearizable<S: Spec>(spec: &S, calls: &[Known<'_, S>]) -> bool {
    orders(spec, calls, None).is_found
}

/// Returns the first event up to which a history is not linearizable. Each object is judged separately, because
/// linearizability is local.
pub(super) fn place<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> Option<u32> {
    let of_object = |object: ObjectId| {
        if is_linearizable(spec, &before(history, object, u32::MAX)) {
            return None;
        }
        let returns = (0..)
            .zip(history.events())
            .filter(|(_, event)| event.kind() == EventKind::Return && history[event.op()].object == object);
        let mut ends = returns.map(|(position, _)| position);
        ends.find(|position| !is_linearizable(spec, &before(history, object, position + 1)))
    };
    let objects = u32::try_from(history.object_count()).expect("few");
    (0..objects).filter_map(|object| of_object(ObjectId(object))).min()
}

/// Returns every result with which the return at `event` would be accepted.
pub(super) fn allowed<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, event: u32) -> Vec<S::Ret> {
    let refused = history.events()[event as usize].op();
    let calls = before(history, history[refused].object, event + 1);
    let asked = calls.iter().position(|call| call.id == refused);
    orders(spec, &calls, asked).results
}

/// Calls `f` with every legal order of the operations, regardless of the times of their calls. An order contains all
/// operations that certainly took effect, and may contain any other operation.
pub(super) fn for_each_order<S: Spec>(spec: &S, calls: &[Known<'_, S>], f: &mut dyn FnMut(&[OpId])) {
    fn go_on<S: Spec>(
        spec: &S,
        calls: &[Known<'_, S>],
        state: &S::State,
        order: &mut Vec<OpId>,
        f: &mut dyn FnMut(&[OpId]),
    ) {
        if calls.iter().all(|call| !call.is_sure || order.contains(&call.id)) {
            f(order);
        }
        for call in calls {
            if order.contains(&call.id) {
                continue;
            }
            for (result, after) in spec.step(state, call.op, call.result) {
                if call.result.is_none_or(|recorded| *recorded == result) {
                    order.push(call.id);
                    go_on(spec, calls, &after, order, f);
                    order.pop();
                }
            }
        }
    }
    go_on(spec, calls, &spec.initial(), &mut Vec::new(), f);
}

/// Returns the states that these operations, one after the other, may lead to; empty if they are not legal.
pub(super) fn states<S: Spec>(spec: &S, calls: &[&Known<'_, S>]) -> Vec<S::State> {
    let mut states = vec![spec.initial()];
    for call in calls {
        let mut next = Vec::new();
        for state in &states {
            for (result, after) in spec.step(state, call.op, call.result) {
                if call.result.is_none_or(|recorded| *recorded == result) && !next.contains(&after) {
                    next.push(after);
                }
            }
        }
        states = next;
    }
    states
}

/// Returns whether no operation comes after an operation that it precedes in time.
pub(super) fn is_in_time<S: Spec>(calls: &[&Known<'_, S>]) -> bool {
    (0..calls.len()).all(|at| calls[..at].iter().all(|earlier| !calls[at].precedes(earlier)))
}
