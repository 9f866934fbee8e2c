//! A sorted list that is walked without locks, and looked at again under two.
//!
//! Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 9.6; `OPTIMIST` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! Walk to the place, lock the two neighbours, then walk again to see that the first is still in the list and the second
//! still behind it; if not, begin anew. That goes for `contains` too.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::NoValidation`] | does not walk again: a node is linked behind one that has been removed | `add(2)` → true; `contains(2)` → false |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, Mutex, MutexGuard};

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};

/// What is wrong with a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not look again under the locks.
    NoValidation,
}

#[derive(Default, Debug)]
struct Node {
    label: Label,
    next: AtomicU32,
    lock: Mutex<()>,
}

/// The list.
///
/// ```
/// use trueline_objects::hash::Hash;
/// use trueline_objects::optimistic_list::OptimisticList;
///
/// let set = OptimisticList::new(Hash::Bad);
/// assert!(set.add(1) && !set.add(1) && set.contains(1));
/// assert!(set.remove(1) && !set.contains(1));
/// ```
#[derive(Debug)]
pub struct OptimisticList {
    nodes: Arena<Node>,
    head: u32,
    hash: Hash,
    fault: Option<Fault>,
}

/// Two neighbours, locked. The second may be none.
struct Pair<'l> {
    pred: u32,
    curr: u32,
    /// Whether the second has the item.
    found: bool,
    _locks: (MutexGuard<'l, ()>, Option<MutexGuard<'l, ()>>),
}

impl OptimisticList {
    /// An empty set.
    pub fn new(hash: Hash) -> Self {
        Self::with(hash, None)
    }

    /// An empty set that is wrong.
    pub fn faulty(hash: Hash, fault: Fault) -> Self {
        Self::with(hash, Some(fault))
    }

    fn with(hash: Hash, fault: Option<Fault>) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash, fault }
    }

    /// The neighbours between which an item is or would come. Nothing is locked.
    fn walk(&self, hash: u64, item: u64) -> (u32, u32) {
        let mut pred = self.head;
        loop {
            let curr = self.nodes[pred].next.load(SeqCst);
            if curr == NULL || self.nodes[curr].label.ends(hash, item) {
                return (pred, curr);
            }
            pred = curr;
        }
    }

    fn find(&self, item: u64) -> Pair<'_> {
        let hash = self.hash.of(item);
        loop {
            let (pred, curr) = self.walk(hash, item);
            let pred_lock = self.nodes[pred].lock.lock();
            let curr_lock = (curr != NULL).then(|| self.nodes[curr].lock.lock());
            if self.fault == Some(Fault::NoValidation) || self.walk(hash, item) == (pred, curr) {
                let found = curr != NULL && self.nodes[curr].label.is(hash, item);
                return Pair { pred, curr, found, _locks: (pred_lock, curr_lock) };
            }
        }
    }

    /// Adds an item; false if it is there already.
    pub fn add(&self, item: u64) -> bool {
        let pair = self.find(item);
        if !pair.found {
            let node = self.nodes.allocate();
            self.nodes[node].label.set(self.hash.of(item), item);
            self.nodes[node].next.unscheduled().store(pair.curr, SeqCst);
            self.nodes[pair.pred].next.store(node, SeqCst);
        }
        !pair.found
    }

    /// Removes an item; false if it is not there.
    pub fn remove(&self, item: u64) -> bool {
        let pair = self.find(item);
        if pair.found {
            let next = self.nodes[pair.curr].next.load(SeqCst);
            self.nodes[pair.pred].next.store(next, SeqCst);
        }
        pair.found
    }

    /// Whether an item is there.
    pub fn contains(&self, item: u64) -> bool {
        self.find(item).found
    }
}
