//! Runs one case once, for a profiler that counts instructions.

use trueline::drive::{Clock, Recorder};
use trueline::history::{History, from_logs};
use trueline::judge::{Config, check, replay};
use trueline::spec::{FetchAddOp, Queue, Set, Spec};
use trueline::verdict::Verdict;
use trueline_bench::histories;

use crate::measure::counted;
use crate::{core, monitors};

/// Runs the case with this name once, and returns its result; returns `None` if there is no such case. Only the
/// instructions of [`counted`] belong to the case: the others generate its history.
pub(crate) fn case(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(' ').collect();
    match *words.as_slice() {
        ["replay", "queue", operations] => {
            Some(replay_order(&Queue::new(), &histories::queue(operations.parse().ok()?, 4, 1)))
        }
        ["replay", "set", operations] => Some(replay_order(&Set::new(), &histories::set(operations.parse().ok()?, 1))),
        ["drive", operations] => Some(record(operations.parse().ok()?)),
        _ => Some(core::case(name, 1).or_else(|| monitors::case(name, 1))?.verdict),
    }
}

/// Replays a linearization of this history.
fn replay_order<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> String {
    let Verdict::Accepted(witness) = check(spec, history, &Config::new()).verdict else {
        panic!("the history is linearizable");
    };
    counted(|| replay(spec, history, &witness.order)).expect("a linearization can be replayed");
    "replayed".to_owned()
}

/// Records operations of one thread. With several threads, the number of instructions would depend on how long they
/// wait for each other.
fn record(operations: usize) -> String {
    let history = counted(|| {
        let (mut recorder, mut sum) = (Recorder::new(0, Clock::Counter, operations), 0);
        for _ in 0..operations {
            recorder.record(FetchAddOp::FetchAdd(1), |_| {
                sum += 1;
                sum - 1
            });
        }
        from_logs(vec![recorder.into_log()])
    });
    assert_eq!(history.expect("the log is well formed").len(), operations, "every call is recorded");
    "recorded".to_owned()
}
