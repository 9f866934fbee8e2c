//! A quasi queue with segments.
//!
//! Y. Afek, G. Korland and E. Yanovsky, *Quasi-linearizability: relaxed consistency for improved concurrency* (2010). The
//! `Quasi Queue` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), figure 3 and tables I to III, with its faults b1, b2
//! and b3.
//!
//! The queue is a linked list of segments of *K* + 1 cells. To enqueue, fill any free cell of the last segment; if it
//! has no free cell, append a segment. To dequeue, mark any value of the first segment as removed; if all values are
//! removed, continue with the next segment. All values of a segment are enqueued, and dequeued, before any value of the
//! next one: values are out of order by at most *K* steps.
//!
//! The queue is empty if all values in the first segment are removed, and the segment has free
//! cells or no next segment. Because the cells are read one after the other, a dequeue that finds
//! free cells, but no value to remove, counts the free cells again: if their number has not changed,
//! no cell was filled in between, and the queue was empty at some time.
//!
//! | fault | description | example history, for *K* = 2 |
//! |---|---|---|
//! | [`Fault::LongSegments`] | segments have twice as many cells; b1 | `enqueue` of 1, 2, 3 and 4; then `dequeue` → 4 |
//! | [`Fault::RemovedTwice`] | the mark is read and set in two steps; b2 | `enqueue(1)`; two concurrent dequeues, both → 1 |
//! | [`Fault::EmptyAtGap`] | one free cell is mistaken for an empty queue; b3 | `enqueue(1)`; then `dequeue` → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, AtomicU64};

use super::cells::in_a_circle;
use super::word;
use crate::arena::{Arena, NULL};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Segments have twice as many cells as the factor allows.
    LongSegments,
    /// Checks whether a value is removed, and marks it as removed in a second step.
    RemovedTwice,
    /// Mistakes a free cell for an empty queue.
    EmptyAtGap,
}

#[derive(Default, Debug)]
struct Segment {
    next: AtomicU32,
}

#[derive(Default, Debug)]
struct Cell {
    value: AtomicU64,
    is_removed: AtomicBool,
}

/// A queue with segments.
///
/// ```
/// use trueline_objects::relaxed::quasi_queue::QuasiQueue;
///
/// let queue = QuasiQueue::new(1);
/// (1..=3).for_each(|value| queue.enqueue(value));
/// let (first, second) = (queue.dequeue(), queue.dequeue());
/// assert!([(Some(1), Some(2)), (Some(2), Some(1))].contains(&(first, second)));
/// assert_eq!(queue.dequeue(), Some(3));
/// ```
#[derive(Debug)]
pub struct QuasiQueue {
    size: u32,
    head: AtomicU32,
    tail: AtomicU32,
    segments: Arena<Segment>,
    cells: Arena<Cell>,
    fault: Option<Fault>,
}

impl QuasiQueue {
    /// Creates an empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    ///
    /// # Panics
    /// Panics if the number of cells in a segment does not fit into a `u32`.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        let fault = fault.into();
        let times = if fault == Some(Fault::LongSegments) { 2 } else { 1 };
        let size = u32::try_from(times * (factor + 1)).expect("the number of cells must fit in a `u32`");
        let segments = Arena::new();
        let first = segments.allocate();
        let (head, tail) = (AtomicU32::new(first), AtomicU32::new(first));
        Self { size, head, tail, segments, cells: Arena::new(), fault }
    }

    /// Returns the cells of a segment in circular order, starting at a random cell.
    fn cells(&self, segment: u32) -> impl Iterator<Item = &Cell> {
        in_a_circle(self.size).map(move |index| self.cells.at((segment - 1) * self.size + index + 1))
    }

    /// Adds a value at the end, or at most *K* places before it.
    ///
    /// # Panics
    /// Panics if the value is `u64::MAX`, which cannot be distinguished from a free cell.
    pub fn enqueue(&self, value: u64) {
        let word = word::of(value);
        loop {
            let tail = self.tail.load(SeqCst);
            let fill = |cell: &Cell| {
                cell.value.load(SeqCst) == 0 && cell.value.compare_exchange(0, word, SeqCst, SeqCst).is_ok()
            };
            if self.cells(tail).any(fill) {
                return;
            }
            self.append(tail);
        }
    }

    /// Swings the tail from this full segment to the next one, which is created if it does not exist.
    fn append(&self, tail: u32) {
        let link = &self.segments[tail].next;
        let next = match link.load(SeqCst) {
            NULL => {
                let new = self.segments.allocate();
                link.compare_exchange(NULL, new, SeqCst, SeqCst).map_or_else(|other| other, |_| new)
            }
            next => next,
        };
        // If this compare-and-set fails, another thread has swung the tail.
        let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
    }

    /// Removes and returns one of the first *K* + 1 values, or returns `None` if the queue is empty.
    pub fn dequeue(&self) -> Option<u64> {
        loop {
            let head = self.head.load(SeqCst);
            let mut free = 0;
            for cell in self.cells(head) {
                match word::value(cell.value.load(SeqCst)) {
                    None if self.fault == Some(Fault::EmptyAtGap) => return None,
                    None => free += 1,
                    Some(value) if self.remove(cell) => return Some(value),
                    Some(_) => {}
                }
            }
            if free > 0 {
                // Each cell is filled only once, so if the number of free cells has not changed, no
                // cell has been filled in between. As long as a cell of the segment is free, there
                // is no next segment.
                if self.cells(head).filter(|cell| cell.value.load(SeqCst) == 0).count() == free {
                    return None;
                }
                continue;
            }
            match self.segments[head].next.load(SeqCst) {
                NULL => return None,
                next => {
                    // If this compare-and-set fails, another thread has swung the head.
                    let _ = self.head.compare_exchange(head, next, SeqCst, SeqCst);
                }
            }
        }
    }

    /// Marks the value of a cell as removed; returns `false` if another thread has removed it.
    fn remove(&self, cell: &Cell) -> bool {
        if cell.is_removed.load(SeqCst) {
            return false;
        }
        if self.fault == Some(Fault::RemovedTwice) {
            cell.is_removed.store(true, SeqCst);
            return true;
        }
        cell.is_removed.compare_exchange(false, true, SeqCst, SeqCst).is_ok()
    }
}
