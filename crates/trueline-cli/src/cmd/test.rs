//! `trueline test`: runs a built-in object, and judges its histories.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value, json};
use trueline::history::RawHistory;
use trueline::history::codec::jsonl;
use trueline::test::{Exploration, Failure, FailureKind, Outcome, Plan};
use trueline::view::file;
use trueline_objects::catalog::{self, ENTRIES, Entry, Settings, Verdict};

use super::explore;
use crate::args::{Criterion, Engine, TestArgs, Weights};
use crate::cancel;
use crate::output::{self, Written};
use crate::progress::{self, LONG};

/// The default time limit for all runs of a test. Faulty objects are usually detected much earlier.
const TIME: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &TestArgs) -> ExitCode {
    let Some(name) = &args.name else { return list(args) };
    let prepared = catalog::find(name)
        .map_err(|fault| format!("{fault} (`trueline test --list` lists them)"))
        .and_then(|entry| Ok((entry, plan(entry, args)?)));
    let (entry, plan) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    let progress = Progress::new(args);
    let token = cancel::on_interrupt();
    let mut plan = plan.watch(progress.watch()).cancelled_by(token.clone());
    let saved = args.save.as_ref().map(|folder| Arc::new(Saved::new(folder)));
    if let Some(saved) = &saved {
        let saved = Arc::clone(saved);
        plan = plan.keep(move |history, accepted| saved.keep(history, accepted));
    }
    let outcome = cancel::while_busy(|| plan.run());
    progress.bar.finish_and_clear();
    if let Some(warning) = outcome.warning {
        output::note(format_args!("{warning}; `instant` is used instead"));
    }
    let finding = Finding::of(&outcome, token.is_cancelled());
    let written = output::stdout(|out| match args.json {
        true => output::json(out, &to_json(entry, &outcome, finding, token.is_cancelled(), args)),
        false => text(out, entry, &outcome, finding, token.is_cancelled(), args),
    });
    if let Some(fault) = saved.and_then(|saved| saved.fault()) {
        output::error(fault);
        return ExitCode::from(2);
    }
    if finding == Finding::Accepted && !entry.is_correct() {
        let fault = entry.fault.unwrap_or_default();
        output::note(format_args!("{} is faulty ({fault}), but no run showed the fault: make more runs", entry.name));
    }
    if written == Written::Failed { ExitCode::from(2) } else { finding.exit_code() }
}

fn plan(entry: &Entry, args: &TestArgs) -> Result<Plan, String> {
    let replayed = args.replay.as_ref().map(|token| token.shape.threads);
    let settings = Settings {
        keys: args.keys,
        values: args.values,
        threads: args.threads.max(replayed),
        factor: None,
        progress: args.criterion == Criterion::Progress,
    };
    if settings.progress && entry.family != "sync" {
        return Err(format!(
            "--criterion progress is for objects whose operations synchronize, but those of {} do not; leave --criterion out",
            entry.name
        ));
    }
    if args.save.is_some() && args.engine == Engine::Systematic {
        return Err("--save is for runs on real threads; leave out --engine systematic".to_owned());
    }
    if args.criterion == Criterion::Quasi {
        return Err("--criterion quasi is for `trueline check`; `--list` shows the criterion of each object".to_owned());
    }
    let mut plan = entry
        .plan(&settings)
        .noise(args.noise)
        .watchdog(args.watchdog)
        .without_helpers()
        .timeout(args.timeout)
        .shrink_for(args.shrink_time)
        .shrink_by_exploring()
        .collect(args.collect as usize)
        .algorithm(args.algorithm.clone())
        .partition(!args.no_partition)
        .testers(args.testers.min(u32::try_from(args.runs.unwrap_or(u64::MAX)).unwrap_or(u32::MAX)));
    if let Some(rules) = args.rules {
        plan = plan.rules(rules);
    }
    if let Some(configurations) = args.configurations {
        plan = plan.configurations(configurations);
    }
    if let Some(folder) = &args.pages {
        plan = plan.pages(folder);
    }
    if let Some(Weights(weights)) = &args.weights {
        plan = plan
            .weights(weights.iter().map(|(name, weight)| (name.as_str(), *weight)))
            .map_err(|fault| format!("these --weights cannot be used with {}: {fault}", entry.name))?;
    }
    if let Some(threads) = args.threads {
        plan = plan.threads(threads);
    }
    if let Some(operations) = args.ops {
        plan = plan.calls(operations);
    }
    if let Some(chaos) = args.chaos {
        plan = plan.chaos(chaos);
    }
    if let Some(seed) = args.seed {
        plan = plan.seed(seed);
    }
    if let Some(token) = &args.replay {
        plan = explore::readable(plan, token)?.replay(token.clone());
    }
    if let Some(program) = &args.program {
        plan = plan.only(program).map_err(|fault| format!("--program: {fault}"))?;
    }
    if args.engine == Engine::Systematic {
        plan = plan.explore(Exploration::new());
    }
    if let Some(runs) = args.runs {
        plan = plan.runs(runs);
    }
    if let Some(time) = args.time.or(if args.runs.is_none() { Some(TIME) } else { None }) {
        plan = plan.time(time);
    }
    if let Some(clock) = args.clock {
        clock.check().map_err(|fault| format!("--clock {clock} cannot be used here: {fault}"))?;
        plan = plan.clock(clock);
    }
    Ok(plan)
}

/// The folder to which the histories of accepted runs are written.
struct Saved {
    folder: PathBuf,
    /// The number of files that were written, and the first error, if any.
    state: Mutex<(u64, Option<String>)>,
}

impl Saved {
    fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, (u64, Option<String>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, history: &RawHistory, accepted: Option<bool>) {
        let mut state = self.state();
        if accepted != Some(true) || state.1.is_some() {
            return;
        }
        state.0 += 1;
        let path = self.folder.join(format!("run-{:06}.jsonl", state.0));
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| file::write_with(&path, |out| jsonl::write_operations(history, out)));
        if let Err(error) = written {
            state.1 = Some(format!("--save: {}: {error}", path.display()));
        }
    }

    fn fault(&self) -> Option<String> {
        self.state().1.clone()
    }
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Accepted,
    Rejected,
    Stuck,
    /// No run failed. However, the test was canceled, some runs were not judged, or too little was
    /// tested.
    Unknown,
}

impl Finding {
    pub(super) fn of(outcome: &Outcome, is_cancelled: bool) -> Self {
        match &outcome.failure {
            Some(Failure { kind: FailureKind::Stuck(_) | FailureKind::Diverged(_), .. }) => Self::Stuck,
            Some(_) => Self::Rejected,
            None if is_cancelled || outcome.undecided > 0 || !outcome.too_little.is_empty() => Self::Unknown,
            None => Self::Accepted,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Accepted => Verdict::Accepted.name(),
            Self::Rejected => Verdict::Rejected.name(),
            Self::Stuck => Verdict::Stuck.name(),
            Self::Unknown => "unknown",
        }
    }

    pub(super) fn exit_code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Accepted => 0,
            Self::Rejected | Self::Stuck => 1,
            Self::Unknown => 3,
        })
    }
}

fn to_json(entry: &Entry, outcome: &Outcome, finding: Finding, is_cancelled: bool, args: &TestArgs) -> Value {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let failure = outcome.failure.as_ref();
    let algorithm = failure.map(|failure| failure.algorithm.clone()).filter(|algorithm| !algorithm.is_empty());
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("name", json!(entry.name));
    put("verdict", json!(finding.name()));
    put("runs", json!(outcome.runs));
    put("operations", json!(outcome.operations));
    put("elapsed_ns", json!(nanoseconds(outcome.elapsed)));
    put("seed", json!(outcome.seed));
    put("algorithm", json!(algorithm.unwrap_or_else(|| args.algorithm.to_string())));
    if is_cancelled {
        put("reason", json!("cancelled"));
    }
    if outcome.undecided > 0 {
        put("undecided", json!(outcome.undecided));
    }
    if outcome.lost > 0 {
        put("lost", json!(outcome.lost));
    }
    add_tested(&mut put, outcome);
    if let Some(failure) = failure {
        put("found_ns", json!(nanoseconds(failure.after)));
        put("replay", json!(failure.token.to_string()));
        if let Some(steps) = &failure.saved_steps {
            put("steps", json!(steps.display().to_string()));
        }
        if let FailureKind::Panicked { message, .. } = &failure.kind {
            put("panic", json!(message));
        }
        if let Some(smallest) = &failure.smallest {
            explore::add_smallest(&mut put, smallest);
        }
        if let Some(saved) = &failure.saved {
            put("history", json!(saved.display().to_string()));
        }
    }
    if args.collect > 1 {
        let replays = failure.into_iter().chain(&outcome.further).map(|failure| {
            json!({"replay": failure.token.to_string(), "why": failure.kind.to_string(), "found_ns": nanoseconds(failure.after)})
        });
        put("failures", replays.collect());
    }
    if let Some(explored) = &outcome.explored {
        explore::add_to_json(&mut object, explored);
    }
    Value::Object(object)
}

fn text(
    out: &mut dyn Write,
    entry: &Entry,
    outcome: &Outcome,
    finding: Finding,
    is_cancelled: bool,
    args: &TestArgs,
) -> io::Result<()> {
    let Outcome { runs, operations, undecided, elapsed, seed, failure, .. } = outcome;
    if let Some(failure) = failure {
        write!(out, "{}", failure.report())?;
        writeln!(out, "  run it again: {}", again(entry, failure, args))?;
        if let Some(command) = explore::smallest_command(entry.name, failure, &options(args)) {
            writeln!(out, "  run the smallest program: {command}")?;
        }
        writeln!(out)?;
    }
    for failure in &outcome.further {
        writeln!(out, "also failed, after {:.1?}: {} {}", failure.after, entry.name, failure.kind)?;
        writeln!(out, "  run it again: {}\n", again(entry, failure, args))?;
    }
    let (name, verdict) = (entry.name, finding.name());
    let why = match failure.as_ref().map(|failure| &failure.kind) {
        Some(FailureKind::Panicked { .. }) => ", because no specification allows a panic",
        _ => "",
    };
    writeln!(out, "\x1b[1m{name}: {verdict}\x1b[0m{why}")?;
    writeln!(out, "  {runs} runs with {operations} operations in {elapsed:.1?}, seed {seed}")?;
    if is_cancelled {
        writeln!(out, "  the test was canceled before its time was up")?;
    }
    tested(out, outcome)?;
    if let Some(explored) = &outcome.explored {
        explore::describe(out, explored)?;
    }
    if *undecided > 0 {
        writeln!(
            out,
            "  {undecided} runs were not judged: make them smaller with --ops, give them more time with --timeout, or \
             use another --algorithm"
        )?;
    }
    Ok(())
}

/// Prints what was not tested, and other warnings.
pub(super) fn tested(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    outcome.too_little.iter().try_for_each(|reason| writeln!(out, "  too little was tested: {reason}"))?;
    outcome.warnings.iter().try_for_each(|warning| writeln!(out, "  {warning}"))
}

pub(super) fn add_tested(put: &mut dyn FnMut(&str, Value) -> Option<Value>, outcome: &Outcome) {
    if !outcome.too_little.is_empty() {
        put("too_little", outcome.too_little.iter().map(ToString::to_string).collect());
    }
    if !outcome.warnings.is_empty() {
        put("warnings", json!(outcome.warnings));
    }
}

/// Returns the command that repeats the failing run.
fn again(entry: &Entry, failure: &Failure, args: &TestArgs) -> String {
    let mut command = format!("trueline test {} --replay {}{}", entry.name, failure.token, options(args));
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            command.push_str(&format!(" --{name} {value}"));
        }
    };
    option(
        "weights",
        args.weights.as_ref().map(|Weights(weights)| {
            weights.iter().map(|(name, weight)| format!("{name}={weight}")).collect::<Vec<_>>().join(",")
        }),
    );
    option("engine", (args.engine == Engine::Systematic).then(|| "systematic".to_owned()));
    option("clock", args.clock.map(|clock| clock.to_string()));
    command
}

/// Returns the options that a repeated run needs, such as ` --keys 3`.
fn options(args: &TestArgs) -> String {
    let mut options = String::new();
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            options.push_str(&format!(" --{name} {value}"));
        }
    };
    option("keys", args.keys.map(|keys| keys.to_string()));
    option("values", args.values.map(|values| values.to_string()));
    option("rules", args.rules.map(|rules| rules.to_string()));
    option("configurations", args.configurations.map(|configurations| configurations.to_string()));
    option("criterion", (args.criterion == Criterion::Progress).then(|| "progress".to_owned()));
    if args.no_partition {
        options.push_str(" --no-partition");
    }
    options
}

fn list(args: &TestArgs) -> ExitCode {
    let width = ENTRIES.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let written = output::stdout(|out| {
        for entry in ENTRIES {
            let Entry { name, family, spec, criterion, fault, paper, expected, .. } = entry;
            let first = expected.first().map_or("", |verdict| verdict.name());
            if args.json {
                let mut object = json!({
                    "name": name,
                    "family": family,
                    "spec": spec,
                    "criterion": criterion,
                    "expected": first,
                    "paper": paper,
                });
                if let Some(fault) = fault {
                    object["fault"] = json!(fault);
                }
                if let Some(other) = expected.get(1) {
                    object["or"] = json!(other.name());
                }
                writeln!(out, "{object}")?;
            } else {
                let expected: Vec<&str> = expected.iter().map(|verdict| verdict.name()).collect();
                let expected = expected.join(" or ");
                let rest = format!("{spec:<15}  {expected:<17}  {}", fault.unwrap_or_default());
                writeln!(out, "\x1b[1m{name:<width$}\x1b[0m  {}", rest.trim_end())?;
            }
        }
        Ok(())
    });
    if written == Written::Failed { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

/// The progress of a test. It is shown on stderr, if stderr is a terminal and the test takes longer
/// than [`LONG`].
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new(args: &TestArgs) -> Self {
        let bar = match args.runs {
            Some(runs) => ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::hidden()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        let template = if args.runs.is_some() { "{bar:30} {pos}/{len} runs {elapsed}" } else { "{pos} runs {elapsed}" };
        let style = ProgressStyle::with_template(template);
        Self { bar: bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())) }
    }

    /// Returns a function that shows the number of runs so far.
    fn watch(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let (bar, started, somebody_looks) = (self.bar.clone(), Instant::now(), progress::is_seen());
        let is_shown = std::sync::Once::new();
        move |runs| {
            if somebody_looks && started.elapsed() > LONG {
                is_shown.call_once(|| bar.set_draw_target(ProgressDrawTarget::stderr()));
                bar.set_position(runs);
            }
        }
    }
}
