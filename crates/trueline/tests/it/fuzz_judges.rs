//! Fuzzes everything after the readers: valid random histories of every named specification are judged by a random
//! algorithm, and processed by a random command. No step may panic or take long.
//!
//! `TRUELINE_SOAK=200000 cargo test --release -p trueline --test it fuzz_judges::soak -- --ignored` judges this many
//! histories; `TRUELINE_SEED` sets the first seed.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests print what they did")]

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use trueline::drive::Random;
use trueline::history::{Builder, History, Interval, ProcessId, RawHistory, Record, Value, from_intervals};
use trueline::judge::shrink::Limits;
use trueline::judge::{ALGORITHMS, Algorithm, Budget, Config};
use trueline::registry::{self, NamedSpec, Options, SPECS};
use trueline::verdict::ProgressVerdict;
use trueline::view::timeline::Label;
use trueline::view::{Report, Timeline, columns, html, json, prose, svg, terminal, text};

use crate::ran::ran;

/// In a soak test, a judgment that takes longer counts as endless.
const ENDLESS: Duration = Duration::from_secs(120);
/// The maximum processor time of a judgment and a command, although each is limited to 20 ms. Explanations are limited
/// by their number of configurations instead, which may take a second.
const SLOW: Duration = Duration::from_secs(4);

/// A specification, and the arguments that its operations accept.
struct Subject {
    spec: NamedSpec,
    /// For each operation, its name, and values with which it can be called.
    calls: Vec<(&'static str, Vec<Value>)>,
}

fn list(values: impl IntoIterator<Item = Value>) -> Value {
    values.into_iter().collect()
}

/// Returns values of all kinds that occur in files.
fn values() -> Vec<Value> {
    let int = Value::Int;
    let text = |text: &str| Value::from(text);
    let access = |f: &str, key: &str, value: Value| list([text(f), text(key), value]);
    vec![
        Value::Null,
        int(0),
        int(1),
        int(2),
        int(3),
        int(-1),
        int(i64::MAX),
        int(i64::MIN),
        Value::Bool(true),
        Value::Bool(false),
        text(""),
        text("a"),
        text("b"),
        text("even"),
        text("odd"),
        list([]),
        list([int(1)]),
        list([int(1), int(2)]),
        list([int(0), int(1)]),
        list([int(1), int(0)]),
        list([text("a"), int(1)]),
        list([text("a"), text("b ")]),
        list([int(1), int(2), int(3)]),
        list([text("a"), int(1), int(2)]),
        list([access("r", "x", Value::Null), access("w", "y", int(1))]),
        list([access("w", "x", int(1))]),
        list([access("r", "x", int(1)), access("r", "y", Value::Null)]),
        list([int(i64::MAX), int(i64::MAX)]),
    ]
}

fn record(f: &str, value: Value) -> Record {
    Record { f: f.into(), key: None, value }
}

fn subjects() -> Vec<Subject> {
    let values = values();
    let mut subjects = Vec::new();
    for info in SPECS {
        let parameters: &[&str] = match info.parameter {
            "" => &[""],
            "[:init]" => &["", ":1", ":null", ":\"a\"", ":-9223372036854775808"],
            "[:owned]" => &["", ":owned"],
            ":N" => &[":1", ":2", ":3", ":18446744073709551615", ":4294967296", ":0"],
            ":K" => &[":0", ":1", ":2", ":1000000", ":4294967295"],
            ":K[:empty]" => &[":0", ":1", ":2", ":2:empty", ":1000000:empty"],
            other => panic!("{}: `{other}` has no parameters here", info.name),
        };
        let known = subjects.len();
        for parameter in parameters {
            // Some specifications do not accept some of these parameters.
            let Ok(spec) = registry::spec(&format!("{}{parameter}", info.name), Options::new()) else { continue };
            let takes = |f: &str, value: &Value| {
                let mut builder = History::builder();
                builder.call(0, record(f, value.clone())).expect("the first call");
                spec.faults(&builder.finish()).is_empty()
            };
            let calls = info.operations.iter().map(|operation| {
                let taken = values.iter().filter(|value| takes(operation.name, value)).cloned();
                (operation.name, taken.collect::<Vec<_>>())
            });
            let calls: Vec<_> = calls.collect();
            assert!(calls.iter().all(|(_, values)| !values.is_empty()), "{}: {calls:?}", info.name);
            subjects.push(Subject { spec, calls });
        }
        assert!(subjects.len() > known, "{} has no parameter here", info.name);
    }
    subjects
}

/// A process of a history.
struct Process {
    number: u32,
    open: Option<(Record, Option<Value>)>,
}

/// Generates a history of at most `most` operations, mostly as the object would produce it.
fn history(subject: &Subject, random: &mut Random, most: u32) -> RawHistory {
    let spec = &subject.spec;
    let numbers = [0, 1, 2, 3, 7, 1 << 30, (1 << 31) - 1, 1 << 31, u32::MAX - 1, u32::MAX];
    let count = 1 + random.below(6) as usize;
    let first = random.below(6) as usize;
    let mut processes: Vec<Process> =
        (0..count).map(|place| Process { number: numbers[(first + place) % numbers.len()], open: None }).collect();
    let mut builder: Builder<Record, Value> = History::builder();
    let objects: Vec<_> =
        (0..if random.chance(1, 6) { 2 } else { 0 }).map(|name| builder.object(&format!("o{name}"))).collect();
    let mut object = if objects.is_empty() { spec.object() } else { None };
    let all = values();
    let (mut called, keeps_pending) = (0, random.chance(1, 3));
    let spoils = if random.chance(1, 2) { 8 } else { 0 };
    while called < most {
        let place = random.below(u32::try_from(count).expect("few")) as usize;
        let process = &mut processes[place];
        let Some((open, result)) = process.open.clone() else {
            let (f, arguments) = random.pick(&subject.calls);
            let call = record(f, random.pick(arguments).clone());
            let added = match objects.is_empty() {
                true => builder.call(process.number, call.clone()),
                false => builder.call_on(*random.pick(&objects), process.number, call.clone()),
            };
            added.expect("the process has no open call");
            process.open = Some((call, None));
            called += 1;
            continue;
        };
        if keeps_pending && random.chance(1, 8) {
            // The process calls again, although its operation never returned.
            builder.info(process.number).expect("the process has an open call");
            process.open = None;
            continue;
        }
        if random.chance(1, 40) {
            builder.fail(process.number).expect("the process has an open call");
            process.open = None;
            continue;
        }
        let mut result = result;
        if result.is_none() {
            if let Some(object) = &mut object {
                take_effect(object, &mut processes, random);
                result = processes[place].open.as_ref().and_then(|(_, result)| result.clone());
                if result.is_none() && random.chance(4, 5) {
                    continue;
                }
            }
        }
        let process = &mut processes[place];
        let is_spoilt = spoils > 0 && random.chance(1, spoils);
        let result = match result.filter(|_| !is_spoilt) {
            Some(result) => result,
            None => {
                let can_return = |value: &&Value| can_return(spec, process.number, &open, value);
                let possible: Vec<&Value> = all.iter().filter(can_return).collect();
                if possible.is_empty() {
                    builder.info(process.number).expect("the process has an open call");
                    process.open = None;
                    continue;
                }
                (*random.pick(&possible)).clone()
            }
        };
        builder.ret(process.number, result).expect("the process has an open call");
        process.open = None;
    }
    let history = builder.finish();
    if random.chance(1, 3) && objects.is_empty() { with_equal_times(&history, random) } else { history }
}

/// Lets open operations take effect.
fn take_effect(object: &mut registry::NamedObject<'_>, processes: &mut [Process], random: &mut Random) {
    let places: Vec<usize> = (0..processes.len())
        .filter(|place| processes[*place].open.as_ref().is_some_and(|(_, result)| result.is_none()))
        .collect();
    let open: Vec<(ProcessId, &Record)> = places
        .iter()
        .filter_map(|place| Some((ProcessId(processes[*place].number), &processes[*place].open.as_ref()?.0)))
        .collect();
    let choose = &mut |bound: usize| random.below(u32::try_from(bound).unwrap_or(u32::MAX).max(1)) as usize;
    let effects = object.step(&open, choose).expect("the calls can be read");
    for (place, result) in effects {
        if let Some((_, open)) = &mut processes[places[place]].open {
            *open = Some(result);
        }
    }
}

fn can_return(spec: &NamedSpec, process: u32, call: &Record, value: &Value) -> bool {
    let mut builder = History::builder();
    builder.call(process, call.clone()).expect("the first call");
    builder.ret(process, value.clone()).expect("the operation was called");
    spec.faults(&builder.finish()).is_empty()
}

/// Returns the same operations with coarse times; the unchanged history, if operations of a process would overlap.
fn with_equal_times(history: &RawHistory, random: &mut Random) -> RawHistory {
    let unit = 1 + i64::from(random.below(4));
    let intervals = history.operations().iter().map(|operation| {
        let (process, call) = (operation.process, i64::from(operation.call_position()) / unit);
        match (operation.return_position(), operation.outcome.result()) {
            (Some(ret), Some(result)) => {
                Interval::returned(process, operation.op.clone(), call, i64::from(ret) / unit, result.clone())
            }
            _ => Interval::pending(process, operation.op.clone(), call),
        }
    });
    from_intervals(intervals).unwrap_or_else(|_| history.clone())
}

fn algorithm(random: &mut Random) -> Algorithm {
    let mut one = || random.pick(ALGORITHMS).0.clone();
    let (first, second, third) = (one(), one(), one());
    if random.chance(1, 8) { Algorithm::Compete(vec![first, second, third]) } else { first }
}

/// Judges the history of a seed, and processes the verdict. Returns a description of the processing.
fn one(subjects: &[Subject], seed: u64) -> &'static str {
    let random = &mut Random::new(seed);
    let subject = random.pick(subjects);
    let spec = &subject.spec;
    let most = if random.chance(1, 12) { 40 } else { 1 + random.below(10) };
    let history = history(subject, random, most);
    let faults = spec.faults(&history);
    if faults.iter().any(|fault| fault.message().contains("may exceed 64 bits")) {
        return "a counter that may exceed 64 bits";
    }
    assert_eq!(faults, [], "the history is valid");
    let time = Duration::from_millis(20);
    let mut budget = Budget::unlimited().time(time).memory(8 << 20);
    if random.chance(1, 3) {
        budget = budget.configurations(u64::from(random.below(200)));
    }
    let config = Config::new().algorithm(algorithm(random)).partition(random.chance(3, 4)).budget(budget.clone());
    let limits = Limits::new().time(time).memory(8 << 20);
    let command = random.below(12);
    let judged = if command == 0 {
        let names = spec.info().operations.iter().map(|operation| operation.name);
        let factors: Vec<String> = names.map(|name| format!("{name}={}", random.below(4))).collect();
        let Ok(factors) = factors.join(",").parse() else { return "factors that are refused" };
        match spec.judge_quasi(history.clone(), &factors, &config) {
            None => return "no factors",
            Some(judged) => judged,
        }
    } else {
        spec.judge(history.clone(), &config)
    };
    // A specification may require more of a whole history than of each operation.
    let Ok(judged) = judged else { return "an error" };
    let (judgment, shown) = (judged.judgment(), judged.history());
    let sizes = (judged.operations(), judged.pending());
    let report = || Report::new("history", spec.name(), sizes, judgment, |id| judged.operation(id));
    match command {
        1 => {
            judged.core(&limits);
            "core"
        }
        2 | 3 => {
            let mut report = report();
            if let Some((core, argument)) = judged.core(&limits) {
                report = report.with_core(&shown, &core);
                if let Some(argument) = argument {
                    report = report.with_explanation(prose::tell(&shown, &core, &argument));
                }
            } else if let Some(evidence) = judgment.verdict.evidence() {
                report = report.with_explanation(prose::tell_evidence(&shown, evidence));
            }
            text::render_explanation(&report, text::Style::Plain);
            json::render(&report);
            "explanation"
        }
        4 => {
            judged.states(None);
            "states"
        }
        5 => {
            let _ = spec.parts(&history).expect("the history was read before");
            if let Some(verdict) = judged.progress(&budget) {
                text::render(&report().with_progress(&shown, &verdict), text::Style::Plain);
                if let ProgressVerdict::Rejected(evidence) = &verdict {
                    prose::tell_progress(&shown, evidence);
                }
            }
            "progress"
        }
        6 => {
            if let Some(partners) = judged.partners() {
                prose::tell_partners(&shown, &partners);
            }
            "partners"
        }
        7 | 8 => {
            let mut timeline = Timeline::new(&shown, Label::of_shown)
                .with_judgment(judgment)
                .with_states(judged.states(None))
                .with_report(&report());
            if let Some((core, _)) = judged.core(&limits) {
                timeline = timeline.with_core(&core);
            }
            if let Some(verdict) = judged.progress(&budget) {
                timeline = timeline.with_progress(&verdict);
            }
            for timeline in [timeline.near_problem(8), timeline.core_only(8), timeline] {
                terminal::render(&timeline, &terminal::Settings::default());
                svg::render(&timeline);
                html::render(&timeline, &html::Settings::default());
            }
            "timeline"
        }
        9 => {
            columns::render(&shown, |_| true, None);
            if let Some(witness) = judgment.verdict.linearization() {
                prose::tell_witness(&shown, &witness);
            }
            "columns"
        }
        _ => {
            text::render(&report(), text::Style::Ansi);
            json::render(&report());
            "report"
        }
    }
}

/// Judges the history of a seed this many times; each judgment must be fast. The times may differ,
/// because the size of the core depends on the time limit.
fn again(seed: u64, times: u32) {
    let subjects = subjects();
    for _ in 0..times {
        let before = ran();
        one(&subjects, seed);
        let took = ran() - before;
        assert!(took < SLOW, "seed {seed} takes {took:?}");
    }
}

/// Judges the histories of `count` seeds, starting with `first`.
fn fuzz(first: u64, count: u64, is_soak: bool) {
    // If a history takes too long, the watchdog prints its seed and ends the process.
    static CURRENT: Mutex<Option<(u64, Instant)>> = Mutex::new(None);
    let watchdog = || loop {
        std::thread::sleep(Duration::from_secs(1));
        if let Some((seed, started)) = *CURRENT.lock().expect("not poisoned") {
            if started.elapsed() > ENDLESS {
                eprintln!("the history of seed {seed} is endless");
                std::process::abort();
            }
        }
    };
    if is_soak {
        std::thread::spawn(watchdog);
    }
    let subjects = subjects();
    let (mut done, mut findings, mut slowest) = (HashMap::<&str, u64>::new(), Vec::new(), (Duration::ZERO, 0));
    for seed in first..first + count {
        let before = ran();
        *CURRENT.lock().expect("not poisoned") = Some((seed, Instant::now()));
        match catch_unwind(AssertUnwindSafe(|| one(&subjects, seed))) {
            Ok(what) => *done.entry(what).or_default() += 1,
            Err(_) => findings.push(format!("seed {seed} panics")),
        }
        let took = ran() - before;
        slowest = slowest.max((took, seed));
        if took > SLOW {
            findings.push(format!("seed {seed} takes {took:?}"));
        }
    }
    *CURRENT.lock().expect("not poisoned") = None;
    let mut done: Vec<_> = done.into_iter().collect();
    done.sort_unstable();
    println!("{count} histories: {done:?}; at most {:?} on a processor, of seed {}", slowest.0, slowest.1);
    assert!(findings.is_empty(), "{} findings: {:?}", findings.len(), &findings[..findings.len().min(20)]);
    for what in ["core", "explanation", "states", "progress", "partners", "timeline", "columns", "report"] {
        assert!(done.iter().any(|(known, times)| *known == what && *times * 40 > count), "few of {what}: {done:?}");
    }
}

#[test]
fn valid_histories_go_through_all_judges_and_commands() {
    fuzz(1, 1500, false);
}

/// A soak test found this history: in its core, a try-lock that never returned was treated as a
/// try-lock that succeeded.
#[test]
fn a_try_that_may_have_failed_needs_nothing() {
    one(&subjects(), 1_048_693);
}

/// The core of this history has so many places for its operations that listing all of them took ten seconds.
#[test]
fn explanations_of_wide_cores_end() {
    again(1_190_568, 8);
}

#[test]
#[ignore = "a soak: 200,000 histories"]
fn soak_of_valid_histories() {
    let read = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    fuzz(read("TRUELINE_SEED", 1_000_000), read("TRUELINE_SOAK", 200_000), true);
}

/// Histories that made checkers of synchronizations panic: a process that calls again after an execution that never
/// returned, process numbers beyond 2^31, and more open executions than fit a mask.
#[test]
fn numbers_of_processes_and_executions_are_not_limited() {
    let mut judged = 0;
    let is_judged = |subject: &Subject| subject.spec.has_progress() || subject.spec.is_quasi();
    for Subject { spec, calls } in subjects().into_iter().filter(is_judged) {
        let call = |number: usize| {
            let (f, values) = &calls[number % calls.len()];
            record(f, values[number % values.len()].clone())
        };
        let mut again: Builder<Record, Value> = History::builder();
        for number in 0..3 {
            again.call(3_000_000_000, call(number)).expect("the process has no open call");
            again.info(3_000_000_000).expect("the process has an open call");
        }
        let mut many: Builder<Record, Value> = History::builder();
        for number in 0..70_u32 {
            many.call(u32::MAX - number, call(number as usize)).expect("the process has no open call");
        }
        for history in [again.finish(), many.finish()] {
            for (algorithm, _) in ALGORITHMS {
                let budget = Budget::unlimited().time(Duration::from_millis(5)).memory(8 << 20);
                let config = Config::new().algorithm(algorithm.clone()).budget(budget);
                // No operation has returned, so the history cannot be rejected.
                if let Ok(result) = spec.judge(history.clone(), &config) {
                    let verdict = &result.judgment().verdict;
                    assert!(!verdict.is_rejected(), "{} by {algorithm}: {verdict:?}", spec.name());
                    judged += usize::from(verdict.is_accepted());
                    if algorithm == &Algorithm::Auto {
                        result.progress(&Budget::unlimited().time(Duration::from_millis(5)).memory(8 << 20));
                    }
                }
            }
        }
    }
    assert!(judged > 20, "only {judged} were accepted");
}
