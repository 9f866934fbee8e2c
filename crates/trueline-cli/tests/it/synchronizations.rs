//! Tests `check` on objects whose operations synchronize.

use std::path::Path;

use super::{json, run};

fn figure(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sync").join(name).display().to_string()
}

/// Paper "Synchronization", figure 8: processes 2 and 3 have exchanged their values. Process 1 has the value of process
/// 0, but process 0 has the value of process 3 instead of that of process 1.
#[test]
fn an_exchange_that_was_too_late() {
    let file = figure("exchanger-figure-8.jsonl");
    // The algorithms judge directly, by the definition, and in two steps.
    for algorithm in ["auto", "brute", "jit-graph", "linear"] {
        let judged = run(&["check", "--spec", "exchanger", "--algorithm", algorithm, &file]);
        assert_eq!(judged.code, 1, "{judged:?}");
        let out = &judged.stdout;
        assert!(out.contains("exchange(13) of process 0 (lines 1-8) returned 58"), "{out}");
        // An algorithm in two steps reports the place of a step, which may come after the first bad return.
        let is_direct = matches!(algorithm, "auto" | "brute");
        let said = if is_direct {
            ", but could only have returned 70\n"
        } else {
            ": by the time of this return, no order was possible\n"
        };
        assert!(out.contains(said), "{out}");
        let together = "\
    lines 4-7  process 2  exchange(76) -> 58  ┐ together
    lines 5-6  process 3  exchange(58) -> 76  ┘
";
        assert!(out.contains(together), "{out}");
    }
}

/// Figure 9: processes 0 and 1 have synchronized; processes 2 and 3 have not, but should have.
#[test]
fn a_send_and_a_receive_that_should_have_met() {
    let file = figure("sync-channel-figure-9.jsonl");
    assert_eq!(run(&["check", "--spec", "sync-channel", &file]).code, 0);
    let args = ["check", "--spec", "sync-channel", "--criterion", "progress", &file];
    let judged = run(&args);
    assert_eq!(judged.code, 1, "{judged:?}");
    let reason = "\n  send(92) of process 2 and receive() of process 3 could have synchronized, but never returned\n";
    assert!(judged.stdout.contains(reason), "{}", judged.stdout);
    let expected = "
  operations that may have synchronized:
    lines 1-6  process 0  send(48) -> ok  ┐ together
    lines 2-5  process 1  receive() -> 48  ┘
  then these could have synchronized, but did not all return:
    line 3-    process 2  send(92)  (never returned)  ┐ together
    line 4-    process 3  receive()  (never returned)  ┘
";
    assert!(judged.stdout.ends_with(expected), "{}", judged.stdout);
    let object = json(&run(&[&args[..], &["--json"]].concat()).stdout);
    assert_eq!((&object["verdict"], &object["pending"]), (&"rejected".into(), &2.into()));
    // Other specifications do not define progress.
    let refused = run(&["check", "--spec", "queue", "--criterion", "progress", &file]);
    assert!(refused.code == 2 && refused.stderr.contains("leave --criterion out"), "{refused:?}");
}

/// Figure 16: in the first round, the child meets its parent twice; in the second, it does not wait to be released.
#[test]
fn a_child_that_did_not_wait_to_be_let_go() {
    let file = figure("signal-figure-16.jsonl");
    for algorithm in ["auto", "brute"] {
        let judged = run(&["check", "--spec", "signal", "--algorithm", algorithm, &file]);
        assert_eq!(judged.code, 1, "{judged:?}");
        let reason = "\n  signal-up-and-wait() of process 0 (lines 7-10) returned ok, but could not have returned anything at that point\n";
        assert!(judged.stdout.contains(reason), "{}", judged.stdout);
        let expected = "
  operations before it, in an order that works:
    lines 1-6   process 0  signal-up-and-wait() -> ok  ┐ together
    lines 2-3   process 1  wait-for-signal-up() -> ok  ┘
    lines 1-6   process 0  signal-up-and-wait() -> ok  ┐ together
    lines 4-5   process 1  signal-down() -> ok  ┘
    lines 7-10  process 0  signal-up-and-wait() -> ?  ┐ together
    lines 8-9   process 1  wait-for-signal-up() -> ok  ┘
";
        assert!(judged.stdout.ends_with(expected), "{}", judged.stdout);
    }
    let refused = run(&["check", "--spec", "signal", "--algorithm", "linear", &file]);
    assert!(refused.code == 3 && refused.stdout.contains("in several steps"), "{refused:?}");
}

/// The calls of the child and of the parent are both open, but the parent should have seen the child.
#[test]
fn a_parent_that_should_have_seen_its_child() {
    let file = figure("signal-stuck.jsonl");
    assert_eq!(run(&["check", "--spec", "signal", &file]).code, 0);
    let judged = run(&["check", "--spec", "signal", "--criterion", "progress", &file]);
    assert_eq!(judged.code, 1, "{judged:?}");
    let reason = "\n  signal-up-and-wait() of process 0 and wait-for-signal-up() of process 1 could have synchronized, but never returned\n";
    assert!(judged.stdout.contains(reason), "{}", judged.stdout);
    let expected = "
  operations that may have synchronized:
    lines 1-6  process 0  signal-up-and-wait() -> ok  ┐ together
    lines 2-3  process 1  wait-for-signal-up() -> ok  ┘
    lines 1-6  process 0  signal-up-and-wait() -> ok  ┐ together
    lines 4-5  process 1  signal-down() -> ok  ┘
  then these could have synchronized, but did not all return:
    line 7-    process 0  signal-up-and-wait()  (never returned)  ┐ together
    line 8-    process 1  wait-for-signal-up()  (never returned)  ┘
";
    assert!(judged.stdout.ends_with(expected), "{}", judged.stdout);
}
