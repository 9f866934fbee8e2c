//! A sorted list that is walked without locks; the result is validated while two nodes are locked.
//!
//! Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 9.6; `OPTIMIST` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! Each operation, including `contains`, walks to the place of the item, locks the two neighbors, then walks again to
//! validate that the first is still in the list and that the second is still its successor; if not, it starts over.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoValidation`] | does not walk again: a node is linked after one that has been removed | `add(2)` → true; `contains(2)` → false |

use crate::hash::Hash;
use crate::locked_nodes::{LockedNodes, Pair, Wanted};

/// A fault of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not validate the two nodes after locking them.
    NoValidation,
}

/// A set as a sorted list with optimistic locking.
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
    nodes: LockedNodes,
    fault: Option<Fault>,
}

impl OptimisticList {
    /// Creates an empty set.
    pub fn new(hash: Hash) -> Self {
        Self::faulty(hash, None)
    }

    /// Creates an empty set with a fault; `None` creates a correct one.
    pub fn faulty(hash: Hash, fault: impl Into<Option<Fault>>) -> Self {
        Self { nodes: LockedNodes::new(hash), fault: fault.into() }
    }

    fn find(&self, wanted: Wanted) -> Pair<'_> {
        let does_not_look = self.fault == Some(Fault::NoValidation);
        self.nodes.find(wanted, |pred, curr| does_not_look || self.nodes.walk(wanted) == (pred, curr))
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
