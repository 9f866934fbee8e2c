//! Finds the results that a refused return could have had.
//!
//! A result is *allowed* if the history up to that return, with this result instead of the recorded one, is
//! linearizable over the whole object. Operations that are open at that return are optional, and have their recorded
//! results if they take effect. This module finds the allowed results for every algorithm that rejects a history.
//!
//! Each search looks for a linearization in which the operation returns a result that is not known yet, and so finds at
//! least one more result. When there is no such linearization, the results are complete.
//!
//! # Complexity
//! One search for each result that the linearizations found so far did not show, and one more. Each search may cost as
//! much as rejecting the history. The searches end after [`MOST_SEARCHES`], or after visiting [`MOST_CONFIGURATIONS`]
//! configurations (or as many as it took to reject the history, if that is more). The results found until then are only
//! examples.

use super::erased::{Asked, Case, SPANS};
use super::search::Meter;
use super::search::automaton::ResultId;
use super::search::problem::Task;
use super::turns::{self, Turn};
use super::worker::Worker;
use crate::history::{Event, OpId};
use crate::verdict::{Evidence, Verdict};

/// The number of configurations that all searches together may visit, unless rejecting the history took more.
const MOST_CONFIGURATIONS: u64 = 20_000;

/// The number of events above which only examples are given for a history that a monitor rejected: a monitor judges
/// such a history faster than a search can go through it once.
const LONG: usize = 2_000;

/// The maximum number of searches: each may find only one more result, and a list of hundreds is of no use to a reader.
const MOST_SEARCHES: usize = 100;

/// The number of results that are tried at one place of a linearization once one of them was legal.
const TRIED: usize = 8;

/// Completes evidence about the first failing event: adds the allowed results and whether these are all. `is_whole`
/// says whether the prefix of the evidence contains all operations that the result depends on. `turn` is the search that
/// rejected the history, if one did.
pub(super) fn complete(
    worker: &mut Worker<'_>,
    evidence: &mut Evidence<ResultId>,
    is_whole: bool,
    turn: Option<Turn>,
    meter: &mut Meter,
) {
    let (case, refused) = (worker.case, evidence.refused);
    let (events, one_key) = scope(case, refused, evidence.event);
    let mut known = std::mem::take(&mut evidence.allowed);
    if !is_whole && !one_key {
        known.clear();
    } else if known.is_empty() {
        known = after(case, &evidence.prefix, refused).unwrap_or_default();
    }
    let mut asked = Asked { op: refused, known };
    let by_monitor = !evidence.conflict.is_empty();
    if !by_monitor || events.len() <= LONG {
        let spent = if by_monitor { 0 } else { meter.configurations };
        let mut own = meter.part(Some(MOST_CONFIGURATIONS.max(spent)), None);
        evidence.all_allowed = find(worker, Task { events: &events, one_key }, &mut asked, turn, &mut own);
        meter.add(&own);
    }
    evidence.allowed = case.distinct_results(asked.known);
}

/// Returns the events up to a return that its result depends on, and whether they are all on one key. They are the
/// events on the key of the operation if no result would change its key and no operation spans keys, and otherwise all
/// events of its object.
fn scope(case: &dyn Case, refused: OpId, event: u32) -> (Vec<Event>, bool) {
    let frame = case.frame();
    let object = frame.object(refused);
    let until = &frame.events[..=event as usize];
    let mut events: Vec<Event> = until.iter().copied().filter(|event| frame.object(event.op()) == object).collect();
    let keys = if case.has_key(refused) { case.keys() } else { None };
    let key = |event: &Event| keys.as_ref().map_or(SPANS, |keys| keys.of[event.op().index()]);
    let one_key = events.iter().all(|event| key(event) != SPANS);
    if one_key {
        let own = key(events.last().expect("the events include the return"));
        events.retain(|event| key(event) == own);
    }
    (events, one_key)
}

/// Finds the results that are not known yet. Returns whether all of them are known then.
///
/// If breadth-first search rejected the history, depth-first search had given up before. It would most likely give up
/// again, because the history that is searched here differs in one result only, so breadth-first search comes first.
fn find(worker: &mut Worker<'_>, task: Task<'_>, asked: &mut Asked, turn: Option<Turn>, meter: &mut Meter) -> bool {
    let first = turn.unwrap_or(Turn::DepthFirst);
    for _ in 0..MOST_SEARCHES {
        let verdict = worker.alone(task, Some(asked), |worker| turns::search(worker, task, first, meter).0);
        let known = asked.known.len();
        match verdict {
            Verdict::Accepted(witness) => add_results(worker.case, &witness.order, asked),
            Verdict::Rejected(_) => return true,
            Verdict::Unknown(_) => return false,
        }
        assert!(known < asked.known.len(), "a linearization that was found cannot be replayed");
    }
    false
}

/// Returns the results that an operation may return after `order`, or `None` if `order` is not legal.
fn after(case: &dyn Case, order: &[OpId], op: OpId) -> Option<Vec<ResultId>> {
    let mut replay = case.replay();
    for &before in order.iter().filter(|before| **before != op) {
        replay.step(before).ok()?;
    }
    Some(replay.results(op))
}

/// Adds the results that a linearization shows.
fn add_results(case: &dyn Case, order: &[OpId], asked: &mut Asked) {
    // No operation returns later, so `asked.op` may come last if the other operations are legal without it.
    for result in after(case, order, asked.op).unwrap_or_default() {
        if !asked.known.contains(&result) {
            asked.known.push(result);
        }
    }
    let place = order.iter().position(|op| *op == asked.op).expect("the order contains every operation that returned");
    let mut is_one_right = false;
    for (tried, result) in after(case, &order[..place], asked.op).unwrap_or_default().into_iter().enumerate() {
        if asked.known.contains(&result) {
            continue;
        }
        if is_one_right && tried > TRIED {
            break;
        }
        let mut replay = case.replay();
        let mut step = |op: OpId| if op == asked.op { replay.step_with(op, result) } else { replay.step(op) };
        if order.iter().all(|op| step(*op).is_ok()) {
            asked.known.push(result);
            is_one_right = true;
        }
    }
}
