//! A k-FIFO queue in a ring.
//!
//! C. M. Kirsch, M. Lippautz and H. Payer, *Fast and scalable, lock-free k-FIFO queues* (2013); the `bk-queue` of the Scal
//! suite, tested in Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables IV and V.
//!
//! A ring of segments of *K* + 1 slots, from the head to the tail. To enqueue, fill any free slot of the tail's segment; if
//! there is none, advance the tail. To dequeue, empty any slot of the head's segment; if there is none to empty, advance the
//! head, and if it is the tail's segment too, the queue is empty. Before a value is taken from the tail's segment the tail is
//! advanced, so that a segment is filled once, and what it had is taken before anything of the next one is: values are out
//! of order by at most *K* steps.
//!
//! Who fills a slot late may find that the head has passed, or is about to pass, by one who has seen the segment empty. So
//! it looks whether its value is *committed*: if the segment is the head's, it changes the tag of the head, on which those
//! who are about to pass rely; if it has left the queue, the value is taken back, unless someone has dequeued it.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::NoCommit`] | a value that came too late is left where it is | `enqueue(1)` is slow, the head passes its segment; then it returns, and `dequeue` → none |

use super::cells::Cells;
use crate::link::{Tagged, TaggedLink};
use crate::slot::{Item, Slot};

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not look whether a value came too late.
    NoCommit,
}

/// The queue.
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
    /// How many there are in the ring.
    segments: u32,
    /// The number of a segment is its place in the ring.
    head: TaggedLink,
    tail: TaggedLink,
    cells: Cells,
    fault: Option<Fault>,
}

impl BkQueue {
    /// An empty queue with this quasi factor, and a ring of so many segments, at least two.
    pub fn new(factor: usize, segments: usize) -> Self {
        Self::faulty(factor, segments, None)
    }

    /// An empty queue that is wrong.
    ///
    /// # Panics
    /// If there are more segments than a `u32` can count.
    pub fn faulty(factor: usize, segments: usize, fault: impl Into<Option<Fault>>) -> Self {
        let segments = u32::try_from(segments.max(2)).expect("the ring is not too large");
        let (head, tail) = (TaggedLink::default(), TaggedLink::default());
        Self { segments, head, tail, cells: Cells::new(factor + 1), fault: fault.into() }
    }

    /// Adds a value at the end, or up to *K* before it; false if the ring is full of segments, some of whose slots may be free.
    ///
    /// # Panics
    /// If the value is not below `u32::MAX`: it shares a word with a counter.
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

    /// Removes and returns one of the first *K* + 1 values; `None` if the queue is empty.
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

    /// The segment behind this one.
    fn behind(&self, link: Tagged) -> Tagged {
        Tagged { node: (link.node + 1) % self.segments, tag: link.tag.wrapping_add(1) }
    }

    fn advance(&self, link: &TaggedLink, from: Tagged) {
        // If this fails, another has done it.
        link.swing(from, self.behind(from));
    }

    /// Whether a value that this thread has put into a slot stays; if not, it is taken back.
    fn is_committed(&self, segment: u32, slot: &Slot, put: Item) -> bool {
        if self.fault == Some(Fault::NoCommit) || slot.load() != put {
            return true;
        }
        let (head, tail) = (self.head.load(), self.tail.load());
        // How far behind the head, in the ring.
        let from_head = |node: u32| (node + self.segments - head.node) % self.segments;
        let is_in_queue = from_head(segment) <= from_head(tail.node);
        if is_in_queue && segment != head.node {
            return true;
        }
        if is_in_queue && self.head.swing(head, Tagged { tag: head.tag.wrapping_add(1), ..head }) {
            return true;
        }
        // If this fails, someone has dequeued it.
        !slot.replace(put, None)
    }
}
