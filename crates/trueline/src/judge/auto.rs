//! The automatic choice.
//!
//! A part whose operations are all [standard](crate::spec::Spec::standard) goes to the [monitor] of its
//! type, which decides in near-linear time, or refuses: then it is searched. So is every other part. (Splitting at
//! quiescent cuts would gain nothing: there, a configuration is just a state, and the searches remember those.)
//!
//! It is searched depth first, just in time, with eager observers and identical operations merged, up to
//! [`CONFIGURATIONS_PER_EVENT`] configurations for each event: a linearizable history takes about one for each return
//! that blocks, so that most are decided here. (It may visit ten times as many where it can look ahead,
//! [`Rules::foresight`].) What is left is searched breadth first with dominance, which does not lose itself in a bad
//! part of the tree: it wins on rejected histories and on those with many never-returning operations. Each gets what
//! the other cannot do, and a history is unknown only if a limit ended both.

use std::collections::BTreeMap;

use super::monitor::family::Monitor;
use super::monitor::part::By;
use super::part::{Search, Worker};
use super::search::depth_first::Memory;
use super::search::problem::Task;
use super::search::{Meter, breadth_first};
use super::{Algorithm, Budget, Config, Rules, monitor};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::{Judgement, LimitKind, Verdict};

/// How many configurations the depth-first search may visit for each event before the breadth-first one takes over.
pub const CONFIGURATIONS_PER_EVENT: u64 = 20;

/// How many times as many it may visit if it has foresight ([`Rules::foresight`]): it may have to search several times,
/// and the other search, which has none, would visit far more.
const TIMES_WITH_FORESIGHT: u64 = 10;

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
            ("depth-first search, within its cap", self.depth_first),
            ("breadth-first search with dominance, after depth-first search reached its cap", self.breadth_first),
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
    let times = if worker.classes().has_goals() { TIMES_WITH_FORESIGHT } else { 1 };
    let cap = CONFIGURATIONS_PER_EVENT * times * (task.events.len() as u64 + 50);
    let mut own = meter.part(Some(cap), None);
    let depth_first = worker.config.depth_first(Rules::ALL, Memory::Graph);
    let verdict = worker.search(task, depth_first, &mut own);
    meter.add(&own);
    match &verdict {
        // The cap, or its own share of memory: the other search may still know.
        Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Configurations | LimitKind::Memory) => {}
        _ => return (verdict, Choice::DepthFirst),
    }
    worker.forget();
    let rules = worker.config.rules_or(Rules::ALL);
    let options = breadth_first::Options { rules, compare: breadth_first::Compare::Ahead };
    let mut own = meter.part(None, None);
    let verdict = worker.search(task, Search::BreadthFirst(options), &mut own);
    meter.add(&own);
    (verdict, Choice::BreadthFirst)
}
