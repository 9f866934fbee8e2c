//! A skiplist without locks.
//!
//! Herlihy and Shavit, *The Art of Multiprocessor Programming*, section 14.4; `LFSL` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! A node is linked at one or more levels, from the lowest up. The number of levels is chosen at
//! random. A link carries the mark of the node that contains it, at that level. To add a node, link
//! it at level 0, which is when the operation takes effect; then link it at the other levels. To
//! remove a node, mark its levels from the top down; marking level 0 is when the removal takes
//! effect. Walks of `add` and `remove` unlink marked nodes.
//!
//! Nodes are sorted by hash, and several items may have the same hash. [`Collisions`] selects how a walk handles them:
//!
//! | version | behavior of a walk | with a bad hash |
//! |---|---|---|
//! | [`Collisions::None`] (`LFSL`) | assumes that the first node with a hash is the only one | faulty |
//! | [`Collisions::Scan`] (`CRLFSL`) | looks through all nodes with the hash, then goes down from the node *before* them; new nodes are inserted before the others with their hash | correct |
//! | [`Collisions::StepOver`] (`LFSLF0`, `LFSLF1`) | steps over other items with the hash, and goes down from the last of them: if the item is not linked at that level, the walk may have passed it | faulty |
//!
//! [`Collisions::StepOver`] is the fault in Lowe, *Testing for linearizability* (2016), section 8. Example histories:
//! `add(x)` → true; `contains(x)` → false, because an item with the same hash comes after x and is linked at more
//! levels; or `add(x)` → true twice.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use trueline::primitives::choose;

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};
use crate::link::{Marked, MarkedLink};

/// Number of levels.
const LEVELS: usize = 6;

/// How a walk handles several items with the same hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Collisions {
    /// Assumes that no two items have the same hash.
    None,
    /// Looks through all nodes with the hash, then goes down a level from the node before them.
    Scan,
    /// Steps over other items with the hash, then goes down a level from the last of them. This is the fault.
    StepOver,
}

#[derive(Default, Debug)]
struct Node {
    label: Label,
    /// The number of levels at which the node is or will be linked. It is set only once, like the
    /// label (the item and its hash).
    height: AtomicUsize,
    next: [MarkedLink; LEVELS],
}

/// A set as a lock-free skiplist.
///
/// ```
/// use trueline_objects::hash::Hash;
/// use trueline_objects::lock_free_skiplist::{Collisions, LockFreeSkiplist};
///
/// let set = LockFreeSkiplist::new(Hash::Bad, Collisions::Scan);
/// assert!(set.add(1) && !set.add(1) && set.contains(1));
/// assert!(set.remove(1) && !set.contains(1));
/// ```
#[derive(Debug)]
pub struct LockFreeSkiplist {
    nodes: Arena<Node>,
    head: u32,
    hash: Hash,
    collisions: Collisions,
}

/// At each level, the two neighbors between which an item is or would be inserted.
struct Places {
    preds: [u32; LEVELS],
    succs: [u32; LEVELS],
    /// Whether the second neighbor at level 0 has the item.
    found: bool,
}

impl LockFreeSkiplist {
    /// Creates an empty set.
    pub fn new(hash: Hash, collisions: Collisions) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash, collisions }
    }

    /// Adds an item; returns `false` if it is already present.
    pub fn add(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        let (mut node, mut height) = (NULL, 0);
        let mut places;
        loop {
            places = self.find(hash, item);
            if places.found {
                return false;
            }
            if node == NULL {
                node = self.nodes.allocate();
                self.nodes[node].label.set(hash, item);
                height = 1 + (1..LEVELS).take_while(|_| choose(2) == 1).count();
                self.nodes[node].height.store(height, Relaxed);
            }
            for (next, succ) in self.nodes[node].next.iter().zip(places.succs) {
                next.prepare(succ);
            }
            if self.nodes[places.preds[0]].next[0].swing(Marked::to(places.succs[0]), Marked::to(node)) {
                break;
            }
        }
        for level in 1..height {
            if !self.raise(node, level, &mut places) {
                // The node is being removed, so linking it at more levels would be useless.
                break;
            }
        }
        true
    }

    /// Links a node at one more level; returns `false` if the node is being removed.
    fn raise(&self, node: u32, level: usize, places: &mut Places) -> bool {
        loop {
            let succ = places.succs[level];
            let next = self.nodes[node].next[level].load();
            if next.mark {
                return false;
            }
            if next.node != succ && !self.nodes[node].next[level].swing(next, Marked::to(succ)) {
                return false;
            }
            if self.nodes[places.preds[level]].next[level].swing(Marked::to(succ), Marked::to(node)) {
                return true;
            }
            *places = self.find(self.nodes[node].label.hash(), self.nodes[node].label.item());
            if !places.found || places.succs[0] != node {
                return false;
            }
        }
    }

    /// Removes an item; returns `false` if it is not present.
    pub fn remove(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        let places = self.find(hash, item);
        if !places.found {
            return false;
        }
        let node = places.succs[0];
        for level in (0..self.nodes[node].height.load(Relaxed)).rev() {
            let next = &self.nodes[node].next[level];
            let mut link = next.load();
            while !link.mark && !next.swing(link, link.marked()) {
                link = next.load();
            }
            if level == 0 && link.mark {
                return false;
            }
        }
        self.find(hash, item);
        true
    }

    /// Returns whether an item is present.
    pub fn contains(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        let mut pred = self.head;
        let mut curr = NULL;
        for level in (0..LEVELS).rev() {
            curr = self.unmarked(self.nodes[pred].next[level].load().node, level);
            while curr != NULL && self.is_before(curr, hash, item) {
                pred = curr;
                curr = self.unmarked(self.nodes[pred].next[level].load().node, level);
            }
        }
        if self.collisions == Collisions::Scan {
            while curr != NULL && self.nodes[curr].label.hash() == hash && self.nodes[curr].label.item() != item {
                curr = self.unmarked(self.nodes[curr].next[0].load().node, 0);
            }
        }
        curr != NULL && self.nodes[curr].label.is(hash, item)
    }

    /// Returns the first node, starting with `node`, that is not marked at this level.
    fn unmarked(&self, mut node: u32, level: usize) -> u32 {
        while node != NULL {
            let next = self.nodes[node].next[level].load();
            if !next.mark {
                break;
            }
            node = next.node;
        }
        node
    }

    /// Returns whether a walk for an item passes this node before it goes down a level.
    fn is_before(&self, node: u32, hash: u64, item: u64) -> bool {
        let label = &self.nodes[node].label;
        match self.collisions {
            Collisions::None | Collisions::Scan => label.hash() < hash,
            Collisions::StepOver => !label.ends(hash, item),
        }
    }

    /// Walks to the place of an item at each level, and unlinks marked nodes.
    fn find(&self, hash: u64, item: u64) -> Places {
        'anew: loop {
            let mut places = Places { preds: [NULL; LEVELS], succs: [NULL; LEVELS], found: false };
            let mut pred = self.head;
            for level in (0..LEVELS).rev() {
                let Some((before, first)) = self.walk(pred, level, |node| self.is_before(node, hash, item)) else {
                    continue 'anew;
                };
                pred = before;
                (places.preds[level], places.succs[level]) = (pred, first);
                if self.collisions == Collisions::Scan {
                    // Step over nodes with smaller hashes again, because new nodes may have been
                    // inserted after `pred`.
                    let Some((last, node)) = self.walk(pred, level, |node| !self.nodes[node].label.ends(hash, item))
                    else {
                        continue 'anew;
                    };
                    if node != NULL && self.nodes[node].label.is(hash, item) {
                        (places.preds[level], places.succs[level]) = (last, node);
                    }
                }
            }
            let curr = places.succs[0];
            places.found = curr != NULL && self.nodes[curr].label.is(hash, item);
            return places;
        }
    }

    /// Walks along a level for as long as `goes_on` accepts the nodes, and unlinks marked nodes.
    /// Returns the two neighbors between which the walk stops, or `None` if a marked node could not
    /// be unlinked.
    fn walk(&self, start: u32, level: usize, goes_on: impl Fn(u32) -> bool) -> Option<(u32, u32)> {
        let mut pred = start;
        let mut curr = self.nodes[pred].next[level].load().node;
        while curr != NULL {
            let next = self.nodes[curr].next[level].load();
            if next.mark {
                if !self.nodes[pred].next[level].swing(Marked::to(curr), Marked::to(next.node)) {
                    return None;
                }
            } else if goes_on(curr) {
                pred = curr;
            } else {
                break;
            }
            curr = next.node;
        }
        Some((pred, curr))
    }
}
