//! A sorted list with a lock in each node.
//!
//! Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 9.5 (lock coupling); `FGL` in Horn and Kroening,
//! *Faster linearizability checking via P-compositionality* (2015), table 1.
//!
//! A walk always holds the locks of two neighbors: it locks the next node before it unlocks the previous one. Therefore
//! no thread can overtake another, and no thread can change the link between the two nodes.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::EarlyUnlock`] | a walk unlocks a node, then locks it again as the first of the next two neighbors; in between, the node may be removed | `add(2)` links its node after one that is being removed, and returns true; `contains(2)` → false |

use crate::arena::NULL;
use crate::hash::Hash;
use crate::locked_nodes::{LockedNodes, Pair, Wanted};

/// A fault of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Unlocks both nodes before locking the next two.
    EarlyUnlock,
}

/// A set as a sorted list with a lock in each node.
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
    nodes: LockedNodes,
    fault: Option<Fault>,
}

impl FineGrainedList {
    /// Creates an empty set.
    pub fn new(hash: Hash) -> Self {
        Self::faulty(hash, None)
    }

    /// Creates an empty set with a fault; `None` creates a correct one.
    pub fn faulty(hash: Hash, fault: impl Into<Option<Fault>>) -> Self {
        Self { nodes: LockedNodes::new(hash), fault: fault.into() }
    }

    fn find(&self, wanted: Wanted) -> Pair<'_> {
        let mut pred = self.nodes.head;
        let mut pred_lock = self.nodes.lock(pred);
        loop {
            let curr = self.nodes.next(pred);
            let curr_lock = (curr != NULL).then(|| self.nodes.lock(curr));
            let Some(next_lock) = curr_lock else {
                return Pair { pred, curr, found: false, _locks: (pred_lock, None) };
            };
            if self.nodes.ends(curr, wanted) {
                let found = self.nodes.has(curr, wanted);
                return Pair { pred, curr, found, _locks: (pred_lock, Some(next_lock)) };
            }
            pred = curr;
            pred_lock = match self.fault {
                Some(Fault::EarlyUnlock) => {
                    drop((pred_lock, next_lock));
                    self.nodes.lock(pred)
                }
                None => next_lock,
            };
        }
    }

    /// Adds an item; returns `false` if it is already present.
    pub fn add(&self, item: u64) -> bool {
        let wanted = self.nodes.wanted(item);
        self.nodes.link(&self.find(wanted), wanted)
    }

    /// Removes an item; returns `false` if it is not present.
    pub fn remove(&self, item: u64) -> bool {
        self.nodes.unlink(&self.find(self.nodes.wanted(item)))
    }

    /// Returns whether an item is present.
    pub fn contains(&self, item: u64) -> bool {
        self.find(self.nodes.wanted(item)).found
    }
}
