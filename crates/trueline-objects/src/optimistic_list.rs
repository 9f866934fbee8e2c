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

use crate::hash::Hash;
use crate::locked_nodes::{LockedNodes, Pair, Wanted};

/// What is wrong with a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not look again under the locks.
    NoValidation,
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
    nodes: LockedNodes,
    fault: Option<Fault>,
}

impl OptimisticList {
    /// An empty set.
    pub fn new(hash: Hash) -> Self {
        Self::faulty(hash, None)
    }

    /// An empty set that is wrong.
    pub fn faulty(hash: Hash, fault: impl Into<Option<Fault>>) -> Self {
        Self { nodes: LockedNodes::new(hash), fault: fault.into() }
    }

    fn find(&self, wanted: Wanted) -> Pair<'_> {
        let does_not_look = self.fault == Some(Fault::NoValidation);
        self.nodes.find(wanted, |pred, curr| does_not_look || self.nodes.walk(wanted) == (pred, curr))
    }

    /// Adds an item; false if it is there already.
    pub fn add(&self, item: u64) -> bool {
        let wanted = self.nodes.wanted(item);
        self.nodes.link(&self.find(wanted), wanted)
    }

    /// Removes an item; false if it is not there.
    pub fn remove(&self, item: u64) -> bool {
        self.nodes.unlink(&self.find(self.nodes.wanted(item)))
    }

    /// Whether an item is there.
    pub fn contains(&self, item: u64) -> bool {
        self.find(self.nodes.wanted(item)).found
    }
}
