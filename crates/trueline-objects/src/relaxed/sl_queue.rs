//! A linked list for a single thread.
//!
//! The `sl-queue` of the Scal suite (C. M. Kirsch and others, University of Salzburg), tested in
//! Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V. It is not meant for
//! concurrent use, and the paper shows that it fails when it is used concurrently.
//!
//! The first node of the list is a dummy. To enqueue, link a node after the last one, and set the tail to this node. To
//! dequeue, read the value of the second node, and set the head to this node. The correct version holds a lock for
//! each operation.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoLock`] | there is no lock: if two enqueues are concurrent, one overwrites the link of the other; concurrent dequeues take the same node | `enqueue(1)`; two concurrent dequeues, both → 1. Or two concurrent enqueues; of two later dequeues, one → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, Mutex};

use crate::arena::{Arena, NULL};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not lock.
    NoLock,
}

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
}

/// A linked list, protected by a lock in the correct version.
///
/// ```
/// use trueline_objects::relaxed::sl_queue::SlQueue;
///
/// let queue = SlQueue::new();
/// queue.enqueue(1);
/// assert_eq!(queue.dequeue(), Some(1));
/// ```
#[derive(Debug)]
pub struct SlQueue {
    lock: Mutex<()>,
    head: AtomicU32,
    tail: AtomicU32,
    nodes: Arena<Node>,
    fault: Option<Fault>,
}

impl SlQueue {
    /// Creates an empty queue that is protected by a lock.
    pub fn new() -> Self {
        Self::faulty(None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        let nodes = Arena::new();
        let dummy = nodes.allocate();
        Self {
            lock: Mutex::new(()),
            head: AtomicU32::new(dummy),
            tail: AtomicU32::new(dummy),
            nodes,
            fault: fault.into(),
        }
    }

    /// Adds a value at the end.
    pub fn enqueue(&self, value: u64) {
        let _alone = (self.fault != Some(Fault::NoLock)).then(|| self.lock.lock());
        let node = self.nodes.allocate();
        self.nodes[node].value.unscheduled().store(value, SeqCst);
        let tail = self.tail.load(SeqCst);
        self.nodes[tail].next.store(node, SeqCst);
        self.tail.store(node, SeqCst);
    }

    /// Removes and returns the value at the front, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        let _alone = (self.fault != Some(Fault::NoLock)).then(|| self.lock.lock());
        let head = self.head.load(SeqCst);
        if head == self.tail.load(SeqCst) {
            return None;
        }
        let next = self.nodes[head].next.load(SeqCst);
        if next == NULL {
            // The list ends before the tail. This happens only if links were overwritten.
            return None;
        }
        let value = self.nodes[next].value.load(SeqCst);
        self.head.store(next, SeqCst);
        Some(value)
    }
}
