//! `trueline explore`: explores all schedules of small programs of a built-in object.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::{Arc, Once};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Map, Value, json};
use trueline::drive::systematic::Progress;
use trueline::registry::{self, QuasiFactors};
use trueline::test::{
    Against, Calls, Exploration, Explored, Failure, FailureKind, Outcome, Plan, Smallest, Source, Token,
};
use trueline_objects::catalog::{self, Entry, Settings};

use super::in_order;
use super::test::{self, Finding};
use crate::args::{Choices, Criterion, ExploreArgs};
use crate::cancel;
use crate::output::{self, Written};
use crate::progress::{self, LONG};

pub(crate) fn run(args: &ExploreArgs) -> ExitCode {
    let prepared = find(&args.name)
        .map_err(|fault| format!("{fault} (`trueline test --list` lists them)"))
        .and_then(|(entry, factor)| Ok((entry, plan(entry, factor, args)?)));
    let (entry, plan) = match prepared {
        Ok(prepared) => prepared,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
    let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    let token = cancel::on_interrupt();
    let plan = plan.watch_exploration(watch(bar.clone())).cancelled_by(token.clone());
    let outcome = cancel::while_busy(|| plan.run());
    bar.finish_and_clear();
    let explored = outcome.explored.clone().unwrap_or_default();
    if explored.is_misfit && args.replay.is_some() {
        output::error(format!(
            "--replay: the token is not a schedule of {}; give the same options as in the exploration that printed it",
            args.name
        ));
        return ExitCode::from(2);
    }
    let finding = match Finding::of(&outcome, token.is_cancelled()) {
        Finding::Accepted if !explored.is_complete && args.replay.is_none() => Finding::Unknown,
        finding => finding,
    };
    let written = output::stdout(|out| match args.json {
        true => output::json(out, &to_json(entry, &outcome, finding, token.is_cancelled())),
        false => text(out, entry, &outcome, finding, token.is_cancelled(), args),
    });
    if written == Written::Failed { ExitCode::from(2) } else { finding.exit_code() }
}

/// Returns the object with this name. If the name ends with a colon and a factor, also returns the
/// factor.
fn find(name: &str) -> Result<(&'static Entry, Option<usize>), String> {
    let Some((object, factor)) = name.split_once(':') else { return Ok((catalog::find(name)?, None)) };
    let entry = catalog::find(object)?;
    if !entry.has_factor() {
        return Err(format!("{object} takes no factor; leave `:{factor}` out"));
    }
    let factor = factor.parse().ok().filter(|factor| *factor <= MOST_FACTOR);
    let factor = factor.ok_or_else(|| format!("{name}: write a factor of at most {MOST_FACTOR} after the colon"))?;
    Ok((entry, Some(factor)))
}

/// The largest factor with which an object can be created.
const MOST_FACTOR: usize = 1000;

fn settings(args: &ExploreArgs, factor: Option<usize>) -> Settings {
    Settings {
        keys: args.keys,
        values: args.values,
        threads: args.threads.max(args.replay.as_ref().map(|token| token.shape.threads)),
        factor,
        progress: args.criterion == Criterion::Progress,
    }
}

/// Returns, for each operation name of the plan, the number of places by which operations may be
/// out of order. Returns nothing if quasi linearizability is not requested.
fn factors(entry: &Entry, plan: &Plan, args: &ExploreArgs) -> Result<Vec<(String, u32)>, String> {
    let (family, own) = entry.spec.split_once(':').unwrap_or((entry.spec, ""));
    let factors = match (&args.factor, args.k) {
        (Some(factors), _) => factors.clone(),
        (None, Some(k)) => QuasiFactors::Whole(k),
        (None, None) if args.criterion == Criterion::Quasi => QuasiFactors::Whole(own.parse().map_err(|_| {
            format!("--criterion quasi needs factors for {}, which has none of its own; write --factor 2", entry.name)
        })?),
        (None, None) => return Ok(Vec::new()),
    };
    let named = match factors {
        QuasiFactors::Whole(factor) => {
            return Ok(plan.operation_names().into_iter().map(|name| (name.to_owned(), factor)).collect());
        }
        QuasiFactors::ByOperation(named) => named,
    };
    let spec = registry::spec(in_order(family), registry::Options::new()).map_err(|fault| fault.to_string())?;
    named
        .into_iter()
        .map(|(name, factor)| {
            let operation = spec.info().operation(&name).map(|operation| operation.name);
            let known = operation.filter(|operation| plan.operation_names().contains(operation));
            let known = known.ok_or_else(|| {
                format!(
                    "--factor: {} has no operation {name:?}, only {}",
                    entry.name,
                    plan.operation_names().join(", ")
                )
            })?;
            Ok((known.to_owned(), factor))
        })
        .collect()
}

fn plan(entry: &Entry, factor: Option<usize>, args: &ExploreArgs) -> Result<Plan, String> {
    let settings = settings(args, factor);
    if settings.progress && entry.criterion != "synchronisation" {
        return Err(format!(
            "--criterion progress is for objects whose operations synchronize, but those of {} do not; leave --criterion out",
            entry.name
        ));
    }
    let mut exploration = Exploration::new().spurious(args.spurious).most_steps(args.steps).os_threads(args.threads_os);
    if let Some(programs) = args.programs {
        exploration = exploration.programs(programs);
    }
    if let (Some(_), Some(program)) = (&args.calls, &args.program) {
        let number = program.parse().map_err(|_| {
            format!("--program {program}: with --calls, --program must be the number of one of the generated programs")
        })?;
        exploration = exploration.number(number);
    }
    if let Some(most) = args.preemptions {
        exploration = exploration.preemptions(most);
    }
    if let Some(search) = &args.search {
        exploration = exploration.search(search.clone());
    }
    if let Choices::Seed(seed) = args.choices {
        exploration = exploration.choices(seed);
    }
    let factors = factors(entry, &entry.plan(&settings), args)?;
    let is_quasi = !factors.is_empty();
    // Quasi linearizability can be judged only for programs that remove as many values as they
    // insert. Programs that are generated from numbers of calls always have this property.
    let quasi_calls = || Some(Calls { children: vec![2, 2], main: 4 }).filter(|_| is_quasi && args.program.is_none());
    let calls = args.calls.clone().or_else(quasi_calls);
    if let Some(calls) = calls.clone() {
        exploration = exploration.calls(calls);
    }
    exploration = factors.iter().fold(exploration, |all, (name, factor)| all.factor(name, *factor));
    exploration = match args.against.as_str() {
        "spec" => exploration,
        "itself" => exploration.against(Against::Itself),
        "itself:0" => {
            let strict = entry.plan(&Settings { factor: Some(0), ..settings });
            exploration.against(Against::Other(Arc::new(strict)))
        }
        name => {
            let (other, factor) = find(name).map_err(|fault| format!("--against: {fault}"))?;
            let (mine, others) = (entry.plan(&settings), other.plan(&Settings { factor, ..settings }));
            if mine.operation_names() != others.operation_names() {
                return Err(format!(
                    "--against: the operations of {name} differ from those of {}; name an object with the same \
                     operations",
                    entry.name
                ));
            }
            exploration.against(Against::Other(Arc::new(others)))
        }
    };
    let mut plan = entry.plan(&settings).seed(args.seed).collect(args.collect as usize).time(args.time).chaos(0);
    plan = plan.shrink_for(args.shrink_time);
    if let Some(folder) = &args.pages {
        plan = plan.pages(folder);
    }
    if args.against != "spec" || is_quasi {
        if matches!(entry.criterion, "synchronisation" | "interval") {
            return Err(format!(
                "operations of {} synchronize, so they cannot run one at a time, which serial runs require; leave --against, \
                 --factor and --k out",
                entry.name
            ));
        }
        let is_chosen = match &args.replay {
            Some(token) => matches!(token.program, Source::Chosen(_)),
            None => plan.threads_choose() && calls.is_none() && args.program.is_none(),
        };
        if is_chosen {
            return Err(format!(
                "threads of {} choose their operations while they run, so a serial run may call different ones; use --calls to say which operations are called",
                entry.name
            ));
        }
    } else if args.calls.is_some() && plan.threads_choose() {
        return Err(format!(
            "--calls can be used with {} only together with --against or --factor, because its threads choose their operations while they run; use --threads and --ops, or --program, instead",
            entry.name
        ));
    }
    if is_quasi {
        let (family, _) = entry.spec.split_once(':').unwrap_or((entry.spec, ""));
        let what = if args.k.is_some() { "--k" } else { "--factor" };
        plan = plan
            .judged_by(in_order(family))
            .map_err(|fault| format!("{what} cannot be used with {}: {fault}", entry.name))?;
    }
    if let Some(threads) = args.threads {
        plan = plan.threads(threads);
    }
    if let Some(operations) = args.ops {
        plan = plan.calls(operations);
    }
    if let Some(most) = args.executions {
        plan = plan.runs(most);
    }
    if let (None, Some(program)) = (&args.calls, &args.program) {
        plan = plan.only(program).map_err(|fault| format!("--program: {fault}"))?;
        if is_quasi {
            plan.is_well_formed(program).map_err(|fault| format!("--program: {fault}"))?;
        }
    }
    if let Some(token) = &args.replay {
        plan = readable(plan, token)?;
        if token.scheduled.is_none() {
            return Err(format!(
                "{token} names a run, not a schedule; use `trueline test --replay` to repeat that run"
            ));
        }
        plan = plan.replay(token.clone());
    }
    Ok(plan.explore(exploration))
}

/// Returns the plan, or an error if it cannot run the program of the token.
pub(super) fn readable(plan: Plan, token: &Token) -> Result<Plan, String> {
    match &token.program {
        Source::Given(program) => {
            plan.clone().only(program).map(|_| plan).map_err(|fault| format!("--replay: {fault}"))
        }
        _ => Ok(plan),
    }
}

/// Shows the progress on stderr, if stderr is a terminal and the exploration takes longer than
/// [`LONG`].
fn watch(bar: ProgressBar) -> impl Fn(Progress) + Send + Sync + 'static {
    let (is_shown, somebody_looks) = (Once::new(), progress::is_seen());
    move |progress| {
        if somebody_looks && progress.elapsed > LONG {
            is_shown.call_once(|| bar.set_draw_target(ProgressDrawTarget::stderr()));
            let rate = progress.executions as f64 / progress.elapsed.as_secs_f64();
            let Progress { executions, histories, .. } = progress;
            bar.set_message(format!("{executions} executions, {histories} histories, {rate:.0} per second"));
            bar.tick();
        }
    }
}

/// Adds the smallest failing program, and facts about it, to a JSON object.
pub(super) fn add_smallest(put: &mut dyn FnMut(&str, Value) -> Option<Value>, smallest: &Smallest) {
    put("program", json!(smallest.program));
    put("calls", json!(smallest.calls));
    put("of_calls", json!(smallest.of_calls));
    put("first_replay", json!(smallest.first.to_string()));
    match smallest.is_minimal {
        true => put("minimal", json!(true)),
        false => put("failed", json!([smallest.failed, smallest.runs])),
    };
}

/// Returns the command that runs the smallest failing program. The command uses the same kind of
/// search that found the program. `rest` contains further options.
pub(super) fn smallest_command(name: &str, failure: &Failure, rest: &str) -> Option<String> {
    let smallest = failure.smallest.as_ref()?;
    // Within single quotes, a shell treats only the single quote specially.
    let program = smallest.program.replace('\'', r"'\''");
    let (command, how) = match (&failure.token.scheduled, smallest.preemptions) {
        (Some(_), Some(most)) => ("explore", format!(" --preemptions {most}")),
        (Some(_), None) if smallest.by_chance => ("explore", " --search pct:3".to_owned()),
        (Some(_), None) => ("explore", String::new()),
        (None, _) => ("test", format!(" --chaos {} --runs {}", smallest.chaos, smallest.enough_runs())),
    };
    Some(format!("trueline {command} {name} --program '{program}'{how}{rest}"))
}

/// Adds to a JSON object how many programs, executions and histories were explored.
pub(super) fn add_to_json(object: &mut Map<String, Value>, explored: &Explored) {
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("programs", json!(explored.programs));
    put("executions", json!(explored.executions));
    put("redundant", json!(explored.redundant));
    put("histories", json!(explored.histories));
    put("preemptions", json!(explored.preemptions.filter(|most| *most < u32::MAX)));
    put("complete", json!(explored.is_complete));
    if let Some(serial) = explored.serial {
        put("serial", json!(serial));
    }
    if let Some(semantics) = &explored.semantics {
        put("semantics", json!(semantics));
    }
}

fn to_json(entry: &Entry, outcome: &Outcome, finding: Finding, is_cancelled: bool) -> Value {
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let failure = outcome.failure.as_ref();
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| object.insert(name.to_owned(), value);
    put("name", json!(entry.name));
    put("verdict", json!(finding.name()));
    put("runs", json!(outcome.runs));
    put("operations", json!(outcome.operations));
    put("elapsed_ns", json!(nanoseconds(outcome.elapsed)));
    put("seed", json!(outcome.seed));
    let algorithm = failure.map(|failure| failure.algorithm.as_str()).filter(|algorithm| !algorithm.is_empty());
    put("algorithm", json!(algorithm.unwrap_or("auto")));
    if is_cancelled {
        put("reason", json!("cancelled"));
    }
    if outcome.undecided > 0 {
        put("undecided", json!(outcome.undecided));
    }
    test::add_tested(&mut put, outcome);
    if let Some(failure) = failure {
        put("why", json!(failure.kind.to_string()));
        put("found_ns", json!(nanoseconds(failure.after)));
        put("replay", json!(failure.token.to_string()));
        if let FailureKind::Panicked { message, .. } = &failure.kind {
            put("panic", json!(message));
        }
        if let Some(smallest) = &failure.smallest {
            add_smallest(&mut put, smallest);
        }
        if let Some(saved) = &failure.saved {
            put("history", json!(saved.display().to_string()));
        }
        if let Some(saved) = &failure.saved_steps {
            put("steps", json!(saved.display().to_string()));
        }
    }
    if let Some(explored) = &outcome.explored {
        add_to_json(&mut object, explored);
    }
    Value::Object(object)
}

fn text(
    out: &mut dyn Write,
    entry: &Entry,
    outcome: &Outcome,
    finding: Finding,
    is_cancelled: bool,
    args: &ExploreArgs,
) -> io::Result<()> {
    if let Some(failure) = &outcome.failure {
        write!(out, "{}", failure.report())?;
        writeln!(out, "  run it again: {}", again(failure, args))?;
        if let Some(command) = smallest_command(&args.name, failure, &options(args)) {
            writeln!(out, "  run the smallest program: {command}")?;
        }
        writeln!(out)?;
    }
    for failure in &outcome.further {
        writeln!(out, "also failed, after {:.1?}: {} {}", failure.after, entry.name, failure.kind)?;
        writeln!(out, "  run it again: {}\n", again(failure, args))?;
    }
    writeln!(out, "\x1b[1m{}: {}\x1b[0m", entry.name, finding.name())?;
    let Outcome { undecided, elapsed, explored, .. } = outcome;
    if let Some(explored) = explored {
        describe(out, explored)?;
    }
    writeln!(out, "  in {elapsed:.1?}")?;
    test::tested(out, outcome)?;
    if *undecided > 0 {
        writeln!(out, "  {undecided} histories were not judged: make programs smaller, with fewer --calls or --ops")?;
    }
    if is_cancelled {
        writeln!(out, "  the exploration was canceled before it was complete")?;
    } else if finding == Finding::Unknown {
        writeln!(
            out,
            "  not everything was explored: give it more --time, fewer --calls, or a bound on --preemptions"
        )?;
    }
    Ok(())
}

/// Prints how much was explored.
pub(super) fn describe(out: &mut dyn Write, explored: &Explored) -> io::Result<()> {
    let Explored { programs, executions, redundant, histories, serial, semantics, preemptions, is_complete, .. } =
        explored;
    writeln!(
        out,
        "  {executions} executions ({redundant} of them cut off as redundant) of {programs} programs; {histories} histories"
    )?;
    if let Some(serial) = serial {
        writeln!(out, "  compared with {serial} serial histories")?;
    }
    if let Some(semantics) = semantics {
        writeln!(out, "  judged as: {semantics}")?;
    }
    match (is_complete, preemptions) {
        (_, Some(most)) if *most < u32::MAX => {
            let plural = if *most == 1 { "" } else { "s" };
            writeln!(out, "  all schedules with up to {most} preemption{plural} were explored")
        }
        (true, _) => writeln!(out, "  all schedules were explored"),
        _ => Ok(()),
    }
}

/// Returns the command that repeats the failing execution.
fn again(failure: &Failure, args: &ExploreArgs) -> String {
    format!("trueline explore {} --replay {}{}", args.name, failure.token, options(args))
}

/// Returns the options that a repeated run needs, such as ` --keys 3`.
fn options(args: &ExploreArgs) -> String {
    let mut options = String::new();
    let mut option = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            options.push_str(&format!(" --{name} {value}"));
        }
    };
    option("keys", args.keys.map(|keys| keys.to_string()));
    option("values", args.values.map(|values| values.to_string()));
    option("k", args.k.map(|k| k.to_string()));
    option("factor", args.factor.as_ref().map(ToString::to_string));
    option("against", (args.against != "spec").then(|| args.against.clone()));
    let criterion = match args.criterion {
        Criterion::Safety => None,
        Criterion::Progress => Some("progress".to_owned()),
        Criterion::Quasi => Some("quasi".to_owned()),
    };
    option("criterion", criterion);
    options
}
