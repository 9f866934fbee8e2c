//! Hashing of configurations: a few words, folded by multiplication.

use std::hash::BuildHasherDefault;

use crate::spec::persistent::FoldHasher;

const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// The high and low halves of the product, folded: mixes every bit into every other.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    #[expect(clippy::cast_possible_truncation, reason = "the two halves are wanted")]
    let (low, high) = (product as u64, (product >> 64) as u64);
    low ^ high
}

/// A hash of one word.
#[inline]
pub(crate) fn word(word: u64) -> u64 {
    fold(word ^ K, 0xa076_1d64_78bd_642f)
}

/// A hash of several words, in their order.
#[inline]
pub(crate) fn words(seed: u64, words: &[u64]) -> u64 {
    words.iter().fold(word(seed), |hash, word| fold(hash ^ word, K))
}

/// Builds the hashers of operations, results and states: fast, and the same on every run.
pub(crate) type Builder = BuildHasherDefault<FoldHasher>;
