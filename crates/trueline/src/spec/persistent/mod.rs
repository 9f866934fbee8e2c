//! States that share their common parts.
//!
//! A checker keeps many states of one object, each a step away from another. The types here are immutable: an update
//! returns a new value that shares almost everything with the old one, so the cost of a step does not grow with the
//! size of the state.
//!
//! - [`Chain`]: a list that grows and shrinks at its newest end, and also shrinks at its oldest end
//!   (stacks, queues, logs).
//! - [`DoubleEnded`]: a list that grows and shrinks at both ends.
//! - [`Trie`]: a map; with values `()`, a set.
//! - [`Treap`]: a map that is sorted by its keys (priority queues).
//! - [`Text`]: a text that grows at its end.
//!
//! All of them maintain a 64-bit hash of their contents. [`Hash`] writes only this hash (and the
//! length). Two values are compared element by element only if their hashes and lengths agree, and
//! only up to the first part that they share. Equal contents have equal hashes, no matter which
//! updates created them.
//!
//! The hash function is fixed ([`FoldHasher`]): hashes are the same in each run. So everything that depends on them,
//! such as the iteration order of a [`Trie`], is the same in each run, too.

mod chain;
mod double_ended;
mod polynomial;
mod text;
mod treap;
mod trie;

use std::fmt::Debug;
use std::hash::{Hash, Hasher};

pub use chain::Chain;
pub use double_ended::DoubleEnded;
pub use text::Text;
pub use treap::Treap;
pub use trie::Trie;

/// The approximate overhead of an allocation: the header of the allocator, and the rounding up to its next size class.
const ALLOCATOR_OVERHEAD: usize = 16;

/// The size of the two counters in front of the contents of an `Arc`.
const ARC_HEADER: usize = 2 * size_of::<usize>();

/// A small, fast and fixed hash function by folded multiplication.
///
/// Each word is combined with the state by exclusive or, the result is multiplied by an odd constant, and the two
/// halves of the 128-bit product are folded together: the high half depends on bits that do not affect the low half,
/// and the other way around. There is no random seed, so equal values have equal hashes in every run. Therefore, an
/// adversary who chooses the values can choose collisions, but here these cost only time and never cause a wrong
/// answer.
///
/// ```
/// use std::hash::{Hash, Hasher};
/// use trueline::spec::persistent::FoldHasher;
///
/// let hash = |text: &str| {
///     let mut hasher = FoldHasher::default();
///     text.hash(&mut hasher);
///     hasher.finish()
/// };
/// assert_eq!(hash("line"), hash("line"));
/// assert_ne!(hash("line"), hash("lime"));
/// ```
#[derive(Clone, Debug)]
pub struct FoldHasher {
    state: u64,
}

/// Odd constants without a pattern: the fractional parts of the square roots of 2 (with the lowest bit set), 3 and 5.
const START: u64 = 0x6A09_E667_F3BC_C909;
const STEP: u64 = 0xBB67_AE85_84CA_A73B;
const FINISH: u64 = 0x3C6E_F372_FE94_F82B;

/// Returns the full product of two words, folded to one word.
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    // The cast takes the low half intentionally.
    (product as u64) ^ ((product >> 64) as u64)
}

impl Default for FoldHasher {
    fn default() -> Self {
        Self { state: START }
    }
}

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        // This is a second round, because after only one round, the hashes of adjacent small integers still differ by a
        // constant in the low half.
        fold(self.state ^ START, FINISH)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let mut buffer = [0; 8];
            buffer.copy_from_slice(word);
            self.write_u64(u64::from_le_bytes(buffer));
        }
        let rest = words.remainder();
        if !rest.is_empty() {
            // At most 7 bytes remain, so the last byte can hold their number: "a" and "a\0" must differ.
            let length = (rest.len() as u64) << 56;
            self.write_u64(rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)) | length);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.state = fold(self.state ^ value, STEP).wrapping_add(START);
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

/// Returns the hash of one value by [`FoldHasher`].
pub fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = FoldHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns the descriptions of elements in an order that does not depend on hashes: shorter descriptions first, so
/// numbers are in ascending order.
pub(super) fn in_reading_order<T: Debug>(elements: impl Iterator<Item = T>) -> Vec<String> {
    let mut descriptions: Vec<String> = elements.map(|element| format!("{element:?}")).collect();
    descriptions.sort_by(|left, right| left.len().cmp(&right.len()).then_with(|| left.cmp(right)));
    descriptions
}

/// Formats the entries of a map, in the order of their descriptions.
pub(super) fn describe_map<'map, K: Debug + 'map, V: Debug + 'map>(
    entries: impl Iterator<Item = (&'map K, &'map V)>,
) -> String {
    format!("{{{}}}", in_reading_order(entries.map(|(key, value)| DescribedEntry(key, value))).join(", "))
}

/// An entry, formatted as `Debug` formats the entries of maps.
struct DescribedEntry<'map, K, V>(&'map K, &'map V);

impl<K: Debug, V: Debug> Debug for DescribedEntry<'_, K, V> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}: {:?}", self.0, self.1)
    }
}

#[cfg(test)]
pub(super) mod testing {
    /// A random number generator that is good enough for tests: xorshift with a final multiplication.
    pub(crate) struct Random(u64);

    impl Random {
        pub(crate) fn new(seed: u64) -> Self {
            Self(seed | 1)
        }

        pub(crate) fn next(&mut self) -> u64 {
            self.0 ^= self.0 >> 12;
            self.0 ^= self.0 << 25;
            self.0 ^= self.0 >> 27;
            self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
        }

        /// Returns a number from 0 to `end - 1`.
        pub(crate) fn below(&mut self, end: usize) -> usize {
            ((self.next() >> 33) as usize) % end
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn states_may_be_shared_by_threads() {
        fn is_send_and_sync<T: Send + Sync>() {}
        is_send_and_sync::<Chain<String>>();
        is_send_and_sync::<DoubleEnded<String>>();
        is_send_and_sync::<Trie<String, String>>();
        is_send_and_sync::<Treap<String, String>>();
        is_send_and_sync::<Text>();
    }

    #[test]
    fn small_integers_are_spread_over_the_high_bits() {
        // A trie branches by the highest bits first, so each value of the highest 4 bits should
        // occur about equally often.
        let mut counts = [0_usize; 16];
        for value in 0..16_000_u64 {
            counts[(hash_of(&value) >> 60) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (800..1200).contains(&count)), "{counts:?}");
    }

    #[test]
    fn no_collisions_among_a_million_small_values() {
        let mut seen = HashSet::new();
        for value in 0..1_000_000_u64 {
            assert!(seen.insert(hash_of(&value)), "{value}");
        }
    }

    #[test]
    fn lengths_and_order_matter() {
        assert_ne!(hash_of("a"), hash_of("a\0"));
        assert_ne!(hash_of(""), hash_of("\0"));
        assert_ne!(hash_of(&(1_u64, 2_u64)), hash_of(&(2_u64, 1_u64)));
        assert_ne!(hash_of(&[0_u8; 8][..]), hash_of(&[0_u8; 16][..]));
        assert_ne!(hash_of(&[0_u8; 7][..]), hash_of(&[0_u8; 8][..]));
    }

    #[test]
    fn reading_order_is_that_of_numbers() {
        assert_eq!(in_reading_order([10, 9, 100, 1].iter()), ["1", "9", "10", "100"]);
    }
}
