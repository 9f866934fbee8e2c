//! `convert`: every format to every other and back.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Scratch, json, run, run_with_input};

const FORMATS: [&str; 7] =
    ["jsonl", "jsonl-operations", "jepsen", "jepsen-log", "porcupine-kv", "porcupine-json", "events"];

/// The histories of the project, with their specifications and verdicts.
fn own() -> Vec<(PathBuf, String, i32)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let table = fs::read_to_string(directory.join("VERDICTS.tsv")).expect("the table is part of the project");
    let rows = table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    rows.map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let code = if fields[2] == "accepted" { 0 } else { 1 };
        (directory.join(fields[0]), fields[1].to_owned(), code)
    })
    .filter(|(path, ..)| path.exists())
    .collect()
}

/// What a specification understands of a file: the operations that a linearization or a rejection speaks of, by their lines, are
/// not comparable between formats; what is comparable is the file as JSON lines of operations.
fn operations(file: &str) -> String {
    let converted = run(&["convert", file, "--to", "jsonl-operations"]);
    assert_eq!(converted.code, 0, "{file}: {converted:?}");
    converted.stdout
}

/// The same without what EDN says again: a result that is the argument is none.
fn without_said_again(operations: &str) -> Vec<serde_json::Value> {
    let succeeded = |operation: &serde_json::Value| match operation["f"].as_str().expect("a name") {
        "cas" => operation["result"] == true,
        f => ["write", "w", "put", "append", "enqueue", "enq", "push"].contains(&f) && operation["result"].is_null(),
    };
    operations
        .lines()
        .map(|line| {
            let mut operation = json(line);
            let returned = !operation["return"].is_null();
            if returned && (succeeded(&operation) || operation["result"] == operation["value"]) {
                operation["result"] = "done".into();
            }
            operation
        })
        .collect()
}

#[test]
fn every_format_to_every_other_and_back() {
    let scratch = Scratch::new("convert");
    let histories = own();
    assert!(histories.len() > 40, "the table has many");
    let mut held = [0; FORMATS.len()];
    for (path, spec, code) in histories {
        let file = path.to_str().expect("a plain path");
        let original = operations(file);
        let mut written = Vec::new();
        for (index, format) in FORMATS.iter().enumerate() {
            let to = scratch
                .0
                .join(format!("{}.{format}", path.file_stem().and_then(|stem| stem.to_str()).expect("a name")));
            let to = to.to_str().expect("a plain path").to_owned();
            let converted = run(&["convert", file, "--to", format, "-o", &to]);
            if converted.code == 0 {
                held[index] += 1;
                written.push((*format, to));
            } else {
                // What cannot be held is told with its line.
                assert_eq!(converted.code, 2, "{converted:?}");
                assert!(converted.stderr.starts_with(&format!("error: {file}:")), "{converted:?}");
                let line = converted.stderr.trim_start_matches(&format!("error: {file}:"));
                assert!(line.split(':').next().is_some_and(|line| line.parse::<u32>().is_ok()), "{converted:?}");
                assert!(converted.stdout.is_empty() && !Path::new(&to).exists(), "{converted:?}");
            }
        }
        // JSON lines of operations hold everything.
        assert!(written.iter().any(|(format, _)| *format == "jsonl-operations"), "{file}");
        let Some((first_format, first)) = written.iter().find(|(format, _)| *format == "jepsen-log").or(written.last())
        else {
            continue;
        };
        for (format, to) in &written {
            let judged = run(&["check", "--spec", &spec, to]);
            assert_eq!(judged.code, code, "{file} as {format}: {judged:?}");
            let is_edn = |format: &str| ["jepsen", "jepsen-log", "porcupine-kv"].contains(&format);
            if is_edn(format) {
                assert_eq!(without_said_again(&operations(to)), without_said_again(&original), "{file} as {format}");
            } else {
                assert_eq!(operations(to), original, "{file} as {format}");
            }
            // From each to one that holds the least, and back.
            let there = run(&["convert", to, "--to", first_format]);
            assert_eq!(there.code, 0, "{file}: {format} to {first_format}: {there:?}");
            if is_edn(first_format) || !is_edn(format) {
                let expected = fs::read_to_string(first).expect("it was written");
                assert_eq!(there.stdout, expected, "{file}: {format} to {first_format}");
            }
            let back = run(&["convert", first, "--to", format]);
            assert_eq!(back.code, 0, "{file}: {first_format} to {format}: {back:?}");
            let back = run_with_input(&["check", "--spec", &spec, "-"], back.stdout.as_bytes());
            assert_eq!(back.code, code, "{file}: {first_format} to {format}: {back:?}");
        }
    }
    for (format, held) in FORMATS.iter().zip(held) {
        assert!(held > 0, "{format} holds none");
    }
}

#[test]
fn pending_operations_and_processes_that_go_on() {
    let text = r#"{"process":0,"type":"invoke","f":"write","value":1}
{"process":0,"type":"info","f":"write"}
{"process":0,"type":"invoke","f":"read"}
{"process":1,"type":"invoke","f":"cas","value":[1,2]}
{"process":1,"type":"ok","f":"cas","value":false}
{"process":0,"type":"ok","f":"read","value":"a \"b\"\n\u0001;ü😀 :x [1]"}
{"process":2,"type":"invoke","f":"odd name:/","value":[[],[null,true,-5]]}
"#;
    let original = run_with_input(&["convert", "-", "--to", "jsonl-operations"], text.as_bytes());
    assert_eq!(original.stdout.lines().count(), 4, "{original:?}");
    for format in FORMATS.into_iter().filter(|format| *format != "porcupine-kv") {
        let there = run_with_input(&["convert", "-", "--to", format], text.as_bytes());
        assert_eq!(there.code, 0, "{format}: {there:?}");
        let back = run_with_input(&["convert", "-", "--to", "jsonl-operations"], there.stdout.as_bytes());
        assert_eq!(back.stdout, original.stdout, "{format}: {there:?}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_told() {
    let object = r#"{"process":0,"f":"read","object":"a","result":1,"call":1,"return":2}"#;
    let key = r#"{"process":0,"f":"get","key":"k","result":1,"call":1,"return":2}"#;
    let touching = "{\"process\":0,\"f\":\"read\",\"call\":1,\"return\":2}\n{\"process\":0,\"f\":\"read\",\"call\":2,\"return\":3}";
    let cas = r#"{"process":0,"f":"cas","value":[1,2],"result":null,"call":1,"return":2}"#;
    for (text, format, line, expected) in [
        (object, "jepsen", 1, "on the object `a`, and Jepsen's EDN has no objects"),
        (object, "porcupine-json", 1, "has no objects; write JSON lines"),
        (object, "events", 1, "has no objects"),
        (key, "jepsen-log", 1, "has the key \"k\", and Jepsen's log has no keys"),
        (cas, "porcupine-kv", 1, "has no key"),
        (cas, "jepsen", 1, "returned null, which in Jepsen's EDN means that it succeeded"),
        (touching, "jsonl", 2, "at the very time at which its last operation returns"),
        (touching, "events", 2, "write whole operations"),
    ] {
        let converted = run_with_input(&["convert", "-", "--to", format], text.as_bytes());
        assert_eq!(converted.code, 2, "{converted:?}");
        assert!(converted.stderr.starts_with(&format!("error: -:{line}: ")), "{converted:?}");
        assert!(converted.stderr.contains(expected), "{converted:?}");
        assert_eq!(converted.stdout, "");
    }
    for format in ["jsonl-operations", "porcupine-json"] {
        assert_eq!(run_with_input(&["convert", "-", "--to", format], touching.as_bytes()).code, 0, "{format}");
    }
}

#[test]
fn errors() {
    let scratch = Scratch::new("convert-errors");
    let file = scratch.file("good.jsonl", super::ACCEPTED);
    let missing = run(&["convert", "/no/such/file", "--to", "jsonl"]);
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.contains("/no/such/file: cannot open"), "{missing:?}");
    let nowhere = run(&["convert", &file, "--to", "jsonl", "-o", "/no/such/directory/file"]);
    assert_eq!(nowhere.code, 2);
    assert!(nowhere.stderr.contains("cannot create"), "{nowhere:?}");
    let bad = run_with_input(&["convert", "-", "--to", "jsonl"], b"{\"process\":0}\n");
    assert_eq!(bad.code, 2);
    assert!(bad.stderr.starts_with("error: -:1: "), "{bad:?}");
    assert_eq!(run(&["convert", &file]).code, 2);
    assert_eq!(run(&["convert", &file, "--to", "xml"]).code, 2);
}

#[test]
fn the_histories_of_others_keep_their_verdicts() {
    let scratch = Scratch::new("convert-foreign");
    for (path, args, formats) in [
        (
            "knossos/cas-register/bad/rethink-fail-minimal.edn",
            &["--spec", "cas-register:0", "--nil-wildcard"][..],
            &["jsonl", "jepsen-log", "porcupine-json"][..],
        ),
        ("porcupine/jepsen/etcd_000.log", &["--spec", "cas-register"], &["jsonl", "jepsen", "events"]),
        ("porcupine/kv/c01-ok.txt", &["--spec", "kv"], &["jsonl", "jepsen", "porcupine-json", "porcupine-kv"]),
    ] {
        let Some(file) = super::foreign(path) else { continue };
        let file = file.to_str().expect("a plain path");
        let before = run(&[&["check", file], args].concat());
        assert!(before.code < 2, "{before:?}");
        for format in formats {
            let to = scratch.0.join(format);
            let to = to.to_str().expect("a plain path");
            assert_eq!(run(&["convert", file, "--to", format, "-o", to]).code, 0, "{file} to {format}");
            assert_eq!(run(&[&["check", to], args].concat()).code, before.code, "{file} as {format}");
        }
    }
}
