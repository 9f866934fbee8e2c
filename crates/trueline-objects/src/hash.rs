//! A good hash function, and one that is bad on purpose.

use std::sync::atomic::{AtomicU64, Ordering};

/// The hash function by which the nodes of a set are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Hash {
    /// No two items have the same hash.
    Good,
    /// There are only two hashes, so that many items collide. The papers call this a bad hash.
    Bad,
}

impl Hash {
    /// Returns the hash of an item.
    ///
    /// ```
    /// use trueline_objects::hash::Hash;
    ///
    /// assert_ne!(Hash::Good.of(1), Hash::Good.of(3));
    /// assert_eq!(Hash::Bad.of(1), Hash::Bad.of(3));
    /// ```
    pub fn of(self, item: u64) -> u64 {
        match self {
            // The hashes of different items differ, because both multiplication by an odd number
            // and XOR with a right-shifted copy are invertible.
            Self::Good => {
                let mixed = (item ^ (item >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                mixed ^ (mixed >> 29)
            }
            Self::Bad => item & 1,
        }
    }
}

/// The item of a node and its hash. Both are set before other threads see the node, and do not
/// change afterwards. Therefore reading them is not a schedule point.
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

    /// Returns whether a walk for an item ends at this node of a list that is sorted by hash. It
    /// does if the node has the item, or comes after all nodes with the item's hash.
    pub(crate) fn ends(&self, hash: u64, item: u64) -> bool {
        self.hash() > hash || self.is(hash, item)
    }
}
