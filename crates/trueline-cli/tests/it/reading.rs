//! Tests the inputs of histories: pipes, compressed files, foreign formats.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::{ACCEPTED, REJECTED, Scratch, run, run_with_input};

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("writing to memory does not fail");
    encoder.finish().expect("writing to memory does not fail")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    compress_to_vec(text, CompressionLevel::Fastest)
}

#[test]
fn compressed_files() {
    let scratch = Scratch::new("compressed");
    let skippable = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(REJECTED.as_bytes())].concat();
    let (first, second) = REJECTED.split_at(80);
    let pieces = [zstd(first.as_bytes()), zstd(second.as_bytes())].concat();
    let members = [gzip(first.as_bytes()), gzip(second.as_bytes())].concat();
    for (name, content) in [
        ("a.jsonl.gz", gzip(REJECTED.as_bytes())),
        ("b.jsonl.zst", zstd(REJECTED.as_bytes())),
        ("c.jsonl.zst", skippable),
        ("d.jsonl.zst", pieces),
        ("e.jsonl.gz", members),
    ] {
        let file = scratch.file(name, &content);
        assert_eq!(run(&["check", "--spec", "queue", &file]).code, 1, "{name}");
        assert_eq!(run_with_input(&["check", "--spec", "queue", "-"], &content).code, 1, "{name} from standard input");
        let converted = run(&["convert", &file, "--to", "jsonl"]);
        assert_eq!(converted.stdout.lines().count(), 6, "{name}: {converted:?}");
        assert_eq!(run(&["lint", "--spec", "queue", &file]).code, 0, "{name}");
    }
    let below = run(&["check", "--spec", "queue", scratch.path()]);
    assert_eq!(below.stdout.matches(": rejected").count(), 5, "{below:?}");
}

#[test]
fn what_is_cut_off_or_broken_is_told() {
    for content in [gzip(ACCEPTED.as_bytes()), zstd(ACCEPTED.as_bytes())] {
        let short = run_with_input(&["check", "--spec", "queue", "-"], &content[..content.len() - 9]);
        assert_eq!(short.code, 2, "{short:?}");
        assert!(short.stderr.contains("broken or cut off"), "{short:?}");
    }
    // A decompression bomb is one long line, or many lines; both are limited.
    let bomb = gzip(&vec![b'x'; 64 << 20]);
    assert!(bomb.len() < 1 << 20);
    let judged = run_with_input(&["check", "--spec", "queue", "-"], &bomb);
    assert_eq!(judged.code, 2);
    assert!(judged.stderr.contains("not JSON") || judged.stderr.contains("longer than 16 MiB"), "{judged:?}");
}

pub(crate) const MAPPING: &str = r#"
process = "who"
type = "ev"
f = "what.name"
value = "what.args.0"
result = "answer"

[types]
begin = "invoke"
end = "ok"
beat = "skip"

[functions]
offer = "enqueue"
take = "dequeue"
"#;

pub(crate) const FOREIGN: &str = r#"{"who":"ann","ev":"begin","what":{"name":"offer","args":[1]}}
{"who":"bob","ev":"beat"}
{"who":"ann","ev":"end","answer":true}
{"who":"ann","ev":"begin","what":{"name":"take","args":[]}}
{"who":"ann","ev":"end","answer":2}
"#;

#[test]
fn foreign_formats() {
    let scratch = Scratch::new("foreign");
    let map = scratch.file("mapping.toml", MAPPING);
    let judged = run_with_input(&["check", "--spec", "queue", "--map", &map, "-"], FOREIGN.as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    assert!(judged.stdout.contains("dequeue() of process ann (lines 4-5) returned 2"), "{judged:?}");
    let converted = run_with_input(&["convert", "--map", &map, "-", "--to", "jsonl"], FOREIGN.as_bytes());
    assert_eq!(converted.stdout.lines().count(), 4, "{converted:?}");
    assert_eq!(run_with_input(&["lint", "--map", &map, "-"], FOREIGN.as_bytes()).code, 0);
    let json = scratch.file(
        "mapping.json",
        r#"{"process":"p","f":"op","value":"arg","result":"out","call":"t0","return":"t1","scale":1000}"#,
    );
    let whole = r#"{"p":"x","op":"write","arg":1,"t0":0.5,"t1":0.7}
{"p":"y","op":"read","out":2,"t0":0.8,"t1":0.9}
"#;
    assert_eq!(run_with_input(&["check", "--spec", "register", "--map", &json, "-"], whole.as_bytes()).code, 1);
    for (name, content, expected) in [
        ("bad.toml", "process = ", "bad.toml:1: this is not TOML"),
        ("bad.json", "{\"process\":", "this is not JSON"),
        ("other.toml", "process = \"a\"\nf = \"b\"\n", "neither `type` nor `call`"),
        ("typo.toml", "proces = \"a\"\n", "`proces` is neither a field"),
    ] {
        let map = scratch.file(name, content);
        let judged = run_with_input(&["check", "--spec", "register", "--map", &map, "-"], whole.as_bytes());
        assert_eq!(judged.code, 2, "{judged:?}");
        assert!(judged.stderr.contains(expected), "{judged:?}");
    }
    let missing = run_with_input(&["check", "--spec", "register", "--map", "/no/such/file", "-"], whole.as_bytes());
    assert!(missing.code == 2 && missing.stderr.contains("/no/such/file: cannot read"), "{missing:?}");
}

/// Spans of OpenTelemetry's protocol, in JSON.
pub(crate) const TRACES: &str = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[
{"name":"write","startTimeUnixNano":"10","endTimeUnixNano":"20","attributes":[{"key":"value","value":{"intValue":"5"}},{"key":"result","value":{}}]},
{"name":"read","startTimeUnixNano":"30","endTimeUnixNano":"40","attributes":[{"key":"result","value":{"intValue":"6"}}]}]}]}]}
"#;

const TABLE: &str = "process,f,value,result,call,return\n0,write,5,,1,2\n1,read,,6,3,4\n";

/// Formats other than one object on each line are judged in one command, detected or with a preset, and converted.
#[test]
fn tables_arrays_and_traces() {
    let scratch = Scratch::new("records");
    let array = r#"[{"type":"invoke","f":"write","value":5,"process":0,"time":1,"index":0},
        {"type":"ok","f":"write","value":5,"process":0,"time":2,"index":1},
        {"type":"invoke","f":"read","value":null,"process":1,"time":3,"index":2},
        {"type":"ok","f":"read","value":6,"process":1,"time":4,"index":3}]"#;
    let porcupine = r#"[{"ClientId":0,"Input":{"op":"write","value":5},"Call":1,"Output":{},"Return":2},
        {"ClientId":1,"Input":{"op":"read"},"Call":3,"Output":{"value":6},"Return":4}]"#;
    for (name, text, args, line) in [
        ("table.csv", TABLE, &[][..], "line 3"),
        ("table-map.csv", TABLE, &["--map", "csv"], "line 3"),
        ("table.tsv", &TABLE.replace(',', "\t"), &[], "line 3"),
        ("array.json", array, &[], "lines 3-4"),
        ("porcupine.json", porcupine, &[], "line 2"),
        ("traces.json", TRACES, &["--map", "otlp"], "line 3"),
    ] {
        let file = scratch.file(name, text);
        let judged = run(&[&["check", "--spec", "register", &file], args].concat());
        assert_eq!(judged.code, 1, "{name}: {judged:?}");
        assert!(
            judged.stdout.contains(&format!("({line}) returned 6, but could only have returned 5")),
            "{name}: {judged:?}"
        );
        let converted = run(&[&["convert", &file, "--to", "csv"], args].concat());
        let again = run_with_input(&["convert", "-", "--to", "jsonl"], converted.stdout.as_bytes());
        assert!(again.code == 0 && again.stdout.lines().count() == 4, "{name}: {converted:?} {again:?}");
        assert_eq!(run_with_input(&["check", "--quiet", "--spec", "register", "-"], again.stdout.as_bytes()).code, 1);
    }
    for (text, expected) in [
        ("process,f,call\n0,\"read,1\n", "bad.csv:2: a quotation mark is never closed"),
        ("process,f,call\n0,read\n", "bad.csv:2: the row has 2 cells"),
    ] {
        let bad = scratch.file("bad.csv", text);
        let judged = run(&["check", "--spec", "register", &bad]);
        assert!(judged.code == 2 && judged.stderr.contains(expected), "{judged:?}");
    }
}

#[test]
fn limits_hold_while_records_are_read() {
    let scratch = Scratch::new("records-limits");
    let rows: String = (0..200_000).map(|at| format!("{at},write,{at},,{at},{at}\n")).collect();
    let table = scratch.file("large.csv", format!("process,f,value,result,call,return\n{rows}"));
    let items: Vec<String> = (0..100_000)
        .map(|at| format!(r#"{{"process":{at},"f":"write","value":{at},"call":{at},"return":{at}}}"#))
        .collect();
    let array = scratch.file("large.json", format!("[{}]", items.join(",\n")));
    for file in [&table, &array] {
        let judged = run(&["check", "--spec", "register", "--memory", "4MiB", file]);
        assert!(judged.code == 3 && judged.stdout.contains("unknown"), "{judged:?}");
    }
}

#[test]
fn results_that_nothing_says_are_warned_of() {
    let scratch = Scratch::new("no-result");
    let map = scratch.file("map.toml", "f = \"op\"\ncall = \"t0\"\nreturn = \"t1\"\n");
    let text = "{\"op\":\"read\",\"out\":5,\"t0\":1,\"t1\":2}\n";
    let judged = run_with_input(&["check", "--spec", "register", "--map", &map, "-"], text.as_bytes());
    assert_eq!(judged.code, 0, "{judged:?}");
    assert!(
        judged.stderr.contains("warning: -: the mapping has no `result` for 1 return of `read`, first on line 1"),
        "{judged:?}"
    );
    let linted = run_with_input(&["lint", "--map", &map, "-"], text.as_bytes());
    assert!(linted.code == 1 && linted.stdout.contains("no-result"), "{linted:?}");
    // If it matters which process calls, the mapping must name processes.
    let locks = run_with_input(&["check", "--spec", "exchanger", "--map", &map, "-"], text.as_bytes());
    assert!(locks.code == 2 && locks.stderr.contains("the mapping does not assign `process`"), "{locks:?}");
}

/// A register that is read before it is written, logged with names of processes.
const NAMED: &str = "who,op,arg,got,t0,t1\nclient-a,write,5,,10,20\nclient-b,read,,7,30,40\n";

#[test]
fn reports_name_processes_as_the_log_does() {
    let scratch = Scratch::new("named");
    let log = scratch.file("named.csv", NAMED);
    let map = scratch.file(
        "named.toml",
        "format = \"csv\"\nprocess = \"who\"\nf = \"op\"\nvalue = \"arg\"\nresult = \"got\"\ncall = \"t0\"\nreturn = \"t1\"\n",
    );
    let args = |command: &'static str| [command, "--spec", "register", "--map", &map, &log].map(str::to_owned);
    let run = |command, more: &[&str]| {
        let args = args(command);
        run(&args.iter().map(String::as_str).chain(more.iter().copied()).collect::<Vec<_>>())
    };
    let checked = run("check", &[]);
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(checked.stdout.contains("of process client-b (line 3) returned 7"), "{checked:?}");
    assert!(checked.stdout.contains("process client-a  "), "the picture: {checked:?}");
    assert!(run("explain", &[]).stdout.contains("of process client-"), "{checked:?}");
    let json = run("check", &["--json"]).stdout;
    assert!(json.contains(r#""process":1,"process_name":"client-b","operation":"#), "{json}");
    let page = scratch.0.join("named.html");
    let page = page.to_str().expect("plain");
    run("check", &["--view", page]);
    assert!(std::fs::read_to_string(page).expect("the page was drawn").contains("process client-a"));
    // With a skew, operations may be assigned to other processes, so there are no names.
    let skewed = run("check", &["--clock-skew", "1"]);
    assert!(skewed.code == 1 && !skewed.stdout.contains("client-"), "{skewed:?}");
    // The format is not said to be JSON lines.
    let linted = run("lint", &[]);
    assert!(linted.stdout.contains("2 operations, mapped\n"), "{linted:?}");
}

#[test]
fn mappings_are_proposed_and_shown() {
    let scratch = Scratch::new("map");
    let log = scratch.file("foreign.jsonl", FOREIGN);
    let proposed = run(&["map", "--guess", &log]);
    assert_eq!(proposed.code, 0, "{proposed:?}");
    assert!(proposed.stdout.contains("# line 1: process ann: offer([1]) -> true\n"), "{proposed:?}");
    let map = scratch.file("proposal.toml", &proposed.stdout);
    let shown = run(&["map", &log, "--map", &map, "--show", "1"]);
    assert_eq!(shown.stdout, "2 operations, 0 never returned\nline 1: process ann: offer([1]) -> true\n...\n");
    let nothing = scratch.file("nothing.jsonl", "{\"a\":1,\"b\":{\"c\":2}}\n");
    let failed = run(&["map", "--guess", &nothing]);
    assert!(failed.code == 2 && failed.stderr.contains("no complete mapping could be guessed"), "{failed:?}");
    assert!(failed.stdout.contains("#   b.c\n"), "{failed:?}");
    assert_eq!(run(&["map", &log]).code, 2, "neither --guess nor --map");
    assert_eq!(run_with_input(&["map", "--guess", "-"], b"{}").code, 2);
}

#[test]
fn versions_are_hints() {
    let scratch = Scratch::new("versions");
    let line = |process: u32, f: &str, value: &str, times: (u32, u32), version: u32| {
        format!(
            "{{\"process\":{process},\"f\":\"{f}\",{value},\"call\":{},\"return\":{},\"version\":{version}}}\n",
            times.0, times.1
        )
    };
    let one = line(0, "write", "\"value\":1", (1, 2), 1);
    let good = one.clone() + &line(1, "write", "\"value\":2", (3, 4), 2) + &line(2, "read", "\"result\":2", (5, 6), 2);
    let bad = one + &line(1, "write", "\"value\":2", (3, 4), 0);
    let (good, bad) = (scratch.file("good.jsonl", good), scratch.file("bad.jsonl", bad));
    let check =
        |versions: &str, file: &str| run(&["check", "--json", "--spec", "register", "--versions", versions, file]);
    for (versions, code) in [("hint", 0), ("strict", 1), ("ignore", 0)] {
        let judged = check(versions, &bad);
        assert_eq!(judged.code, code, "{versions}: {judged:?}");
        assert!(judged.stdout.contains("\"verdict\":\"accepted\""), "{judged:?}");
        let note = "versions contradict real-time order: by version, write(2) with version 0 on line 2 comes before write(1) with version 1 on line 1";
        assert_eq!(judged.stdout.contains(note), versions != "ignore", "{judged:?}");
    }
    let judged = check("strict", &good);
    assert!(judged.code == 0 && judged.stdout.contains("\"choice\":\"the order of versions\""), "{judged:?}");
    for format in ["jsonl", "jsonl-operations", "csv"] {
        let converted = run(&["convert", &good, "--to", format]);
        let again = run_with_input(&["convert", "-", "--to", "jsonl"], converted.stdout.as_bytes());
        assert_eq!(again.stdout.matches("\"version\":").count(), 3, "{format}: {converted:?}");
    }
}
