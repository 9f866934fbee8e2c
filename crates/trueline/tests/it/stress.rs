//! Tests objects on real threads: faults are found, and there are no false alarms.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use trueline::drive::{Clock, unique};
use trueline::primitives;
use trueline::test::{Failure, FailureKind, Meaning, Outcome, call};

/// A time limit that no test reaches: the faults are certain to appear in the first runs.
const LONG: Duration = Duration::from_secs(86_400);

#[track_caller]
fn clean(outcome: &Outcome) {
    if let Some(failure) = &outcome.failure {
        panic!("{failure}");
    }
    assert_eq!(outcome.undecided, 0);
    assert!(outcome.runs > 0);
}

#[track_caller]
fn wrong(outcome: Outcome) -> Failure {
    let runs = outcome.runs;
    let failure = outcome.failure.unwrap_or_else(|| panic!("nothing was found in {runs} runs"));
    assert_eq!(failure.kind, FailureKind::NotLinearizable, "{failure}");
    failure
}

/// The first two threads to arrive wait for each other.
#[derive(Default)]
struct Meeting(AtomicU64);

impl Meeting {
    fn meet(&self) {
        if self.0.fetch_add(1, Ordering::SeqCst) < 2 {
            while self.0.load(Ordering::SeqCst) < 2 {
                primitives::spin_hint();
            }
        }
    }
}

type Counter = (AtomicU64, Meeting);

/// A test in which the first two threads draw the same number, in every run.
fn lost_update() -> trueline::test::Test<Counter, trueline::test::Shared<Counter>, trueline::test::Modeled<u64>> {
    trueline::test(Counter::default)
        .model(0_u64)
        .operation(
            "draw",
            (),
            |counter, ()| {
                let number = counter.0.load(Ordering::SeqCst);
                counter.1.meet();
                counter.0.store(number + 1, Ordering::SeqCst);
                number
            },
            |model, ()| {
                *model += 1;
                *model - 1
            },
        )
        .forgetful()
}

#[test]
fn a_lost_update_is_found_and_explained() {
    let failure = wrong(lost_update().time(LONG).outcome());
    let report = failure.to_string();
    for part in ["is not linearizable", "draw()", "<-- refused", "could only have returned", "TRUELINE_REPLAY="] {
        assert!(report.contains(part), "no {part:?} in\n{report}");
    }
    let saved = failure.saved.as_ref().expect("the folder of the build can be written");
    let text = std::fs::read_to_string(saved).expect("the history was saved");
    let history = trueline::history::codec::jsonl::read(text.as_bytes()).expect("the history can be read");
    assert_eq!(history.len(), failure.history.len());
    // The same program fails again.
    wrong(lost_update().replay(&failure.token.to_string()).time(LONG).outcome());
}

#[test]
fn several_testers_and_noise_find_it_too() {
    wrong(lost_update().testers(2).noise(2).time(LONG).outcome());
}

#[test]
fn what_is_right_is_not_wrong() {
    let by_model = trueline::test(|| Mutex::new(VecDeque::new()))
        .model(VecDeque::new())
        .operation("push", 0..3, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
        .means(Meaning::Enqueue)
        .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
        .means(Meaning::Dequeue);
    clean(&by_model.runs(500).outcome());
    let by_key = trueline::test(|| Mutex::new(BTreeMap::new()))
        .model(BTreeMap::new())
        .operation(
            "insert",
            (0..3, 0..9),
            |map, (k, v)| map.lock().unwrap().insert(k, v),
            |map, (k, v)| map.insert(k, v),
        )
        .operation("get", 0..3, |map, k| map.lock().unwrap().get(&k).copied(), |map, k| map.get(&k).copied())
        .reads_only()
        .independent_keys();
    clean(&by_key.runs(500).outcome());
}

/// A test of a register whose accesses have these orderings.
fn register(
    load: Ordering,
    store: Ordering,
) -> trueline::test::Test<AtomicU64, trueline::test::Shared<AtomicU64>, trueline::test::Specified> {
    trueline::test(|| AtomicU64::new(0))
        .spec("register:0")
        .operation("read", (), move |register, ()| register.load(load))
        .weight(3)
        .operation("write", unique(), move |register, x| register.store(x, store))
        .weight(2)
        .threads(2)
        .calls(200)
        .forgetful()
}

/// A correct register causes no false alarm with any clock.
#[test]
fn a_sequentially_consistent_register_is_never_wrong() {
    for clock in Clock::ALL {
        if let Err(reason) = clock.check() {
            eprintln!("skipped: no {clock} clock here, {reason}");
            continue;
        }
        clean(&register(Ordering::SeqCst, Ordering::SeqCst).clock(clock).runs(2000).outcome());
    }
}

/// A write may still be in the store buffer when its operation returns. When other threads see it depends on the
/// machine.
#[test]
#[ignore = "a soak: it needs two processors at the same time"]
fn soak_a_relaxed_register_is_wrong_by_a_clock_that_does_not_heal_it() {
    if cfg!(not(target_arch = "x86_64")) || std::thread::available_parallelism().map_or(1, usize::from) == 1 {
        eprintln!("skipped: this needs two processors with store buffers and time stamps");
        return;
    }
    wrong(register(Ordering::Relaxed, Ordering::Relaxed).clock(Clock::TimeStamp).time(LONG).outcome());
}

#[test]
fn a_relaxed_register_is_healed_by_a_clock_that_orders_memory() {
    clean(&register(Ordering::Relaxed, Ordering::Relaxed).clock(Clock::Counter).runs(2000).outcome());
}

#[test]
fn panics_are_failures() {
    let outcome = trueline::test(|| AtomicU64::new(0))
        .model(0_u64)
        .operation(
            "count",
            (),
            |count, ()| assert!(count.fetch_add(1, Ordering::SeqCst) < 3, "three are enough"),
            |count, ()| *count += 1,
        )
        // A panic may print a long trace before it unwinds.
        .watchdog(LONG)
        .forgetful()
        .calls(4)
        .runs(1)
        .outcome();
    let failure = outcome.failure.expect("the operation panics");
    assert!(matches!(&failure.kind, FailureKind::Panicked { message, .. } if message == "three are enough"));
    assert!(failure.to_string().contains("panicked in thread"), "{failure}");
}

#[test]
fn stuck_objects_are_failures_and_the_test_ends() {
    // The threads of `deadlock` can be ended by their primitives; the threads of `parked` can only be abandoned.
    let both = |first: &primitives::Mutex<()>, second: &primitives::Mutex<()>, meeting: &Meeting| {
        let first = first.lock();
        meeting.meet();
        drop((first, second.lock()));
    };
    let deadlock = trueline::test(|| (primitives::Mutex::new(()), primitives::Mutex::new(()), Meeting::default()))
        .model(())
        .operation("one way", (), move |locks, ()| both(&locks.0, &locks.1, &locks.2), |_, ()| ())
        .weight(0)
        .operation("the other", (), move |locks, ()| both(&locks.1, &locks.0, &locks.2), |_, ()| ())
        .weight(0)
        .program([[call("one way", ())], [call("the other", ())]]);
    let parked = trueline::test(|| AtomicUsize::new(0)).model(()).operation(
        "wait",
        (),
        |turns, ()| {
            if turns.fetch_add(1, Ordering::SeqCst) > 2 {
                loop {
                    std::thread::park();
                }
            }
        },
        |_, ()| (),
    );
    let watchdog = Duration::from_millis(20);
    for (outcome, may_be_known_at_once) in [
        (deadlock.watchdog(watchdog).forgetful().runs(1).outcome(), true),
        (parked.watchdog(watchdog).forgetful().calls(2).threads(2).runs(1).outcome(), false),
    ] {
        let failure = outcome.failure.expect("the run is stuck");
        // A deadlock of primitives is detected immediately, if the process has no other threads.
        let is_right = |time: Duration| time >= watchdog * 10 || (may_be_known_at_once && time.is_zero());
        assert!(matches!(failure.kind, FailureKind::Stuck(time) if is_right(time)), "{failure}");
        assert!(failure.to_string().contains("never returned"), "{failure}");
    }
}

#[test]
fn operations_may_block() {
    let gate = trueline::test(|| (AtomicBool::new(false), AtomicBool::new(false)))
        .model(false)
        .partial_operation(
            "pass",
            (),
            |gate, ()| {
                while !gate.0.load(Ordering::SeqCst) && !gate.1.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
            },
            |is_open, ()| is_open.then_some(()),
        )
        .may_block()
        .operation("open", (), |gate, ()| gate.0.store(true, Ordering::SeqCst), |is_open, ()| *is_open = true)
        .release(|(_, is_over)| is_over.store(true, Ordering::SeqCst));
    let outcome = gate.calls(2).threads(2).runs(40).forgetful().outcome();
    clean(&outcome);
}

#[test]
fn handles_roles_and_guards() {
    // A lock whose guard is held from one operation to a later one.
    let locks = trueline::test(|| &*Box::leak(Box::new(Mutex::new(()))))
        .handle(|lock, _| (**lock, None))
        .spec("mutex")
        .operation("try-acquire", (), |(lock, guard), ()| {
            *guard = lock.try_lock().ok();
            guard.is_some()
        })
        .when(|(_, guard)| guard.is_none())
        .operation("release", (), |(_, guard), ()| drop(guard.take()))
        .when(|(_, guard)| guard.is_some());
    clean(&locks.runs(300).outcome());

    // Only one thread of a run pops, and it calls nothing else.
    let popping = Mutex::new(HashMap::<std::thread::ThreadId, [bool; 2]>::new());
    let popping: &'static _ = Box::leak(Box::new(popping));
    let note = |operation: usize| {
        popping.lock().unwrap().entry(std::thread::current().id()).or_default()[operation] = true;
    };
    let roles = trueline::test(|| Mutex::new(VecDeque::new()))
        .spec("queue")
        .operation("enqueue", unique(), move |queue, x| {
            note(0);
            queue.lock().unwrap().push_back(x);
        })
        .operation("dequeue", (), move |queue, ()| {
            note(1);
            queue.lock().unwrap().pop_front()
        })
        .by("consumer");
    clean(&roles.runs(200).outcome());
    let seen = popping.lock().unwrap();
    let threads_that = |operation: usize| seen.values().filter(|did| did[operation]).count();
    assert!(threads_that(1) > 0 && threads_that(0) > threads_that(1), "{seen:?}");
    assert!(seen.values().all(|did| *did != [true, true]), "{seen:?}");
}

#[test]
fn programs_are_run_as_they_are_written() {
    // A read is wrong only if the sum is 42. Only the last program has this sum.
    let test = || {
        trueline::test(|| AtomicU64::new(0))
            .model(0_u64)
            .operation(
                "add",
                1..9_u64,
                |sum, x| sum.fetch_add(x, Ordering::SeqCst),
                |sum, x| std::mem::replace(sum, *sum + x),
            )
            .weight(0)
            .operation(
                "read",
                (),
                |sum, ()| match sum.load(Ordering::SeqCst) {
                    42 => 0,
                    sum => sum,
                },
                |sum, ()| *sum,
            )
            .weight(0)
            .forgetful()
    };
    let right = test().program([vec![call("add", 20)], vec![call("add", 21)]]).after([call("read", ())]);
    clean(&right.runs(50).outcome());
    let first = test().before([call("add", 2)]);
    let failure =
        wrong(first.program([vec![call("add", 20)], vec![call("add", 20)]]).after([call("read", ())]).outcome());
    assert_eq!(failure.history.len(), 4);
}

#[test]
fn workers_choose() {
    let test = trueline::test(|| Mutex::new(Vec::new()))
        .spec("stack")
        .operation("push", 0..9_u64, |stack, x| stack.lock().unwrap().push(x))
        .operation("pop", (), |stack, ()| stack.lock().unwrap().pop())
        .worker(|worker| {
            for _ in 0..worker.random().below(5) {
                let top: Option<u64> = worker.call("pop", ());
                worker.call::<_, ()>("push", top.map_or(0, |top| top + 1));
            }
        });
    let outcome = test.runs(200).outcome();
    clean(&outcome);
    assert!(outcome.operations > 200);
}

#[test]
fn weak_operations_are_called_on_request() {
    let test = |weak| {
        trueline::test(|| ())
            .model(())
            .operation("right", (), |_, ()| 1, |_, ()| 1)
            .operation("wrong", (), |_, ()| 1, |_, ()| 2)
            .weak()
            .check_weak(weak)
            .forgetful()
            .runs(100)
            .outcome()
    };
    clean(&test(false));
    wrong(test(true));
}

#[test]
#[should_panic(expected = "a test needs operations")]
fn a_test_without_operations_makes_no_sense() {
    trueline::test(|| ()).model(()).run();
}

#[test]
#[should_panic(expected = "a program calls `pop`, but the test has only push")]
fn a_program_calls_what_is_there() {
    trueline::test(|| ()).model(()).operation("push", (), |_, ()| (), |_, ()| ()).program([[call("pop", ())]]).run();
}

#[test]
#[should_panic(expected = "a program calls `push` with \"x\", which is not a valid argument of this operation")]
fn a_program_calls_it_with_what_it_takes() {
    let push = trueline::test(|| ()).model(()).operation("push", 0..3, |_, _| (), |_, _| ());
    push.program([[call("push", "x".to_owned())]]).run();
}

#[test]
#[should_panic(expected = "`queue` has no operation `jump`")]
fn operations_of_a_specification_are_those_that_it_has() {
    trueline::test(|| ()).spec("queue").operation("jump", (), |_, ()| ()).run();
}

/// Every test of an object that deadlocks, spins forever or panics ends.
#[test]
#[ignore = "a soak: 1,000 tests of stuck objects"]
fn soak_of_stuck_objects() {
    let tests = std::env::var("TRUELINE_SOAK").map_or(1000, |tests| tests.parse().expect("a number"));
    for number in 0..tests {
        let kind = number % 3;
        let outcome = trueline::test(|| primitives::AtomicU64::new(0))
            .model(())
            .operation(
                "go",
                (),
                move |turns, ()| {
                    if turns.fetch_add(1, Ordering::SeqCst) > 1 {
                        match kind {
                            0 => loop {
                                primitives::spin_hint();
                            },
                            1 => loop {
                                std::thread::park();
                            },
                            _ => panic!("as it should"),
                        }
                    }
                },
                |_, ()| (),
            )
            // A panic may print a long trace before it unwinds.
            .watchdog(Duration::from_millis(if kind == 2 { 500 } else { 5 }))
            .forgetful()
            .time(LONG)
            .outcome();
        let failure = outcome.failure.expect("the test fails");
        assert_eq!(matches!(failure.kind, FailureKind::Panicked { .. }), kind == 2);
    }
}
