//! A stack whose faulty versions may pop a value that is not on top.
//!
//! The `Quasi Stack` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables I to III, with its
//! faults b1 and b2. In the paper, the correct version is linearizable for every factor *K*; the
//! paper does not describe the algorithm.
//!
//! This object is Treiber's stack, except that a node is taken by setting a mark in the node. Any
//! thread unlinks a taken node once it is on top. Thus a pop could take any node, not only the one
//! on top. The correct version takes the node that it has read as the top: values pushed in the
//! meantime count as pushed after this pop, and no value below can be popped before the mark is set.
//!
//! | fault | description | example history, for *K* = 2 |
//! |---|---|---|
//! | [`Fault::EmptyOnConflict`] | a pop whose node was taken by another thread returns as if the stack were empty; b1 | `push(1)`, `push(2)`; two concurrent pops, one → 2, the other → none |
//! | [`Fault::TooDeep`] | takes any of the top 2*K* + 2 nodes; b2 | `push` of 1, 2, 3 and 4; then `pop` → 1 |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, AtomicU64, choose};

use crate::arena::{Arena, NULL};

/// A fault of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Reports an empty stack if another thread has taken the node first.
    EmptyOnConflict,
    /// Takes a value that is too far from the top.
    TooDeep,
}

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    below: AtomicU32,
    is_taken: AtomicBool,
}

/// A stack whose nodes are removed by marks.
///
/// ```
/// use trueline_objects::relaxed::quasi_stack::QuasiStack;
///
/// let stack = QuasiStack::new(2);
/// stack.push(1);
/// stack.push(2);
/// assert_eq!(stack.pop(), Some(2));
/// ```
#[derive(Debug)]
pub struct QuasiStack {
    factor: usize,
    top: AtomicU32,
    nodes: Arena<Node>,
    fault: Option<Fault>,
}

impl QuasiStack {
    /// Creates an empty stack. The correct version does not use the quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// Creates an empty stack with a fault; `None` creates a correct one.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { factor, top: AtomicU32::new(NULL), nodes: Arena::new(), fault: fault.into() }
    }

    /// Adds a value on top.
    pub fn push(&self, value: u64) {
        let new = self.nodes.allocate();
        let node = &self.nodes[new];
        node.value.unscheduled().store(value, SeqCst);
        loop {
            let top = self.top.load(SeqCst);
            node.below.unscheduled().store(top, SeqCst);
            if self.top.compare_exchange(top, new, SeqCst, SeqCst).is_ok() {
                return;
            }
        }
    }

    /// Removes and returns the value on top, or returns `None` if the stack is empty.
    pub fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load(SeqCst);
            if top == NULL {
                return None;
            }
            let node = &self.nodes[top];
            if node.is_taken.load(SeqCst) {
                // If this compare-and-set fails, another thread has unlinked the node or has pushed
                // a node on top of it.
                let _ = self.top.compare_exchange(top, node.below.load(SeqCst), SeqCst, SeqCst);
                continue;
            }
            let node = if self.fault == Some(Fault::TooDeep) { self.below(node) } else { node };
            if node.is_taken.compare_exchange(false, true, SeqCst, SeqCst).is_ok() {
                return Some(node.value.load(SeqCst));
            }
            if self.fault == Some(Fault::EmptyOnConflict) {
                return None;
            }
        }
    }

    /// Returns this node or one that is at most 2*K* + 1 nodes below it.
    fn below<'n>(&'n self, mut node: &'n Node) -> &'n Node {
        for _ in 0..choose(2 * (self.factor + 1)) {
            match node.below.load(SeqCst) {
                NULL => break,
                below => node = &self.nodes[below],
            }
        }
        node
    }
}
