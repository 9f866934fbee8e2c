//! A k-FIFO queue of linked segments.
//!
//! C. M. Kirsch, M. Lippautz and H. Payer, *Fast and scalable, lock-free k-FIFO queues* (2013); the `ubk-queue` of the Scal
//! suite, tested in Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V.
//!
//! This works like the [queue in a ring](super::bk_queue), except that segments are linked, and new
//! ones are created when needed. A segment is marked before the head passes it, so that a thread
//! that fills a slot late sees that the segment has left the queue. A segment may be marked even if
//! the head does not pass it; then late threads use another segment, which is harmless.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoCommit`] | a value inserted into a segment that the head has already passed stays there | `enqueue(1)` is slow, and the head passes its segment; then `enqueue(1)` returns, and `dequeue` → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32};

use super::cells::Cells;
use crate::arena::{Arena, NULL};
use crate::link::{Tagged, TaggedLink};
use crate::slot::{Item, Slot};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not check whether the head has already passed the segment of an inserted value.
    NoCommit,
}

#[derive(Default, Debug)]
struct Segment {
    next: AtomicU32,
    is_removed: AtomicBool,
}

/// A k-FIFO queue of linked segments.
///
/// ```
/// use trueline_objects::relaxed::ubk_queue::UbkQueue;
///
/// let queue = UbkQueue::new(1);
/// (1..=3).for_each(|value| queue.enqueue(value));
/// assert_ne!(queue.dequeue(), Some(3));
/// ```
#[derive(Debug)]
pub struct UbkQueue {
    head: TaggedLink,
    tail: TaggedLink,
    segments: Arena<Segment>,
    cells: Cells,
    fault: Option<Fault>,
}

impl UbkQueue {
    /// Creates an empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        let segments = Arena::new();
        let first = Tagged { node: segments.allocate(), tag: 0 };
        Self {
            head: TaggedLink::new(first),
            tail: TaggedLink::new(first),
            segments,
            cells: Cells::new(factor + 1),
            fault: fault.into(),
        }
    }

    /// Adds a value at the end, or at most *K* places before it.
    ///
    /// # Panics
    /// Panics if the value is not below `u32::MAX`, because it shares a word with a counter.
    pub fn enqueue(&self, value: u64) {
        let value = Item::fit(value);
        loop {
            let tail = self.tail.load();
            let free = self.cells.find_free(tail.node);
            if self.tail.load() != tail {
                continue;
            }
            match free {
                Some((slot, item)) => {
                    if slot.replace(item, Some(value))
                        && self.is_committed(tail.node, slot, item.replaced_by(Some(value)))
                    {
                        return;
                    }
                }
                None => self.advance_tail(tail),
            }
        }
    }

    /// Removes and returns one of the first *K* + 1 values, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let head = self.head.load();
            let found = self.cells.find_item(head.node);
            let tail = self.tail.load();
            if self.head.load() != head {
                continue;
            }
            match found {
                Some((slot, item)) => {
                    if head.node == tail.node {
                        self.advance_tail(tail);
                    }
                    if slot.replace(item, None) {
                        return item.value.map(u64::from);
                    }
                }
                // The tail never returns to a segment, and it leaves a segment before any value is
                // taken from the segment. So no value was taken from this segment while it was
                // searched.
                None if head.node == tail.node => return None,
                None => self.advance_head(head),
            }
        }
    }

    /// Swings the tail to the segment after this one, which is created if it does not exist.
    fn advance_tail(&self, tail: Tagged) {
        let link = &self.segments[tail.node].next;
        let next = match link.load(SeqCst) {
            NULL => {
                let new = self.segments.allocate();
                link.compare_exchange(NULL, new, SeqCst, SeqCst).map_or_else(|other| other, |_| new)
            }
            next => next,
        };
        // If this compare-and-set fails, another thread has swung the tail.
        self.tail.swing(tail, Tagged { node: next, tag: tail.tag.wrapping_add(1) });
    }

    /// Swings the head to the segment after this one, which exists because the tail has already moved there.
    fn advance_head(&self, head: Tagged) {
        let segment = &self.segments[head.node];
        let next = segment.next.load(SeqCst);
        segment.is_removed.store(true, SeqCst);
        // If this compare-and-set fails, another thread has swung the head, or has committed a
        // value to the segment.
        self.head.swing(head, Tagged { node: next, tag: head.tag.wrapping_add(1) });
    }

    /// Returns `true` if the value that this thread has put into a slot can stay there, or has
    /// already been dequeued. Otherwise, takes the value back and returns `false`.
    fn is_committed(&self, segment: u32, slot: &Slot, put: Item) -> bool {
        if self.fault == Some(Fault::NoCommit) || slot.load() != put {
            return true;
        }
        // Load the head before reading the mark. If the head has already passed the segment when it
        // is loaded, the segment is marked.
        let head = self.head.load();
        if !self.segments[segment].is_removed.load(SeqCst) {
            if segment != head.node {
                return true;
            }
            if self.head.swing(head, Tagged { tag: head.tag.wrapping_add(1), ..head }) {
                return true;
            }
        }
        // If this compare-and-set fails, another thread has already dequeued the value.
        !slot.replace(put, None)
    }
}
