//! Searches one part depth first and breadth first, in turns.
//!
//! A part is first searched depth first. This search linearizes operations just in time, linearizes
//! observers eagerly, and merges identical operations. If the history is linearizable, the search
//! visits about one configuration for each return of an operation that has not been linearized
//! before, so it decides most histories. If the specification supports foresight
//! ([`Rules::foresight`]), a first attempt runs without foresight, which costs less.
//!
//! A part that is not decided within a cap is searched breadth first with dominance. Breadth-first
//! search does not spend all its time below one bad decision, so it is faster on rejected histories
//! with many reads, blind writes or operations that never return. But it visits all possible
//! configurations, which may be exponentially more than those on a single path. Breadth-first
//! search therefore has a cap too, and the two searches take turns with ever higher caps. Without
//! reads, blind writes or operations that never return, no configuration dominates another, and
//! breadth-first search visits every configuration that depth-first search visits; in that case,
//! depth-first search has no cap. The verdict on a part is unknown only if a limit ended both
//! searches.

use super::Rules;
use super::frame::calls;
use super::search::automaton::ResultId;
use super::search::depth_first::{self, Memory, Patience};
use super::search::problem::Task;
use super::search::{Meter, breadth_first};
use super::worker::{Search, Worker};
use crate::verdict::{LimitKind, Verdict};

/// The number of configurations that depth-first search may visit before breadth-first search takes over.
const DEPTH_FIRST: Patience = Patience { at_start: 20_000, per_return: 40 };

/// The number of configurations that depth-first search may visit before the search restarts with
/// foresight ([`Rules::foresight`]), if the specification supports foresight.
const WITHOUT_FORESIGHT: Patience = Patience { at_start: 1_000, per_return: 8 };

/// The number of configurations that depth-first search may visit before another algorithm that is
/// made for the type takes over.
const BRIEF: Patience = Patience { at_start: 2_000, per_return: 4 };

/// The factor by which [`DEPTH_FIRST`] is multiplied if the search uses foresight. The factor is
/// large because the search may have to run several times, and because breadth-first search, which
/// has no foresight, would visit far more configurations.
const TIMES_WITH_FORESIGHT: u64 = 10;

/// The factor by which [`DEPTH_FIRST`] is multiplied if observers are the only operations that can
/// make one configuration dominate another. Breadth-first search then has little advantage, because
/// depth-first search linearizes observers eagerly.
const TIMES_WITH_OBSERVERS: u64 = 5;

/// Breadth-first search may visit this many configurations for each event of the part before
/// depth-first search takes over again. [`FURTHER_EVENTS`] is added to the number of events.
const BREADTH_FIRST_PER_EVENT: u64 = 400;
const FURTHER_EVENTS: u64 = 1_000;

/// The factor by which the caps grow in each turn.
const GROWTH: u64 = 8;

/// The search that decided a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    DepthFirst,
    BreadthFirst,
}

/// Judges one part by search. The search `first` has the first turn. But if breadth-first search
/// could not do better than depth-first search, depth-first search judges the part alone.
pub(super) fn search(
    worker: &mut Worker<'_>,
    task: Task<'_>,
    first: Turn,
    meter: &mut Meter,
) -> (Verdict<ResultId>, Turn) {
    let rules = worker.config.rules_or(Rules::ALL);
    let seed = worker.config.seed;
    let depth_first = |rules, patience| {
        let options = depth_first::Options { rules, memory: Memory::Graph, seed, restart_after: None, patience };
        Search::DepthFirst(options)
    };
    let mut is_breadths_turn = first == Turn::BreadthFirst;
    if !is_breadths_turn && rules.foresight && worker.classes().has_goals() {
        let plain = depth_first(Rules { foresight: false, ..rules }, Some(WITHOUT_FORESIGHT));
        let verdict = spend(worker, task, plain, None, meter);
        if !may_go_on(&verdict, meter) {
            return (verdict, Turn::DepthFirst);
        }
    }
    let times = times(worker, task);
    let is_out_of_memory =
        |verdict: &Verdict<ResultId>| matches!(verdict, Verdict::Unknown(limit) if limit.kind == LimitKind::Memory);
    let mut growth = 1_u64;
    // Set to `false` when a search runs out of memory: it would run out of memory again, so the
    // other search continues alone.
    let mut takes_turns = true;
    loop {
        let patience = times.filter(|_| takes_turns).map(|times| DEPTH_FIRST.times(times.saturating_mul(growth)));
        if !is_breadths_turn || patience.is_none() {
            let verdict = spend(worker, task, depth_first(rules, patience), None, meter);
            if !takes_turns || !may_go_on(&verdict, meter) {
                return (verdict, Turn::DepthFirst);
            }
            takes_turns = !is_out_of_memory(&verdict);
            worker.forget();
        }
        is_breadths_turn = false;
        let options = breadth_first::Options { rules, compare: breadth_first::Compare::Ahead };
        let events = task.events.len() as u64 + FURTHER_EVENTS;
        let cap = takes_turns.then(|| BREADTH_FIRST_PER_EVENT.saturating_mul(growth).saturating_mul(events));
        let verdict = spend(worker, task, Search::BreadthFirst(options), cap, meter);
        if !takes_turns || !may_go_on(&verdict, meter) {
            return (verdict, Turn::BreadthFirst);
        }
        takes_turns = !is_out_of_memory(&verdict);
        worker.forget();
        growth = growth.saturating_mul(GROWTH);
    }
}

/// Searches one part depth first, but gives up soon. Returns `None` if the search reached only this
/// cap, so that another algorithm may still decide the part.
pub(super) fn brief(worker: &mut Worker<'_>, task: Task<'_>, meter: &mut Meter) -> Option<Verdict<ResultId>> {
    let (rules, seed) = (worker.config.rules_or(Rules::ALL), worker.config.seed);
    let patience = Some(BRIEF);
    let options = depth_first::Options { rules, memory: Memory::Graph, seed, restart_after: None, patience };
    let verdict = spend(worker, task, Search::DepthFirst(options), None, meter);
    if !may_go_on(&verdict, meter) {
        return Some(verdict);
    }
    worker.forget();
    None
}

/// Returns the factor by which the cap of depth-first search is multiplied for a part, or `None` if
/// breadth-first search could not do better than depth-first search.
fn times(worker: &Worker<'_>, task: Task<'_>) -> Option<u64> {
    let (frame, classes) = (worker.case.frame(), worker.classes());
    let calls = || calls(task.events);
    if classes.has_goals() {
        Some(TIMES_WITH_FORESIGHT)
    } else if calls().any(|op| classes.overwrites(classes.of(op), task.one_key) || frame.ret(op).is_none()) {
        Some(1)
    } else {
        calls().any(|op| classes.observes(classes.of(op))).then_some(TIMES_WITH_OBSERVERS)
    }
}

/// Runs a search with a meter of its own.
fn spend(
    worker: &mut Worker<'_>,
    task: Task<'_>,
    search: Search,
    configurations: Option<u64>,
    meter: &mut Meter,
) -> Verdict<ResultId> {
    let mut own = meter.part(configurations, None);
    let verdict = worker.search(task, search, &mut own);
    meter.add(&own);
    verdict
}

/// Returns whether this search gave up only because it reached its own cap on configurations or its
/// own share of memory. Another search may then still decide the part.
fn may_go_on(verdict: &Verdict<ResultId>, meter: &Meter) -> bool {
    let Verdict::Unknown(limit) = verdict else { return false };
    limit.kind == LimitKind::Memory || limit.kind == LimitKind::Configurations && !meter.is_spent()
}
