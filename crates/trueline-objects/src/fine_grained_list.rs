//! A sorted list with a lock in each node.
//!
//! Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 9.5 (lock coupling); `FGL` in Horn and Kroening,
//! *Faster linearizability checking via P-compositionality* (2015), table 1.
//!
//! A walk holds the locks of two neighbours at any time: it locks the next node before it unlocks the one before. So
//! nobody overtakes, and what is between the two is what the walk sees.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::EarlyUnlock`] | a walk unlocks a node before it locks it again as the first of two: meanwhile it may be removed | `add(2)` → true behind a node that is being removed; `contains(2)` → false |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, Mutex, MutexGuard};

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};

/// What is wrong with a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Unlocks both nodes before it goes on.
    EarlyUnlock,
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
/// use trueline_objects::fine_grained_list::FineGrainedList;
/// use trueline_objects::hash::Hash;
///
/// let set = FineGrainedList::new(Hash::Bad);
/// assert!(set.add(1) && !set.add(1) && set.contains(1));
/// assert!(set.remove(1) && !set.contains(1));
/// ```
#[derive(Debug)]
pub struct FineGrainedList {
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

impl FineGrainedList {
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

    fn lock(&self, node: u32) -> Option<MutexGuard<'_, ()>> {
        (node != NULL).then(|| self.nodes[node].lock.lock())
    }

    fn find(&self, item: u64) -> Pair<'_> {
        let hash = self.hash.of(item);
        let mut pred = self.head;
        let mut pred_lock = self.nodes[pred].lock.lock();
        loop {
            let curr = self.nodes[pred].next.load(SeqCst);
            let curr_lock = self.lock(curr);
            let Some(next_lock) = curr_lock else {
                return Pair { pred, curr, found: false, _locks: (pred_lock, None) };
            };
            let label = &self.nodes[curr].label;
            if label.ends(hash, item) {
                return Pair { pred, curr, found: label.is(hash, item), _locks: (pred_lock, Some(next_lock)) };
            }
            pred = curr;
            pred_lock = match self.fault {
                Some(Fault::EarlyUnlock) => {
                    drop((pred_lock, next_lock));
                    self.nodes[pred].lock.lock()
                }
                None => next_lock,
            };
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
