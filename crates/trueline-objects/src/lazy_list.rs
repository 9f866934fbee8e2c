//! A sorted list whose nodes are marked before they are unlinked.
//!
//! S. Heller, M. Herlihy, V. Luchangco, M. Moir, W. Scherer and N. Shavit, *A lazy concurrent list-based set algorithm*
//! (2005); Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 9.7; `LLL` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! Walk without locks, lock the two neighbours, and see that neither is marked and that they are neighbours; if not,
//! begin anew. To remove, mark the node, then unlink it. `contains` takes no lock: it walks, and sees if the node that it
//! finds is marked.
//!
//! | version | what is different | a history |
//! |---|---|---|
//! | [`Fault::UnmarkedValidation`] | validation does not look at marks: a node is linked behind one that has been removed | `add(2)` → true; `contains(2)` → false |
//! | [`LazyList::blind`] | `contains` does not look at marks | none: it is correct |
//!
//! Why [`LazyList::blind`] is correct: let a removal take effect when the node is unlinked instead. All who hold locks
//! see only neighbours that are linked. A walk is always at a node that was linked at some time since the walk began: if
//! that node has been unlinked, its link has not changed since, and the next node was linked at that time. So what
//! a walk finds was there at some time, and what it does not find was absent at some time. In a list where a removal
//! returns before its node is unlinked it is a fault, see
//! [`lock_free_list`](crate::lock_free_list::Fault::BlindContains).

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, Mutex, MutexGuard};

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};

/// What is wrong with a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Validates that two nodes are neighbours, but not that they are in the list.
    UnmarkedValidation,
}

#[derive(Default, Debug)]
struct Node {
    label: Label,
    next: AtomicU32,
    marked: AtomicBool,
    lock: Mutex<()>,
}

/// The list.
///
/// ```
/// use trueline_objects::hash::Hash;
/// use trueline_objects::lazy_list::LazyList;
///
/// let set = LazyList::new(Hash::Bad);
/// assert!(set.add(1) && !set.add(1) && set.contains(1));
/// assert!(set.remove(1) && !set.contains(1));
/// ```
#[derive(Debug)]
pub struct LazyList {
    nodes: Arena<Node>,
    head: u32,
    hash: Hash,
    /// Whether `contains` ignores marks.
    blind: bool,
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

impl LazyList {
    /// An empty set.
    pub fn new(hash: Hash) -> Self {
        Self::with(hash, false, None)
    }

    /// An empty set whose `contains` does not look at marks.
    pub fn blind(hash: Hash) -> Self {
        Self::with(hash, true, None)
    }

    /// An empty set that is wrong.
    pub fn faulty(hash: Hash, fault: Fault) -> Self {
        Self::with(hash, false, Some(fault))
    }

    fn with(hash: Hash, blind: bool, fault: Option<Fault>) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash, blind, fault }
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

    fn is_marked(&self, node: u32) -> bool {
        node != NULL && self.nodes[node].marked.load(SeqCst)
    }

    /// Whether two nodes that are locked are in the list, one behind the other.
    fn is_valid(&self, pred: u32, curr: u32) -> bool {
        let unmarked =
            self.fault == Some(Fault::UnmarkedValidation) || (!self.is_marked(pred) && !self.is_marked(curr));
        unmarked && self.nodes[pred].next.load(SeqCst) == curr
    }

    fn find(&self, item: u64) -> Pair<'_> {
        let hash = self.hash.of(item);
        loop {
            let (pred, curr) = self.walk(hash, item);
            let pred_lock = self.nodes[pred].lock.lock();
            let curr_lock = (curr != NULL).then(|| self.nodes[curr].lock.lock());
            if self.is_valid(pred, curr) {
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
            self.nodes[pair.curr].marked.store(true, SeqCst);
            let next = self.nodes[pair.curr].next.load(SeqCst);
            self.nodes[pair.pred].next.store(next, SeqCst);
        }
        pair.found
    }

    /// Whether an item is there.
    pub fn contains(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        let (_, curr) = self.walk(hash, item);
        curr != NULL && self.nodes[curr].label.is(hash, item) && (self.blind || !self.is_marked(curr))
    }
}
