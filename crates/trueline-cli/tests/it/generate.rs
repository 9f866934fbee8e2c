//! Tests `generate`: correct histories, and histories with a violation.

use super::{json, run, run_with_input};

/// Returns every specification that histories can be generated for, with a parameter if it needs one.
pub(crate) fn specs() -> Vec<String> {
    let listed = run(&["specs", "--json"]);
    let name = |line: &str| {
        let spec = json(line);
        let name = spec["name"].as_str().expect("the name is a string").to_owned();
        let parameter = spec["parameter"].as_str().expect("the parameter is a string");
        if parameter.starts_with(':') { format!("{name}:2") } else { name }
    };
    listed.stdout.lines().map(name).filter(|name| name != "signal").collect()
}

#[test]
fn right_histories_of_every_spec() {
    for spec in specs() {
        for (seed, args) in
            [("1", &[][..]), ("2", &["--contention", "1"]), ("3", &["--contention", "0", "--processes", "6"])]
        {
            let shape = ["generate", "--spec", &spec, "--operations", "60", "--seed", seed];
            let made = run(&[&shape[..], args].concat());
            assert_eq!(made.code, 0, "{spec}: {made:?}");
            assert!(made.stdout.lines().count() > 3, "{spec}: {made:?}");
            let judged = run_with_input(&["check", "--spec", &spec, "--timeout", "20s", "-"], made.stdout.as_bytes());
            assert_eq!(judged.code, 0, "{spec}, seed {seed}: {judged:?}\n{}", made.stdout);
            assert_eq!(run(&[&shape[..], args].concat()).stdout, made.stdout, "{spec}: the seed decides");
        }
    }
}

#[test]
fn violations_of_every_spec_that_has_results() {
    for spec in specs() {
        let made = run(&["generate", "--spec", &spec, "--operations", "60", "--violation", "--seed", "5"]);
        // The operations of these specifications do not return results, so no result can be wrong.
        if spec == "barrier:2" || spec == "enrollable-barrier" {
            assert_eq!(made.code, 2, "{spec}: {made:?}");
            assert!(made.stderr.contains("no violation was found"), "{spec}: {made:?}");
            continue;
        }
        assert_eq!(made.code, 0, "{spec}: {made:?}");
        let judged = run_with_input(&["check", "--spec", &spec, "--timeout", "20s", "-"], made.stdout.as_bytes());
        assert_eq!(judged.code, 1, "{spec}: {judged:?}\n{}", made.stdout);
        // The history differs from the correct one by a single result.
        let right = run(&["generate", "--spec", &spec, "--operations", "60", "--seed", "5"]);
        let different = right.stdout.lines().zip(made.stdout.lines()).filter(|(right, wrong)| right != wrong).count();
        assert_eq!((different, right.stdout.lines().count()), (1, made.stdout.lines().count()), "{spec}");
    }
}

#[test]
fn shapes() {
    let count = |args: &[&str]| {
        let made = run(&[&["generate", "--spec", "register"], args].concat());
        assert_eq!(made.code, 0, "{made:?}");
        let judged = run_with_input(&["check", "--json", "--spec", "register", "-"], made.stdout.as_bytes());
        assert_eq!(judged.code, 0, "{judged:?}");
        let object = json(&judged.stdout);
        (object["operations"].as_u64().expect("a number"), object["pending"].as_u64().expect("a number"))
    };
    assert_eq!(count(&[]), (100, 0));
    assert_eq!(count(&["--operations", "7", "--pending", "3"]), (7, 3));
    assert_eq!(count(&["--operations", "5", "--pending", "5", "--processes", "1"]), (5, 5));
    let widest = |contention: &str| {
        let made = run(&["generate", "--spec", "register", "--processes", "8", "--contention", contention]);
        let lint = run_with_input(&["lint", "--json", "-"], made.stdout.as_bytes());
        json(&lint.stdout)["forecast"]["widest_overlap"].as_u64().expect("a number")
    };
    assert_eq!(widest("0"), 1);
    assert_eq!(widest("1"), 8);
    for format in ["jsonl-operations", "jepsen", "porcupine-json", "events", "jepsen-log"] {
        let made = run(&["generate", "--spec", "register", "--format", format]);
        assert_eq!(run_with_input(&["check", "--spec", "register", "-"], made.stdout.as_bytes()).code, 0, "{format}");
    }
}

#[test]
fn errors() {
    for (args, expected) in [
        (&["--spec", "signal"][..], "take several steps"),
        (&["--spec", "quee"], "did you mean `queue`?"),
        (&["--spec", "queue", "--operations", "0"], "--operations"),
        (&["--spec", "queue", "--operations", "5", "--pending", "6"], "more than the 5 operations"),
        (&["--spec", "queue", "--contention", "2"], "from 0 to 1"),
        (&["--spec", "queue", "--format", "porcupine-kv"], "has no key"),
        (&["--spec", "sync-channel", "--processes", "1"], "give more --processes"),
        (&["--spec", "barrier:2", "--violation"], "no violation was found"),
    ] {
        let made = run(&[&["generate"], args].concat());
        assert_eq!(made.code, 2, "{args:?}: {made:?}");
        assert!(made.stderr.contains(expected), "{args:?}: {made:?}");
        assert_eq!(made.stdout, "");
    }
}
