//! Tests objects that synchronize threads, with the programs of their paper: the correct ones are accepted in all
//! schedules that are tried, and each fault appears in some schedule, in the documented way.
//!
//! Schedules are random, because there are too many to try all of them. `explore` tries all
//! schedules of smaller programs; `catalog` and `together` use threads that the operating system
//! schedules.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::primitives::{AtomicU64, Chaos, Ordering::SeqCst, enter};
use trueline::test::{Exploration, FailureKind, Plan};
use trueline_objects::catalog::{self, Settings};
use trueline_objects::sync::barrier::{self, Barrier, CombiningBarrier, TreeBarrier};
use trueline_objects::sync::filter_channel::Filter;
use trueline_objects::sync::semaphore::Semaphore;
use trueline_objects::sync::terminating_queue::{self, TerminatingQueue};
use trueline_objects::sync::timeout_channel::TimeoutChannel;

/// All calls that should return do return, but their results are rejected.
const WRONG: FailureKind = FailureKind::NotLinearizable;
/// Some calls that should return do not return. The results of other calls may then also be rejected, because those
/// calls should not have returned.
const STUCK: FailureKind = FailureKind::Stuck(Duration::ZERO);

/// The number of seeds with which a correct object is tried, and the number of schedules for each.
const SEEDS: u64 = 10;
const SCHEDULES: u64 = 100;
/// The maximum number of schedules in which a fault must appear, and the maximum number of attempts
/// until the fault has appeared in all expected ways.
const PATIENCE: u64 = 20_000;
const TRIES: u64 = 200;
/// The time limit for judging one history; no test depends on it.
const TIMEOUT: Duration = Duration::from_secs(86_400);

/// In these objects, an operation that does not wait ends too soon to overlap with the operations that it should have
/// waited for.
const ALWAYS_WRONG: [&str; 2] = ["barrier-faulty-returns-at-once", "signal-faulty-up-does-not-wait"];

/// Returns a program with this many threads, and this many calls of each.
fn program(threads: usize, calls: usize, call: impl Fn(usize, usize) -> String) -> String {
    let of_thread = |me| (0..calls).map(|number| call(me, number)).collect::<Vec<_>>().join(", ");
    (0..threads).map(of_thread).collect::<Vec<_>>().join(" | ")
}

/// Returns a program in which each thread calls one of these operations, and each call has its own
/// value.
fn in_turn(threads: usize, calls: usize, names: &[&str]) -> String {
    program(threads, calls, |me, number| match names[me % names.len()] {
        "receive" => "receive".to_owned(),
        name => format!("{name} {}", 10 * me + number),
    })
}

/// Returns the plan of an object of the catalog for this many parties, in random schedules.
fn plan(name: &str, parties: u32) -> Plan {
    let settings = Settings { threads: Some(parties), ..Settings::default() };
    let exploration = Exploration::new().search(Search::Uniform).spurious(1).programs(1);
    let plan = catalog::find(name).expect("the object exists").plan(&settings).explore(exploration);
    plan.timeout(TIMEOUT).shrink_for(Duration::ZERO)
}

/// Asserts that no schedule fails.
fn is_right(name: &str, plan: &Plan) {
    for seed in 0..SEEDS {
        let outcome = plan.clone().seed(seed).runs(SCHEDULES).run();
        assert!(outcome.failure.is_none(), "{name}: {}", outcome.failure.expect("there is a failure"));
        assert_eq!((outcome.runs, outcome.undecided), (SCHEDULES, 0), "{name}");
    }
}

/// Asserts that schedules fail in each of these ways and in no other, and that some do not fail.
fn is_wrong(name: &str, plan: &Plan, expected: &[FailureKind]) {
    let (mut missing, mut is_sometimes_right) = (expected.to_vec(), ALWAYS_WRONG.contains(&name));
    for seed in 0..TRIES {
        // If a fault appears in several ways, one of them may be rare.
        let enough = if expected.len() == 1 { 1 } else { 50 };
        let outcome = plan.clone().seed(seed).runs(PATIENCE).collect(enough).run();
        for failure in outcome.failure.iter().chain(&outcome.further) {
            let is_stuck = failure.history.operations().iter().any(|operation| operation.outcome.result().is_none());
            let kind = if is_stuck { &STUCK } else { &failure.kind };
            assert!(expected.contains(kind), "{name}: {failure}");
            missing.retain(|other| other != kind);
        }
        assert!(outcome.failure.is_some(), "{name} never fails");
        let wrong = 1 + outcome.further.len() as u64;
        is_sometimes_right |= outcome.explored.is_some_and(|explored| explored.histories > wrong);
        if missing.is_empty() && is_sometimes_right {
            return;
        }
    }
    panic!("{name} never failed with {missing:?}, or never succeeded");
}

/// Asserts that a correct object does not fail in a program, and that its faulty versions fail in
/// these ways; an empty list means that the fault cannot be observed in this program.
fn tried(name: &str, parties: u32, program: &str, faults: &[(&str, &[FailureKind])]) {
    let plan = |name: &str| plan(name, parties).only(program).expect("the object has these operations");
    is_right(name, &plan(name));
    for (fault, expected) in faults {
        let name = format!("{name}-faulty-{fault}");
        match expected {
            [] => is_right(&name, &plan(&name)),
            expected => is_wrong(&name, &plan(&name), expected),
        }
    }
}

#[test]
fn channels() {
    let in_pairs = in_turn(4, 2, &["send", "receive"]);
    tried("sync-channel", 4, &in_pairs, &[("no-wait", &[WRONG]), ("wrong-condition", &[STUCK])]);
    tried("counter-channel", 4, &in_pairs, &[("late-number", &[WRONG]), ("early-number", &[WRONG])]);
    tried("timeout-channel", 4, &in_pairs, &[("one-flag", &[WRONG])]);
    // These faults appear only when the channel is closed.
    tried("closeable-channel", 4, &in_pairs, &[("closed-first", &[]), ("old-library", &[])]);
    let closing = "send 1, send 2 | send 3, send 4 | receive, receive | close, close";
    tried("closeable-channel", 4, closing, &[("closed-first", &[WRONG]), ("old-library", &[WRONG])]);
    let to_all = in_turn(4, 2, &["send", "receive", "receive", "receive"]);
    tried("atomic-broadcast", 4, &to_all, &[("no-rounds", &[STUCK])]);
}

#[test]
fn channels_that_filter() {
    let filtering = "send 2, send 4 | receive [2, 0], receive [2, 0] | send 1, send 3 | receive [2, 1], receive [2, 1]";
    tried("filter-channel", 4, filtering, &[("no-filter", &[WRONG])]);
    // The value of one sender is received. With two states, this sender may wait forever.
    tried("filter-channel", 4, "send 1 | send 3 | receive [2, 1]", &[("one-slot", &[]), ("two-states", &[STUCK])]);
    assert!(Filter::Any.accepts(1) && Filter::Any.accepts(2));
}

#[test]
fn giving_up_is_neither_always_nor_never() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let sent = Arc::clone(&seen);
    let outcome = trueline::test(TimeoutChannel::new)
        .spec("timeout-channel")
        .operation("send", 7..8_u64, move |channel, value| {
            let is_sent = channel.send_within(value, Duration::from_millis(1));
            sent.lock().expect("not poisoned").insert(is_sent);
            is_sent
        })
        .operation("receive", (), |channel, ()| channel.receive_within(Duration::from_millis(1)))
        .only("send 7 | receive")
        .explore(Exploration::new().search(Search::Exhaustive))
        .outcome();
    assert!(outcome.failure.is_none() && outcome.explored.is_some_and(|explored| explored.is_complete));
    assert_eq!(seen.lock().expect("not poisoned").len(), 2);
}

#[test]
fn meetings() {
    let couples = in_turn(4, 2, &["man", "woman"]);
    let faults: [(_, &[_]); 3] = [("two-slots", &[WRONG]), ("crosswise", &[WRONG]), ("notify-one", &[STUCK])];
    tried("men-women", 4, &couples, &faults);
    tried("exchanger", 8, &in_turn(8, 1, &["exchange"]), &[("no-third-stage", &[WRONG])]);
    let faults: [(_, &[_]); 2] = [("third-joins", &[WRONG]), ("ghost", &[WRONG])];
    tried("timeout-exchanger", 4, &in_turn(4, 2, &["exchange"]), &faults);
    let families = program(4, 2, |me, _| format!("sync-{} {}", ["a", "b"][me % 2], me / 2));
    tried("two-families", 4, &families, &[("late-read", &[WRONG])]);
    let family = program(4, 3, |me, _| format!("sync {me}"));
    tried("one-family", 4, &family, &[("late-read", &[WRONG]), ("early-look", &[STUCK])]);
    let three = in_turn(6, 2, &["sync-a", "sync-b", "sync-c"]);
    tried("abc", 6, &three, &[("late-read", &[WRONG]), ("lost-signal", &[STUCK])]);
}

#[test]
fn barriers() {
    let rounds = |parties, count| program(parties, count, |me, _| format!("sync {me}"));
    // These programs have enough threads for a tree of three levels. The programs for faulty
    // objects below have few threads and few rounds, so that the objects sometimes succeed.
    for name in ["barrier", "tree-barrier"] {
        tried(name, 4, &rounds(4, 3), &[]);
    }
    let faults: [(_, &[_]); 5] = [
        ("returns-at-once", &[WRONG]),
        ("no-rounds", &[WRONG]),
        ("no-initial-wait", &[STUCK]),
        ("bare-wait", &[STUCK]),
        ("notify-one", &[STUCK]),
    ];
    tried("barrier", 3, &rounds(3, 2), &faults);
    let either: &[_] = &[WRONG, STUCK];
    tried("tree-barrier", 3, &rounds(3, 2), &[("up-does-not-wait", either), ("early-down", either)]);
    let signals = program(2, 3, |me, _| ["signal-up-and-wait", "wait-for-signal-up, signal-down"][me].to_owned());
    tried("signal", 2, &signals, &[("up-does-not-wait", either), ("early-down", either)]);
    let values = program(4, 3, |me, number| format!("sync [{me}, {}]", 10 * me + number));
    tried("combining-barrier", 4, &values, &[]);
    let enrolled = program(3, 1, |me, _| format!("enrol {me}, sync {me}, sync {me}, resign {me}"));
    tried("enrollable-barrier", 3, &enrolled, &[("no-initial-wait", &[WRONG])]);
}

#[test]
fn queues_that_terminate() {
    // Threads continue until a dequeue reports that all threads wait.
    let plan = |name| plan(name, 3).calls(2);
    for name in ["terminating-queue", "terminating-queues"] {
        is_right(name, &plan(name));
    }
    let faulty = "terminating-queue-faulty-returns-at-once";
    is_wrong(faulty, &plan(faulty), &[WRONG]);

    let queue = TerminatingQueue::faulty(1, terminating_queue::Fault::ReturnsAtOnce);
    queue.enqueue(5);
    assert_eq!(
        (queue.dequeue(), queue.dequeue()),
        (Some(5), None),
        "with one worker, the faulty queue returns correct results"
    );
}

#[test]
fn barriers_that_are_wrong_and_right_alone() {
    Barrier::new(1).sync(0);
    TreeBarrier::new(1).sync(0);
    for fault in [
        barrier::Fault::ReturnsAtOnce,
        barrier::Fault::NoRounds,
        barrier::Fault::NoInitialWait,
        barrier::Fault::BareWait,
        barrier::Fault::NotifyOne,
    ] {
        let barrier = Barrier::faulty(1, fault);
        (0..3).for_each(|_| barrier.sync(0));
    }
}

#[test]
fn barriers_that_wait_without_a_loop_are_found_in_chaos() {
    // There is no other thread, so only a spurious wake-up can end this wait.
    let _inside = enter(Rc::new(Chaos::new(1, 0, 0)));
    Barrier::faulty(2, barrier::Fault::BareWait).sync(0);
}

#[test]
fn values_are_combined_in_the_order_of_the_tree() {
    // The order of the tree is 0, 1, 3, 2.
    for (combine, thread) in [((|x, _| x) as fn(u64, u64) -> u64, 0), (|_, y| y, 2)] {
        let barrier = CombiningBarrier::new(4, combine);
        thread::scope(|scope| {
            for me in 0..4 {
                let barrier = &barrier;
                scope.spawn(move || assert_eq!(barrier.sync(me, me as u64), thread));
            }
        });
    }
}

#[test]
fn a_semaphore_lets_one_in_for_each_signal() {
    let explored = |make: fn() -> Semaphore| {
        let outcome = trueline::test(move || (make(), AtomicU64::new(0)))
            .model(())
            .operation(
                "enter",
                (),
                |object, ()| {
                    let (semaphore, inside) = &**object;
                    semaphore.down();
                    let others = inside.fetch_add(1, SeqCst);
                    inside.fetch_sub(1, SeqCst);
                    semaphore.up();
                    others
                },
                |(), ()| 0_u64,
            )
            .only("enter, enter, enter | enter, enter, enter | enter, enter, enter")
            .explore(Exploration::new().search(Search::Uniform).spurious(1))
            .seed(0)
            .runs(SEEDS * SCHEDULES)
            .outcome();
        outcome.failure.map(|failure| failure.kind)
    };
    assert_eq!(explored(Semaphore::raised), None);
    assert_eq!(explored(Semaphore::lowered), Some(STUCK));
}

#[test]
#[should_panic = "the semaphore is already up"]
fn a_semaphore_loses_no_signal() {
    Semaphore::raised().up();
}
