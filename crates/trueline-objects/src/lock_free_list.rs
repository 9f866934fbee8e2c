//! A sorted list without locks.
//!
//! T. L. Harris, *A pragmatic implementation of non-blocking linked-lists* (2001), and M. M. Michael, *High performance
//! dynamic lock-free hash tables and list-based sets* (2002); Herlihy and Shavit, *The Art of Multiprocessor
//! Programming*, section 9.8; `LFLL` in Horn and Kroening, *Faster linearizability checking via P-compositionality*
//! (2015), table 1.
//!
//! A link carries the mark of the node that contains it, so that no node can be linked after a marked one. To remove a
//! node, mark it: this is when the removal takes effect. Then try to unlink it; walks of `add` and `remove` unlink the
//! marked nodes that remain. `contains` only walks, and checks whether the node that it finds is marked.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::SeparateMark`] | the mark is stored in a word of its own: a node is linked after one that has just been marked | `add(2)` → true; `contains(2)` → false |
//! | [`Fault::UnlinkOnly`] | a node is unlinked without being marked: if two neighbors are removed at the same time, one of them stays in the list; and a node that is linked after a removed one is lost | `remove(1)` → true; `contains(1)` → true |
//! | [`Fault::BlindContains`] | `contains` ignores marks: it finds nodes that are marked but not unlinked yet | `remove(1)` → true; `contains(1)` → true |

use trueline::primitives::AtomicBool;
use trueline::primitives::Ordering::SeqCst;

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};
use crate::link::{Marked, MarkedLink};

/// A fault of a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Stores the mark and the link in two separate words.
    SeparateMark,
    /// Removes a node by unlinking it, without marking it.
    UnlinkOnly,
    /// Ignores marks in `contains`.
    BlindContains,
}

#[derive(Default, Debug)]
struct Node {
    label: Label,
    next: MarkedLink,
    /// The mark, if it is not stored in the link ([`Fault::SeparateMark`]).
    marked: AtomicBool,
}

/// A set as a lock-free sorted list.
///
/// ```
/// use trueline_objects::hash::Hash;
/// use trueline_objects::lock_free_list::LockFreeList;
///
/// let set = LockFreeList::new(Hash::Bad);
/// assert!(set.add(1) && !set.add(1) && set.contains(1));
/// assert!(set.remove(1) && !set.contains(1));
/// ```
#[derive(Debug)]
pub struct LockFreeList {
    nodes: Arena<Node>,
    head: u32,
    hash: Hash,
    fault: Option<Fault>,
}

/// The two neighbors between which an item is or would be inserted. The second may be [`NULL`].
struct Pair {
    pred: u32,
    curr: u32,
    /// Whether the second node has the item.
    found: bool,
}

impl LockFreeList {
    /// Creates an empty set.
    pub fn new(hash: Hash) -> Self {
        Self::faulty(hash, None)
    }

    /// Creates an empty set with a fault; `None` creates a correct one.
    pub fn faulty(hash: Hash, fault: impl Into<Option<Fault>>) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash, fault: fault.into() }
    }

    /// Adds an item; returns `false` if it is already present.
    pub fn add(&self, item: u64) -> bool {
        self.add_from(self.head, self.hash.of(item), item).1
    }

    /// Removes an item; returns `false` if it is not present.
    pub fn remove(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        loop {
            let Pair { pred, curr, found } = self.find(self.head, hash, item);
            if !found {
                return false;
            }
            let next = self.next(curr);
            let unlink = || self.nodes[pred].next.swing(Marked::to(curr), Marked::to(next.node));
            if self.fault == Some(Fault::UnlinkOnly) {
                if unlink() {
                    return true;
                }
            } else if !next.mark && self.mark(curr, next) {
                unlink();
                return true;
            }
        }
    }

    /// Returns whether an item is present.
    pub fn contains(&self, item: u64) -> bool {
        self.contains_from(self.head, self.hash.of(item), item)
    }

    /// Returns the head, the node before all others. It has no item.
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    /// Adds an item after `start`, a node that is never removed. Returns the item's node and whether the node is new.
    pub(crate) fn add_from(&self, start: u32, hash: u64, item: u64) -> (u32, bool) {
        let mut node = NULL;
        loop {
            let Pair { pred, curr, found } = self.find(start, hash, item);
            if found {
                return (curr, false);
            }
            if node == NULL {
                node = self.nodes.allocate();
                self.nodes[node].label.set(hash, item);
            }
            self.nodes[node].next.prepare(curr);
            if self.nodes[pred].next.swing(Marked::to(curr), Marked::to(node)) {
                return (node, true);
            }
        }
    }

    /// Returns whether the given item is present after `start`.
    pub(crate) fn contains_from(&self, start: u32, hash: u64, item: u64) -> bool {
        let mut curr = self.next(start).node;
        while curr != NULL && !self.nodes[curr].label.ends(hash, item) {
            curr = self.next(curr).node;
        }
        let found = curr != NULL && self.nodes[curr].label.is(hash, item);
        found && (self.fault == Some(Fault::BlindContains) || !self.next(curr).mark)
    }

    /// Returns whether the list has a node whose hash satisfies the predicate.
    pub(crate) fn any(&self, mut is_wanted: impl FnMut(u64) -> bool) -> bool {
        let mut curr = self.next(self.head).node;
        while curr != NULL && !is_wanted(self.nodes[curr].label.hash()) {
            curr = self.next(curr).node;
        }
        curr != NULL
    }

    /// Walks from `start` to the place of an item, and unlinks marked nodes.
    fn find(&self, start: u32, hash: u64, item: u64) -> Pair {
        'anew: loop {
            let mut pred = start;
            let mut curr = self.next(pred).node;
            while curr != NULL {
                let next = self.next(curr);
                if next.mark {
                    if !self.nodes[pred].next.swing(Marked::to(curr), Marked::to(next.node)) {
                        continue 'anew;
                    }
                } else if self.nodes[curr].label.ends(hash, item) {
                    return Pair { pred, curr, found: self.nodes[curr].label.is(hash, item) };
                } else {
                    pred = curr;
                }
                curr = next.node;
            }
            return Pair { pred, curr, found: false };
        }
    }

    /// Returns the successor of a node, and whether the node itself is marked.
    fn next(&self, node: u32) -> Marked {
        let link = self.nodes[node].next.load();
        match self.fault {
            Some(Fault::SeparateMark) => Marked { mark: self.nodes[node].marked.load(SeqCst), ..link },
            _ => link,
        }
    }

    /// Marks a node whose link is still `link`; returns `false` if the link has changed or the node is already marked.
    fn mark(&self, node: u32, link: Marked) -> bool {
        match self.fault {
            Some(Fault::SeparateMark) => !self.nodes[node].marked.swap(true, SeqCst),
            _ => self.nodes[node].next.swing(link, link.marked()),
        }
    }
}
