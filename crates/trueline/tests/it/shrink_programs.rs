//! Tests of shrinking the programs of failing runs: the smallest program fails, and the report
//! shows how.

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::drive::unique;
use trueline::primitives::{AtomicU64, Mutex, Ordering::SeqCst, spin_hint};
use trueline::test::{Against, Exploration, Failure, FailureKind, Modeled, Outcome, Shared, Smallest, Test, call};

/// A time limit that no test reaches: each test ends when it has tried everything.
const LONG: Duration = Duration::from_secs(86_400);

#[track_caller]
fn failure(outcome: Outcome) -> Failure {
    let runs = outcome.runs;
    outcome.failure.unwrap_or_else(|| panic!("nothing was found in {runs} runs"))
}

/// Returns the failure and its smallest program, which must be exact.
#[track_caller]
fn minimal(outcome: Outcome) -> (Failure, Smallest) {
    let failure = failure(outcome);
    let smallest = failure.smallest.clone().expect("the program was shrunk");
    assert!(smallest.is_minimal, "{failure}");
    assert!(smallest.calls <= smallest.of_calls);
    (failure, smallest)
}

/// A stack whose `pop` reads the value first, and removes it later.
#[derive(Default)]
struct Stack(Mutex<Vec<u64>>);

impl Stack {
    fn push(&self, x: u64) {
        self.0.lock().push(x);
    }

    fn pop(&self) -> Option<u64> {
        let top = self.0.lock().last().copied()?;
        self.0.lock().pop();
        Some(top)
    }
}

type Stacks = Test<Stack, Shared<Stack>, Modeled<Vec<u64>>>;

fn stack() -> Stacks {
    trueline::test(Stack::default)
        .model(Vec::new())
        .operation("push", 3..9_u64, |stack, x| stack.push(x), |model, x| model.push(x))
        .operation("pop", (), |stack, ()| stack.pop(), |model, ()| model.pop())
        .forgetful()
}

#[test]
fn two_pops_of_one_value_are_three_calls() {
    for seed in 0..8 {
        let explored = stack().threads(3).calls(3).seed(seed).explore(Exploration::new().programs(3)).time(LONG);
        let (failure, smallest) = minimal(explored.shrink_for(LONG).outcome());
        assert_eq!(smallest.calls, 3, "{failure}");
        // Either `pop` may come first, and either thread may push.
        let smallest_programs = ["push 3, pop | pop", "pop | push 3, pop"];
        assert!(smallest_programs.contains(&&*smallest.program), "{failure}");
        assert_eq!(smallest.of_calls, 9);
        assert_eq!(failure.history.len(), 3, "the report is about the smallest: {failure}");
        assert!(
            failure
                .to_string()
                .contains("(3 of 9 calls, every call is needed: if any one of them is removed, no schedule"),
            "{failure}"
        );
        assert!(!failure.steps.is_empty());
        let refusals = failure.report().matches("but could only have returned").count();
        assert_eq!(refusals, 1, "the report tells the refusal once: {failure}");
    }
}

/// No program with one call fewer fails, and the token repeats the same run.
#[test]
fn what_is_left_is_exact_and_made_again() {
    let (failure, smallest) =
        minimal(stack().explore(Exploration::new().calls("2*2+4".parse().unwrap())).shrink_for(LONG).outcome());
    assert_eq!(smallest.of_calls, 8);
    let again = self::failure(stack().replay(&failure.token.to_string()).outcome());
    assert_eq!(again.history, failure.history);
    assert!(again.smallest.is_none(), "a run that was requested is not shrunk");
    let only = |program: &str| {
        let exhaustive = Exploration::new().search(Search::Exhaustive);
        stack().only(program).explore(exhaustive).time(LONG).outcome()
    };
    assert!(only(&smallest.program).failure.is_some());
    for less in ["pop | pop", "push 3 | pop", "push 3, pop"] {
        let outcome = only(less);
        assert!(outcome.failure.is_none() && outcome.explored.unwrap().is_complete, "{less}");
    }
}

#[test]
fn what_is_before_and_after_is_left_out_too() {
    let test = || stack().before([call("push", 4), call("push", 5)]).after([call("pop", ())]);
    let program = [vec![call("pop", ()), call("pop", ())], vec![call("pop", ())]];
    let (failure, smallest) = minimal(test().program(program).explore(Exploration::new()).shrink_for(LONG).outcome());
    assert_eq!(smallest.of_calls, 6);
    // A program that is given explicitly keeps its arguments.
    assert!(["push 4 (pop | pop)", "push 5 (pop | pop)"].contains(&&*smallest.program), "{failure}");
    // With fewer values in the stack, no program fails: the given program is already minimal.
    let only = |program: &str| test().only(program).explore(Exploration::new()).outcome().failure;
    assert!(only(&smallest.program).is_some() && only("pop | pop").is_none());
}

#[test]
fn it_is_compared_with_itself() {
    let itself = Exploration::new().against(Against::Itself);
    let (failure, smallest) =
        minimal(stack().threads(2).calls(3).seed(4).explore(itself).time(LONG).shrink_for(LONG).outcome());
    assert_eq!((failure.kind, smallest.calls), (FailureKind::NotSerial, 3), "{}", smallest.program);
}

/// The first two threads to arrive wait for each other, so that their next steps certainly overlap.
#[derive(Default)]
struct Meeting(AtomicU64);

impl Meeting {
    fn meet(&self) {
        if self.0.fetch_add(1, SeqCst) < 2 {
            while self.0.load(SeqCst) < 2 {
                spin_hint();
            }
        }
    }
}

/// Two locks, which are taken in either order.
#[derive(Default)]
struct Locks(Mutex<()>, Mutex<()>, Meeting);

impl Locks {
    fn forth(&self) {
        let first = self.0.lock();
        self.2.meet();
        drop((first, self.1.lock()));
    }

    fn back(&self) {
        let first = self.1.lock();
        self.2.meet();
        drop((first, self.0.lock()));
    }
}

#[test]
fn threads_that_wait_for_each_other_are_two_calls() {
    let test = || {
        trueline::test(Locks::default)
            .model(())
            .operation("forth", (), |locks, ()| drop((locks.0.lock(), locks.1.lock())), |(), ()| ())
            .operation("back", (), |locks, ()| drop((locks.1.lock(), locks.0.lock())), |(), ()| ())
            .operation("rest", 0..9, |_, _| (), |(), _| ())
            .weight(3)
            .forgetful()
    };
    let (failure, smallest) =
        minimal(test().calls(4).seed(1).explore(Exploration::new()).time(LONG).shrink_for(LONG).outcome());
    assert!(matches!(failure.kind, FailureKind::Stuck(_)), "{failure}");
    assert!(["forth | back", "back | forth"].contains(&&*smallest.program), "{failure}");
    // The locks also deadlock on real threads, where a run is stuck if no thread has made progress for a while.
    let test = trueline::test(Locks::default)
        .model(())
        .operation("forth", (), |locks, ()| locks.forth(), |(), ()| ())
        .by("forth")
        .operation("back", (), |locks, ()| locks.back(), |(), ()| ())
        .forgetful();
    let test = test.watchdog(Duration::from_millis(20)).calls(8).threads(2).runs(1);
    let stuck = self::failure(test.shrink_for(LONG).outcome());
    assert!(matches!(stuck.kind, FailureKind::Stuck(_)), "{stuck}");
    let smallest = stuck.smallest.clone().expect("the program is stuck again");
    assert!(smallest.calls < smallest.of_calls, "{stuck}");
}

/// Panics if two threads enter at the same time.
#[derive(Default)]
struct Fragile(AtomicU64, Meeting);

#[test]
fn panics_are_seen_again_and_do_not_escape() {
    let test = || {
        trueline::test(Fragile::default)
            .model(())
            .operation(
                "enter",
                (),
                |fragile, ()| {
                    assert_eq!(fragile.0.fetch_add(1, SeqCst), 0, "somebody is inside");
                    fragile.0.fetch_sub(1, SeqCst);
                },
                |(), ()| (),
            )
            .operation("rest", 0..9, |_, _| (), |(), _| ())
            .forgetful()
    };
    // A panic may print a long trace before it unwinds, and does not count as stuck meanwhile.
    let explored = test().calls(3).seed(1).watchdog(LONG).explore(Exploration::new()).time(LONG);
    let (failure, smallest) = minimal(explored.shrink_for(LONG).outcome());
    assert!(matches!(failure.kind, FailureKind::Panicked { .. }), "{failure}");
    assert_eq!(smallest.program, "enter | enter");
    // The operation also panics on real threads: the first two threads are inside at the same time.
    let met = trueline::test(Fragile::default)
        .model(())
        .operation(
            "enter",
            (),
            |fragile, ()| {
                let inside = fragile.0.fetch_add(1, SeqCst);
                fragile.1.meet();
                assert_eq!(inside, 0, "somebody is inside");
                fragile.0.fetch_sub(1, SeqCst);
            },
            |(), ()| (),
        )
        // Without a second thread, the operation waits forever. A panic may print a long trace before it unwinds.
        .watchdog(Duration::from_secs(5))
        .forgetful();
    let failure = self::failure(met.calls(10).threads(3).runs(1).shrink_for(LONG).outcome());
    assert!(matches!(failure.kind, FailureKind::Panicked { .. }), "{failure}");
    let smallest = failure.smallest.clone().expect("the program panics again");
    assert!(smallest.calls < smallest.of_calls, "{failure}");
}

/// A map that loses one of two values that are put under the same key.
#[derive(Default)]
struct Map(Mutex<BTreeMap<u64, u64>>);

#[test]
fn arguments_are_as_simple_as_they_can_be() {
    let test = trueline::test(Map::default)
        .model(BTreeMap::new())
        .operation(
            "put",
            (5..9_u64, unique()),
            |map, (key, value)| {
                let before = map.0.lock().get(&key).copied();
                map.0.lock().insert(key, value);
                before
            },
            |model, (key, value)| model.insert(key, value),
        )
        .operation("get", 5..9_u64, |map, key| map.0.lock().get(&key).copied(), |model, key| model.get(&key).copied())
        .forgetful();
    let (failure, smallest) = minimal(
        test.calls(4).all_arguments().seed(2).explore(Exploration::new()).time(LONG).shrink_for(LONG).outcome(),
    );
    assert_eq!(smallest.program, "put [5,1] | put [5,2]", "{failure}");
}

#[test]
fn roles_and_workers_are_kept() {
    let test = || {
        trueline::test(Stack::default)
            .model(Vec::new())
            .operation("pop", (), |stack, ()| stack.pop(), |model, ()| model.pop())
            .by_threads("consumer", 2)
            .operation("push", 3..9_u64, |stack, x| stack.push(x), |model, x| model.push(x))
            .forgetful()
    };
    let (failure, smallest) =
        minimal(test().threads(4).calls(2).seed(1).explore(Exploration::new()).time(LONG).shrink_for(LONG).outcome());
    assert_eq!(smallest.program, "pop | pop | push 3", "{failure}");
    let chosen = stack().worker(|worker| {
        for x in 3..5 {
            worker.call::<_, ()>("push", x);
            while worker.call::<_, Option<u64>>("pop", ()).is_none() && worker.thread() == 0 {}
        }
    });
    let (failure, smallest) =
        minimal(chosen.threads(2).explore(Exploration::new().preemptions(1)).time(LONG).shrink_for(LONG).outcome());
    assert_eq!((smallest.calls, smallest.preemptions), (3, Some(1)), "{failure}");
}

type Counter = Test<AtomicU64, Shared<AtomicU64>, Modeled<u64>>;

/// A test in which two threads may draw the same number.
fn draw() -> Counter {
    trueline::test(|| AtomicU64::new(0))
        .model(0_u64)
        .operation(
            "draw",
            (),
            |counter, ()| {
                let number = counter.load(SeqCst);
                counter.store(number + 1, SeqCst);
                number
            },
            |model, ()| {
                *model += 1;
                *model - 1
            },
        )
        .operation("rest", 0..9_u8, |_, _| (), |_, _| ())
        .forgetful()
}

type Met = Test<(AtomicU64, Meeting), Shared<(AtomicU64, Meeting)>, Modeled<u64>>;

/// A test in which the first two threads draw the same number in every schedule, so that real threads also fail.
fn draw_together() -> Met {
    trueline::test(|| (AtomicU64::new(0), Meeting::default()))
        .model(0_u64)
        .operation(
            "draw",
            (),
            |counter, ()| {
                let number = counter.0.load(SeqCst);
                counter.1.meet();
                counter.0.store(number + 1, SeqCst);
                number
            },
            |model, ()| {
                *model += 1;
                *model - 1
            },
        )
        .watchdog(Duration::from_millis(50))
        .forgetful()
}

#[test]
fn what_real_threads_did_is_made_smaller_and_seen_again() {
    let draw = draw_together;
    let failure = failure(draw().threads(4).calls(12).chaos(4).runs(1).shrink_for(LONG).outcome());
    let smallest = failure.smallest.clone().expect("the program fails again");
    assert!(smallest.calls < smallest.of_calls && smallest.of_calls == 48, "{failure}");
    assert!(smallest.failed > 0 && smallest.failed <= smallest.runs, "{failure}");
    assert!(failure.history.len() <= smallest.calls, "{failure}");
    let again = draw().only(&smallest.program).chaos(smallest.chaos).runs(1).shrink_for(Duration::ZERO).outcome();
    let again = self::failure(again);
    assert_eq!(again.kind, FailureKind::NotLinearizable);
    assert_eq!(again.token.program, failure.token.program);
    assert!(again.smallest.is_none());
    let replayed = self::failure(draw().replay(&failure.token.to_string()).runs(1).outcome());
    assert!(replayed.smallest.is_none() && replayed.history.len() <= smallest.calls);
}

/// Objects that use the primitives can be explored, so the smallest program is exact.
#[test]
fn what_real_threads_did_is_explored() {
    let draw = draw_together;
    let test = || draw().threads(4).calls(20).chaos(4).runs(1).shrink_by_exploring();
    // The time limit is not reached: shrinking ends when it has tried everything.
    let (failure, smallest) = minimal(test().shrink_for(Duration::MAX).outcome());
    assert_eq!((smallest.program.as_str(), smallest.of_calls), ("draw | draw", 80), "{failure}");
    assert!(smallest.first.scheduled.is_none() && !failure.steps.is_empty(), "{failure}");
    let kept = failure.regression_test().expect("the program is small");
    assert!(kept.contains(".explore(trueline::test::Exploration::new().preemptions(2))"), "{kept}");
    let again = draw().only(&smallest.program).explore(Exploration::new().preemptions(2)).outcome();
    assert_eq!(self::failure(again).history.len(), 2);
}

/// Calls that a worker relies on are not left out: without the put, the take would panic too, which is not a fault.
#[test]
fn what_a_worker_relies_on_is_not_left_out() {
    let test = || {
        // One of the first two puts is lost, so a take finds nothing.
        let put = |(count, puts): &(AtomicU64, AtomicU64)| match puts.fetch_add(1, SeqCst) {
            0 => {}
            _ => {
                count.fetch_add(1, SeqCst);
            }
        };
        let take = |(count, _): &(AtomicU64, AtomicU64)| assert!(count.fetch_sub(1, SeqCst) > 0, "nothing is there");
        trueline::test(|| (AtomicU64::new(0), AtomicU64::new(0)))
            .model(())
            .operation("put", (), move |counts, ()| put(counts), |(), ()| ())
            .operation("take", (), move |counts, ()| take(counts), |(), ()| ())
            .worker(|worker| {
                for _ in 0..5 {
                    worker.call::<_, ()>("put", ());
                    worker.call::<_, ()>("take", ());
                }
            })
            .chaos(2)
            .runs(1)
            // A panic may print a long trace before it unwinds.
            .watchdog(LONG)
            .forgetful()
    };
    for outcome in [test().outcome(), test().shrink_by_exploring().outcome()] {
        let failure = failure(outcome);
        assert!(matches!(failure.kind, FailureKind::Panicked { .. }), "{failure}");
        assert!(failure.smallest.is_none(), "{failure}");
        let remark = "the program was not shrunk, because a smaller program might fail for another reason";
        assert!(failure.report().contains(remark), "{failure}");
    }
}

#[test]
fn a_report_says_that_a_run_did_not_fail_again() {
    let fails = Arc::new(AtomicBool::new(true));
    let test = trueline::test(|| ())
        .model(())
        .operation("read", (), move |_, ()| u8::from(fails.swap(false, Relaxed)), |(), ()| 0)
        .runs(1)
        .shrink_for(Duration::from_millis(100))
        .forgetful();
    let failure = failure(test.outcome());
    assert!(failure.smallest.is_none(), "{failure}");
    let remark = "the program was not shrunk, because it did not fail again within the time for shrinking";
    assert!(failure.report().contains(remark), "{failure}");
}

fn shrunk_for(time: Duration) -> Option<Smallest> {
    failure(draw_together().threads(4).calls(15).chaos(2).runs(1).shrink_for(time).outcome()).smallest
}

#[test]
fn without_time_nothing_is_made_smaller() {
    assert!(shrunk_for(Duration::ZERO).is_none());
}

#[test]
#[ignore = "a soak: its duration depends on the machine"]
fn soak_time_is_kept() {
    for time in [Duration::from_millis(300), Duration::from_secs(2)] {
        if let Some(smallest) = shrunk_for(time) {
            assert!(smallest.elapsed < time + Duration::from_secs(5), "{:?}", smallest.elapsed);
        }
    }
}

mod explored {
    use super::*;

    fn your_test() -> Counter {
        draw().name("tests::explored").explore(Exploration::new()).forgetful()
    }

    /// The regression test in a report is valid Rust, and fails.
    #[test]
    fn a_test_is_kept() {
        // The test is called directly, because it must fail; the harness does not run it.
        mod kept {
            use super::your_test;
            include!("../regression/explored.rs");
            pub(super) const TEST: fn() = explored_again;
        }
        let failure = failure(your_test().calls(3).shrink_for(LONG).outcome());
        let text = include_str!("../regression/explored.rs");
        assert_eq!(failure.regression_test().as_deref(), Some(text));
        for line in text.lines() {
            assert!(failure.to_string().contains(&format!("    {line}\n")), "{failure}");
        }
        let message = *catch_unwind(kept::TEST).unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("is not linearizable"), "{message}");
    }
}

mod run {
    use super::*;

    fn your_test() -> Met {
        draw_together().chaos(2).name("run").forgetful()
    }

    /// The regression test in the report of a run on real threads is also valid; measured numbers are ignored.
    #[test]
    fn a_test_is_kept() {
        mod kept {
            use super::your_test;
            include!("../regression/run.rs");
            pub(super) const TEST: fn() = run_again;
        }
        let failure = failure(your_test().runs(1).shrink_for(LONG).outcome());
        let Smallest { program, chaos, .. } = failure.smallest.as_ref().expect("the program fails again");
        let runs = failure.smallest.as_ref().map(Smallest::enough_runs);
        let text = include_str!("../regression/run.rs")
            .replace("draw | draw", program)
            .replace("chaos(2)", &format!("chaos({chaos})"))
            .replace("runs(1000)", &format!("runs({})", runs.unwrap_or_default()));
        assert_eq!(failure.regression_test(), Some(text));
        assert!(catch_unwind(kept::TEST).is_err());
    }
}

#[test]
#[should_panic(expected = "a program calls `peek`, but the test has only push, pop")]
fn a_program_that_calls_something_else_is_refused() {
    stack().only("push 1 | peek").run();
}

#[test]
#[should_panic(expected = "a program calls `push` with \"x\", which is not a valid argument of this operation")]
fn a_program_with_other_arguments_is_refused() {
    stack().only("push \"x\"").run();
}
