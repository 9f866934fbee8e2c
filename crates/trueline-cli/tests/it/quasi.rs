//! Tests `check` for quasi linearizability, and with relaxed specifications.

use super::{Scratch, json, run};

/// 1, 2 and 3 are enqueued; 3, 1 and 2 are dequeued.
pub(crate) const OUT_OF_ORDER: &str = r#"{"process":0,"f":"enqueue","value":1,"call":1,"return":2}
{"process":0,"f":"enqueue","value":2,"call":3,"return":4}
{"process":0,"f":"enqueue","value":3,"call":5,"return":6}
{"process":1,"f":"dequeue","result":3,"call":7,"return":8}
{"process":1,"f":"dequeue","result":1,"call":9,"return":10}
{"process":1,"f":"dequeue","result":2,"call":11,"return":12}
"#;

#[test]
fn a_queue_that_is_a_little_out_of_order() {
    let scratch = Scratch::new("quasi");
    let file = scratch.file("q.jsonl", OUT_OF_ORDER);
    let check = |args: &[&str]| run(&[&["check"], args, &[file.as_str()]].concat());
    for (args, code) in [
        (&["--spec", "queue"][..], 1),
        (&["--spec", "quasi-queue:0"], 1),
        (&["--spec", "quasi-queue:1"], 0),
        (&["--spec", "queue", "--factor", "1"], 0),
        (&["--spec", "queue", "--criterion", "quasi", "--factor", "enq=0,deq=1"], 1),
        (&["--spec", "queue", "--factor", "enq=0,deq=2"], 0),
        (&["--spec", "quasi-queue:0", "--factor", "2", "--algorithm", "brute"], 0),
        (&["--spec", "quasi-queue:1", "--algorithm", "jit-graph"], 3),
        (&["--spec", "k-fifo:1"], 1),
        (&["--spec", "k-fifo:2:empty"], 0),
        (&["--spec", "out-of-order-queue:2"], 0),
        (&["--spec", "displacement-queue:2"], 0),
        (&["--spec", "displacement-queue:1"], 1),
    ] {
        let judged = check(args);
        assert_eq!(judged.code, code, "{args:?}: {judged:?}");
    }
}

#[test]
fn the_report_says_which_criterion_and_how_far_off() {
    let scratch = Scratch::new("quasi-report");
    let file = scratch.file("q.jsonl", OUT_OF_ORDER);
    let judged = run(&["check", "--spec", "queue", "--factor", "enq=0,deq=1", &file]);
    let reason = "it is not quasi linearizable by class (enqueue 0, dequeue 1); it would be if the factors were larger by 1, and no smaller increase is enough";
    assert!(judged.stdout.contains(reason), "{}", judged.stdout);
    // 3 was dequeued two places before 2, but was enqueued after it.
    let conflict = "\
  these operations contradict each other:
    line 2  process 0  enqueue(2) -> ok
    line 3  process 0  enqueue(3) -> ok
    line 4  process 1  dequeue() -> 3
    line 6  process 1  dequeue() -> 2
";
    assert!(judged.stdout.ends_with(conflict), "{}", judged.stdout);
    let judged = run(&["check", "--spec", "quasi-queue:0", &file]);
    let reason = "it is not quasi linearizable as a whole (0); it would be if the factors were larger by 1, and no smaller increase is enough";
    assert!(judged.stdout.contains(reason), "{}", judged.stdout);
    let stack = scratch.file("s.jsonl", OUT_OF_ORDER.replace("enqueue", "push").replace("dequeue", "pop"));
    let judged = run(&["check", "--spec", "quasi-stack:0", &stack]);
    assert!(judged.stdout.contains("the longest legal prefix that was found"), "{}", judged.stdout);
    assert!(judged.stdout.contains("no order was found for these operations after that"), "{}", judged.stdout);
    let judged = json(&run(&["check", "--spec", "quasi-queue:3", "--json", &file]).stdout);
    assert_eq!(judged["criterion"], "quasi linearizable as a whole (3)");
    assert_eq!(judged["verdict"], "accepted");
}

/// Round-Up, section V-D: a value that is left in the object has no place in the order of removals.
#[test]
fn histories_that_are_not_well_formed_are_named() {
    let scratch = Scratch::new("quasi-ill-formed");
    let drained = scratch.file("drained.jsonl", OUT_OF_ORDER);
    let whole: Vec<&str> = OUT_OF_ORDER.lines().collect();
    let left = scratch.file("left.jsonl", whole[..4].join("\n"));
    let named = "3 calls to `enqueue` but 1 to `dequeue`";
    let check = |args: &[&str], file: &str| run(&[&["check"], args, &[file]].concat());
    for args in [&["--spec", "quasi-queue:2"][..], &["--spec", "queue", "--factor", "2", "--json"]] {
        assert!(check(args, &left).stdout.contains(named), "{args:?}");
        assert!(!check(args, &drained).stdout.contains("no place that could be compared"), "{args:?}");
    }
    for spec in ["queue", "k-fifo:2"] {
        assert!(
            !check(&["--spec", spec], &left).stdout.contains("no place that could be compared"),
            "{spec} accepts values that are left in the object"
        );
    }
    let lint = |spec: &str, file: &str| run(&["lint", "--spec", spec, file]);
    let linted = lint("quasi-queue:2", &left);
    assert_eq!(linted.code, 1, "{linted:?}");
    assert!(linted.stdout.contains("not-well-formed") && linted.stdout.contains(named), "{linted:?}");
    for (spec, file) in [("quasi-queue:2", &drained), ("queue", &left)] {
        assert_eq!(lint(spec, file).code, 0, "{spec} {file}");
    }
}

#[test]
fn factors_that_are_wrong_get_a_hint() {
    let scratch = Scratch::new("quasi-faults");
    let file = scratch.file("q.jsonl", OUT_OF_ORDER);
    for (args, hint) in [
        (&["--spec", "queue", "--criterion", "quasi"][..], "--factor enq=0,deq=4"),
        (&["--spec", "queue", "--factor", "deq=4"], "add enqueue=0"),
        (&["--spec", "queue", "--factor", "enqeue=4"], "did you mean `enqueue`?"),
        (&["--spec", "queue", "--factor", "enq=4,enqueue=3"], "two factors"),
        (&["--spec", "queue", "--factor", "much"], "such as enq=0,deq=4"),
        (&["--spec", "sync-channel", "--factor", "2"], "is not defined"),
        (&["--spec", "quasi-queue"], "needs its factor"),
        (&["--spec", "k-stack:2:full"], "k-stack:2:empty"),
    ] {
        let judged = run(&[&["check"], args, &[file.as_str()]].concat());
        assert_eq!(judged.code, 2, "{args:?}: {judged:?}");
        assert!(judged.stderr.contains(hint), "{args:?}: {judged:?}");
    }
}
