//! Tests `explore`: all schedules of small programs.

use super::{Scratch, json, run};

#[test]
fn a_correct_object_is_accepted_when_all_was_explored() {
    let args = ["explore", "treiber-stack", "--calls", "1*1+2"];
    let explored = run(&args);
    assert_eq!(explored.code, 0, "{explored:?}");
    assert!(explored.stdout.starts_with("treiber-stack: accepted\n"), "{explored:?}");
    assert!(explored.stdout.contains("  all schedules were explored\n"), "{explored:?}");
    assert!(explored.stderr.is_empty(), "nothing to say off a terminal: {explored:?}");
    let object = json(&run(&[&args[..], &["--json"]].concat()).stdout);
    let expected = [("name", "treiber-stack"), ("verdict", "accepted"), ("algorithm", "auto")];
    assert!(expected.iter().all(|(field, value)| object[*field] == *value), "{object}");
    assert!(object["complete"] == true && object["programs"] == 3 && object["preemptions"].is_null(), "{object}");
    for field in ["executions", "histories", "operations", "elapsed_ns"] {
        assert!(object[field].as_u64().is_some_and(|number| number > 0), "{field} of {object}");
    }
    let bounded = json(&run(&[&args[..], &["--json", "--preemptions", "1"]].concat()).stdout);
    assert!(bounded["preemptions"] == 1 && bounded["complete"] == true, "{bounded}");
    assert!(bounded["histories"].as_u64() <= object["histories"].as_u64(), "{bounded}");
    let shared = json(&run(&[&args[..], &["--json", "--threads-os", "3"]].concat()).stdout);
    assert_eq!(shared["histories"], object["histories"], "whoever explores them");
}

#[test]
fn a_fault_is_found_told_step_by_step_and_made_again() {
    let name = "treiber-stack-faulty-aba";
    let explored = run(&["explore", name, "--calls", "2*2+2", "--json"]);
    assert_eq!(explored.code, 1, "{explored:?}");
    let object = json(&explored.stdout);
    assert!(object["verdict"] == "rejected" && object["why"] == "is not linearizable", "{object}");
    let history = object["history"].as_str().expect("a path");
    assert_eq!(run(&["check", "--spec", "stack", history]).code, 1, "what was saved is not linearizable");
    let steps = std::fs::read_to_string(object["steps"].as_str().expect("a path")).expect("it was saved");
    assert!(steps.contains("compare_exchange") && steps.contains("treiber_stack.rs:"), "{steps}");
    let replay = object["replay"].as_str().expect("a token");
    for command in ["explore", "test"] {
        let again = run(&[command, name, "--replay", replay]);
        assert_eq!(again.code, 1, "{again:?}");
        for expected in ["is not linearizable", "step by step", "compare_exchange", replay] {
            assert!(again.stdout.contains(expected), "{expected} in {}", again.stdout);
        }
    }
    let same = json(&run(&["explore", name, "--calls", "2*2+2", "--json"]).stdout);
    assert_eq!((&same["replay"], &same["executions"]), (&object["replay"], &object["executions"]));
}

#[test]
fn what_fails_is_drawn_where_that_is_wanted() {
    let scratch = Scratch::new("explored-pages");
    for command in [&["explore", "--calls", "2*2+2"][..], &["test", "--engine", "systematic", "--time", "60"]] {
        let folder = scratch.0.join(command[0]);
        let folder = folder.to_str().expect("plain");
        let failed = run(&[command, &["treiber-stack-faulty-aba", "--pages", folder]].concat());
        assert_eq!(failed.code, 1, "{failed:?}");
        let pages: Vec<_> =
            std::fs::read_dir(folder).expect("the folder was created").map(|entry| entry.expect("readable")).collect();
        let [page] = &pages[..] else { panic!("{pages:?}") };
        let page = page.path();
        assert!(failed.stdout.contains(page.to_str().expect("plain")), "{page:?} in {}", failed.stdout);
        let text = std::fs::read_to_string(&page).expect("the page was drawn");
        assert!(text.starts_with("<!doctype html>") || text.starts_with("<!DOCTYPE html>"), "{}", &text[..80]);
    }
}

#[test]
fn nothing_is_needed_to_say_what_is_right() {
    let faulty = run(&["explore", "ms-queue-faulty-late-read", "--calls", "2*2+2", "--against", "itself"]);
    assert_eq!(faulty.code, 1, "{faulty:?}");
    assert!(faulty.stdout.contains("has a history that no serial run of the object produces"), "{faulty:?}");
    let correct = run(&["explore", "ms-queue", "--calls", "1*2+1", "--against", "ms-queue-recycling", "--json"]);
    let object = json(&correct.stdout);
    assert!(correct.code == 0 && object["serial"].as_u64().is_some_and(|serial| serial > 2), "{object}");
    // A choice that is drawn when calls overlap may also be drawn alone, and a call that waits when calls overlap also
    // waits alone.
    for args in [&["ubk-queue", "--choices", "seed:1"], &["herlihy-wing-queue", "--preemptions", "2"]] {
        let correct = run(&[&["explore", "--calls", "1*1+2", "--against", "itself"], &args[..]].concat());
        assert_eq!(correct.code, 0, "{correct:?}");
    }
}

#[test]
fn what_is_stuck_is_told() {
    let stuck = run(&["explore", "one-family-faulty-early-look", "--threads", "2", "--ops", "1", "--json"]);
    let object = json(&stuck.stdout);
    assert!(stuck.code == 1 && object["verdict"] == "stuck", "{object}");
    let tested = run(&[
        "test",
        "one-family-faulty-early-look",
        "--engine",
        "systematic",
        "--threads",
        "2",
        "--ops",
        "1",
        "--seed",
        "0",
    ]);
    assert_eq!(tested.code, 1, "{tested:?}");
    assert!(tested.stdout.contains("no thread can continue") && tested.stdout.contains("lock m1"), "{tested:?}");
}

#[test]
fn what_was_not_explored_in_time_is_unknown() {
    let args = ["explore", "lock-free-skiplist", "--calls", "4*4+4", "--json"];
    for limit in [["--time", "100ms"], ["--executions", "50"]] {
        let cut_off = run(&[&args[..], &limit].concat());
        let object = json(&cut_off.stdout);
        assert!(cut_off.code == 3 && object["verdict"] == "unknown" && object["complete"] == false, "{object}");
    }
}

#[test]
fn wrong_usage_is_explained() {
    let wrong: [(&[&str], &str); 15] = [
        (&["no-such-object"], "no object is called"),
        (&["ms-queue", "--calls", "2*"], "such as 2*2+4"),
        (&["ms-queue", "--replay", "s1.t2.o1-2.c0.p0"], "names a run, not a schedule"),
        (&["ms-queue", "--replay", "what"], "does not name a run"),
        (&["ms-queue", "--replay", "gpush_1.c0.z0"], "only enqueue, dequeue"),
        (
            &["ms-queue", "--program", "enqueue 1 | pop"],
            "a program calls `pop`, but the test has only enqueue, dequeue",
        ),
        (&["ms-queue", "--calls", "1*1", "--program", "dequeue"], "the number of one of the generated programs"),
        (&["ms-queue", "--choices", "some"], "seed:7"),
        (&["ms-queue", "--against", "treiber-stack"], "an object with the same operations"),
        (&["shann-queue-partial", "--calls", "2*2"], "use --threads and --ops"),
        // In this object, each thread has its own number.
        (&["one-family", "--calls", "2*2"], "use --threads and --ops"),
        (&["shann-queue-partial", "--against", "itself"], "use --calls"),
        (&["shann-queue-partial", "--against", "itself", "--replay", "w1.t2.o1-2.c0.z0"], "use --calls"),
        (&["sync-channel", "--against", "itself"], "cannot run one at a time"),
        (&["signal", "--calls", "1*2", "--against", "itself"], "cannot run one at a time"),
    ];
    for (args, message) in wrong {
        let wrong = run(&[&["explore"], args].concat());
        assert_eq!(wrong.code, 2, "{wrong:?}");
        assert!(wrong.stderr.contains(message), "{message} in {wrong:?}");
    }
}

#[test]
fn the_smallest_program_is_told_and_explored_again() {
    let name = "treiber-stack-faulty-aba";
    let explored = run(&["explore", name, "--calls", "3*3+2", "--shrink-time", "60"]);
    assert_eq!(explored.code, 1, "{explored:?}");
    assert!(
        explored.stdout.contains("of 8 calls, every call is needed: if any one of them is removed, no schedule"),
        "{}",
        explored.stdout
    );
    let object = json(&run(&["explore", name, "--calls", "3*3+2", "--shrink-time", "60", "--json"]).stdout);
    let program = object["program"].as_str().expect("a program");
    let (calls, of_calls) = (object["calls"].as_u64(), object["of_calls"].as_u64());
    assert!(calls < of_calls && of_calls == Some(8) && object["minimal"] == true, "{object}");
    assert!(explored.stdout.contains(&format!("trueline explore {name} --program '{program}'")), "{}", explored.stdout);
    let again = json(&run(&["explore", name, "--program", program, "--json"]).stdout);
    assert!(again["verdict"] == "rejected" && again["programs"] == 1, "{again}");
    // The correct object does not fail in this program. The faulty one is then explored without shrinking.
    assert_eq!(run(&["explore", "treiber-stack", "--program", program]).code, 0);
    let as_it_was = json(&run(&["explore", name, "--calls", "3*3+2", "--shrink-time", "0", "--json"]).stdout);
    assert_eq!(as_it_was["replay"], object["first_replay"]);
    assert!(as_it_was.get("program").is_none(), "{as_it_was}");
}
