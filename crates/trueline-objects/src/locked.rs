//! Correct baselines that are protected by one or more locks.
//!
//! Lowe, *Testing for linearizability* (2016), uses such objects alongside the lock-free ones: [`LockedQueue`], a
//! bounded queue, and [`LockedMap`], a map split into shards. [`LockedHeightStack`] is the stack of Horn and Kroening,
//! *Faster linearizability checking via P-compositionality* (2015), example 9, whose operations also return the
//! previous height of the stack.

use std::collections::{BTreeMap, VecDeque};

use trueline::primitives::Mutex;

use crate::hash::Hash;

/// A bounded queue.
///
/// ```
/// use trueline_objects::locked::LockedQueue;
///
/// let queue = LockedQueue::new(1);
/// assert!(queue.enqueue(1));
/// assert!(!queue.enqueue(2));
/// assert_eq!(queue.dequeue(), Some(1));
/// ```
#[derive(Debug)]
pub struct LockedQueue {
    capacity: usize,
    values: Mutex<VecDeque<u64>>,
}

impl LockedQueue {
    /// Creates an empty queue with room for `capacity` values.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, values: Mutex::new(VecDeque::with_capacity(capacity)) }
    }

    /// Adds a value at the end; returns `false` if the queue is full.
    pub fn enqueue(&self, value: u64) -> bool {
        let mut values = self.values.lock();
        let room = values.len() < self.capacity;
        if room {
            values.push_back(value);
        }
        room
    }

    /// Removes and returns the value at the front, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        self.values.lock().pop_front()
    }
}

/// A map split into shards, each with its own lock.
///
/// ```
/// use trueline_objects::locked::LockedMap;
///
/// let map = LockedMap::new();
/// map.update(1, 10);
/// assert_eq!(map.get_or_else_update(1, 11), 10);
/// map.delete(1);
/// assert_eq!(map.get(1), None);
/// ```
#[derive(Default, Debug)]
pub struct LockedMap {
    shards: [Mutex<BTreeMap<u64, u64>>; 4],
}

impl LockedMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    fn shard(&self, key: u64) -> &Mutex<BTreeMap<u64, u64>> {
        &self.shards[Hash::Good.of(key) as usize % self.shards.len()]
    }

    /// Returns the value of a key.
    pub fn get(&self, key: u64) -> Option<u64> {
        self.shard(key).lock().get(&key).copied()
    }

    /// Sets the value of a key.
    pub fn update(&self, key: u64, value: u64) {
        self.shard(key).lock().insert(key, value);
    }

    /// Sets the value of a key if the key has no value, and returns the resulting value.
    pub fn get_or_else_update(&self, key: u64, value: u64) -> u64 {
        *self.shard(key).lock().entry(key).or_insert(value)
    }

    /// Removes the value of a key, if any.
    pub fn delete(&self, key: u64) {
        self.shard(key).lock().remove(&key);
    }
}

/// A stack whose operations also return the previous height of the stack.
///
/// ```
/// use trueline_objects::locked::LockedHeightStack;
///
/// let stack = LockedHeightStack::new();
/// assert_eq!(stack.push(5), 0);
/// assert_eq!(stack.pop(), (1, Some(5)));
/// assert_eq!(stack.pop(), (0, None));
/// ```
#[derive(Default, Debug)]
pub struct LockedHeightStack {
    values: Mutex<Vec<u64>>,
}

impl LockedHeightStack {
    /// Creates an empty stack.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value on top, and returns the previous height.
    pub fn push(&self, value: u64) -> usize {
        let mut values = self.values.lock();
        values.push(value);
        values.len() - 1
    }

    /// Removes the value on top, and returns the previous height and the value; returns 0 and `None` if the stack is
    /// empty.
    pub fn pop(&self) -> (usize, Option<u64>) {
        let mut values = self.values.lock();
        (values.len(), values.pop())
    }
}
