//! Finds the results with which a refused return would have been allowed.
//!
//! A result is *allowed* if the history of the whole object up to that return, with this result
//! instead of the recorded one, is linearizable. Operations that are open at that return are
//! optional, and have their recorded results if they take effect. This module finds the allowed
//! results for every algorithm that rejects a history.
//!
//! Each search looks for a linearization in which the operation returns a result that is not known to be allowed yet.
//! If a search finds such a linearization, at least one more result is known. If there is no such linearization, all
//! allowed results are known.
//!
//! # Complexity
//! At most one search for each allowed result, and a last search that finds no linearization. Each search may cost as
//! much as rejecting the history. There are at most [`MOST_SEARCHES`] searches, and together, they visit at most
//! [`MOST_CONFIGURATIONS`] configurations, or as many as it took to reject the history if that is more. If a limit is
//! reached, the results found so far are only examples.

use std::borrow::Cow;
use std::cell::RefCell;

use super::erased::{Asked, Case, SPANS};
use super::search::Meter;
use super::search::automaton::ResultId;
use super::search::problem::Task;
use super::turns::{self, Turn};
use super::worker::Worker;
use crate::history::{Event, OpId};
use crate::verdict::{Evidence, Verdict};

/// The number of configurations that all searches together may visit, unless the search that
/// rejected the history visited more.
const MOST_CONFIGURATIONS: u64 = 20_000;

/// If a monitor rejected a history with more events than this, no search runs, and the allowed
/// results are only examples. A monitor judges such a history faster than a search can go through
/// the history once.
const LONG: usize = 2_000;

/// The maximum number of searches. Each search may find only one more result, and a list of
/// hundreds of results does not help a reader.
const MOST_SEARCHES: usize = 100;

/// In a linearization that was found, the operation has a place in the order. The results that the specification
/// allows at this place are tried one after another, because the linearization may be legal with several of them.
/// Once a result has turned out to be allowed, results with an index above this limit are skipped.
const TRIED: usize = 8;

/// Completes evidence about the first failing event: adds the allowed results that were found, and records whether
/// these are all allowed results. `is_whole` is `true` if the prefix of the evidence contains all operations that the
/// result depends on. `turn` is the search that rejected the history, or `None` if no search rejected it.
pub(super) fn complete(
    worker: &mut Worker<'_>,
    evidence: &mut Evidence<ResultId>,
    part: Task<'_>,
    is_whole: bool,
    turn: Option<Turn>,
    meter: &mut Meter,
) {
    let (case, refused) = (worker.case, evidence.refused);
    let (events, one_key) = scope(case, refused, part);
    let mut known = std::mem::take(&mut evidence.allowed);
    if !is_whole && !one_key {
        known.clear();
    } else if known.is_empty() {
        known = after(case, &evidence.prefix, refused).unwrap_or_default();
    }
    let asked = Asked { op: refused, known: RefCell::new(known) };
    let by_monitor = !evidence.conflict.is_empty();
    if !by_monitor || events.len() <= LONG {
        let spent = if by_monitor { 0 } else { meter.configurations };
        let mut own = meter.part(Some(MOST_CONFIGURATIONS.max(spent)), None);
        evidence.all_allowed = find(worker, Task { events: &events, one_key }, &asked, turn, &mut own);
        meter.add(&own);
    }
    evidence.allowed = case.distinct_results(asked.known.into_inner());
}

/// Returns the events that the result of the refused operation depends on, up to its return, and whether all of them
/// are on one key. If the key of the operation does not depend on its result, and no operation of the object spans
/// keys, these are the events on this key. Otherwise, they are all events of the object. `part` ends with the return.
fn scope<'e>(case: &dyn Case, refused: OpId, part: Task<'e>) -> (Cow<'e, [Event]>, bool) {
    let has_key = case.has_key(refused);
    if part.one_key && has_key {
        // A part has one key only if no operation of its object spans keys.
        return (Cow::Borrowed(part.events), true);
    }
    // A part with several keys contains all operations of its object.
    let mut events = if part.one_key { Cow::Owned(of_object(case, refused)) } else { Cow::Borrowed(part.events) };
    let Some(keys) = (if has_key { case.keys() } else { None }) else { return (events, false) };
    let key = |event: &Event| keys.of[event.op().index()];
    let one_key = events.iter().all(|event| key(event) != SPANS);
    if one_key {
        let own = key(events.last().expect("the events include the return"));
        events.to_mut().retain(|event| key(event) == own);
    }
    (events, one_key)
}

/// Returns the events on the object of an operation, up to its return.
fn of_object(case: &dyn Case, refused: OpId) -> Vec<Event> {
    let frame = case.frame();
    let object = frame.object(refused);
    let event = frame.ret(refused).expect("the refused operation has a return event");
    let until = &frame.events[..=event as usize];
    until.iter().copied().filter(|event| frame.object(event.op()) == object).collect()
}

/// Adds allowed results to `asked`. Returns whether all allowed results are known afterward.
///
/// If breadth-first search rejected the history, depth-first search had already given up. Depth-first search would most
/// likely give up again, because the history that is searched here differs only in one result. So in this case,
/// breadth-first search comes first. Each breadth-first search after the first begins at the call of the operation,
/// because everything before this call is the same in all searches.
fn find(worker: &mut Worker<'_>, task: Task<'_>, asked: &Asked, turn: Option<Turn>, meter: &mut Meter) -> bool {
    let first = turn.unwrap_or(Turn::DepthFirst);
    worker.alone(task, Some(asked), |worker| {
        for _ in 0..MOST_SEARCHES {
            let known = asked.known.borrow().len();
            match turns::search(worker, task, first, meter).0 {
                Verdict::Accepted(witness) => add_results(worker.case, &witness.order, asked),
                Verdict::Rejected(_) => return true,
                Verdict::Unknown(_) => return false,
            }
            assert!(known < asked.known.borrow().len(), "a linearization that was found cannot be replayed");
            worker.ask_again();
        }
        false
    })
}

/// Returns the results that `op` may return after the other operations of `order`. Returns `None`
/// if the other operations are not legal in this order.
fn after(case: &dyn Case, order: &[OpId], op: OpId) -> Option<Vec<ResultId>> {
    let mut replay = case.replay();
    for &before in order.iter().filter(|before| **before != op) {
        replay.step(before).ok()?;
    }
    Some(replay.results(op))
}

/// Adds the results that are allowed according to a linearization.
fn add_results(case: &dyn Case, order: &[OpId], asked: &Asked) {
    let mut known = asked.known.borrow_mut();
    // No operation returns after `asked.op`, so `asked.op` may come last if the other operations are legal without it.
    for result in after(case, order, asked.op).unwrap_or_default() {
        if !known.contains(&result) {
            known.push(result);
        }
    }
    let place = order.iter().position(|op| *op == asked.op).expect("the order contains every operation that returned");
    let mut is_one_right = false;
    for (tried, result) in after(case, &order[..place], asked.op).unwrap_or_default().into_iter().enumerate() {
        if known.contains(&result) {
            continue;
        }
        if is_one_right && tried > TRIED {
            break;
        }
        let mut replay = case.replay();
        let mut step = |op: OpId| if op == asked.op { replay.step_with(op, result) } else { replay.step(op) };
        if order.iter().all(|op| step(*op).is_ok()) {
            known.push(result);
            is_one_right = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::drive::{Random, Simulation, simulate};
    use crate::history::EventKind;
    use crate::judge::erased::Typed;
    use crate::judge::{Budget, Config};
    use crate::spec::{Register, RegisterOp, RegisterRet};

    /// Finds all allowed results of an operation by searches that begin with `first`.
    fn results(case: &dyn Case, events: &[Event], op: OpId, first: Turn) -> Vec<ResultId> {
        let (classes, config) = (OnceLock::new(), Config::new());
        let mut worker = Worker::new(case, &classes, &config);
        let asked = Asked { op, known: RefCell::default() };
        let mut meter = Meter::start(&Budget::unlimited());
        let is_all = find(&mut worker, Task { events, one_key: false }, &asked, Some(first), &mut meter);
        assert!(is_all, "there is no limit");
        case.distinct_results(asked.known.into_inner())
    }

    /// For each result, depth-first search begins at the first event, whereas breadth-first search begins at the call
    /// of the operation.
    #[test]
    fn both_searches_find_the_same_results() {
        let (register, mut random) = (Register::new(0), Random::new(1));
        // `with[n]` is the number of histories in which the operation had `n` allowed results.
        let mut with = [0; 6];
        for _ in 0..300 {
            let shape = Simulation { processes: 4, operations: 40, crashes: 150, busy: true };
            let mut held = 0;
            let history = simulate(
                &shape,
                &mut random,
                |random, _| if random.chance(1, 2) { RegisterOp::Write(random.below(5)) } else { RegisterOp::Read },
                |_, op| {
                    Some(match op {
                        RegisterOp::Write(value) => {
                            held = *value;
                            RegisterRet::Done
                        }
                        _ => RegisterRet::Value(held),
                    })
                },
            );
            let is_read =
                |event: &Event| event.kind() == EventKind::Return && history[event.op()].op == RegisterOp::Read;
            let Some(last) = history.events().iter().rposition(is_read) else { continue };
            let (events, op) = (&history.events()[..=last], history.events()[last].op());
            let case = Typed::new(&register, Cow::Borrowed(&history));
            let by_depth = results(&case, events, op, Turn::DepthFirst);
            assert_eq!(results(&case, events, op, Turn::BreadthFirst), by_depth, "{history:?}");
            with[by_depth.len()] += 1;
        }
        assert!(with[2..].iter().all(|count| *count > 10), "{with:?}");
    }
}
