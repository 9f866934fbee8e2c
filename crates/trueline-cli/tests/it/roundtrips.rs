//! Converts every format to every other and back: the operations and the verdict stay the same, or the conversion is
//! refused.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use trueline::history::codec::{self, Format, Target};
use trueline::history::{Builder, RawHistory, Record, Value};
use trueline::judge::{Budget, Config};
use trueline::registry::{self, Options};
use trueline::verdict::Verdict;

use super::generate::specs;
use super::{Scratch, foreign, json, run, run_with_input};

/// Each format that can be written, and how it is read.
pub(crate) const FORMATS: [(&str, Target, Format); 8] = [
    ("jsonl", Target::Jsonl, Format::Jsonl),
    ("jsonl-operations", Target::Operations, Format::Jsonl),
    ("jepsen", Target::Jepsen, Format::Jepsen),
    ("jepsen-log", Target::JepsenLog, Format::JepsenLog),
    ("porcupine-kv", Target::PorcupineKv, Format::PorcupineKv),
    ("porcupine-json", Target::PorcupineJson, Format::PorcupineJson),
    ("events", Target::Events, Format::Events),
    ("csv", Target::Csv, Format::Csv),
];

/// Returns a history in this format, or the reason why the format cannot hold it.
fn written(history: &RawHistory, target: Target) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    codec::write(history, target, &mut text).map(|()| text).map_err(|fault| fault.message().to_owned())
}

/// Reads a text in its format, and with the format detected.
fn read(text: &[u8], format: Format, what: &str) -> RawHistory {
    let told = codec::read(text, format).unwrap_or_else(|fault| panic!("{what}: {fault}"));
    let detected = codec::read(text, Format::Auto).unwrap_or_else(|fault| panic!("{what}, detected: {fault}"));
    assert_eq!(operations(&told), operations(&detected), "{what}: the format is not seen in it");
    told
}

/// Returns the operations with their processes, objects, keys, results and their order in time.
fn operations(history: &RawHistory) -> String {
    let text = written(history, Target::Operations).expect("JSON lines of operations can hold every history");
    String::from_utf8(text).expect("text")
}

/// Returns the operations without the results that EDN repeats: a result that equals the argument
/// is removed. Also removes notes, which are not operations, and which only JSON lines can hold.
fn without_said_again(operations: &str) -> Vec<serde_json::Value> {
    let succeeded = |operation: &serde_json::Value| match operation["f"].as_str().expect("a name") {
        "cas" => operation["result"] == true,
        f => ["write", "w", "put", "append", "enqueue", "enq"].contains(&f) && operation["result"].is_null(),
    };
    operations
        .lines()
        .map(json)
        .filter(|line| line["type"] != "note")
        .map(|mut operation| {
            let returned = !operation["return"].is_null();
            if returned && (succeeded(&operation) || operation["result"] == operation["value"]) {
                operation["result"] = "done".into();
            }
            operation
        })
        .collect()
}

/// Returns the histories of the project, with their specifications and verdicts.
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

/// How a history is judged, and the verdicts on it.
struct Judge {
    spec: registry::NamedSpec,
    known: HashMap<String, &'static str>,
}

impl Judge {
    fn new(spec: &str, nil_wildcard: bool) -> Self {
        let spec = registry::spec(spec, Options::new().nil_wildcard(nil_wildcard));
        Self { spec: spec.expect("the specification exists"), known: HashMap::new() }
    }

    fn verdict(&mut self, history: &RawHistory) -> &'static str {
        let spec = &self.spec;
        self.known.entry(operations(history)).or_insert_with(|| {
            let budget = Budget::unlimited().memory(1 << 30);
            match spec.judge(history.clone(), &Config::new().budget(budget)) {
                Ok(judged) => match judged.judgment().verdict {
                    Verdict::Accepted(_) => "accepted",
                    Verdict::Rejected(_) => "rejected",
                    Verdict::Unknown(_) => "unknown",
                },
                Err(_) => "unreadable",
            }
        })
    }
}

/// Converts a history through all pairs of formats and back. Returns the number of pairs that could hold it.
fn through_all_pairs(history: &RawHistory, judge: &mut Judge, what: &str) -> usize {
    let original = without_said_again(&operations(history));
    let verdict = judge.verdict(history);
    let mut same = |other: &RawHistory, way: &str| {
        assert_eq!(without_said_again(&operations(other)), original, "{what}: {way} changes it");
        assert_eq!(judge.verdict(other), verdict, "{what}: {way} changes the verdict");
    };
    let mut pairs = 0;
    for (name, target, format) in FORMATS {
        let first = match written(history, target) {
            Ok(text) => read(&text, format, &format!("{what} as {name}")),
            Err(refusal) => {
                // The message says what to do.
                assert!(refusal.contains("; write ") || refusal.contains("; give "), "{what} as {name}: {refusal}");
                continue;
            }
        };
        same(&first, name);
        for (other, other_target, other_format) in FORMATS {
            // A history that was read from one format can be written in the other if the original history can.
            let direct = written(history, other_target).is_ok();
            match written(&first, other_target) {
                Ok(text) => {
                    assert!(direct, "{what}: {other} refuses it, but not from {name}");
                    let second = read(&text, other_format, &format!("{what} as {name}, as {other}"));
                    same(&second, &format!("{name} to {other}"));
                    let back = written(&second, target).unwrap_or_else(|refusal| panic!("{what}: {other}: {refusal}"));
                    same(&read(&back, format, what), &format!("{name} to {other} and back"));
                    pairs += 1;
                }
                Err(refusal) => assert!(!direct, "{what}: {other} holds it, but not from {name}: {refusal}"),
            }
        }
    }
    pairs
}

#[test]
fn our_own_histories() {
    let mut pairs = 0;
    for (path, spec, code) in own() {
        let file = path.display().to_string();
        let text = fs::read(&path).expect("the file is part of the project");
        let history = codec::read(&text[..], Format::Auto).expect("the histories of the project are valid");
        let mut judge = Judge::new(&spec, false);
        assert_eq!(judge.verdict(&history), if code == 0 { "accepted" } else { "rejected" }, "{file}");
        pairs += through_all_pairs(&history, &mut judge, &file);
    }
    assert!(pairs > 1000, "{pairs}");
}

/// Correct and incorrect histories of every specification, with operations that never returned.
#[test]
fn histories_of_every_specification() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for spec in specs() {
        for args in [&["--pending", "3"][..], &["--violation"]] {
            let made = run(&[&["generate", "--operations", "20", "--seed", "3", "--spec", &spec], args].concat());
            if made.code == 2 {
                // For some specifications, no result can be wrong.
                assert!(made.stderr.contains("no violation was found"), "{made:?}");
                continue;
            }
            let history = codec::read(made.stdout.as_bytes(), Format::Auto).expect("generated histories are valid");
            let mut judge = Judge::new(&spec, false);
            *seen.entry(judge.verdict(&history)).or_default() += 1;
            assert!(through_all_pairs(&history, &mut judge, &format!("{spec} {args:?}")) >= 4, "{spec}");
        }
    }
    assert!(seen["accepted"] > 40 && seen["rejected"] > 30 && seen.len() == 2, "{seen:?}");
}

/// Texts that have a meaning in one format or another.
const HOSTILE: [&str; 24] = [
    "",
    " ",
    "nil",
    "null",
    "true",
    "5",
    ":keyword",
    "a \"quoted\" one",
    "back\\slash",
    "two\nlines",
    "tab\tand\rreturn",
    "; no comment",
    "#{1 2}",
    "[1 2]",
    "{:process 0}",
    "{\"process\":0}",
    "\u{0}\u{1}\u{7f}\u{85}\u{2028}",
    "ü😀\u{202e}rtl",
    "0\t:ok\t:read\t5",
    "jepsen.util",
    "jepsen.util - 0 :ok :read 5",
    "\u{feff}begins with a mark",
    "\\u0041",
    "ends with a backslash\\",
];

/// Returns a history of operations of two processes, one after another; the last never returns.
fn sequence(operations: impl IntoIterator<Item = (Record, Value)>) -> RawHistory {
    let mut builder = Builder::new();
    let mut last = None;
    for (place, (record, result)) in operations.into_iter().enumerate() {
        let process = u32::try_from(place % 2).expect("small");
        last = Some(record.clone());
        builder.call(process, record).expect("the process is idle");
        builder.ret(process, result).expect("the process has called");
    }
    builder.call(7, last.expect("there is at least one operation")).expect("the process is idle");
    builder.finish()
}

#[test]
fn hostile_texts() {
    let record = |f: &str, key: Option<&str>, value: Value| Record { f: f.into(), key: key.map(Value::from), value };
    let mut held = 0;
    for text in HOSTILE {
        let value = || Value::from(text);
        let list = |values: &[Value]| values.iter().cloned().collect::<Value>();
        // The text occurs as a value, within lists, and as a key. The history has a wrong read, so
        // that the verdict could change.
        let register = sequence([
            (record("write", None, value()), Value::Null),
            (record("read", None, Value::Null), value()),
            (record("write", None, list(&[value(), Value::Null, list(&[value()])])), Value::Null),
            (record("read", None, Value::Null), list(&[value(), Value::Null, list(&[value()])])),
        ]);
        let stale = sequence([
            (record("write", None, value()), Value::Null),
            (record("write", None, list(&[value()])), Value::Null),
            (record("read", None, Value::Null), value()),
        ]);
        let map = sequence([
            (record("put", Some(text), value()), Value::Null),
            (record("get", Some(text), Value::Null), value()),
            (record("get", Some("other"), Value::Null), Value::Null),
        ]);
        let cas = sequence([
            (record("cas", None, list(&[Value::Null, value()])), Value::Bool(true)),
            (record("cas", None, list(&[Value::from("no"), value()])), Value::Bool(false)),
            (record("read", None, Value::Null), value()),
        ]);
        for (spec, history, expected) in [
            ("register", register, "accepted"),
            ("register", stale, "rejected"),
            ("map", map, "accepted"),
            ("cas-register", cas, "accepted"),
        ] {
            let mut judge = Judge::new(spec, false);
            assert_eq!(judge.verdict(&history), expected, "{spec} of {text:?}");
            held += through_all_pairs(&history, &mut judge, &format!("{spec} of {text:?}"));
        }
        // Operations may have any name.
        let odd = sequence([(record(text, None, Value::Null), value())]);
        held += through_all_pairs(&odd, &mut Judge::new("register", false), &format!("an operation {text:?}"));
    }
    assert!(held > HOSTILE.len() * 4 * 20, "{held}");
}

/// A result of null keeps its meaning, whichever operation returned it.
#[test]
fn results_that_say_nothing() {
    for info in registry::SPECS {
        let spec = if info.parameter.starts_with(':') { format!("{}:2", info.name) } else { info.name.to_owned() };
        for operation in info.operations {
            for value in [Value::Null, Value::Int(1), [Value::Int(0), Value::Int(1)].into_iter().collect()] {
                for result in [Value::Null, Value::Bool(true), value.clone()] {
                    let record = Record { f: operation.name.into(), key: None, value: value.clone() };
                    let mut builder = Builder::new();
                    builder.call(0, record).expect("the process is idle");
                    builder.ret(0, result.clone()).expect("the process has called");
                    let what = format!("{} of {spec} with {value}, which returned {result}", operation.name);
                    through_all_pairs(&builder.finish(), &mut Judge::new(&spec, false), &what);
                }
            }
        }
    }
}

/// Converts histories that other projects recorded through every format.
#[test]
fn the_histories_of_others() {
    let mut files = 0;
    for project in ["porcupine", "knossos"] {
        let Some(list) = foreign(&format!("{project}/EXPECTED.tsv")) else { continue };
        let folder = list.parent().expect("the list is in a folder").to_owned();
        for row in fs::read_to_string(&list).expect("the file can be read").lines().skip(1) {
            let fields: Vec<&str> = row.split('\t').collect();
            let (spec, nil_wildcard, verdict) = match (project, fields[1]) {
                ("porcupine", _) => {
                    (if fields[0].starts_with("kv/") { "kv" } else { "cas-register" }, false, fields[2])
                }
                (_, "cas-register") => ("cas-register:0", true, fields[3]),
                (_, "multi-register") => ("multi-register:0", true, fields[3]),
                (_, other) => (other, false, fields[3]),
            };
            let path = folder.join(fields[0]);
            let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let history = codec::read(&text[..], Format::Auto).expect("the file contains a history");
            let mut judge = Judge::new(spec, nil_wildcard);
            let expected = if verdict == "linearizable" { "accepted" } else { "rejected" };
            assert_eq!(judge.verdict(&history), expected, "{}", fields[0]);
            let pairs = through_all_pairs(&history, &mut judge, fields[0]);
            assert!(pairs >= 25, "{}: {pairs}", fields[0]);
            files += 1;
        }
    }
    assert!(files == 0 || files > 100, "{files}");
}

/// The binary converts like the library: all pairs of formats, with a few histories.
#[test]
fn the_binary_converts_all_pairs() {
    let scratch = Scratch::new("roundtrips");
    let tuples = "0\t:invoke\t:write\t[5 1]\n1\t:invoke\t:read\t[6 nil]\n0\t:ok\t:write\t[5 1]\n1\t:ok\t:read\t[6 2]\n";
    let mut failures = String::new();
    for (process, (kind, f, value)) in
        [("invoke", "write", "1"), ("fail", "write", "1"), ("invoke", "cas", "[0,1]"), ("ok", "cas", "false")]
            .into_iter()
            .enumerate()
    {
        let process = process / 2;
        writeln!(failures, r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#).expect("a string");
    }
    let pending = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/kv-good.jsonl"));
    let failures = scratch.file("failures.jsonl", failures);
    let tuples = scratch.file("tuples.log", tuples);
    let pending = scratch.file("pending.jsonl", pending.expect("the file is part of the project"));
    let rejected = scratch.file("rejected.jsonl", super::REJECTED);
    for (file, reading, spec, code, most) in [
        (&failures, &[][..], "cas-register:5", 0, 7),
        (&tuples, &["--tuples", "keys"], "map", 1, 7),
        (&tuples, &["--independent"], "register", 1, 3),
        (&pending, &[], "kv", 0, 7),
        (&rejected, &[], "queue", 1, 7),
    ] {
        let convert = |format: &str| run(&[&["convert", file.as_str(), "--to", format], reading].concat());
        let original = without_said_again(&convert("jsonl-operations").stdout);
        assert!(!original.is_empty());
        // As reads of a map, reads of keys that were not written are rejected.
        let spec = ["check", "--spec", spec, "-"];
        let mut held = 0;
        for (name, ..) in FORMATS {
            let first = convert(name);
            if first.code != 0 {
                assert_eq!((first.code, first.stdout.as_str()), (2, ""), "{name}: {first:?}");
                assert!(first.stderr.starts_with(&format!("error: {file}:")), "{name}: {first:?}");
                continue;
            }
            held += 1;
            for (other, ..) in FORMATS {
                let second = run_with_input(&["convert", "-", "--to", other], first.stdout.as_bytes());
                if second.code != 0 {
                    assert_eq!((second.code, second.stdout.as_str()), (2, ""), "{name} to {other}: {second:?}");
                    continue;
                }
                let back = run_with_input(&["convert", "-", "--to", name], second.stdout.as_bytes());
                assert_eq!(back.code, 0, "{name} to {other} and back: {back:?}");
                let last = run_with_input(&["convert", "-", "--to", "jsonl-operations"], back.stdout.as_bytes());
                assert_eq!(without_said_again(&last.stdout), original, "{file}: {name} to {other} and back");
                let judged = run_with_input(&spec, second.stdout.as_bytes());
                assert_eq!(judged.code, code, "{file}: {name} to {other}: {judged:?}");
            }
        }
        assert_eq!(held, most, "{file} {reading:?}");
    }
}
