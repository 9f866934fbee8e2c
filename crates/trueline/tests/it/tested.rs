//! Tests that a test of an object does not pass if it tests nothing.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use trueline::test::{Modeled, Shared, Test, TooLittle};

type Counter = Test<AtomicU64, Shared<AtomicU64>, Modeled<u64>>;

fn counter() -> Counter {
    trueline::test(|| AtomicU64::new(0)).model(0_u64).forgetful().operation(
        "draw",
        (),
        |count, ()| count.fetch_add(1, SeqCst),
        |model, ()| draw(model),
    )
}

fn draw(model: &mut u64) -> u64 {
    *model += 1;
    *model - 1
}

#[test]
fn threads_that_are_lost_are_no_runs() {
    let outcome = counter()
        .operation(
            "wait forever",
            (),
            |_, ()| loop {
                std::thread::park()
            },
            |_, ()| (),
        )
        .may_block()
        .weight(20)
        .time(Duration::from_millis(50))
        .outcome();
    assert!(outcome.failure.is_none(), "{:?}", outcome.failure);
    let is_meant = |reason: &TooLittle| matches!(reason, TooLittle::GaveUp { .. } | TooLittle::FewRuns { .. });
    assert!(outcome.too_little.iter().any(is_meant), "{outcome:?}");
}

#[test]
fn few_runs_are_enough_if_the_test_says_so() {
    let outcome = counter().runs(3).outcome();
    assert_eq!((outcome.runs, outcome.too_little), (3, vec![]), "no more runs were requested");
    let too_slow = || {
        let slow = counter().operation("sleep", (), |_, ()| std::thread::sleep(Duration::from_millis(700)), |_, ()| ());
        slow.weight(1000).calls(2).watchdog(Duration::from_secs(60)).time(Duration::from_millis(1))
    };
    let outcome = too_slow().outcome();
    let is_meant = |reason: &TooLittle| matches!(reason, TooLittle::FewRuns { least: 10, undecided: 0, .. });
    assert!(outcome.too_little.iter().any(is_meant), "{outcome:?}");
    assert_eq!(too_slow().min_runs(1).outcome().too_little, vec![]);
}

#[test]
fn operations_must_overlap() {
    let outcome = counter()
        .worker(|worker| {
            if worker.thread() == 0 {
                let _: u64 = worker.call("draw", ());
            }
        })
        .runs(300)
        .outcome();
    assert_eq!(outcome.too_little, vec![TooLittle::NoOverlap { runs: 300 }]);
    // A single thread was requested explicitly.
    assert_eq!(counter().threads(1).runs(300).outcome().too_little, vec![]);
}

#[test]
#[should_panic(expected = "`reset` was never called")]
fn each_operation_must_be_called() {
    counter()
        .operation("reset", (), |count, ()| count.store(0, SeqCst), |model, ()| *model = 0)
        .when(|_| false)
        .runs(300)
        .run();
}

#[test]
fn one_result_throughout_is_worth_a_word() {
    let outcome = trueline::test(|| Mutex::new(VecDeque::new()))
        .model(VecDeque::new())
        .forgetful()
        .operation("push", 0..9_u32, |queue, x| queue.lock().unwrap().push_back(x), |model, x| model.push_back(x))
        .operation("is full", (), |_, ()| false, |_, ()| false)
        .operation("pop", (), |queue, ()| queue.lock().unwrap().pop_front(), |model, ()| model.pop_front())
        .runs(300)
        .outcome();
    assert_eq!(outcome.too_little, vec![]);
    let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
    assert!(warning.starts_with("`is full` returned false in all "), "{warning}");
}

#[cfg(feature = "systematic")]
mod explored {
    use trueline::drive::systematic::Search;
    use trueline::primitives;
    use trueline::test::{Exploration, FailureKind};

    use super::*;

    #[test]
    #[should_panic(expected = "build the object on `trueline::primitives`")]
    fn what_is_never_interrupted_is_not_explored() {
        counter().explore(Exploration::new()).run();
    }

    #[test]
    fn operations_that_are_never_interrupted_are_named() {
        let outcome = trueline::test(|| (primitives::AtomicU64::new(0), AtomicU64::new(0)))
            .model((0_u64, 0_u64))
            .forgetful()
            .operation("one", (), |both, ()| both.0.fetch_add(1, SeqCst), |model, ()| draw(&mut model.0))
            .operation("other", (), |both, ()| both.1.fetch_add(1, SeqCst), |model, ()| draw(&mut model.1))
            .explore(Exploration::new())
            .outcome();
        assert!(outcome.failure.is_none());
        assert_eq!(outcome.too_little, vec![]);
        let [warning] = &outcome.warnings[..] else { panic!("{:?}", outcome.warnings) };
        assert!(warning.contains("`other`") && !warning.contains("`one`"), "{warning}");
    }

    #[test]
    fn a_lock_held_across_a_schedule_point_is_reported() {
        let outcome = trueline::test(|| (Mutex::new(0_u64), primitives::AtomicU64::new(0)))
            .model(0_u64)
            .forgetful()
            .operation(
                "draw",
                (),
                |both, ()| {
                    let mut held = both.0.lock().unwrap();
                    *held += 1;
                    both.1.fetch_add(1, SeqCst)
                },
                |model, ()| draw(model),
            )
            .explore(Exploration::new())
            .outcome();
        let failure = outcome.failure.expect("the second thread waits for a lock that the first one holds");
        let FailureKind::Broken { place, how } = &failure.kind else { panic!("{failure}") };
        assert_eq!(*place, "an operation");
        assert!(how.contains("`draw`") && how.contains("holds across"), "{how}");
        println!("reported after {:.1?}", failure.after);
    }

    /// An object that retries until it makes a lucky random choice terminates eventually.
    #[test]
    fn random_choices_to_try_again_are_no_endless_loop() {
        let explored = |chooses: bool, exploration: Exploration| {
            trueline::test(|| primitives::AtomicU64::new(0))
                .model(0_u64)
                .forgetful()
                .operation(
                    "draw",
                    (),
                    move |count, ()| {
                        while !chooses || primitives::choose(3) == 0 {
                            count.load(SeqCst);
                        }
                        count.fetch_add(1, SeqCst)
                    },
                    |model, ()| draw(model),
                )
                .explore(exploration.most_steps(300))
                .runs(5000)
                .shrink_for(Duration::ZERO)
                .outcome()
        };
        // With choices drawn from a seed, a lucky one comes soon; if all choices are explored, some are never lucky.
        let outcome = explored(true, Exploration::new());
        assert!(outcome.failure.is_none() && outcome.undecided == 0, "{outcome:?}");
        let outcome = explored(true, Exploration::new().search(Search::Unreduced));
        assert!(outcome.failure.is_none() && outcome.undecided > 0, "{outcome:?}");
        let failure = explored(false, Exploration::new()).failure.expect("the loop has no end");
        assert_eq!(failure.kind, FailureKind::Diverged(300));
    }

    /// Misbehaves at one place.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    struct Hostile {
        place: &'static str,
        blocks: bool,
    }

    impl Hostile {
        fn at(self, place: &str) {
            if self.place != place {
                return;
            }
            assert!(self.blocks, "hostile");
            loop {
                std::thread::park();
            }
        }
    }

    struct Object(primitives::AtomicU64, Hostile);

    impl Drop for Object {
        fn drop(&mut self) {
            self.1.at("drop");
        }
    }

    #[derive(PartialEq, Eq, Hash)]
    struct Model(u64, Hostile);

    impl Clone for Model {
        fn clone(&self) -> Self {
            self.1.at("clone");
            Self(self.0, self.1)
        }
    }

    impl std::fmt::Debug for Model {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.1.at("debug");
            self.0.fmt(f)
        }
    }

    fn explored(hostile: Hostile) -> trueline::test::Failure {
        let is_wrong = u64::from(hostile.place == "debug");
        trueline::test(move || {
            hostile.at("constructor");
            Object(primitives::AtomicU64::new(0), hostile)
        })
        .model(Model(0, hostile))
        .forgetful()
        .operation(
            "draw",
            trueline::drive::made_by(move |_| hostile.at("arguments")),
            move |object, ()| object.0.fetch_add(1, SeqCst) + is_wrong,
            move |model, ()| {
                hostile.at("model");
                draw(&mut model.0)
            },
        )
        .explore(Exploration::new())
        .shrink_for(Duration::from_millis(100))
        .outcome()
        .failure
        .expect("the test fails")
    }

    #[test]
    fn code_outside_of_operations_that_fails_is_named() {
        for blocks in [false, true] {
            for (place, named) in [
                ("constructor", "the constructor"),
                ("drop", "dropping the object"),
                ("model", "the model"),
                ("clone", "the model"),
            ] {
                let failure = explored(Hostile { place, blocks });
                let FailureKind::Broken { place: found, how } = &failure.kind else { panic!("{place}: {failure}") };
                assert_eq!(*found, named, "{failure}");
                assert!(how.contains(if blocks { "did not return within" } else { "panicked: hostile" }), "{failure}");
                let names_operation = how.contains("(in the operation `");
                assert_eq!(names_operation, named == "the model" && !blocks, "{failure}");
            }
            // The failure itself is known, but not the explanation by the model.
            let failure = explored(Hostile { place: "debug", blocks });
            assert_eq!(failure.kind, FailureKind::NotLinearizable, "{failure}");
            assert!(failure.to_string().contains("the failure could not be explained"), "{failure}");
        }
        let failure = explored(Hostile { place: "arguments", blocks: true });
        assert!(matches!(failure.kind, FailureKind::Broken { place: "generating arguments", .. }), "{failure}");
    }

    #[test]
    #[should_panic(expected = "hostile")]
    fn generators_that_panic_do() {
        explored(Hostile { place: "arguments", blocks: false });
    }
}
