//! Tests `test`: the built-in objects.

use super::{Scratch, json, run, run_with_input};

/// Enough runs for a fault that appears in one of a thousand runs. The time that they take depends
/// on the machine.
const MANY: &str = "1000000";

#[test]
fn objects_are_listed() {
    let listed = run(&["test", "--list"]);
    assert_eq!(listed.code, 0);
    assert!(listed.stdout.contains("laarman-map-faulty-delete"), "{}", listed.stdout);
    assert!(listed.stdout.contains("rejected or stuck"), "{}", listed.stdout);
    let listed = run(&["test", "--list", "--json"]);
    assert_eq!(listed.code, 0);
    let objects: Vec<_> = listed.stdout.lines().map(json).collect();
    assert!(objects.len() > 40, "{} objects", objects.len());
    for object in &objects {
        for field in ["name", "family", "spec", "criterion", "expected"] {
            assert!(object[field].is_string(), "{field} of {object}");
        }
        assert!(["accepted", "rejected", "stuck"].contains(&object["expected"].as_str().expect("a text")), "{object}");
        assert!(object.get("paper").is_some(), "{object}");
        assert!(object["expected"] == "accepted" || object["fault"].is_string(), "{object}");
    }
    assert!(objects.iter().any(|object| object["expected"] == "stuck"));
}

#[test]
fn a_correct_object_is_accepted() {
    let args = ["test", "ms-queue", "--threads", "3", "--ops", "20", "--runs", "50", "--seed", "7"];
    let tested = run(&args);
    assert_eq!(tested.code, 0, "{tested:?}");
    assert!(tested.stdout.starts_with("ms-queue: accepted\n"), "{tested:?}");
    assert!(tested.stdout.contains("50 runs with 3000 operations"), "{tested:?}");
    assert!(tested.stderr.is_empty(), "nothing to say off a terminal: {tested:?}");
    let tested = run(&[&args[..], &["--json"]].concat());
    assert_eq!(tested.code, 0);
    let object = json(&tested.stdout);
    let expected = [("name", "ms-queue"), ("verdict", "accepted"), ("algorithm", "auto")];
    assert!(expected.iter().all(|(field, value)| object[*field] == *value), "{object}");
    assert!(object["runs"] == 50 && object["operations"] == 3000 && object["seed"] == 7, "{object}");
    assert!(object["elapsed_ns"].as_u64().expect("a number") > 0);
    assert!(["found_ns", "replay", "history"].iter().all(|field| object.get(field).is_none()), "{object}");
}

#[test]
fn accepted_runs_are_saved_and_accepted_again() {
    let scratch = Scratch::new("saved-runs");
    let folder = scratch.0.join("runs");
    let folder = folder.to_str().expect("the path is text");
    let args = ["test", "locked-map", "--threads", "2", "--ops", "5", "--runs", "4", "--save", folder];
    let tested = run(&args);
    assert_eq!(tested.code, 0, "{tested:?}");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .expect("the folder was created")
        .map(|entry| entry.expect("the folder can be read").path().to_str().expect("a text").to_owned())
        .collect();
    files.sort();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(files[0].ends_with("run-000001.jsonl"), "{files:?}");
    let checked = run(&["check", "--spec", "map", "--json", &files[3]]);
    assert_eq!((checked.code, &json(&checked.stdout)["operations"]), (0, &serde_json::json!(10)), "{checked:?}");
    // The path of the folder is a file.
    let blocked = scratch.0.join("file");
    std::fs::write(&blocked, "").expect("the file can be written");
    let tested = run(&[&args[..8], &["--save", blocked.to_str().expect("the path is text")]].concat());
    assert_eq!(tested.code, 2, "{tested:?}");
    assert!(tested.stderr.contains("--save:") && tested.stderr.contains("run-000001.jsonl"), "{tested:?}");
    let tested = run(&[&args[..], &["--engine", "systematic"]].concat());
    assert_eq!(tested.code, 2, "{tested:?}");
    assert!(tested.stderr.contains("leave out --engine systematic"), "{tested:?}");
}

#[test]
fn limits_and_rules_of_the_search_are_set() {
    let args = ["test", "locked-map", "--threads", "2", "--ops", "30", "--runs", "20", "--algorithm", "jit-graph"];
    let whole = run(&[&args[..], &["--no-partition", "--rules", "just-in-time"]].concat());
    assert_eq!(whole.code, 0, "{whole:?}");
    // No history of 60 operations is judged with 5 configurations.
    let limited = run(&[&args[..], &["--no-partition", "--configurations", "5", "--json"]].concat());
    assert_eq!(limited.code, 3, "{limited:?}");
    assert_eq!(json(&limited.stdout)["undecided"], 20, "{limited:?}");
    let unknown = run(&[&args[..], &["--rules", "luck"]].concat());
    assert_eq!(unknown.code, 2, "{unknown:?}");
}

#[test]
fn a_faulty_object_is_rejected_and_its_run_made_again() {
    let name = "buffered-register-faulty-stores";
    let tested = run(&["test", name, "--json", "--runs", MANY, "--clock", "instant"]);
    assert_eq!(tested.code, 1, "{tested:?}");
    let object = json(&tested.stdout);
    assert_eq!(object["verdict"], "rejected");
    assert!(object["found_ns"].as_u64().expect("a number") <= object["elapsed_ns"].as_u64().expect("a number"));
    let history = object["history"].as_str().expect("a path");
    assert_eq!(run(&["check", "--spec", "register:0", history]).code, 1, "what was saved is not linearizable");
    let replay = object["replay"].as_str().expect("a token");
    let again = run(&["test", name, "--replay", replay, "--runs", MANY]);
    assert_eq!(again.code, 1, "{again:?}");
    for expected in ["is not linearizable", "the history:", &format!("trueline test {name} --replay {replay}")] {
        assert!(again.stdout.contains(expected), "{expected} in {}", again.stdout);
    }
    assert!(again.stdout.contains(&format!("\n{name}: rejected\n")), "{}", again.stdout);
    assert!(!again.stdout.contains("cargo test"), "{}", again.stdout);
}

#[test]
fn an_object_that_is_stuck_is_said_to_be() {
    let tested = run(&["test", "ms-queue-faulty-no-help", "--json", "--watchdog", "20ms", "--runs", MANY]);
    assert_eq!(tested.code, 1, "{tested:?}");
    let object = json(&tested.stdout);
    assert_eq!(object["verdict"], "stuck");
    assert!(object["found_ns"].as_u64().expect("a number") >= 200_000_000, "{object}");
    let tested = run(&["test", "ms-queue-faulty-no-help", "--watchdog", "0.02", "--runs", MANY]);
    assert!(tested.stdout.contains("ms-queue-faulty-no-help is stuck"), "{tested:?}");
}

#[test]
fn failures_are_collected_on_request() {
    let args = ["test", "laarman-map-faulty-delete", "--collect", "3", "--runs", MANY, "--json"];
    let tested = run(&args);
    assert_eq!(tested.code, 1, "{tested:?}");
    let object = json(&tested.stdout);
    let failures = object["failures"].as_array().expect("a list");
    assert_eq!(failures.len(), 3, "{object}");
    assert_eq!(failures[0]["replay"], object["replay"]);
    assert!(failures.iter().all(|failure| failure["why"] == "is not linearizable"), "{object}");
    let text = run(&args[..args.len() - 1]).stdout;
    assert_eq!(text.matches("run it again: trueline test laarman-map-faulty-delete --replay").count(), 3, "{text}");
}

#[test]
fn a_fault_that_was_not_seen_is_told() {
    // With only one value, an outdated read cannot be detected.
    let args = ["test", "buffered-register-faulty-stores", "--values", "1", "--runs", "5"];
    let tested = run(&args);
    assert_eq!(tested.code, 0, "{tested:?}");
    assert!(tested.stderr.contains("is faulty (writes wait in a buffer), but no run showed the fault"), "{tested:?}");
}

#[test]
fn runs_that_are_not_judged_are_unknown() {
    // This algorithm judges only queues.
    let args = ["test", "treiber-stack", "--algorithm", "queue-lowe", "--runs", "3"];
    let tested = run(&args);
    assert!(tested.code == 3 && tested.stdout.contains("3 runs were not judged"), "{tested:?}");
    let tested = run(&[&args[..], &["--json"]].concat());
    assert_eq!(tested.code, 3, "{tested:?}");
    let object = json(&tested.stdout);
    assert!(object["verdict"] == "unknown" && object["undecided"] == 3, "{object}");
    assert_eq!(object["algorithm"], "queue-lowe");
}

#[test]
fn unknown_names_are_refused_with_the_nearest() {
    for (name, near) in [("ms-quue", "did you mean `ms-queue`?"), ("laarman", "laarman-map-faulty-delete")] {
        let refused = run(&["test", name]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(near) && refused.stderr.contains("--list"), "{refused:?}");
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let queue = ["test", "ms-queue", "--runs", "1"];
    for (bad, message) in [
        (&["--threads", "0"][..], "1..=1000"),
        (&["--ops", "many"], "invalid digit"),
        (&["--runs", "0"], "--runs"),
        (&["--time", "5 parsecs"], "write a number of seconds"),
        (&["--watchdog=-1"], "--watchdog"),
        (&["--clock", "sundial"], "the clocks are tsc, instant, counter"),
        (&["--algorithm", "guess"], "--algorithm"),
        (&["--replay", "nonsense"], "does not name a run"),
        (&["--weights", "enqueue"], "such as enqueue=3,dequeue=1"),
        (&["--weights", "push=3"], "there is no operation `push`, only enqueue, dequeue"),
        (&["--weights", "enqueue=0,dequeue=0"], "nothing to call"),
        (&["--keys", "0"], "--keys"),
        (&["--values", "0"], "--values"),
        (
            &["--program", "enqueue"],
            "a program calls `enqueue` with null, which is not a valid argument of this operation",
        ),
        (&["--program", "enqueue 1", "--replay", "x0.c0"], "cannot be used with"),
        (&["--replay", "gpush_1.c0"], "only enqueue, dequeue"),
        (&["--shrink-time", "long"], "write a number of seconds"),
        (&["--list"], "--list"),
    ] {
        let refused = run(&[&queue[..if bad[0] == "--runs" { 2 } else { 4 }], bad].concat());
        assert_eq!(refused.code, 2, "{bad:?}: {refused:?}");
        assert!(refused.stderr.contains(message), "{bad:?}: {refused:?}");
    }
    let refused = run(&["test", "shann-queue-partial", "--weights", "enqueue=2"]);
    assert!(refused.code == 2 && refused.stderr.contains("threads of this test choose"), "{refused:?}");
    assert_eq!(run(&["test"]).code, 2, "there is no object");
}

#[test]
fn everything_that_can_be_set_is_taken() {
    let args = [
        "test",
        "locked-map",
        "--threads",
        "2",
        "--ops",
        "10",
        "--runs",
        "20",
        "--time",
        "60",
        "--seed",
        "3",
        "--chaos",
        "16",
        "--clock",
        "counter",
        "--noise",
        "1",
        "--watchdog",
        "0.5",
        "--algorithm",
        "jit-graph",
        "--testers",
        "2",
        "--weights",
        "get=3,delete=0",
        "--keys",
        "4",
        "--values",
        "5",
        "--json",
    ];
    let tested = run_with_input(&args, b"");
    assert_eq!(tested.code, 0, "{tested:?}");
    let object = json(&tested.stdout);
    assert!(object["runs"].as_u64().expect("a number") >= 20 && object["algorithm"] == "jit-graph", "{object}");
}

/// Failures on real threads are shrunk, by exploring them if possible.
#[test]
fn the_smallest_program_is_told_and_run_again() {
    let name = "shann-queue-faulty-stale-slot";
    let args = ["test", name, "--runs", MANY, "--threads", "3", "--ops", "8", "--chaos", "4", "--shrink-time", "86400"];
    let tested = run(&args);
    assert_eq!(tested.code, 1, "{tested:?}");
    assert!(tested.stdout.contains("the smallest program that still fails (3 of 24 calls"), "{}", tested.stdout);
    let told =
        tested.stdout.lines().find_map(|line| line.strip_prefix("  run the smallest program: ")).expect("a command");
    let (command, rest) = told.split_once(" --program '").expect("the command names a program");
    let (program, rest) = rest.split_once('\'').expect("the program is in quotation marks");
    let words = command.split_whitespace().skip(1).chain(["--program", program]).chain(rest.split_whitespace());
    let again = run(&words.collect::<Vec<_>>());
    assert_eq!(again.code, 1, "{told}: {again:?}");
    // The program also fails on real threads.
    let under_threads = ["test", name, "--program", program, "--chaos", "4", "--runs", MANY, "--shrink-time", "0"];
    let tested = run(&[&under_threads[..], &["--json"]].concat());
    let object = json(&tested.stdout);
    assert!(tested.code == 1 && object["replay"].as_str().is_some_and(|token| token.starts_with('g')), "{object}");
    let correct = run(&["test", "shann-queue", "--program", program, "--runs", "50"]);
    assert!(correct.code == 0 && correct.stdout.contains("50 runs with 150 operations"), "{correct:?}");
}
