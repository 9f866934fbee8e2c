//! A skiplist with locks and marks.
//!
//! M. Herlihy, Y. Lev, V. Luchangco and N. Shavit, *A simple optimistic skiplist algorithm* (2007); Herlihy and Shavit,
//! *The Art of Multiprocessor Programming*, section 14.3; `LSL` and `CRLSL` in Horn and Kroening, *Faster
//! linearizability checking via P-compositionality* (2015), table 1.
//!
//! Walk without locks. To add, lock the nodes before the place, from the lowest level up, and see that nothing has
//! changed; link the node at all levels, then set that it is *fully linked*: this is when it takes effect. To remove, lock
//! the node and mark it, which is when that takes effect; then lock the nodes before it and unlink it from the top down.
//! `contains` only walks, and sees that the node is fully linked and not marked.
//!
//! Nodes are sorted by hash. With [`Collisions::None`] (`LSL`) the first node of a hash is taken for the only one, so it
//! needs a good hash. With [`Collisions::Scan`] (`CRLSL`) a walk that meets the hash looks through all nodes that have it,
//! and goes on from the node before them; new ones come first.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, Mutex, MutexGuard, choose, spin_hint};

use crate::arena::{Arena, NULL};
use crate::hash::{Hash, Label};

/// How many levels there are.
const LEVELS: usize = 6;

/// What a walk does among items of the same hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Collisions {
    /// It expects none.
    None,
    /// It looks through them, and goes down from before them.
    Scan,
}

#[derive(Default, Debug)]
struct Node {
    label: Label,
    /// In how many lists it is, or will be. Set once, like the label.
    height: AtomicUsize,
    next: [AtomicU32; LEVELS],
    marked: AtomicBool,
    fully_linked: AtomicBool,
    lock: Mutex<()>,
}

/// The skiplist.
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

/// At each level, the neighbours between which an item is or would come.
struct Places {
    preds: [u32; LEVELS],
    succs: [u32; LEVELS],
    /// The highest level at which the item is the second neighbour.
    found: Option<usize>,
}

/// Locks of nodes before a place. A node may be before it at several levels, and is locked once.
#[derive(Default)]
struct Locks<'l> {
    held: [Option<(u32, MutexGuard<'l, ()>)>; LEVELS],
}

impl LazySkiplist {
    /// An empty set.
    pub fn new(hash: Hash, collisions: Collisions) -> Self {
        let nodes = Arena::new();
        let head = nodes.allocate();
        Self { nodes, head, hash, collisions }
    }

    /// Adds an item; false if it is there already.
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
                // What is marked is there until it is unlinked.
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

    /// Removes an item; false if it is not there.
    pub fn remove(&self, item: u64) -> bool {
        let hash = self.hash.of(item);
        // The node that this thread has marked, and its lock.
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

    /// Whether an item is there.
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
            // Of several nodes with this hash, only the scan looks at more than the first.
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
