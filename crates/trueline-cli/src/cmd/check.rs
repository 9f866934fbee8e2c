//! `trueline check`: reads histories and judges them, one after another. `trueline explain` explains rejections in
//! words.

use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use trueline::history::{History, Named, visible};
use trueline::judge::shrink;
use trueline::judge::{Budget, CancelToken, Config};
use trueline::registry::{self, NamedSpec, Options};
use trueline::report::{self, Assembled, Picture, Words, assemble};
use trueline::verdict::{Contradiction, Judgment, Limit, LimitKind, Stats, Verdict};
use trueline::view::text::Style;
use trueline::view::{Finding, Report, Timeline, file, json, text};

use super::picture::{self, Pages};
use super::{follow, ill_formed, lint};
use crate::args::{CheckArgs, Criterion, Versions};
use crate::input::{Input, Reading, Unreadable, find_inputs};
use crate::limits::{Limits, Stage};
use crate::output::{self, Written};
use crate::{cancel, ci, progress};

pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, String> {
    if args.follow {
        return follow::run(args);
    }
    let wanted = match &args.view {
        Some(_) => Wanted::Everything,
        None if args.json || args.quiet => Wanted::Report,
        None => Wanted::Excerpt,
    };
    run_for(args, wanted)
}

/// Judges like `check`, and explains the verdict in words instead of drawing it.
pub(crate) fn explain(args: &CheckArgs) -> Result<ExitCode, String> {
    if args.view.is_some() {
        return Err("--view is for `trueline check`; leave it out, or use that command".to_owned());
    }
    if args.follow {
        return Err("--follow is for `trueline check`; leave it out, or use that command".to_owned());
    }
    run_for(args, Wanted::Explanation)
}

fn run_for(args: &CheckArgs, wanted: Wanted) -> Result<ExitCode, String> {
    let judge = Judge::new(args)?;
    let (inputs, passed_over) = find_inputs(&args.inputs);
    let outputs = || args.junit.iter().chain(&args.view);
    for (input, path) in inputs.iter().flat_map(|input| outputs().map(move |path| (input, path))) {
        input.refuse_as_output(Some(path))?;
    }
    let mut pages = args.view.as_deref().map(|path| Pages::new(path, inputs.len())).transpose()?;
    if !args.quiet {
        for path in passed_over {
            let path = path.display();
            output::note(format_args!(
                "{path}: skipped, because it does not look like a history; give the path of the file itself to read it"
            ));
        }
    }
    let bar = bar(inputs.len());
    let mut tally = Tally { strict: args.versions == Versions::Strict, ..Tally::default() };
    let mut all = Vec::new();
    let files = inputs.len();
    for (index, input) in inputs.into_iter().enumerate() {
        bar.set_message(visible(&input.name()));
        let limits = judge.limits();
        let left = files - index - 1;
        // If a limit ends the program early, `end` is called with the results so far.
        let end = |judged: Judged| {
            bar.finish_and_clear();
            let written = write(&render(&judged, args, wanted));
            if left > 0 {
                output::note(format_args!("{left} of {files} files were not judged"));
            }
            let tally = tally.and(&judged).after(written);
            let is_junit_written = write_junit(args, &judge, all.iter().chain([&judged]));
            if written == Written::Failed || !is_junit_written { 2 } else { tally.exit_code() }
        };
        let judged = judge.judge(&input, wanted, &limits, &end);
        let page = pages.as_mut().map(|pages| pages.next(&input));
        let (rendered, drawn) = limits.watch(
            Stage::Drawing,
            |kind| end(judged.cut(kind)),
            || {
                let drawn = match (page, &judged) {
                    (Some(path), Judged::Report(_, Some(timeline))) => Some(picture::draw(path, timeline, args)),
                    _ => None,
                };
                (render(&judged, args, wanted), drawn)
            },
        );
        let written = bar.suspend(|| write(&rendered));
        tally = tally.and(&judged).after(written);
        bar.suspend(|| drawn.map_or(Ok(()), |drawn| drawn?.write(args)))?;
        if args.junit.is_some() {
            all.push(judged);
        }
        if written == Written::Failed {
            return Ok(ExitCode::from(2));
        }
        bar.inc(1);
        if left > 0 && (matches!(written, Written::ReaderGone | Written::Late) || judge.token.is_cancelled()) {
            if written == Written::Late || judge.token.is_cancelled() {
                output::note(format_args!("{left} of {files} files were not judged"));
            }
            tally.unknown = true;
            break;
        }
    }
    bar.finish_and_clear();
    let is_junit_written = write_junit(args, &judge, all.iter());
    Ok(ExitCode::from(if is_junit_written { tally.exit_code() } else { 2 }))
}

/// A rejected file is read again to look for hints only if it has at most this many operations.
const MOST_LINTED: usize = 200_000;

/// Reads histories and judges them according to the arguments.
pub(super) struct Judge<'a> {
    args: &'a CheckArgs,
    pub(super) spec: NamedSpec,
    pub(super) reading: Reading,
    /// Canceled by Ctrl-C.
    token: CancelToken,
}

/// Returns the specification, or an error if its histories cannot be judged as the arguments
/// require.
fn specification(args: &CheckArgs) -> Result<NamedSpec, String> {
    let spec = registry::spec(&args.spec, Options::new().nil_wildcard(args.nil_wildcard))
        .map_err(|fault| fault.to_string())?;
    let name = spec.name();
    if args.clock_skew > 0 && spec.process_matters() {
        // With clock skew, operations of one process may overlap. They are then assigned to
        // different processes. This specification does not allow that, because its results depend
        // on the process.
        return Err(format!(
            "--clock-skew is not supported for {name}, because its results depend on the calling process; leave --clock-skew out"
        ));
    }
    if args.criterion == Criterion::Progress && !spec.has_progress() {
        return Err(format!(
            "--criterion progress is for objects whose operations synchronize, but those of {name} do not; leave --criterion out"
        ));
    }
    match wrong_factors(args, &spec) {
        Some(fault) => Err(fault),
        None => Ok(spec),
    }
}

/// Returns an error message if the criterion and the factors are inconsistent.
fn wrong_factors(args: &CheckArgs, spec: &NamedSpec) -> Option<String> {
    let name = spec.name();
    if args.criterion == Criterion::Progress && args.factor.is_some() {
        return Some(
            "--factor is only for --criterion quasi; leave out --factor, or choose --criterion quasi".to_owned(),
        );
    }
    if args.criterion == Criterion::Quasi && args.factor.is_none() && !spec.is_quasi() {
        return Some(format!(
            "--criterion quasi needs factors for {name}; write --factor 2 for all operations together, or --factor enq=0,deq=4"
        ));
    }
    if (args.criterion == Criterion::Quasi || args.factor.is_some()) && spec.has_progress() {
        return Some(format!(
            "{name} has operations that synchronize, for which quasi linearizability is not defined; leave \
             --criterion quasi and --factor out"
        ));
    }
    None
}

/// Writes the results as JUnit XML if this was requested. Returns `false` if writing failed.
fn write_junit<'j>(args: &CheckArgs, judge: &Judge<'_>, judged: impl Iterator<Item = &'j Judged>) -> bool {
    let Some(path) = &args.junit else { return true };
    let written = file::write(path, ci::junit(judge.spec.name(), &judged.collect::<Vec<_>>()));
    if let Err(fault) = &written {
        output::error(format_args!("{}: cannot write: {fault}; check the path", path.display()));
    }
    written.is_ok()
}

/// Returns the budget for judging: the time and memory that the limits leave, and the number of
/// configurations that the arguments allow.
fn budget(args: &CheckArgs, limits: &Limits) -> Budget {
    let mut budget = Budget::unlimited().memory(limits.memory).cancelled_by(limits.token.clone());
    if let Some(left) = limits.left() {
        budget = budget.time(left);
    }
    if let Some(configurations) = args.configurations {
        budget = budget.configurations(configurations);
    }
    budget
}

fn config(args: &CheckArgs, budget: Budget) -> Config {
    let mut config = Config::new()
        .algorithm(args.algorithm.clone())
        .partition(!args.no_partition)
        .threads(usize::from(args.threads))
        .versions(args.versions != Versions::Ignore)
        .budget(budget);
    if let Some(rules) = args.rules {
        config = config.rules(rules);
    }
    if let Some(seed) = args.seed {
        config = config.seed(seed);
    }
    config
}

/// The size of an input. All counts are 0 until the input has been read completely.
#[derive(Clone, Copy, Default)]
struct Read {
    operations: usize,
    pending: usize,
    events: u32,
}

/// The result of reading and judging one input.
pub(crate) enum Judged {
    Report(Box<Report>, Option<Box<Timeline>>),
    Unreadable { file: String, line: Option<usize>, message: String },
}

impl Judged {
    /// Returns this result without an explanation and without a picture, for the case that a limit
    /// was reached before they were finished.
    pub(super) fn cut(&self, kind: LimitKind) -> Self {
        match self {
            Self::Report(report, _) => {
                let mut cut = report.clone();
                (cut.core, cut.explanation) = (None, Vec::new());
                cut.notes.push(cut_short(kind));
                Self::Report(cut, None)
            }
            Self::Unreadable { file, line, message } => {
                Self::Unreadable { file: file.clone(), line: *line, message: message.clone() }
            }
        }
    }
}

/// Describes how the versions of the operations contradict the history, or states that this could
/// not be decided. In both cases, the verdict was found without the versions.
fn contradicted(contradiction: Contradiction, judged: &dyn trueline::judge::Judged) -> String {
    let name = |id| {
        let Named { operation, object, .. } = judged.operation(id);
        let line = operation.return_line().or(operation.call_line()).map(|line| format!(" on line {line}"));
        let object = object.map(|name| format!(" of {name}")).unwrap_or_default();
        let version = operation.version().map(|version| format!(" with version {version}")).unwrap_or_default();
        format!("{}{object}{version}{}", operation.op, line.unwrap_or_default())
    };
    let without = "the verdict was found without versions";
    match contradiction {
        Contradiction::RealTime { first, second } => format!(
            "versions contradict real-time order: by version, {} comes before {}, but the second returned before the \
             first was called; {without}",
            name(first),
            name(second)
        ),
        Contradiction::Result(op) => {
            format!(
                "versions contradict the results: in version order, {} or another operation with the same version could \
                 not have returned its result; {without}",
                name(op)
            )
        }
        _ => format!("could not decide whether the versions give a valid order; {without}"),
    }
}

fn cut_short(kind: LimitKind) -> String {
    match kind {
        LimitKind::Cancelled => "interrupted before the rest of the output was complete".to_owned(),
        kind => {
            format!(
                "the {kind} limit was reached after the verdict, so the rest of the output is incomplete; raise the limit"
            )
        }
    }
}

/// The output that is requested besides the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// No output besides the report of the verdict.
    Report,
    /// An explanation in words, without a picture.
    Explanation,
    /// A picture of the part of the history near the problem, drawn in the terminal.
    Excerpt,
    /// A picture of the whole history.
    Everything,
}

impl Wanted {
    /// Returns whether the report of a rejection contains more than the verdict.
    fn tells_more(self, args: &CheckArgs) -> bool {
        args.core || matches!(self, Self::Explanation | Self::Everything)
    }
}

impl<'a> Judge<'a> {
    /// Creates a judge from the arguments, or returns an error that says what is wrong with them.
    pub(super) fn new(args: &'a CheckArgs) -> Result<Self, String> {
        let spec = specification(args)?;
        let reading = Reading::new(&args.read, args.clock_skew)?;
        if spec.process_matters() && !reading.names_processes() {
            return Err(format!(
                "results of {} depend on the calling process, but the mapping does not assign `process`; add it to the mapping",
                spec.name()
            ));
        }
        Ok(Self { args, spec, reading, token: cancel::on_interrupt() })
    }

    /// Starts the clock for one input.
    pub(super) fn limits(&self) -> Limits {
        Limits::start(&self.args.limits, &self.token)
    }

    /// Returns the exit code for one input.
    pub(super) fn exit_code(&self, judged: &Judged) -> u8 {
        let tally = Tally { strict: self.args.versions == Versions::Strict, ..Tally::default() };
        tally.and(judged).exit_code()
    }

    /// Returns the report of a history that could not be read or judged because a limit was
    /// reached.
    fn undecided(&self, file: &str, kind: LimitKind, limits: &Limits, read: Read) -> Judged {
        let Read { operations, pending, events } = read;
        let limit = Limit::new(kind, 0, events);
        let mut stats = Stats::default();
        (stats.algorithm, stats.elapsed) = (self.args.algorithm.to_string(), limits.elapsed());
        let judgment = Judgment::<String>::new(Verdict::Unknown(limit), stats);
        let none = |id| History::<String, String>::builder().finish().named(id);
        Judged::Report(Box::new(Report::new(file, self.spec.name(), (operations, pending), &judgment, none)), None)
    }

    /// Reads and judges an input. If this exceeds a limit by too much, calls `end` with the results
    /// so far, and then ends the program with the exit code that `end` returns.
    pub(super) fn judge(
        &self,
        input: &Input,
        wanted: Wanted,
        limits: &Limits,
        end: &(dyn Fn(Judged) -> u8 + Sync),
    ) -> Judged {
        let Self { args, spec, .. } = self;
        let file = input.name();
        let read = Mutex::new(Read::default());
        let undecided = |kind| {
            let read = *read.lock().unwrap_or_else(PoisonError::into_inner);
            self.undecided(&file, kind, limits, read)
        };
        let work = || cancel::while_busy(|| self.read_and_judge(input, limits, &read));
        let judged = limits.watch(Stage::Judging, |kind| end(undecided(kind)), work);
        let (judged, ill_formed) = match judged {
            Ok(judged) => judged,
            Err(Unreadable { limit: Some(kind), message, .. }) => {
                let mut judged = undecided(kind);
                if let (LimitKind::Cancelled, Judged::Report(report, _)) = (kind, &mut judged) {
                    report.notes.push(message);
                }
                return judged;
            }
            Err(Unreadable { line, message, .. }) => return Judged::Unreadable { file, line, message },
        };
        let plain = report::plain(&file, spec.name(), &*judged);
        let is_too_large = wanted == Wanted::Everything && !has_room_to_draw(plain.operations, limits);
        // With `--criterion progress`, the verdict "accepted" is not known yet: it may turn out
        // later that some operations should have returned but were stuck.
        let known = match plain.finding {
            Finding::Accepted if args.criterion == Criterion::Progress => None,
            _ => Some(Judged::Report(Box::new(plain), None)),
        };
        let (Assembled { mut report, mut timeline, .. }, hints) = limits.watch(
            Stage::Explaining,
            |kind| end(known.map_or_else(|| undecided(kind), |known| known.cut(kind))),
            || {
                let wanted = self.wanted(if is_too_large { Wanted::Report } else { wanted }, limits);
                cancel::while_busy(|| {
                    let assembled = assemble(&file, spec.name(), &*judged, &wanted);
                    let hints = self.hints(input, &assembled.report, limits);
                    (assembled, hints)
                })
            },
        );
        for hint in hints {
            report = report.with_note(hint);
        }
        if is_too_large {
            report = report
                .with_note("the history is not drawn, because that would exceed the memory limit; raise the limit");
        }
        if let (Some(kind), Finding::Rejected(_)) = (limits.reached(), &report.finding) {
            if wanted.tells_more(args) {
                report = report.with_note(cut_short(kind));
            }
        }
        if let Some(contradiction) = report.stats.versions.and_then(|versions| versions.contradiction) {
            let note = contradicted(contradiction, &*judged);
            if !args.quiet && !args.json {
                output::warning(format_args!("{}: {note}", report.file));
            }
            if args.json {
                report = report.with_note(note);
            }
        }
        if report.operations == 0 {
            let note = "there are no operations, so there was nothing to judge";
            if !args.quiet {
                output::note(format_args!("{}: {note}", report.file));
            }
            // Text output does not need this note, because it has already been printed to stderr.
            if args.json {
                report = report.with_note(note);
            }
        }
        if report.operations > 0 && report.pending == report.operations {
            let note = "no operation returned, so there was no result to judge";
            if !args.quiet {
                output::note(format_args!("{}: {note}", report.file));
            }
            if args.json {
                report = report.with_note(note);
            }
        }
        if let Some(note) = ill_formed {
            report = report.with_note(note);
        }
        if args.clock_skew > 0 {
            report = report.with_note(format!(
                "with --clock-skew {}, operations of the same process are ordered only if the time between them is \
                 longer",
                args.clock_skew
            ));
        }
        if let Some(timeline) = &mut timeline {
            timeline.notes = report.notes.iter().map(|note| visible(note)).collect();
        }
        Judged::Report(Box::new(report), timeline.map(Box::new))
    }

    /// Returns the findings of `lint` that may explain why a file was rejected. To find them, reads
    /// the file once more. Returns no findings for a long file or a pipe, because these are not
    /// read again.
    fn hints(&self, input: &Input, report: &Report, limits: &Limits) -> Vec<String> {
        let Finding::Rejected(rejection) = &report.finding else { return Vec::new() };
        // A pipe cannot be read again.
        let is_file = matches!(input, Input::File(path) if path.is_file());
        if !is_file || report.operations > MOST_LINTED || limits.reached().is_some() {
            return Vec::new();
        }
        let survey = self.reading.survey(input, limits);
        let hints = |survey| lint::hints(&survey, &self.spec, self.args.nil_wildcard, rejection.refused.lines.1);
        survey.map(hints).unwrap_or_default()
    }

    fn read_and_judge(
        &self,
        input: &Input,
        limits: &Limits,
        read: &Mutex<Read>,
    ) -> Result<(Box<dyn trueline::judge::Judged + '_>, Option<String>), Unreadable> {
        let Self { args, spec, .. } = self;
        let note = |operations, pending, events| {
            let events = u32::try_from(events).unwrap_or(u32::MAX);
            *read.lock().unwrap_or_else(PoisonError::into_inner) = Read { operations, pending, events };
            progress::spinner(format!("judging {operations} operations"))
        };
        if args.factor.is_none() && !spec.is_quasi() {
            let history = self.reading.read_for(spec, input, limits)?;
            let (operations, pending, events) = history.extent();
            let spinner = note(operations, pending, events);
            let judged = history.judge(&config(args, budget(args, limits)));
            spinner.finish_and_clear();
            return Ok((judged?, None));
        }
        let history = self.reading.read(input, limits)?;
        let spinner = note(history.len(), history.pending(), history.events().len());
        let ill_formed = ill_formed(spec, &history);
        let config = config(args, budget(args, limits));
        let judged = match &args.factor {
            None => Some(spec.judge(history, &config)),
            Some(factors) => spec.judge_quasi(history, factors, &config),
        };
        spinner.finish_and_clear();
        let judged = judged.ok_or_else(|| format!("`{}` has no factors; leave --factor out", spec.name()))?;
        Ok((judged?, ill_formed))
    }

    /// Returns the parts of the report that are needed for the requested output.
    fn wanted(&self, wanted: Wanted, limits: &Limits) -> report::Wanted {
        let Self { args, .. } = self;
        let time = limits.left().map_or(args.core_timeout, |left| left.min(args.core_timeout));
        let core = shrink::Limits::new().time(time).memory(limits.memory).cancelled_by(limits.token.clone());
        report::Wanted {
            // If Ctrl-C was pressed or a limit was reached, report the verdict without a core (the
            // operations that cause the rejection).
            core: limits.reached().is_none().then_some(core),
            words: match wanted {
                _ if args.quiet => Words::None,
                Wanted::Explanation => Words::All,
                _ if args.core => Words::Rejections,
                _ => Words::None,
            },
            picture: match wanted {
                Wanted::Report | Wanted::Explanation => Picture::None,
                Wanted::Excerpt => Picture::Excerpt,
                Wanted::Everything => Picture::Everything,
            },
            progress: (args.criterion == Criterion::Progress).then(|| budget(args, limits)),
        }
    }
}

/// The memory that drawing a complete history takes for each operation, in bytes, measured with
/// operations of usual length.
const DRAWN_BYTES: u64 = 350;

/// Returns whether a history with this many operations can probably be drawn within the memory limit.
fn has_room_to_draw(operations: usize, limits: &Limits) -> bool {
    limits.room().is_none_or(|room| operations as u64 * DRAWN_BYTES <= room)
}

/// The output for one input.
#[derive(Default)]
pub(super) struct Rendered {
    error: Option<String>,
    text: String,
}

pub(super) fn render(judged: &Judged, args: &CheckArgs, wanted: Wanted) -> Rendered {
    let mut rendered = Rendered::default();
    if let Some(annotation) = ci::annotation(judged).filter(|_| args.github) {
        rendered.text = annotation + "\n";
    }
    rendered.text += &match judged {
        Judged::Unreadable { file, line, message } => {
            let place = line.map_or_else(String::new, |line| format!(":{line}"));
            rendered.error = Some(format!("{file}{place}: {message}"));
            let message = line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"));
            if args.json { json::error(file, &message) + "\n" } else { String::new() }
        }
        Judged::Report(..) if args.quiet => String::new(),
        Judged::Report(report, _) if args.json => json::render(report) + "\n",
        Judged::Report(report, _) if wanted == Wanted::Explanation => text::render_explanation(report, Style::Ansi),
        Judged::Report(report, timeline) => {
            // Accepted histories are not drawn in the terminal, even if they are drawn in a file.
            let timeline = timeline.as_ref().filter(|timeline| timeline.problem.is_some());
            let picture = timeline.map_or_else(String::new, |timeline| picture::in_terminal(timeline, args));
            text::render_with(report, Style::Ansi, &picture)
        }
    };
    rendered
}

pub(super) fn write(rendered: &Rendered) -> Written {
    if let Some(error) = &rendered.error {
        output::error(error);
    }
    // If there is nothing to print, a closed standard output is not an error.
    if rendered.text.is_empty() {
        return Written::All;
    }
    output::stdout(|out| out.write_all(rendered.text.as_bytes()))
}

/// Returns a progress bar on stderr, shown if there are several files and stderr is a terminal.
fn bar(files: usize) -> ProgressBar {
    if files < 2 || !progress::is_seen() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
    ProgressBar::new(files as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The kinds of verdicts that have occurred so far.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Whether a history counts as rejected if the versions of its operations contradict it.
    strict: bool,
    unreadable: bool,
    rejected: bool,
    unknown: bool,
}

impl Tally {
    /// Adds a verdict.
    fn and(mut self, judged: &Judged) -> Self {
        match judged {
            Judged::Unreadable { .. } => self.unreadable = true,
            Judged::Report(report, _) => match report.finding {
                Finding::Accepted => match report.stats.versions.and_then(|versions| versions.contradiction) {
                    Some(Contradiction::Undecided) if self.strict => self.unknown = true,
                    Some(_) if self.strict => self.rejected = true,
                    _ => {}
                },
                Finding::Rejected(_) | Finding::Stuck(_) => self.rejected = true,
                Finding::Unknown(_) => self.unknown = true,
            },
        }
        self
    }

    /// Takes into account whether the output was written in time. If it was not, the exit code is
    /// that of an undecided history, unless a history was rejected or could not be read.
    fn after(mut self, written: Written) -> Self {
        self.unknown |= written == Written::Late;
        self
    }

    fn exit_code(self) -> u8 {
        match self {
            Self { unreadable: true, .. } => 2,
            Self { rejected: true, .. } => 1,
            Self { unknown: true, .. } => 3,
            _ => 0,
        }
    }
}
