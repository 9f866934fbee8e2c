//! Tests that failing programs of faulty objects are shrunk, and that the smallest ones fail because of the fault.

use std::time::Duration;

use trueline::test::{Exploration, Smallest};
use trueline_objects::catalog::{self, Settings};

/// A time limit that no test reaches: each exploration ends by itself, in seconds. Each program has a share of it.
const TIME: Duration = Duration::from_secs(600);
const SETTINGS: Settings = Settings { keys: Some(3), values: None, threads: None, factor: None, progress: false };

/// Faulty objects that are detected soon, and that have a correct version.
const FAULTY: [&str; 11] = [
    "ms-queue-faulty-late-read",
    "ms-queue-faulty-aba",
    "treiber-stack-faulty-aba",
    "laarman-map-faulty-delete",
    "sharded-map-faulty-early-status",
    "shann-queue-faulty-stale-slot",
    "lazy-list-faulty-unmarked-validation",
    "lock-free-list-faulty-separate-mark",
    "one-family-faulty-late-read",
    "exchanger-faulty-no-third-stage",
    "signal-faulty-early-down",
];

/// The correct version of a faulty object does not fail in the same program: the smallest program shows the fault, and
/// not a call that the object does not support.
#[test]
#[ignore = "a soak: it is up to the machine what real threads do, and how much smaller it becomes in time"]
#[expect(clippy::print_stderr, reason = "a table to look at")]
fn soak_what_is_left_is_the_fault() {
    let mut exact = 0;
    for name in FAULTY {
        let shrunk_for = |time| {
            let plan = catalog::find(name).expect("it is there").plan(&SETTINGS).time(TIME).shrink_by_exploring();
            let failure = plan.shrink_for(time).run().failure.unwrap_or_else(|| panic!("{name} is never wrong"));
            failure.smallest
        };
        // A busy machine needs more time.
        let smallest = &[2, 60].map(Duration::from_secs).into_iter().find_map(shrunk_for).expect("it fails again");
        let Smallest { program, calls, of_calls, is_minimal, .. } = smallest;
        eprintln!("{name}: {calls} of {of_calls} calls{}: {program}", if *is_minimal { ", exact" } else { "" });
        assert!(calls <= of_calls);
        exact += usize::from(*is_minimal);
        let only = |name: &str| {
            let plan = catalog::find(name).expect("it is there").plan(&SETTINGS).shrink_for(Duration::ZERO);
            plan.only(program).expect("it was run")
        };
        if let Some(most) = smallest.preemptions {
            let explored = only(name).explore(Exploration::new().preemptions(most)).time(TIME).run();
            assert!(explored.failure.is_some(), "{name}: {smallest}");
        }
        let correct = name.split_once("-faulty").expect("faulty ones are called so").0;
        let explored = only(correct).explore(Exploration::new().preemptions(1)).time(Duration::from_secs(5)).run();
        for outcome in [only(correct).runs(20).run(), explored] {
            assert!(outcome.failure.is_none(), "{correct}: {smallest}");
        }
    }
    // How many are exact depends on the time, and on how busy the machine is.
    assert!(exact > 0, "none is small enough to be exact");
}
