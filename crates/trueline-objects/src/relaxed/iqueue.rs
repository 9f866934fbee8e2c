//! A queue with an array and two counters.
//!
//! The `IQueue` of Zhang, Chattopadhyay and Wang, *Round-Up: runtime verification of quasi linearizability for concurrent
//! data structures* (2015), tables I and II; it is an exercise in Herlihy and Shavit, *The Art of Multiprocessor
//! Programming*, chapter 3.
//!
//! To enqueue, increment the tail counter, and fill the slot whose number is the old value of the
//! counter. To dequeue, read the slot at the head counter, and increment this counter by
//! compare-and-set. If a dequeue finds a slot that is not filled yet, it waits until the slot is
//! filled. However, if the head has reached the tail, the queue is empty, and the dequeue does not
//! wait.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::EmptyAtGap`] | a slot that is not filled is mistaken for the end of the queue; this is the queue of the paper | `enqueue(1)` is slow; `enqueue(2)` returns, and a later `dequeue` → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, spin_hint};

use super::word;
use crate::arena::Arena;

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Mistakes a slot that is not filled yet for the end of the queue.
    EmptyAtGap,
}

/// A queue with an array and two counters.
///
/// ```
/// use trueline_objects::relaxed::iqueue::IQueue;
///
/// let queue = IQueue::new();
/// queue.enqueue(1);
/// assert_eq!(queue.dequeue(), Some(1));
/// assert_eq!(queue.dequeue(), None);
/// ```
#[derive(Debug)]
pub struct IQueue {
    head: AtomicU32,
    tail: AtomicU32,
    /// The slots, numbered from 1 like the counters.
    slots: Arena<AtomicU64>,
    fault: Option<Fault>,
}

impl IQueue {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self::faulty(None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { head: AtomicU32::new(1), tail: AtomicU32::new(1), slots: Arena::new(), fault: fault.into() }
    }

    /// Adds a value at the end.
    ///
    /// # Panics
    /// Panics if the value is `u64::MAX`, which cannot be distinguished from an empty slot.
    pub fn enqueue(&self, value: u64) {
        let slot = self.tail.fetch_add(1, SeqCst);
        self.slots.at(slot).store(word::of(value), SeqCst);
    }

    /// Removes and returns the value at the front, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let slot = self.head.load(SeqCst);
            // The head never passes the tail. So if the tail is at this slot, the head is still at
            // this slot, too, and the queue is empty.
            if self.fault != Some(Fault::EmptyAtGap) && self.tail.load(SeqCst) == slot {
                return None;
            }
            match word::value(self.slots.at(slot).load(SeqCst)) {
                Some(value) => {
                    if self.head.compare_exchange(slot, slot + 1, SeqCst, SeqCst).is_ok() {
                        return Some(value);
                    }
                }
                None if self.fault == Some(Fault::EmptyAtGap) => return None,
                None => spin_hint(),
            }
        }
    }
}
