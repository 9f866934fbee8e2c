//! Interning: assigns the numbers 0, 1, 2 and so on to values, keys, results and states, in the
//! order in which they first occur. The code that works with the numbers is compiled only once, and
//! not once for each type.
//!
//! [`Interner`] owns the items that it numbers. [`Numbers`] is for the hot path of monitors, and
//! does not own the items: the caller keeps them in a list, in the order of their numbers. Its
//! table has one word for each number. Half of this word is a part of the hash. The table therefore
//! grows without reading the items, and a lookup compares only items that are most likely equal. If
//! the table does not fit into the caches, each lookup would wait for memory; if a batch of hashes
//! is [touched](Numbers::touch) first, the waits overlap.
//!
//! # Complexity
//! O(1) expected for each lookup.

use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Index;

use hashbrown::HashTable;

use super::search::hash::{self, Near};

/// A table from hashes to the numbers of items that the caller keeps. It is not generic, so it is compiled once.
///
/// Like the table of [`Numbers`], it has a part of the hash beside each number, so that it grows without reading the
/// items, and a lookup compares only items that are most likely equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(HashTable<Entry>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The high half of the hash of the item.
    hash: u32,
    number: u32,
}

impl Entry {
    /// Returns a hash for the table: the lowest bits are the place of the entry, and the highest bits are compared before
    /// entries are read. So entries whose hashes are neighbors are in neighboring places.
    #[inline]
    fn spread(&self) -> u64 {
        let hash = u64::from(self.hash);
        hash.wrapping_mul(hash::K) & !u64::from(u32::MAX) | hash
    }
}

impl Table {
    /// Returns the number that has this hash and for which `is_it` returns `true`.
    #[inline]
    pub(super) fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let sought = Entry { hash: high_half(hash), number: 0 };
        let found = self.0.find(sought.spread(), |entry| entry.hash == sought.hash && is_it(entry.number));
        found.map(|entry| entry.number)
    }

    /// Adds a number that is not in the table yet; `hash` is the hash of its item.
    pub(super) fn insert(&mut self, hash: u64, number: u32) {
        let entry = Entry { hash: high_half(hash), number };
        self.0.insert_unique(entry.spread(), entry, Entry::spread);
    }

    fn bytes(&self) -> usize {
        self.0.allocation_size()
    }
}

/// Numbered items.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    items: Segmented<T>,
    table: Table,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Segmented::default(), table: Table::default() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// Returns the number of `item`, and whether the item is new.
    pub(super) fn intern(&mut self, item: T) -> (u32, bool) {
        let Self { items, table } = self;
        let hash = hash::Builder::default().hash_one(&item);
        if let Some(number) = table.find(hash, |number| items[number] == item) {
            return (number, false);
        }
        let number = u32::try_from(items.len()).expect("memory runs out before 2^32 items");
        items.push(item);
        table.insert(hash, number);
        (number, true)
    }

    /// Returns the number of `item`.
    pub(crate) fn number(&mut self, item: T) -> u32 {
        self.intern(item).0
    }
}

impl<T> Interner<T> {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the size of the items and the table, in bytes. The heap memory of the items is not
    /// included.
    pub(super) fn bytes(&self) -> usize {
        self.items.bytes() + self.table.bytes()
    }
}

impl<T> Index<u32> for Interner<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.items[number]
    }
}

/// A list in segments, which grows without copying and by at most one segment at a time.
#[derive(Clone, Debug)]
pub(super) struct Segmented<T> {
    segments: Vec<Vec<T>>,
    len: usize,
    /// The number of items that the segments can hold.
    capacity: usize,
}

impl<T> Default for Segmented<T> {
    fn default() -> Self {
        Self { segments: Vec::new(), len: 0, capacity: 0 }
    }
}

impl<T> Segmented<T> {
    const SEGMENT: usize = 1 << 10;

    pub(super) fn push(&mut self, value: T) {
        let segment = self.len / Self::SEGMENT;
        if segment == self.segments.len() {
            // The first segment starts empty and grows, because most lists have only a few items.
            self.segments.push(if segment == 0 { Vec::new() } else { Vec::with_capacity(Self::SEGMENT) });
        }
        let segment = &mut self.segments[segment];
        segment.push(value);
        self.len += 1;
        self.capacity = self.capacity.max(self.len - segment.len() + segment.capacity());
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        self.capacity * size_of::<T>()
    }
}

impl<T> Index<u32> for Segmented<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.segments[index as usize / Self::SEGMENT][index as usize % Self::SEGMENT]
    }
}

/// A table from hashes to numbers, with open addressing and linear probing.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// A slot is 0 if it is free; otherwise its high half is a hash and its low half a number plus
    /// 1. At most half of the slots are taken. The number of slots is a power of two, or 0.
    slots: Vec<u64>,
    taken: u32,
}

/// Returns the hash of an item to be numbered; neighboring integers have neighboring hashes.
#[inline]
pub(super) fn hash_of<T: Hash + ?Sized>(value: &T) -> u32 {
    let mut hasher = Near::default();
    value.hash(&mut hasher);
    low_half(hasher.finish())
}

#[expect(clippy::cast_possible_truncation, reason = "the function returns only the low half")]
#[inline]
fn low_half(word: u64) -> u32 {
    word as u32
}

#[inline]
fn high_half(word: u64) -> u32 {
    low_half(word >> 32)
}

impl Numbers {
    /// Returns the number of numbered items.
    pub(super) fn len(&self) -> usize {
        self.taken as usize
    }

    /// Forgets all numbers.
    pub(super) fn clear(&mut self) {
        if self.slots.len() > 64 + 16 * self.len() {
            // Clearing a large table that is nearly empty would cost time in proportion to its size.
            self.slots = Vec::new();
        } else {
            self.slots.fill(0);
        }
        self.taken = 0;
    }

    /// Returns the approximate number of bytes that the table takes.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// Reads the slots of these hashes. The reads do not depend on each other, so their waits for memory overlap.
    #[inline]
    pub(super) fn touch(&self, hashes: &[u32]) {
        if !self.slots.is_empty() {
            let slots = hashes.iter().map(|hash| self.slots[self.place(*hash)]);
            std::hint::black_box(slots.fold(0, |read, slot| read ^ slot));
        }
    }

    /// Returns the number of the item with this hash, or the next number if the item is new. `is_it` returns whether
    /// the item is the one with a given number.
    ///
    /// If the table must grow, it makes room for `expected` items, but for at most 64 times the
    /// number of items that it already holds.
    #[inline]
    pub(super) fn number(&mut self, hash: u32, expected: usize, is_it: impl Fn(usize) -> bool) -> u32 {
        if 2 * (self.len() + 1) > self.slots.len() {
            self.grow(expected);
        }
        let mut place = self.place(hash);
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                let number = self.taken;
                self.taken += 1;
                self.slots[place] = u64::from(hash) << 32 | u64::from(self.taken);
                return number;
            }
            let number = low_half(slot) - 1;
            if slot >> 32 == u64::from(hash) && is_it(number as usize) {
                return number;
            }
            place = (place + 1) & (self.slots.len() - 1);
        }
    }

    #[inline]
    fn place(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    #[cold]
    fn grow(&mut self, expected: usize) {
        let taken = self.len();
        assert!(taken < u32::MAX as usize, "the table is full: its numbers have 32 bits");
        let room = expected.min(64 * taken).max(2 * taken).max(8);
        let old = std::mem::replace(&mut self.slots, vec![0; (2 * room).next_power_of_two()]);
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut place = self.place(low_half(slot >> 32));
            while self.slots[place] != 0 {
                place = (place + 1) & (self.slots.len() - 1);
            }
            self.slots[place] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Numbers these values, and compares the result with that of a map.
    fn agrees_with_a_map(values: impl Iterator<Item = u64>, hash: impl Fn(u64) -> u32, expected: usize) {
        let (mut numbers, mut in_order) = (Numbers::default(), Vec::new());
        let mut model = HashMap::new();
        for value in values {
            let next = u32::try_from(model.len()).unwrap();
            numbers.touch(&[hash(value)]);
            let number = numbers.number(hash(value), expected, |number| in_order[number] == value);
            assert_eq!(number, *model.entry(value).or_insert(next));
            if number == next {
                in_order.push(value);
            }
            assert_eq!(numbers.len(), model.len());
        }
    }

    #[test]
    fn agrees_with_a_map_whatever_the_values_are() {
        let scattered = |value: u64| value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        for expected in [0, 10, 5_000, 1_000_000] {
            agrees_with_a_map((0..10_000).map(|value| value / 2), |value| hash_of(&value), expected);
            agrees_with_a_map((0..10_000).map(|value| value % 77 * 8), |value| hash_of(&value), expected);
            agrees_with_a_map((0..10_000).map(scattered), |value| hash_of(&value), expected);
        }
    }

    #[test]
    fn agrees_with_a_map_when_hashes_collide() {
        agrees_with_a_map((0..2_000).map(|value| value * 7 % 600), |value| u32::try_from(value % 3).unwrap(), 0);
        // All hashes belong at the end of the table, so that probing wraps around to its start.
        agrees_with_a_map((0..2_000).map(|value| value * 7 % 600), |_| u32::MAX, 100);
    }

    #[test]
    fn what_was_cleared_is_new() {
        let mut numbers = Numbers::default();
        for count in [1_000, 10, 10, 0, 500] {
            for value in 0..count {
                assert_eq!(numbers.number(hash_of(&value), 0, |number| number == value as usize), value);
            }
            numbers.clear();
            assert_eq!(numbers.len(), 0);
        }
        assert!(numbers.bytes() > 0);
    }
}
