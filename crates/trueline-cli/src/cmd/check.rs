//! `trueline check`: reads histories and judges them, one after another. `trueline explain` says why.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use trueline::history::{History, visible};
use trueline::judge::shrink::Limits;
use trueline::judge::{Budget, CancelToken, Config};
use trueline::named::{self, NamedSpec, Options};
use trueline::report::{self, Assembled, Picture, Words, assemble};
use trueline::verdict::{Judgement, Limit, LimitKind, Stats, Verdict};
use trueline::view::text::Style;
use trueline::view::{Finding, Report, Timeline, file, json, text};

use super::picture::{self, Pages};
use crate::args::{CheckArgs, Criterion};
use crate::input::{Input, ReadLimits, Reading, find_inputs};
use crate::output::{self, Written};
use crate::{cancel, ci, progress};

pub(crate) fn run(args: &CheckArgs) -> ExitCode {
    let wanted = match &args.view {
        Some(_) => Wanted::Everything,
        None if args.json || args.quiet => Wanted::Report,
        None => Wanted::Excerpt,
    };
    run_for(args, wanted)
}

/// Judges as `check` does, and says why instead of drawing it.
pub(crate) fn explain(args: &CheckArgs) -> ExitCode {
    if args.view.is_some() {
        output::error("--view is for `trueline check`; leave it out, or use that");
        return ExitCode::from(2);
    }
    run_for(args, Wanted::Explanation)
}

fn run_for(args: &CheckArgs, wanted: Wanted) -> ExitCode {
    let judge = match Judge::new(args) {
        Ok(judge) => judge,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    let (inputs, passed_over) = find_inputs(&args.inputs);
    let outputs = || args.junit.iter().chain(&args.view);
    let refused = inputs.iter().flat_map(|input| outputs().map(|path| input.refuse_as_output(Some(path))));
    if let Some(fault) = refused.filter_map(Result::err).next() {
        output::error(fault);
        return ExitCode::from(2);
    }
    let mut pages = match args.view.as_deref().map(|path| Pages::new(path, inputs.len())).transpose() {
        Ok(pages) => pages,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    if !args.quiet {
        for path in passed_over {
            let path = path.display();
            output::note(format_args!("{path}: passed over, it does not look like a history; name it to have it read"));
        }
    }
    let bar = bar(inputs.len());
    let mut tally = Tally::default();
    let mut all = Vec::new();
    let files = inputs.len();
    for (index, input) in inputs.into_iter().enumerate() {
        bar.set_message(visible(&input.name()));
        let judged = judge.judge(&input, wanted);
        tally.count(&judged);
        let written = bar.suspend(|| print(&judged, args, wanted));
        if let (Some(pages), Judged::Report(_, Some(timeline))) = (&mut pages, &judged) {
            let drawn = bar.suspend(|| picture::write(&pages.next(&input), timeline, args));
            if let Err(fault) = drawn {
                output::error(fault);
                return ExitCode::from(2);
            }
        }
        if args.junit.is_some() {
            all.push(judged);
        }
        if written == Written::Failed {
            return ExitCode::from(2);
        }
        bar.inc(1);
        let left = files - index - 1;
        if left > 0 && (written == Written::ReaderGone || judge.token.is_cancelled()) {
            if judge.token.is_cancelled() {
                output::note(format_args!("{left} of {files} files were not judged"));
            }
            tally.unknown = true;
            break;
        }
    }
    bar.finish_and_clear();
    if let Some(path) = &args.junit {
        if !write_junit(path, &ci::junit(judge.spec.name(), &all)) {
            return ExitCode::from(2);
        }
    }
    tally.exit_code()
}

/// What reads histories and judges them, as the arguments say.
pub(super) struct Judge<'a> {
    args: &'a CheckArgs,
    spec: NamedSpec,
    reading: Reading,
    /// Ctrl-C cancels it.
    token: CancelToken,
    budget: Budget,
    config: Config,
}

/// The specification, if it can judge as the arguments want it to; or what to do.
fn specification(args: &CheckArgs) -> Result<NamedSpec, String> {
    let spec =
        named::spec(&args.spec, Options::new().nil_wildcard(args.nil_wildcard)).map_err(|fault| fault.to_string())?;
    let name = spec.name();
    if args.clock_skew > 0 && spec.process_matters() {
        // Operations that overlap get processes of their own.
        return Err(format!(
            "--clock-skew cannot be had for {name}, where it matters which process calls; leave it out"
        ));
    }
    if args.criterion == Criterion::Progress && !spec.has_progress() {
        return Err(format!(
            "--criterion progress is for objects whose operations synchronise, and those of {name} do not; leave it out"
        ));
    }
    match wrong_factors(args, &spec) {
        Some(fault) => Err(fault),
        None => Ok(spec),
    }
}

/// What is wrong with the criterion and the factors, if anything is.
fn wrong_factors(args: &CheckArgs, spec: &NamedSpec) -> Option<String> {
    let name = spec.name();
    if args.criterion == Criterion::Progress && args.factor.is_some() {
        return Some("--factor is for --criterion quasi; leave one of them out".to_owned());
    }
    if args.criterion == Criterion::Quasi && args.factor.is_none() && !spec.is_quasi() {
        return Some(format!(
            "--criterion quasi needs factors for {name}; write --factor 2 for all operations together, or --factor enq=0,deq=4"
        ));
    }
    if (args.criterion == Criterion::Quasi || args.factor.is_some()) && spec.has_progress() {
        return Some(format!(
            "{name} has operations that synchronise, which quasi linearizability is not asked of; leave it out"
        ));
    }
    None
}

fn write_junit(path: &Path, content: &str) -> bool {
    let written = file::write(path, content);
    if let Err(fault) = &written {
        output::error(format_args!("{}: cannot write: {fault}; check the path", path.display()));
    }
    written.is_ok()
}

fn budget(args: &CheckArgs, token: &CancelToken) -> Budget {
    let mut budget = Budget::unlimited().memory(args.memory).cancelled_by(token.clone());
    if let Some(timeout) = args.timeout {
        budget = budget.time(timeout);
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
        .budget(budget);
    if let Some(rules) = args.rules {
        config = config.rules(rules);
    }
    if let Some(seed) = args.seed {
        config = config.seed(seed);
    }
    config
}

/// What became of an input.
pub(crate) enum Judged {
    Report(Box<Report>, Option<Box<Timeline>>),
    Unreadable { file: String, line: Option<usize>, message: String },
}

/// What is wanted besides a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Nothing.
    Report,
    /// Why, in words, and nothing to be drawn.
    Explanation,
    /// What is near the problem, to be drawn in a terminal.
    Excerpt,
    /// All there is to draw.
    Everything,
}

impl<'a> Judge<'a> {
    /// As the arguments say; or what is wrong with them.
    pub(super) fn new(args: &'a CheckArgs) -> Result<Self, String> {
        let spec = specification(args)?;
        let reading = Reading::new(&args.read, args.clock_skew)?;
        let token = cancel::on_interrupt();
        let budget = budget(args, &token);
        let config = config(args, budget.clone());
        Ok(Self { args, spec, reading, token, budget, config })
    }

    /// The report of a history that a limit kept from being read.
    fn undecided(&self, file: String, kind: LimitKind, elapsed: Duration) -> Judged {
        let limit = Limit { kind, event: 0, events: 0 };
        let stats = Stats { algorithm: self.args.algorithm.to_string(), elapsed, ..Stats::default() };
        let judgement = Judgement::<String> { verdict: Verdict::Unknown(limit), stats };
        let none = || History::<String, String>::builder().finish();
        Judged::Report(Box::new(Report::new(file, self.spec.name(), (0, 0), &judgement, none)), None)
    }

    pub(super) fn judge(&self, input: &Input, wanted: Wanted) -> Judged {
        let Self { args, spec, config, .. } = self;
        let file = input.name();
        let unreadable = |line, message: String| Judged::Unreadable { file: file.clone(), line, message };
        let limits = ReadLimits::new(args.timeout, args.memory, &self.token);
        let started = Instant::now();
        let history = match cancel::while_busy(|| self.reading.read(input, &limits)) {
            Ok(history) => history,
            Err(fault) => {
                let Some(kind) = fault.limit else { return unreadable(fault.line, fault.message) };
                return self.undecided(file, kind, started.elapsed());
            }
        };
        // Reading takes from the same time.
        let config = &match args.timeout {
            Some(time) => config.clone().budget(self.budget.clone().time(time.saturating_sub(started.elapsed()))),
            None => config.clone(),
        };
        let spinner = progress::spinner(format!("judging {} operations", history.len()));
        let judged = cancel::while_busy(|| match &args.factor {
            None => Some(spec.judge(history, config)),
            Some(factors) => spec.judge_quasi(history, factors, config),
        });
        spinner.finish_and_clear();
        match judged {
            None => unreadable(None, "such objects have no factors; leave --factor out".to_owned()),
            Some(Err(fault)) => unreadable(fault.line(), fault.message().to_owned()),
            Some(Ok(judged)) => {
                let wanted = self.wanted(wanted);
                let Assembled { mut report, timeline, .. } =
                    cancel::while_busy(|| assemble(&file, spec.name(), &*judged, &wanted));
                if report.operations == 0 {
                    let note = "there are no operations, so that there was nothing to judge";
                    output::note(format_args!("{}: {note}", report.file));
                    // Below a verdict for people, once is enough.
                    if args.json {
                        report = report.with_note(note);
                    }
                }
                if args.clock_skew > 0 {
                    report = report.with_note(format!(
                        "with --clock-skew {}, the order of a process's own operations counts only where they are further apart",
                        args.clock_skew
                    ));
                }
                Judged::Report(Box::new(report), timeline.map(Box::new))
            }
        }
    }

    /// What the report must have for what is wanted.
    fn wanted(&self, wanted: Wanted) -> report::Wanted {
        let Self { args, token, budget, .. } = self;
        let limits = Limits::new().time(args.core_timeout).memory(args.memory).cancelled_by(token.clone());
        report::Wanted {
            // After Ctrl-C, the verdict is reported without a core.
            core: (!token.is_cancelled()).then_some(limits),
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
            progress: (args.criterion == Criterion::Progress).then(|| budget.clone()),
        }
    }
}

pub(super) fn print(judged: &Judged, args: &CheckArgs, wanted: Wanted) -> Written {
    if let Some(annotation) = ci::annotation(judged).filter(|_| args.github) {
        let written = output::stdout(|out| writeln!(out, "{annotation}"));
        if written != Written::All {
            return written;
        }
    }
    match judged {
        Judged::Unreadable { file, line, message } => {
            match line {
                Some(line) => output::error(format_args!("{file}:{line}: {message}")),
                None => output::error(format_args!("{file}: {message}")),
            }
            if !args.json {
                return Written::All;
            }
            let message = line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}"));
            output::stdout(|out| writeln!(out, "{}", json::error(file, &message)))
        }
        Judged::Report(..) if args.quiet => Written::All,
        Judged::Report(report, _) if args.json => output::stdout(|out| writeln!(out, "{}", json::render(report))),
        Judged::Report(report, _) if wanted == Wanted::Explanation => {
            output::stdout(|out| out.write_all(text::render_explanation(report, Style::Ansi).as_bytes()))
        }
        Judged::Report(report, timeline) => {
            // An accepted history is not drawn here, even if it is elsewhere.
            let timeline = timeline.as_ref().filter(|timeline| timeline.problem.is_some());
            let picture = timeline.map_or_else(String::new, |timeline| picture::in_terminal(timeline, args));
            output::stdout(|out| out.write_all(text::render_with(report, Style::Ansi, &picture).as_bytes()))
        }
    }
}

/// A bar on stderr, if there are several files and somebody looks.
fn bar(files: usize) -> ProgressBar {
    if files < 2 || !progress::is_seen() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
    ProgressBar::new(files as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Which verdicts there were.
#[derive(Default)]
struct Tally {
    unreadable: bool,
    rejected: bool,
    unknown: bool,
}

impl Tally {
    fn count(&mut self, judged: &Judged) {
        match judged {
            Judged::Unreadable { .. } => self.unreadable = true,
            Judged::Report(report, _) => match report.finding {
                Finding::Accepted => {}
                Finding::Rejected(_) | Finding::Stuck(_) => self.rejected = true,
                Finding::Unknown(_) => self.unknown = true,
            },
        }
    }

    fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self { unreadable: true, .. } => 2,
            Self { rejected: true, .. } => 1,
            Self { unknown: true, .. } => 3,
            _ => 0,
        })
    }
}
