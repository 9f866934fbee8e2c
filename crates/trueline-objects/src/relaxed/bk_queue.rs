//! A k-FIFO queue in a ring.
//!
//! C. M. Kirsch, M. Lippautz and H. Payer, *Fast and scalable, lock-free k-FIFO queues* (2013); the `bk-queue` of the Scal
//! suite, tested in Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V.
//!
//! The queue consists of the segments of a ring from the head to the tail; a segment has *K* + 1 slots. To enqueue,
//! fill any free slot of the tail segment; if it has no free slot, advance the tail. To dequeue, empty any filled slot
//! of the head segment; if it has no filled slot, advance the head, or return `None` if the head segment is also the
//! tail segment. Before a value is taken from the tail segment, the tail is advanced, so that a segment is filled only
//! once and emptied before any value of the next one is taken: values are out of order by at most *K* steps.
//!
//! A thread that has seen the segment empty may advance the head while another thread fills a slot.
//! Therefore a thread that has filled a slot checks whether its value is *committed*. If the
//! segment is the head segment, the thread changes the tag of the head, so that threads that are
//! about to advance the head fail. If the segment has left the queue, the thread takes its value
//! back, unless the value has already been dequeued.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoCommit`] | a value inserted into a segment that the head has already passed stays there | `enqueue(1)` is slow, and the head passes its segment; then `enqueue(1)` returns, and `dequeue` → none |

use super::cells::Cells;
use crate::link::{Tagged, TaggedLink};
use crate::slot::{Item, Slot};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not check whether the head has already passed the segment of an inserted value.
    NoCommit,
}

/// A k-FIFO queue in a ring.
///
/// ```
/// use trueline_objects::relaxed::bk_queue::BkQueue;
///
/// let queue = BkQueue::new(1, 4);
/// assert!((1..=3).all(|value| queue.enqueue(value)));
/// assert_ne!(queue.dequeue(), Some(3));
/// ```
#[derive(Debug)]
pub struct BkQueue {
    /// Number of segments in the ring.
    segments: u32,
    /// The head segment. The number of a segment is its position in the ring.
    head: TaggedLink,
    tail: TaggedLink,
    cells: Cells,
    fault: Option<Fault>,
}

impl BkQueue {
    /// Creates an empty queue with the given quasi factor. Its ring has the given number of
    /// segments, but at least two.
    pub fn new(factor: usize, segments: usize) -> Self {
        Self::faulty(factor, segments, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    ///
    /// # Panics
    /// Panics if there are more segments than a `u32` can count.
    pub fn faulty(factor: usize, segments: usize, fault: impl Into<Option<Fault>>) -> Self {
        let segments = u32::try_from(segments.max(2)).expect("the number of segments must fit in a `u32`");
        let (head, tail) = (TaggedLink::default(), TaggedLink::default());
        Self { segments, head, tail, cells: Cells::new(factor + 1), fault: fault.into() }
    }

    /// Adds a value at the end, or at most *K* places before it. Returns `false` if all segments are in use, even if
    /// some of their slots are free.
    ///
    /// # Panics
    /// Panics if the value is not below `u32::MAX`, because it shares a word with a counter.
    pub fn enqueue(&self, value: u64) -> bool {
        let value = Item::fit(value);
        loop {
            let (tail, head) = (self.tail.load(), self.head.load());
            let free = self.cells.find_free(tail.node);
            if self.tail.load() != tail {
                continue;
            }
            match free {
                Some((slot, item)) => {
                    if slot.replace(item, Some(value))
                        && self.is_committed(tail.node, slot, item.replaced_by(Some(value)))
                    {
                        return true;
                    }
                }
                None => {
                    if self.behind(tail).node == head.node {
                        let is_full = self.cells.find_item(head.node).is_some();
                        if is_full && self.head.load() == head {
                            return false;
                        }
                        if !is_full {
                            self.advance(&self.head, head);
                        }
                        continue;
                    }
                    self.advance(&self.tail, tail);
                }
            }
        }
    }

    /// Removes and returns one of the first *K* + 1 values, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let (head, tail) = (self.head.load(), self.tail.load());
            let found = self.cells.find_item(head.node);
            if self.head.load() != head {
                continue;
            }
            match found {
                Some((slot, item)) => {
                    if head.node == tail.node {
                        self.advance(&self.tail, tail);
                    }
                    if slot.replace(item, None) {
                        return item.value.map(u64::from);
                    }
                }
                None => {
                    if head.node == tail.node && self.tail.load() == tail {
                        return None;
                    }
                    self.advance(&self.head, head);
                }
            }
        }
    }

    /// Returns a link to the segment after this one, with the next tag.
    fn behind(&self, link: Tagged) -> Tagged {
        Tagged { node: (link.node + 1) % self.segments, tag: link.tag.wrapping_add(1) }
    }

    fn advance(&self, link: &TaggedLink, from: Tagged) {
        // If this compare-and-set fails, another thread has advanced the link.
        link.swing(from, self.behind(from));
    }

    /// Returns `true` if the value that this thread has put into a slot can stay there, or has
    /// already been dequeued. Otherwise, takes the value back and returns `false`.
    fn is_committed(&self, segment: u32, slot: &Slot, put: Item) -> bool {
        if self.fault == Some(Fault::NoCommit) || slot.load() != put {
            return true;
        }
        let (head, tail) = (self.head.load(), self.tail.load());
        // The distance of a segment from the head segment, along the ring.
        let from_head = |node: u32| (node + self.segments - head.node) % self.segments;
        let is_in_queue = from_head(segment) <= from_head(tail.node);
        if is_in_queue && segment != head.node {
            return true;
        }
        if is_in_queue && self.head.swing(head, Tagged { tag: head.tag.wrapping_add(1), ..head }) {
            return true;
        }
        // If this compare-and-set fails, another thread has already dequeued the value.
        !slot.replace(put, None)
    }
}
