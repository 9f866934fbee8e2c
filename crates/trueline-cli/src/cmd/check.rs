//! `trueline check`: reads histories and judges them, one after another.

use std::fs::{self, File};
use std::io::{self, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use trueline::history::RawHistory;
use trueline::history::codec::{self, CodecError};
use trueline::judge::shrink::Limits;
use trueline::judge::{Budget, Config};
use trueline::named::{self, NamedSpec, Options};
use trueline::view::text::Style;
use trueline::view::{Finding, Report, Timeline, json, text};

use super::picture;
use crate::args::{CheckArgs, Criterion};
use crate::output::{self, Written};

/// How much is read from a file at once.
const CHUNK: usize = 1 << 18;

pub(crate) fn run(args: &CheckArgs) -> ExitCode {
    let spec = match specification(args) {
        Ok(spec) => spec,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    if let Some(Err(fault)) = args.view.as_deref().map(picture::Form::of) {
        output::error(fault);
        return ExitCode::from(2);
    }
    if let Some(fault) = wrong_factors(args, &spec) {
        output::error(fault);
        return ExitCode::from(2);
    }
    let config = config(args);
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
    for input in inputs {
        progress.set_message(input.name());
        let judged = judge(input, &spec, &config, args, wanted);
        tally.count(&judged);
        if progress.suspend(|| print(&judged, args)) != Written::All {
            break;
        }
        if let (Some(path), Judged::Report(_, Some(timeline))) = (&args.view, &judged) {
            if let Err(fault) = picture::write(path, timeline, args) {
                output::error(fault);
                return ExitCode::from(2);
            }
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    tally.exit_code()
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

/// The specification, if it can judge as the arguments want it to; or what to do.
pub(super) fn specification(args: &CheckArgs) -> Result<NamedSpec, String> {
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
    Ok(spec)
}

fn budget(args: &CheckArgs) -> Budget {
    let mut budget = Budget::unlimited().memory(args.memory);
    if let Some(timeout) = args.timeout {
        budget = budget.time(timeout);
    }
    if let Some(configurations) = args.configurations {
        budget = budget.configurations(configurations);
    }
    budget
}

pub(super) fn config(args: &CheckArgs) -> Config {
    let mut config = Config::new()
        .algorithm(args.algorithm.clone())
        .partition(!args.no_partition)
        .threads(usize::from(args.threads))
        .budget(budget(args));
    if let Some(rules) = args.rules {
        config = config.rules(rules);
    }
    if let Some(seed) = args.seed {
        config = config.seed(seed);
    }
    config
}

/// Something to judge, or why there is nothing.
pub(super) enum Input {
    Stdin,
    File(PathBuf),
    Fault(PathBuf, String),
}

impl Input {
    /// The name that reports and errors give it.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) | Self::Fault(path, _) => path.display().to_string(),
        }
    }
}

/// The inputs, with each directory replaced by the files below it, in the order of their names; and the files that were
/// passed over although their names allow histories.
pub(super) fn find_inputs(paths: &[PathBuf]) -> (Vec<Input>, Vec<PathBuf>) {
    let mut inputs = Vec::new();
    let mut passed_over = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            inputs.push(Input::Stdin);
        } else if path.is_dir() {
            let mut files = Vec::new();
            match find_files(path, &mut files, &mut passed_over) {
                Err((place, fault)) => {
                    let message = format!("cannot list the directory: {fault}; check its permissions");
                    inputs.push(Input::Fault(place, message));
                }
                Ok(()) if files.is_empty() => {
                    let message = "no *.jsonl, *.json or *.edn file, and no log, in this directory; name the files, or another directory";
                    inputs.push(Input::Fault(path.clone(), message.to_owned()));
                }
                Ok(()) => {
                    files.sort();
                    inputs.extend(files.into_iter().map(Input::File));
                }
            }
        } else {
            inputs.push(Input::File(path.clone()));
        }
    }
    passed_over.sort();
    (inputs, passed_over)
}

/// Adds the histories below `directory`. Links to directories are not followed: they may lead in circles.
fn find_files(
    directory: &Path,
    files: &mut Vec<PathBuf>,
    passed_over: &mut Vec<PathBuf>,
) -> Result<(), (PathBuf, io::Error)> {
    let fault = |error| (directory.to_owned(), error);
    let mut directories = Vec::new();
    for entry in fs::read_dir(directory).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let path = entry.path();
        if entry.file_type().map_err(fault)?.is_dir() {
            directories.push(path);
        } else if path.is_file() {
            match is_history(&path) {
                Some(true) => files.push(path),
                Some(false) => passed_over.push(path),
                None => {}
            }
        }
    }
    directories.iter().try_for_each(|directory| find_files(directory, files, passed_over))
}

/// Whether a file is a history; `None` if its name says that it is something else.
///
/// Logs and texts of all kinds lie beside histories: they must look like one.
fn is_history(path: &Path) -> Option<bool> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl" | "json" | "edn") => Some(true),
        Some("log" | "txt") => {
            let mut start = Vec::new();
            let looked = File::open(path).and_then(|file| file.take(CHUNK as u64).read_to_end(&mut start));
            // What cannot be read is to be complained about.
            Some(looked.is_err() || codec::detect(&start).is_some())
        }
        _ => None,
    }
}

/// What became of an input.
pub(super) enum Judged {
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

pub(super) fn judge(input: Input, spec: &NamedSpec, config: &Config, args: &CheckArgs, wanted: Wanted) -> Judged {
    let file = input.name();
    let unreadable = |line, message: String| Judged::Unreadable { file: file.clone(), line, message };
    let history = match input {
        Input::Fault(_, message) => return unreadable(None, message),
        Input::Stdin => read(io::stdin().lock(), args),
        Input::File(path) => match File::open(path) {
            Ok(content) => read(BufReader::with_capacity(CHUNK, content), args),
            Err(fault) => return unreadable(None, format!("cannot open: {fault}; check the path")),
        },
    };
    let history = match history {
        Ok(history) => history,
        Err(fault) => return unreadable(fault.line(), fault.message().to_owned()),
    };
    let stuck = (args.criterion == Criterion::Progress).then(|| history.clone());
    let judged = match &args.factor {
        None => spec.judge(history, config),
        Some(factors) => match spec.judge_quasi(history, factors, config) {
            Some(judged) => judged,
            None => return unreadable(None, "such objects have no factors; leave --factor out".to_owned()),
        },
    };
    match judged {
        Err(fault) => unreadable(fault.line(), fault.message().to_owned()),
        Ok(judged) => {
            let counts = (judged.operations(), judged.pending());
            let mut report = Report::new(file, spec.name(), counts, judged.judgement(), || judged.history());
            let mut progress = None;
            if let (Some(stuck), Finding::Accepted) = (stuck, &report.finding) {
                if let Some(Ok(verdict)) = spec.progress(&stuck, &budget(args)) {
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
            let timeline =
                is_drawn.then(|| picture::timeline(spec, &judged, &report, core.as_ref(), progress.as_ref(), wanted));
            Judged::Report(Box::new(report), timeline.map(Box::new))
        }
    }
}

fn read(input: impl io::BufRead, args: &CheckArgs) -> Result<RawHistory, CodecError> {
    let history = codec::read_skewed(input, args.format.into(), args.clock_skew)?;
    match args.tuples() {
        Some(tuples) => tuples.take_apart(history),
        None => Ok(history),
    }
}

pub(super) fn print(judged: &Judged, args: &CheckArgs) -> Written {
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
