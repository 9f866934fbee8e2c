//! Michael and Scott's queue.
//!
//! M. M. Michael and M. L. Scott, *Simple, fast, and practical non-blocking and blocking concurrent
//! queue algorithms* (1996); Herlihy and Shavit, *The Art of Multiprocessor Programming*, section
//! 10.5. Lowe, *Testing for linearizability* (2016), section 6, uses this queue to measure
//! checkers.
//!
//! The queue is a linked list whose first node is a dummy. To enqueue, link a node after the last one, then swing the
//! tail to the new node; a thread that finds that the tail is not the last node swings the tail first. To dequeue, read
//! the value of the second node, then swing the head to this node, which makes it the new dummy. Links carry tags that
//! grow with each change, so that nodes can be reused.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::LateRead`] | the value is read after the head has been swung, when the node may already be reused | `enqueue(1)`, `enqueue(2)`; one of two dequeues returns a value that is enqueued only later |
//! | [`Fault::Aba`] | nodes are reused, but tags do not grow: a swing succeeds although the link has changed and changed back in between | a value is dequeued twice, or never |
//! | [`Fault::NoHelp`] | enqueue swings the tail by a store, and does not help other threads: a late store sets the tail back, and no thread moves it forward again | an enqueue never returns |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU64, spin_hint};

use crate::arena::{Arena, NULL};
use crate::free_list::FreeList;
use crate::link::{Tagged, TaggedLink};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Reads the value after swinging the head.
    LateRead,
    /// Reuses nodes without tags.
    Aba,
    /// Swings the tail by a store, and does not help other threads to swing it.
    NoHelp,
}

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    next: TaggedLink,
}

/// A lock-free queue.
///
/// ```
/// use trueline_objects::ms_queue::MsQueue;
///
/// let queue = MsQueue::new();
/// queue.enqueue(1);
/// queue.enqueue(2);
/// assert_eq!(queue.dequeue(), Some(1));
/// ```
#[derive(Debug)]
pub struct MsQueue {
    head: TaggedLink,
    tail: TaggedLink,
    nodes: Arena<Node>,
    /// Nodes for reuse; `None` if nodes are never reused.
    free: Option<FreeList>,
    fault: Option<Fault>,
}

impl MsQueue {
    /// Creates an empty queue that never reuses a node.
    pub fn new() -> Self {
        Self::with(None, None)
    }

    /// Creates an empty queue that reuses nodes. Tags in the links make this safe.
    pub fn recycling() -> Self {
        Self::with(Some(FreeList::default()), None)
    }

    /// Creates an empty queue with a fault.
    pub fn faulty(fault: Fault) -> Self {
        let free = matches!(fault, Fault::LateRead | Fault::Aba).then(FreeList::default);
        Self::with(free, Some(fault))
    }

    fn with(free: Option<FreeList>, fault: Option<Fault>) -> Self {
        let nodes = Arena::new();
        let dummy = Tagged { node: nodes.allocate(), tag: 0 };
        Self { head: TaggedLink::new(dummy), tail: TaggedLink::new(dummy), nodes, free, fault }
    }

    /// Adds a value at the end.
    pub fn enqueue(&self, value: u64) {
        let node = self.node(value);
        loop {
            let tail = self.tail.load();
            let next = self.nodes[tail.node].next.load();
            if self.tail.load() != tail {
                continue;
            }
            if next.node == NULL {
                if self.nodes[tail.node].next.swing(next, self.after(next, node)) {
                    if self.fault == Some(Fault::NoHelp) {
                        self.tail.store(self.after(tail, node));
                    } else {
                        self.tail.swing(tail, self.after(tail, node));
                    }
                    return;
                }
            } else if self.fault == Some(Fault::NoHelp) {
                spin_hint();
            } else {
                self.tail.swing(tail, self.after(tail, next.node));
            }
        }
    }

    /// Removes and returns the value at the front, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let head = self.head.load();
            let tail = self.tail.load();
            let next = self.nodes[head.node].next.load();
            if self.head.load() != head {
                continue;
            }
            if next.node == NULL {
                return None;
            }
            if head.node == tail.node {
                self.tail.swing(tail, self.after(tail, next.node));
                continue;
            }
            let mut value = self.nodes[next.node].value.load(SeqCst);
            if self.head.swing(head, self.after(head, next.node)) {
                if self.fault == Some(Fault::LateRead) {
                    value = self.nodes[next.node].value.load(SeqCst);
                }
                if let Some(free) = &self.free {
                    free.put(head.node);
                }
                return Some(value);
            }
        }
    }

    /// Returns a link to `node`, with the tag that follows the tag of `old`.
    fn after(&self, old: Tagged, node: u32) -> Tagged {
        let tag = if self.fault == Some(Fault::Aba) { 0 } else { old.tag.wrapping_add(1) };
        Tagged { node, tag }
    }

    /// Takes a node for reuse or allocates one, and gives it this value and no successor.
    fn node(&self, value: u64) -> u32 {
        let used = self.free.as_ref().and_then(FreeList::take);
        let node = used.unwrap_or_else(|| self.nodes.allocate());
        // Other threads may be reading the node while it is reused, so these accesses are schedule
        // points.
        self.nodes[node].value.store(value, SeqCst);
        let next = &self.nodes[node].next;
        next.store(self.after(next.load(), NULL));
        node
    }
}
