//! Tests crates without known faults: random schedules must not find a fault. Each crate is tested
//! for `TRUELINE_TIME` seconds, by default 1, as in `TRUELINE_TIME=60 cargo trueline test
//! --instrument-all --test controls -- --nocapture`.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::Mutex;
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::test::{Exploration, Plan};

type Fixed = BuildHasherDefault<DefaultHasher>;

/// Checks that no execution fails, and that the test has no warnings.
#[track_caller]
fn clean(name: &str, plan: Plan) {
    let seconds = std::env::var("TRUELINE_TIME").ok().and_then(|time| time.parse().ok()).unwrap_or(1);
    let exploration = Exploration::new().search(Search::Uniform).programs(1_000);
    let outcome = plan.time(Duration::from_secs(seconds)).forgetful().explore(exploration).run();
    if let Some(failure) = outcome.failure {
        panic!("{name}: {failure}");
    }
    assert!(
        outcome.too_little.is_empty() && outcome.warnings.is_empty(),
        "{:?} {:?}",
        outcome.too_little,
        outcome.warnings
    );
    let explored = outcome.explored.expect("the plan explores schedules");
    println!("\n{name}: {} executions of {} programs, {:.1?}", explored.executions, explored.programs, outcome.elapsed);
}

/// Tests an unbounded queue.
fn unbounded<O: Send + Sync + 'static>(
    make: impl Fn() -> O + Send + Sync + 'static,
    add: impl Fn(&O, u8) + Send + Sync + 'static,
    take: impl Fn(&O) -> Option<u8> + Send + Sync + 'static,
) -> Plan {
    trueline::test(make)
        .model(VecDeque::new())
        .operation("push", 0..9_u8, move |object, x| add(object, x), |queue, x| queue.push_back(x))
        .operation("pop", (), move |object, ()| take(object), |queue, ()| queue.pop_front())
        .into_plan()
}

/// Tests a queue with this many places, and its length if `len` is given.
fn queue<O: Send + Sync + 'static>(
    places: usize,
    make: impl Fn() -> O + Send + Sync + 'static,
    add: impl Fn(&O, u8) -> bool + Send + Sync + 'static,
    take: impl Fn(&O) -> Option<u8> + Send + Sync + 'static,
    len: Option<fn(&O) -> usize>,
) -> Plan {
    let test = trueline::test(make)
        .model(VecDeque::new())
        .operation(
            "push",
            0..9_u8,
            move |object, x| add(object, x),
            move |queue, x| {
                let has_room = queue.len() < places;
                queue.extend(has_room.then_some(x));
                has_room
            },
        )
        .operation("pop", (), move |object, ()| take(object), |queue, ()| queue.pop_front());
    match len {
        Some(len) => test.operation("len", (), move |object, ()| len(object), |queue, ()| queue.len()).into_plan(),
        None => test.into_plan(),
    }
}

#[test]
fn async_channel_unbounded() {
    let make = async_channel::unbounded;
    clean("async-channel", unbounded(make, |(tx, _), x| tx.try_send(x).unwrap(), |(_, rx)| rx.try_recv().ok()));
}

#[test]
fn concurrent_queue_bounded() {
    let make = || concurrent_queue::ConcurrentQueue::bounded(2);
    let len = |queue: &concurrent_queue::ConcurrentQueue<u8>| queue.len();
    clean("concurrent-queue", queue(2, make, |queue, x| queue.push(x).is_ok(), |queue| queue.pop().ok(), Some(len)));
}

#[test]
fn contrie_map() {
    type Map = contrie::CloneConMap<u8, u8, Fixed>;
    let test = trueline::test(|| Map::with_hasher(Fixed::default()))
        .model(BTreeMap::new())
        .operation(
            "insert",
            (0..2_u8, 0..9_u8),
            |map, (k, v)| map.insert(k, v).map(|e| e.1),
            |map, (k, v)| map.insert(k, v),
        )
        .operation("remove", 0..2_u8, |map, k| map.remove(&k).map(|e| e.1), |map, k| map.remove(&k))
        .operation("get", 0..2_u8, |map, k| map.get(&k).map(|e| e.1), |map, k| map.get(&k).copied());
    clean("contrie", test.into_plan());
}

#[test]
fn crossbeam_channel_bounded() {
    type Channel = (crossbeam_channel::Sender<u8>, crossbeam_channel::Receiver<u8>);
    let make = || crossbeam_channel::bounded(2);
    let len = |(_, rx): &Channel| rx.len();
    clean(
        "crossbeam-channel",
        queue(2, make, |(tx, _), x| tx.try_send(x).is_ok(), |(_, rx)| rx.try_recv().ok(), Some(len)),
    );
}

#[test]
fn flume_bounded() {
    type Channel = (flume::Sender<u8>, flume::Receiver<u8>);
    let make = || flume::bounded(2);
    let len = |(_, rx): &Channel| rx.len();
    clean("flume", queue(2, make, |(tx, _), x| tx.try_send(x).is_ok(), |(_, rx)| rx.try_recv().ok(), Some(len)));
}

#[test]
fn lockfree_map() {
    type Map = lockfree::map::Map<u8, u8, Fixed>;
    let test = trueline::test(|| Map::with_hasher(Fixed::default()))
        .model(BTreeMap::new())
        .operation(
            "insert",
            (0..2_u8, 0..9_u8),
            |map, (k, v)| map.insert(k, v).map(|e| *e.val()),
            |map, (k, v)| map.insert(k, v),
        )
        .operation("remove", 0..2_u8, |map, k| map.remove(&k).map(|e| *e.val()), |map, k| map.remove(&k))
        .operation("get", 0..2_u8, |map, k| map.get(&k).map(|e| *e.val()), |map, k| map.get(&k).copied());
    clean("lockfree map", test.into_plan());
}

#[test]
fn lockfree_stack() {
    let test = trueline::test(lockfree::stack::Stack::new)
        .model(Vec::new())
        .operation("push", 0..9_u8, |stack, x| stack.push(x), |stack, x| stack.push(x))
        .operation("pop", (), |stack, ()| stack.pop(), |stack, ()| stack.pop());
    clean("lockfree stack", test.into_plan());
}

/// Tests a queue with too few elements to fill it. In a full queue, the test would find a fault: an
/// enqueue in progress occupies a place before other threads can see its value, so the queue may
/// seem to be full, and then empty.
#[test]
fn nolock_ncq() {
    use nolock::queues::mpmc::bounded::ncq;
    let make = || ncq::queue(64);
    type Queue = (ncq::Receiver<u8>, ncq::Sender<u8>);
    let add = |(_, tx): &Queue, x| assert!(tx.try_enqueue(x).is_ok(), "the queue has room");
    clean("nolock ncq", unbounded(make, add, |(rx, _)| rx.try_dequeue().ok()));
}

#[test]
fn nolock_scq() {
    let make = || nolock::queues::mpmc::bounded::scq::queue(2);
    clean("nolock scq", queue(2, make, |(_, tx), x| tx.try_enqueue(x).is_ok(), |(rx, _)| rx.try_dequeue().ok(), None));
}

#[test]
fn tokio_unbounded() {
    type Channel = (tokio::sync::mpsc::UnboundedSender<u8>, Mutex<tokio::sync::mpsc::UnboundedReceiver<u8>>);
    let make = || -> Channel {
        let (tx, rx) = tokio::sync::mpsc::unbounded_channel();
        (tx, Mutex::new(rx))
    };
    let take = |(_, rx): &Channel| rx.lock().unwrap().try_recv().ok();
    clean("tokio", unbounded(make, |(tx, _), x| tx.send(x).unwrap(), take));
}
