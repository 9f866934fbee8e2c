//! A set that hashes into a list without locks.
//!
//! O. Shalev and N. Shavit, *Split-ordered lists: lock-free extensible hash tables* (2003); Herlihy and Shavit, *The Art
//! of Multiprocessor Programming*, section 13.3. It stands in for the `concurrent_unordered_set` of Intel's Threading
//! Building Blocks, `TBB` in Horn and Kroening, *Faster linearizability checking via P-compositionality* (2015), table 1,
//! which is tested with insert, contains and empty; there is no concurrent remove.
//!
//! One [`LockFreeList`] in the order of the reversed bits of the hash. A bucket is a node in the list from which to walk,
//! made on demand; when the buckets are doubled, each splits in two without moving anything.
//!
//! | version | what is wrong | a history |
//! |---|---|---|
//! | [`SplitOrderedSet::preloaded`] | nothing: an item is there before the history begins, which a specification that begins empty refuses | `contains(5)` → true |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicUsize};

use crate::arena::NULL;
use crate::hash::Hash;
use crate::lock_free_list::LockFreeList;

/// How many buckets there can be, at most.
const BUCKETS: usize = 64;
/// How many items a bucket has, on average, before buckets are doubled.
const LOAD: usize = 2;

/// The set.
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
    /// The node of each bucket, once it is made.
    buckets: [AtomicU32; BUCKETS],
    /// How many buckets are in use.
    in_use: AtomicUsize,
    items: AtomicUsize,
}

impl SplitOrderedSet {
    /// An empty set.
    pub fn new() -> Self {
        let list = LockFreeList::new(Hash::Good);
        let buckets = [const { AtomicU32::new(NULL) }; BUCKETS];
        // The first bucket is all of the list.
        buckets[0].unscheduled().store(list.head(), SeqCst);
        Self { list, buckets, in_use: AtomicUsize::new(2), items: AtomicUsize::new(0) }
    }

    /// A set that has an item before anybody looks.
    pub fn preloaded(item: u64) -> Self {
        let set = Self::new();
        set.insert(item);
        set
    }

    /// Adds an item; false if it is there already.
    pub fn insert(&self, item: u64) -> bool {
        let hash = Hash::Good.of(item);
        let (_, is_new) = self.list.add_from(self.bucket(hash), Self::key(hash), item);
        if is_new {
            let items = self.items.fetch_add(1, SeqCst) + 1;
            let in_use = self.in_use.load(SeqCst);
            if items > LOAD * in_use && in_use < BUCKETS {
                // If this fails, another has done it.
                let _ = self.in_use.compare_exchange(in_use, in_use * 2, SeqCst, SeqCst);
            }
        }
        is_new
    }

    /// Whether an item is there.
    pub fn contains(&self, item: u64) -> bool {
        let hash = Hash::Good.of(item);
        self.list.contains_from(self.bucket(hash), Self::key(hash), item)
    }

    /// Whether there is no item. As nothing is ever removed, a walk that finds none began when there was none.
    pub fn is_empty(&self) -> bool {
        !self.list.any(|key| key & 1 == 1)
    }

    /// Where an item lies in the list. Keys of items are odd, keys of buckets are even.
    fn key(hash: u64) -> u64 {
        hash.reverse_bits() | 1
    }

    fn bucket(&self, hash: u64) -> u32 {
        let in_use = self.in_use.load(SeqCst);
        self.make_bucket((hash % in_use as u64) as usize)
    }

    /// The node of a bucket, which is made if there is none.
    fn make_bucket(&self, bucket: usize) -> u32 {
        let made = self.buckets[bucket].load(SeqCst);
        if made != NULL {
            return made;
        }
        // The bucket that this one was split from: without its highest bit.
        let parent = self.make_bucket(bucket & !(1 << bucket.ilog2()));
        let (node, _) = self.list.add_from(parent, (bucket as u64).reverse_bits(), 0);
        self.buckets[bucket].store(node, SeqCst);
        node
    }
}
