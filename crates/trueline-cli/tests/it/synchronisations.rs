//! `check` on objects whose operations synchronise.

use std::path::Path;

use super::{json, run};

fn figure(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/sync").join(name).display().to_string()
}

/// Paper "Synchronisation", figure 8: 2 and 3 have exchanged their values, 1 has 0's, but 0 has 3's instead of 1's.
#[test]
fn an_exchange_that_was_too_late() {
    let file = figure("exchanger-figure-8.jsonl");
    // Directly, by the definition, and in two steps.
    for algorithm in ["auto", "brute", "jit-graph", "linear"] {
        let judged = run(&["check", "--spec", "exchanger", "--algorithm", algorithm, &file]);
        assert_eq!(judged.code, 1, "{judged:?}");
        let out = &judged.stdout;
        assert!(out.contains("exchange(13) of process 0 (lines 1-8) returned 58, but could"), "{out}");
        assert!(out.contains("have returned 70\n"), "{out}");
        let together = "\
    lines 4-7  process 2  exchange(76) -> 58  ┐ together
    lines 5-6  process 3  exchange(58) -> 76  ┘
";
        assert!(out.contains(together), "{out}");
    }
}

/// Figure 9: 0 and 1 have synchronised; 2 and 3 have not, but should have.
#[test]
fn a_send_and_a_receive_that_should_have_met() {
    let file = figure("sync-channel-figure-9.jsonl");
    assert_eq!(run(&["check", "--spec", "sync-channel", &file]).code, 0);
    let args = ["check", "--spec", "sync-channel", "--criterion", "progress", &file];
    let judged = run(&args);
    assert_eq!(judged.code, 1, "{judged:?}");
    let reason = "\n  send(92) of process 2 and receive() of process 3 should have synchronised\n";
    assert!(judged.stdout.contains(reason), "{}", judged.stdout);
    let expected = "
  what may have synchronised:
    lines 1-6  process 0  send(48) -> ok  ┐ together
    lines 2-5  process 1  receive() -> 48  ┘
  then these should have:
    line 3-    process 2  send(92)  (never returned)  ┐ together
    line 4-    process 3  receive()  (never returned)  ┘
";
    assert!(judged.stdout.ends_with(expected), "{}", judged.stdout);
    let object = json(&run(&[&args[..], &["--json"]].concat()).stdout);
    assert_eq!((&object["verdict"], &object["pending"]), (&"rejected".into(), &2.into()));
    // What else is right has no progress to be judged.
    let refused = run(&["check", "--spec", "queue", "--criterion", "progress", &file]);
    assert!(refused.code == 2 && refused.stderr.contains("leave it out"), "{refused:?}");
}
