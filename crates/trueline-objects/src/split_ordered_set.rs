//! A lock-free hash set in a single list.
//!
//! O. Shalev and N. Shavit, *Split-ordered lists: lock-free extensible hash tables* (2003); Herlihy
//! and Shavit, *The Art of Multiprocessor Programming*, section 13.3. Here, this set stands in for
//! the `concurrent_unordered_set` of Intel's Threading Building Blocks, called `TBB` in Horn and
//! Kroening, *Faster linearizability checking via P-compositionality* (2015), table 1. Horn and
//! Kroening test insert, contains and empty; there is no concurrent remove.
//!
//! All items are in one [`LockFreeList`], sorted by the reversed bits of their hashes. A bucket is
//! a node of this list at which searches start. Buckets are created on demand. When the number of
//! buckets doubles, each bucket splits into two, and no item is moved.
//!
//! | version | difference | example history |
//! |---|---|---|
//! | [`SplitOrderedSet::preloaded`] | the set is correct, but contains an item before the history begins; a specification that begins with an empty set rejects this | `contains(5)` → true |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicUsize};

use crate::arena::NULL;
use crate::hash::Hash;
use crate::lock_free_list::LockFreeList;

/// The maximum number of buckets.
const BUCKETS: usize = 64;
/// The number of buckets doubles when the average number of items in a bucket exceeds this limit.
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
    /// The number of buckets in use.
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
                // If the compare-and-set fails, another thread has doubled the number of buckets.
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

    /// Returns whether the set is empty. Items are never removed. So if a walk through the list
    /// finds no item, the set was empty when the walk began.
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

    /// Returns the node of a bucket. Creates the node if it does not exist.
    fn make_bucket(&self, bucket: usize) -> u32 {
        let made = self.buckets[bucket].load(SeqCst);
        if made != NULL {
            return made;
        }
        // The parent is the bucket from which this bucket was split. Its number is the number of
        // this bucket without the highest bit that is set.
        let parent = self.make_bucket(bucket & !(1 << bucket.ilog2()));
        let (node, _) = self.list.add_from(parent, (bucket as u64).reverse_bits(), 0);
        self.buckets[bucket].store(node, SeqCst);
        node
    }
}
