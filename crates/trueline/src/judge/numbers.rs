//! Numbering: values and keys become the numbers 0, 1, 2 and so on, in the order in which they are first met.
//!
//! What is numbered stays with the owner of a table, in the order of its numbers. The table itself has but a word for
//! each, and half of the hash in it, so that it grows without a look at what is numbered, and compares only what is most
//! likely equal. Where it does not fit the caches, each look would wait for memory: a batch of hashes that is
//! [touched](Numbers::touch) first waits once.
//!
//! # Complexity
//! O(1) for each look, as expected of hashes.

use std::hash::{Hash, Hasher};

use super::search::hash::Near;

/// A table from hashes to numbers: open addressing, and the next slot if one is taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbers {
    /// 0 if the slot is free; otherwise a hash in the high half, and a number plus 1 in the low one. At most half of the
    /// slots are taken, and there are 2^k of them, or none.
    slots: Vec<u64>,
    taken: u32,
}

/// The hash of what is to be numbered: neighbouring numbers have neighbouring hashes.
#[inline]
pub(super) fn hash_of<T: Hash + ?Sized>(value: &T) -> u32 {
    let mut hasher = Near::default();
    value.hash(&mut hasher);
    low_half(hasher.finish())
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
#[inline]
fn low_half(word: u64) -> u32 {
    word as u32
}

impl Numbers {
    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        self.taken as usize
    }

    /// Forgets all numbers.
    pub(super) fn clear(&mut self) {
        if self.slots.len() > 64 + 16 * self.len() {
            // What once was large costs its size to clear.
            self.slots = Vec::new();
        } else {
            self.slots.fill(0);
        }
        self.taken = 0;
    }

    /// About the bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>()
    }

    /// Reads where these hashes belong. The reads do not depend on each other, so they wait for memory together.
    #[inline]
    pub(super) fn touch(&self, hashes: &[u32]) {
        if !self.slots.is_empty() {
            let slots = hashes.iter().map(|hash| self.slots[self.place(*hash)]);
            std::hint::black_box(slots.fold(0, |read, slot| read ^ slot));
        }
    }

    /// The number of something with this hash; the next one if it is new. `is_it` says whether it is what has some number.
    ///
    /// If the table must grow, it grows to what is `expected`, at most 64 times.
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
        assert!(taken < u32::MAX as usize, "numbers have 32 bits");
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

    /// Numbers these, and compares with a map.
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
        // All of them at the end of the table, so that it goes on at its start.
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
