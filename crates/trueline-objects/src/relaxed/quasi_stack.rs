//! A stack whose pops may take what is not on top.
//!
//! The `Quasi Stack` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables I to III, with its faults b1 and b2. The
//! correct one is linearizable there, whatever its factor *K*; the paper does not say how it is made.
//!
//! Here it is Treiber's stack, but a node is taken by a mark of its own, and unlinked when it is on top, by anyone. So a
//! pop can take any node. The correct one takes the node that it has read as the top; what is pushed meanwhile has
//! come later, and nothing below can have been popped before the mark is set.
//!
//! | fault | what is wrong | a history, for *K* = 2 |
//! |---|---|---|
//! | [`Fault::EmptyOnConflict`] | a pop that comes too late to take its node says that the stack is empty; b1 | `push(1)`, `push(2)`; of two pops at a time, one → 2, the other → none |
//! | [`Fault::TooDeep`] | takes any of the upper 2*K* + 2 nodes; b2 | `push` of 1, 2, 3 and 4; then `pop` → 1 |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, AtomicU64, choose};

use crate::arena::{Arena, NULL};

/// What is wrong with a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Says that the stack is empty when another was faster.
    EmptyOnConflict,
    /// Takes what is too far from the top.
    TooDeep,
}

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    below: AtomicU32,
    is_taken: AtomicBool,
}

/// The stack.
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
    /// An empty stack with this quasi factor, of which it makes no use.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// An empty stack that is wrong.
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

    /// Removes and returns the value on top; `None` if the stack is empty.
    pub fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load(SeqCst);
            if top == NULL {
                return None;
            }
            let node = &self.nodes[top];
            if node.is_taken.load(SeqCst) {
                // If this fails, another has unlinked it, or hidden it.
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

    /// A node that is up to 2*K* + 1 below.
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
