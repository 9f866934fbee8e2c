//! Competition in parallel: several algorithms on threads of their own, and the first answer counts.
//!
//! Lowe, *Testing for Linearizability*, section 6 (and the slides' Competition Parallel Tester): a tree search is
//! mostly lucky and fast, and else never ends; a graph search is steady. Run both, and stop the loser. The papers'
//! WG-WG, WG-JIT, JIT-WG and JIT-JIT are `compete:wing-gong-tree,wing-gong-graph` and so on.
//!
//! Verdict, place of a rejection and allowed results do not depend on who wins; the witness and the numbers in the
//! statistics do. [`Stats::choice`](crate::verdict::Stats::choice) names the winner.
//!
//! # Complexity
//! The time of the fastest, on as many cores as there are competitors; the memory of all.

use std::sync::mpsc;
use std::thread;

use super::search::Meter;
use super::search::automaton::ResultId;
use super::search::problem::Task;
use super::worker::Worker;
use super::{Algorithm, Budget, Config};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::{Judgement, LimitKind, Verdict};

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
/// let judgement = compete::check(&Stack::new(), &builder.finish(), jit_jit, &Budget::unlimited());
/// assert!(judgement.verdict.is_accepted());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithms: Vec<Algorithm>,
    budget: &Budget,
) -> Judgement<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::Compete(algorithms), budget))
}

/// How one competitor judges a part.
pub(super) type Judge = fn(&mut Worker<'_>, Task<'_>, &Algorithm, &mut Meter) -> Verdict<ResultId>;

/// Judges one part, by `judge` for each algorithm; the number of the winner, if one knew.
pub(super) fn search(
    worker: &Worker<'_>,
    task: Task<'_>,
    algorithms: &[Algorithm],
    judge: Judge,
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
                // Nobody listens any more only if this thread outlived the competition: then nobody needs it.
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
    // Nobody knows: say what stopped the first of them, in their order.
    limits.sort_by_key(|(index, limit)| (limit.kind == LimitKind::Cancelled, *index));
    answer.unwrap_or_else(|| {
        let (_, limit) = limits.into_iter().next().expect("each competitor answers");
        (Verdict::Unknown(limit), None)
    })
}
