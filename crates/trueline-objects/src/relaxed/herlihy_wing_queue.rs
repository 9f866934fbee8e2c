//! Herlihy and Wing's queue.
//!
//! M. Herlihy and J. Wing, *Linearizability: a correctness condition for concurrent objects* (1990), section 4; the
//! `Herlihy/Wing queue` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables I and II.
//!
//! To enqueue, increment the back counter, and fill the slot whose number is the old value of the
//! counter. To dequeue, take the value from the first slot that has one, by an atomic exchange. If
//! no slot has a value, search again from the start: a dequeue waits while the queue is empty. The
//! queue is linearizable, but no single step of `enqueue` is the linearization point in all runs.

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, spin_hint};

use super::word;
use crate::arena::Arena;

/// Herlihy and Wing's queue, whose dequeues wait while it is empty.
///
/// ```
/// use trueline_objects::relaxed::herlihy_wing_queue::HerlihyWingQueue;
///
/// let queue = HerlihyWingQueue::new();
/// queue.enqueue(1);
/// assert_eq!(queue.dequeue(), 1);
/// ```
#[derive(Debug)]
pub struct HerlihyWingQueue {
    back: AtomicU32,
    /// The slots, numbered from 1 like the counter.
    slots: Arena<AtomicU64>,
}

impl HerlihyWingQueue {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self { back: AtomicU32::new(1), slots: Arena::new() }
    }

    /// Adds a value at the end.
    ///
    /// # Panics
    /// Panics if the value is `u64::MAX`, which cannot be distinguished from an empty slot.
    pub fn enqueue(&self, value: u64) {
        let slot = self.back.fetch_add(1, SeqCst);
        self.slots.at(slot).store(word::of(value), SeqCst);
    }

    /// Removes and returns the value at the front; waits while the queue is empty.
    pub fn dequeue(&self) -> u64 {
        loop {
            let back = self.back.load(SeqCst);
            if let Some(value) = (1..back).find_map(|slot| word::value(self.slots.at(slot).swap(0, SeqCst))) {
                return value;
            }
            spin_hint();
        }
    }
}
