//! Interning of the operations and the results of a history, while the history is read.
//!
//! Most operations of a long history are new: each write has a value of its own, usually the next number of a counter.
//! To look up an item in a table that does not fit into the caches means to wait for memory. [`HistoryInterner`] avoids
//! most of this waiting in two ways:
//!
//! - It keeps upper bounds of the integers in the items. An item with an integer above its bound is new, so it is not
//!   looked up. It is not entered into the table either, until an item with the same bound must be looked up.
//! - Items that differ only in neighboring integers have neighboring places in the table. Reads return values that were
//!   written recently, so the places that are accessed are in the caches.
//!
//! # Complexity
//! O(1) expected for each lookup, amortized over the items that it enters into the table.

use std::hash::{Hash, Hasher};
use std::ops::Index;
use std::sync::OnceLock;

use super::interner::{Segmented, Table};
use super::search::hash;
use crate::spec::persistent::FoldHasher;

/// The number of bounds. Items that differ in more than their integers, such as writes of different keys, mostly have
/// different bounds, because their integers may be the numbers of different counters.
const BOUNDS: usize = 1 << 11;

/// The number of items from which on there are bounds. Most lists of items are shorter.
const MANY: usize = 64;

/// Numbers the items of a history: 0, 1, 2 and so on, in the order in which they first occur. Equal items have the same
/// number.
#[derive(Debug)]
pub(crate) struct HistoryInterner<T> {
    items: Segmented<T>,
    /// The number of an item without an integer that was numbered recently. Most items without integers are equal, such
    /// as the results of writes.
    recent: Option<u32>,
    /// The numbers of the items. Some items are not listed here: each of them has an integer, and its number is at least
    /// `listed`.
    table: Table,
    listed: u32,
    /// The bounds, by class. Empty until there are [`MANY`] items.
    bounds: Vec<Bound>,
    /// The numbers of the items from `listed` on. This table is made only if it is needed after the history was read.
    unlisted: OnceLock<Table>,
}

/// A bound of all items whose class selects it.
#[derive(Clone, Copy, Debug)]
struct Bound {
    /// At least the largest integer of these items.
    int: i64,
    /// All of these items whose number is at least `end` are listed.
    end: u32,
}

impl<T> Default for HistoryInterner<T> {
    fn default() -> Self {
        Self {
            items: Segmented::default(),
            recent: None,
            table: Table::default(),
            listed: 0,
            bounds: Vec::new(),
            unlisted: OnceLock::new(),
        }
    }
}

impl<T: Eq + Hash> HistoryInterner<T> {
    /// Returns the number of `item`.
    pub(crate) fn number(&mut self, item: T) -> u32 {
        if let Some(recent) = self.recent.filter(|recent| self.items[*recent] == item) {
            return recent;
        }
        let digest = Digest::of(&item);
        if let Some(int) = digest.int {
            if self.is_above_bound(digest.class(), int) {
                return self.push(item);
            }
        }
        let (items, hash) = (&self.items, digest.hash());
        let number = self.table.find(hash, |number| items[number] == item).unwrap_or_else(|| {
            let number = self.push(item);
            self.table.insert(hash, number);
            self.listed += u32::from(self.listed == number);
            number
        });
        if digest.int.is_none() {
            self.recent = Some(number);
        }
        number
    }

    /// Returns the number of `item`, if it has one.
    pub(crate) fn find(&self, item: &T) -> Option<u32> {
        let digest = Digest::of(item);
        let (hash, is_it) = (digest.hash(), |number: u32| self.items[number] == *item);
        let listed = self.table.find(hash, is_it);
        if listed.is_some() || digest.int.is_none() {
            return listed;
        }
        let unlisted = self.unlisted.get_or_init(|| {
            let mut table = Table::default();
            for number in self.listed..self.next() {
                table.insert(Digest::of(&self.items[number]).hash(), number);
            }
            table
        });
        unlisted.find(hash, is_it)
    }

    /// Returns whether the class has only lower integers than `int`, and raises the bound of the class to `int`. If the
    /// answer is false, all items of the class are listed; otherwise, the next item need not be listed.
    #[inline]
    fn is_above_bound(&mut self, class: u64, int: i64) -> bool {
        let next = self.next();
        if self.bounds.is_empty() {
            if self.len() < MANY {
                return false;
            }
            self.make_bounds();
        }
        #[expect(clippy::cast_possible_truncation, reason = "any bits of the class select a bound")]
        let bound = &mut self.bounds[class as usize % BOUNDS];
        if int > bound.int {
            *bound = Bound { int, end: next + 1 };
            return true;
        }
        if bound.end > self.listed {
            self.list_all();
        }
        false
    }

    #[cold]
    fn make_bounds(&mut self) {
        let ints = (0..self.next()).filter_map(|number| Digest::of(&self.items[number]).int);
        self.bounds = vec![Bound { int: ints.max().unwrap_or(i64::MIN), end: 0 }; BOUNDS];
    }

    /// Lists all items.
    fn list_all(&mut self) {
        let table = &mut self.table;
        for number in self.listed..u32::try_from(self.items.len()).expect("memory runs out before 2^32 items") {
            let digest = Digest::of(&self.items[number]);
            let hash = digest.hash();
            if digest.int.is_some() && table.find(hash, |other| other == number).is_none() {
                table.insert(hash, number);
            }
        }
        self.listed = self.next();
    }

    fn push(&mut self, item: T) -> u32 {
        let number = self.next();
        self.items.push(item);
        self.unlisted.take();
        number
    }
}

impl<T> HistoryInterner<T> {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns the number of the next new item.
    fn next(&self) -> u32 {
        u32::try_from(self.len()).expect("memory runs out before 2^32 items")
    }
}

impl<T> Index<u32> for HistoryInterner<T> {
    type Output = T;

    #[inline]
    fn index(&self, number: u32) -> &T {
        &self.items[number]
    }
}

/// The hash of an item in two parts. Equal items have equal digests.
#[derive(Default)]
struct Digest {
    /// The hash of everything except `int`.
    rest: FoldHasher,
    /// The last 64-bit integer in the item: usually the value that is written or returned.
    int: Option<i64>,
}

impl Digest {
    #[inline]
    fn of<T: Hash>(item: &T) -> Self {
        let mut digest = Self::default();
        item.hash(&mut digest);
        digest
    }

    #[inline]
    fn class(&self) -> u64 {
        self.rest.finish()
    }

    /// Returns the hash for [`Table`], which uses the high half. If there is an integer, its lowest three bits are the
    /// lowest bits of that half, and the other bits are mixed with the class.
    #[inline]
    fn hash(&self) -> u64 {
        match self.int {
            None => self.class(),
            Some(int) => {
                let group = hash::word(self.class() ^ (int >> 3) as u64);
                group << 35 | (int as u64 & 7) << 32
            }
        }
    }
}

impl Hasher for Digest {
    fn finish(&self) -> u64 {
        self.hash()
    }

    #[inline]
    fn write_i64(&mut self, int: i64) {
        if let Some(earlier) = self.int.replace(int) {
            self.rest.write_i64(earlier);
        }
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.rest.write(bytes);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.rest.write_u8(value);
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.rest.write_u16(value);
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.rest.write_u32(value);
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.rest.write_u64(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.rest.write_usize(value);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::drive::Random;
    use crate::history::Value;

    type Item = (u8, Value, Value);

    /// Numbers these items, and compares the numbers with those of a map, also after reading.
    fn compare_with_a_map(items: impl Iterator<Item = Item>, absent: &[Item]) {
        let mut numbers = HistoryInterner::default();
        let mut model: HashMap<Item, u32> = HashMap::new();
        for (at, item) in items.enumerate() {
            let next = u32::try_from(model.len()).unwrap();
            let expected = *model.entry(item.clone()).or_insert(next);
            assert_eq!(numbers.number(item.clone()), expected, "{item:?}");
            assert_eq!(numbers[expected], item);
            assert_eq!(numbers.len(), model.len());
            if at % 97 == 0 {
                assert_eq!(numbers.find(&item), Some(expected), "{item:?}");
            }
        }
        for number in 0..u32::try_from(model.len()).unwrap() {
            assert_eq!(numbers.find(&numbers[number]), Some(number), "{:?}", numbers[number]);
        }
        for item in absent.iter().filter(|item| !model.contains_key(*item)) {
            assert_eq!(numbers.find(item), None, "{item:?}");
        }
    }

    #[test]
    fn agrees_with_a_map() {
        let kinds: [fn(&mut Random, i64) -> Value; 7] = [
            |_, at| at.into(),
            |random, at| (at - i64::from(random.below(5))).into(),
            |random, _| i64::from(random.below(300)).into(),
            |random, _| [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX][random.below(5) as usize].into(),
            |random, at| [Value::Int(at), i64::from(random.below(3)).into()].into_iter().collect(),
            |random, _| if random.chance(1, 2) { Value::Null } else { Value::from("1") },
            |_, at| (-at).into(),
        ];
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let some: Vec<_> = (0..=random.below(2)).map(|_| kinds[random.below(7) as usize]).collect();
            let (keys, bools) = (1 + random.below(20), random.below(3));
            let items: Vec<Item> = (0..i64::from(1 + random.below(2_000)))
                .map(|at| {
                    let key = i64::from(random.below(keys));
                    let key = if random.below(3) < bools { Value::from(&*key.to_string()) } else { key.into() };
                    let make = some[random.below(u32::try_from(some.len()).unwrap()) as usize];
                    (u8::from(random.chance(1, 3)), key, make(&mut random, at))
                })
                .collect();
            let absent: Vec<Item> =
                items.iter().map(|(kind, key, value)| (kind + 1, key.clone(), value.clone())).collect();
            compare_with_a_map(items.into_iter(), &absent);
        }
    }

    #[test]
    fn items_that_count_up_are_entered_only_if_they_are_looked_up() {
        let mut numbers = HistoryInterner::default();
        let count = 10 * i64::try_from(MANY).unwrap();
        for int in 0..count {
            numbers.number(("key", int));
            numbers.number(("other", int));
        }
        for int in 0..10 {
            numbers.number(("low", int));
        }
        assert!((numbers.listed as usize) < 2 * MANY, "{}", numbers.listed);
        assert_eq!(numbers.number(("key", 5)), 10);
        assert_eq!(numbers.listed as usize, numbers.len());
    }
}
