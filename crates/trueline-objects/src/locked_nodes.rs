//! The nodes of sorted lists with a lock in each node.

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, Mutex, MutexGuard};

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};

#[derive(Default, Debug)]
struct Node {
    label: Label,
    next: AtomicU32,
    /// Whether the node has been removed; used only by the lazy list.
    marked: AtomicBool,
    lock: Mutex<()>,
}

/// The nodes of a list: a head node without an item, and then the nodes with items, sorted by hash.
///
/// Reports of schedules show each access at the line of the list implementation that made the
/// access, not at a line of this file.
#[derive(Debug)]
pub(crate) struct LockedNodes {
    nodes: Arena<Node>,
    pub(crate) head: u32,
    hash: Hash,
}

/// An item to look for, with its hash.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    hash: u64,
    item: u64,
}

/// Two locked neighbors. The second may be [`NULL`].
pub(crate) struct Pair<'l> {
    pub(crate) pred: u32,
    pub(crate) curr: u32,
    /// Whether the second node has the item.
    pub(crate) found: bool,
    pub(crate) _locks: (MutexGuard<'l, ()>, Option<MutexGuard<'l, ()>>),
}

impl LockedNodes {
    pub(crate) fn new(hash: Hash) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash }
    }

    pub(crate) fn wanted(&self, item: u64) -> Wanted {
        Wanted { hash: self.hash.of(item), item }
    }

    #[track_caller]
    pub(crate) fn lock(&self, node: u32) -> MutexGuard<'_, ()> {
        self.nodes[node].lock.lock()
    }

    /// Returns the successor of a node.
    #[track_caller]
    pub(crate) fn next(&self, node: u32) -> u32 {
        self.nodes[node].next.load(SeqCst)
    }

    /// Returns whether a node has the item. [`NULL`] has no item.
    pub(crate) fn has(&self, node: u32, wanted: Wanted) -> bool {
        node != NULL && self.nodes[node].label.is(wanted.hash, wanted.item)
    }

    /// Returns whether a walk for the item ends at this node. It does if the node has the item, or
    /// comes after all nodes with the item's hash. [`NULL`] ends every walk.
    pub(crate) fn ends(&self, node: u32, wanted: Wanted) -> bool {
        node == NULL || self.nodes[node].label.ends(wanted.hash, wanted.item)
    }

    #[track_caller]
    pub(crate) fn is_marked(&self, node: u32) -> bool {
        node != NULL && self.nodes[node].marked.load(SeqCst)
    }

    #[track_caller]
    pub(crate) fn mark(&self, node: u32) {
        self.nodes[node].marked.store(true, SeqCst);
    }

    /// Returns the two neighbors between which an item is or would be inserted. This function does
    /// not lock any nodes.
    pub(crate) fn walk(&self, wanted: Wanted) -> (u32, u32) {
        let mut pred = self.head;
        loop {
            let curr = self.next(pred);
            if self.ends(curr, wanted) {
                return (pred, curr);
            }
            pred = curr;
        }
    }

    /// Walks to the place of an item, and locks the two neighbors there. Starts over if `is_valid`
    /// does not accept the neighbors.
    pub(crate) fn find(&self, wanted: Wanted, is_valid: impl Fn(u32, u32) -> bool) -> Pair<'_> {
        loop {
            let (pred, curr) = self.walk(wanted);
            let pred_lock = self.lock(pred);
            let curr_lock = (curr != NULL).then(|| self.lock(curr));
            if is_valid(pred, curr) {
                return Pair { pred, curr, found: self.has(curr, wanted), _locks: (pred_lock, curr_lock) };
            }
        }
    }

    /// Inserts the item between two neighbors; returns `false` if the second neighbor already has it.
    pub(crate) fn link(&self, pair: &Pair<'_>, wanted: Wanted) -> bool {
        if !pair.found {
            let node = self.nodes.allocate();
            self.nodes[node].label.set(wanted.hash, wanted.item);
            self.nodes[node].next.unscheduled().store(pair.curr, SeqCst);
            self.nodes[pair.pred].next.store(node, SeqCst);
        }
        !pair.found
    }

    /// Unlinks the second of two neighbors if it has the item; returns `false` if it does not.
    pub(crate) fn unlink(&self, pair: &Pair<'_>) -> bool {
        if pair.found {
            let next = self.next(pair.curr);
            self.nodes[pair.pred].next.store(next, SeqCst);
        }
        pair.found
    }
}
