//! Tests Round-Up on the command line: the rows of its tables, and options that are refused.

use super::{json, run};

/// Returns the rows: the table, the object, the factor, whether there is a violation, and the program.
fn rows() -> Vec<[&'static str; 5]> {
    let lines = include_str!("../round-up.txt").lines().filter(|line| !line.starts_with('#'));
    let fields = |line: &'static str| -> Vec<&str> { line.split(" ; ").collect() };
    lines.map(|line| fields(line).try_into().unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// Returns whether a violation is found when the object's choices are drawn from a seed, or when they are explored.
fn is_violated([_, object, factor, _, program]: [&str; 5], time: &str) -> bool {
    ["seed:1", "explore"].iter().any(|choices| {
        let explored = run(&[
            "explore",
            object,
            "--factor",
            factor,
            "--program",
            program,
            "--preemptions",
            "2",
            "--choices",
            choices,
            "--time",
            time,
            "--shrink-time",
            "0",
            "--json",
        ]);
        assert_ne!(explored.code, 2, "{explored:?}");
        let object = json(&explored.stdout);
        let semantics = object["semantics"].as_str().unwrap_or_default();
        assert!(semantics.starts_with("quasi linearizable compared with serial runs ("), "{object}");
        explored.code == 1
    })
}

fn compare(time: impl Fn(bool) -> &'static str) {
    let rows = rows();
    assert_eq!(rows.len(), 58);
    for row in rows {
        let expected = row[3] == "violation";
        assert_eq!(is_violated(row, time(expected)), expected, "{row:?}");
    }
}

#[test]
fn the_papers_tables_have_their_verdicts() {
    // Rows without a violation are searched only briefly; `the_papers_tables_in_full` searches them longer.
    compare(|is_violated| if is_violated { "60" } else { "0.5" });
}

#[test]
#[ignore = "a soak: five seconds for each row without a violation, twice"]
fn the_papers_tables_in_full() {
    compare(|_| "5");
}

#[test]
fn what_a_relaxed_object_is_compared_with_may_be_itself_in_order() {
    let program = ["--program", "enqueue 1, enqueue 2 (dequeue | dequeue)", "--preemptions", "1", "--json"];
    for against in ["spec", "itself:0", "ms-queue", "quasi-queue:0"] {
        for (factor, code) in [("enq=0,deq=2", 0), ("0", 1)] {
            let args = ["explore", "quasi-queue", "--against", against, "--factor", factor];
            let explored = run(&[&args[..], &program].concat());
            assert_eq!(explored.code, code, "{against} {factor}: {explored:?}");
        }
    }
    let itself = run(&[&["explore", "quasi-queue", "--against", "itself", "--k", "1"][..], &program].concat());
    assert!(itself.stdout.contains("the factors would count this reordering twice"), "{itself:?}");
    let own = run(&[&["explore", "quasi-queue", "--criterion", "quasi"][..], &program].concat());
    assert!(
        json(&own.stdout)["semantics"].as_str().is_some_and(|name| name.ends_with("(enqueue 2, dequeue 2)")),
        "{own:?}"
    );
}

#[test]
fn factors_that_mean_nothing_are_refused() {
    for (args, message) in [
        (&["quasi-queue", "--k", "2", "--factor", "2"][..], "cannot be used with"),
        (&["quasi-queue", "--factor", "sort=1"], "has no operation \"sort\""),
        (&["quasi-queue", "--k", "2", "--program", "enqueue 1 | enqueue 2, dequeue"], "not well formed"),
        (&["ms-queue", "--criterion", "quasi"], "needs factors"),
        (&["ms-queue:3"], "takes no factor"),
        (&["quasi-queue:many"], "after the colon"),
        (&["exchanger", "--k", "1"], "synchronize"),
    ] {
        let refused = run(&[&["explore"], args].concat());
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(message), "{message}: {refused:?}");
    }
}
