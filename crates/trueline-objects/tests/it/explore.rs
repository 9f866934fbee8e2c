//! Explores all schedules of small programs: faults that need a certain schedule are always found, and correct objects
//! do not fail.

use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::test::{Against, Calls, Exploration, FailureKind, NamedCall, Outcome, Plan, call};
use trueline_objects::catalog::{self, Settings};
use trueline_objects::relaxed::bk_queue::{self, BkQueue};
use trueline_objects::relaxed::k_stack::{self, KStack};
use trueline_objects::relaxed::ubk_queue::{self, UbkQueue};

/// A time limit that no test reaches: each exploration ends by itself within seconds. The limit is
/// divided among the programs.
const TIME: Duration = Duration::from_secs(86_400);

fn plan(name: &str, threads: u32) -> Plan {
    let settings = Settings { threads: Some(threads), keys: Some(2), progress: true, ..Settings::default() };
    let is_linearizable = catalog::find(name).expect("the object exists").criterion == "linearizable";
    let settings = Settings { progress: !is_linearizable, ..settings };
    catalog::find(name).expect("the object exists").plan(&settings).time(TIME).seed(0).chaos(0)
}

fn calls(text: &str) -> Calls {
    text.parse().expect("the text is valid")
}

/// Explores all schedules of an object with this many parties.
fn explore(name: &str, parties: u32, threads: &[&[NamedCall]]) -> Outcome {
    let program = threads.iter().map(|calls| calls.to_vec());
    plan(name, parties).program(program).explore(Exploration::new().search(Search::Exhaustive)).run()
}

/// Asserts that all executions are explored, and that none fails.
fn is_fine(name: &str, parties: u32, threads: &[&[NamedCall]]) {
    let outcome = explore(name, parties, threads);
    if let Some(failure) = &outcome.failure {
        panic!("{}", failure.report());
    }
    let explored = outcome.explored.expect("the plan was explored");
    assert!(explored.is_complete && explored.histories > 0, "{name}: {explored:?}");
}

/// Asserts that some execution gets stuck although it should not, and that its replay gets stuck again.
fn is_stuck(name: &str, parties: u32, threads: &[&[NamedCall]]) {
    let Some(failure) = explore(name, parties, threads).failure else { panic!("{name} is never stuck") };
    assert_eq!(failure.kind, FailureKind::Stuck(Duration::ZERO), "{}", failure.report());
    assert!(!failure.steps.is_empty());
    let program = threads.iter().map(|calls| calls.to_vec());
    let again = plan(name, parties).program(program).replay(failure.token.clone()).run();
    assert_eq!(again.failure.map(|failure| failure.kind), Some(failure.kind), "{name}");
}

#[test]
fn synchronous_channels_get_stuck_if_and_only_if_they_are_faulty() {
    let (send, receive) = (|value: u64| [call("send", value)], [call("receive", ())]);
    let two_senders: &[&[NamedCall]] = &[&send(1), &send(2), &receive];
    let two_receivers: &[&[NamedCall]] = &[&send(1), &receive, &receive];
    for name in ["sync-channel", "counter-channel"] {
        is_fine(name, 4, two_senders);
        is_fine(name, 4, two_receivers);
        is_stuck(&format!("{name}-faulty-two-states"), 4, two_senders);
    }
    is_stuck("sync-channel-faulty-wrong-condition", 4, &[&send(1), &receive]);
}

#[test]
fn filter_channels_get_stuck_if_and_only_if_they_are_faulty() {
    let even = [call("receive", (2_u64, 0_u64))];
    let program: &[&[NamedCall]] = &[&[call("send", 1_u64)], &[call("send", 2_u64)], &even];
    is_fine("filter-channel", 4, program);
    is_stuck("filter-channel-faulty-one-slot", 4, program);
    is_stuck("filter-channel-faulty-two-states", 4, program);
}

#[test]
fn men_and_women_get_stuck_if_and_only_if_they_are_faulty() {
    let (man, woman) = (|me: u64| [call("man", me)], |me: u64| [call("woman", me)]);
    for program in [&[&man(1)[..], &man(2), &woman(3)][..], &[&man(1), &woman(2), &woman(3)]] {
        is_fine("men-women", 4, program);
    }
    is_stuck("men-women-faulty-notify-one", 4, &[&man(1), &man(2), &woman(3)]);
}

#[test]
fn families_get_stuck_if_and_only_if_they_are_faulty() {
    let sync = |me: u32| [call("sync", me)];
    is_fine("one-family", 3, &[&sync(0), &sync(1), &sync(2)]);
    is_stuck("one-family-faulty-early-look", 2, &[&sync(0), &sync(1)]);
    is_fine("two-families", 4, &[&[call("sync-a", 0_u32)], &[call("sync-a", 1_u32)], &[call("sync-b", 0_u32)]]);
}

#[test]
fn three_meet_unless_a_signal_is_lost() {
    let program: &[&[NamedCall]] = &[&[call("sync-a", 1_u64)], &[call("sync-b", 2_u64)], &[call("sync-c", 3_u64)]];
    is_fine("abc", 3, program);
    is_stuck("abc-faulty-lost-signal", 3, program);
}

#[test]
fn barriers_open_unless_they_are_faulty() {
    let sync = |me: u32| call("sync", me);
    let twice: &[&[NamedCall]] = &[&[sync(0), sync(0)], &[sync(1), sync(1)]];
    is_fine("barrier", 2, twice);
    is_fine("tree-barrier", 2, twice);
    is_fine("barrier", 3, &[&[sync(0)], &[sync(1)], &[sync(2)]]);
    is_stuck("barrier-faulty-notify-one", 3, &[&[sync(0)], &[sync(1)], &[sync(2)]]);
    is_stuck("tree-barrier-faulty-early-down", 2, twice);
    // This object fails in two ways: calls return too early, and the calls that they should have waited for get stuck.
    let Some(failure) = explore("barrier-faulty-no-initial-wait", 2, twice).failure else {
        panic!("the barrier never fails")
    };
    assert_eq!(failure.kind, FailureKind::NotLinearizable, "{}", failure.report());
}

#[test]
fn a_wait_without_a_loop_is_found_out_by_a_spurious_wake_up() {
    let program = || [0_u32, 1].map(|me| vec![call("sync", me)]);
    let search = || Exploration::new().search(Search::Exhaustive);
    let faulty =
        |exploration| plan("barrier-faulty-bare-wait", 2).program(program()).explore(exploration).run().failure;
    assert!(faulty(search()).is_none());
    assert!(faulty(search().spurious(1)).is_some());
    assert!(plan("barrier", 2).program(program()).explore(search().spurious(1)).run().failure.is_none());
}

#[test]
fn faults_of_containers_are_found_in_all_programs_of_a_size() {
    for (name, size) in [
        ("treiber-stack-faulty-aba", "2*2+2"),
        ("ms-queue-faulty-late-read", "2*2+2"),
        ("ms-queue-faulty-no-help", "2*2+2"),
        ("shann-queue-faulty-stale-slot", "2*2+2"),
        ("optimistic-list-faulty-no-validation", "2*2+0"),
        ("fine-grained-list-faulty-early-unlock", "2*2+2"),
        ("lazy-list-faulty-unmarked-validation", "2*2+2"),
        ("lock-free-list-faulty-separate-mark", "2*2+2"),
        ("lock-free-list-faulty-unlink-only", "2*2+2"),
    ] {
        let outcome = plan(name, 4).explore(Exploration::new().calls(calls(size))).run();
        let Some(failure) = outcome.failure else { panic!("{name} is accepted: {:?}", outcome.explored) };
        let again = plan(name, 4).replay(failure.token.clone()).run();
        let again = again.failure.expect("a replay fails in the same way");
        assert_eq!((again.kind, &again.steps), (failure.kind, &failure.steps), "{name}");
        assert_eq!(again.history.events().len(), failure.history.events().len());
    }
}

#[test]
fn correct_containers_have_no_wrong_execution() {
    for name in [
        "treiber-stack",
        "ms-queue",
        "ms-queue-recycling",
        "shann-queue",
        "locked-queue",
        "lock-free-list",
        "lazy-list",
    ] {
        let outcome = plan(name, 4).explore(Exploration::new().calls(calls("2*2+2"))).run();
        if let Some(failure) = &outcome.failure {
            panic!("{}", failure.report());
        }
        assert!(outcome.explored.is_some_and(|explored| explored.is_complete), "{name}");
    }
}

/// Explores all correct objects of the catalog, with a thousand executions each.
#[test]
fn nothing_is_found_wrong_with_what_is_right() {
    for entry in catalog::ENTRIES.iter().filter(|entry| entry.is_correct()) {
        let plan =
            || entry.plan(&Settings::default()).seed(0).chaos(0).forgetful().shrink_for(Duration::ZERO).runs(1000);
        let mut outcomes = vec![plan().explore(Exploration::new()).run()];
        if entry.criterion == "linearizable" {
            let itself = Exploration::new().calls(calls("1*2+1")).against(Against::Itself);
            outcomes.push(plan().explore(itself).run());
        }
        for outcome in outcomes {
            if let Some(failure) = &outcome.failure {
                panic!("{}: {}", entry.name, failure.report());
            }
            assert!(outcome.explored.is_some_and(|explored| explored.executions > 0), "{}", entry.name);
        }
    }
}

/// A thread that finds a marked node retries until the node is unlinked. It reports to the
/// scheduler that it waits.
#[test]
fn nodes_that_are_marked_are_waited_for() {
    for name in ["lazy-skiplist", "collision-resistant-lazy-skiplist"] {
        let change = vec![call("add", 1_u64), call("remove", 1_u64)];
        for other in [call("add", 0_u64), call("add", 1_u64), call("remove", 1_u64)] {
            let plan = plan(name, 2).program([vec![other], change.clone()]);
            let outcome = plan.explore(Exploration::new().preemptions(2).choices(0)).run();
            if let Some(failure) = &outcome.failure {
                panic!("{}", failure.report());
            }
            assert!(outcome.explored.is_some_and(|explored| explored.is_complete), "{name}");
        }
    }
}

#[test]
fn without_a_specification_faults_are_found_by_comparison() {
    let explore = |name: &str, against: Against| {
        let exploration = Exploration::new().calls(calls("2*2+2")).against(against);
        plan(name, 4).explore(exploration).run()
    };
    for name in ["treiber-stack", "ms-queue"] {
        let outcome = explore(name, Against::Itself);
        assert!(outcome.failure.is_none(), "{name}");
        let explored = outcome.explored.expect("the plan was explored");
        assert!(explored.is_complete && explored.serial.expect("serial executions were found") > 20, "{explored:?}");
    }
    for name in ["treiber-stack-faulty-aba", "ms-queue-faulty-late-read"] {
        let failure = explore(name, Against::Itself).failure.expect("the object is faulty");
        assert_eq!(failure.kind, FailureKind::NotSerial, "{}", failure.report());
    }
    let golden = Against::Other(std::sync::Arc::new(plan("treiber-stack", 4)));
    assert!(explore("treiber-stack-faulty-aba", golden).failure.is_some());
}

/// Compares the objects of Round-Up with their own serial executions, or with those of correct
/// objects. Explores all programs of a size, with all choices and at most two preemptions.
fn compared(name: &str, size: &str, against: Against) -> Outcome {
    let exploration = Exploration::new().calls(calls(size)).preemptions(2).against(against);
    plan(name, 2).explore(exploration).run()
}

#[test]
fn without_a_specification_faults_of_relaxed_objects_are_found() {
    for (name, size) in [
        ("iqueue-faulty-empty-at-gap", "2*2+0"),
        ("quasi-queue-faulty-removed-twice", "1*1+2"),
        ("quasi-stack-faulty-empty-on-conflict", "1*1+2"),
        ("sl-queue-faulty-no-lock", "1*1+2"),
    ] {
        let outcome = compared(name, size, Against::Itself);
        let failure = outcome.failure.unwrap_or_else(|| panic!("{name} is accepted: {:?}", outcome.explored));
        assert_eq!(failure.kind, FailureKind::NotSerial, "{}", failure.report());
        assert!(!failure.steps.is_empty(), "{name}: the failure has no steps");
        let again = plan(name, 2).replay(failure.token.clone()).run().failure.expect("a replay fails in the same way");
        assert_eq!(again.steps, failure.steps, "{name}");
    }
}

#[test]
fn without_a_specification_linearizable_objects_are_accepted() {
    for (name, size) in [
        ("iqueue", "2*2+0"),
        ("herlihy-wing-queue", "2*2+0"),
        ("quasi-stack", "2*2+0"),
        ("sl-queue", "2*2+0"),
        ("treiber-stack", "2*2+0"),
        ("ms-queue", "2*2+0"),
    ] {
        let outcome = compared(name, size, Against::Itself);
        if let Some(failure) = &outcome.failure {
            panic!("{}", failure.report());
        }
        assert!(outcome.explored.is_some_and(|explored| explored.serial > Some(0)), "{name}");
    }
}

/// A random choice may differ between a concurrent execution and a serial one, so all choices are explored in serial
/// ones.
#[test]
fn without_a_specification_drawn_choices_are_no_fault() {
    for (name, size) in [("ubk-queue", "1*1+2"), ("quasi-queue", "1*1+2"), ("k-stack", "1*1+2")] {
        for seed in 0..8 {
            let exploration = Exploration::new().calls(calls(size)).preemptions(2).choices(seed);
            let outcome = plan(name, 2).explore(exploration.against(Against::Itself)).run();
            if let Some(failure) = &outcome.failure {
                panic!("{name}, seed {seed}: {}", failure.report());
            }
            assert!(outcome.explored.is_some_and(|explored| explored.preemptions >= Some(2)), "{name}, seed {seed}");
        }
    }
}

#[test]
fn faults_that_show_serially_are_found_beside_a_golden_model() {
    for (name, golden, size) in [
        ("quasi-queue-faulty-long-segments", "quasi-queue", "1*1+8"),
        ("quasi-queue-faulty-empty-at-gap", "quasi-queue", "1*1+2"),
        ("quasi-stack-faulty-too-deep", "quasi-stack", "1*1+4"),
        ("quasi-priority-queue-faulty-beyond-window", "quasi-priority-queue", "1*1+8"),
        ("rd-queue-faulty-sliding-window", "rd-queue", "1*1+8"),
    ] {
        let outcome = compared(name, size, Against::Other(std::sync::Arc::new(plan(golden, 2))));
        let failure = outcome.failure.unwrap_or_else(|| panic!("{name} is accepted: {:?}", outcome.explored));
        assert_eq!(failure.kind, FailureKind::NotSerial, "{}", failure.report());
    }
}

/// Round-Up, section VI-D: the counter of threads that remove a segment is read twice. If the first read returns 1 and
/// the second returns 0, the pushing thread neither keeps its value in the segment nor takes it back, but pushes it
/// again.
#[test]
fn the_second_read_of_the_k_stack_is_found_told_and_made_again() {
    let test = |fault: Option<k_stack::Fault>| {
        let make = move || fault.map_or_else(|| KStack::new(1), |fault| KStack::faulty(1, fault));
        let push = |value: u64| call("push", value);
        let pop = || call("pop", ());
        trueline::test(make)
            .spec("k-stack:1")
            .operation("push", 0..9_u64, |stack, value| stack.push(value))
            .operation("pop", (), |stack, ()| stack.pop())
            // A segment has room for two values. The third value gets a new segment, which the pop
            // empties.
            .before([push(1), push(2), push(3), pop()])
            .program([[pop()], [push(4)]])
            .after([pop(), pop(), pop(), pop()])
            .into_plan()
            .forgetful()
            .time(TIME)
    };
    let explored = |fault| test(fault).explore(Exploration::new().preemptions(2)).run();
    let correct = explored(None);
    assert!(correct.failure.is_none() && correct.explored.is_some_and(|explored| explored.preemptions >= Some(2)));
    let failure = explored(Some(k_stack::Fault::SecondRead)).failure.expect("4 occurs twice");
    assert_eq!(failure.kind, FailureKind::NotLinearizable, "{}", failure.report());
    let of_push: Vec<Vec<&str>> = failure
        .steps
        .iter()
        .filter(|step| step.starts_with("T1"))
        .map(|step| step.split_whitespace().collect())
        .collect();
    let is_read_twice = of_push.windows(2).any(|two| match (&two[0][..], &two[1][..]) {
        ([_, "load", first, "=", "1", ..], [_, "load", second, "=", "0", ..]) => first == second,
        _ => false,
    });
    assert!(is_read_twice, "{}", failure.report());
    // No specification of a k-stack is needed: with one call at a time, a k-stack never returns a value twice.
    let alone = |fault| {
        let exploration = Exploration::new().preemptions(2).against(Against::Itself);
        test(fault).explore(exploration).run().failure.map(|failure| failure.kind)
    };
    assert_eq!(alone(None), None);
    assert_eq!(alone(Some(k_stack::Fault::SecondRead)), Some(FailureKind::NotSerial));
    let again = test(Some(k_stack::Fault::SecondRead)).replay(failure.token.clone()).run().failure;
    assert_eq!(again.expect("a replay fails in the same way").steps, failure.steps);
}

/// Only one program near the end of the list fails, and exploring the other programs completely
/// would take minutes. Therefore each program is explored briefly first.
#[test]
fn a_fault_of_one_of_the_last_programs_does_not_have_to_wait_for_the_others() {
    let exploration = Exploration::new().calls(calls("1*1+12"));
    let outcome = plan("k-stack-faulty-second-read", 2).shrink_for(Duration::ZERO).explore(exploration).run();
    let executions = outcome.explored.as_ref().map(|explored| explored.executions);
    assert!(outcome.failure.is_some() && executions.is_some_and(|executions| executions < 50_000), "{executions:?}");
}

/// A lost value is detected without a specification of the queue: the head passes the segment of a slow `enqueue(1)`,
/// which returns, and then the queue is empty.
#[test]
fn without_a_specification_a_value_that_came_too_late_is_missed() {
    fn lost<Q: Send + Sync + 'static>(
        make: fn() -> Q,
        enqueue: fn(&Q, u64),
        dequeue: fn(&Q) -> Option<u64>,
    ) -> Option<FailureKind> {
        let put = |value: u64| call("enqueue", value);
        let take = || call("dequeue", ());
        trueline::test(make)
            .spec("k-fifo:1")
            .operation("enqueue", 0..9_u64, move |queue, value| enqueue(queue, value))
            .operation("dequeue", (), move |queue, ()| dequeue(queue))
            .program([vec![put(1)], vec![put(2), take(), take()]])
            .after([take(), take()])
            .into_plan()
            .forgetful()
            .time(TIME)
            .explore(Exploration::new().preemptions(2).against(Against::Itself))
            .run()
            .failure
            .map(|failure| failure.kind)
    }
    let bounded =
        |make| lost(make, |queue: &BkQueue, value| assert!(queue.enqueue(value), "there is room"), BkQueue::dequeue);
    assert_eq!(bounded(|| BkQueue::new(1, 8)), None);
    assert_eq!(bounded(|| BkQueue::faulty(1, 8, bk_queue::Fault::NoCommit)), Some(FailureKind::NotSerial));
    let unbounded = |make| lost(make, UbkQueue::enqueue, UbkQueue::dequeue);
    assert_eq!(unbounded(|| UbkQueue::new(1)), None);
    assert_eq!(unbounded(|| UbkQueue::faulty(1, ubk_queue::Fault::NoCommit)), Some(FailureKind::NotSerial));
}

#[test]
fn a_fault_behind_many_choices_is_found_soon() {
    let push = |value: u64| call("push", value);
    let pop = || call("pop", ());
    let before = (1..=7).map(push).chain([pop()]);
    let plan = trueline::test(|| KStack::faulty(1, k_stack::Fault::SecondRead))
        .spec("k-stack:1")
        .operation("push", 0..99_u64, |stack, value| stack.push(value))
        .operation("pop", (), |stack, ()| stack.pop())
        .before(before)
        .program([[pop()], [push(8)]])
        .after((0..8).map(|_| pop()))
        .into_plan()
        .forgetful()
        .time(TIME);
    // There are more than 2^16 combinations of choices.
    let outcome = plan.runs(20_000).explore(Exploration::new().preemptions(2)).run();
    assert!(outcome.failure.is_some(), "{:?}", outcome.explored);
    let token = outcome.failure.expect("the fault was found").token;
    assert!(token.scheduled.as_ref().is_some_and(|scheduled| scheduled.choices.is_some()), "{token:?}");
}
