//! `trueline check`: reads histories and judges them, one after another.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trueline::judge::shrink::Limits;
use trueline::judge::{Budget, CancelToken, Config};
use trueline::named::{self, NamedSpec, Options};
use trueline::view::text::Style;
use trueline::view::{Finding, Report, Timeline, json, text};

use super::picture;
use crate::args::{CheckArgs, Criterion};
use crate::input::{Input, Reading, find_inputs};
use crate::output::{self, Written};
use crate::{cancel, ci};

/// What takes longer shows that it is going on.
const LONG: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &CheckArgs) -> ExitCode {
    let judge = match Judge::new(args) {
        Ok(judge) => judge,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    if let Some(Err(fault)) = args.view.as_deref().map(picture::Form::of) {
        output::error(fault);
        return ExitCode::from(2);
    }
    let (inputs, passed_over) = find_inputs(&args.inputs);
    if args.view.is_some() && inputs.len() > 1 {
        let many = inputs.len();
        output::error(format_args!(
            "--view draws one history, and there are {many} files; name one, or use `trueline view` for each"
        ));
        return ExitCode::from(2);
    }
    if !args.quiet {
        for path in passed_over {
            let path = path.display();
            output::note(format_args!("{path}: passed over, it does not look like a history; name it to have it read"));
        }
    }
    let wanted = match &args.view {
        Some(_) => Wanted::Everything,
        None if args.json || args.quiet => Wanted::Report,
        None => Wanted::Excerpt,
    };
    let progress = progress(inputs.len());
    let mut tally = Tally::default();
    let mut all = Vec::new();
    let files = inputs.len();
    for (index, input) in inputs.into_iter().enumerate() {
        progress.set_message(input.name());
        let judged = judge.judge(&input, wanted);
        tally.count(&judged);
        let written = progress.suspend(|| print(&judged, args));
        if let (Some(path), Judged::Report(_, Some(timeline))) = (&args.view, &judged) {
            if let Err(fault) = picture::write(path, timeline, args) {
                output::error(fault);
                return ExitCode::from(2);
            }
        }
        if args.junit.is_some() {
            all.push(judged);
        }
        if written != Written::All {
            break;
        }
        progress.inc(1);
        if judge.token.is_cancelled() {
            let left = files - index - 1;
            if left > 0 {
                output::note(format_args!("{left} of {files} files were not judged"));
                tally.unknown = true;
            }
            break;
        }
    }
    progress.finish_and_clear();
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
    let written = fs::write(path, content);
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

    pub(super) fn judge(&self, input: &Input, wanted: Wanted) -> Judged {
        let Self { args, spec, config, .. } = self;
        let file = input.name();
        let unreadable = |line, message: String| Judged::Unreadable { file: file.clone(), line, message };
        let history = match self.reading.read(input) {
            Ok(history) => history,
            Err(fault) => return unreadable(fault.line, fault.message),
        };
        let stuck = (args.criterion == Criterion::Progress).then(|| history.clone());
        let spinner = spinner(history.len());
        let judged = cancel::while_busy(|| match &args.factor {
            None => Some(spec.judge(history, config)),
            Some(factors) => spec.judge_quasi(history, factors, config),
        });
        spinner.finish_and_clear();
        let Some(judged) = judged else {
            return unreadable(None, "such objects have no factors; leave --factor out".to_owned());
        };
        match judged {
            Err(fault) => unreadable(fault.line(), fault.message().to_owned()),
            Ok(judged) => {
                let counts = (judged.operations(), judged.pending());
                let mut report = Report::new(file, spec.name(), counts, judged.judgement(), || judged.history());
                let mut progress = None;
                if let (Some(stuck), Finding::Accepted) = (stuck, &report.finding) {
                    if let Some(Ok(verdict)) = cancel::while_busy(|| spec.progress(&stuck, &self.budget)) {
                        report = report.with_progress(&judged.history(), &verdict);
                        progress = Some(verdict);
                    }
                }
                let mut core = None;
                if (args.core && !args.quiet) || wanted == Wanted::Everything {
                    let limits = Limits::new().time(args.core_timeout).memory(args.memory);
                    core = spec.shrink(&judged, &limits);
                }
                if let (Some(core), true) = (&core, args.core) {
                    report = report.with_core(&judged.history(), core);
                }
                let is_drawn = match wanted {
                    Wanted::Report => false,
                    Wanted::Excerpt => matches!(report.finding, Finding::Rejected(_) | Finding::Stuck(_)),
                    Wanted::Everything => true,
                };
                let timeline = is_drawn
                    .then(|| picture::timeline(spec, &judged, &report, core.as_ref(), progress.as_ref(), wanted));
                Judged::Report(Box::new(report), timeline.map(Box::new))
            }
        }
    }
}

pub(super) fn print(judged: &Judged, args: &CheckArgs) -> Written {
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
        Judged::Report(report, timeline) => {
            // An accepted history is not drawn here, even if it is elsewhere.
            let timeline = timeline.as_ref().filter(|timeline| timeline.problem.is_some());
            let picture = timeline.map_or_else(String::new, |timeline| picture::in_terminal(timeline, args));
            output::stdout(|out| out.write_all(text::render_with(report, Style::Ansi, &picture).as_bytes()))
        }
    }
}

/// A bar on stderr, if there are several files and somebody looks.
fn progress(files: usize) -> ProgressBar {
    if files < 2 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}");
    ProgressBar::new(files as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A sign of life on stderr while a file is judged, if that takes long and somebody looks.
fn spinner(operations: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style =
        ProgressStyle::with_template("{spinner} judging {msg} for {elapsed} (Ctrl-C ends it with what is known)");
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.set_message(format!("{operations} operations"));
    let shown = spinner.downgrade();
    std::thread::spawn(move || {
        std::thread::sleep(LONG);
        if let Some(spinner) = shown.upgrade().filter(|spinner| !spinner.is_finished()) {
            spinner.set_draw_target(ProgressDrawTarget::stderr());
            spinner.enable_steady_tick(Duration::from_millis(200));
        }
    });
    spinner
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
