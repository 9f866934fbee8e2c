//! Tests every object of the catalog: correct ones are accepted in all runs, and faulty ones are detected.

use std::time::Duration;

use trueline::test::{FailureKind, Outcome};
use trueline_objects::catalog::{self, ENTRIES, Entry, Settings, Verdict};

/// The maximum time for a faulty object in a soak test; most are detected in milliseconds.
const TIME: Duration = Duration::from_secs(600);

/// The time limit for judging one history; no test depends on it.
const TIMEOUT: Duration = Duration::from_secs(86_400);

fn verdict(entry: &Entry, outcome: &Outcome) -> Verdict {
    assert_eq!(outcome.undecided, 0, "{}: runs were not judged", entry.name);
    assert_eq!(outcome.lost, 0, "{}: threads were lost", entry.name);
    match &outcome.failure {
        None => Verdict::Accepted,
        Some(failure) if matches!(failure.kind, FailureKind::Stuck(_)) => Verdict::Stuck,
        Some(_) => Verdict::Rejected,
    }
}

fn expected(entry: &Entry, outcome: &Outcome) {
    let verdict = verdict(entry, outcome);
    let report = outcome.failure.as_ref().map_or_else(String::new, ToString::to_string);
    assert!(entry.expects(verdict), "{}: {verdict} in {} runs\n{report}", entry.name, outcome.runs);
}

fn synchronizes(entry: &Entry) -> bool {
    entry.family == "sync"
}

fn correct() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().filter(|entry| entry.is_correct() && !synchronizes(entry))
}

/// Objects that synchronize threads are tested as in their paper, with few threads and few calls.
#[test]
fn correct_synchronizing_objects_are_accepted() {
    for entry in ENTRIES.iter().filter(|entry| entry.is_correct() && synchronizes(entry)) {
        expected(entry, &entry.plan(&Settings::default()).timeout(TIMEOUT).runs(200).run());
        expected(entry, &entry.plan(&Settings::default()).timeout(TIMEOUT).chaos(0).runs(100).run());
        // Most of these runs end with calls that wait forever, which is allowed.
        let settings = Settings { progress: true, ..Settings::default() };
        expected(entry, &entry.plan(&settings).timeout(TIMEOUT).runs(5).run());
    }
}

#[test]
fn correct_objects_are_accepted() {
    for entry in correct() {
        let outcome = entry.plan(&Settings::default()).timeout(TIMEOUT).runs(500).run();
        expected(entry, &outcome);
        assert!(outcome.runs >= 500);
        // Tests again with more collisions, and with values that are not unique, as in the papers.
        let settings = Settings { keys: Some(6), values: Some(20), ..Settings::default() };
        let outcome = entry.plan(&settings).timeout(TIMEOUT).threads(4).calls(25).chaos(16).runs(100).run();
        expected(entry, &outcome);
        assert!(outcome.operations >= 100 * 4 * 24, "{}: {} operations", entry.name, outcome.operations);
    }
}

/// Whether a faulty object fails in a few runs on real threads depends on chance; but if it fails,
/// it must fail in the expected way. [`explore`](crate::explore) finds each fault with certainty;
/// whether the soak test finds a fault depends on the machine.
#[test]
fn faulty_objects_go_wrong_as_expected_if_they_do() {
    for entry in ENTRIES.iter().filter(|entry| !entry.is_correct()) {
        let outcome = entry.plan(&Settings::default()).timeout(TIMEOUT).runs(50).shrink_for(Duration::ZERO).run();
        if verdict(entry, &outcome) != Verdict::Accepted {
            expected(entry, &outcome);
        }
    }
}

#[test]
#[ignore = "a soak: when a fault appears depends on the machine"]
#[expect(clippy::print_stderr, reason = "the test prints what it skips")]
fn soak_faulty_objects_are_found_out() {
    let is_alone = std::thread::available_parallelism().map_or(1, usize::from) == 1;
    let mut found = 0;
    for entry in ENTRIES.iter().filter(|entry| !entry.is_correct()) {
        if is_alone && entry.family == "register" && !entry.name.starts_with("buffered") {
            eprintln!("{}: skipped, as a single processor sees its own writes", entry.name);
            continue;
        }
        let mut plan = entry.plan(&Settings::default()).time(TIME).shrink_for(Duration::ZERO);
        if entry.expects(Verdict::Stuck) {
            plan = plan.watchdog(Duration::from_millis(20));
        }
        expected(entry, &plan.run());
        found += 1;
    }
    assert!(found >= 20, "only {found} objects are faulty");
}

/// The list in the crate's documentation agrees with the catalog.
#[test]
fn the_list_is_the_catalog() {
    let pages = [
        include_str!("../../src/lib.rs"),
        include_str!("../../src/sync/mod.rs"),
        include_str!("../../src/relaxed/mod.rs"),
    ];
    let rows = pages.iter().flat_map(|page| page.lines()).filter_map(|line| line.strip_prefix("//! | `"));
    let listed: Vec<[String; 5]> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_end_matches('|').split(" |").map(str::trim).collect();
            let [name, _made_by, paper, fault, spec, expected, ..] = cells[..] else { panic!("too few cells: {row}") };
            [name, paper, fault, spec, expected].map(|cell| cell.trim_matches('`').to_owned())
        })
        .collect();
    let catalogd: Vec<[String; 5]> = ENTRIES
        .iter()
        .map(|entry| {
            let expected: Vec<&str> = entry.expected.iter().map(|verdict| verdict.name()).collect();
            let [paper, fault] = [entry.paper, entry.fault].map(Option::unwrap_or_default);
            [entry.name, paper, fault, entry.spec, &expected.join(" or ")].map(|cell| cell.trim_matches('`').to_owned())
        })
        .collect();
    for (listed, catalogd) in listed.iter().zip(&catalogd) {
        assert_eq!(listed, catalogd);
    }
    assert_eq!(listed.len(), catalogd.len());
}

#[test]
fn names_and_verdicts_go_together() {
    let mut names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENTRIES.len(), "two objects have the same name");
    for entry in ENTRIES {
        assert_eq!(catalog::find(entry.name).map(|found| found.name), Ok(entry.name));
        assert!(!entry.expected.is_empty());
        assert!(entry.is_correct() || entry.fault.is_some(), "{} has a fault without a name", entry.name);
        assert!(!(entry.is_correct() && entry.name.contains("faulty")), "{}", entry.name);
        let is_model = entry.spec == "growing-set";
        assert_ne!(is_model, trueline::registry::spec(entry.spec, trueline::registry::Options::new()).is_ok());
    }
    assert!(catalog::find("ms-quue").expect_err("misspelt").contains("did you mean `ms-queue`?"));
    assert!(catalog::find("laarman").expect_err("a part of a name").contains("laarman-map-faulty-delete"));
    assert!(!catalog::find("").expect_err("an empty name").contains("did you mean"));
}

#[test]
fn settings_are_followed() {
    let run = |name: &str, settings: Settings| {
        let entry = catalog::find(name).expect("the object exists");
        entry.plan(&settings).threads(8).calls(3).runs(20).run()
    };
    // The objects are large enough: each of the eight processes has its own buffer, all threads that wait for a queue
    // have a partner, and 50 keys have room.
    for name in ["buffered-register", "shann-queue-partial", "laarman-map"] {
        let outcome = run(name, Settings { keys: Some(50), threads: Some(8), ..Settings::default() });
        assert!(outcome.failure.is_none(), "{name}");
        assert_eq!((outcome.runs, outcome.operations), (20, 20 * 8 * 3), "{name}");
    }
    // These faults appear only if items collide, or if a new value is written, which does not happen here.
    for (name, settings) in [
        ("lock-free-skiplist-faulty-collisions", Settings { keys: Some(2), ..Settings::default() }),
        ("buffered-register-faulty-stores", Settings { values: Some(1), threads: Some(8), ..Settings::default() }),
    ] {
        assert!(run(name, settings).failure.is_none(), "{name}");
    }
}

/// Tests every correct object for a long time: `cargo test --release -p trueline-objects soak -- --ignored
/// --nocapture`.
#[test]
#[ignore = "takes a quarter of an hour"]
#[expect(clippy::print_stderr, reason = "the test takes long, so it prints its progress")]
fn soak() {
    for entry in correct() {
        let outcome = entry.plan(&Settings::default()).threads(4).calls(200).runs(20_000).run();
        expected(entry, &outcome);
        eprintln!("{}: {} runs in {:.1?}", entry.name, outcome.runs, outcome.elapsed);
    }
}

/// Tests every correct object that synchronizes threads, also with arbitrary calls, for which most runs end with some
/// calls that wait: `cargo test --release -p trueline-objects soak -- --ignored --nocapture`.
#[test]
#[ignore = "takes half an hour, mostly waiting"]
#[expect(clippy::print_stderr, reason = "the test takes long, so it prints its progress")]
fn soak_of_synchronizing_objects() {
    for (progress, runs) in [(false, 10_000), (true, 1_000)] {
        for entry in ENTRIES.iter().filter(|entry| entry.is_correct() && synchronizes(entry)) {
            let settings = Settings { progress, ..Settings::default() };
            let outcome = entry.plan(&settings).runs(runs).run();
            expected(entry, &outcome);
            assert_eq!(outcome.runs, runs);
            let what = if progress { ", with arbitrary calls" } else { "" };
            eprintln!("{}{what}: {} runs in {:.1?}", entry.name, outcome.runs, outcome.elapsed);
        }
    }
}

#[test]
fn objects_go_where_threads_go() {
    use trueline_objects::*;

    fn goes<T: Send + Sync + 'static>() {}
    goes::<ms_queue::MsQueue>();
    goes::<treiber_stack::TreiberStack>();
    goes::<(locked::LockedQueue, locked::LockedMap, locked::LockedHeightStack)>();
    goes::<(laarman_map::LaarmanMap, resizing_map::ResizingMap, sharded_map::ShardedMap)>();
    goes::<shann_queue::ShannQueue>();
    goes::<(register::Register, register::BufferedRegister)>();
    goes::<(fine_grained_list::FineGrainedList, optimistic_list::OptimisticList)>();
    goes::<(lazy_list::LazyList, lock_free_list::LockFreeList)>();
    goes::<(lazy_skiplist::LazySkiplist, lock_free_skiplist::LockFreeSkiplist)>();
    goes::<split_ordered_set::SplitOrderedSet>();
    goes::<Box<dyn relaxed::Collection>>();
}
