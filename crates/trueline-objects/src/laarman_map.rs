//! A lock-free map with open addressing, after Laarman and others.
//!
//! The table is from A. Laarman, J. van de Pol and M. Weber, *Boosting multi-core reachability performance with shared
//! hash tables* (2010); Lowe, *Testing for linearizability* (2016), section 8, adds update and delete. The table has a
//! fixed size; see [`resizing_map`](crate::resizing_map) for one that grows.
//!
//! A slot has a status, a key that never changes once it is set, and a datum. A thread that changes
//! the status from empty, stored or deleted to *updating* owns the slot until it sets the status to
//! *stored*. Other threads wait in the meantime. A thread that has seen the status *stored* may
//! read a datum that was stored later, which is harmless. Delete changes the status from stored to
//! deleted.
//!
//! | fault | description | example history (figure 7) |
//! |---|---|---|
//! | [`Fault::Delete`] | delete stores *deleted* regardless of the status: a thread that is updating the slot later overwrites this status, and brings back a value that another thread deleted | `update(0, 0)` is called; meanwhile `delete(0)`, `update(0, 2)` and `delete(0)` return; `update(0, 0)` returns; `get(0)` → 2 |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, spin_hint};

use crate::hash::Hash;

/// A fault of a map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Delete stores the status instead of using compare-and-set.
    Delete,
}

pub(crate) const EMPTY: u32 = 0;
pub(crate) const UPDATING: u32 = 1;
pub(crate) const STORED: u32 = 2;
pub(crate) const DELETED: u32 = 3;

/// The value that means "no key". A slot contains this value until its key is stored.
pub(crate) const NO_KEY: u64 = u64::MAX;

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) status: AtomicU32,
    pub(crate) key: AtomicU64,
    pub(crate) datum: AtomicU64,
}

impl Slot {
    /// Creates `count` empty slots.
    pub(crate) fn many(count: usize) -> Box<[Self]> {
        let slot = |_| Self { status: AtomicU32::new(EMPTY), key: AtomicU64::new(NO_KEY), datum: AtomicU64::new(0) };
        (0..count).map(slot).collect()
    }

    /// Waits until a claimed slot has its key, and returns the key.
    pub(crate) fn wait_for_key(&self) -> u64 {
        loop {
            match self.key.load(SeqCst) {
                NO_KEY => spin_hint(),
                key => return key,
            }
        }
    }

    /// Changes the status if it equals `from`, using compare-and-set.
    pub(crate) fn claim(&self, from: u32, to: u32) -> bool {
        self.status.compare_exchange(from, to, SeqCst, SeqCst).is_ok()
    }

    /// Fills a slot that this thread has claimed.
    pub(crate) fn store(&self, value: u64) {
        self.datum.store(value, SeqCst);
        self.status.store(STORED, SeqCst);
    }
}

enum Place<'m> {
    /// The key is not in the table and would be inserted here.
    Vacant(&'m Slot),
    Found(&'m Slot),
}

/// A lock-free map of fixed size.
///
/// ```
/// use trueline_objects::laarman_map::LaarmanMap;
///
/// let map = LaarmanMap::new(8);
/// map.update(1, 10);
/// assert_eq!(map.get_or_else_update(1, 11), 10);
/// map.delete(1);
/// assert_eq!(map.get(1), None);
/// ```
#[derive(Debug)]
pub struct LaarmanMap {
    slots: Box<[Slot]>,
    fault: Option<Fault>,
}

impl LaarmanMap {
    /// Creates an empty map for at most `capacity` different keys, including deleted ones.
    pub fn new(capacity: usize) -> Self {
        Self::faulty(capacity, None)
    }

    /// Creates an empty map with a fault; `None` creates a correct one.
    pub fn faulty(capacity: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { slots: Slot::many(capacity.max(1)), fault: fault.into() }
    }

    fn find(&self, key: u64) -> Place<'_> {
        assert_ne!(key, NO_KEY, "the key `u64::MAX` is reserved for empty slots");
        let start = Hash::Good.of(key) as usize % self.slots.len();
        for slot in self.slots[start..].iter().chain(&self.slots[..start]) {
            if slot.status.load(SeqCst) == EMPTY {
                return Place::Vacant(slot);
            }
            if slot.wait_for_key() == key {
                return Place::Found(slot);
            }
        }
        panic!("the map is full: it has room for {} keys", self.slots.len());
    }

    /// Returns the value of a key.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, or if all slots have other keys.
    pub fn get(&self, key: u64) -> Option<u64> {
        let Place::Found(slot) = self.find(key) else { return None };
        loop {
            match slot.status.load(SeqCst) {
                UPDATING => spin_hint(),
                STORED => return Some(slot.datum.load(SeqCst)),
                _ => return None,
            }
        }
    }

    /// Sets the value of a key.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, or if all slots have other keys.
    pub fn update(&self, key: u64, value: u64) {
        self.store(key, value, false);
    }

    /// Sets the value of a key if the key has no value, and returns the resulting value.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, or if all slots have other keys.
    pub fn get_or_else_update(&self, key: u64, value: u64) -> u64 {
        self.store(key, value, true)
    }

    /// Sets the value of a key, and returns the new value. However, if `keep` is true and the key
    /// already has a value, leaves this value unchanged and returns it.
    fn store(&self, key: u64, value: u64, keep: bool) -> u64 {
        loop {
            match self.find(key) {
                Place::Vacant(slot) => {
                    if slot.claim(EMPTY, UPDATING) {
                        slot.key.store(key, SeqCst);
                        slot.store(value);
                        return value;
                    }
                }
                Place::Found(slot) => match slot.status.load(SeqCst) {
                    UPDATING => spin_hint(),
                    STORED if keep => return slot.datum.load(SeqCst),
                    status => {
                        if slot.claim(status, UPDATING) {
                            slot.store(value);
                            return value;
                        }
                    }
                },
            }
        }
    }

    /// Removes the value of a key, if any.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, or if all slots have other keys.
    pub fn delete(&self, key: u64) {
        let Place::Found(slot) = self.find(key) else { return };
        if self.fault == Some(Fault::Delete) {
            return slot.status.store(DELETED, SeqCst);
        }
        loop {
            match slot.status.load(SeqCst) {
                UPDATING => spin_hint(),
                STORED if !slot.claim(STORED, DELETED) => {}
                _ => return,
            }
        }
    }
}
