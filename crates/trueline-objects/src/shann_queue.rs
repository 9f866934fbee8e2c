//! Shann, Huang and Chen's queue in an array.
//!
//! C.-H. Shann, T.-L. Huang and C. Chen, *A practical nonblocking queue algorithm using compare-and-swap* (2000). Lowe,
//! *Testing for linearizability* (2016), section 8, finds two errors in it that R. Colvin and L. Groves, *Formal
//! verification of an array-based nonblocking queue* (2005), had found by proof.
//!
//! A ring of words, each a value or none and a counter of its changes; *front* and *rear* count what was dequeued and
//! enqueued. To enqueue, read rear and its slot; if the slot is free, fill it and advance rear; if it is not, another
//! has filled it and not advanced rear: do that. Dequeue is the same at the front.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::StaleSlot`] | the slot is read before it is tested whether the queue is full or empty: a counter is advanced for a slot that has changed since, past a value or past a hole | `enqueue(1)` returns; `dequeue` → none, and 1 is lost or late; or an operation never returns |
//!
//! The correct version looks at the slot again before it advances a counter for another: its counter tells if it has
//! changed.
//!
//! In the original, operations wait while the queue is full or empty ([`Mode::Partial`]). Then the fault may show as a
//! wrong history or as an operation that never returns; and if dequeue does not help to advance the front
//! ([`Mode::PartialWithoutHelp`]), as the latter. [`Mode::Total`] returns instead of waiting.

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU64, spin_hint};

use crate::slot::{Item, Slot};

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Does not look at the slot again before it advances a counter for another.
    StaleSlot,
}

/// What a queue does when it is full or empty.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Says so.
    Total,
    /// Waits.
    Partial,
    /// Waits; and dequeue waits for others to advance the front, instead of doing it for them.
    PartialWithoutHelp,
}

/// The queue.
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
    /// An empty queue with room for `capacity` values, which is not 0.
    pub fn new(capacity: usize, mode: Mode) -> Self {
        Self::faulty(capacity, mode, None)
    }

    /// An empty queue that is wrong.
    pub fn faulty(capacity: usize, mode: Mode, fault: impl Into<Option<Fault>>) -> Self {
        let slots = (0..capacity.max(1)).map(|_| Slot::default()).collect();
        Self { slots, front: AtomicU64::new(0), rear: AtomicU64::new(0), mode, fault: fault.into() }
    }

    fn slot(&self, count: u64) -> &Slot {
        &self.slots[(count % self.slots.len() as u64) as usize]
    }

    /// Adds a value at the end; false if there is no room, unless the queue waits.
    ///
    /// # Panics
    /// If the value is not below `u32::MAX`: it shares a word with a counter.
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

    /// Removes and returns the value at the front; `None` if the queue is empty, unless it waits.
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
        // If this fails, another has done it.
        let _ = counter.compare_exchange(from, from + 1, SeqCst, SeqCst);
    }

    /// Whether the slot is as it was read, now that the queue is known to be neither full nor empty.
    fn is_unchanged(&self, count: u64, item: Item) -> bool {
        self.fault == Some(Fault::StaleSlot) || self.slot(count).load() == item
    }
}
