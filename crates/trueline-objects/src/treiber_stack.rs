//! Treiber's stack.
//!
//! R. K. Treiber, *Systems programming: coping with parallelism* (1986). This stack is a correct
//! baseline in Lowe, *Testing for linearizability* (2016), and is `t-stack` in the experiments of
//! Round-Up.
//!
//! The stack is a linked list. To push, link a new node to the top one and swing the top to the new
//! node; to pop, swing the top to the node below. The top carries a tag that grows with each
//! change, so nodes can be reused safely.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::Aba`] | the tag does not grow: a pop that was interrupted swings the top to a node that has been popped in the meantime | `push(1)`, `push(2)`; a pop of 2 overlaps `pop` → 2, `pop` → 1, `push(3)`; then `pop` → 1 again |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64};

use crate::arena::{Arena, NULL};
use crate::free_list::FreeList;
use crate::link::{Tagged, TaggedLink};

/// A fault of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Nodes are reused, but links have no tag that grows.
    Aba,
}

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    /// The number of the node below.
    below: AtomicU32,
}

/// A lock-free stack.
///
/// ```
/// use trueline_objects::treiber_stack::TreiberStack;
///
/// let stack = TreiberStack::new();
/// stack.push(1);
/// stack.push(2);
/// assert_eq!(stack.pop(), Some(2));
/// ```
#[derive(Debug)]
pub struct TreiberStack {
    top: TaggedLink,
    nodes: Arena<Node>,
    free: FreeList,
    fault: Option<Fault>,
}

impl TreiberStack {
    /// Creates an empty stack.
    pub fn new() -> Self {
        Self::faulty(None)
    }

    /// Creates an empty stack with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { top: TaggedLink::default(), nodes: Arena::new(), free: FreeList::default(), fault: fault.into() }
    }

    /// Adds a value on top.
    pub fn push(&self, value: u64) {
        let node = self.free.take().unwrap_or_else(|| self.nodes.allocate());
        self.nodes[node].value.store(value, SeqCst);
        loop {
            let top = self.top.load();
            self.nodes[node].below.store(top.node, SeqCst);
            if self.top.swing(top, self.after(top, node)) {
                return;
            }
        }
    }

    /// Removes and returns the value on top, or returns `None` if the stack is empty.
    pub fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load();
            if top.node == NULL {
                return None;
            }
            let below = self.nodes[top.node].below.load(SeqCst);
            let value = self.nodes[top.node].value.load(SeqCst);
            if self.top.swing(top, self.after(top, below)) {
                self.free.put(top.node);
                return Some(value);
            }
        }
    }

    /// Returns the link that replaces the link `old`. The new link leads to `node`. Its tag is the
    /// tag of `old` plus 1, or always 0 with [`Fault::Aba`].
    fn after(&self, old: Tagged, node: u32) -> Tagged {
        let tag = if self.fault == Some(Fault::Aba) { 0 } else { old.tag.wrapping_add(1) };
        Tagged { node, tag }
    }
}
