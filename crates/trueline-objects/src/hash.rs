//! Hashes that are good, and hashes that are bad on purpose.

use std::sync::atomic::{AtomicU64, Ordering};

/// By what the nodes of a set are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hash {
    /// No two items have the same hash.
    Good,
    /// There are two hashes only, so that many items collide: what the papers call a bad hash.
    Bad,
}

impl Hash {
    /// The hash of an item.
    ///
    /// ```
    /// use trueline_objects::hash::Hash;
    ///
    /// assert_ne!(Hash::Good.of(1), Hash::Good.of(3));
    /// assert_eq!(Hash::Bad.of(1), Hash::Bad.of(3));
    /// ```
    pub fn of(self, item: u64) -> u64 {
        match self {
            // Multiplication by an odd number and shifting down onto itself can both be undone.
            Self::Good => {
                let mixed = (item ^ (item >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed ^ (mixed >> 29)
            }
            Self::Bad => item & 1,
        }
    }
}

/// An item and its hash, in a node: set before others see the node, and never changed, so that reading it is no
/// schedule point.
#[derive(Default, Debug)]
pub(crate) struct Label {
    hash: AtomicU64,
    item: AtomicU64,
}

impl Label {
    pub(crate) fn set(&self, hash: u64, item: u64) {
        self.hash.store(hash, Ordering::Relaxed);
        self.item.store(item, Ordering::Relaxed);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash.load(Ordering::Relaxed)
    }

    pub(crate) fn item(&self) -> u64 {
        self.item.load(Ordering::Relaxed)
    }

    pub(crate) fn is(&self, hash: u64, item: u64) -> bool {
        self.hash() == hash && self.item() == item
    }

    /// Whether the walk for an item ends at this node of a list that is sorted by hash: it is the item, or beyond all
    /// of its hash.
    pub(crate) fn ends(&self, hash: u64, item: u64) -> bool {
        self.hash() > hash || self.is(hash, item)
    }
}
