//! Herlihy and Wing's queue.
//!
//! M. Herlihy and J. Wing, *Linearizability: a correctness condition for concurrent objects* (1990), section 4; the
//! `Herlihy/Wing queue` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables I and II.
//!
//! To enqueue, count the back up, and fill the slot that it stood at. To dequeue, take what is in the first slot that has
//! a value, by an exchange, and look again from the start if there is none: a dequeue waits while the queue is empty. The
//! queue is linearizable, but no step of an enqueue is the one at which it takes effect, in all runs.

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, AtomicU64, spin_hint};

use super::word;
use crate::arena::Arena;

/// The queue.
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
    /// From 1, as the counter.
    slots: Arena<AtomicU64>,
}

impl HerlihyWingQueue {
    /// An empty queue.
    pub fn new() -> Self {
        Self { back: AtomicU32::new(1), slots: Arena::new() }
    }

    /// Adds a value at the end.
    ///
    /// # Panics
    /// If the value is `u64::MAX`: it shares a word with none.
    pub fn enqueue(&self, value: u64) {
        let slot = self.back.fetch_add(1, SeqCst);
        self.slots.at(slot).store(word::of(value), SeqCst);
    }

    /// Removes and returns the value at the front, once there is one.
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
