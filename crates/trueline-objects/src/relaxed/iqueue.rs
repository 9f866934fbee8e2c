//! A queue of an array and two counters.
//!
//! The `IQueue` of Zhang, Chattopadhyay and Wang, *Round-Up: runtime verification of quasi linearizability for concurrent
//! data structures* (2015), tables I and II; it is an exercise in Herlihy and Shavit, *The Art of Multiprocessor
//! Programming*, chapter 3.
//!
//! To enqueue, count the tail up, and fill the slot that it stood at. To dequeue, read the slot that the head stands at, and
//! count the head up by compare-and-set. A slot may be counted and not filled yet: then a dequeue waits, unless the
//! head has come to the tail, which means that the queue is empty.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::EmptyAtGap`] | a slot that is not filled means that the queue is empty; the queue of the paper | `enqueue(1)` is slow; `enqueue(2)` returns, and `dequeue` behind it → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, spin_hint};

use super::word;
use crate::arena::Arena;

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Takes a slot that is not filled yet for the end.
    EmptyAtGap,
}

/// The queue.
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
    /// From 1, as the counters.
    slots: Arena<AtomicU64>,
    fault: Option<Fault>,
}

impl IQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self::faulty(None)
    }

    /// An empty queue that is wrong.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { head: AtomicU32::new(1), tail: AtomicU32::new(1), slots: Arena::new(), fault: fault.into() }
    }

    /// Adds a value at the end.
    ///
    /// # Panics
    /// If the value is `u64::MAX`: it shares a word with none.
    pub fn enqueue(&self, value: u64) {
        let slot = self.tail.fetch_add(1, SeqCst);
        self.slots.at(slot).store(word::of(value), SeqCst);
    }

    /// Removes and returns the value at the front; `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let slot = self.head.load(SeqCst);
            // The head is not behind the tail, so it is still there.
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
