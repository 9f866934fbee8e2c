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
use trueline::view::{Finding, Report, json, text};

use crate::args::{CheckArgs, Criterion};
use crate::input::{Input, Reading, find_inputs};
use crate::output::{self, Written};
use crate::{cancel, ci};

/// What takes longer shows that it is going on.
const LONG: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &CheckArgs) -> ExitCode {
    let spec = match named::spec(&args.spec, Options::new().nil_wildcard(args.nil_wildcard)) {
        Ok(spec) => spec,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    if args.clock_skew > 0 && spec.process_matters() {
        // Operations that overlap get processes of their own.
        let name = spec.name();
        output::error(format_args!(
            "--clock-skew cannot be had for {name}, where it matters which process calls; leave it out"
        ));
        return ExitCode::from(2);
    }
    if args.criterion == Criterion::Progress && !spec.has_progress() {
        let name = spec.name();
        output::error(format_args!(
            "--criterion progress is for objects whose operations synchronise, and those of {name} do not; leave it out"
        ));
        return ExitCode::from(2);
    }
    let reading = match Reading::new(&args.read, args.clock_skew) {
        Ok(reading) => reading,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    let token = cancel::on_interrupt();
    let budget = budget(args, &token);
    let config = config(args, budget.clone());
    let (inputs, passed_over) = find_inputs(&args.inputs);
    if !args.quiet {
        for path in passed_over {
            let path = path.display();
            output::note(format_args!("{path}: passed over, it does not look like a history; name it to have it read"));
        }
    }
    let progress = progress(inputs.len());
    let mut tally = Tally::default();
    let mut all = Vec::new();
    let files = inputs.len();
    for (index, input) in inputs.into_iter().enumerate() {
        progress.set_message(input.name());
        let judged = judge(&input, &reading, &spec, &config, &budget, args);
        tally.count(&judged);
        let written = progress.suspend(|| print(&judged, args));
        if args.junit.is_some() {
            all.push(judged);
        }
        if written != Written::All {
            break;
        }
        progress.inc(1);
        if token.is_cancelled() {
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
        if !write_junit(path, &ci::junit(spec.name(), &all)) {
            return ExitCode::from(2);
        }
    }
    tally.exit_code()
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
    Report(Box<Report>),
    Unreadable { file: String, line: Option<usize>, message: String },
}

fn judge(
    input: &Input,
    reading: &Reading,
    spec: &NamedSpec,
    config: &Config,
    budget: &Budget,
    args: &CheckArgs,
) -> Judged {
    let file = input.name();
    let unreadable = |line, message: String| Judged::Unreadable { file: file.clone(), line, message };
    let history = match reading.read(input) {
        Ok(history) => history,
        Err(fault) => return unreadable(fault.line, fault.message),
    };
    let stuck = (args.criterion == Criterion::Progress).then(|| history.clone());
    let spinner = spinner(history.len());
    let judged = cancel::while_busy(|| spec.judge(history, config));
    spinner.finish_and_clear();
    match judged {
        Err(fault) => unreadable(fault.line(), fault.message().to_owned()),
        Ok(judged) => {
            let counts = (judged.operations(), judged.pending());
            let mut report = Report::new(file, spec.name(), counts, judged.judgement(), || judged.history());
            if let (Some(stuck), Finding::Accepted) = (stuck, &report.finding) {
                if let Some(Ok(verdict)) = cancel::while_busy(|| spec.progress(&stuck, budget)) {
                    report = report.with_progress(&judged.history(), &verdict);
                }
            }
            if args.core && !args.quiet {
                let limits = Limits::new().time(args.core_timeout).memory(args.memory);
                if let Some(core) = spec.shrink(&judged, &limits) {
                    report = report.with_core(&judged.history(), &core);
                }
            }
            Judged::Report(Box::new(report))
        }
    }
}

fn print(judged: &Judged, args: &CheckArgs) -> Written {
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
        Judged::Report(_) if args.quiet => Written::All,
        Judged::Report(report) if args.json => output::stdout(|out| writeln!(out, "{}", json::render(report))),
        Judged::Report(report) => output::stdout(|out| out.write_all(text::render(report, Style::Ansi).as_bytes())),
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
            Judged::Report(report) => match report.finding {
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
