//! Tests `lint`: problems of histories, and predictions of how hard they are to judge.

use std::fs;

use super::{ACCEPTED, Scratch, json, run, run_with_input};

/// Returns the code, severity and count of all findings, and the exit code.
fn findings(args: &[&str], text: &str) -> (i32, Vec<(String, String, u64)>) {
    let linted = run_with_input(&[&["lint", "--json"], args, &["-"]].concat(), text.as_bytes());
    let object = json(&linted.stdout);
    let all = object["findings"].as_array().unwrap_or_else(|| panic!("{linted:?}"));
    let of = |finding: &serde_json::Value| {
        let text = |name: &str| finding[name].as_str().expect("a text").to_owned();
        (text("code"), text("severity"), finding["line"].as_u64().unwrap_or(0))
    };
    (linted.code, all.iter().map(of).collect())
}

fn lines(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{{{line}}}\n")).collect()
}

#[test]
fn a_clean_file() {
    let text = lines(&[
        r#""process":0,"type":"invoke","f":"write","value":1,"time":1"#,
        r#""process":0,"type":"ok","f":"write","value":1,"time":2"#,
    ]);
    assert_eq!(findings(&["--spec", "register"], &text), (0, Vec::new()));
    let linted = run_with_input(&["lint", "-"], text.as_bytes());
    assert_eq!(
        linted.stdout,
        "-: 1 operations, jsonl\n  forecast: easy; it has 1 operations, at most 1 open at once (line 1), 0 without a return\n"
    );
}

#[test]
fn each_trap_is_named() {
    let found = |code: &str, severity: &str, line: u64| (code.to_owned(), severity.to_owned(), line);
    let invoke = r#""process":0,"type":"invoke","f":"read""#;
    let ok = r#""process":0,"type":"ok","f":"read","value":1"#;
    for (args, text, expected) in [
        (&[][..], lines(&[ok, invoke, ok]), found("unpaired", "problem", 1)),
        (&[], lines(&[invoke, invoke, ok]), found("unpaired", "problem", 2)),
        (&[], lines(&[invoke, r#""process":0,"type":"ok","f":"write""#, ok]), found("unpaired", "problem", 2)),
        (
            &[],
            lines(&[r#""process":0,"f":"r","call":5,"return":4"#, r#""process":0,"f":"r","call":5,"return":6"#]),
            found("return-before-call", "problem", 1),
        ),
        (
            &[],
            lines(&[r#""process":0,"f":"r","call":1,"return":6"#, r#""process":0,"f":"r","call":5,"return":9"#]),
            found("overlap-in-process", "problem", 2),
        ),
        (
            &[],
            lines(&[r#""process":0,"f":"r","call":1,"return":6"#, r#""process":1,"f":"r","call":6,"return":9"#]),
            found("time-equal", "warning", 2),
        ),
        (
            &[],
            lines(&[
                r#""process":0,"f":"r","call":1,"return":6"#,
                r#""process":0,"f":"r","call":6,"return":9"#,
                r#""process":1,"f":"r","call":2,"return":6"#,
                r#""process":1,"f":"r","call":6,"return":8"#,
            ]),
            found("own-order", "warning", 2),
        ),
        (
            &[],
            lines(&[r#""process":0,"f":"r","call":6,"return":6"#, r#""process":0,"f":"r","call":6,"return":6"#]),
            found("time-equal", "note", 2),
        ),
        (
            &[],
            lines(&[r#""process":0,"type":"invoke","f":"r","time":5"#, r#""process":0,"type":"ok","f":"r","time":4"#]),
            found("time-backward", "warning", 2),
        ),
        (
            &[],
            lines(&[
                r#""process":0,"type":"invoke","f":"r","time":5"#,
                r#""process":1,"type":"invoke","f":"r","time":5"#,
            ]),
            found("time-equal", "note", 2),
        ),
        (&[], lines(&[invoke, r#""process":0,"type":"ok","f":"read","value":null"#]), found("nil-read", "warning", 2)),
        (
            &["--spec", "register", "--nil-wildcard"],
            lines(&[invoke, r#""process":0,"type":"ok","f":"read","value":null"#]),
            found("nil-read", "note", 2),
        ),
        (
            &["--spec", "register"],
            lines(&[invoke, r#""process":0,"type":"ok","f":"read","value":[5,null]"#]),
            found("nil-read", "warning", 2),
        ),
        (&[], lines(&[r#""process":0,"type":"invoke","f":"read","value":[5,null]"#]), found("tuples", "warning", 1)),
        (
            &["--spec", "set"],
            lines(&[r#""process":0,"f":"add","value":1,"result":7,"call":1,"return":2"#]),
            found("outside-the-model", "problem", 1),
        ),
        (
            &["--spec", "queue"],
            lines(&[r#""process":0,"f":"deq","result":7,"call":1,"return":2"#]),
            found("from-nowhere", "warning", 1),
        ),
        (&["--spec", "register:0"], lines(&[invoke, ok]), found("from-nowhere", "warning", 2)),
        (
            &["--spec", "register"],
            lines(&[
                r#""process":0,"f":"read","result":7,"call":1,"return":2"#,
                r#""process":1,"f":"write","value":7,"call":5,"return":6"#,
            ]),
            found("clock", "warning", 1),
        ),
        (&[], lines(&[invoke, r#""process":0,"type":"fail","f":"read""#, invoke, ok]), found("failed", "note", 2)),
        (
            &[],
            lines(&[invoke, r#""process":0,"type":"info","f":"read""#, invoke, ok]),
            found("process-goes-on", "note", 3),
        ),
        (&[], lines(&[invoke, r#""process":"nemesis","type":"info","f":"kill""#]), found("nemesis", "note", 2)),
        (&[], lines(&[invoke, r#""process":0,"type":"ok","node":5"#]), found("other-fields", "note", 2)),
        (&[], "; c\n({:process 0, :type :invoke, :f :read})".to_owned(), found("comment", "note", 1)),
        (&[], "({:process 0, :type :invoke, :f :read})".to_owned(), found("container", "note", 1)),
        (
            &[],
            "({:process 0, :type :invoke, :f :read :time 5} {:process 0 :type :ok :f :read :time 3})".to_owned(),
            found("time-backward", "warning", 1),
        ),
        (&[], "0 :invoke :read nil\n0 :ok :read 5\n1 :ok :read 5\n".to_owned(), found("unpaired", "problem", 3)),
    ] {
        let (code, all) = findings(args, &text);
        assert!(all.contains(&expected), "{expected:?} is not in {all:?} of {text}");
        assert_eq!(code, i32::from(all.iter().any(|(_, severity, _)| severity != "note")), "{all:?}");
        if expected.1 == "problem" {
            // `check` refuses each file in which `lint` finds a problem.
            let spec = args.get(1).copied().unwrap_or("register");
            assert_eq!(run_with_input(&["check", "--spec", spec, "-"], text.as_bytes()).code, 2, "{text}");
        }
    }
}

/// If all operations of a file are left out, the reason is still reported.
#[test]
fn nothing_but_broken_pairs() {
    let ok = r#""process":0,"type":"ok","f":"read","value":1"#;
    let back = r#""process":0,"f":"read","call":5,"return":4"#;
    for (text, code) in [(lines(&[ok, ok]), "unpaired"), (lines(&[back]), "return-before-call")] {
        for args in [&[][..], &["--spec", "register"]] {
            let (exit, found) = findings(args, &text);
            assert_eq!((exit, found), (1, vec![(code.to_owned(), "problem".to_owned(), 1)]), "{text}");
            let shown = run_with_input(&[&["lint"], args, &["-"]].concat(), text.as_bytes());
            assert!(shown.stdout.starts_with("-: 0 operations") && !shown.stdout.contains("forecast"), "{shown:?}");
        }
    }
    // A history without operations, or with failed ones only, is accepted, with a warning.
    let failed = lines(&[r#""process":0,"type":"invoke","f":"read""#, r#""process":0,"type":"fail","f":"read""#]);
    for text in ["", "[]", &failed] {
        let linted = run_with_input(&["lint", "-"], text.as_bytes());
        assert!(linted.code == 1 && linted.stdout.contains("no-operations"), "{linted:?}");
    }
}

#[test]
fn hints() {
    let text = lines(&[
        r#""process":0,"f":"read","result":7,"call":1,"return":2"#,
        r#""process":1,"f":"write","value":7,"call":15,"return":16"#,
        r#""process":2,"f":"read","result":"7","call":17,"return":18"#,
    ]);
    let linted = run_with_input(&["lint", "--spec", "register", "-"], text.as_bytes());
    assert_eq!(linted.code, 1);
    assert!(linted.stdout.contains("give --clock-skew 13 to `check`"), "{}", linted.stdout);
    assert!(
        linted.stdout.contains("an operation inserted 7: log the two values in the same form"),
        "{}",
        linted.stdout
    );
    let first_two: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    let check = |skew: &str| {
        run_with_input(&["check", "--spec", "register", "--clock-skew", skew, "-"], first_two.as_bytes()).code
    };
    assert_eq!((check("12"), check("13")), (1, 0));
}

#[test]
fn the_forecast_names_the_worst_part() {
    let scratch = Scratch::new("forecast");
    let mut text = String::new();
    for process in 0..30 {
        text += &format!(
            "{{\"process\":{process},\"f\":\"put\",\"key\":\"hot\",\"value\":1,\"call\":5,\"return\":null}}\n"
        );
    }
    for process in 30..40 {
        text += &format!(
            "{{\"process\":{process},\"f\":\"put\",\"key\":\"cold\",\"value\":1,\"call\":{process},\"return\":99}}\n"
        );
    }
    let file = scratch.file("hot.jsonl", &text);
    for args in [&["lint", "--json", "--spec", "map", &file][..], &["lint", "--json", &file]] {
        let forecast = json(&run(args).stdout)["forecast"].clone();
        assert_eq!(forecast["partitions"], 2);
        assert_eq!(forecast["widest_overlap"], 40);
        assert_eq!(forecast["hardness"], "hard");
        assert_eq!(forecast["worst"]["name"], "\"hot\"");
        assert_eq!(forecast["worst"]["pending"], 30);
        assert_eq!(forecast["worst"]["widest_overlap"], 30);
    }
}

#[test]
fn several_files_and_bad_ones() {
    let scratch = Scratch::new("lint-files");
    scratch.file("a.jsonl", ACCEPTED);
    scratch.file("b.jsonl", "nonsense");
    let linted = run(&["lint", "--json", scratch.path()]);
    assert_eq!(linted.code, 2, "{linted:?}");
    assert_eq!(linted.stdout.lines().count(), 2);
    assert!(linted.stderr.contains("b.jsonl:1: this is not JSON"), "{linted:?}");
    assert!(json(linted.stdout.lines().nth(1).expect("two")).get("error").is_some());
    assert_eq!(run(&["lint", "--spec", "quee", scratch.path()]).code, 2);
    assert_eq!(run(&["lint", "--nil-wildcard", scratch.path()]).code, 2);
    assert_eq!(run(&["lint", "/no/such/file"]).code, 2);
}

/// Finds the problems of Knossos' histories that surprise readers.
#[test]
fn the_traps_of_knossos() {
    let Some(directory) = super::foreign("knossos/cas-register") else { return };
    let linted = run(&["lint", "--json", "--spec", "cas-register:0", directory.to_str().expect("the path is UTF-8")]);
    assert_eq!(linted.code, 1, "{}", linted.stderr);
    let mut seen: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    for line in linted.stdout.lines() {
        let report = json(line);
        let file = report["file"].as_str().expect("a name");
        let text = fs::read_to_string(file).expect("the file was read");
        let codes: Vec<&str> = report["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|finding| finding["code"].as_str().expect("a text"))
            .collect();
        for code in &codes {
            *seen.entry((*code).to_owned()).or_default() += 1;
        }
        // These findings can be checked in the text, without our reader.
        assert_eq!(
            codes.contains(&"nemesis"),
            text.contains(":process :nemesis") || text.contains(":nemesis,"),
            "{file}"
        );
        let first =
            text.lines().find(|line| !line.trim_start().starts_with(';') && !line.trim().is_empty()).unwrap_or("");
        assert_eq!(codes.contains(&"container"), first.trim_start().starts_with(['[', '(']), "{file}");
        assert_eq!(codes.contains(&"failed"), text.contains(":type :fail") || text.contains(":fail"), "{file}");
        // These files are not broken.
        assert!(!codes.contains(&"unpaired") && !codes.contains(&"process-goes-on"), "{file}: {codes:?}");
        let event = |words: &[&str]| text.split('{').any(|event| words.iter().all(|word| event.contains(word)));
        assert_eq!(codes.contains(&"nil-read"), event(&[":ok", ":read", ":value nil"]), "{file}: {codes:?}");
        assert_eq!(
            codes.contains(&"info"),
            event(&[":info", ":read"]) || event(&[":info", ":write"]) || event(&[":info", ":cas"]),
            "{file}: {codes:?}"
        );
    }
    for code in ["nil-read", "read-value", "failed", "info", "open", "container", "comment", "nemesis"] {
        assert!(seen.contains_key(code), "{code} is in none: {seen:?}");
    }
}

/// Lints a file of Knossos, changed by `edit`, and expects a finding: its code, severity, line and count.
fn knossos(path: &str, args: &[&str], edit: impl FnOnce(String) -> String, expected: (&str, &str, u64, u64)) {
    let Some(file) = super::foreign(&format!("knossos/{path}")) else { return };
    let text = edit(fs::read_to_string(file).expect("the file can be read"));
    let linted = run_with_input(&[&["lint", "--json"], args, &["-"]].concat(), text.as_bytes());
    let report = json(&linted.stdout);
    let found: Vec<(&str, &str, u64, u64)> = report["findings"]
        .as_array()
        .unwrap_or_else(|| panic!("{linted:?}"))
        .iter()
        .map(|finding| {
            let text = |name: &str| finding[name].as_str().expect("a text");
            let number = |name: &str| finding[name].as_u64().unwrap_or(0);
            (text("code"), text("severity"), number("line"), number("count"))
        })
        .collect();
    assert!(found.contains(&expected), "{path}: {expected:?} is not in {found:?}");
    assert_eq!(linted.code, i32::from(found.iter().any(|(_, severity, ..)| *severity != "note")), "{path}: {found:?}");
    // The text output contains the same finding.
    let shown = run_with_input(&[&["lint"], args, &["-"]].concat(), text.as_bytes());
    let (code, severity, line, count) = expected;
    let often = if count > 1 { format!(" ({count} times)") } else { String::new() };
    let is_shown =
        |shown: &str| shown.starts_with(&format!("  {severity} {code}: line {line}: ")) && shown.ends_with(&often);
    assert!(shown.stdout.lines().any(is_shown), "{path}: {}", shown.stdout);
}

/// Returns the text with its lines in this order, counted from 0, and without a container; lines that are not in the
/// order are left out.
fn reordered(text: &str, order: &[usize]) -> String {
    let inside = text.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')']);
    let lines: Vec<&str> = inside.lines().collect();
    order.iter().map(|line| format!("{}\n", lines[*line])).collect()
}

const REGISTER: [&str; 2] = ["--spec", "cas-register:0"];

#[test]
fn knossos_reads_of_nil_may_mean_anything() {
    let path = "cas-register/good/memstress3-1.edn";
    knossos(path, &REGISTER, |text| text, ("nil-read", "warning", 4, 2));
    knossos(path, &["--spec", "cas-register"], |text| text, ("nil-read", "warning", 4, 2));
    knossos(path, &["--spec", "cas-register:0", "--nil-wildcard"], |text| text, ("nil-read", "note", 4, 2));
    // The warning is correct: the verdict depends on the choice.
    if let Some(file) = super::foreign(&format!("knossos/{path}")) {
        let check =
            |args: &[&str]| run(&[&["check"], args, &[file.to_str().expect("the path is UTF-8")]].concat()).code;
        assert_eq!((check(&REGISTER), check(&["--spec", "cas-register:0", "--nil-wildcard"])), (1, 0));
    }
}

#[test]
fn knossos_calls_of_reads_say_nothing() {
    knossos("cas-register/bad/cas-failure.edn", &REGISTER, |text| text, ("read-value", "note", 2, 132));
}

#[test]
fn knossos_operations_fail_or_are_never_heard_of_again() {
    let path = "cas-register/bad/cas-failure.edn";
    knossos(path, &REGISTER, |text| text, ("failed", "note", 12, 85));
    knossos(path, &REGISTER, |text| text, ("info", "note", 492, 1));
    knossos("cas-register/bad/bad-analysis.edn", &REGISTER, |text| text, ("open", "note", 3, 2));
}

#[test]
fn knossos_has_a_nemesis() {
    knossos("cas-register/bad/cas-failure.edn", &REGISTER, |text| text, ("nemesis", "note", 401, 8));
}

#[test]
fn knossos_files_have_containers_comments_and_other_fields() {
    knossos("cas-register/bad/rethink-fail-minimal.edn", &[], |text| text, ("container", "note", 1, 1));
    knossos("cas-register/bad/bad-analysis.edn", &[], |text| text, ("comment", "note", 10, 1));
    knossos("mutex/bad/etcd.edn", &["--spec", "mutex"], |text| text, ("other-fields", "note", 1, 1135));
    knossos("cas-register/bad/immediate-failure.edn", &[], |text| text, ("other-fields", "note", 3, 1));
}

#[test]
fn knossos_events_that_have_lost_their_pair() {
    let path = "cas-register/bad/bad-analysis.edn";
    // The file lacks the call of the first write, or has two calls of this write.
    knossos(path, &[], |text| reordered(&text, &[1, 2, 3, 4]), ("unpaired", "problem", 1, 1));
    knossos(path, &[], |text| reordered(&text, &[0, 0, 1, 2, 3, 4]), ("unpaired", "problem", 2, 1));
}

#[test]
fn knossos_processes_that_crashed_and_go_on() {
    let path = "cas-register/bad/immediate-failure.edn";
    let crashed = |text: String| reordered(&text, &[0, 1, 2, 1, 2, 3]).replacen(":type :fail", ":type :info", 1);
    knossos(path, &[], crashed, ("process-goes-on", "note", 4, 1));
}

#[test]
fn knossos_values_that_are_pairs_of_keys_and_values() {
    let path = "cas-register/bad/rethink-fail-minimal.edn";
    let independent = |text: String| {
        let lines = text.lines().map(|line| match line.split_once(":value ") {
            Some((before, rest)) => {
                let (value, rest) = rest.split_once(',').expect("a field follows");
                format!("{before}:value [7 {value}],{rest}\n")
            }
            None => format!("{line}\n"),
        });
        lines.collect()
    };
    knossos(path, &REGISTER, independent, ("tuples", "warning", 1, 4));
    // After they are split, the finding disappears.
    if let Some(file) = super::foreign(&format!("knossos/{path}")) {
        let text = independent(fs::read_to_string(file).expect("the file can be read"));
        let args = ["lint", "--spec", "cas-register:0", "--tuples", "objects", "-"];
        let linted = run_with_input(&args, text.as_bytes());
        assert!(!linted.stdout.contains("tuples") && linted.stdout.contains("from-nowhere"), "{}", linted.stdout);
    }
}

#[test]
fn knossos_values_outside_the_model() {
    knossos("mutex/bad/etcd.edn", &REGISTER, |text| text, ("outside-the-model", "problem", 3, 264));
    knossos(
        "cas-register/good/memstress3-1.edn",
        &["--spec", "register"],
        |text| text,
        ("outside-the-model", "problem", 11, 15),
    );
}

#[test]
fn knossos_values_from_nowhere() {
    knossos("cas-register/bad/rethink-fail-minimal.edn", &REGISTER, |text| text, ("from-nowhere", "warning", 7, 1));
    // Only a write that failed wrote this value.
    let path = "cas-register/bad/immediate-failure.edn";
    knossos(path, &REGISTER, |text| text, ("from-nowhere", "warning", 4, 1));
    if let Some(file) = super::foreign(&format!("knossos/{path}")) {
        let linted = run(&["lint", "--spec", "cas-register:0", file.to_str().expect("the path is UTF-8")]);
        let hint = "which no operation inserted; the `write` on line 3 inserted it, but is logged as failed: if it may \
            have happened, log `info`";
        assert!(linted.stdout.contains(hint), "{}", linted.stdout);
    }
}

#[test]
fn knossos_times_go_back() {
    knossos("mutex/bad/etcd.edn", &["--spec", "mutex"], |text| text, ("time-backward", "warning", 6, 6));
    knossos("multi-register/good/multi-register.edn", &[], |text| text, ("time-backward", "warning", 7, 2));
}

#[test]
fn knossos_times_of_a_coarse_clock() {
    // Times in whole seconds.
    let coarse = |text: String| {
        let lines = text.lines().map(|line| match line.split_once(":time ") {
            Some((before, rest)) => {
                let (time, rest) = rest.split_once(',').expect("a field follows");
                let time = time.parse::<u64>().expect("a number");
                format!("{before}:time {},{rest}\n", time - time % 1_000_000_000)
            }
            None => format!("{line}\n"),
        });
        lines.collect()
    };
    knossos("mutex/bad/etcd.edn", &["--spec", "mutex"], coarse, ("time-equal", "note", 3, 641));
}

#[test]
fn knossos_clocks_that_differ() {
    // Process 14 reads 4, and then process 1 writes it.
    let late = |text: String| reordered(&text, &[0, 1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 12, 15, 16, 17, 18]);
    knossos("cas-register/bad/bad-analysis.edn", &REGISTER, late, ("clock", "warning", 5, 1));
}

#[test]
fn how_hard_the_histories_of_others_are() {
    for (path, spec, operations, hardness, parts, widest, worst) in [
        ("knossos/mutex/bad/etcd.edn", "mutex", 264, "easy", 1, 5, ("", 264, 5, 3, 25)),
        ("porcupine/jepsen/etcd_000.log", "cas-register", 85, "moderate", 1, 17, ("", 85, 17, 16, 169)),
        ("porcupine/kv/c50-ok.txt", "kv", 1712, "moderate", 10, 50, ("\"1\"", 190, 12, 0, 2502)),
    ] {
        let Some(file) = super::foreign(path) else { continue };
        let file = file.to_str().expect("the path is UTF-8");
        let report = json(&run(&["lint", "--json", "--spec", spec, file]).stdout);
        let forecast = &report["forecast"];
        assert_eq!(report["operations"], operations, "{path}");
        assert_eq!(forecast["hardness"], hardness, "{path}: {forecast}");
        assert_eq!((&forecast["partitions"], &forecast["widest_overlap"]), (&parts.into(), &widest.into()), "{path}");
        let (name, operations, widest, pending, line) = worst;
        let expected = serde_json::json!(
            {"name": name, "operations": operations, "widest_overlap": widest, "pending": pending, "line": line}
        );
        assert_eq!(forecast["worst"], expected, "{path}");
        let shown = run(&["lint", "--spec", spec, file]).stdout;
        let told =
            format!("{operations} operations, at most {widest} open at once (line {line}), {pending} without a return");
        assert!(shown.contains(&told), "{shown}");
        assert_eq!(shown.contains(&format!("of {parts} parts, the hardest, {name}, has")), parts > 1, "{shown}");
    }
}

#[test]
fn a_rejection_has_the_hint_that_explains_it() {
    let scratch = Scratch::new("hints");
    let write = r#""process":0,"f":"write","value":1,"result":null,"call":0,"return":1"#;
    let read = |result: &str, call: u32| {
        format!(r#""process":0,"f":"read","value":null,"result":{result},"call":{call},"return":{}"#, call + 1)
    };
    let tuples = [
        r#""process":0,"f":"write","value":["x",1],"call":0,"return":1"#,
        r#""process":1,"f":"write","value":["y",2],"call":2,"return":3"#,
        r#""process":0,"f":"read","value":["x",null],"result":["x",1],"call":4,"return":5"#,
    ];
    let hinted = [
        (lines(&tuples), "note: all values are pairs"),
        (lines(&[write, &read("null", 2), &read("null", 4)]), "note: all 2 results of `read` are null"),
        (lines(&[write, &read("null", 2), &read("1", 4)]), "note: a read returned nil"),
        (lines(&[write, &read("\"1\"", 2)]), "note: `read` returned \"1\", which no operation inserted"),
    ];
    for (text, hint) in hinted {
        let file = scratch.file("history.jsonl", text);
        let judged = run(&["check", "--spec", "register", &file]);
        assert_eq!(judged.code, 1, "{judged:?}");
        assert!(judged.stdout.contains(hint), "{hint}: {judged:?}");
        let page = format!("{}/page.html", scratch.path());
        assert_eq!(run(&["view", "--spec", "register", "--output", &page, &file]).code, 0);
        assert!(fs::read_to_string(&page).expect("the page was drawn").contains(r#"<p class="hint" dir="ltr">note: "#));
    }
    // The specification ignores the results of `acquire`.
    let acquired = scratch.file(
        "acquired.jsonl",
        lines(&[
            r#""process":0,"f":"acquire","result":null,"call":0,"return":1"#,
            r#""process":1,"f":"acquire","result":null,"call":2,"return":3"#,
        ]),
    );
    let judged = run(&["check", "--spec", "mutex", &acquired]);
    assert!(judged.code == 1 && !judged.stdout.contains("note:"), "{judged:?}");
    // The hint must concern the refused operation.
    let other = lines(&[
        write,
        &read("2", 2),
        &read("null", 4),
        write.replace("0,\"return\":1", "9,\"return\":10").replace("1,\"result", "2,\"result").as_str(),
    ]);
    let judged = run(&["check", "--spec", "register", &scratch.file("history.jsonl", other)]);
    assert!(judged.code == 1 && !judged.stdout.contains("note:"), "{judged:?}");
    let pending = scratch.file("pending.jsonl", r#"{"process":0,"f":"write","value":1,"call":0}"#);
    let judged = run(&["check", "--spec", "register", &pending]);
    assert!(judged.code == 0 && judged.stderr.contains("no operation returned"), "{judged:?}");
}
