//! Assertions for plain `cargo test`.
//!
//! [`assert_linearizable!`](crate::assert_linearizable) and
//! [`assert_not_linearizable!`](crate::assert_not_linearizable) judge a history and panic with the report that the
//! command line prints. If no verdict is reached within the limits, both assertions fail. If the environment variable
//! `TRUELINE_PAGES` names a folder, a failing assertion also writes an HTML page with the timeline of the history
//! to that folder.

use std::fmt::Write;
use std::panic::Location;
use std::path::Path;
use std::time::Duration;

use crate::history::History;
use crate::judge::shrink::Limits;
use crate::judge::{Config, Judged, Linearizable, Show, check, judged_so};
use crate::report::{Assembled, Picture, Wanted, assemble};
use crate::spec::Spec;
use crate::verdict::{Judgment, Verdict};
use crate::view::{html, text};

/// The time limit for finding the core that a page shows: the few operations that suffice to show
/// that the history is rejected.
const TIME_FOR_CORE: Duration = Duration::from_secs(3);

/// Asserts that a history is linearizable. Panics with the report if the history is not
/// linearizable, or if no verdict is reached.
///
/// An optional third argument is the [`Config`](crate::judge::Config) to judge with. Returns the
/// [`Judgment`](crate::verdict::Judgment).
///
/// If the environment variable `TRUELINE_PAGES` names a folder, a failing assertion also writes an HTML page with the
/// timeline of the history to that folder.
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

/// Asserts that a history is not linearizable. Panics with the report if the history is
/// linearizable, or if no verdict is reached.
///
/// Use it to check that a test finds a fault that was introduced deliberately. An optional third
/// argument is the [`Config`](crate::judge::Config) to judge with. Returns the
/// [`Judgment`](crate::verdict::Judgment), with the evidence.
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

/// Implements [`assert_linearizable!`](crate::assert_linearizable); the report refers to the history as `name`.
///
/// # Panics
/// Panics if the history is not accepted.
#[track_caller]
pub fn linearizable<S: Spec>(
    name: &str,
    history: &History<S::Op, S::Ret>,
    spec: &S,
    config: &Config,
) -> Judgment<S::Ret> {
    let judgment = check(spec, history, config);
    let what = match &judgment.verdict {
        Verdict::Accepted(_) => return judgment,
        Verdict::Rejected(_) => "not linearizable",
        Verdict::Unknown(_) => "not decided within the limits of the `Config`",
    };
    panic!("{what}\n{}", report(name, history, spec, &judgment));
}

/// Implements [`assert_not_linearizable!`](crate::assert_not_linearizable); the report refers to the history as `name`.
///
/// # Panics
/// Panics if the history is not rejected.
#[track_caller]
pub fn not_linearizable<S: Spec>(
    name: &str,
    history: &History<S::Op, S::Ret>,
    spec: &S,
    config: &Config,
) -> Judgment<S::Ret> {
    let judgment = check(spec, history, config);
    assert!(
        judgment.verdict.is_rejected(),
        "expected the history not to be linearizable, but it was not rejected\n{}",
        report(name, history, spec, &judgment)
    );
    judgment
}

/// Returns the report that the command line would print, with operations and results as the
/// specification describes them, followed by the path of the page if a page is requested.
#[track_caller]
fn report<S: Spec>(name: &str, history: &History<S::Op, S::Ret>, spec: &S, judgment: &Judgment<S::Ret>) -> String {
    render(name, &*judged_so(Linearizable(spec), Show::described(spec), history, judgment.clone()))
}

#[track_caller]
fn render(name: &str, judged: &dyn Judged) -> String {
    let folder = std::env::var_os("TRUELINE_PAGES").filter(|folder| !folder.is_empty());
    let picture = if folder.is_some() { Picture::Everything } else { Picture::None };
    let wanted = Wanted { core: Some(Limits::new().time(TIME_FOR_CORE)), picture, ..Wanted::default() };
    let Assembled { report, timeline, .. } = assemble(name, "", judged, &wanted);
    let mut said = text::render(&report, text::Style::Plain);
    if let (Some(folder), Some(timeline)) = (folder, timeline) {
        let folder = Path::new(&folder);
        let _ = match html::write(folder, &place(), &timeline) {
            Ok(page) => writeln!(said, "  the page:     {}", page.display()),
            Err(fault) => writeln!(said, "  no page was written: {fault}; check TRUELINE_PAGES={}", folder.display()),
        };
    }
    said
}

/// Returns a name for the page of an assertion. It consists of the name of the test's thread, and
/// the file and the line of the assertion.
#[track_caller]
fn place() -> String {
    let location = Location::caller();
    let file = Path::new(location.file()).file_stem().unwrap_or_default().to_string_lossy();
    let thread = std::thread::current();
    format!("{}-{file}-{}", thread.name().unwrap_or("assertion"), location.line())
}
