//! `lint`: the traps of histories, and how hard they are.

use std::fs;

use super::{ACCEPTED, Scratch, json, run, run_with_input};

/// Code and severity of all that was found, and the exit code.
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
        "-: 1 operations, jsonl\n  forecast: easy; it has 1 operations, at most 1 open at once (line 1), 0 never returning\n"
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
            // What is called a problem is what `check` refuses.
            let spec = args.get(1).copied().unwrap_or("register");
            assert_eq!(run_with_input(&["check", "--spec", spec, "-"], text.as_bytes()).code, 2, "{text}");
        }
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
    assert!(linted.stdout.contains("it was put in as 7: log both in the same way"), "{}", linted.stdout);
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

/// The traps that the readers of Knossos' histories fall into.
#[test]
fn the_traps_of_knossos() {
    let Some(directory) = super::foreign("knossos/cas-register") else { return };
    let linted = run(&["lint", "--json", "--spec", "cas-register:0", directory.to_str().expect("a plain path")]);
    assert_eq!(linted.code, 1, "{}", linted.stderr);
    let mut seen: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    for line in linted.stdout.lines() {
        let report = json(line);
        let file = report["file"].as_str().expect("a name");
        let text = fs::read_to_string(file).expect("it was read");
        let codes: Vec<&str> = report["findings"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|finding| finding["code"].as_str().expect("a text"))
            .collect();
        for code in &codes {
            *seen.entry((*code).to_owned()).or_default() += 1;
        }
        // What can be seen in the text without reading it as we do.
        assert_eq!(
            codes.contains(&"nemesis"),
            text.contains(":process :nemesis") || text.contains(":nemesis,"),
            "{file}"
        );
        let first =
            text.lines().find(|line| !line.trim_start().starts_with(';') && !line.trim().is_empty()).unwrap_or("");
        assert_eq!(codes.contains(&"container"), first.trim_start().starts_with(['[', '(']), "{file}");
        assert_eq!(codes.contains(&"failed"), text.contains(":type :fail") || text.contains(":fail"), "{file}");
        // Nothing in these files is broken.
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
