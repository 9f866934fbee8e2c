//! The automatic choice of an algorithm.
//!
//! A *part* of a history contains the operations on one object or, if the specification has keys,
//! on one key. A part whose operations are all [standard](crate::spec::Spec::standard) goes to the
//! [monitor](super::monitor) of its type, which either decides the part in near-linear time or
//! refuses it. Refused parts, and parts with other operations, are searched. The monitor of queues
//! refuses values that were added more than once if too many operations overlap, for example
//! because a thread was preempted during an operation. If a short search does not decide such a
//! part, [`queue_lowe`](super::queue_lowe) does, mostly in linear time. (Splitting a part at
//! moments when no operation is open would gain nothing: at such a moment, a configuration is just
//! a state, and the searches remember configurations anyway.)

use std::collections::BTreeMap;

use super::monitor::family::{Family, Monitor};
use super::monitor::part::{self, By, MOST_TO_LOCATE};
use super::search::Meter;
use super::search::automaton::ResultId;
use super::search::problem::Task;
use super::turns::{self, Turn};
use super::worker::Worker;
use super::{Algorithm, Budget, Config};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::{Judgment, Verdict};

/// Judges a history by the algorithm that seems best for it. The history is partitioned if the
/// specification has keys.
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
/// let judgment = auto::check(&Set::new(), &builder.finish(), &Budget::unlimited());
/// assert!(judgment.verdict.is_accepted());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::new().algorithm(Algorithm::Auto).budget(budget.clone()))
}

/// The method that decided a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The operations are legal in the order of their versions.
    Versions,
    /// The operations are legal in the order of their calls, and no other order is possible,
    /// because no two operations overlap.
    OrderOfCalls,
    /// The operations on one key are not linearizable, even without the operations that span keys.
    OneKey,
    Monitor(Monitor),
    Search(Turn),
    /// The competing algorithm with this number finished first.
    Competitor(usize),
}

impl Choice {
    /// Returns the search that decided the part, if a search decided it.
    pub(super) fn turn(self) -> Option<Turn> {
        match self {
            Self::Search(turn) => Some(turn),
            _ => None,
        }
    }
}

/// The number of parts that each method decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    versions: usize,
    order_of_calls: usize,
    one_key: usize,
    monitors: BTreeMap<Monitor, usize>,
    depth_first: usize,
    breadth_first: usize,
    competitors: BTreeMap<usize, usize>,
}

impl Choices {
    pub(super) fn count(&mut self, choice: Option<Choice>) {
        match choice {
            Some(Choice::Versions) => self.versions += 1,
            Some(Choice::OrderOfCalls) => self.order_of_calls += 1,
            Some(Choice::OneKey) => self.one_key += 1,
            Some(Choice::Monitor(monitor)) => *self.monitors.entry(monitor).or_default() += 1,
            Some(Choice::Search(Turn::DepthFirst)) => self.depth_first += 1,
            Some(Choice::Search(Turn::BreadthFirst)) => self.breadth_first += 1,
            Some(Choice::Competitor(index)) => *self.competitors.entry(index).or_default() += 1,
            None => {}
        }
    }

    /// Returns the number of parts that were judged by versions.
    pub(super) fn by_versions(&self) -> usize {
        self.versions
    }

    /// Describes the choices and their reasons in words; `competitors` are the algorithms that competed.
    pub(super) fn describe(&self, parts: usize, competitors: &[Algorithm]) -> String {
        let monitors = self.monitors.iter().map(|(monitor, count)| (format!("the monitor \"{}\"", monitor.0), *count));
        let others = [
            ("the order of versions", self.versions),
            ("the order of calls, because no operations overlap", self.order_of_calls),
            ("the operations on one key, ignoring those that span several keys", self.one_key),
            ("depth-first search", self.depth_first),
            ("breadth-first search with dominance, because depth-first search did not finish", self.breadth_first),
        ];
        let others = others.into_iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.to_owned(), count));
        let winners = self.competitors.iter().map(|(index, count)| (competitors[*index].to_string(), *count));
        let by: Vec<(String, usize)> = monitors.chain(others).chain(winners).collect();
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

/// Judges one part, with the monitor of its type or with a search.
pub(super) fn judge(worker: &mut Worker<'_>, task: Task<'_>, meter: &mut Meter) -> (Verdict<ResultId>, Choice) {
    by_monitor(worker, task, meter).unwrap_or_else(|| by_search(worker, task, meter))
}

/// Judges one part by the monitor of its type. Returns `None` if no monitor can judge the part.
pub(super) fn by_monitor(
    worker: &mut Worker<'_>,
    task: Task<'_>,
    meter: &mut Meter,
) -> Option<(Verdict<ResultId>, Choice)> {
    let (verdict, monitor) = part::judge(worker, task, By::Type, meter).ok()?;
    Some((verdict, Choice::Monitor(monitor)))
}

/// Judges one part by search, after the monitor has refused it.
pub(super) fn by_search(worker: &mut Worker<'_>, task: Task<'_>, meter: &mut Meter) -> (Verdict<ResultId>, Choice) {
    if worker.reader.family == Some(Family::Queue) {
        if let Some(decided) = by_lowe(worker, task, meter) {
            return decided;
        }
    }
    let (verdict, turn) = turns::search(worker, task, Turn::DepthFirst, meter);
    (verdict, Choice::Search(turn))
}

/// The number of iterations of Lowe's algorithm for each event, after which a search takes over again. Without
/// backtracking, the algorithm needs less than one.
const LOWE_PER_EVENT: u64 = 50;

/// Judges one part of a queue by a short search or, if this search does not decide the part, by Lowe's algorithm.
/// Returns `None` if the algorithm cannot judge the part or gives up.
///
/// The search comes first because it decides most parts, and finds the place where a rejected history fails.
fn by_lowe(worker: &mut Worker<'_>, task: Task<'_>, meter: &mut Meter) -> Option<(Verdict<ResultId>, Choice)> {
    if let Some(verdict) = turns::brief(worker, task, meter) {
        return Some((verdict, Choice::Search(Turn::DepthFirst)));
    }
    let most = MOST_TO_LOCATE + LOWE_PER_EVENT * task.events.len() as u64;
    let mut own = meter.part(Some(most), None);
    let judged = part::judge(worker, task, By::QueueLowe, &mut own);
    meter.add(&own);
    let (verdict, monitor) = judged.ok().filter(|(verdict, _)| !matches!(verdict, Verdict::Unknown(_)))?;
    Some((verdict, Choice::Monitor(monitor)))
}
