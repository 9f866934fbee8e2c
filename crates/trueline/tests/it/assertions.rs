//! Tests the message of a failing `assert_linearizable!`.

use std::panic::catch_unwind;
use std::time::Duration;

use trueline::history::History;
use trueline::judge::{Budget, CancelToken, Config};
use trueline::spec::{Queue, QueueOp, QueueRet};
use trueline::{assert_linearizable, assert_not_linearizable};

fn lost() -> History<QueueOp<u8>, QueueRet<u8>> {
    let mut builder = History::builder();
    builder.call(0, QueueOp::Enqueue(1)).unwrap();
    builder.ret(0, QueueRet::Done).unwrap();
    builder.call(1, QueueOp::Dequeue).unwrap();
    builder.ret(1, QueueRet::Value(None)).unwrap();
    builder.finish()
}

fn message(failing: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(failing).expect_err("it fails");
    panic.downcast_ref::<String>().expect("a message").clone()
}

#[test]
fn a_failure_shows_the_report() {
    let message = message(|| {
        let history = lost();
        assert_linearizable!(history, Queue::new());
    });
    assert!(message.starts_with("not linearizable\nhistory: rejected (auto, 2 operations"), "{message}");
    assert!(
        message.contains(
            "Dequeue of process 1 (event 3) returned Value(None), but could only have returned Value(Some(1))"
        ),
        "{message}"
    );
}

#[test]
fn an_undecided_history_passes_neither() {
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let config = Config::new().budget(Budget::unlimited().time(Duration::from_secs(1)).cancelled_by(cancelled));
    let for_good = config.clone();
    let good = message(move || drop(assert_linearizable!(lost(), Queue::new(), for_good)));
    let bad = message(move || drop(assert_not_linearizable!(lost(), Queue::new(), config)));
    assert!(good.contains("lost(): unknown") && bad.contains("lost(): unknown"), "{good}\n{bad}");
    assert!(good.contains("the search was canceled"), "{good}");
    assert!(good.starts_with("not decided within the limits of the `Config`\n"), "{good}");
}

#[test]
fn what_is_accepted_is_not_rejected() {
    let message = message(|| drop(assert_not_linearizable!(lost().truncate(2), Queue::new())));
    assert!(message.starts_with("expected the history not to be linearizable, but it was not rejected\n"), "{message}");
}
