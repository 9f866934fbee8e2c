//! Files that other tools wrote, or that follow the descriptions of their formats: `testdata/foreign`.

use std::fs;
use std::path::Path;

use super::{Scratch, run, run_with_input};

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign").join(name).display().to_string()
}

/// The values of the operations in the samples, as texts. Other samples have numbers or lists
/// instead.
const TEXTS: [&str; 5] = ["\"apple\"", "\"pêche\"", "\"apple\"", "\"pêche\"", "\"plum\""];
const NUMBERS: [&str; 5] = ["1", "2", "1", "2", "3"];
const LISTS: [&str; 5] = ["[1,2]", "[3]", "[1,2]", "[3]", "[4]"];

fn history(values: [&str; 5]) -> String {
    let [one, two, three, four, five] = values;
    format!(
        r#"{{"process":0,"f":"enqueue","value":{one},"result":null,"call":0,"return":2}}
{{"process":1,"f":"enqueue","value":{two},"result":null,"call":1,"return":3}}
{{"process":0,"f":"dequeue","value":null,"result":{three},"call":4,"return":6}}
{{"process":1,"f":"dequeue","value":null,"result":{four},"call":5,"return":7}}
{{"process":2,"f":"dequeue","value":null,"result":{five},"call":8,"return":9}}
"#
    )
}

/// Returns the operations without notes, and without the results that Jepsen's formats repeat: a successful enqueue returns
/// its argument.
fn plain(operations: &str, values: [&str; 5]) -> String {
    let operations = operations.lines().filter(|line| !line.contains("\"note\""));
    let operations: String = operations.map(|line| format!("{line}\n")).collect();
    let repeated = |value: &str| format!("\"value\":{value},\"result\":{value},");
    let silent = |value: &str| format!("\"value\":{value},\"result\":null,");
    values[..2].iter().fold(operations, |text, value| text.replace(&repeated(value), &silent(value)))
}

/// Each sample, with options for reading it and the values of its history.
fn samples() -> Vec<(&'static str, Vec<String>, [&'static str; 5])> {
    let map = |mapping: &str| vec!["--map".to_owned(), mapping.to_owned()];
    let mut samples = vec![
        ("otlp.json", map("otlp"), TEXTS),
        ("jaeger.json", map("jaeger"), TEXTS),
        ("pyarrow-structs.arrow", map(&sample("strange.toml")), NUMBERS),
        ("pyarrow-structs.parquet", map(&sample("strange.toml")), NUMBERS),
    ];
    for name in [
        "duckdb.csv",
        "duckdb.parquet",
        "duckdb-zstd.parquet",
        "history.jsonl",
        "jepsen.json",
        "polars.tsv",
        "polars-views.arrow",
        "pyarrow.csv",
        "pyarrow.feather",
        "pyarrow-dictionary.arrow",
        "pyarrow-snappy.parquet",
        "pyarrow-union.arrow",
        "pyarrow-zstd.parquet",
    ] {
        samples.push((name, Vec::new(), TEXTS));
    }
    for name in [
        "pandas.csv",
        "pandas.feather",
        "pandas.parquet",
        "pandas-zstd.parquet",
        "polars.arrow",
        "polars.parquet",
        "pyarrow-deltas.parquet",
    ] {
        samples.push((name, Vec::new(), NUMBERS));
    }
    samples.extend(["pyarrow-lists.arrow", "pyarrow-lists.parquet"].map(|name| (name, Vec::new(), LISTS)));
    samples
}

#[test]
fn each_sample_is_judged_in_one_command() {
    for (name, options, values) in samples() {
        let file = sample(name);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let judged = run(&[&["check", "--spec", "queue", &file], &options[..]].concat());
        assert_eq!(judged.code, 1, "{name}: {judged:?}");
        let expected = format!("returned {}, but could only have returned ", values[4]);
        assert!(judged.stdout.contains(&expected), "{name}: {judged:?}");
        // OpenTelemetry's and Jaeger's spans of `enqueue` may have no result.
        assert!(judged.stderr.is_empty() || name == "jaeger.json", "{name}: {judged:?}");
        let linted = run(&[&["lint", "--spec", "queue", &file], &options[..]].concat());
        assert!(linted.stdout.contains(": 5 operations, "), "{name}: {linted:?}");
    }
    let judged = run(&["check", "--spec", "multi-register", &sample("elle.json")]);
    assert!(judged.code == 1 && judged.stdout.contains("(lines 5-6)"), "{judged:?}");
}

/// Every sample has the same history, and every format that can hold it gives it back.
#[test]
fn each_sample_is_converted_and_back() {
    let scratch = Scratch::new("samples");
    for (name, options, values) in samples() {
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let converted = run(&[&["convert", &sample(name), "--to", "jsonl-operations"], &options[..]].concat());
        assert_eq!(plain(&converted.stdout, values), history(values), "{name}: {converted:?}");
    }
    for values in [TEXTS, NUMBERS, LISTS] {
        let file = scratch.file("original.jsonl", history(values));
        for format in ["jsonl", "jepsen", "jepsen-log", "porcupine-kv", "porcupine-json", "events", "csv", "parquet"] {
            let written = scratch.file(&format!("history.{format}"), "");
            let converted = run(&["convert", &file, "--to", format, "-o", &written]);
            if format == "porcupine-kv" {
                assert!(converted.code == 2 && converted.stderr.contains("has no key"), "{converted:?}");
                continue;
            }
            assert_eq!(converted.code, 0, "{format}: {converted:?}");
            assert_eq!(run(&["check", "--quiet", "--spec", "queue", &written]).code, 1, "{format}");
            let again = run(&["convert", &written, "--to", "jsonl-operations"]);
            assert_eq!(plain(&again.stdout, values), history(values), "{format}");
        }
    }
}

#[test]
fn what_is_not_supported_is_named() {
    let union = run(&["check", "--spec", "queue", &sample("pyarrow-union-value.arrow")]);
    assert_eq!(union.code, 2, "{union:?}");
    assert!(union.stderr.contains("the column `value` has an Arrow type that is not supported (union)"), "{union:?}");
    let unmapped = run(&["check", "--spec", "queue", &sample("pyarrow-structs.arrow")]);
    assert!(unmapped.code == 2 && unmapped.stderr.contains("`trueline map --guess` proposes one"), "{unmapped:?}");
    for (name, preset) in [("otlp.json", "--map otlp"), ("jaeger.json", "--map jaeger")] {
        for command in ["check", "lint"] {
            let judged = run(&[command, "--spec", "queue", &sample(name)]);
            assert!(judged.code == 2 && judged.stderr.contains(preset), "{judged:?}");
        }
    }
    let old = run_with_input(&["check", "--spec", "queue", "-"], b"FEA1\0\0\0\0");
    assert!(old.code == 2 && old.stderr.contains("write it as version 2"), "{old:?}");
}

#[test]
fn mappings_of_typed_columns_are_proposed() {
    let scratch = Scratch::new("samples-map");
    for name in ["pyarrow-structs.arrow", "pyarrow-structs.parquet"] {
        let file = sample(name);
        let guessed = run(&["map", "--guess", &file]);
        assert!(guessed.stdout.contains("process = \"client\"\nf = \"request.op\"\n"), "{name}: {guessed:?}");
        assert!(guessed.stdout.contains("# 5 operations, 0 never returned\n"), "{name}: {guessed:?}");
        // The proposal is a mapping. It keeps arguments as lists, which only a reader can know to be single values.
        let map = scratch.file("map.toml", guessed.stdout.replace("\"request.args\"", "\"request.args[0]\""));
        let judged = run(&["check", "--spec", "queue", "--map", &map, &file]);
        assert!(judged.code == 1 && judged.stdout.contains("returned 3, but"), "{name}: {guessed:?} {judged:?}");
    }
}

/// Every sample, cut off anywhere, is an error with a reason, or still a history; never a panic.
#[test]
fn a_sample_that_is_cut_off_is_an_error() {
    for name in ["pyarrow-dictionary.arrow", "pyarrow-lists.arrow", "pandas.feather", "pyarrow-zstd.parquet"] {
        let content = fs::read(sample(name)).expect("the file can be read");
        for length in (9..content.len()).step_by(content.len() / 12) {
            let judged = run_with_input(&["check", "--spec", "queue", "-"], &content[..length]);
            // An Arrow stream without its last batches is still valid.
            let is_stream = name == "pyarrow-lists.arrow";
            assert!(judged.code == 2 || (judged.code < 2 && is_stream), "{name} to {length}: {judged:?}");
            assert!(!judged.stderr.contains("panicked"), "{name} to {length}: {judged:?}");
            assert_eq!(judged.code == 2, judged.stderr.contains("again"), "{name} to {length}: {judged:?}");
        }
    }
}
