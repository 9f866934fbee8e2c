//! A queue that dequeues at random.
//!
//! Y. Afek, G. Korland and E. Yanovsky, *Quasi-linearizability: relaxed consistency for improved concurrency* (2010); the
//! `rd-queue` of the Scal suite, tested in Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V, and figure 4.
//!
//! Michael and Scott's queue, but a node is removed by a mark of its own, and unlinked when it is the first, by anyone. To
//! dequeue, take any of the first *K* + 1 nodes, whether others of them are removed or not: the window stays where it is
//! until its first node is removed, so that no value is overtaken more than *K* times. Who has chosen removed nodes a
//! few times takes the first one.
//!
//! | fault | what is wrong | a history, for *K* = 1 |
//! |---|---|---|
//! | [`Fault::SlidingWindow`] | nodes that are removed do not count, so that the first value may stay for ever; Round-Up, section II | `enqueue` of 1, 2 and 3; then `dequeue` → 2, → 3 |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, AtomicU64, choose};

use crate::arena::{Arena, NULL};

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The window has the first values, instead of the first nodes.
    SlidingWindow,
}

/// How often a dequeue chooses before it takes the first.
const CHOICES: u32 = 3;

#[derive(Default, Debug)]
struct Node {
    value: AtomicU64,
    next: AtomicU32,
    is_removed: AtomicBool,
}

/// The queue.
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
    /// A node that is removed, or the dummy at the start; so are all before it.
    head: AtomicU32,
    tail: AtomicU32,
    nodes: Arena<Node>,
    fault: Option<Fault>,
}

impl RdQueue {
    /// An empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// An empty queue that is wrong.
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
            // If this fails, another has done it.
            let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
            if linked.is_ok() {
                return;
            }
        }
    }

    /// Removes and returns one of the first *K* + 1 values; `None` if the queue is empty.
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

    /// The first node that is not removed, to which it swings the head; none if there was a time without any.
    fn first(&self) -> Option<u32> {
        let mut before = self.head.load(SeqCst);
        loop {
            let node = self.next(before)?;
            if !self.nodes[node].is_removed.load(SeqCst) {
                return Some(node);
            }
            // If this fails, another has done it.
            let _ = self.head.compare_exchange(before, node, SeqCst, SeqCst);
            before = node;
        }
    }

    /// The node so many steps behind the first, or the last one; none if the queue was empty.
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
