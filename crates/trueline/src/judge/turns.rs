//! Searches one part depth first and breadth first, in turns.
//!
//! A part is first searched depth first, just in time, with eager observers, and with identical operations merged. For
//! a linearizable history this takes about one configuration for each return that blocks, so that most histories are
//! decided here. If the specification supports foresight ([`Rules::foresight`]), the search is first tried without it,
//! which costs less.
//!
//! A part that is not decided within a cap is searched breadth first with dominance. This search does not get lost in a
//! bad part of the tree: it wins on rejected histories with many reads, blind writes or operations that never return.
//! But it visits all possible configurations, which may be exponentially more than a single good path. It therefore has
//! a cap too, and the two searches take turns with ever higher caps. Without reads, blind writes or operations that
//! never return, no configuration dominates another, and breadth-first search visits all that depth-first search does;
//! then depth-first search has no cap. Each search handles what the other cannot, and a part is unknown only if a limit
//! ended both.

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

/// The number of configurations that depth-first search may visit before foresight ([`Rules::foresight`]) is used, if
/// there is any.
const WITHOUT_FORESIGHT: Patience = Patience { at_start: 1_000, per_return: 8 };

/// The factor by which [`DEPTH_FIRST`] grows with foresight: the search may have to run several times, and
/// breadth-first search, which has no foresight, would visit far more.
const TIMES_WITH_FORESIGHT: u64 = 10;

/// The factor by which [`DEPTH_FIRST`] grows if dominance could only prune the choice of observers: linearizing
/// observers eagerly already prunes most of it.
const TIMES_WITH_OBSERVERS: u64 = 5;

/// The number of configurations that breadth-first search may visit for each event of the part, and for
/// [`FURTHER_EVENTS`] more, before depth-first search takes over again.
const BREADTH_FIRST_PER_EVENT: u64 = 400;
const FURTHER_EVENTS: u64 = 1_000;

/// The factor by which the caps grow in each turn.
const GROWTH: u64 = 8;

/// The search that gave the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    DepthFirst,
    BreadthFirst,
}

/// Judges one part by search. The first turn is that of `first`, unless breadth-first search could not do better.
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
    // A search that has run out of memory would run out of it again, so the other search continues alone.
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

/// Returns the factor by which the cap of depth-first search grows for a part, or `None` if breadth-first search could
/// not do better.
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

/// Returns whether another search may still decide: this one has reached its cap on configurations, or its own share of
/// memory.
fn may_go_on(verdict: &Verdict<ResultId>, meter: &Meter) -> bool {
    let Verdict::Unknown(limit) = verdict else { return false };
    limit.kind == LimitKind::Memory || limit.kind == LimitKind::Configurations && !meter.is_spent()
}
