//! Tests `check --core`: the few operations that cause a rejection.

use std::fmt::Write as _;
use std::path::Path;

use super::{ACCEPTED, Scratch, json, run, run_with_input};

/// Returns a history in which a hundred elements are enqueued, and the third and the fourth are dequeued in the wrong
/// order.
fn long_queue() -> String {
    let mut lines = String::new();
    let mut line = |process: u32, f: &str, value: u32, result: &str, call: u32| {
        let value = if f == "enqueue" { value.to_string() } else { "null".to_owned() };
        let ret = call + 1;
        writeln!(
            lines,
            r#"{{"process":{process},"f":"{f}","value":{value},"result":{result},"call":{call},"return":{ret}}}"#
        )
        .expect("a string");
    };
    for value in 0..100 {
        line(0, "enqueue", value, "null", 10 * value);
    }
    for (place, value) in (0..).zip([0, 1, 3, 2]) {
        line(1, "dequeue", 0, &value.to_string(), 2000 + 10 * place);
    }
    lines
}

#[test]
fn a_core_is_printed() {
    let scratch = Scratch::new("core");
    let file = scratch.file("long.jsonl", long_queue());
    let judged = run(&["check", "--spec", "queue", "--core", &file]);
    assert_eq!(judged.code, 1, "{judged:?}");
    let lines: Vec<&str> = judged.stdout.lines().collect();
    let core = lines.iter().position(|line| line.starts_with("  the core")).expect("the report shows a core");
    assert_eq!(
        lines[core..],
        [
            "  the core: no order of these calls is legal, whether or not other calls took effect:",
            "    line 3    process 0  enqueue(2) -> ok",
            "    line 4    process 0  enqueue(3) -> ok  (left out, but named in the explanation)",
            "    line 103  process 1  dequeue() -> 3",
            "  102 calls are left out: which of them took effect makes no difference",
            "  why:",
            "    enqueue(2) of process 0 (line 3) returned before enqueue(3) of process 0 (line 4) was called.",
            "    enqueue(2) came before enqueue(3), so that its value was in front of the one that dequeue() -> 3 of",
            "      process 1 (line 103) got, and nothing had taken it out: so there is no place for dequeue() -> 3.",
        ]
    );
    assert_eq!(judged.stderr, "");
    let without = run(&["check", "--spec", "queue", &file]);
    assert!(!without.stdout.contains("the core"), "{without:?}");
}

#[test]
fn a_core_is_a_field_of_json() {
    let judged = run_with_input(&["check", "--spec", "queue", "--core", "--json", "-"], long_queue().as_bytes());
    assert_eq!(judged.code, 1, "{judged:?}");
    let object = json(&judged.stdout);
    let core = &object["core"];
    assert_eq!((&core["minimal"], &core["undecided"], &core["left_out"]), (&true.into(), &0.into(), &102.into()));
    assert!(core["confirmed"] == true && core["judgements"].as_u64().is_some_and(|count| count > 0), "{core}");
    let operations = core["operations"].as_array().expect("a list");
    let told = |index: usize| {
        let operation = &operations[index];
        let text = |field: &str| operation[field].as_str().expect("text").to_owned();
        (text("operation"), text("result"), text("role"), operation["call_line"].as_u64())
    };
    let expected = |operation: &str, result: &str, role: &str, line| {
        (operation.to_owned(), result.to_owned(), role.to_owned(), Some(line))
    };
    assert_eq!(operations.len(), 3);
    assert_eq!(told(0), expected("enqueue(2)", "ok", "completed", 3));
    assert_eq!(told(1), expected("enqueue(3)", "ok", "forgotten", 4));
    assert_eq!(told(2), expected("dequeue()", "3", "completed", 103));
    let in_core = operations.iter().map(|operation| operation["in_core"] == true).collect::<Vec<_>>();
    assert_eq!(in_core, [true, false, true], "the explanation names the second");
    assert_eq!(core["left_out_calls"].as_array().map_or(0, Vec::len), 102);
    let evidence = &object["evidence"];
    assert_eq!((&evidence["is_first"], &evidence["all_allowed"]), (&true.into(), &true.into()));
    assert_eq!(evidence["allowed"], serde_json::json!(["2"]));
    assert_eq!(evidence["refused"]["operation"], "dequeue()");
    assert_eq!((&evidence["event"], &evidence["refused"]["return_event"]), (&205.into(), &205.into()));
    assert_eq!((&evidence["prefix_length"], &evidence["open"]), (&102.into(), &serde_json::json!([])));
    assert_eq!((&operations[2]["process"], &operations[2]["in_part"]), (&1.into(), &false.into()));
    assert_eq!((&operations[0]["call_event"], &operations[0]["return_event"]), (&4.into(), &5.into()));
    // All other fields are the same as without a core.
    let without = json(&run_with_input(&["check", "--spec", "queue", "--json", "-"], long_queue().as_bytes()).stdout);
    for (field, value) in without.as_object().expect("an object") {
        assert!(field == "stats" || object[field] == *value, "{field}");
    }
    let accepted = run_with_input(&["check", "--spec", "queue", "--core", "--json", "-"], ACCEPTED.as_bytes());
    assert!(json(&accepted.stdout).get("core").is_none(), "{accepted:?}");
}

#[test]
fn what_a_core_begins_behind_is_told() {
    let text = r#"{"process":0,"f":"write","value":7,"call":1,"return":2}
        {"process":0,"f":"write","value":8,"call":3,"return":4}
        {"process":1,"f":"read","result":7,"call":5,"return":6}"#;
    let judged = run_with_input(&["check", "--spec", "register", "--core", "-"], text.as_bytes());
    let core = judged.stdout.split_once("  the core").expect("the report shows a core").1;
    assert_eq!(
        core,
        ": no order of these calls is legal, whether or not other calls took effect:
    line 2  process 0  write(8) -> ok  (calls that returned before it was called do not matter)
    line 3  process 1  read() -> 7
  1 call is left out: whether it took effect makes no difference
  why:
    write(8) of process 0 (line 2) leaves the object in the same state whatever happened before, so calls that
      returned before it was called do not matter: the explanation starts right after it.
    read() -> 7 of process 1 (line 3) could not have returned that right after write(8); with the results that
      were recorded, no other call that matters leads to a state that allows this return: so there is no place
      for read() -> 7.
"
    );
}

#[test]
fn lists_and_transactions_are_told_in_part() {
    let log = r#"{"process":0,"f":"append","value":1,"call":1,"return":2}
        {"process":0,"f":"append","value":2,"call":3,"return":4}
        {"process":0,"f":"append","value":3,"call":5,"return":6}
        {"process":1,"f":"read","result":[1,3],"call":7,"return":8}"#;
    let judged = run_with_input(&["check", "--spec", "log", "--core", "-"], log.as_bytes());
    let core = judged.stdout.split_once("  the core").expect("the report shows a core").1;
    assert!(core.contains("line 2  process 0  append(2) -> ok\n"), "{core}");
    assert!(core.contains("line 4  process 1  read() -> []  (only the part that matters)\n"), "{core}");
    assert!(core.contains("2 calls are left out"), "{core}");
}

#[test]
fn every_rejected_history_of_ours_has_a_minimal_core_and_is_explained() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let table = std::fs::read_to_string(testdata.join("VERDICTS.tsv")).expect("the file can be read");
    let mut cores = 0;
    for row in table.lines().skip(1).filter(|row| row.contains("\trejected\t")) {
        let mut cells = row.split('\t');
        let (Some(file), Some(spec)) = (cells.next(), cells.next()) else { panic!("{row:?}") };
        let file = testdata.join(file);
        let judged = run(&["check", "--spec", spec, "--core", "--json", file.to_str().expect("the path is UTF-8")]);
        let object = json(&judged.stdout);
        let core = &object["core"];
        let operations = core["operations"].as_array().unwrap_or_else(|| panic!("{row}: {object}"));
        assert!(!operations.is_empty() && core["minimal"] == true && core["confirmed"] == true, "{row}: {core}");
        let in_core = operations.iter().filter(|operation| operation["in_core"] == true).count();
        let known = in_core as u64 + core["left_out"].as_u64().expect("a number");
        assert_eq!(Some(known), object["operations"].as_u64(), "{row}: {core}");
        let explanation =
            object["explanation"].as_array().unwrap_or_else(|| panic!("{row} is not explained: {object}"));
        assert!(!explanation.is_empty(), "{row}");
        cores += 1;
    }
    assert!(cores > 20, "{cores}");
}

#[test]
fn the_time_for_a_core_can_be_limited() {
    let check =
        |args: &[&str]| run_with_input(&[&["check", "--spec", "queue", "-"], args].concat(), long_queue().as_bytes());
    assert_eq!(check(&["--core", "--core-timeout", "1s"]).code, 1);
    // With a time limit of 0, the core is the whole failing prefix.
    let judged = check(&["--core", "--core-timeout", "0s"]);
    assert!(judged.stdout.contains("the core may not be minimal: "), "{judged:?}");
    assert_eq!(check(&["--core-timeout", "1s"]).code, 2, "a limit of nothing");
    assert_eq!(check(&["--core", "--core-timeout", "soon"]).code, 2);
}
