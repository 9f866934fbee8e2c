//! Tests that no valid history causes a panic in judging, shrinking, explaining or drawing, and
//! that all algorithms agree.
//!
//! The first bytes of the input choose a specification and an algorithm. Each later pair of bytes
//! becomes an event of a valid history.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use trueline::history::{Builder, RawHistory, Record, Value};
use trueline::judge::shrink::Limits;
use trueline::judge::{ALGORITHMS, Budget, Config};
use trueline::registry::{self, NamedSpec, Options, SPECS};
use trueline::view::text::Style;
use trueline::view::timeline::Label;
use trueline::view::{Report, Timeline, html, json, prose, svg, text};

/// The numbers of the processes. One of them is the largest possible number.
const PROCESSES: [u32; 4] = [0, 1, 2, u32::MAX];
const MOST_EVENTS: usize = 48;

fn value(byte: u8) -> Value {
    let list = |values: &[i64]| values.iter().map(|value| Value::Int(*value)).collect::<Value>();
    match byte % 16 {
        0 => Value::Null,
        1 => Value::Bool(false),
        2 => Value::Bool(true),
        3 => Value::from("a"),
        4 => list(&[0, 1]),
        5 => list(&[1, 0]),
        6 => list(&[]),
        7 => Value::Int(i64::MAX),
        8 => [Value::from("w"), Value::from("x"), Value::Int(1)].into_iter().collect(),
        small => Value::Int(i64::from(small) - 9),
    }
}

fn history(spec: &NamedSpec, events: &[u8]) -> RawHistory {
    let operations = spec.info().operations;
    let mut builder = Builder::new();
    for pair in events.chunks_exact(2).take(MOST_EVENTS) {
        let (what, with) = (pair[0], pair[1]);
        let process = PROCESSES[usize::from(what & 3)];
        let done = match (builder.open(process).is_some(), what >> 2) {
            (true, 0) => builder.info(process),
            (true, 1) => builder.fail(process),
            (true, _) => builder.ret(process, value(with)).map(drop),
            (false, number) => {
                let f = operations[usize::from(number) % operations.len()].name;
                let key = (with >= 128).then(|| value(with >> 4));
                builder.call(process, Record { f: f.into(), key, value: value(with) }).map(drop)
            }
        };
        done.expect("each process alternates between calls and returns");
    }
    builder.finish()
}

fuzz_target!(|data: &[u8]| {
    let [spec, algorithm, settings, events @ ..] = data else { return };
    let info = &SPECS[usize::from(*spec) % SPECS.len()];
    let name = if info.parameter.starts_with(':') { format!("{}:2", info.name) } else { info.name.to_owned() };
    let Ok(spec) = registry::spec(&name, Options::new().nil_wildcard(settings & 1 != 0)) else { return };
    let history = history(&spec, events);
    let budget = Budget::unlimited().time(Duration::from_millis(200)).memory(32 << 20).configurations(20_000);
    let config = Config::new().budget(budget).partition(settings & 2 != 0);
    let (algorithm, _) = &ALGORITHMS[usize::from(*algorithm) % ALGORITHMS.len()];
    let Ok(judged) = spec.judge(history.clone(), &config.clone().algorithm(algorithm.clone())) else { return };
    let auto = spec.judge(history, &config).expect("the history was read before");
    let verdicts = [&judged, &auto].map(|judged| &judged.judgment().verdict);
    let contradicts = (verdicts[0].is_rejected() && verdicts[1].is_accepted())
        || (verdicts[0].is_accepted() && verdicts[1].is_rejected());
    assert!(!contradicts, "{algorithm} and auto contradict each other on {name}");

    let limits = Limits::new().time(Duration::from_millis(100)).memory(32 << 20);
    let counts = (judged.operations(), judged.pending());
    let mut report = Report::new("fuzz", spec.name(), counts, judged.judgment(), |id| judged.operation(id));
    let shown = judged.history();
    let mut timeline = Timeline::new(&shown, Label::of_shown).with_judgment(judged.judgment());
    timeline = timeline.with_states(judged.states(None));
    if let Some((core, argument)) = judged.core(&limits) {
        report = report.with_core(&shown, &core);
        timeline = timeline.with_core(&core);
        if let Some(argument) = argument {
            report = report.with_explanation(prose::tell(&shown, &core, &argument));
        }
    }
    let timeline = timeline.with_report(&report);
    let _ = (text::render(&report, Style::Ansi), json::render(&report), svg::render(&timeline));
    let _ = html::render(&timeline, &html::Settings::default());
});
