//! A skiplist with locks and marks.
//!
//! M. Herlihy, Y. Lev, V. Luchangco and N. Shavit, *A simple optimistic skiplist algorithm* (2007); Herlihy and Shavit,
//! *The Art of Multiprocessor Programming*, section 14.3; `LSL` and `CRLSL` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! Operations walk without locks. To add a node, lock its predecessors from the lowest level up,
//! and validate that nothing has changed; link the node at all levels, then set its flag *fully
//! linked*: this is when the operation takes effect. To remove a node, lock it and mark it, which
//! is when the removal takes effect; then lock its predecessors and unlink it from the top down.
//! `contains` only walks, and checks that the node is fully linked and not marked.
//!
//! Nodes are sorted by hash. With [`Collisions::None`] (`LSL`), a walk assumes that the first node
//! with a hash is the only one, so this version needs a good hash. With [`Collisions::Scan`]
//! (`CRLSL`), a walk looks through all nodes with the item's hash, and goes down from the node
//! before them; a new node is inserted before the other nodes with its hash.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, Mutex, MutexGuard, choose, spin_hint};

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};

/// Number of levels.
const LEVELS: usize = 6;

/// How a walk handles several items with the same hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Collisions {
    /// Assumes that no two items have the same hash.
    None,
    /// Looks through all nodes with the hash, then goes down a level from the node before them.
    Scan,
}

#[derive(Default, Debug)]
struct Node {
    label: Label,
    /// The number of levels at which the node is or will be linked. It is set only once, like the
    /// label (the item and its hash).
    height: AtomicUsize,
    next: [AtomicU32; LEVELS],
    marked: AtomicBool,
    fully_linked: AtomicBool,
    lock: Mutex<()>,
}

/// A set as a skiplist with locks and lazy removal.
///
/// ```
/// use trueline_objects::hash::Hash;
/// use trueline_objects::lazy_skiplist::{Collisions, LazySkiplist};
///
/// let set = LazySkiplist::new(Hash::Bad, Collisions::Scan);
/// assert!(set.add(1) && !set.add(1) && set.contains(1));
/// assert!(set.remove(1) && !set.contains(1));
/// ```
#[derive(Debug)]
pub struct LazySkiplist {
    nodes: Arena<Node>,
    head: u32,
    hash: Hash,
    collisions: Collisions,
}

/// At each level, the two neighbors between which an item is or would be inserted.
struct Places {
    preds: [u32; LEVELS],
    succs: [u32; LEVELS],
    /// The highest level at which the second neighbor has the item.
    found: Option<usize>,
}

/// The locks of the predecessors of a place. A node that is the predecessor at several levels is locked once.
#[derive(Default)]
struct Locks<'l> {
    held: [Option<(u32, MutexGuard<'l, ()>)>; LEVELS],
}

impl LazySkiplist {
    /// Creates an empty set.
    pub fn new(hash: Hash, collisions: Collisions) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash, collisions }
    }

    /// Adds an item; returns `false` if it is already present.
    pub fn add(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        let height = 1 + (1..LEVELS).take_while(|_| choose(2) == 1).count();
        loop {
            let places = self.find(hash, item);
            if let Some(level) = places.found {
                let node = &self.nodes[places.succs[level]];
                if node.marked.load(SeqCst) {
                    spin_hint();
                    continue;
                }
                while !node.fully_linked.load(SeqCst) {
                    spin_hint();
                }
                return false;
            }
            let mut locks = Locks::default();
            let is_valid = (0..height).all(|level| {
                let (pred, succ) = (places.preds[level], places.succs[level]);
                self.lock(&mut locks, level, pred);
                !self.is_marked(pred) && !self.is_marked(succ) && self.next(pred, level) == succ
            });
            if !is_valid {
                // A marked node stays in the list until its remover unlinks it, so let other threads run first.
                drop(locks);
                spin_hint();
                continue;
            }
            let number = self.nodes.allocate();
            let node = &self.nodes[number];
            node.label.set(hash, item);
            node.height.store(height, Relaxed);
            for level in 0..height {
                node.next[level].unscheduled().store(places.succs[level], SeqCst);
            }
            for level in 0..height {
                self.nodes[places.preds[level]].next[level].store(number, SeqCst);
            }
            node.fully_linked.store(true, SeqCst);
            return true;
        }
    }

    /// Removes an item; returns `false` if it is not present.
    pub fn remove(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        // The node that this thread has marked, and the guard of its lock.
        let mut victim: Option<(u32, MutexGuard<'_, ()>)> = None;
        loop {
            let places = self.find(hash, item);
            let number = match &victim {
                Some((number, _)) => *number,
                None => {
                    let Some(level) = places.found else { return false };
                    let number = places.succs[level];
                    let node = &self.nodes[number];
                    let is_ready = node.fully_linked.load(SeqCst)
                        && node.height.load(Relaxed) == level + 1
                        && !node.marked.load(SeqCst);
                    if !is_ready {
                        return false;
                    }
                    let lock = node.lock.lock();
                    if node.marked.load(SeqCst) {
                        return false;
                    }
                    node.marked.store(true, SeqCst);
                    victim = Some((number, lock));
                    number
                }
            };
            let height = self.nodes[number].height.load(Relaxed);
            let mut locks = Locks::default();
            let is_valid = (0..height).all(|level| {
                let pred = places.preds[level];
                self.lock(&mut locks, level, pred);
                !self.is_marked(pred) && self.next(pred, level) == number
            });
            if is_valid {
                for level in (0..height).rev() {
                    self.nodes[places.preds[level]].next[level].store(self.next(number, level), SeqCst);
                }
                return true;
            }
            drop(locks);
            spin_hint();
        }
    }

    /// Returns whether an item is present.
    pub fn contains(&self, item: u64) -> bool {
        let places = self.find(self.hash.of(item), item);
        places.found.is_some_and(|level| {
            let node = &self.nodes[places.succs[level]];
            node.fully_linked.load(SeqCst) && !node.marked.load(SeqCst)
        })
    }

    fn next(&self, node: u32, level: usize) -> u32 {
        self.nodes[node].next[level].load(SeqCst)
    }

    fn is_marked(&self, node: u32) -> bool {
        node != NULL && self.nodes[node].marked.load(SeqCst)
    }

    fn lock<'l>(&'l self, locks: &mut Locks<'l>, level: usize, node: u32) {
        if !locks.held.iter().flatten().any(|(held, _)| *held == node) {
            locks.held[level] = Some((node, self.nodes[node].lock.lock()));
        }
    }

    fn find(&self, hash: u64, item: u64) -> Places {
        let mut places = Places { preds: [NULL; LEVELS], succs: [NULL; LEVELS], found: None };
        let mut pred = self.head;
        for level in (0..LEVELS).rev() {
            let mut curr = self.next(pred, level);
            while curr != NULL && self.nodes[curr].label.hash() < hash {
                pred = curr;
                curr = self.next(pred, level);
            }
            (places.preds[level], places.succs[level]) = (pred, curr);
            // If several nodes have this hash, only `Collisions::Scan` looks past the first.
            let mut last = pred;
            while curr != NULL && self.nodes[curr].label.hash() == hash {
                if self.nodes[curr].label.item() == item {
                    (places.preds[level], places.succs[level]) = (last, curr);
                    places.found = places.found.or(Some(level));
                    break;
                }
                if self.collisions == Collisions::None {
                    break;
                }
                last = curr;
                curr = self.next(curr, level);
            }
        }
        places
    }
}
