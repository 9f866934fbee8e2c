//! A queue that dequeues one of the first values, chosen at random.
//!
//! Y. Afek, G. Korland and E. Yanovsky, *Quasi-linearizability: relaxed consistency for improved concurrency* (2010); the
//! `rd-queue` of the Scal suite, tested in Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V, and figure 4.
//!
//! This is Michael and Scott's queue, except that a node is removed by setting a mark in the node. Any thread unlinks a
//! removed node once it is the first. To dequeue, take any of the first *K* + 1 nodes, the *window*. A removed node
//! still counts as one of these nodes: the window stays where it is until its first node is removed, so no value is
//! overtaken more than *K* times. A thread that has chosen removed nodes a few times takes the first node that is not
//! removed.
//!
//! | fault | description | example history, for *K* = 1 |
//! |---|---|---|
//! | [`Fault::SlidingWindow`] | removed nodes do not count, so the first value may stay forever; Round-Up, section II | `enqueue` of 1, 2 and 3; then `dequeue` → 2, → 3 |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, AtomicU64, choose};

use crate::arena::{Arena, NULL};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The window consists of the first values that are not removed, instead of the first nodes.
    SlidingWindow,
}

/// The number of nodes that a dequeue chooses at random before it takes the first value instead.
const CHOICES: u32 = 3;

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
    is_removed: AtomicBool,
}

/// A queue that dequeues one of the first values, chosen at random.
///
/// ```
/// use trueline_objects::relaxed::rd_queue::RdQueue;
///
/// let queue = RdQueue::new(1);
/// (1..=3).for_each(|value| queue.enqueue(value));
/// assert_ne!(queue.dequeue(), Some(3));
/// ```
#[derive(Debug)]
pub struct RdQueue {
    factor: usize,
    /// The initial dummy or a removed node. All nodes before it have been removed.
    head: AtomicU32,
    tail: AtomicU32,
    nodes: Arena<Node>,
    fault: Option<Fault>,
}

impl RdQueue {
    /// Creates an empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        let nodes = Arena::new();
        let dummy = nodes.allocate();
        Self { factor, head: AtomicU32::new(dummy), tail: AtomicU32::new(dummy), nodes, fault: fault.into() }
    }

    /// Adds a value at the end.
    pub fn enqueue(&self, value: u64) {
        let new = self.nodes.allocate();
        self.nodes[new].value.unscheduled().store(value, SeqCst);
        loop {
            let tail = self.tail.load(SeqCst);
            let linked = self.nodes[tail].next.compare_exchange(NULL, new, SeqCst, SeqCst);
            let next = linked.map_or_else(|other| other, |_| new);
            // If this compare-and-set fails, another thread has swung the tail.
            let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            if linked.is_ok() {
                return;
            }
        }
    }

    /// Removes and returns one of the first *K* + 1 values, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        let mut choices = 0;
        loop {
            let steps = if choices < CHOICES { choose(self.factor + 1) } else { 0 };
            choices += 1;
            let chosen = if steps == 0 { self.first()? } else { self.ahead(steps)? };
            let node = &self.nodes[chosen];
            if !node.is_removed.load(SeqCst) && node.is_removed.compare_exchange(false, true, SeqCst, SeqCst).is_ok() {
                return Some(node.value.load(SeqCst));
            }
        }
    }

    /// Returns the first node that is not removed, and swings the head past the removed nodes before it. Returns `None`
    /// if the queue was empty at some time.
    fn first(&self) -> Option<u32> {
        let mut before = self.head.load(SeqCst);
        loop {
            let node = self.next(before)?;
            if !self.nodes[node].is_removed.load(SeqCst) {
                return Some(node);
            }
            // If this compare-and-set fails, another thread has swung the head.
            let _ = self.head.compare_exchange(before, node, SeqCst, SeqCst);
            before = node;
        }
    }

    /// Returns the node that comes `steps` steps after the first node, or the last node if there
    /// are fewer nodes. Returns `None` if no node is linked after the head.
    fn ahead(&self, steps: usize) -> Option<u32> {
        let counts = |node: u32| self.fault != Some(Fault::SlidingWindow) || !self.nodes[node].is_removed.load(SeqCst);
        let mut node = self.next(self.head.load(SeqCst))?;
        let mut left = if counts(node) { steps } else { steps + 1 };
        while left > 0 {
            let Some(next) = self.next(node) else { break };
            node = next;
            left -= usize::from(counts(node));
        }
        Some(node)
    }

    fn next(&self, node: u32) -> Option<u32> {
        Some(self.nodes[node].next.load(SeqCst)).filter(|next| *next != NULL)
    }
}
