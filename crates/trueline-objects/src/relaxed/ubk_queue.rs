//! A k-FIFO queue of linked segments.
//!
//! C. M. Kirsch, M. Lippautz and H. Payer, *Fast and scalable, lock-free k-FIFO queues* (2013); the `ubk-queue` of the Scal
//! suite, tested in Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V.
//!
//! As the [queue in a ring](super::bk_queue), but segments are linked, and there is always another. A segment that the head
//! passes is marked before that: so one who fills a slot late sees that it left the queue. The mark may be set although
//! the head did not pass; then those who are late go elsewhere, which does no harm.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::NoCommit`] | a value that came too late is left where it is | `enqueue(1)` is slow, the head passes its segment; then it returns, and `dequeue` → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32};

use super::cells::Cells;
use crate::arena::{Arena, NULL};
use crate::link::{Tagged, TaggedLink};
use crate::slot::{Item, Slot};

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not look whether a value came too late.
    NoCommit,
}

#[derive(Default, Debug)]
struct Segment {
    next: AtomicU32,
    is_removed: AtomicBool,
}

/// The queue.
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
    /// An empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// An empty queue that is wrong.
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

    /// Adds a value at the end, or up to *K* before it.
    ///
    /// # Panics
    /// If the value is not below `u32::MAX`: it shares a word with a counter.
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

    /// Removes and returns one of the first *K* + 1 values; `None` if the queue is empty.
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
                // The tail never comes back to a segment: nothing was taken from this one while it was looked through.
                None if head.node == tail.node => return None,
                None => self.advance_head(head),
            }
        }
    }

    /// Swings the tail to the segment behind this one, which is made if need be.
    fn advance_tail(&self, tail: Tagged) {
        let link = &self.segments[tail.node].next;
        let next = match link.load(SeqCst) {
            NULL => {
                let new = self.segments.allocate();
                link.compare_exchange(NULL, new, SeqCst, SeqCst).map_or_else(|other| other, |_| new)
            }
            next => next,
        };
        // If this fails, another has done it.
        self.tail.swing(tail, Tagged { node: next, tag: tail.tag.wrapping_add(1) });
    }

    /// Swings the head to the segment behind this one: the tail has, so that there is one.
    fn advance_head(&self, head: Tagged) {
        let segment = &self.segments[head.node];
        let next = segment.next.load(SeqCst);
        segment.is_removed.store(true, SeqCst);
        // If this fails, another has done it, or has committed a value.
        self.head.swing(head, Tagged { node: next, tag: head.tag.wrapping_add(1) });
    }

    /// Whether a value that this thread has put into a slot stays; if not, it is taken back.
    fn is_committed(&self, segment: u32, slot: &Slot, put: Item) -> bool {
        if self.fault == Some(Fault::NoCommit) || slot.load() != put {
            return true;
        }
        // The head first: if it has passed by now, the segment has been marked.
        let head = self.head.load();
        if !self.segments[segment].is_removed.load(SeqCst) {
            if segment != head.node {
                return true;
            }
            if self.head.swing(head, Tagged { tag: head.tag.wrapping_add(1), ..head }) {
                return true;
            }
        }
        // If this fails, someone has dequeued it.
        !slot.replace(put, None)
    }
}
