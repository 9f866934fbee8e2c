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

use crate::hash::Hash;
use crate::locked_nodes::{LockedNodes, Pair, Wanted};

/// What is wrong with a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Validates that two nodes are neighbours, but not that they are in the list.
    UnmarkedValidation,
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
    nodes: LockedNodes,
    /// Whether `contains` ignores marks.
    blind: bool,
    fault: Option<Fault>,
}

impl LazyList {
    /// An empty set.
    pub fn new(hash: Hash) -> Self {
        Self::faulty(hash, None)
    }

    /// An empty set whose `contains` does not look at marks.
    pub fn blind(hash: Hash) -> Self {
        Self { blind: true, ..Self::new(hash) }
    }

    /// An empty set that is wrong.
    pub fn faulty(hash: Hash, fault: impl Into<Option<Fault>>) -> Self {
        Self { nodes: LockedNodes::new(hash), blind: false, fault: fault.into() }
    }

    /// Whether two nodes that are locked are in the list, one behind the other.
    fn is_valid(&self, pred: u32, curr: u32) -> bool {
        let unmarked = self.fault == Some(Fault::UnmarkedValidation)
            || (!self.nodes.is_marked(pred) && !self.nodes.is_marked(curr));
        unmarked && self.nodes.next(pred) == curr
    }

    fn find(&self, wanted: Wanted) -> Pair<'_> {
        self.nodes.find(wanted, |pred, curr| self.is_valid(pred, curr))
    }

    /// Adds an item; false if it is there already.
    pub fn add(&self, item: u64) -> bool {
        let wanted = self.nodes.wanted(item);
        self.nodes.link(&self.find(wanted), wanted)
    }

    /// Removes an item; false if it is not there.
    pub fn remove(&self, item: u64) -> bool {
        let pair = self.find(self.nodes.wanted(item));
        if pair.found {
            self.nodes.mark(pair.curr);
        }
        self.nodes.unlink(&pair)
    }

    /// Whether an item is there.
    pub fn contains(&self, item: u64) -> bool {
        let wanted = self.nodes.wanted(item);
        let (_, curr) = self.nodes.walk(wanted);
        self.nodes.has(curr, wanted) && (self.blind || !self.nodes.is_marked(curr))
    }
}
