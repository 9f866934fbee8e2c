//! A sorted list whose nodes are marked before they are unlinked.
//!
//! S. Heller, M. Herlihy, V. Luchangco, M. Moir, W. Scherer and N. Shavit, *A lazy concurrent list-based set algorithm*
//! (2005); Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 9.7; `LLL` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! `add` and `remove` walk without locks, lock the two neighbors of the place that they find, and
//! validate that neither is marked and that they are still neighbors; if not, they start over.
//! `remove` marks the node before it unlinks the node. `contains` takes no lock: it walks, and
//! checks whether the node that it finds is marked.
//!
//! | version | difference | example history |
//! |---|---|---|
//! | [`Fault::UnmarkedValidation`] | validation ignores marks: a node is linked after one that has been removed | `add(2)` → true; `contains(2)` → false |
//! | [`LazyList::blind`] | `contains` ignores marks | none: it is correct |
//!
//! [`LazyList::blind`] is correct. To see this, let the removal of a node take effect when the node
//! is unlinked, not when it is marked. Threads that hold locks only see neighbors that are linked.
//! A walk is always at a node that was linked at some time since the walk began: if this node has
//! been unlinked, its link has not changed since then, so the next node was in the list when this
//! node was unlinked. Thus an item that a walk finds was present at some time during the walk, and
//! an item that it does not find was absent at some time. In a list where a removal may return
//! before its node is unlinked, ignoring marks is a fault; see
//! [`lock_free_list`](crate::lock_free_list::Fault::BlindContains).

use crate::hash::Hash;
use crate::locked_nodes::{LockedNodes, Pair, Wanted};

/// A fault of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Validates that two nodes are neighbors, but does not validate that they are still in the
    /// list.
    UnmarkedValidation,
}

/// A set as a sorted list with lazy removal.
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
    nodes: LockedNodes,
    /// Whether `contains` ignores marks.
    blind: bool,
    fault: Option<Fault>,
}

impl LazyList {
    /// Creates an empty set.
    pub fn new(hash: Hash) -> Self {
        Self::faulty(hash, None)
    }

    /// Creates an empty set whose `contains` ignores marks.
    pub fn blind(hash: Hash) -> Self {
        Self { blind: true, ..Self::new(hash) }
    }

    /// Creates an empty set with a fault; `None` creates a correct one.
    pub fn faulty(hash: Hash, fault: impl Into<Option<Fault>>) -> Self {
        Self { nodes: LockedNodes::new(hash), blind: false, fault: fault.into() }
    }

    /// Returns whether both of these locked nodes are in the list and `curr` is the successor of
    /// `pred`.
    fn is_valid(&self, pred: u32, curr: u32) -> bool {
        let unmarked = self.fault == Some(Fault::UnmarkedValidation)
            || (!self.nodes.is_marked(pred) && !self.nodes.is_marked(curr));
        unmarked && self.nodes.next(pred) == curr
    }

    fn find(&self, wanted: Wanted) -> Pair<'_> {
        self.nodes.find(wanted, |pred, curr| self.is_valid(pred, curr))
    }

    /// Adds an item; returns `false` if it is already present.
    pub fn add(&self, item: u64) -> bool {
        let wanted = self.nodes.wanted(item);
        self.nodes.link(&self.find(wanted), wanted)
    }

    /// Removes an item; returns `false` if it is not present.
    pub fn remove(&self, item: u64) -> bool {
        let pair = self.find(self.nodes.wanted(item));
        if pair.found {
            self.nodes.mark(pair.curr);
        }
        self.nodes.unlink(&pair)
    }

    /// Returns whether an item is present.
    pub fn contains(&self, item: u64) -> bool {
        let wanted = self.nodes.wanted(item);
        let (_, curr) = self.nodes.walk(wanted);
        self.nodes.has(curr, wanted) && (self.blind || !self.nodes.is_marked(curr))
    }
}
