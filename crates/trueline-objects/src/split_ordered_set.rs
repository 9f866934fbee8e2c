//! A lock-free hash set in a single list.
//!
//! O. Shalev and N. Shavit, *Split-ordered lists: lock-free extensible hash tables* (2003); Herlihy and Shavit, *The
//! Art of Multiprocessor Programming*, section 13.3. This set takes the place of the `concurrent_unordered_set` of
//! Intel's Threading Building Blocks, `TBB` in Horn and Kroening, *Faster linearizability checking via
//! P-compositionality* (2015), table 1. They test it with insert, contains and empty; it has no concurrent remove.
//!
//! All items are in one [`LockFreeList`], sorted by the reversed bits of their hashes. A bucket is a node in the list
//! where walks start, created on demand; when the number of buckets doubles, each bucket splits into two without moving
//! any item.
//!
//! | version | difference | example history |
//! |---|---|---|
//! | [`SplitOrderedSet::preloaded`] | nothing: the set contains an item before the history begins, which a specification that begins with an empty set rejects | `contains(5)` → true |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicUsize};

use crate::arena::NULL;
use crate::hash::Hash;
use crate::lock_free_list::LockFreeList;

/// Maximum number of buckets.
const BUCKETS: usize = 64;
/// Average number of items in a bucket above which the number of buckets doubles.
const LOAD: usize = 2;

/// A lock-free hash set without removal.
///
/// ```
/// use trueline_objects::split_ordered_set::SplitOrderedSet;
///
/// let set = SplitOrderedSet::new();
/// assert!(set.is_empty());
/// assert!(set.insert(1) && !set.insert(1));
/// assert!(set.contains(1) && !set.is_empty());
/// ```
#[derive(Debug)]
pub struct SplitOrderedSet {
    list: LockFreeList,
    /// The node of each bucket; [`NULL`] until the bucket is created.
    buckets: [AtomicU32; BUCKETS],
    /// Number of buckets in use.
    in_use: AtomicUsize,
    items: AtomicUsize,
}

impl SplitOrderedSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        let list = LockFreeList::new(Hash::Good);
        let buckets = [const { AtomicU32::new(NULL) }; BUCKETS];
        // The first bucket starts at the head of the list.
        buckets[0].unscheduled().store(list.head(), SeqCst);
        Self { list, buckets, in_use: AtomicUsize::new(2), items: AtomicUsize::new(0) }
    }

    /// Creates a set that contains `item` from the start.
    pub fn preloaded(item: u64) -> Self {
        let set = Self::new();
        set.insert(item);
        set
    }

    /// Adds an item; returns `false` if it is already present.
    pub fn insert(&self, item: u64) -> bool {
        let hash = Hash::Good.of(item);
        let (_, is_new) = self.list.add_from(self.bucket(hash), Self::key(hash), item);
        if is_new {
            let items = self.items.fetch_add(1, SeqCst) + 1;
            let in_use = self.in_use.load(SeqCst);
            if items > LOAD * in_use && in_use < BUCKETS {
                // If this fails, another thread has doubled the number of buckets.
                let _ = self.in_use.compare_exchange(in_use, in_use * 2, SeqCst, SeqCst);
            }
        }
        is_new
    }

    /// Returns whether an item is present.
    pub fn contains(&self, item: u64) -> bool {
        let hash = Hash::Good.of(item);
        self.list.contains_from(self.bucket(hash), Self::key(hash), item)
    }

    /// Returns whether the set is empty. Nothing is ever removed, so if a walk finds no item, the set was empty when
    /// the walk began.
    pub fn is_empty(&self) -> bool {
        !self.list.any(|key| key & 1 == 1)
    }

    /// Returns the key by which an item is sorted. Keys of items are odd, keys of buckets are even.
    fn key(hash: u64) -> u64 {
        hash.reverse_bits() | 1
    }

    fn bucket(&self, hash: u64) -> u32 {
        let in_use = self.in_use.load(SeqCst);
        self.make_bucket((hash % in_use as u64) as usize)
    }

    /// Returns the node of a bucket, which is created if it does not exist.
    fn make_bucket(&self, bucket: usize) -> u32 {
        let made = self.buckets[bucket].load(SeqCst);
        if made != NULL {
            return made;
        }
        // The parent is the bucket that this one was split from: the number without its highest bit.
        let parent = self.make_bucket(bucket & !(1 << bucket.ilog2()));
        let (node, _) = self.list.add_from(parent, (bucket as u64).reverse_bits(), 0);
        self.buckets[bucket].store(node, SeqCst);
        node
    }
}
