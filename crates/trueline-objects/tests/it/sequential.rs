//! Compares the objects, on one thread, with the collections of `std`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use trueline::drive::Random;
use trueline_objects::fine_grained_list::FineGrainedList;
use trueline_objects::hash::Hash;
use trueline_objects::laarman_map::LaarmanMap;
use trueline_objects::lazy_list::LazyList;
use trueline_objects::lazy_skiplist::{self, LazySkiplist};
use trueline_objects::lock_free_list::LockFreeList;
use trueline_objects::lock_free_skiplist::{Collisions, LockFreeSkiplist};
use trueline_objects::locked::{LockedHeightStack, LockedMap, LockedQueue};
use trueline_objects::ms_queue::{self, MsQueue};
use trueline_objects::optimistic_list::OptimisticList;
use trueline_objects::register::{Access, BufferedRegister, Buffering, Register};
use trueline_objects::resizing_map::ResizingMap;
use trueline_objects::shann_queue::{self, Mode, ShannQueue};
use trueline_objects::sharded_map::ShardedMap;
use trueline_objects::split_ordered_set::SplitOrderedSet;
use trueline_objects::treiber_stack::TreiberStack;

const OPERATIONS: u32 = 3000;

macro_rules! queue_is_right {
    ($queue:expr) => {
        let (queue, mut model, mut random) = ($queue, VecDeque::new(), Random::new(1));
        for step in 0..OPERATIONS {
            if random.chance(1, 2) {
                let value = random.bits();
                queue.enqueue(value);
                model.push_back(value);
            } else {
                assert_eq!(queue.dequeue(), model.pop_front(), "in step {step} of {}", stringify!($queue));
            }
        }
    };
}

macro_rules! bounded_queue_is_right {
    ($queue:expr, $capacity:expr) => {
        let (queue, mut model, mut random) = ($queue, VecDeque::new(), Random::new(2));
        for step in 0..OPERATIONS {
            if random.chance(1, 2) {
                let value = u64::from(random.below(1000));
                let room = model.len() < $capacity;
                if room {
                    model.push_back(value);
                }
                assert_eq!(queue.enqueue(value), room, "in step {step} of {}", stringify!($queue));
            } else {
                assert_eq!(queue.dequeue(), model.pop_front(), "in step {step} of {}", stringify!($queue));
            }
        }
    };
}

macro_rules! map_is_right {
    ($map:expr, $keys:expr) => {
        let (map, mut model, mut random) = ($map, BTreeMap::new(), Random::new(3));
        for step in 0..OPERATIONS {
            let (key, value) = (u64::from(random.below($keys)), random.bits() >> 1);
            match random.below(4) {
                0 => assert_eq!(map.get(key), model.get(&key).copied(), "in step {step} of {}", stringify!($map)),
                1 => {
                    map.update(key, value);
                    model.insert(key, value);
                }
                2 => {
                    map.delete(key);
                    model.remove(&key);
                }
                _ => {
                    let expected = *model.entry(key).or_insert(value);
                    assert_eq!(map.get_or_else_update(key, value), expected, "in step {step} of {}", stringify!($map));
                }
            }
        }
    };
}

macro_rules! set_is_right {
    ($set:expr) => {
        for items in [3, 24, 200] {
            let (set, mut model, mut random) = ($set, BTreeSet::new(), Random::new(4));
            for step in 0..OPERATIONS {
                let item = u64::from(random.below(items));
                let (is, should_be) = match random.below(3) {
                    0 => (set.add(item), model.insert(item)),
                    1 => (set.remove(item), model.remove(&item)),
                    _ => (set.contains(item), model.contains(&item)),
                };
                assert_eq!(is, should_be, "in step {step} of {}", stringify!($set));
            }
        }
    };
}

#[test]
fn queues() {
    queue_is_right!(MsQueue::new());
    queue_is_right!(MsQueue::recycling());
    queue_is_right!(MsQueue::faulty(ms_queue::Fault::LateRead));
    queue_is_right!(MsQueue::faulty(ms_queue::Fault::Aba));
    queue_is_right!(MsQueue::faulty(ms_queue::Fault::NoHelp));
}

#[test]
fn bounded_queues() {
    for capacity in [1, 2, 5] {
        bounded_queue_is_right!(LockedQueue::new(capacity), capacity);
        bounded_queue_is_right!(ShannQueue::new(capacity, Mode::Total), capacity);
        bounded_queue_is_right!(ShannQueue::faulty(capacity, Mode::Total, shann_queue::Fault::StaleSlot), capacity);
    }
}

#[test]
fn waiting_queues_that_need_not_wait() {
    for mode in [Mode::Partial, Mode::PartialWithoutHelp] {
        let queue = ShannQueue::new(2, mode);
        for value in 0..20 {
            assert!(queue.enqueue(value) && queue.enqueue(value + 100));
            assert_eq!((queue.dequeue(), queue.dequeue()), (Some(value), Some(value + 100)));
        }
    }
}

#[test]
fn stacks() {
    let (stack, heights) = (TreiberStack::new(), LockedHeightStack::new());
    let (mut model, mut random) = (Vec::new(), Random::new(5));
    for _ in 0..OPERATIONS {
        if random.chance(1, 2) {
            let value = random.bits();
            stack.push(value);
            assert_eq!(heights.push(value), model.len());
            model.push(value);
        } else {
            let height = model.len();
            let top = model.pop();
            assert_eq!(stack.pop(), top);
            assert_eq!(heights.pop(), (height, top));
        }
    }
}

#[test]
fn maps() {
    for keys in [2, 20, 300] {
        map_is_right!(LockedMap::new(), keys);
        map_is_right!(LaarmanMap::new(keys as usize), keys);
        map_is_right!(ResizingMap::new(4), keys);
        map_is_right!(ShardedMap::new(), keys);
    }
}

#[test]
#[should_panic(expected = "the map is full: it has room for 3 keys")]
fn a_map_without_resizing_says_when_it_is_full() {
    let map = LaarmanMap::new(3);
    for key in 0..4 {
        map.update(key, 0);
    }
}

#[test]
fn sets() {
    for hash in [Hash::Good, Hash::Bad] {
        set_is_right!(FineGrainedList::new(hash));
        set_is_right!(OptimisticList::new(hash));
        set_is_right!(LazyList::new(hash));
        set_is_right!(LazyList::blind(hash));
        set_is_right!(LockFreeList::new(hash));
        set_is_right!(LazySkiplist::new(hash, lazy_skiplist::Collisions::Scan));
        set_is_right!(LockFreeSkiplist::new(hash, Collisions::Scan));
    }
    set_is_right!(LazySkiplist::new(Hash::Good, lazy_skiplist::Collisions::None));
    set_is_right!(LockFreeSkiplist::new(Hash::Good, Collisions::None));
    set_is_right!(LockFreeSkiplist::new(Hash::Good, Collisions::StepOver));
}

#[test]
fn a_set_that_only_grows() {
    let (set, mut model, mut random) = (SplitOrderedSet::new(), BTreeSet::new(), Random::new(6));
    for _ in 0..OPERATIONS {
        let item = u64::from(random.below(500));
        assert_eq!(set.is_empty(), model.is_empty());
        match random.chance(1, 4) {
            true => assert_eq!(set.insert(item), model.insert(item)),
            false => assert_eq!(set.contains(item), model.contains(&item)),
        }
    }
    assert!(SplitOrderedSet::preloaded(5).contains(5));
}

#[test]
fn registers() {
    for access in [Access::SeqCst, Access::AcquireRelease, Access::Relaxed] {
        let register = Register::new(access);
        assert_eq!(register.read(), 0);
        register.write(7);
        assert_eq!(register.read(), 7);
    }
}

#[test]
fn a_buffered_register_is_right_for_one_process_and_late_for_another() {
    let stores = BufferedRegister::new(2, Buffering::Stores(2));
    stores.write(0, 7);
    assert_eq!((stores.read(0), stores.read(1)), (7, 0));
    stores.read(0);
    assert_eq!(stores.read(1), 7);

    let loads = BufferedRegister::new(2, Buffering::Loads(2));
    assert_eq!(loads.read(1), 0);
    loads.write(0, 7);
    assert_eq!((loads.read(0), loads.read(1), loads.read(1)), (7, 0, 7));

    for buffering in [Buffering::Stores(0), Buffering::Loads(1)] {
        let register = BufferedRegister::new(2, buffering);
        register.write(0, 7);
        assert_eq!(register.read(1), 7);
        register.write(1, 8);
        assert_eq!(register.read(0), 8);
    }
}
