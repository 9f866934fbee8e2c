//! Competition: several algorithms run in parallel, each on its own thread, and the first answer counts.
//!
//! Lowe, *Testing for Linearizability*, section 6 (and the slides' Competition Parallel Tester): a
//! tree search is usually fast, but may take practically forever; the time of a graph search varies
//! less. So both run, and the slower one is stopped. The pair that the papers call WG-WG is
//! `compete:wing-gong-tree,wing-gong-graph` here, and WG-JIT, JIT-WG and JIT-JIT are named in the
//! same way.
//!
//! The verdict, the place of a rejection and the allowed results do not depend on which algorithm wins; the witness and
//! the numbers in the statistics do. [`Stats::choice`](crate::verdict::Stats::choice) names the winner.
//!
//! # Complexity
//! The time of the fastest algorithm, if there is a core for each competitor, and the memory of all of them.

use std::sync::mpsc;
use std::thread;

use super::search::Meter;
use super::search::automaton::ResultId;
use super::search::problem::Task;
use super::worker::Worker;
use super::{Algorithm, Budget, Config};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::{Judgment, LimitKind, Verdict};

/// Judges a history by several algorithms at once.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Algorithm, Budget, compete};
/// use trueline::spec::{Stack, StackOp, StackRet};
///
/// let mut builder = History::builder();
/// builder.call(0, StackOp::Push(1))?;
/// builder.ret(0, StackRet::Done)?;
/// let jit_jit = vec![Algorithm::JustInTimeTree, Algorithm::JustInTimeGraph];
/// let judgment = compete::check(&Stack::new(), &builder.finish(), jit_jit, &Budget::unlimited());
/// assert!(judgment.verdict.is_accepted());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithms: Vec<Algorithm>,
    budget: &Budget,
) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::Compete(algorithms), budget))
}

/// A function by which a competitor judges a part.
pub(super) type JudgePart = fn(&mut Worker<'_>, Task<'_>, &Algorithm, &mut Meter) -> Verdict<ResultId>;

/// Judges one part by each algorithm, using `judge`. Returns the verdict and, if any algorithm
/// decided the part, the number of the winner.
pub(super) fn search(
    worker: &Worker<'_>,
    task: Task<'_>,
    algorithms: &[Algorithm],
    judge: JudgePart,
    meter: &mut Meter,
) -> (Verdict<ResultId>, Option<usize>) {
    let token = meter.token();
    let (case, classes, config) = worker.origin();
    let mut answer = None;
    let mut limits = Vec::new();
    thread::scope(|scope| {
        let (sender, answers) = mpsc::channel();
        for (index, algorithm) in algorithms.iter().enumerate() {
            let (sender, mut own) = (sender.clone(), meter.share(algorithms.len(), token.clone()));
            scope.spawn(move || {
                let verdict = judge(&mut Worker::new(case, classes, config), task, algorithm, &mut own);
                // Sending fails only after the competition is over, when the answer is not needed.
                let _ = sender.send((index, verdict, own));
            });
        }
        drop(sender);
        let mut used = None::<Meter>;
        for (index, verdict, own) in answers {
            match &mut used {
                None => used = Some(own),
                Some(used) => used.merge(&own),
            }
            match verdict {
                Verdict::Unknown(limit) => limits.push((index, limit)),
                known => {
                    token.cancel();
                    answer = answer.take().or(Some((known, Some(index))));
                }
            }
        }
        if let Some(used) = used {
            meter.add(&used);
        }
    });
    // No algorithm decided, so report the limit of one of them: the first one that was not
    // canceled, or, if all were canceled, the first one.
    limits.sort_by_key(|(index, limit)| (limit.kind == LimitKind::Cancelled, *index));
    answer.unwrap_or_else(|| {
        let (_, limit) = limits.into_iter().next().expect("there is at least one competitor, and each reports a limit");
        (Verdict::Unknown(limit), None)
    })
}
