//! Tests that published crates compile with an instrumented `std`, and behave correctly under the
//! scheduler. Each crate runs random programs with random schedules for one second. The tests print
//! the table in `docs/src/unmodified.md`:
//!
//! ```sh
//! cargo trueline test --instrument-all --test smoke -- --nocapture | grep '^|'
//! ```

mod cpu;

use std::cell::Cell;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use trueline::drive::systematic::Search;
use trueline::test::{Exploration, Plan};

/// The value of `unseen` for operations whose shared memory is all in atomics or behind locks: the
/// scheduler sees each access.
const ALL: &str = "";
const ARC: &str = "reference counts of `Arc`";
const TIME: &str = "time, reference counts of `Arc`";
const WAKERS: &str = "wakers";

/// Explores the plan, and prints a row of the table.
#[track_caller]
fn smoke(package: &str, unseen: &str, plan: Plan) {
    let started = cpu::time();
    let seconds = std::env::var("TRUELINE_TIME").ok().and_then(|time| time.parse().ok()).unwrap_or(1);
    let plan = plan.time(Duration::from_secs(seconds)).explore(Exploration::new().search(Search::Uniform));
    let outcome = plan.seed(1).run();
    let time = cpu::time() - started;
    if let Some(failure) = outcome.failure {
        panic!("{package}: {failure}");
    }
    let explored = outcome.explored.expect("the plan explores schedules");
    assert!(outcome.too_little.is_empty(), "{package}: {:?}", outcome.too_little);
    assert!(outcome.warnings.is_empty(), "{package}: {:?}", outcome.warnings);
    let lock = include_str!("../Cargo.lock");
    let (_, rest) = lock.rsplit_once(&format!("name = \"{package}\"\nversion = \"")).expect("`lock` has the package");
    let (version, _) = rest.split_once('"').expect("the version is in quotes");
    let per_second = (explored.executions as f64 / time.as_secs_f64() / 100.0).round() * 100.0;
    println!("\n| `{package}` | {version} | yes | {per_second} | {unseen} |");
}

/// Adds to a queue with this many places, if there is room.
fn push(queue: &mut VecDeque<u8>, places: usize, x: u8) -> bool {
    let has_room = queue.len() < places;
    queue.extend(has_room.then_some(x));
    has_room
}

/// Tests a queue with this many places.
fn queue<O: Send + Sync + 'static>(
    make: impl Fn() -> O + Send + Sync + 'static,
    places: usize,
    add: impl Fn(&O, u8) -> bool + Send + Sync + 'static,
    take: impl Fn(&O) -> Option<u8> + Send + Sync + 'static,
) -> Plan {
    trueline::test(make)
        .model(VecDeque::new())
        .operation("push", 0..9_u8, move |object, x| add(object, x), move |queue, x| push(queue, places, x))
        .operation("pop", (), move |object, ()| take(object), |queue, ()| queue.pop_front())
        .into_plan()
}

/// Tests a queue without a bound.
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

/// Tests a map with `insert`, `remove` and `get`.
fn map<O: Send + Sync + 'static>(
    make: impl Fn() -> O + Send + Sync + 'static,
    insert: impl Fn(&O, u8, u8) + Send + Sync + 'static,
    remove: impl Fn(&O, u8) -> bool + Send + Sync + 'static,
    get: impl Fn(&O, u8) -> Option<u8> + Send + Sync + 'static,
) -> Plan {
    trueline::test(make)
        .model(BTreeMap::new())
        .operation(
            "insert",
            (0..2_u8, 0..9_u8),
            move |object, (k, v)| insert(object, k, v),
            |map, (k, v)| drop(map.insert(k, v)),
        )
        .operation("remove", 0..2_u8, move |object, k| remove(object, k), |map, k| map.remove(&k).is_some())
        .operation("get", 0..2_u8, move |object, k| get(object, k), |map, k| map.get(&k).copied())
        .into_plan()
}

/// Tests a cell that holds a number, which `swap` replaces.
fn cell<O: Send + Sync + 'static>(
    make: impl Fn() -> O + Send + Sync + 'static,
    swap: impl Fn(&O, u8) -> u8 + Send + Sync + 'static,
) -> Plan {
    let swap = move |object: &O, x| swap(object, x);
    trueline::test(make)
        .model(0)
        .operation("swap", 0..9_u8, move |object: &mut _, x| swap(object, x), |old, x| std::mem::replace(old, x))
        .into_plan()
}

type Fixed = BuildHasherDefault<DefaultHasher>;

#[test]
fn arc_swap() {
    let make = || arc_swap::ArcSwap::from_pointee(0);
    smoke("arc-swap", ARC, cell(make, |cell, x| *cell.swap(x.into())));
}

#[test]
fn async_channel() {
    let make = || async_channel::bounded(2);
    smoke("async-channel", WAKERS, queue(make, 2, |(tx, _), x| tx.try_send(x).is_ok(), |(_, rx)| rx.try_recv().ok()));
}

#[test]
fn async_lock() {
    let make = || async_lock::Mutex::new(0);
    smoke("async-lock", WAKERS, cell(make, |cell, x| std::mem::replace(&mut cell.lock_blocking(), x)));
}

#[test]
fn atomic_waker() {
    let test = trueline::test(atomic_waker::AtomicWaker::new)
        .model(())
        .operation("register", (), |waker, ()| waker.register(std::task::Waker::noop()), |(), ()| ())
        .operation("wake", (), |waker, ()| waker.wake(), |(), ()| ());
    smoke("atomic-waker", WAKERS, test.into_plan());
}

#[test]
fn boxcar() {
    let test = trueline::test(boxcar::Vec::new).model(0).operation(
        "push",
        0..9_u8,
        |vec, x| vec.push(x),
        |len, _| std::mem::replace(len, *len + 1),
    );
    smoke("boxcar", ALL, test.into_plan());
}

#[test]
fn bus() {
    let make = || {
        let mut bus = bus::Bus::new(2);
        let reader = bus.add_rx();
        (Mutex::new(bus), Mutex::new(reader))
    };
    let add = |(bus, _): &(Mutex<bus::Bus<u8>>, _), x| bus.lock().unwrap().try_broadcast(x).is_ok();
    smoke("bus", "time", queue(make, 2, add, |(_, reader)| reader.lock().unwrap().try_recv().ok()));
}

#[test]
fn concurrent_queue() {
    let make = concurrent_queue::ConcurrentQueue::unbounded;
    smoke("concurrent-queue", ALL, unbounded(make, |queue, x| queue.push(x).unwrap(), |queue| queue.pop().ok()));
}

#[test]
fn contrie() {
    let make = || contrie::CloneConMap::with_hasher(Fixed::default());
    let (remove, get) = (
        |map: &contrie::CloneConMap<u8, u8, Fixed>, k: u8| map.remove(&k).is_some(),
        |map: &contrie::CloneConMap<u8, u8, Fixed>, k: u8| map.get(&k).map(|(_, v)| v),
    );
    smoke("contrie", ARC, map(make, |map, k, v| drop(map.insert(k, v)), remove, get));
}

#[test]
fn crossbeam_channel() {
    let make = || crossbeam_channel::bounded(2);
    smoke("crossbeam-channel", ALL, queue(make, 2, |(tx, _), x| tx.try_send(x).is_ok(), |(_, rx)| rx.try_recv().ok()));
}

#[test]
fn crossbeam_deque() {
    let take = |queue: &crossbeam_deque::Injector<u8>| loop {
        match queue.steal() {
            crossbeam_deque::Steal::Success(x) => break Some(x),
            crossbeam_deque::Steal::Empty => break None,
            crossbeam_deque::Steal::Retry => std::hint::spin_loop(),
        }
    };
    smoke("crossbeam-deque", ALL, unbounded(crossbeam_deque::Injector::new, |queue, x| queue.push(x), take));
}

#[test]
fn crossbeam_epoch() {
    use crossbeam_epoch::{Atomic, Owned, pin};
    let swap = |cell: &Atomic<u8>, x| {
        let guard = &pin();
        let old = cell.swap(Owned::new(x), SeqCst, guard);
        // SAFETY: `old` is not null. No other thread destroys it, and it is not destroyed before all threads that were
        // pinned are unpinned.
        let value = unsafe { *old.deref() };
        // SAFETY: `old` cannot be reached any more.
        unsafe { guard.defer_destroy(old) };
        value
    };
    smoke("crossbeam-epoch", ALL, cell(|| Atomic::new(0), swap));
}

#[test]
fn crossbeam_queue() {
    let make = || crossbeam_queue::ArrayQueue::new(2);
    smoke("crossbeam-queue", ALL, queue(make, 2, |queue, x| queue.push(x).is_ok(), |queue| queue.pop()));
}

#[test]
fn crossbeam_skiplist() {
    let test = trueline::test(crossbeam_skiplist::SkipMap::new).model(BTreeMap::new()).operation(
        "get_or_insert",
        (0..2_u8, 0..9_u8),
        |map, (k, v)| *map.get_or_insert(k, v).value(),
        |map, (k, v)| *map.entry(k).or_insert(v),
    );
    smoke("crossbeam-skiplist", ALL, test.into_plan());
}

#[test]
fn crossbeam_utils() {
    let make = || crossbeam_utils::atomic::AtomicCell::new((0_u8, [0_u64; 2]));
    smoke("crossbeam-utils", "the data of a sequence lock", cell(make, |cell, x| cell.swap((x, [0; 2])).0));
}

#[test]
fn dashmap() {
    let make = || dashmap::DashMap::with_hasher_and_shard_amount(Fixed::default(), 2);
    let get = |map: &dashmap::DashMap<u8, u8, Fixed>, k: u8| map.get(&k).map(|v| *v);
    smoke("dashmap", ALL, map(make, |map, k, v| drop(map.insert(k, v)), |map, k| map.remove(&k).is_some(), get));
}

#[test]
fn event_listener() {
    let test = trueline::test(event_listener::Event::<()>::new)
        .model(())
        .operation("listen", (), |event, ()| drop(event.listen()), |(), ()| ())
        .operation("notify", (), |event, ()| drop(event.notify(1)), |(), ()| ());
    smoke("event-listener", WAKERS, test.into_plan());
}

#[test]
fn flume() {
    let make = || flume::bounded(2);
    smoke("flume", ARC, queue(make, 2, |(tx, _), x| tx.try_send(x).is_ok(), |(_, rx)| rx.try_recv().ok()));
}

#[test]
fn flurry() {
    let make = || flurry::HashMap::with_hasher(Fixed::default());
    let get = |map: &flurry::HashMap<u8, u8, Fixed>, k: u8| map.pin().get(&k).copied();
    let remove = |map: &flurry::HashMap<u8, u8, Fixed>, k: u8| map.pin().remove(&k).is_some();
    smoke("flurry", ALL, map(make, |map, k, v| drop(map.pin().insert(k, v)), remove, get));
}

#[test]
fn haphazard() {
    use haphazard::{AtomicPtr, HazardPointer};
    let swap = |cell: &AtomicPtr<u8>, x| {
        let old = cell.swap(Box::new(x)).expect("the cell is never null");
        // SAFETY: `old` is not reclaimed before it is retired.
        let value = unsafe { *old.as_ref().as_ref() };
        // SAFETY: `old` cannot be reached any more, and is retired once.
        unsafe { old.retire() };
        value
    };
    let test = trueline::test(|| AtomicPtr::from(Box::new(0)))
        .model(0)
        .operation("swap", 0..9_u8, move |cell, x| swap(cell, x), |old, x| std::mem::replace(old, x))
        .operation("load", (), |cell, ()| cell.safe_load(&mut HazardPointer::new()).copied(), |old, ()| Some(*old));
    smoke("haphazard", ALL, test.into_plan());
}

#[test]
#[expect(deprecated, reason = "the queue is deprecated because of a fault")]
fn heapless() {
    let test = trueline::test(heapless::mpmc::Queue::<u8, 4>::new).model(0).operation(
        "enqueue",
        0..9_u8,
        |queue, x| queue.enqueue(x).is_ok(),
        |len, _| std::mem::replace(len, *len + 1) < 4,
    );
    smoke("heapless", ALL, test.into_plan());
}

#[test]
fn kanal() {
    let make = || kanal::bounded(2);
    let add = |(tx, _): &(kanal::Sender<u8>, _), x| tx.try_send(x) == Ok(true);
    smoke("kanal", ALL, queue(make, 2, add, |(_, rx): &(_, kanal::Receiver<u8>)| rx.try_recv().ok().flatten()));
}

/// A number; `left_right` keeps two copies of it.
#[derive(Clone, Default)]
struct Number(u8);

impl left_right::Absorb<u8> for Number {
    fn absorb_first(&mut self, number: &mut u8, _: &Self) {
        self.0 = *number;
    }

    fn sync_with(&mut self, first: &Self) {
        self.0 = first.0;
    }
}

#[test]
fn left_right() {
    let make = || {
        let (mut writer, reader) = left_right::new::<Number, u8>();
        writer.publish();
        (Mutex::new(writer), reader.factory())
    };
    let test = trueline::test(make)
        .model(0)
        .operation("write", 0..9_u8, |both, x| drop(both.0.lock().unwrap().append(x).publish()), |old, x| *old = x)
        .operation("read", (), |both, ()| both.1.handle().enter().map(|number| number.0), |old, ()| Some(*old));
    smoke("left-right", ALL, test.into_plan());
}

#[test]
fn lockfree() {
    let test = trueline::test(lockfree::stack::Stack::new)
        .model(Vec::new())
        .operation("push", 0..9_u8, |stack, x| stack.push(x), |stack, x| stack.push(x))
        .operation("pop", (), |stack, ()| stack.pop(), |stack, ()| stack.pop());
    smoke("lockfree", ALL, test.into_plan());
}

#[test]
fn moka() {
    let make = || moka::sync::Cache::builder().build_with_hasher(Fixed::default());
    let remove = |cache: &moka::sync::Cache<u8, u8, Fixed>, k: u8| cache.remove(&k).is_some();
    smoke("moka", TIME, map(make, |cache, k, v| cache.insert(k, v), remove, |cache, k| cache.get(&k)));
}

#[test]
fn nolock() {
    let make = || nolock::queues::mpmc::bounded::scq::queue(2);
    smoke("nolock", ARC, queue(make, 2, |(_, tx), x| tx.try_enqueue(x).is_ok(), |(rx, _)| rx.try_dequeue().ok()));
}

#[test]
fn once_cell() {
    let test = trueline::test(once_cell::sync::OnceCell::new)
        .model(None)
        .operation("get_or_init", 0..9_u8, |cell, x| *cell.get_or_init(|| x), |cell, x| *cell.get_or_insert(x))
        .operation("get", (), |cell, ()| cell.get().copied(), |cell, ()| *cell);
    smoke("once_cell", ALL, test.into_plan());
}

#[test]
fn oneshot() {
    let make = || {
        let (tx, rx) = oneshot::channel();
        (Mutex::new(Some(tx)), Mutex::new(rx))
    };
    let test = trueline::test(make)
        .model((false, None))
        .operation(
            "send",
            0..9_u8,
            |both, x| both.0.lock().unwrap().take().is_some_and(|tx| tx.send(x).is_ok()),
            |(sent, message), x| {
                let is_first = !std::mem::replace(sent, true);
                *message = is_first.then_some(x).or(*message);
                is_first
            },
        )
        .operation(
            "try_recv",
            (),
            |both, ()| both.1.lock().unwrap().try_recv().ok(),
            |(_, message), ()| message.take(),
        );
    smoke("oneshot", WAKERS, test.into_plan());
}

#[test]
fn papaya() {
    let make = || papaya::HashMap::with_hasher(Fixed::default());
    let get = |map: &papaya::HashMap<u8, u8, Fixed>, k: u8| map.pin().get(&k).copied();
    let remove = |map: &papaya::HashMap<u8, u8, Fixed>, k: u8| map.pin().remove(&k).is_some();
    smoke("papaya", ALL, map(make, |map, k, v| drop(map.pin().insert(k, v)), remove, get));
}

#[test]
fn parking_lot() {
    let make = || parking_lot::RwLock::new(0);
    let test = trueline::test(make)
        .model(0)
        .operation("write", 0..9_u8, |cell, x| *cell.write() = x, |old, x| *old = x)
        .operation("read", (), |cell, ()| *cell.read(), |old, ()| *old);
    smoke("parking_lot", "time", test.into_plan());
}

#[test]
fn ringbuf() {
    use ringbuf::traits::{Consumer, Producer, Split};
    let make = || {
        let (tx, rx) = ringbuf::HeapRb::new(2).split();
        (Mutex::new(tx), Mutex::new(rx))
    };
    let take = |(_, rx): &(Mutex<ringbuf::HeapProd<u8>>, Mutex<ringbuf::HeapCons<u8>>)| rx.lock().unwrap().try_pop();
    smoke("ringbuf", ARC, queue(make, 2, |(tx, _), x| tx.lock().unwrap().try_push(x).is_ok(), take));
}

#[test]
fn rtrb() {
    let make = || {
        let (tx, rx) = rtrb::RingBuffer::new(2);
        (Mutex::new(tx), Mutex::new(rx))
    };
    let take = |(_, rx): &(Mutex<rtrb::Producer<u8>>, Mutex<rtrb::Consumer<u8>>)| rx.lock().unwrap().pop().ok();
    smoke("rtrb", ARC, queue(make, 2, |(tx, _), x| tx.lock().unwrap().push(x).is_ok(), take));
}

#[test]
fn scc() {
    let make = || scc::HashMap::with_hasher(Fixed::default());
    let get = |map: &scc::HashMap<u8, u8, Fixed>, k: u8| map.read(&k, |_, v| *v);
    let insert = |map: &scc::HashMap<u8, u8, Fixed>, k, v| drop(map.upsert(k, v));
    smoke("scc", ALL, map(make, insert, |map, k| map.remove(&k).is_some(), get));
}

#[test]
fn seize() {
    use seize::Guard;
    use std::sync::atomic::AtomicPtr;
    let make = || (seize::Collector::new(), AtomicPtr::new(Box::into_raw(Box::new(0))));
    let swap = |(collector, cell): &(seize::Collector, AtomicPtr<u8>), x| {
        let guard = collector.enter();
        let old = guard.swap(cell, Box::into_raw(Box::new(x)), SeqCst);
        // SAFETY: the guard protects `old`.
        let value = unsafe { *old };
        // SAFETY: `old` cannot be reached any more, and is retired once.
        unsafe { guard.defer_retire(old, seize::reclaim::boxed) };
        value
    };
    smoke("seize", ALL, cell(make, swap));
}

#[test]
fn sharded_slab() {
    let insert = |slab: &sharded_slab::Slab<u8>, x| {
        let key = slab.insert(x).expect("the slab has room");
        let found = slab.get(key).map(|found| *found);
        (found, slab.remove(key))
    };
    let test = trueline::test(sharded_slab::Slab::new).model(()).operation(
        "insert and remove",
        0..9_u8,
        move |slab, x| insert(slab, x),
        |(), x| (Some(x), true),
    );
    smoke("sharded-slab", ALL, test.into_plan());
}

#[test]
fn spin() {
    let make = || spin::Mutex::<u8>::new(0);
    smoke("spin", ALL, cell(make, |cell, x| std::mem::replace(&mut cell.lock(), x)));
}

#[test]
fn thingbuf() {
    let test = trueline::test(|| thingbuf::ThingBuf::new(2)).model(0).operation(
        "push",
        0..9_u8,
        |buffer, x| buffer.push(x).is_ok(),
        |len, _| std::mem::replace(len, *len + 1) < 2,
    );
    smoke("thingbuf", ALL, test.into_plan());
}

#[test]
fn thread_local() {
    let test = trueline::test(thread_local::ThreadLocal::<Cell<u8>>::new).model(()).operation(
        "replace twice",
        0..9_u8,
        |local, x| {
            local.get_or_default().set(x);
            local.get_or_default().get()
        },
        |(), x| x,
    );
    smoke("thread_local", ALL, test.into_plan());
}

#[test]
fn tokio() {
    let test = trueline::test(|| tokio::sync::Semaphore::new(1))
        .model(1_u8)
        .operation(
            "try_acquire",
            (),
            |semaphore, ()| semaphore.try_acquire().map(|permit| permit.forget()).is_ok(),
            |permits, ()| {
                let is_free = *permits > 0;
                *permits -= u8::from(is_free);
                is_free
            },
        )
        .operation("add_permit", (), |semaphore, ()| semaphore.add_permits(1), |permits, ()| *permits += 1);
    smoke("tokio", "wakers, tasks of its runtime", test.into_plan());
}

#[test]
fn triomphe() {
    let test = trueline::test(|| Mutex::new(triomphe::Arc::new(0)))
        .model(0)
        .operation(
            "swap",
            0..9_u8,
            |cell, x| *std::mem::replace(&mut *cell.lock().unwrap(), triomphe::Arc::new(x)),
            |old, x| std::mem::replace(old, x),
        )
        .operation("clone", (), |cell, ()| *cell.lock().unwrap().clone(), |old, ()| *old);
    smoke("triomphe", ALL, test.into_plan());
}
