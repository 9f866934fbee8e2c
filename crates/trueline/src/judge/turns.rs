//! Depth-first and breadth-first search of one part, in turns.
//!
//! A part is searched depth first, just in time, with eager observers and identical operations merged. A linearizable
//! history takes about one configuration for each return that blocks, so that most are decided here. Where the
//! specification can look ahead ([`Rules::foresight`]), the search first tries without, which costs less.
//!
//! What is not decided within a cap is searched breadth first with dominance, which does not lose itself in a bad part
//! of the tree: it wins on rejected histories with many reads, blind writes or never-returning operations. But it goes
//! through all that is possible, which may be exponentially more than one good way. So it has a cap too, and the two take
//! turns with ever higher caps. Without reads, blind writes or never-returning operations no configuration dominates
//! another, and breadth-first search visits all that depth-first search does: then that one has no cap. Each gets what
//! the other cannot do, and a history is unknown only if a limit ended both.

use super::Rules;
use super::frame::calls;
use super::search::automaton::ResultId;
use super::search::depth_first::{self, Memory, Patience};
use super::search::problem::Task;
use super::search::{Meter, breadth_first};
use super::worker::{Search, Worker};
use crate::verdict::{LimitKind, Verdict};

/// How many configurations the depth-first search may visit before the breadth-first one takes over.
const DEPTH_FIRST: Patience = Patience { at_start: 20_000, per_return: 40 };

/// How many it may visit before foresight ([`Rules::foresight`]) is called for, where there is such.
const WITHOUT_FORESIGHT: Patience = Patience { at_start: 1_000, per_return: 8 };

/// How many times as many it may visit if it has foresight: it may have to search several times, and the other search,
/// which has none, would visit far more.
const TIMES_WITH_FORESIGHT: u64 = 10;

/// How many times as many it may visit if all that dominance could save are observers: being eager about them saves most
/// of it.
const TIMES_WITH_OBSERVERS: u64 = 5;

/// How many the breadth-first search may visit for each event, and for some more, before the depth-first one takes over
/// again.
const BREADTH_FIRST_PER_EVENT: u64 = 400;
const FURTHER_EVENTS: u64 = 1_000;

/// By how much the caps grow in each turn.
const GROWTH: u64 = 8;

/// Which search gave the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    DepthFirst,
    BreadthFirst,
}

/// Judges one part by search.
pub(super) fn search(worker: &mut Worker<'_>, task: Task<'_>, meter: &mut Meter) -> (Verdict<ResultId>, Turn) {
    let rules = worker.config.rules_or(Rules::ALL);
    let seed = worker.config.seed;
    let depth_first = |rules, patience| {
        let options = depth_first::Options { rules, memory: Memory::Graph, seed, restart_after: None, patience };
        Search::DepthFirst(options)
    };
    if rules.foresight && worker.classes().has_goals() {
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
    // What has once run out of memory would again: then the other goes on alone.
    let mut takes_turns = true;
    loop {
        let patience = times.filter(|_| takes_turns).map(|times| DEPTH_FIRST.times(times.saturating_mul(growth)));
        let verdict = spend(worker, task, depth_first(rules, patience), None, meter);
        if !takes_turns || !may_go_on(&verdict, meter) {
            return (verdict, Turn::DepthFirst);
        }
        takes_turns = !is_out_of_memory(&verdict);
        worker.forget();
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

/// How many times the usual cap the depth-first search may spend on a part; `None` if breadth-first search could not do
/// better.
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

/// Searches with a meter of its own.
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

/// Whether another search may still know: the patience of this one ended, or its own share of memory.
fn may_go_on(verdict: &Verdict<ResultId>, meter: &Meter) -> bool {
    let Verdict::Unknown(limit) = verdict else { return false };
    limit.kind == LimitKind::Memory || limit.kind == LimitKind::Configurations && !meter.is_spent()
}
