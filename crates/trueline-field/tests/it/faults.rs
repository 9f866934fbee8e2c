//! Faults of published crates, each found by a test of a dozen lines:
//! `cargo test --release -p trueline-field faults -- --ignored --nocapture`.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use concurrent_queue::ConcurrentQueue;
use crossbeam_skiplist::SkipMap;
use trueline::drive::unique;
use trueline::test::{FailureKind, Outcome, call};

/// Asserts that a run was rejected, and prints the time until then.
#[expect(clippy::print_stderr, reason = "as test harnesses do")]
#[track_caller]
fn found(name: &str, outcome: Outcome) {
    let Some(failure) = outcome.failure else { panic!("{name}: no fault in {} runs", outcome.runs) };
    assert_eq!(failure.kind, FailureKind::NotLinearizable);
    eprintln!("{name}: found after {:.1?}, in run {}", failure.after, outcome.runs);
}

/// crossbeam-skiplist 0.1.3: insert marks the old node as removed before it links the new one, and two removals of one
/// entry may both return it (crossbeam issue 1023, fixed on master only).
#[test]
#[ignore = "a long test: the time until a fault appears depends on the machine"]
fn skip_map() {
    let test = trueline::test(SkipMap::new)
        .model(BTreeMap::new())
        .operation(
            "insert",
            (0..3, 0..9),
            |map, (k, v)| *map.insert(k, v).value(),
            |map, (k, v)| {
                map.insert(k, v);
                v
            },
        )
        .operation("get", 0..3, |map, k| map.get(&k).map(|e| *e.value()), |map, k| map.get(&k).copied())
        .operation("remove", 0..3, |map, k| map.remove(&k).map(|e| *e.value()), |map, k| map.remove(&k))
        .independent_keys();
    found("crossbeam-skiplist", test.forgetful().time(Duration::from_secs(600)).outcome());
}

/// concurrent-queue 2.5.0: `force_push` stores the tail, and so erases the mark of a `close` that
/// came in between.
#[test]
#[ignore = "a long test: the time until a fault appears depends on the machine"]
fn closed_queue() {
    let test = trueline::test(|| ConcurrentQueue::bounded(2))
        .model((VecDeque::new(), false))
        .operation(
            "force_push",
            0..9,
            |queue, x| queue.force_push(x).map_err(|e| e.into_inner()),
            |(queue, closed), x| {
                if *closed {
                    return Err(x);
                }
                queue.push_back(x);
                Ok(if queue.len() > 2 { queue.pop_front() } else { None })
            },
        )
        .operation("close", (), |queue, ()| queue.close(), |(_, closed), ()| !std::mem::replace(closed, true))
        .operation("is_closed", (), |queue, ()| queue.is_closed(), |(_, closed), ()| *closed);
    found("concurrent-queue", test.forgetful().time(Duration::from_secs(600)).outcome());
}

/// moka 0.12.16: two calls of `or_insert` for the same key may both report that their entry is fresh (issue 545).
#[test]
#[ignore = "a long test: the time until a fault appears depends on the machine"]
fn cache() {
    let test = trueline::test(|| moka::sync::Cache::builder().build()).model(BTreeMap::new()).operation(
        "or_insert",
        (0..2, 0..9),
        |cache, (k, v)| cache.entry(k).or_insert(v).is_fresh(),
        |map, (k, v)| map.insert(k, v).is_none(),
    );
    found("moka", test.forgetful().time(Duration::from_secs(600)).outcome());
}

/// thingbuf 0.1.6: a slot is skipped while a reader is active, and the buffer then reports that it is full although it
/// is not, even when no thread is active.
#[test]
#[ignore = "a long test: the time until a fault appears depends on the machine"]
fn ring_buffer() {
    let test = trueline::test(|| thingbuf::ThingBuf::<u64>::new(2))
        .spec("bounded-queue:2")
        .operation("enqueue", unique(), |buffer, x| buffer.push(x).is_ok())
        .operation("dequeue", (), |buffer, ()| buffer.pop())
        .after([call("enqueue", 1001), call("enqueue", 1002), call("dequeue", ()), call("enqueue", 1003)]);
    found("thingbuf", test.forgetful().time(Duration::from_secs(600)).outcome());
}
