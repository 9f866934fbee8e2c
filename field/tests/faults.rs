//! Faults of published crates, each found in the crate as it is:
//! `cargo trueline test --instrument-all --test faults`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::drive::unique;
use trueline::test::{Exploration, FailureKind, Outcome, call};

/// The fault was found, the steps name a file of this crate, and the token makes it again.
#[track_caller]
fn found(file: &str, outcome: impl Fn(Option<&str>) -> Outcome) {
    let first = outcome(None);
    let executions = first.explored.expect("it was explored").executions;
    let Some(failure) = first.failure else { panic!("{file}: no fault in {executions} executions") };
    assert_eq!(failure.kind, FailureKind::NotLinearizable);
    let report = failure.to_string();
    assert!(report.contains(file), "the steps do not name {file}:\n{report}");
    println!("{file}: found after {:.1?}, {executions} executions", failure.after);
    let again = outcome(Some(&failure.token.to_string()));
    assert!(again.failure.is_some(), "{} does not fail again", failure.token);
}

/// concurrent-queue 2.5.0: `force_push` stores the tail, and erases the mark of a `close` in between.
#[test]
fn closed_queue() {
    found("concurrent-queue-2.5.0/src/bounded.rs", |token| {
        let test = trueline::test(|| concurrent_queue::ConcurrentQueue::bounded(2))
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
            .forgetful()
            .explore(Exploration::new().preemptions(2));
        token.into_iter().fold(test, |test, token| test.replay(token)).outcome()
    });
}

/// heapless 0.9.3: a dequeue finds nothing although an enqueue has returned, if another one is on its way (issue 583).
#[test]
#[expect(deprecated, reason = "the fault is why")]
fn heapless_queue() {
    found("heapless-0.9.3/src/mpmc.rs", |token| {
        let test = trueline::test(heapless::mpmc::Queue::<u64, 4>::new)
            .model(VecDeque::new())
            .operation(
                "enqueue",
                unique(),
                |queue, x| queue.enqueue(x).is_ok(),
                |queue, x| {
                    let has_room = queue.len() < 4;
                    queue.extend(has_room.then_some(x));
                    has_room
                },
            )
            .operation("dequeue", (), |queue, ()| queue.dequeue(), |queue, ()| queue.pop_front())
            .forgetful()
            .explore(Exploration::new().preemptions(2));
        token.into_iter().fold(test, |test, token| test.replay(token)).outcome()
    });
}

/// crossbeam-skiplist 0.1.3: two removals of one entry may both return it (crossbeam issue 1023).
#[test]
fn skip_map() {
    found("crossbeam-skiplist-0.1.3/src/base.rs", |token| {
        let test = trueline::test(crossbeam_skiplist::SkipMap::new)
            .model(BTreeMap::new())
            .operation(
                "insert",
                (0..2_u8, 0..9_u8),
                |map, (k, v)| drop(map.insert(k, v)),
                |map, (k, v)| drop(map.insert(k, v)),
            )
            .operation("remove", 0..2_u8, |map, k| map.remove(&k).map(|e| *e.value()), |map, k| map.remove(&k))
            .before([call("insert", (1_u8, 0_u8))])
            .forgetful()
            .time(Duration::from_secs(60))
            .explore(Exploration::new().search(Search::Uniform));
        token.into_iter().fold(test, |test, token| test.replay(token)).outcome()
    });
}

/// moka 0.12.16: two `or_insert` of one key may both say that theirs is fresh (issue 545).
#[test]
fn cache() {
    found("moka-0.12.16/src", |token| {
        let test = trueline::test(|| moka::sync::Cache::builder().build())
            .model(BTreeMap::new())
            .operation(
                "or_insert",
                (0..2_u8, 0..9_u8),
                |cache, (k, v)| cache.entry(k).or_insert(v).is_fresh(),
                |map, (k, v)| map.insert(k, v).is_none(),
            )
            .forgetful()
            .time(Duration::from_secs(60))
            .explore(Exploration::new().search(Search::Uniform));
        token.into_iter().fold(test, |test, token| test.replay(token)).outcome()
    });
}
