//! Tests verdicts: exit codes, reports, several files, pipes.

use std::process::Stdio;

use super::{ACCEPTED, REJECTED, Scratch, json, run, run_with_input, trueline};

/// A limit that suffices for one operation, but not for the operations of `REJECTED`.
const LIMIT: &[&str] = &["--algorithm", "jit-graph", "--configurations", "1"];

#[test]
fn accepted() {
    let scratch = Scratch::new("accepted");
    let file = scratch.file("good.jsonl", ACCEPTED);
    let judged = run(&["check", "--spec", "queue", &file]);
    assert_eq!(judged.code, 0, "{judged:?}");
    let start = format!("{file}: accepted (");
    assert!(judged.stdout.starts_with(&start), "{judged:?}");
    assert!(judged.stdout.contains(", 3 operations, 1 pending, 1 partition, "), "{judged:?}");
    assert_eq!(judged.stdout.lines().count(), 1);
    assert_eq!(judged.stderr, "");
}

#[test]
fn rejected() {
    let scratch = Scratch::new("rejected");
    let file = scratch.file("bad.jsonl", REJECTED);
    let judged = run(&["check", "--spec", "queue", &file]);
    assert_eq!(judged.code, 1, "{judged:?}");
    let lines: Vec<&str> = judged.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("{file}: rejected (")), "{judged:?}");
    assert_eq!(
        lines[1..],
        [
            "  dequeue() of process 1 (lines 4-6) returned 2, but could only have returned 1",
            "             enqueue(1) enqueue(2)",
            "  process 0  ├─1───────┤├─2───────┤",
            "                            dequeue() → 2",
            "  process 1                 ┣━━━━━━━━━━━━✗",
            "  (numbers: an order that works so far; ✗: refused)",
            "  the state after the numbered operations, in numerical order: [1, 2]",
            "  operations before it, in an order that works:",
            "    lines 1-2  process 0  enqueue(1) -> ok",
            "    lines 3-5  process 0  enqueue(2) -> ok",
        ]
    );
    assert_eq!(judged.stderr, "");
}

#[test]
fn undecided() {
    let judged = run_with_input(&[&["check", "--spec", "queue", "-"], LIMIT].concat(), REJECTED.as_bytes());
    assert_eq!(judged.code, 3, "{judged:?}");
    assert!(judged.stdout.starts_with("-: unknown ("), "{judged:?}");
    assert!(judged.stdout.contains("the limit on configurations was reached"), "{judged:?}");
    assert!(judged.stdout.contains("raise --configurations"), "{judged:?}");
}

#[test]
fn json_of_each_verdict() {
    for (input, args, code, verdict) in
        [(ACCEPTED, &[][..], 0, "accepted"), (REJECTED, &[], 1, "rejected"), (REJECTED, LIMIT, 3, "unknown")]
    {
        let judged = run_with_input(&[&["check", "--json", "--spec", "queue", "-"], args].concat(), input.as_bytes());
        assert_eq!(judged.code, code, "{judged:?}");
        assert_eq!(judged.stdout.lines().count(), 1, "{judged:?}");
        let object = json(&judged.stdout);
        assert_eq!(object["file"], "-");
        assert_eq!(object["spec"], "queue");
        assert_eq!(object["verdict"], verdict);
        assert!(object["algorithm"].is_string());
        assert!(object["operations"].is_u64());
        assert!(object["pending"].is_u64());
        assert!(object["partitions"].is_u64());
        for field in ["check_ns", "configurations", "peak_bytes"] {
            assert!(object["stats"][field].is_u64(), "{field} in {object}");
        }
        assert_eq!(object.get("reason").is_some_and(serde_json::Value::is_string), verdict != "accepted", "{object}");
        assert_eq!(object.get("evidence").is_some(), verdict == "rejected", "{object}");
        let known = [
            "file",
            "spec",
            "verdict",
            "algorithm",
            "operations",
            "pending",
            "partitions",
            "stats",
            "reason",
            "evidence",
        ];
        for field in object.as_object().expect("an object").keys() {
            assert!(known.contains(&field.as_str()), "{field}");
        }
    }
}

#[test]
fn options_are_taken() {
    let scratch = Scratch::new("options");
    let file = scratch.file("bad.jsonl", REJECTED);
    let options = ["--timeout", "10s", "--memory", "64MiB", "--threads", "2", "--rules", "all", "--seed", "7"];
    let more = ["--no-partition", "--format", "jsonl", "--algorithm", "jit-graph", "--configurations", "1000000"];
    let judged = run(&[&["check", "--spec", "queue", &file][..], &options, &more].concat());
    assert_eq!(judged.code, 1, "{judged:?}");
    let read_nil = r#"{"process":0,"f":"read","result":null,"call":1,"return":2}"#;
    assert_eq!(run_with_input(&["check", "--spec", "register:5", "-"], read_nil.as_bytes()).code, 1);
    assert_eq!(run_with_input(&["check", "--spec", "register:5", "--nil-wildcard", "-"], read_nil.as_bytes()).code, 0);
}

#[test]
fn quiet_says_nothing() {
    let judged = run_with_input(&["check", "--spec", "queue", "--quiet", "-"], REJECTED.as_bytes());
    assert_eq!((judged.code, judged.stdout.as_str(), judged.stderr.as_str()), (1, "", ""));
}

#[test]
fn several_files_in_their_order() {
    let scratch = Scratch::new("several");
    let good = scratch.file("good.jsonl", ACCEPTED);
    let bad = scratch.file("bad.jsonl", REJECTED);
    let broken = scratch.file("broken.jsonl", "{");
    let check = |args: &[&str]| run(&[&["check", "--spec", "queue", "--json"], args].concat());
    let verdicts = |stdout: &str| -> Vec<String> {
        let verdict = |line| {
            let object = json(line);
            object.get("verdict").map_or("error".to_owned(), |verdict| verdict.as_str().expect("a word").to_owned())
        };
        stdout.lines().map(verdict).collect()
    };

    let judged = check(&[&good, &bad, &good]);
    assert_eq!(verdicts(&judged.stdout), ["accepted", "rejected", "accepted"]);
    assert_eq!(judged.code, 1);
    assert_eq!(check(&[&good, &good]).code, 0);

    // An unreadable file takes precedence over all verdicts; later files are still judged.
    let judged = check(&[&broken, &good, &bad]);
    assert_eq!(verdicts(&judged.stdout), ["error", "accepted", "rejected"]);
    assert_eq!(judged.code, 2);
    assert!(judged.stderr.contains(&format!("error: {broken}:1: ")), "{judged:?}");
    let object = json(judged.stdout.lines().next().expect("a line"));
    assert_eq!(object["file"], broken.as_str());
    assert!(object["error"].as_str().expect("text").starts_with("line 1: "), "{object}");

    // A rejection takes precedence over an undecided file: one operation is decided within the limit, three are not.
    let small = scratch.file("small.jsonl", r#"{"process":0,"f":"dequeue","result":1,"call":1,"return":2}"#);
    let limited = [LIMIT, &[bad.as_str()]].concat();
    assert_eq!(check(&limited).code, 3);
    let judged = check(&[&limited[..], &[&small]].concat());
    assert_eq!(verdicts(&judged.stdout), ["unknown", "rejected"]);
    assert_eq!(judged.code, 1);
}

#[test]
fn directories_are_searched() {
    let scratch = Scratch::new("directories");
    scratch.file("b.jsonl", REJECTED);
    scratch.file("a/deep/c.json", ACCEPTED);
    scratch.file("notes.txt", "not a history");
    scratch.file("server.log", "INFO listening");
    scratch.file("a/history.md", ACCEPTED);
    let judged = run(&["check", "--spec", "queue", "--json", scratch.path()]);
    assert_eq!(judged.code, 1, "{judged:?}");
    let files: Vec<String> =
        judged.stdout.lines().map(|line| json(line)["file"].as_str().expect("a path").to_owned()).collect();
    assert_eq!(files.len(), 2);
    assert!(files[0].ends_with("c.json") && files[1].ends_with("b.jsonl"), "{files:?}");
    let notes: Vec<&str> = judged.stderr.lines().collect();
    assert!(notes.len() == 2 && notes[0].starts_with("note: ") && notes[0].contains("notes.txt: skipped"), "{notes:?}");
    assert_eq!(run(&["check", "--spec", "queue", "--quiet", scratch.path()]).stderr, "");
    for (name, content) in FORMATS {
        scratch.file(&format!("formats/{name}"), content);
    }
    let judged = run(&["check", "--spec", "register", "--json", &format!("{}/formats", scratch.path())]);
    assert_eq!(judged.code, 0, "{judged:?}");
    assert_eq!(judged.stdout.lines().count(), FORMATS.len(), "{judged:?}");
}

/// A register that is read as 1 while 1 is written, in every format.
const FORMATS: &[(&str, &str)] = &[
    (
        "jsonl.jsonl",
        "{\"process\":0,\"f\":\"write\",\"value\":1,\"call\":1,\"return\":4}\n{\"process\":1,\"f\":\"read\",\"result\":1,\"call\":2,\"return\":3}\n",
    ),
    (
        "jepsen.edn",
        "[{:process 0 :type :invoke :f :write :value 1} {:process 1 :type :invoke :f :read :value nil}
         {:process 1 :type :ok :f :read :value 1} {:process 0 :type :ok :f :write :value 1}]",
    ),
    (
        "jepsen-log.log",
        "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\t1\n",
    ),
    ("jepsen-log.txt", "0\t:invoke\t:write\t1\n1\t:invoke\t:read\tnil\n1\t:ok\t:read\t1\n"),
    (
        "porcupine-json.json",
        "{\"ClientId\":0,\"Input\":[\"write\",1],\"Call\":1,\"Output\":null,\"Return\":4}\n{\"ClientId\":1,\"Input\":\"read\",\"Call\":2,\"Output\":1,\"Return\":3}\n",
    ),
    (
        "events.json",
        "{\"client\":0,\"event\":\"start\",\"op\":\"write\",\"value\":1}\n{\"client\":1,\"event\":\"start\",\"op\":\"read\"}\n{\"client\":1,\"event\":\"finish\",\"result\":1}\n",
    ),
];

#[test]
fn formats_are_detected_and_can_be_forced() {
    for (name, content) in FORMATS {
        let format = name.split('.').next().expect("the name is not empty");
        for format in ["auto", format] {
            let check = ["check", "--spec", "register", "--format", format, "-"];
            let judged = run_with_input(&check, content.as_bytes());
            assert_eq!(judged.code, 0, "{name} as {format}: {judged:?}");
            assert!(judged.stdout.contains(" 2 operations, "), "{name} as {format}: {judged:?}");
            let judged =
                run_with_input(&check, content.replace('1', "2").replace(":ok\t:read\t2", ":ok\t:read\t3").as_bytes());
            assert!(judged.code < 2, "{name} as {format}: {judged:?}");
        }
    }
    let kv = "{:process 0, :type :invoke, :f :put, :key \"a\", :value 1}\n{:process 1, :type :invoke, :f :get, :key \"a\"}\n{:process 1, :type :ok, :f :get, :key \"a\", :value 2}\n";
    for format in ["auto", "porcupine-kv", "jepsen"] {
        let judged = run_with_input(&["check", "--spec", "map", "--format", format, "-"], kv.as_bytes());
        assert_eq!(judged.code, 1, "{format}: {judged:?}");
        assert!(judged.stdout.contains("get(\"a\") of process 1 (lines 2-3) returned 2"), "{judged:?}");
    }
}

#[test]
fn pairs_are_keys_or_objects() {
    let text = "{:process 0 :type :invoke :f :write :value [:x 1]} {:process 0 :type :ok :f :write :value [:x 1]}
        {:process 0 :type :invoke :f :read :value [:y nil]} {:process 0 :type :ok :f :read :value [:y nil]}";
    let check = |args: &[&str]| run_with_input(&[&["check", "-"], args].concat(), text.as_bytes());
    assert_eq!(check(&["--spec", "register"]).code, 1, "a read of what was not written");
    for tuples in [&["--independent"][..], &["--tuples", "objects"]] {
        let judged = check(&[&["--spec", "register"], tuples].concat());
        assert_eq!(judged.code, 0, "{judged:?}");
        assert!(judged.stdout.contains("2 partitions"), "{judged:?}");
    }
    let judged = check(&["--spec", "map", "--tuples", "keys"]);
    assert_eq!(judged.code, 0, "{judged:?}");
    assert!(judged.stdout.contains("2 partitions"), "{judged:?}");
}

#[test]
fn color_only_where_it_is_wanted() {
    let scratch = Scratch::new("color");
    let file = scratch.file("bad.jsonl", REJECTED);
    let colored = |variables: &[(&str, &str)]| {
        let output = trueline(&["check", "--spec", "queue", &file])
            .envs(variables.iter().copied())
            .output()
            .expect("the binary is built");
        output.stdout.contains(&0x1b)
    };
    assert!(!colored(&[]), "a pipe is no terminal");
    assert!(colored(&[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let scratch = Scratch::new("closed_pipe");
    let file = scratch.file("bad.jsonl", REJECTED);
    let mut args = vec!["check", "--spec", "queue", "--json"];
    args.extend(std::iter::repeat_n(file.as_str(), 200));
    for args in [&args[..], &["specs"], &["algorithms", "--json"], &["check", "--help"]] {
        let mut child =
            trueline(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is built");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the process has started");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some_and(|code| code < 2), "{:?} {stderr}", output.status);
        assert_eq!(stderr, "");
    }
}

/// A read that begins 5 after the end of a write may have come before it, if the clocks differ by more.
#[test]
fn clocks_that_differ() {
    let history = concat!(
        r#"{"process":0,"f":"write","value":1,"result":null,"call":0,"return":10}"#,
        "\n",
        r#"{"process":1,"f":"read","result":0,"call":15,"return":20}"#,
        "\n",
    );
    let judge = |skew: &str, spec: &str, history: &str| {
        run_with_input(&["check", "--spec", spec, "--clock-skew", skew, "-"], history.as_bytes())
    };
    assert_eq!(judge("0", "register:0", history).code, 1);
    assert_eq!(judge("4", "register:0", history).code, 1);
    assert_eq!(judge("5", "register:0", history).code, 0);
    let events = judge("5", "queue", REJECTED);
    assert_eq!(events.code, 2, "{events:?}");
    assert!(events.stderr.contains("a clock skew applies only to whole operations"), "{events:?}");
    assert_eq!(judge("5", "mutex:owned", history).code, 2);
    assert_eq!(judge("-1", "register:0", history).code, 2);
}

/// With equal times, the order of a process's own operations is still known.
#[test]
fn own_order_at_equal_times() {
    let write = r#"{"process":0,"f":"write","value":1,"call":0,"return":10}"#;
    let read = r#"{"process":0,"f":"read","result":0,"call":10,"return":20}"#;
    let judge = |args: &[&str], lines: &[&str]| {
        run_with_input(&[&["check", "--spec", "register:0", "-"], args].concat(), lines.join("\n").as_bytes())
    };
    assert_eq!(judge(&[], &[write, read]).code, 1);
    assert_eq!(judge(&[], &[read, write]).code, 1, "in files of whole operations, times count, not lines");
    // If another process also returns and calls again at 10, the order of events is not known.
    let others = [
        r#"{"process":1,"f":"read","result":0,"call":5,"return":10}"#,
        r#"{"process":1,"f":"read","result":1,"call":10,"return":11}"#,
    ];
    assert_eq!(judge(&[], &[&[write, read], &others[..]].concat()).code, 0);
    // If clocks may differ, not even this order is known.
    let skewed = judge(&["--clock-skew", "1"], &[write, read]);
    assert_eq!(skewed.code, 0);
    assert!(skewed.stdout.contains("note: with --clock-skew 1, operations of the same process"), "{skewed:?}");
    let json = judge(&["--clock-skew", "1", "--json"], &[write, read]).stdout;
    assert!(json.contains(r#""notes":["with --clock-skew 1, "#), "{json}");
}

/// A file without operations is accepted, with a note, because the user may have judged the wrong
/// file.
#[test]
fn nothing_to_judge() {
    let failed = r#"{"process":0,"type":"invoke","f":"dequeue"}
{"process":0,"type":"fail"}"#;
    for (args, text) in [
        (&["--spec", "queue"][..], ""),
        (&["--spec", "queue"], "\n\n   \n"),
        (&["--spec", "queue"], failed),
        (&["--spec", "queue", "--format", "jepsen"], ""),
        (&["--spec", "queue"], "[]"),
        (&["--spec", "queue"], "; nothing\n()"),
        (&["--spec", "quasi-queue:2"], ""),
        (&["--spec", "barrier:2", "--criterion", "progress"], ""),
        (&["--spec", "signal"], ""),
    ] {
        let judged = run_with_input(&[&["check"], args, &["-"]].concat(), text.as_bytes());
        assert_eq!(judged.code, 0, "{judged:?}");
        assert!(
            judged.stdout.starts_with("-: accepted") && judged.stderr.contains("-: there are no operations"),
            "{judged:?}"
        );
        let json = run_with_input(&[&["check", "--json"], args, &["-"]].concat(), text.as_bytes());
        assert!(
            json.stdout.contains(r#""operations":0"#) && json.stdout.contains(r#""notes":["there are no operations"#),
            "{json:?}"
        );
        assert_eq!(json.code, 0);
    }
    let linted = run_with_input(&["lint", "-"], b"");
    assert!(linted.code == 1 && linted.stdout.contains("warning no-operations"), "{linted:?}");
}

/// Numbers that the specification would wrap around are refused.
#[test]
fn counters_that_may_wrap_around() {
    let add = |f: &str, number: i64, result: &str, time: i64| {
        format!(r#"{{"process":0,"f":"{f}","value":{number},"result":{result},"call":{time},"return":{}}}"#, time + 1)
    };
    let judge =
        |spec: &str, lines: &[String]| run_with_input(&["check", "--spec", spec, "-"], lines.join("\n").as_bytes());
    for (spec, lines) in [
        ("counter:1", vec![add("add", i64::MAX, "null", 1)]),
        ("counter", vec![add("add", i64::MAX, "null", 1), add("add", 1, "null", 3)]),
        ("counter", vec![add("dec", i64::MIN, "null", 1)]),
        ("fetch-add:-2", vec![add("fetch-add", i64::MIN, "-2", 1)]),
    ] {
        let judged = judge(spec, &lines);
        assert!(judged.code == 2 && judged.stderr.contains("64 bits"), "{judged:?}");
    }
    let most = [add("add", i64::MAX, "null", 1), add("add", i64::MIN, "null", 3), add("read", 0, "-1", 5)];
    assert_eq!(judge("counter", &most).code, 0);
}

/// Numbers in messages have all their digits.
#[test]
fn large_numbers_are_shown_exactly() {
    for (format, text, number) in [
        ("jsonl", r#"{"process":0,"type":"invoke","f":"write","value":9223372036854775809}"#, "9223372036854775809"),
        ("jsonl", r#"{"process":9223372036854775809,"type":"invoke","f":"write"}"#, "9223372036854775809"),
        ("jepsen", "{:process 0 :type :invoke :f :write :value -99999999999999999999}", "-99999999999999999999"),
        ("jepsen", "{:process 0 :type :invoke :f :write :value 0xfffffffffffffffff}", "0xfffffffffffffffff"),
    ] {
        let judged = run_with_input(&["check", "--spec", "register", "--format", format, "-"], text.as_bytes());
        assert!(judged.code == 2 && judged.stderr.contains(number), "{judged:?}");
    }
    // For numbers beyond 64 bits, JSON lines do not preserve the digits.
    let judged = run_with_input(
        &["check", "--spec", "register", "-"],
        br#"{"process":0,"type":"invoke","f":"write","value":123456789012345678901234567890}"#,
    );
    assert!(judged.code == 2 && judged.stderr.contains("`value` holds a number, which does not fit"), "{judged:?}");
}
