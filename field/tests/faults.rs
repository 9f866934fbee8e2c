//! Finds faults of published crates, without changes to the crates:
//! `cargo trueline test --instrument-all --test faults -- --nocapture`.

mod cpu;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::drive::unique;
use trueline::test::{Exploration, FailureKind, Plan, call};

/// Checks that the fault is found with each of five seeds, that the steps in the report name
/// `file`, and that the token reproduces the failure. The median time of the searches must be at
/// most five seconds of processor time.
#[track_caller]
fn found(file: &str, plan: impl Fn() -> Plan) {
    let mut times = [1, 2, 3, 4, 5].map(|seed| {
        let started = cpu::time();
        let outcome = plan().seed(seed).forgetful().shrink_for(Duration::ZERO).run();
        let time = cpu::time() - started;
        let executions = outcome.explored.expect("the plan explores schedules").executions;
        let Some(failure) = outcome.failure else {
            panic!("{file}: no fault in {executions} executions: {:?} {:?}", outcome.too_little, outcome.warnings)
        };
        assert_eq!(failure.kind, FailureKind::NotLinearizable, "{failure}");
        let report = failure.to_string();
        assert!(report.contains(file), "the steps do not name {file}:\n{report}");
        let again = plan().forgetful().replay(failure.token.clone()).run();
        assert!(again.failure.is_some(), "{} does not fail again", failure.token);
        if seed == 1 {
            println!("{report}");
        }
        (time, executions)
    });
    times.sort();
    println!("{file}: median {:.2?} of processor time, {} executions; {times:.2?}", times[2].0, times[2].1);
    assert!(times[2].0 <= Duration::from_secs(5), "{file}: {times:.2?}");
}

/// concurrent-queue 2.5.0: `force_push` stores the tail, and so erases the mark of a `close` that came in between.
#[test]
fn closed_queue() {
    found("concurrent-queue-2.5.0/src/bounded.rs", || {
        trueline::test(|| concurrent_queue::ConcurrentQueue::bounded(2))
            .model((VecDeque::new(), false))
            .operation(
                "force_push",
                0..9_u32,
                |queue, x| queue.force_push(x).map_err(|error| error.into_inner()),
                |(queue, closed), x| {
                    if *closed {
                        return Err(x);
                    }
                    queue.push_back(x);
                    Ok(if queue.len() > 2 { queue.pop_front() } else { None })
                },
            )
            .operation("close", (), |queue, ()| queue.close(), |(_, closed), ()| !std::mem::replace(closed, true))
            .operation("is_closed", (), |queue, ()| queue.is_closed(), |(_, closed), ()| *closed)
            .before([call("force_push", 1_u32), call("force_push", 2_u32)])
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// concurrent-queue 2.5.0: while a `pop` ends, an empty queue for one element reports that it is full.
#[test]
fn queue_for_one() {
    found("concurrent-queue-2.5.0/src/single.rs", || {
        trueline::test(|| concurrent_queue::ConcurrentQueue::bounded(1))
            .model(VecDeque::new())
            .operation("push", unique(), |queue, x| queue.push(x).is_ok(), |queue, x| push(queue, 1, x))
            .operation("pop", (), |queue, ()| queue.pop().ok(), |queue, ()| queue.pop_front())
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// concurrent-queue 2.5.0: while `force_push` replaces an element of a full queue, the queue reports a smaller length.
#[test]
fn length_of_a_full_queue() {
    found("concurrent-queue-2.5.0/src/bounded.rs", || {
        trueline::test(|| concurrent_queue::ConcurrentQueue::bounded(2))
            .model(VecDeque::new())
            .operation(
                "force_push",
                unique(),
                |queue, x| queue.force_push(x).expect("the queue is not closed"),
                |queue, x| {
                    (if push(queue, 2, x) { None } else { Some((queue.push_back(x), queue.pop_front()).1) }).flatten()
                },
            )
            .operation("len", (), |queue, ()| queue.len(), |queue, ()| queue.len())
            .before([call("force_push", 1_u64), call("force_push", 2_u64)])
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// lockfree 0.5.1: a `pop` finds nothing although a `push` has returned, if an earlier `push` has swapped the tail but
/// not yet linked its node.
#[test]
fn lockfree_queue() {
    found("lockfree-0.5.1/src/queue.rs", || {
        trueline::test(lockfree::queue::Queue::new)
            .model(VecDeque::new())
            .operation("push", unique(), |queue, x| queue.push(x), |queue, x| queue.push_back(x))
            .operation("pop", (), |queue, ()| queue.pop(), |queue, ()| queue.pop_front())
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// heapless 0.9.3: a dequeue finds nothing although an enqueue has returned, if another enqueue is in progress (issue
/// 583).
#[test]
#[expect(deprecated, reason = "the queue is deprecated because of the fault")]
fn heapless_queue() {
    found("heapless-0.9.3/src/mpmc.rs", || {
        trueline::test(heapless::mpmc::Queue::<u64, 4>::new)
            .model(VecDeque::new())
            .operation("enqueue", unique(), |queue, x| queue.enqueue(x).is_ok(), |queue, x| push(queue, 4, x))
            .operation("dequeue", (), |queue, ()| queue.dequeue(), |queue, ()| queue.pop_front())
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// thingbuf 0.1.6: a buffer reports that it is full although it has room, because it has skipped a slot that was read.
#[test]
fn thingbuf() {
    found("thingbuf-0.1.6/src/lib.rs", || {
        trueline::test(|| thingbuf::ThingBuf::new(2))
            .model(VecDeque::new())
            .operation("push", unique(), |buffer, x| buffer.push(x).is_ok(), |queue, x| push(queue, 2, x))
            .operation("pop", (), |buffer, ()| buffer.pop(), |queue, ()| queue.pop_front())
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// Adds to a queue with this many places, if there is room.
fn push(queue: &mut VecDeque<u64>, places: usize, x: u64) -> bool {
    let has_room = queue.len() < places;
    queue.extend(has_room.then_some(x));
    has_room
}

/// boxcar 0.2.14: after a `push` has returned, an element with a smaller index may still be missing.
#[test]
fn boxcar() {
    found("boxcar-0.2.14/src", || {
        trueline::test(boxcar::Vec::new)
            .model(Vec::new())
            .operation("push", unique(), |vec, x| vec.push(x), |vec, x| (vec.push(x), vec.len() - 1).1)
            .operation("get", 0..3_usize, |vec, i| vec.get(i).copied(), |vec, i| vec.get(i).copied())
            .explore(Exploration::new().preemptions(2))
            .into_plan()
    });
}

/// crossbeam-skiplist 0.1.3: two removals of one entry may both return it (crossbeam issue 1023).
#[test]
fn skip_map() {
    found("crossbeam-skiplist-0.1.3/src/base.rs", || {
        trueline::test(crossbeam_skiplist::SkipMap::new)
            .model(BTreeMap::new())
            .operation(
                "insert",
                (0..2_u8, 0..9_u8),
                |map, (k, v)| drop(map.insert(k, v)),
                |map, (k, v)| _ = map.insert(k, v),
            )
            .operation("remove", 0..2_u8, |map, k| map.remove(&k).map(|e| *e.value()), |map, k| map.remove(&k))
            .before([call("insert", (1_u8, 0_u8))])
            .time(Duration::from_secs(60))
            .explore(Exploration::new().search(Search::Uniform))
            .into_plan()
    });
}

/// moka 0.12.16: two calls of `or_insert` with one key may both report that their entry is fresh (issue 545).
#[test]
fn cache() {
    found("moka-0.12.16/src", || {
        trueline::test(|| moka::sync::Cache::builder().build())
            .model(BTreeMap::new())
            .operation(
                "or_insert",
                (0..2_u8, 0..9_u8),
                |cache, (k, v)| cache.entry(k).or_insert(v).is_fresh(),
                |map, (k, v)| map.insert(k, v).is_none(),
            )
            .time(Duration::from_secs(60))
            .explore(Exploration::new().search(Search::Uniform))
            .into_plan()
    });
}
