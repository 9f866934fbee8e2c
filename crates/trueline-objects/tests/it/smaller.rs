//! Tests that failing programs of faulty objects are shrunk, and that the smallest ones fail because of the fault.

use std::time::Duration;

use trueline::test::{Exploration, Smallest};
use trueline_objects::catalog::{self, Settings};

/// A time limit that no test reaches: each exploration ends by itself within seconds. The limit is
/// divided among the programs.
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
#[ignore = "a soak: the schedules of real threads, and how far a program shrinks in time, depend on the machine"]
#[expect(clippy::print_stderr, reason = "the test prints a table")]
fn soak_what_is_left_is_the_fault() {
    let mut exact = 0;
    for name in FAULTY {
        let shrunk_for = |time| {
            let plan = catalog::find(name).expect("the object exists").plan(&SETTINGS).time(TIME).shrink_by_exploring();
            let failure = plan.shrink_for(time).run().failure.unwrap_or_else(|| panic!("{name} never fails"));
            failure.smallest
        };
        // A busy machine needs more time.
        let smallest =
            &[2, 60].map(Duration::from_secs).into_iter().find_map(shrunk_for).expect("the program fails again");
        let Smallest { program, calls, of_calls, is_minimal, .. } = smallest;
        eprintln!("{name}: {calls} of {of_calls} calls{}: {program}", if *is_minimal { ", minimal" } else { "" });
        assert!(calls <= of_calls);
        exact += usize::from(*is_minimal);
        let only = |name: &str| {
            let plan = catalog::find(name).expect("the object exists").plan(&SETTINGS).shrink_for(Duration::ZERO);
            plan.only(program).expect("the program is valid")
        };
        if let Some(most) = smallest.preemptions {
            let explored = only(name).explore(Exploration::new().preemptions(most)).time(TIME).run();
            assert!(explored.failure.is_some(), "{name}: {smallest}");
        }
        let correct = name.split_once("-faulty").expect("the name of a faulty object contains `-faulty`").0;
        let explored = only(correct).explore(Exploration::new().preemptions(1)).time(Duration::from_secs(5)).run();
        for outcome in [only(correct).runs(20).run(), explored] {
            assert!(outcome.failure.is_none(), "{correct}: {smallest}");
        }
    }
    // How many programs are shrunk to minimal ones depends on the time, and on how busy the machine
    // is.
    assert!(exact > 0, "no program was shrunk to a minimal one");
}
