//! Limits hold, on a history that every generic search needs longer for.

use std::fmt::Write as _;

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::EventKind;
use trueline::spec::{Queue, QueueOp, QueueRet, Spec};

use crate::{Scratch, json, run};

/// 1,000 operations of 4 busy clients on a queue, as JSON lines.
fn hard_queue() -> String {
    let shape = Simulation { processes: 4, operations: 1000, crashes: 0, busy: true };
    let spec = Queue::new();
    let mut state = spec.initial();
    let mut next = 0;
    let history = simulate(
        &shape,
        &mut Random::new(1),
        |random, _| {
            next += 1;
            if random.chance(1, 2) { QueueOp::Enqueue(next) } else { QueueOp::Dequeue }
        },
        |_, op| {
            let (result, after) = spec.step(&state, op, None).into_iter().next()?;
            state = after;
            Some(result)
        },
    );
    let mut lines = String::new();
    for event in history.events() {
        let operation = &history[event.op()];
        let (f, argument) = match &operation.op {
            QueueOp::Enqueue(value) => ("enqueue", value.to_string()),
            _ => ("dequeue", "null".to_owned()),
        };
        let (kind, value) = match (event.kind(), operation.outcome.result()) {
            (EventKind::Return, Some(QueueRet::Value(value))) => {
                ("ok", value.map_or("null".to_owned(), |value| value.to_string()))
            }
            (EventKind::Return, _) => ("ok", argument),
            (EventKind::Call, _) => ("invoke", argument),
        };
        let process = operation.process;
        writeln!(lines, r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#).expect("a string");
    }
    lines
}

#[test]
fn a_hard_history_is_undecided_within_the_limits() {
    let scratch = Scratch::new("limits");
    let file = scratch.file("hard-queue.jsonl", hard_queue());
    // The monitor of queues is not impressed.
    assert_eq!(run(&["check", "--spec", "queue", "--timeout", "10s", "--memory", "64MiB", &file]).code, 0);
    for algorithm in
        ["wing-gong-tree", "wing-gong-graph", "jit-tree", "jit-graph", "linear", "bounded-graph", "bounded-graph-lru"]
    {
        let limits = ["--timeout", "200ms", "--memory", "64MiB"];
        let judged =
            run(&[&["check", "--json", "--spec", "queue", "--algorithm", algorithm, &file], &limits[..]].concat());
        assert_eq!(judged.code, 3, "{judged:?}");
        let object = json(&judged.stdout);
        assert_eq!(object["verdict"], "unknown");
        let reason = object["reason"].as_str().expect("a reason");
        assert!(reason.contains("time limit") || reason.contains("memory limit"), "{reason}");
        assert!(object["stats"]["peak_bytes"].as_u64().expect("a number") <= 64 << 20, "{object}");
    }
}

#[test]
fn a_little_memory_is_named_as_the_limit() {
    let scratch = Scratch::new("little-memory");
    let file = scratch.file("hard-queue.jsonl", hard_queue());
    for algorithm in ["wing-gong-graph", "jit-graph", "linear"] {
        let judged = run(&["check", "--spec", "queue", "--algorithm", algorithm, "--memory", "2MiB", &file]);
        assert_eq!(judged.code, 3, "{judged:?}");
        assert!(judged.stdout.contains("the memory limit was reached"), "{judged:?}");
        assert!(judged.stdout.contains("raise --memory"), "{judged:?}");
    }
}
