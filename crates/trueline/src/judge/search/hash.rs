//! Hashes configurations. A configuration consists of a few words, which are combined by
//! multiplication.

use std::hash::BuildHasherDefault;

use crate::spec::persistent::FoldHasher;

/// An odd constant without a pattern: 2^64 divided by the golden ratio.
pub(crate) const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplies two words, and combines the high half of the product with the low half, so that every
/// bit affects every other bit.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the halves are used separately")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// Returns a hash of one word.
#[inline]
pub(crate) fn word(word: u64) -> u64 {
    fold(word ^ K, 0xa076_1d64_78bd_642f)
}

/// Returns a hash of several words, in their order.
#[inline]
pub(crate) fn words(seed: u64, words: &[u64]) -> u64 {
    words.iter().fold(word(seed), |hash, word| fold(hash ^ word, K))
}

/// Builds the hashers for operations, results and states. They are fast, and return the same hashes in every run.
pub(crate) type Builder = BuildHasherDefault<FoldHasher>;

/// A hasher for tables of values that are mostly consecutive numbers.
///
/// The hasher puts eight neighboring numbers into neighboring places of a table. If the values are
/// numbers that count up, as unique values usually do, a table that does not fit into the caches is
/// then accessed nearly sequentially rather than at random.
///
/// The last word, without its lowest three bits, is mixed with the words before it; these three
/// bits become the lowest bits of the hash. Collisions only cost time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Near {
    before: u64,
    last: u64,
}

impl std::hash::Hasher for Near {
    #[inline]
    fn finish(&self) -> u64 {
        let mixed = word(self.before ^ (self.last >> 3));
        (fold(mixed, K) & !7) | (self.last & 7)
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        if (self.before | self.last) != 0 {
            self.before = fold(self.before ^ self.last ^ K, 0xa076_1d64_78bd_642f);
        }
        self.last = value;
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut hasher = FoldHasher::default();
        std::hash::Hasher::write(&mut hasher, bytes);
        self.write_u64(std::hash::Hasher::finish(&hasher));
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
