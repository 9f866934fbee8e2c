//! Judges objects whose operations synchronize: synchronization linearization, and progress.
//!
//! The algorithms are based on Lawrence & Lowe, *Synchronisation: Specification and Testing*, which
//! calls each operation of a history an *execution*. [`check`] judges the executions that returned
//! (section 2), and [`progress`] judges whether executions that are stuck at the end should have
//! returned (section 3). If a history has several objects, they are judged one by one, which is
//! sound (proposition 6 and lemma 10). In the table, *stateless pairs* means that the object has no
//! state, and its executions synchronize in pairs.
//!
//! | algorithm | for | complexity |
//! |---|---|---|
//! | [greedy](SyncAlgorithm::Greedy) | stateless pairs with interchangeable partners | O(n k), k open at once |
//! | [matching](SyncAlgorithm::Matching) | stateless pairs | polynomial |
//! | [search](SyncAlgorithm::Search) | all | exponential |
//! | [two steps](TwoStep) | all, by a checker for linearizability | exponential, and usually slower |
//! | [brute force](SyncAlgorithm::Brute) | all, by the definition | for tests |

mod brute;
mod greedy;
mod matching;
mod numbered;
mod pairs;
mod partners;
mod search;
mod states;
mod task;
mod two_step;

use std::time::Instant;

#[doc(hidden)]
pub use partners::partners;
#[doc(hidden)]
pub use search::Discipline;
#[doc(hidden)]
pub use states::states;
#[doc(hidden)]
pub use two_step::{Step, TwoStep, TwoStepState};

use super::groups::{self, Cut, Explain};
use super::search::Meter;
use super::{Algorithm, Budget, Config};
use crate::history::{EventKind, History, OpId};
use crate::spec::sync::SyncSpec;
use crate::verdict::{Judgment, LimitKind, ProgressEvidence, ProgressVerdict, Synchronizations};
use greedy::Nearby;
use numbered::{ByNumber, Numbered};
use search::GroupSearch;
use task::SyncTask;

/// The algorithm that judges a history of synchronizations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SyncAlgorithm {
    /// Selects search unless the object is stateless and its executions synchronize in pairs. In
    /// that case, selects the greedy algorithm or the matching algorithm.
    #[default]
    Auto,
    /// The greedy algorithm, for stateless objects whose executions synchronize in pairs with
    /// interchangeable partners.
    Greedy,
    /// The matching algorithm, for stateless objects whose executions synchronize in pairs.
    Matching,
    /// Search, for all specifications.
    Search(Discipline),
    /// Tries all possibilities that the definition allows.
    Brute,
}

/// Judges whether a history is synchronization-linearizable.
///
/// An accepted history comes with a synchronization linearization that has been replayed. A
/// rejection names the first failing return, which does not depend on the algorithm. Up to the
/// event before this return, the history is synchronization-linearizable. Up to and including this
/// return, it is not, whatever the open executions may still return.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::Budget;
/// use trueline::judge::sync::{SyncAlgorithm, check};
/// use trueline::spec::sync::Exchanger;
///
/// // Figure 8 of the paper.
/// let mut builder = History::builder();
/// builder.call(0, 13)?;
/// builder.call(1, 70)?;
/// builder.ret(1, 13)?;
/// builder.call(2, 76)?;
/// builder.call(3, 58)?;
/// builder.ret(3, 76)?;
/// builder.ret(2, 58)?;
/// builder.ret(0, 58)?;
/// let judgment = check(&Exchanger::new(), &builder.finish(), SyncAlgorithm::Auto, &Budget::unlimited());
/// let evidence = judgment.verdict.evidence().expect("execution 0 was too late");
/// assert_eq!(evidence.allowed, [70]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: SyncSpec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithm: SyncAlgorithm,
    budget: &Budget,
) -> Judgment<S::Ret> {
    let started = Instant::now();
    let (numbered, history) = Numbered::new(spec, history);
    let judgment = check_numbered(&numbered, &history, algorithm, budget, started);
    judgment.map(|result| numbered.result(*result))
}

fn check_numbered(
    spec: &dyn ByNumber,
    history: &History<u32, u32>,
    algorithm: SyncAlgorithm,
    budget: &Budget,
    started: Instant,
) -> Judgment<u32> {
    let mut judge = SyncJudge { spec, algorithm, meter: Meter::start(budget), states: 0, nearby: None };
    let verdict = groups::safety(history, &mut judge);
    groups::judgment(history, verdict, &judge.meter, judge.states, started)
}

/// Judges whether a history is synchronization-linearizable, by the algorithm of a [`Config`].
/// `auto` and `brute` select the [`SyncAlgorithm`] of that name. Any other algorithm is one for
/// linearizability, and judges the history in which each execution takes [two steps](TwoStep).
#[doc(hidden)]
pub fn judge<S: SyncSpec>(spec: &S, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
    let (mut judgment, choice) = match &config.algorithm {
        Algorithm::Auto => {
            let choice = match (is_binary(spec), spec.is_stateless()) {
                (true, _) => "stateless pairs: the greedy algorithm, or a matching",
                (false, true) => {
                    "stateless just-in-time search: tries only synchronizations of the execution that returns"
                }
                (false, false) => "just-in-time search",
            };
            (check(spec, history, SyncAlgorithm::Auto, &config.budget), Some(choice))
        }
        Algorithm::Brute => (check(spec, history, SyncAlgorithm::Brute, &config.budget), None),
        _ => (
            TwoStep::new(spec).check(history, config),
            Some("two-step linearization: each execution arrives, then gets its result"),
        ),
    };
    judgment.stats.algorithm = config.algorithm.to_string();
    judgment.stats.choice = choice.map(str::to_owned);
    judgment
}

/// Judges whether executions that are stuck at the end of a history should have returned.
///
/// Stuck executions should have returned if every maximal synchronization linearization contains
/// one of them (definitions 7 to 9). The caller must know that no more executions will return.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::Budget;
/// use trueline::judge::sync::{SyncAlgorithm, progress};
/// use trueline::spec::sync::{Channel, ChannelOp, ChannelRet};
/// use trueline::verdict::ProgressVerdict;
///
/// // Figure 9 of the paper.
/// let mut builder = History::builder();
/// builder.call(0, ChannelOp::Send(48))?;
/// builder.call(1, ChannelOp::Receive)?;
/// builder.call(2, ChannelOp::Send(92))?;
/// builder.call(3, ChannelOp::Receive)?;
/// builder.ret(1, ChannelRet::Value(48))?;
/// builder.ret(0, ChannelRet::Done)?;
/// let history = builder.finish();
/// let ProgressVerdict::Rejected(evidence) =
///     progress(&Channel::new(), &history, SyncAlgorithm::Auto, &Budget::unlimited())
/// else {
///     panic!("2 and 3 should have synchronized")
/// };
/// assert_eq!(evidence.anticipated, [[OpId(2), OpId(3)]]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn progress<S: SyncSpec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithm: SyncAlgorithm,
    budget: &Budget,
) -> ProgressVerdict<S::Ret> {
    let (numbered, history) = Numbered::new(spec, history);
    progress_numbered(&numbered, &history, algorithm, budget).map(|result| numbered.result(*result))
}

fn progress_numbered(
    spec: &dyn ByNumber,
    history: &History<u32, u32>,
    algorithm: SyncAlgorithm,
    budget: &Budget,
) -> ProgressVerdict<u32> {
    let meter = Meter::start(budget);
    groups::progress(history, &mut SyncJudge { spec, algorithm, meter, states: 0, nearby: None })
}

/// Returns whether the object is stateless, and at most two executions synchronize at a time.
fn is_binary<S: SyncSpec + ?Sized>(spec: &S) -> bool {
    spec.is_stateless() && spec.arities(&spec.initial()).iter().all(|arity| *arity <= 2)
}

/// Sorts the synchronizations of a stateless object by the last call in each. This order is
/// possible, because each synchronization can happen directly after the last call of its
/// executions.
fn in_order(task: &SyncTask<'_>, mut groups: Synchronizations) -> Synchronizations {
    groups.sort_by_key(|group| group.iter().map(|op| task.history[*op].call_position()).max());
    groups
}

struct SyncJudge<'s> {
    spec: &'s dyn ByNumber,
    algorithm: SyncAlgorithm,
    meter: Meter,
    states: u64,
    /// The greedy algorithm, prepared to judge prefixes of the part that end near the place where
    /// the algorithm failed on the whole part.
    nearby: Option<Nearby>,
}

impl SyncJudge<'_> {
    /// Returns a synchronization linearization of a part, after replaying it, or `None` if none
    /// exists.
    ///
    /// # Panics
    /// Panics if the specification contradicts itself.
    fn linearize(&mut self, task: &SyncTask<'_>) -> Result<Option<Synchronizations>, LimitKind> {
        Ok(self.linearize_or_fail(task)?.ok())
    }

    /// Returns a synchronization linearization of a part. If none exists, returns a lower bound for
    /// the position of the first return that cannot be explained.
    fn linearize_or_fail(&mut self, task: &SyncTask<'_>) -> Result<Result<Synchronizations, u32>, LimitKind> {
        // A failing search does not report how far it got, so the position is 0.
        let anywhere = |found: Option<Synchronizations>| found.ok_or(0);
        let groups = match self.algorithm {
            SyncAlgorithm::Auto if is_binary(task.spec) => match greedy::search(task, &mut self.meter) {
                Err(LimitKind::Refused(_)) => pairs::search(task, &mut self.meter).map(anywhere),
                known => known,
            },
            SyncAlgorithm::Auto => self.search(task, Discipline::JustInTime, None).map(anywhere),
            SyncAlgorithm::Greedy => greedy::search(task, &mut self.meter),
            SyncAlgorithm::Matching => pairs::search(task, &mut self.meter).map(anywhere),
            SyncAlgorithm::Search(discipline) => self.search(task, discipline, None).map(anywhere),
            SyncAlgorithm::Brute => brute::search(task, None, &mut self.meter).map(anywhere),
        }?;
        if let Ok(groups) = &groups {
            assert!(
                replay(task, groups).is_some(),
                "a synchronization linearization that was found cannot be replayed"
            );
        }
        Ok(groups)
    }

    fn search(
        &mut self,
        task: &SyncTask<'_>,
        discipline: Discipline,
        left_over: Option<&[OpId]>,
    ) -> Result<Option<Synchronizations>, LimitKind> {
        let mut own = self.meter.part(None, None);
        let mut search = GroupSearch::new(task, discipline, &mut own)?;
        let found = search.run(left_over);
        self.states += search.states();
        self.meter.add(&own);
        found
    }
}

impl Explain<u32, u32> for SyncJudge<'_> {
    fn explain(&mut self, cut: &Cut<'_, u32, u32>) -> Result<Option<Synchronizations>, LimitKind> {
        self.linearize(&SyncTask { spec: self.spec, cut: *cut })
    }

    fn explain_or_fail(&mut self, cut: &Cut<'_, u32, u32>) -> Result<Result<Synchronizations, u32>, LimitKind> {
        // `nearby` was prepared for another part, so it must not be used for this one.
        self.nearby = None;
        self.linearize_or_fail(&SyncTask { spec: self.spec, cut: *cut })
    }

    fn look_near(&mut self, cut: &Cut<'_, u32, u32>, failed: u32) -> Result<(), LimitKind> {
        self.nearby = Some(Nearby::new(&SyncTask { spec: self.spec, cut: *cut }, failed, &mut self.meter)?);
        Ok(())
    }

    fn explains(&mut self, cut: &Cut<'_, u32, u32>) -> Result<bool, LimitKind> {
        let task = SyncTask { spec: self.spec, cut: *cut };
        match self.nearby.as_ref().map(|nearby| nearby.explains(&task, &mut self.meter)) {
            None | Some(Err(LimitKind::Refused(_))) => Ok(self.linearize(&task)?.is_some()),
            Some(known) => known,
        }
    }

    fn results(&mut self, cut: &Cut<'_, u32, u32>, op: OpId) -> Result<Vec<u32>, LimitKind> {
        let task = SyncTask { spec: self.spec, cut: *cut };
        if is_binary(self.spec) {
            return Ok(results_in_pairs(&task, op));
        }
        let mut own = self.meter.part(None, None);
        let results = GroupSearch::new(&task, Discipline::Anytime, &mut own).and_then(|mut search| search.results(op));
        self.meter.add(&own);
        results
    }

    /// Returns a maximal synchronization linearization in which all executions have returned, or
    /// the reason why no such linearization exists.
    fn progress(
        &mut self,
        cut: &Cut<'_, u32, u32>,
    ) -> Result<Result<Synchronizations, ProgressVerdict<u32>>, LimitKind> {
        let task = &SyncTask { spec: self.spec, cut: *cut };
        let calls = task.events.iter().filter(|event| event.kind() == EventKind::Call).map(|event| event.op());
        let mut stuck: Vec<OpId> = calls.filter(|op| !task.has_returned(*op)).collect();
        stuck.sort_by_key(|op| task.rank(*op));
        let returned = SyncTask { spec: self.spec, cut: Cut { only_returned: true, ..*cut } };
        let maximal = match self.algorithm {
            SyncAlgorithm::Brute => brute::search(&returned, Some(&stuck), &mut self.meter)?,
            // If the object is stateless, the groups that may synchronize do not depend on earlier
            // synchronizations.
            _ if task.spec.is_stateless() => match task.find_group(&task.spec.initial(), &stuck) {
                None => self.linearize(&returned)?,
                Some(_) => None,
            },
            SyncAlgorithm::Search(discipline) => self.search(&returned, discipline, Some(&stuck))?,
            _ => self.search(&returned, Discipline::JustInTime, Some(&stuck))?,
        };
        if let Some(groups) = maximal {
            return Ok(Ok(groups));
        }
        let groups = match self.safety(cut)? {
            Ok(groups) => groups,
            Err(evidence) => return Ok(Err(ProgressVerdict::Unsafe(evidence))),
        };
        let evidence = match self.linearize(&returned)? {
            // The executions that returned can be explained without the stuck ones, but some of the
            // stuck executions could have synchronized.
            Some(synchronizations) => {
                let states = replay(&returned, &synchronizations).expect("`linearize` has replayed the result");
                let anticipated = states.iter().find_map(|state| task.find_group(state, &stuck)).into_iter().collect();
                ProgressEvidence { synchronizations, anticipated }
            }
            // Without the stuck executions, the executions that returned cannot be explained: some
            // of them need stuck ones as partners.
            None => {
                let is_stuck = |group: &&Vec<OpId>| group.iter().any(|op| !task.has_returned(*op));
                let anticipated = groups.iter().filter(is_stuck).cloned().collect();
                ProgressEvidence { synchronizations: groups, anticipated }
            }
        };
        Ok(Err(ProgressVerdict::Rejected(evidence)))
    }
}

/// Returns, without duplicates, the results that an execution can have alone or together with one
/// other execution that is open at the same time.
fn results_in_pairs(task: &SyncTask<'_>, op: OpId) -> Vec<u32> {
    let state = task.spec.initial();
    let call = task.history[op].call_position();
    let mut overlapping: Vec<OpId> = task
        .events()
        .filter(|event| event.kind() == EventKind::Call && task.return_position(event.op()) > call)
        .map(|event| event.op())
        .collect();
    overlapping.sort_by_key(|op| task.rank(*op));
    let mut results: Vec<u32> = Vec::new();
    task.for_each_group(&state, &overlapping, Some(op), &mut |group, _, of_group| {
        for (_, result) in group.iter().zip(of_group).filter(|(member, _)| **member == op) {
            if !results.contains(&result) {
                results.push(result);
            }
        }
    });
    results
}

/// Returns the states that the object can be in after these synchronizations, or `None` if they are
/// not a synchronization linearization of the part.
fn replay(task: &SyncTask<'_>, groups: &Synchronizations) -> Option<Vec<u32>> {
    let mut states = vec![task.spec.initial()];
    let mut has_synchronized = vec![false; task.history.len()];
    // Each group synchronizes as early as possible.
    let mut now = 0;
    for group in groups {
        now = group.iter().map(|op| task.history[*op].call_position()).fold(now, u32::max);
        let is_open = |op: &OpId| now < task.return_position(*op) && now < task.until;
        if !group.iter().all(is_open) {
            return None;
        }
        for op in group {
            if std::mem::replace(&mut has_synchronized[op.index()], true) {
                return None;
            }
        }
        let mut next: Vec<u32> = Vec::new();
        for (state, _) in states.iter().flat_map(|state| task.synchronize(state, group)) {
            if !next.contains(&state) {
                next.push(state);
            }
        }
        states = next;
        if states.is_empty() {
            return None;
        }
    }
    let mut returns = task.events().filter(|event| event.kind() == EventKind::Return);
    returns.all(|event| has_synchronized[event.op().index()]).then_some(states)
}
