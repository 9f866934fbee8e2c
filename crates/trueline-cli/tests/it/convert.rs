//! Tests `convert`: its output, and its refusals. `roundtrips` tests all pairs of formats.

use std::path::Path;

use super::roundtrips::FORMATS;
use super::{Scratch, run, run_with_input};

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
    for (format, ..) in FORMATS.into_iter().filter(|(format, ..)| *format != "porcupine-kv") {
        let there = run_with_input(&["convert", "-", "--to", format], text.as_bytes());
        assert_eq!(there.code, 0, "{format}: {there:?}");
        let back = run_with_input(&["convert", "-", "--to", "jsonl-operations"], there.stdout.as_bytes());
        assert_eq!(back.stdout, original.stdout, "{format}: {there:?}");
    }
}

#[test]
fn what_a_format_cannot_hold_is_told() {
    let scratch = Scratch::new("convert-refused");
    let object = r#"{"process":0,"f":"read","object":"a","result":1,"call":1,"return":2}"#;
    let key = r#"{"process":0,"f":"get","key":"k","result":1,"call":1,"return":2}"#;
    let touching = "{\"process\":0,\"f\":\"read\",\"call\":1,\"return\":2}\n{\"process\":0,\"f\":\"read\",\"call\":2,\"return\":3}";
    let cas = r#"{"process":0,"f":"cas","value":[1,2],"result":null,"call":1,"return":2}"#;
    let zero = r#"{"process":0,"f":"read","result":["\u0000"],"call":1,"return":2}"#;
    let logger = r#"{"process":0,"f":"write","value":"jepsen.util - 0 :ok","call":1,"return":2}"#;
    for (text, format, line, expected) in [
        (zero, "jepsen", 1, "has a string with a NUL character"),
        (logger, "jepsen-log", 1, "contains `jepsen.util`"),
        (object, "jepsen", 1, "on the object `a`, but Jepsen's EDN cannot name objects"),
        (object, "porcupine-json", 1, "cannot name objects; write JSON lines"),
        (object, "events", 1, "cannot name objects"),
        (key, "jepsen-log", 1, "has the key \"k\", but Jepsen's log has no keys"),
        (cas, "porcupine-kv", 1, "has no key"),
        (cas, "jepsen", 1, "returned null, which in Jepsen's EDN means that it succeeded"),
    ] {
        let converted = run_with_input(&["convert", "-", "--to", format], text.as_bytes());
        assert_eq!(converted.code, 2, "{converted:?}");
        assert!(converted.stderr.starts_with(&format!("error: -:{line}: ")), "{converted:?}");
        assert!(converted.stderr.contains(expected), "{converted:?}");
        assert_eq!(converted.stdout, "");
        // A refused conversion does not create a file.
        let file = scratch.0.join("refused").to_str().expect("plain").to_owned();
        let converted = run_with_input(&["convert", "-", "--to", format, "-o", &file], text.as_bytes());
        assert!(converted.code == 2 && !Path::new(&file).exists(), "{converted:?}");
    }
    for format in ["jsonl", "events", "jsonl-operations", "porcupine-json"] {
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
    assert!(nowhere.stderr.contains("cannot write"), "{nowhere:?}");
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
        let file = file.to_str().expect("the path is UTF-8");
        let before = run(&[&["check", file], args].concat());
        assert!(before.code < 2, "{before:?}");
        for format in formats {
            let to = scratch.0.join(format);
            let to = to.to_str().expect("the path is UTF-8");
            assert_eq!(run(&["convert", file, "--to", format, "-o", to]).code, 0, "{file} to {format}");
            assert_eq!(run(&[&["check", to], args].concat()).code, before.code, "{file} as {format}");
        }
    }
}
