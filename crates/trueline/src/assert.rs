//! Assertions for plain `cargo test`.
//!
//! [`assert_linearizable!`](crate::assert_linearizable) and [`assert_not_linearizable!`](crate::assert_not_linearizable)
//! judge a history and panic with the report that the command line prints. A history that no verdict was reached on
//! within the limits passes neither.

use crate::history::History;
use crate::judge::{Config, check};
use crate::spec::Spec;
use crate::verdict::Judgement;
use crate::view::{Report, text};

/// Asserts that a history is linearizable; panics with the report if it is not, or if nobody knows.
///
/// A third argument is the [`Config`](crate::judge::Config) to judge by. Gives the
/// [`Judgement`](crate::verdict::Judgement).
///
/// ```
/// use trueline::history::History;
/// use trueline::spec::{Register, RegisterOp, RegisterRet};
/// use trueline::assert_linearizable;
///
/// let mut builder = History::builder();
/// builder.call(0, RegisterOp::Write(1))?;
/// builder.call(1, RegisterOp::Read)?;
/// builder.ret(1, RegisterRet::Value(1))?;
/// builder.ret(0, RegisterRet::Done)?;
/// let history = builder.finish();
/// assert_linearizable!(history, Register::new(0));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// A failure looks like this:
///
/// ```should_panic
/// # use trueline::history::History;
/// # use trueline::spec::{Register, RegisterOp, RegisterRet};
/// # use trueline::assert_linearizable;
/// # let mut builder = History::builder();
/// builder.call(0, RegisterOp::Write(1)).unwrap();
/// builder.ret(0, RegisterRet::Done).unwrap();
/// builder.call(1, RegisterOp::Read).unwrap();
/// builder.ret(1, RegisterRet::Value(0)).unwrap();
/// let history = builder.finish();
/// // history: rejected (auto, 2 operations, 0 pending, 1 partition, 9 µs)
/// //   Read of process 1 (event 3) returned Value(0), but could only have returned Value(1)
/// //   ...
/// assert_linearizable!(history, Register::new(0));
/// ```
#[macro_export]
macro_rules! assert_linearizable {
    ($history:expr, $spec:expr $(,)?) => {
        $crate::assert_linearizable!($history, $spec, $crate::judge::Config::new())
    };
    ($history:expr, $spec:expr, $config:expr $(,)?) => {
        $crate::assert::linearizable(::core::stringify!($history), &$history, &$spec, &$config)
    };
}

/// Asserts that a history is not linearizable; panics if it is, or if nobody knows.
///
/// For tests of a test: that a fault which was put in on purpose is found. A third argument is the
/// [`Config`](crate::judge::Config) to judge by. Gives the [`Judgement`](crate::verdict::Judgement), with the evidence.
///
/// ```
/// use trueline::history::History;
/// use trueline::spec::{Queue, QueueOp, QueueRet};
/// use trueline::assert_not_linearizable;
///
/// let mut builder = History::builder();
/// builder.call(0, QueueOp::Dequeue)?;
/// builder.ret(0, QueueRet::Value(Some("out of thin air")))?;
/// assert_not_linearizable!(builder.finish(), Queue::new());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
#[macro_export]
macro_rules! assert_not_linearizable {
    ($history:expr, $spec:expr $(,)?) => {
        $crate::assert_not_linearizable!($history, $spec, $crate::judge::Config::new())
    };
    ($history:expr, $spec:expr, $config:expr $(,)?) => {
        $crate::assert::not_linearizable(::core::stringify!($history), &$history, &$spec, &$config)
    };
}

/// What [`assert_linearizable!`](crate::assert_linearizable) does; `name` is what the report calls the history.
///
/// # Panics
/// If the history is not accepted.
#[track_caller]
pub fn linearizable<S: Spec>(
    name: &str,
    history: &History<S::Op, S::Ret>,
    spec: &S,
    config: &Config,
) -> Judgement<S::Ret> {
    let judgement = check(spec, history, config);
    assert!(judgement.verdict.is_accepted(), "not linearizable\n{}", report(name, history, spec, &judgement));
    judgement
}

/// What [`assert_not_linearizable!`](crate::assert_not_linearizable) does; `name` is what the report calls the history.
///
/// # Panics
/// If the history is not rejected.
#[track_caller]
pub fn not_linearizable<S: Spec>(
    name: &str,
    history: &History<S::Op, S::Ret>,
    spec: &S,
    config: &Config,
) -> Judgement<S::Ret> {
    let judgement = check(spec, history, config);
    assert!(
        judgement.verdict.is_rejected(),
        "it should not be linearizable\n{}",
        report(name, history, spec, &judgement)
    );
    judgement
}

/// The report of the command line, for operations and results as the specification describes them.
fn report<S: Spec>(name: &str, history: &History<S::Op, S::Ret>, spec: &S, judgement: &Judgement<S::Ret>) -> String {
    let describe = |result: &S::Ret| spec.describe_result(result);
    let described = judgement.clone().map(describe);
    let report = Report::new(name, "", (history.len(), history.pending()), &described, || {
        history.map(|operation| (spec.describe_operation(&operation.op), operation.outcome.map(describe)))
    });
    text::render(&report, text::Style::Plain)
}
