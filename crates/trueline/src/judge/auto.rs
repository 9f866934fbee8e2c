//! The automatic choice.
//!
//! A part whose operations are all [standard](crate::spec::Spec::standard) goes to the [monitor] of its
//! type, which decides in near-linear time, or refuses: then it is searched. So is every other part. (Splitting at
//! quiescent cuts would gain nothing: there, a configuration is just a state, and the searches remember those.)
//!
//! It is searched depth first, just in time, with eager observers and identical operations merged. A linearizable
//! history takes about one configuration for each return that blocks, so that most are decided here. Where the
//! specification can look ahead ([`Rules::foresight`]), the search first tries without, which costs less.
//!
//! What is not decided within a cap is searched breadth first with dominance, which does not lose itself in a bad part
//! of the tree: it wins on rejected histories with many reads, blind writes or never-returning operations. But it goes
//! through all that is possible, which may be exponentially more than one good way. So it has a cap too, and the two take
//! turns with ever higher caps. Without reads, blind writes or never-returning operations no configuration dominates
//! another, and breadth-first search visits all that depth-first search does: then that one has no cap. Each gets what
//! the other cannot do, and a history is unknown only if a limit ended both.

use std::collections::BTreeMap;

use super::monitor::family::Monitor;
use super::monitor::part::By;
use super::part::{Search, Worker};
use super::search::depth_first::{self, Memory, Patience};
use super::search::problem::Task;
use super::search::{Meter, breadth_first};
use super::{Algorithm, Budget, Config, Rules, monitor};
use crate::history::{EventKind, History};
use crate::spec::Spec;
use crate::verdict::{Judgement, LimitKind, Verdict};

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

/// Judges a history by what seems best for it, by partition where the specification has keys.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Budget, auto};
/// use trueline::spec::{Set, SetOp, SetRet};
///
/// let mut builder = History::builder();
/// builder.call(0, SetOp::Add(7))?;
/// builder.call(1, SetOp::Contains(7))?;
/// builder.ret(1, SetRet::Bool(true))?;
/// builder.ret(0, SetRet::Bool(true))?;
/// let judgement = auto::check(&Set::new(), &builder.finish(), &Budget::unlimited());
/// assert!(judgement.verdict.is_accepted());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    super::check(spec, history, &Config::new().algorithm(Algorithm::Auto).budget(budget.clone()))
}

/// What gave the answer for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// No two operations overlap.
    OrderOfCalls,
    /// Operations on one key, without those that span keys, are not linearizable.
    OneKey,
    Monitor(Monitor),
    DepthFirst,
    BreadthFirst,
}

/// How often each gave the answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    order_of_calls: usize,
    one_key: usize,
    monitors: BTreeMap<Monitor, usize>,
    depth_first: usize,
    breadth_first: usize,
}

impl Choices {
    pub(super) fn count(&mut self, choice: Option<Choice>) {
        match choice {
            Some(Choice::OrderOfCalls) => self.order_of_calls += 1,
            Some(Choice::OneKey) => self.one_key += 1,
            Some(Choice::Monitor(monitor)) => *self.monitors.entry(monitor).or_default() += 1,
            Some(Choice::DepthFirst) => self.depth_first += 1,
            Some(Choice::BreadthFirst) => self.breadth_first += 1,
            None => {}
        }
    }

    /// The choice and its reason, in words.
    pub(super) fn describe(&self, parts: usize) -> String {
        let monitors = self.monitors.iter().map(|(monitor, count)| (format!("the monitor \"{}\"", monitor.0), *count));
        let others = [
            ("the order of calls, as nothing overlaps", self.order_of_calls),
            ("operations on one key, without what spans keys", self.one_key),
            ("depth-first search", self.depth_first),
            ("breadth-first search with dominance, as depth-first search had no end", self.breadth_first),
        ];
        let others = others.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.to_owned(), count));
        let by: Vec<(String, usize)> = monitors.chain(others).collect();
        match by.as_slice() {
            [(name, _)] if parts == 1 => name.clone(),
            [(name, _)] => format!("{parts} parts, by {name}"),
            several => {
                let each: Vec<String> = several.iter().map(|(name, count)| format!("{count} by {name}")).collect();
                format!("{parts} parts: {}", each.join(", "))
            }
        }
    }
}

/// Judges one part.
pub(super) fn search<S: Spec>(
    worker: &mut Worker<'_, S>,
    task: Task<'_>,
    meter: &mut Meter,
) -> (Verdict<S::Ret>, Choice) {
    by_monitor(worker, task, meter).unwrap_or_else(|| search_both(worker, task, meter))
}

/// Judges one part by the monitor of its type, if there is one and it can.
pub(super) fn by_monitor<S: Spec>(
    worker: &mut Worker<'_, S>,
    task: Task<'_>,
    meter: &mut Meter,
) -> Option<(Verdict<S::Ret>, Choice)> {
    let (verdict, monitor) = monitor::part::judge(worker, task, By::Type, meter).ok()?;
    Some((verdict, Choice::Monitor(monitor)))
}

/// Judges one part by search.
pub(super) fn search_both<S: Spec>(
    worker: &mut Worker<'_, S>,
    task: Task<'_>,
    meter: &mut Meter,
) -> (Verdict<S::Ret>, Choice) {
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
            return (verdict, Choice::DepthFirst);
        }
    }
    let times = times(worker, task);
    let is_out_of_memory =
        |verdict: &Verdict<S::Ret>| matches!(verdict, Verdict::Unknown(limit) if limit.kind == LimitKind::Memory);
    let mut growth = 1_u64;
    // What has once run out of memory would again: then the other goes on alone.
    let mut takes_turns = true;
    loop {
        let patience = times.filter(|_| takes_turns).map(|times| DEPTH_FIRST.times(times.saturating_mul(growth)));
        let verdict = spend(worker, task, depth_first(rules, patience), None, meter);
        if !takes_turns || !may_go_on(&verdict, meter) {
            return (verdict, Choice::DepthFirst);
        }
        takes_turns = !is_out_of_memory(&verdict);
        worker.forget();
        let options = breadth_first::Options { rules, compare: breadth_first::Compare::Ahead };
        let events = task.events.len() as u64 + FURTHER_EVENTS;
        let cap = takes_turns.then(|| BREADTH_FIRST_PER_EVENT.saturating_mul(growth).saturating_mul(events));
        let verdict = spend(worker, task, Search::BreadthFirst(options), cap, meter);
        if !takes_turns || !may_go_on(&verdict, meter) {
            return (verdict, Choice::BreadthFirst);
        }
        takes_turns = !is_out_of_memory(&verdict);
        worker.forget();
        growth = growth.saturating_mul(GROWTH);
    }
}

/// How many times the usual cap the depth-first search may spend on a part; `None` if breadth-first search could not do
/// better.
fn times<S: Spec>(worker: &Worker<'_, S>, task: Task<'_>) -> Option<u64> {
    let classes = worker.classes();
    let calls = || task.events.iter().filter(|event| event.kind() == EventKind::Call).map(|event| event.op());
    if classes.has_goals() {
        Some(TIMES_WITH_FORESIGHT)
    } else if calls()
        .any(|op| classes.overwrites(classes.of(op), task.one_key) || worker.history[op].return_position().is_none())
    {
        Some(1)
    } else {
        calls().any(|op| classes.observes(classes.of(op))).then_some(TIMES_WITH_OBSERVERS)
    }
}

/// Searches with a meter of its own.
fn spend<S: Spec>(
    worker: &mut Worker<'_, S>,
    task: Task<'_>,
    search: Search,
    configurations: Option<u64>,
    meter: &mut Meter,
) -> Verdict<S::Ret> {
    let mut own = meter.part(configurations, None);
    let verdict = worker.search(task, search, &mut own);
    meter.add(&own);
    verdict
}

/// Whether another search may still know: the patience of this one ended, or its own share of memory.
fn may_go_on<Ret>(verdict: &Verdict<Ret>, meter: &Meter) -> bool {
    let Verdict::Unknown(limit) = verdict else { return false };
    limit.kind == LimitKind::Memory || limit.kind == LimitKind::Configurations && !meter.is_spent()
}
