//! A lock-free map that uses open addressing and can grow.
//!
//! Lowe, *Testing for linearizability* (2016), section 8: the table of [`laarman_map`](crate::laarman_map) with
//! resizing.
//!
//! When a table is too full for a new key, a table of twice the size is created, the *next* table,
//! and all slots are moved to the next table. An empty slot is closed, so that no thread puts a key
//! into it. A slot whose key was deleted is marked as moved, but not copied. A slot with a value is
//! owned by the thread that moves it (its status is *updating*) while its key and datum are copied.
//! Operations that find a moved or closed slot continue in the next table. If a thread is about to
//! insert a key into a table that already has a next table, it first moves all slots to the next
//! table and continues there, so a key is never stored in two tables.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::Migrate`] | a slot with a value is copied without being owned, then marked as moved: an update in between is lost | `update(k, 1)` and `update(k, 2)` return while another operation inserts a key; then `get(k)` → 1 |

use std::sync::OnceLock;

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicUsize, spin_hint};

use crate::hash::Hash;
use crate::laarman_map::{DELETED, EMPTY, NO_KEY, STORED, Slot, UPDATING};

/// A fault of a map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A slot with a value is copied by a thread that does not own it.
    Migrate,
}

/// The status of a slot that had a key: operations continue in the next table.
const MOVED: u32 = 4;
/// The status of a slot that never had a key and never will have one: operations continue in the
/// next table.
const CLOSED: u32 = 5;

#[derive(Debug)]
struct Table {
    slots: Box<[Slot]>,
    /// The number of slots with a key.
    used: AtomicUsize,
    /// Whether there is a next table.
    has_next: AtomicBool,
}

enum Place<'m> {
    /// The key is not in this table and would be inserted here.
    Vacant(&'m Slot),
    Found(&'m Slot),
    /// The key is not in this table and never will be.
    Closed,
    /// Every slot has a key, but none has this key.
    Full,
}

impl Table {
    fn new(capacity: usize) -> Self {
        Self { slots: Slot::many(capacity), used: AtomicUsize::new(0), has_next: AtomicBool::new(false) }
    }

    fn find(&self, key: u64) -> Place<'_> {
        let start = Hash::Good.of(key) as usize % self.slots.len();
        for slot in self.slots[start..].iter().chain(&self.slots[..start]) {
            match slot.status.load(SeqCst) {
                EMPTY => return Place::Vacant(slot),
                CLOSED => return Place::Closed,
                _ => {}
            }
            if slot.wait_for_key() == key {
                return Place::Found(slot);
            }
        }
        Place::Full
    }

    /// Returns whether one more key would make the table more than three quarters full.
    fn is_crowded(&self) -> bool {
        (self.used.load(SeqCst) + 1) * 4 > self.slots.len() * 3
    }
}

/// A lock-free map that can grow.
///
/// ```
/// use trueline_objects::resizing_map::ResizingMap;
///
/// let map = ResizingMap::new(4);
/// for key in 0..20 {
///     map.update(key, key + 1);
/// }
/// assert_eq!(map.get_or_else_update(7, 0), 8);
/// map.delete(7);
/// assert_eq!(map.get(7), None);
/// ```
#[derive(Debug)]
pub struct ResizingMap {
    /// The tables, each twice as large as the previous one. They live as long as the map, so that a thread that still
    /// uses an old table finds its way to the current one.
    tables: [OnceLock<Table>; 24],
    /// The number of the table in which operations start. All earlier tables have been moved.
    root: AtomicUsize,
    capacity: usize,
    fault: Option<Fault>,
}

impl ResizingMap {
    /// Creates an empty map that initially has `capacity` slots. A capacity below 2 is treated as
    /// 2.
    pub fn new(capacity: usize) -> Self {
        Self::faulty(capacity, None)
    }

    /// Creates an empty map with a fault; `None` creates a correct one.
    pub fn faulty(capacity: usize, fault: impl Into<Option<Fault>>) -> Self {
        let capacity = capacity.max(2);
        let map =
            Self { tables: [const { OnceLock::new() }; 24], root: AtomicUsize::new(0), capacity, fault: fault.into() };
        map.tables[0].get_or_init(|| Table::new(capacity));
        map
    }

    fn table(&self, number: usize) -> &Table {
        self.tables[number].get().expect("operations use only tables that have been created")
    }

    /// Returns the value of a key.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, which stands for no key.
    pub fn get(&self, key: u64) -> Option<u64> {
        assert_ne!(key, NO_KEY, "the key `u64::MAX` is reserved for empty slots");
        let mut number = self.root.load(SeqCst);
        loop {
            match self.table(number).find(key) {
                // No later table contains the key, because a thread that inserts the key into a
                // later table first closes this slot. So the key is absent.
                Place::Vacant(_) => return None,
                Place::Closed => number += 1,
                Place::Full => match self.table(number).has_next.load(SeqCst) {
                    true => number += 1,
                    false => return None,
                },
                Place::Found(slot) => match slot.status.load(SeqCst) {
                    UPDATING => spin_hint(),
                    STORED => return Some(slot.datum.load(SeqCst)),
                    MOVED => number += 1,
                    _ => return None,
                },
            }
        }
    }

    /// Sets the value of a key.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, which stands for no key.
    pub fn update(&self, key: u64, value: u64) {
        self.store(self.root.load(SeqCst), key, value, false);
    }

    /// Sets the value of a key if the key has no value, and returns the resulting value.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, which stands for no key.
    pub fn get_or_else_update(&self, key: u64, value: u64) -> u64 {
        self.store(self.root.load(SeqCst), key, value, true)
    }

    /// Sets the value of a key, in this table or in a later one, and returns the value. If `keep`
    /// is set and the key already has a value, returns that value instead.
    fn store(&self, mut number: usize, key: u64, value: u64, keep: bool) -> u64 {
        assert_ne!(key, NO_KEY, "the key `u64::MAX` is reserved for empty slots");
        loop {
            let table = self.table(number);
            match table.find(key) {
                Place::Found(slot) => match slot.status.load(SeqCst) {
                    UPDATING => spin_hint(),
                    MOVED => number += 1,
                    STORED if keep => return slot.datum.load(SeqCst),
                    status => {
                        if slot.claim(status, UPDATING) {
                            slot.store(value);
                            return value;
                        }
                    }
                },
                Place::Vacant(slot) if !table.has_next.load(SeqCst) && !table.is_crowded() => {
                    if slot.claim(EMPTY, UPDATING) {
                        table.used.fetch_add(1, SeqCst);
                        slot.key.store(key, SeqCst);
                        slot.store(value);
                        return value;
                    }
                }
                Place::Vacant(_) | Place::Full => {
                    self.migrate(number);
                    number += 1;
                }
                Place::Closed => number += 1,
            }
        }
    }

    /// Removes the value of a key, if any.
    ///
    /// # Panics
    /// Panics if the key is `u64::MAX`, which stands for no key.
    pub fn delete(&self, key: u64) {
        assert_ne!(key, NO_KEY, "the key `u64::MAX` is reserved for empty slots");
        let mut number = self.root.load(SeqCst);
        loop {
            match self.table(number).find(key) {
                Place::Vacant(_) => return,
                Place::Closed => number += 1,
                Place::Full => match self.table(number).has_next.load(SeqCst) {
                    true => number += 1,
                    false => return,
                },
                Place::Found(slot) => match slot.status.load(SeqCst) {
                    UPDATING => spin_hint(),
                    STORED if slot.claim(STORED, DELETED) => return,
                    STORED => {}
                    MOVED => number += 1,
                    _ => return,
                },
            }
        }
    }

    /// Moves all slots of a table to the next table. Creates the next table if it does not exist.
    fn migrate(&self, number: usize) {
        let table = self.table(number);
        self.tables[number + 1].get_or_init(|| Table::new(self.capacity << (number + 1)));
        table.has_next.store(true, SeqCst);
        for slot in &table.slots {
            self.migrate_slot(slot, number + 1);
        }
        // If this compare-and-set fails, another thread has advanced the root, or the root is still
        // at an earlier table. Both are harmless, because operations continue from moved tables to
        // later ones.
        let _ = self.root.compare_exchange(number, number + 1, SeqCst, SeqCst);
    }

    fn migrate_slot(&self, slot: &Slot, next: usize) {
        loop {
            let done = match slot.status.load(SeqCst) {
                EMPTY => slot.claim(EMPTY, CLOSED),
                DELETED => slot.claim(DELETED, MOVED),
                // This is the fault: an update that takes place at this point is not copied, but
                // its slot is marked as moved nevertheless.
                STORED if self.fault == Some(Fault::Migrate) || slot.claim(STORED, UPDATING) => {
                    self.store(next, slot.key.load(SeqCst), slot.datum.load(SeqCst), true);
                    slot.status.store(MOVED, SeqCst);
                    true
                }
                MOVED | CLOSED => true,
                UPDATING => {
                    spin_hint();
                    false
                }
                _ => false,
            };
            if done {
                return;
            }
        }
    }
}
