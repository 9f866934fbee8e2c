//! The report of a failing test.

use std::fmt::{self, Display, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::notation::InRust;
use super::plan::{Plan, is_accepted};
use super::running;
use super::supervise::{self, Doing};
use super::token::Token;
use crate::drive::Call;
use crate::history::{History, OpId, Record, Shown, Value, visible};
use crate::judge::Budget;
use crate::judge::shrink::Limits;
use crate::report::{Assembled, Picture, Wanted, Words, assemble};
use crate::verdict::ProgressVerdict;
use crate::view::timeline::Label;
use crate::view::{Report, Timeline, columns, file, html, text};

/// The kind of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// No order of the run's operations explains its history.
    NotLinearizable,
    /// No thread made progress for this time. The time is zero if an exploration showed that no
    /// thread can continue.
    Stuck(Duration),
    /// The run was explored, and did not terminate within this many steps.
    Diverged(u64),
    /// The run was compared with serial executions, and none of them explains it.
    NotSerial,
    /// The run was compared with serial executions, and none of them explains it, even if
    /// operations may be out of order.
    NotQuasi {
        /// The name of the [semantics](crate::judge::quasi), with its factors: the numbers of
        /// places by which operations may be out of order.
        semantics: String,
    },
    /// The object panicked.
    Panicked {
        /// The thread that panicked.
        thread: u32,
        /// The panic message.
        message: String,
    },
    /// Code of the test outside of its operations panicked or did not return.
    Broken {
        /// The code that failed, such as "the constructor".
        place: &'static str,
        /// The description of the failure, such as "panicked: out of range".
        how: String,
    },
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLinearizable => f.write_str("is not linearizable"),
            Self::Stuck(Duration::ZERO) => f.write_str("is stuck: no thread can continue"),
            Self::Diverged(steps) => write!(f, "did not terminate within {steps} steps"),
            Self::NotSerial => f.write_str("has a history that no serial run of the object produces"),
            Self::NotQuasi { semantics } => write!(f, "is not {}", visible(semantics)),
            Self::Stuck(time) => write!(f, "is stuck: no thread made progress for {time:.1?}"),
            Self::Panicked { thread, message } => {
                write!(f, "panicked in thread {thread}: ")?;
                // A message may have several lines, such as those of a failed assertion. Each line
                // after the first starts with `|`, so that it cannot be mistaken for a line of the
                // report.
                let lines: Vec<String> = message.lines().map(visible).collect();
                f.write_str(&lines.join("\n    | "))
            }
            Self::Broken { place, how } => write!(f, "is broken: {place} {}", visible(how)),
        }
    }
}

/// A failing run, and everything that is known about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The time that the test took to find the failure.
    pub after: Duration,
    /// The name of the run.
    pub token: Token,
    /// The history of the run.
    pub history: History<Record, Value>,
    /// The algorithm that judged the history.
    #[doc(hidden)]
    pub algorithm: String,
    /// The file to which the history was saved, if that succeeded.
    pub saved: Option<PathBuf>,
    /// The steps of each thread, if the run was explored.
    pub steps: Vec<String>,
    /// The file to which the steps were saved, if that succeeded.
    #[doc(hidden)]
    pub saved_steps: Option<PathBuf>,
    /// The page on which the history was drawn, if that was requested and succeeded.
    pub page: Option<PathBuf>,
    /// The smallest program that was found to fail in the same way as the first program, if the
    /// first program was shrunk. The other fields then describe a failing run of the smallest
    /// program.
    pub smallest: Option<Smallest>,
    /// The name of the test.
    name: String,
    report: String,
}

/// The smallest program that was found to fail in the same way as the first program.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Smallest {
    /// The program, in the notation of [`Test::only`](super::Test::only).
    pub program: String,
    /// The number of the program's calls.
    pub calls: usize,
    /// The number of calls of the program that failed first.
    pub of_calls: usize,
    /// The name of the run that failed first.
    #[doc(hidden)]
    pub first: Token,
    /// The number of runs of the smallest program that failed in the same way as the first run.
    pub failed: u64,
    /// The number of runs of the smallest program. If the program was explored, the number of
    /// executions up to the first failing one.
    pub runs: u64,
    /// Whether the program needs each of its calls: without any one of them, no explored execution
    /// failed.
    pub is_minimal: bool,
    /// The maximum number of preemptions, or `None` if the exploration had no such limit.
    #[doc(hidden)]
    pub preemptions: Option<u32>,
    /// Whether the smallest program was explored with random schedules. If so, it has too many
    /// calls to explore all its schedules, or the execution that failed has too many preemptions.
    #[doc(hidden)]
    pub by_chance: bool,
    /// Threads yielded at one in this many schedule points; 0 if they did not yield.
    #[doc(hidden)]
    pub chaos: u32,
    /// The time that shrinking took.
    #[doc(hidden)]
    pub elapsed: Duration,
    /// The settings that a regression test of this program needs, as calls that follow
    /// [`Test::only`](super::Test::only).
    pub(super) settings: Vec<String>,
}

impl Smallest {
    /// Returns the number of runs that makes at least one failing run likely.
    #[doc(hidden)]
    pub fn enough_runs(&self) -> u64 {
        let expected = (self.runs / self.failed.max(1) + 1).saturating_mul(20).clamp(FEWEST_RUNS, MOST_RUNS);
        // Round up to one significant digit.
        let unit = 10_u64.pow(expected.ilog10());
        expected.div_ceil(unit) * unit
    }
}

/// The minimum number of runs of a regression test.
const FEWEST_RUNS: u64 = 1000;
/// The maximum number of runs of a regression test.
const MOST_RUNS: u64 = 1_000_000;

impl Display for Smallest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, calls, of_calls, failed, runs, is_minimal, .. } = self;
        let how = match (is_minimal, self.preemptions) {
            (true, None) => "every call is needed: if any one of them is removed, no schedule fails".to_owned(),
            (true, Some(1)) => {
                "every call is needed: if any one of them is removed, no schedule with at most 1 preemption fails"
                    .to_owned()
            }
            (true, Some(most)) => format!(
                "every call is needed: if any one of them is removed, no schedule with at most {most} preemptions fails"
            ),
            (false, _) => format!("it failed {failed} of {runs} times"),
        };
        writeln!(f, "  the smallest program that still fails ({calls} of {of_calls} calls, {how}):\n")?;
        writeln!(f, "    {}\n", visible(program))
    }
}

/// Writes the report, followed by instructions on how to run the test again.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, name, report, .. } = self;
        f.write_str(report)?;
        if trueline_sync::is_instrumented() {
            let options = std::env::var("TRUELINE_INSTRUMENT").unwrap_or_default();
            writeln!(f, "  run it again: cargo trueline replay {token} {} {}", visible(name), visible(&options))?;
        } else {
            writeln!(f, "  run it again: TRUELINE_REPLAY={token} cargo test {}", visible(name))?;
        }
        writeln!(f, "                or put .replay(\"{token}\") before .run()")?;
        let Some(test) = self.regression_test() else { return Ok(()) };
        writeln!(
            f,
            "\n  or keep it as a test, in which `your_test()` builds the failing test without calling `.run()`:\n"
        )?;
        test.lines().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// Histories with at most this many operations are shown completely.
const MOST_SHOWN: usize = 24;
/// The time limit for finding the core of a history: a small part that is still rejected.
const TIME_FOR_CORE: Duration = Duration::from_secs(2);
/// The time limit for judging a history again. If the limit is reached without a verdict, the
/// history is judged again without a limit.
const TIME_TO_JUDGE: Duration = Duration::from_millis(500);

impl Failure {
    /// Returns the report, without instructions on how to run the test again.
    pub fn report(&self) -> &str {
        &self.report
    }

    /// Returns a test that runs the smallest program, as Rust code. Returns `None` if the program
    /// was not shrunk. The code calls `your_test()`, which stands for the code of the failing test
    /// up to `.run()`.
    pub fn regression_test(&self) -> Option<String> {
        let Smallest { program, settings, .. } = self.smallest.as_ref()?;
        let last = self.name.rsplit("::").next().unwrap_or_default();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_function = last.starts_with(|c: char| c.is_ascii_alphabetic()) && last.chars().all(is_name);
        let name = if is_function { format!("{last}_again") } else { "regression".to_owned() };
        let mut test = format!("#[test]\nfn {name}() {{\n    your_test()\n        .only({program:?})\n");
        for setting in settings {
            let _ = writeln!(test, "        .{setting}");
        }
        test.push_str("        .run();\n}\n");
        Some(test)
    }

    /// Adds a line that explains why a part of the report is missing.
    pub(super) fn with_remark(mut self, remark: &str) -> Self {
        let _ = writeln!(self.report, "  {}", visible(remark));
        self
    }

    /// Adds the smallest program to the report. `self` describes a failing run of that program.
    pub(super) fn with_smallest(mut self, smallest: Smallest) -> Self {
        let _ = write!(self.report, "\n{smallest}");
        self.smallest = Some(smallest);
        self
    }

    pub(super) fn new(
        plan: &Plan,
        seen: &History<Call, Value>,
        kind: FailureKind,
        token: Token,
        after: Duration,
        steps: &[String],
    ) -> Self {
        let history = plan.raw(seen);
        let saved = save(plan.options.name.as_deref().unwrap_or("test"), &token, &history);
        let saved_steps = saved.as_deref().and_then(|path| save_steps(path, steps));
        let _note = supervise::note(Doing::Explaining, None);
        let explained = (plan.options.explains && kind.is_explained(plan)).then(|| explain(plan, seen, TIME_FOR_CORE));
        let shown = explained.as_ref().map_or_else(|| plan.in_rust(seen), |explained| explained.history.clone());
        let name = plan.options.name.clone().unwrap_or_else(|| "the object".to_owned());
        let page = plan.options.pages.as_deref().and_then(|folder| {
            let timeline = match &explained {
                Some(explained) => explained.timeline.clone()?,
                None => Timeline::new(&shown, Label::of_shown),
            };
            draw(folder, plan.options.name.as_deref().unwrap_or("test"), &token, &kind, timeline)
        });
        let mut report = render(&name, &kind, after, &shown, explained.as_ref(), saved.as_deref());
        render_steps(&mut report, steps, saved_steps.as_deref());
        if let Some(page) = &page {
            let _ = writeln!(report, "  the page:     {}", visible(&page.display().to_string()));
        }
        let algorithm = explained.map(|explained| explained.report.stats.algorithm).unwrap_or_default();
        let steps = steps.to_vec();
        Self { kind, after, token, history, algorithm, saved, steps, saved_steps, page, smallest: None, name, report }
    }
}

/// The explanation of a rejection.
struct Explained {
    history: History<Shown, String>,
    report: Report,
    refused: Option<OpId>,
    /// The operations of the core, a small part of the history that is still rejected.
    core: Vec<OpId>,
    /// The timeline, if a page was requested.
    timeline: Option<Timeline>,
}

/// The operations that a failure concerns.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The operation whose result was refused.
    pub(super) refused: Option<OpId>,
    /// The operations of the core, a small part of the history that is still rejected.
    pub(super) core: Vec<OpId>,
}

impl Places {
    pub(super) fn find(plan: &Plan, seen: &History<Call, Value>, kind: &FailureKind, time: Duration) -> Self {
        if !kind.is_explained(plan) {
            return Self::default();
        }
        let _note = supervise::note(Doing::Explaining, None);
        let Explained { refused, core, .. } = explain(plan, seen, time);
        Self { refused, core }
    }
}

impl FailureKind {
    /// Returns a hint on what to do if the object is correct although the test fails.
    fn doubt(&self) -> Option<&'static str> {
        match self {
            Self::Diverged(_) => {
                Some("(a loop that waits for another thread must call trueline::primitives::spin_hint())")
            }
            Self::NotSerial => Some(
                "(if the object may behave in ways that serial runs never show, test it against a specification that \
                 allows this behavior)",
            ),
            Self::NotLinearizable
            | Self::Stuck(_)
            | Self::Panicked { .. }
            | Self::Broken { .. }
            | Self::NotQuasi { .. } => None,
        }
    }

    /// Returns whether judging the history by the specification can explain this kind of failure.
    fn is_explained(&self, plan: &Plan) -> bool {
        match self {
            Self::NotLinearizable => true,
            Self::Stuck(_) => plan.judge.has_progress(),
            Self::Panicked { .. }
            | Self::Diverged(_)
            | Self::NotSerial
            | Self::NotQuasi { .. }
            | Self::Broken { .. } => false,
        }
    }
}

fn explain(plan: &Plan, seen: &History<Call, Value>, time_for_core: Duration) -> Explained {
    // Judge within a time limit first. Without a limit, judging quasi linearizability may take a
    // long time, because after a rejection the judge computes how much larger the factors would
    // have to be.
    let mut judged = plan.judged_within(seen, Budget::unlimited().time(TIME_TO_JUDGE));
    if is_accepted(&*judged).is_none() {
        judged = plan.judged_within(seen, Budget::unlimited());
    }
    let judged = InRust::wrap(plan, seen, judged);
    let wanted = Wanted {
        core: Some(Limits::new().time(time_for_core)),
        words: Words::Rejections,
        picture: if plan.options.pages.is_some() { Picture::Everything } else { Picture::None },
        progress: Some(plan.budget()),
    };
    let Assembled { report, timeline, core, progress, .. } = assemble("the run", plan.judge.name(), &*judged, &wanted);
    let evidence = judged.judgment().verdict.evidence();
    let mut members = Vec::new();
    if let Some(core) = &core {
        members.extend(core.told().map(|member| member.id));
        members.extend(core.begins_behind);
    }
    if let Some(ProgressVerdict::Rejected(evidence)) = progress {
        members.extend(evidence.anticipated.concat());
    }
    members.extend(evidence.iter().flat_map(|evidence| evidence.conflict.iter().chain([&evidence.refused])));
    let refused = evidence.map(|evidence| evidence.refused);
    Explained { refused, history: judged.history(), report, core: members, timeline }
}

fn render(
    name: &str,
    kind: &FailureKind,
    after: Duration,
    history: &History<Shown, String>,
    explained: Option<&Explained>,
    saved: Option<&Path>,
) -> String {
    let mut out = format!("{} {kind} (found after {after:.1?})\n", visible(name));
    if let Some(reason) = explained.and_then(|explained| explained.report.reason()) {
        let _ = writeln!(out, "  {reason}");
    }
    if let Some(doubt) = kind.doubt() {
        let _ = writeln!(out, "  {doubt}");
    }
    out.push('\n');
    let refused = explained.and_then(|explained| explained.refused);
    let is_small = history.len() <= MOST_SHOWN;
    let last = history.len().saturating_sub(MOST_SHOWN);
    let shows = |id: OpId| match explained {
        _ if is_small => true,
        Some(explained) => explained.core.contains(&id),
        None => id.index() >= last || history[id].return_position().is_none(),
    };
    if !is_small {
        let _ = writeln!(out, "  the operations that matter (of {}):", history.len());
    }
    if !history.is_empty() {
        out.push_str(&columns::render(history, shows, refused));
    }
    if let Some(explained) = explained {
        out.push('\n');
        out.push_str(&text::render_below_reason(&explained.report, text::Style::Plain));
    }
    out.push('\n');
    if let Some(saved) = saved {
        let _ = writeln!(out, "  the history:  {}", visible(&saved.display().to_string()));
    }
    out
}

/// The maximum number of steps in a report.
const MOST_STEPS_SHOWN: usize = 150;

fn render_steps(out: &mut String, steps: &[String], saved: Option<&Path>) {
    if steps.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "  step by step (a: atomics, m: mutexes, c: condition variables; numbered in order of first access):\n"
    );
    for step in steps.iter().take(MOST_STEPS_SHOWN) {
        let _ = writeln!(out, "    {}", visible(step));
    }
    if steps.len() > MOST_STEPS_SHOWN {
        let _ = writeln!(out, "    and {} more", steps.len() - MOST_STEPS_SHOWN);
    }
    out.push('\n');
    if let Some(saved) = saved {
        let _ = writeln!(out, "  the steps:    {}", visible(&saved.display().to_string()));
    }
}

/// Saves the steps in a file next to the history.
fn save_steps(history: &Path, steps: &[String]) -> Option<PathBuf> {
    if steps.is_empty() {
        return None;
    }
    let path = history.with_extension("steps.txt");
    let lines: String = steps.iter().map(|step| visible(step) + "\n").collect();
    file::write(&path, lines).ok()?;
    Some(path)
}

/// Draws the history as a page in a folder.
fn draw(folder: &Path, name: &str, token: &Token, kind: &FailureKind, mut timeline: Timeline) -> Option<PathBuf> {
    timeline.title = visible(&format!("{name} {token}"));
    timeline.reason = timeline.reason.or_else(|| Some(visible(&format!("{name} {kind}"))));
    html::write(folder, &file_name(name, token), &timeline).ok()
}

/// Returns the name of the file for a run of a test, without an extension.
fn file_name(name: &str, token: &Token) -> String {
    format!("{}-{}", running::plain(name), running::shortened(token.to_string()))
}

/// Saves the history in the build folder, or, if the build folder is not known, in the folder of
/// temporary files.
fn save(name: &str, token: &Token, history: &History<Record, Value>) -> Option<PathBuf> {
    #[cfg(feature = "json")]
    {
        let folder = running::folder()?;
        std::fs::create_dir_all(&folder).ok()?;
        let path = folder.join(format!("{}.jsonl", file_name(name, token)));
        file::write_with(&path, |out| crate::history::codec::jsonl::write_operations(history, out)).ok()?;
        Some(path)
    }
    #[cfg(not(feature = "json"))]
    {
        let _ = (name, token, history);
        None
    }
}
