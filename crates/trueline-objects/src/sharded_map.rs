//! A sharded map whose reads take no lock.
//!
//! Lowe, *Testing for linearizability* (2016), section 8.
//!
//! Each shard has a lock for writers and a table with open addressing. A slot has a status, a key
//! and a datum; a special datum means that the key has no value. To insert a new key, set the key
//! and the datum; then set the status, which publishes all three. To update or delete a key, set its
//! datum in a single store. Readers find the slot and read the datum once. A table that is too full is
//! copied to a larger one, which is then published; the old table no longer changes. A reader that
//! still uses the old table began before the publication, so it may return an old value.
//!
//! The faulty versions store the presence of a key (in the status) separately from its value (in
//! the datum), so that an update takes two stores and a read takes two loads:
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::EarlyStatus`] | update sets the status before the datum: between the two stores, a reader returns the datum that was deleted | `update(k, 1)`, `delete(k)` return; `update(k, 2)` is called; `get(k)` → 1 |
//! | [`Fault::LateStatus`] | update sets the datum before the status: a reader that loaded the status before the delete returns the new datum, and a later reader does not find the key | `update(k, 1)` returns; `get(k)` is called, `delete(k)` returns, `update(k, 2)` is called; the `get(k)` → 2, the next `get(k)` → none |

use std::sync::OnceLock;

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, AtomicUsize, Mutex, MutexGuard};

use crate::hash::Hash;

/// A fault of a map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An update stores the presence of the key (in the status) before it stores the value (in the
    /// datum).
    EarlyStatus,
    /// An update stores the value (in the datum) before it stores the presence of the key (in the
    /// status).
    LateStatus,
}

const EMPTY: u32 = 0;
const STORED: u32 = 1;
/// The status of a deleted key. Only the faulty versions use it.
const DELETED: u32 = 2;

/// The datum that stands for the absent value of a key.
const NONE: u64 = u64::MAX;

#[derive(Debug)]
struct Slot {
    status: AtomicU32,
    key: AtomicU64,
    datum: AtomicU64,
}

#[derive(Debug)]
struct Table {
    slots: Box<[Slot]>,
}

impl Table {
    fn new(capacity: usize) -> Self {
        let slot = |_| Slot { status: AtomicU32::new(EMPTY), key: AtomicU64::new(0), datum: AtomicU64::new(NONE) };
        Self { slots: (0..capacity).map(slot).collect() }
    }

    /// Returns the slot with the key, or the empty slot where the key would be inserted, together with the slot's
    /// status.
    fn find(&self, key: u64) -> (&Slot, u32) {
        let start = (Hash::Good.of(key) >> 8) as usize % self.slots.len();
        for slot in self.slots[start..].iter().chain(&self.slots[..start]) {
            let status = slot.status.load(SeqCst);
            if status == EMPTY || slot.key.load(SeqCst) == key {
                return (slot, status);
            }
        }
        unreachable!("a table is never full");
    }
}

#[derive(Debug)]
struct Shard {
    /// The lock of the writers. It contains the number of slots with a key in the current table.
    used: Mutex<usize>,
    /// The tables, each twice as large as the previous one.
    tables: [OnceLock<Table>; 24],
    /// The index of the current table.
    present: AtomicUsize,
}

impl Shard {
    fn new() -> Self {
        Self { used: Mutex::new(0), tables: [const { OnceLock::new() }; 24], present: AtomicUsize::new(0) }
    }

    fn table(&self) -> &Table {
        let present = self.present.load(SeqCst);
        self.tables[present].get_or_init(|| Table::new(4))
    }
}

/// A sharded map whose reads take no lock.
///
/// ```
/// use trueline_objects::sharded_map::ShardedMap;
///
/// let map = ShardedMap::new();
/// for key in 0..20 {
///     map.update(key, key + 1);
/// }
/// assert_eq!(map.get_or_else_update(7, 0), 8);
/// map.delete(7);
/// assert_eq!(map.get(7), None);
/// ```
#[derive(Debug)]
pub struct ShardedMap {
    shards: [Shard; 2],
    fault: Option<Fault>,
}

impl ShardedMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::faulty(None)
    }

    /// Creates an empty map with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { shards: [Shard::new(), Shard::new()], fault: fault.into() }
    }

    fn shard(&self, key: u64) -> &Shard {
        &self.shards[Hash::Good.of(key) as usize % self.shards.len()]
    }

    /// Returns the value of a key.
    pub fn get(&self, key: u64) -> Option<u64> {
        let (slot, status) = self.shard(key).table().find(key);
        if status != STORED {
            return None;
        }
        let datum = slot.datum.load(SeqCst);
        (datum != NONE).then_some(datum)
    }

    /// Sets the value of a key.
    ///
    /// # Panics
    /// Panics if the value is `u64::MAX`, which represents a missing value.
    pub fn update(&self, key: u64, value: u64) {
        let shard = self.shard(key);
        self.put(shard, &mut shard.used.lock(), key, value);
    }

    /// Sets the value of a key if the key has no value, and returns the value that the key has
    /// afterward.
    ///
    /// # Panics
    /// Panics if the key has no value and `value` is `u64::MAX`, which represents a missing value.
    pub fn get_or_else_update(&self, key: u64, value: u64) -> u64 {
        if let Some(present) = self.get(key) {
            return present;
        }
        let shard = self.shard(key);
        let mut used = shard.used.lock();
        if let Some(present) = self.get(key) {
            return present;
        }
        self.put(shard, &mut used, key, value);
        value
    }

    /// Removes the value of a key, if any.
    pub fn delete(&self, key: u64) {
        let shard = self.shard(key);
        let _writer = shard.used.lock();
        let (slot, status) = shard.table().find(key);
        if status == STORED {
            match self.fault {
                Some(_) => slot.status.store(DELETED, SeqCst),
                None => slot.datum.store(NONE, SeqCst),
            }
        }
    }

    fn put(&self, shard: &Shard, used: &mut MutexGuard<'_, usize>, key: u64, value: u64) {
        assert_ne!(value, NONE, "the value `u64::MAX` is reserved for keys without a value");
        let mut table = shard.table();
        if (**used + 1) * 4 > table.slots.len() * 3 {
            **used = self.grow(shard);
            table = shard.table();
        }
        let (slot, status) = table.find(key);
        if status == EMPTY {
            **used += 1;
            slot.key.store(key, SeqCst);
            slot.datum.store(value, SeqCst);
            slot.status.store(STORED, SeqCst);
            return;
        }
        match self.fault {
            None => slot.datum.store(value, SeqCst),
            Some(Fault::EarlyStatus) => {
                slot.status.store(STORED, SeqCst);
                slot.datum.store(value, SeqCst);
            }
            Some(Fault::LateStatus) => {
                slot.datum.store(value, SeqCst);
                slot.status.store(STORED, SeqCst);
            }
        }
    }

    /// Publishes a larger table with the same entries, and returns the number of entries. The
    /// caller must hold the writers' lock.
    fn grow(&self, shard: &Shard) -> usize {
        let old = shard.table();
        let next = shard.present.load(SeqCst) + 1;
        let new = shard.tables[next].get_or_init(|| Table::new(old.slots.len() * 2));
        let mut used = 0;
        for slot in &old.slots {
            let datum = slot.datum.load(SeqCst);
            if slot.status.load(SeqCst) == STORED && datum != NONE {
                let key = slot.key.load(SeqCst);
                let (free, _) = new.find(key);
                // No other thread can see the new table yet.
                free.key.unscheduled().store(key, SeqCst);
                free.datum.unscheduled().store(datum, SeqCst);
                free.status.unscheduled().store(STORED, SeqCst);
                used += 1;
            }
        }
        shard.present.store(next, SeqCst);
        used
    }
}
