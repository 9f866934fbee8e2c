//! Shann, Huang and Chen's array-based queue.
//!
//! C.-H. Shann, T.-L. Huang and C. Chen, *A practical nonblocking queue algorithm using
//! compare-and-swap* (2000). Lowe, *Testing for linearizability* (2016), section 8, finds two
//! errors in the algorithm by testing. R. Colvin and L. Groves, *Formal verification of an
//! array-based nonblocking queue* (2005), had found both errors by proof.
//!
//! The queue is a ring of slots. Each slot is a word that contains an optional value and a counter
//! of the slot's changes. *Front* counts the values that were dequeued, and *rear* those that were
//! enqueued. To enqueue, read rear and the slot at this position. If the slot is free, fill it and
//! advance rear. If it is not free, another thread has filled it but has not advanced rear yet;
//! advance rear for that thread and retry. Dequeue does the corresponding steps at the front.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::StaleSlot`] | enqueue reads the slot before it tests whether the queue is full, and dequeue before it tests whether the queue is empty; if the slot changes between the read and the test, enqueue advances rear past an empty slot, or dequeue advances front past a value | `enqueue(1)` returns; `dequeue` → none, and 1 is lost or dequeued late; or an operation never returns |
//!
//! The correct version reads the slot again before it advances a counter for another thread: the slot's own counter
//! shows whether the slot has changed.
//!
//! In the paper, operations wait while the queue is full or empty ([`Mode::Partial`]). The fault
//! may then show up as a history that is not linearizable or as an operation that never returns.
//! If, in addition, dequeue does not help to advance the front ([`Mode::PartialWithoutHelp`]), the
//! fault always shows up as an operation that never returns. With [`Mode::Total`], operations
//! return instead of waiting.

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU64, spin_hint};

use crate::slot::{Item, Slot};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An operation does not read the slot again before it advances a counter for another thread.
    StaleSlot,
}

/// The behavior of operations when the queue is full or empty.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Operations do not wait: enqueue returns `false`, and dequeue returns `None`.
    Total,
    /// Operations wait.
    Partial,
    /// Operations wait. In addition, a dequeue does not help another thread to advance the front,
    /// but waits until that thread has advanced it.
    PartialWithoutHelp,
}

/// A lock-free bounded queue in an array.
///
/// ```
/// use trueline_objects::shann_queue::{Mode, ShannQueue};
///
/// let queue = ShannQueue::new(1, Mode::Total);
/// assert!(queue.enqueue(1));
/// assert!(!queue.enqueue(2));
/// assert_eq!(queue.dequeue(), Some(1));
/// assert_eq!(queue.dequeue(), None);
/// ```
#[derive(Debug)]
pub struct ShannQueue {
    slots: Box<[Slot]>,
    front: AtomicU64,
    rear: AtomicU64,
    mode: Mode,
    fault: Option<Fault>,
}

impl ShannQueue {
    /// Creates an empty queue with room for `capacity` values. A capacity of 0 is treated as 1.
    pub fn new(capacity: usize, mode: Mode) -> Self {
        Self::faulty(capacity, mode, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(capacity: usize, mode: Mode, fault: impl Into<Option<Fault>>) -> Self {
        let slots = (0..capacity.max(1)).map(|_| Slot::default()).collect();
        Self { slots, front: AtomicU64::new(0), rear: AtomicU64::new(0), mode, fault: fault.into() }
    }

    fn slot(&self, count: u64) -> &Slot {
        &self.slots[(count % self.slots.len() as u64) as usize]
    }

    /// Adds a value at the end. If the queue is full, the call returns `false` in [`Mode::Total`],
    /// and waits in the other modes.
    ///
    /// # Panics
    /// Panics if the value is not below `u32::MAX`, because the slot stores the value and a counter
    /// in one word.
    pub fn enqueue(&self, value: u64) -> bool {
        let value = Item::fit(value);
        loop {
            let rear = self.rear.load(SeqCst);
            let item = self.slot(rear).load();
            if self.rear.load(SeqCst) != rear {
                continue;
            }
            if rear == self.front.load(SeqCst) + self.slots.len() as u64 {
                if self.mode == Mode::Total {
                    return false;
                }
                spin_hint();
            } else if item.value.is_none() {
                if self.slot(rear).replace(item, Some(value)) {
                    self.advance(&self.rear, rear);
                    return true;
                }
            } else if self.is_unchanged(rear, item) {
                self.advance(&self.rear, rear);
            }
        }
    }

    /// Removes and returns the value at the front. If the queue is empty, the call returns `None`
    /// in [`Mode::Total`], and waits in the other modes.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let front = self.front.load(SeqCst);
            let item = self.slot(front).load();
            if self.front.load(SeqCst) != front {
                continue;
            }
            if front == self.rear.load(SeqCst) {
                if self.mode == Mode::Total {
                    return None;
                }
                spin_hint();
            } else if let Some(value) = item.value {
                if self.slot(front).replace(item, None) {
                    self.advance(&self.front, front);
                    return Some(u64::from(value));
                }
            } else if self.mode == Mode::PartialWithoutHelp {
                spin_hint();
            } else if self.is_unchanged(front, item) {
                self.advance(&self.front, front);
            }
        }
    }

    fn advance(&self, counter: &AtomicU64, from: u64) {
        // If the compare-and-set fails, another thread has already advanced the counter.
        let _ = counter.compare_exchange(from, from + 1, SeqCst, SeqCst);
    }

    /// Returns whether the slot still contains `item`. The caller must have read `item` from the
    /// slot before it tested whether the queue is full or empty.
    fn is_unchanged(&self, count: u64, item: Item) -> bool {
        self.fault == Some(Fault::StaleSlot) || self.slot(count).load() == item
    }
}
