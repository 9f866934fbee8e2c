//! The automatic choice.
//!
//! Each part is searched depth first, just in time, with eager observers and identical operations merged, up to
//! [`CONFIGURATIONS_PER_EVENT`] configurations for each event: a linearizable history takes about one for each return
//! that blocks, so that most are decided here. (It may visit ten times as many where it can look ahead,
//! [`Rules::foresight`].) What is left is searched breadth first with dominance, which does not lose itself in a bad
//! part of the tree: it wins on rejected histories and on those with many never-returning operations. Each gets what
//! the other cannot do, and a history is unknown only if a limit ended both.

use super::part::{Search, Worker};
use super::search::depth_first::Memory;
use super::search::problem::Task;
use super::search::{Meter, breadth_first};
use super::{Algorithm, Budget, Config, Rules};
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

/// Which of the searches gave the answer for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    DepthFirst,
    BreadthFirst,
}

/// How often each search gave the answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choices {
    depth_first: usize,
    breadth_first: usize,
}

impl Choices {
    pub(super) fn count(&mut self, choice: Option<Choice>) {
        match choice {
            Some(Choice::DepthFirst) => self.depth_first += 1,
            Some(Choice::BreadthFirst) => self.breadth_first += 1,
            None => {}
        }
    }

    /// The choice and its reason, in words.
    pub(super) fn describe(&self, parts: usize) -> String {
        let by = match (self.depth_first, self.breadth_first) {
            (_, 0) => "depth-first search answered within its cap",
            (0, _) => "depth-first search reached its cap, so breadth-first search with dominance took over",
            _ => "depth-first search answered most parts; breadth-first search with dominance took over at its cap",
        };
        match parts {
            1 => by.to_owned(),
            _ => {
                format!("{parts} parts; {by} ({} depth first, {} breadth first)", self.depth_first, self.breadth_first)
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
    let times = if worker.classes.has_goals() { TIMES_WITH_FORESIGHT } else { 1 };
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
