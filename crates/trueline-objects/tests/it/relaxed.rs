//! Tests objects with a relaxed order: the correct objects satisfy their specifications in all explored schedules, and
//! each fault appears in some schedule, in the documented way.

use std::collections::BTreeMap;
use std::time::Duration;

use trueline::drive::Worker;
use trueline::drive::systematic::Search;
use trueline::history::{Argument as _, History, Record, Value};
use trueline::primitives::spin_hint;
use trueline::test::{Exploration, Outcome, Shared, Specified, Test, call};
use trueline_objects::catalog::Settings;
use trueline_objects::relaxed::Call::{Insert, Remove};
use trueline_objects::relaxed::Collection;
use trueline_objects::relaxed::bk_queue::{self, BkQueue};
use trueline_objects::relaxed::catalog::{self, OBJECTS};
use trueline_objects::relaxed::herlihy_wing_queue::HerlihyWingQueue;
use trueline_objects::relaxed::iqueue::{self, IQueue};
use trueline_objects::relaxed::k_stack::{self, KStack};
use trueline_objects::relaxed::quasi_priority_queue::{self, QuasiPriorityQueue};
use trueline_objects::relaxed::quasi_queue::{self, QuasiQueue};
use trueline_objects::relaxed::quasi_stack::{self, QuasiStack};
use trueline_objects::relaxed::rd_queue::{self, RdQueue};
use trueline_objects::relaxed::sl_queue::{self, SlQueue};
use trueline_objects::relaxed::ubk_queue::{self, UbkQueue};

type Object = Box<dyn Collection>;
type Made = fn() -> Object;
/// Creates an object with this factor.
type MadeBy = fn(usize) -> Object;

/// The number of segments of a ring: enough that the ring is not full soon, and few enough that segments are soon
/// reused.
const RING: usize = 8;
/// A time limit that no test reaches: each exploration ends by itself within seconds. The limit is
/// divided among the programs.
const TIME: Duration = Duration::from_secs(86_400);
/// A run on real threads that makes no progress for this long is stuck; runs usually take milliseconds.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The correct objects and their specifications. The functions that create them take a factor,
/// which some objects ignore. If the name of the specification ends with a colon, the factor is its
/// parameter.
const CORRECT: [(&str, &str, MadeBy); 9] = [
    ("iqueue", "queue", |_| Box::new(IQueue::new())),
    ("sl-queue", "queue", |_| Box::new(SlQueue::new())),
    ("quasi-stack", "stack", |factor| Box::new(QuasiStack::new(factor))),
    ("quasi-queue", "displacement-queue:", |factor| Box::new(QuasiQueue::new(factor))),
    ("rd-queue", "displacement-queue:", |factor| Box::new(RdQueue::new(factor))),
    ("bk-queue", "displacement-queue:", |factor| Box::new(BkQueue::new(factor, RING))),
    ("ubk-queue", "displacement-queue:", |factor| Box::new(UbkQueue::new(factor))),
    ("k-stack", "k-stack:", |factor| Box::new(KStack::new(factor))),
    ("quasi-priority-queue", "k-priority-queue:", |factor| Box::new(QuasiPriorityQueue::new(factor))),
];

fn spec(name: &str, factor: usize) -> String {
    if name.ends_with(':') { format!("{name}{factor}") } else { name.to_owned() }
}

/// Creates a test whose operations have the same names for all specifications.
fn test(spec: &str, make: impl Fn() -> Object + Send + Sync + 'static) -> Test<Object, Shared<Object>, Specified> {
    trueline::test(make)
        .spec(spec)
        .operation("put", 0..1000_u64, |object, value| object.insert(value))
        .operation("take", (), |object, ()| object.remove())
        .seed(0)
        .time(TIME)
        .timeout(TIME)
        .watchdog(WATCHDOG)
        .shrink_for(Duration::ZERO)
        .forgetful()
}

/// Explores all choices, with the schedules of a search.
fn search(search: Search, spec: &str, program: &str, make: impl Fn() -> Object + Send + Sync + 'static) -> Outcome {
    test(spec, make).only(program).explore(Exploration::new().search(search)).outcome()
}

/// Explores all schedules.
fn explore(spec: &str, program: &str, make: impl Fn() -> Object + Send + Sync + 'static) -> Outcome {
    search(Search::Exhaustive, spec, program, make)
}

fn is_fine(name: &str, outcome: &Outcome) {
    assert!(outcome.failure.is_none(), "{name}: {}", outcome.failure.as_ref().expect("there is a failure"));
    assert_eq!(outcome.undecided, 0, "{name}");
    assert!(outcome.explored.as_ref().is_none_or(|explored| explored.is_complete && explored.histories > 1), "{name}");
}

/// Returns the values that were taken, in the order of calls.
fn taken(history: &History<Record, Value>) -> Vec<Option<u64>> {
    let takes = history.operations().iter().filter(|operation| &*operation.op.f == "take");
    takes.map(|take| Option::from_value(take.outcome.result().expect("a result")).expect("a number")).collect()
}

/// Inserts and removes at random. The number of values in the object is limited, so that they never
/// fill the ring.
fn any_calls(worker: &mut Worker<'_>, factor: usize) {
    let (most, mut inside) = ((factor + 1) * (RING - 2), 0);
    let (thread, threads) = (u64::from(worker.thread()), u64::from(worker.threads()));
    for step in 0..u64::from(worker.operations()) {
        if inside < most && worker.random().chance(1, 2) {
            let value = u64::from(worker.random().below(1_000_000)) * 1000 + step * threads + thread;
            worker.call::<_, ()>("put", value);
            inside += 1;
        } else if worker.call::<_, Option<u64>>("take", ()).is_some() {
            // The removed value may have been inserted by another thread.
            inside = inside.saturating_sub(1);
        }
    }
}

/// Without chaos: the only thread has nothing to yield to except other programs, which may run for milliseconds each time.
#[test]
fn alone_the_correct_ones_keep_their_order() {
    for factor in 0..4 {
        for (name, kind, make) in CORRECT {
            let test = test(&spec(kind, factor), move || make(factor)).worker(move |worker| any_calls(worker, factor));
            is_fine(name, &test.threads(1).chaos(0).calls(600).runs(20).outcome());
        }
    }
}

/// The order is relaxed as much as the factor allows: with a smaller factor, the histories are rejected.
#[test]
fn alone_the_relaxed_ones_use_all_of_their_factor() {
    for factor in 1..4 {
        let puts: Vec<String> = (0..=factor).map(|value| format!("put {value}")).collect();
        let program = format!("{}, take", puts.join(", "));
        for (name, kind, make) in CORRECT.into_iter().filter(|(_, kind, _)| kind.ends_with(':')) {
            let explored = |allowed| explore(&spec(kind, allowed), &program, move || make(factor));
            is_fine(name, &explored(factor));
            assert!(explored(factor - 1).failure.is_some(), "{name} with factor {factor}");
        }
    }
}

/// These objects fail only if calls overlap.
#[test]
fn alone_some_faults_do_not_show() {
    for name in [
        "iqueue-faulty-empty-at-gap",
        "quasi-queue-faulty-removed-twice",
        "quasi-stack-faulty-empty-on-conflict",
        "sl-queue-faulty-no-lock",
        "bk-queue-faulty-no-commit",
        "ubk-queue-faulty-no-commit",
        "k-stack-faulty-second-read",
    ] {
        let plan = catalog::find(name).expect("the object exists").entry.plan(&Settings::default());
        is_fine(name, &plan.threads(1).chaos(0).calls(100).runs(100).seed(0).timeout(TIME).run());
    }
}

/// Checks the documented example histories of faults that appear with a single thread.
#[test]
fn alone_faults_show_as_it_is_told() {
    let cases: [(&str, &str, &[u64], Made, Made); 6] = [
        (
            "displacement-queue:2",
            "put 1, put 2, put 3, put 4, take",
            &[4],
            || Box::new(QuasiQueue::faulty(2, quasi_queue::Fault::LongSegments)),
            || Box::new(QuasiQueue::new(2)),
        ),
        (
            "displacement-queue:2",
            "put 1, take",
            &[],
            || Box::new(QuasiQueue::faulty(2, quasi_queue::Fault::EmptyAtGap)),
            || Box::new(QuasiQueue::new(2)),
        ),
        (
            "k-stack:2",
            "put 1, put 2, put 3, put 4, take",
            &[1],
            || Box::new(QuasiStack::faulty(2, quasi_stack::Fault::TooDeep)),
            || Box::new(QuasiStack::new(2)),
        ),
        (
            "k-priority-queue:1",
            "put 1, put 2, put 3, take",
            &[3],
            || Box::new(QuasiPriorityQueue::faulty(1, quasi_priority_queue::Fault::BeyondWindow)),
            || Box::new(QuasiPriorityQueue::new(1)),
        ),
        (
            "quasi-priority-queue:1",
            "put 1, put 2, put 3, take, take, take",
            &[2, 3, 1],
            || Box::new(QuasiPriorityQueue::faulty(1, quasi_priority_queue::Fault::NoWindow)),
            || Box::new(QuasiPriorityQueue::new(1)),
        ),
        (
            "displacement-queue:1",
            "put 1, put 2, put 3, take, take",
            &[2, 3],
            || Box::new(RdQueue::faulty(1, rd_queue::Fault::SlidingWindow)),
            || Box::new(RdQueue::new(1)),
        ),
    ];
    for (spec, program, told, faulty, correct) in cases {
        let failure = explore(spec, program, faulty).failure.unwrap_or_else(|| panic!("{spec}: {program}"));
        assert!(taken(&failure.history).into_iter().flatten().eq(told.iter().copied()), "{failure}");
        assert!(explore(spec, program, correct).failure.is_none(), "{spec}: {program}");
    }
}

#[test]
fn a_ring_is_full_of_segments() {
    let queue = BkQueue::new(1, 3);
    assert!((1..=6).all(|value| queue.enqueue(value)));
    assert!(!queue.enqueue(7));
    let first = queue.dequeue();
    assert!(first == Some(1) || first == Some(2));
    // There is a free slot now, but not in the segment of the tail.
    assert!(!queue.enqueue(7));
    let second = queue.dequeue();
    assert_eq!(first.into_iter().chain(second).sum::<u64>(), 3);
    assert!(queue.enqueue(7) && queue.enqueue(8) && !queue.enqueue(9));
    let mut rest: Vec<u64> = std::iter::from_fn(|| queue.dequeue()).collect();
    rest.sort_unstable();
    assert_eq!(rest, [3, 4, 5, 6, 7, 8]);
}

/// Programs with two concurrent calls: those of table V, and others at the boundaries of segments
/// of two cells, with no full segment, with one full segment, and with a full segment on top of an
/// empty one.
const ONE_EACH: [&str; 6] = [
    "(put 1 | put 2) take, take, take",
    "(put 1 | take) take, take",
    "put 1, put 2 (take | take) take",
    "put 1, put 2 (take | put 3) take, take, take",
    "put 1, put 2, put 3, take (take | put 4) take, take, take",
    "put 1, put 2, put 3, take (take | take) take",
];

/// Two threads with two calls each, as in tables II and III.
const TWO_EACH: [&str; 2] = ["(put 1, take | put 2, take) take, take", "put 1 (put 2 | take, take) take, take"];

#[test]
fn two_at_a_time_the_correct_ones_keep_their_order() {
    for (name, kind, make) in CORRECT {
        for program in ONE_EACH {
            is_fine(name, &explore(&spec(kind, 1), program, move || make(1)));
        }
        for program in TWO_EACH {
            is_fine(name, &search(Search::Preemptions(1), &spec(kind, 1), program, move || make(1)));
        }
    }
    // If all values are inserted before the first is removed, no value is overtaken more often than the factor allows.
    for program in ["(put 1 | put 2) take, take, take", "put 1, put 2, put 3, put 4 (take | take) take, take"] {
        let make = || -> Object { Box::new(QuasiPriorityQueue::new(1)) };
        is_fine("quasi-priority-queue", &explore("quasi-priority-queue:1", program, make));
    }
    // This queue waits while it is empty, so the programs remove as many values as they insert.
    for program in ["put 1, take | put 2, take", "put 1 (put 2 | take, take)"] {
        is_fine("herlihy-wing-queue", &explore("queue", program, || Box::new(HerlihyWingQueue::new())));
    }
}

#[test]
fn two_at_a_time_faults_show_as_it_is_told() {
    let shows = |spec: &str, program: &str, make: Made, is_told: &dyn Fn(&[Option<u64>]) -> bool| {
        let failure = explore(spec, program, make).failure.unwrap_or_else(|| panic!("{spec}: {program} is fine"));
        assert!(is_told(&taken(&failure.history)), "{failure}");
        // With one call at a time, the fault does not appear.
        is_fine(spec, &search(Search::Serial, spec, program, make));
    };
    let twice = |value| move |taken: &[Option<u64>]| taken.iter().filter(|other| **other == Some(value)).count() == 2;
    let empty_first = |taken: &[Option<u64>]| taken.first() == Some(&None) && taken[1..].iter().any(Option::is_some);
    let lost = |taken: &[Option<u64>]| taken.iter().flatten().count() == 1;

    let at_a_gap: Made = || Box::new(IQueue::faulty(iqueue::Fault::EmptyAtGap));
    shows("queue", "(put 1 | put 2, take) take, take", at_a_gap, &empty_first);

    let two_takes = "put 1 (take | take) take";
    let removed_twice: Made = || Box::new(QuasiQueue::faulty(2, quasi_queue::Fault::RemovedTwice));
    shows("displacement-queue:2", two_takes, removed_twice, &twice(1));
    let unsynchronized: Made = || Box::new(SlQueue::faulty(sl_queue::Fault::NoLock));
    shows("queue", two_takes, unsynchronized, &twice(1));
    shows("queue", "(put 1 | put 2) take, take", unsynchronized, &lost);
    // According to the paper, one concurrent call of each kind does not fail.
    is_fine("sl-queue", &explore("queue", "put 1 (put 2 | take) take, take", unsynchronized));

    let on_conflict: Made = || Box::new(QuasiStack::faulty(2, quasi_stack::Fault::EmptyOnConflict));
    let is_told = |taken: &[Option<u64>]| taken[..2].contains(&None) && taken[..2].contains(&Some(2));
    shows("stack", "put 1, put 2 (take | take) take, take", on_conflict, &is_told);

    let late = "(put 1 | put 2, take, take) take, take";
    shows("k-fifo:1", late, || Box::new(BkQueue::faulty(1, RING, bk_queue::Fault::NoCommit)), &lost);
    shows("k-fifo:1", late, || Box::new(UbkQueue::faulty(1, ubk_queue::Fault::NoCommit)), &lost);

    let above_an_empty_segment = "put 1, put 2, put 3, take (take | put 4) take, take, take, take";
    let second_read: Made = || Box::new(KStack::faulty(1, k_stack::Fault::SecondRead));
    shows("k-stack:1", above_an_empty_segment, second_read, &twice(4));
}

/// Tests the correct objects in random schedules of three threads.
#[test]
fn three_at_a_time_the_correct_ones_keep_their_order() {
    for factor in [1, 2] {
        for (name, kind, make) in CORRECT {
            for seed in 0..150 {
                let outcome = test(&spec(kind, factor), move || make(factor))
                    .before([call("put", 1_u64), call("put", 2_u64), call("put", 3_u64), call("take", ())])
                    .worker(move |worker| any_calls(worker, factor))
                    .after((0..7).map(|_| call("take", ())))
                    .threads(3)
                    .calls(3)
                    .explore(Exploration::new().search(Search::Uniform).programs(1))
                    .seed(seed)
                    .runs(4)
                    .outcome();
                assert!(outcome.failure.is_none(), "{name}: {}", outcome.failure.expect("there is a failure"));
                assert_eq!((outcome.runs, outcome.undecided), (4, 0), "{name}");
            }
        }
    }
}

/// On real threads, no value is lost and none is returned twice.
#[test]
fn values_that_go_in_come_out_once() {
    for object in OBJECTS.iter().filter(|object| object.entry.is_correct()) {
        for chaos in [0, 16] {
            let test = test("bag", || object.make()).worker(|worker| {
                let (thread, threads) = (u64::from(worker.thread()), u64::from(worker.threads()));
                for turn in 0..u64::from(worker.operations() / 2) {
                    worker.call::<_, ()>("put", turn * threads + thread);
                    // Removes at most as many values as the thread has inserted, because some objects wait for more.
                    let _: Option<u64> = worker.call("take", ());
                }
            });
            let outcome = test.threads(4).calls(1000).chaos(chaos).runs(1).outcome();
            is_fine(object.entry.name, &outcome);
            assert_eq!(outcome.operations, 4 * 1000, "{}", object.entry.name);
        }
    }
}

/// Wraps an object; `remove` waits while the object is empty.
struct Waiting(Object);

impl Collection for Waiting {
    fn insert(&self, value: u64) {
        self.0.insert(value);
    }

    fn remove(&self) -> Option<u64> {
        loop {
            match self.0.remove() {
                None => spin_hint(),
                value => break value,
            }
        }
    }
}

/// One thread inserts in order and another removes: the position of each value in the output is known, even for a
/// priority queue.
#[test]
fn values_are_out_of_order_by_the_factor_at_most() {
    for factor in [0, 1, 3] {
        for (name, kind, make) in CORRECT.into_iter().filter(|(_, kind, _)| !kind.contains("stack")) {
            let kind = if kind.ends_with(':') { "displacement-queue:" } else { kind };
            let test = test(&spec(kind, factor), move || Box::new(Waiting(make(factor)))).worker(|worker| {
                for value in 0..u64::from(worker.operations()) {
                    if worker.thread() == 0 {
                        worker.call::<_, ()>("put", value);
                    } else {
                        let _: Option<u64> = worker.call("take", ());
                    }
                }
            });
            let outcome = test.threads(2).calls(3000).chaos(16).runs(1).outcome();
            is_fine(name, &outcome);
            assert_eq!(outcome.operations, 2 * 3000, "{name}");
        }
    }
}

/// The objects of the catalog are the documented ones, and run the programs of the paper.
#[test]
fn objects_by_name_run_programs() {
    let mut kinds = BTreeMap::<&str, usize>::new();
    for object in OBJECTS {
        assert_eq!(catalog::find(object.entry.name).map(|found| found.entry.name), Some(object.entry.name));
        *kinds.entry(object.entry.family).or_default() += 1;
        let collection = object.make();
        let mut out: Vec<u64> = [Insert(1), Remove].into_iter().filter_map(|made| collection.call(made)).collect();
        // An object that finds only gaps reports that it is empty, and can be called again.
        let mut left = 1000;
        while out.is_empty() && left > 0 {
            out.extend(collection.call(Remove));
            left -= 1;
        }
        assert_eq!(out, [1], "{}", object.entry.name);
    }
    assert_eq!(kinds.len(), 10);
    assert!(catalog::find("ms-queue").is_none());
}
