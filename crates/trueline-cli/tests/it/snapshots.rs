//! Tests reports as people and programs see them: in the terminal, as JSON, and drawn.
//!
//! Reports are compared with the files in `tests/snapshots`; `TRUELINE_UPDATE=1` writes these files, which must be
//! reviewed before they are committed. Times and memory are masked.

use std::path::Path;

use super::{Scratch, masked, run_with_input, same};

const QUEUE: &str = include_str!("../../../../testdata/queue-out-of-order.jsonl");
const GOOD_QUEUE: &str = include_str!("../../../../testdata/queue-good.jsonl");
const EXCHANGER: &str = include_str!("../../../../testdata/sync/exchanger-figure-8.jsonl");

/// Two processes exchange their values, and a third one waits.
const GOOD_EXCHANGER: &str = r#"{"process":0,"type":"invoke","f":"exchange","value":1}
{"process":1,"type":"invoke","f":"exchange","value":2}
{"process":0,"type":"ok","f":"exchange","value":2}
{"process":2,"type":"invoke","f":"exchange","value":3}
{"process":1,"type":"ok","f":"exchange","value":1}
"#;

/// Each criterion with each verdict.
const SHOWN: [(&str, &str, &[&str], i32); 10] = [
    ("linearizable-accepted", GOOD_QUEUE, &["--spec", "queue"], 0),
    ("linearizable-rejected", QUEUE, &["--spec", "queue"], 1),
    ("linearizable-rejected-core", QUEUE, &["--spec", "queue", "--core"], 1),
    ("linearizable-unknown", QUEUE, &["--spec", "queue", "--algorithm", "jit-graph", "--configurations", "1"], 3),
    ("sync-accepted", GOOD_EXCHANGER, &["--spec", "exchanger", "--criterion", "progress"], 0),
    ("sync-rejected", EXCHANGER, &["--spec", "exchanger"], 1),
    ("sync-unknown", EXCHANGER, &["--spec", "exchanger", "--configurations", "1", "--algorithm", "jit-graph"], 3),
    ("quasi-accepted", super::quasi::OUT_OF_ORDER, &["--spec", "quasi-queue:1"], 0),
    ("quasi-rejected", super::quasi::OUT_OF_ORDER, &["--spec", "queue", "--factor", "enq=0,deq=1"], 1),
    ("quasi-unknown", super::quasi::OUT_OF_ORDER, &["--spec", "quasi-queue:1", "--configurations", "1"], 3),
];

#[test]
fn reports_are_as_they_were() {
    let scratch = Scratch::new("snapshots");
    for (name, history, args, code) in SHOWN {
        let run = |command: &[&str]| run_with_input(&[command, args, &["-"]].concat(), history.as_bytes());
        let text = run(&["check"]);
        assert_eq!((text.code, text.stderr.as_str()), (code, ""), "{name}: {text:?}");
        same(&format!("snapshots/{name}.txt"), &masked(&text.stdout));
        let json = run(&["check", "--json"]);
        assert_eq!((json.code, json.stderr.as_str()), (code, ""), "{name}: {json:?}");
        same(&format!("snapshots/{name}.json"), &masked(&json.stdout));
        let picture = scratch.0.join(format!("{name}.svg"));
        let drawn = run(&["view", "--output", picture.to_str().expect("the path is UTF-8")]);
        assert_eq!((drawn.code, drawn.stdout.as_str()), (0, ""), "{name}: {drawn:?}");
        same(&format!("snapshots/{name}.svg"), &std::fs::read_to_string(picture).expect("the file was written"));
    }
}

/// Tests that every snapshot file is used, because an unused file is left over from an earlier
/// test.
#[test]
fn every_snapshot_is_compared_with() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder is part of the project")
        .map(|entry| entry.expect("ours").file_name().into_string().expect("the name is UTF-8"))
        .collect();
    files.sort();
    let forms = ["json", "svg", "txt"];
    let mut expected: Vec<String> =
        SHOWN.iter().flat_map(|(name, ..)| forms.map(|form| format!("{name}.{form}"))).collect();
    expected.sort();
    assert_eq!(files, expected);
}

#[test]
fn times_are_masked_and_nothing_else() {
    assert_eq!(masked("queue (auto, 2 operations, 9 µs) in 1.5s"), "queue (auto, 2 operations, TIME) in TIME");
    assert_eq!(masked(r#"{"check_ns":123,"runs":5,"peak_bytes":9}"#), r#"{"check_ns":0,"runs":5,"peak_bytes":0}"#);
    for kept in ["lines 3-7 of process 1", "5 sets", "x9 ms2", "2*2+4", "10 operations, 12"] {
        assert_eq!(masked(kept), kept);
    }
}
