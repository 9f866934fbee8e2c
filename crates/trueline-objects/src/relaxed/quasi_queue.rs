//! A quasi queue of segments.
//!
//! Y. Afek, G. Korland and E. Yanovsky, *Quasi-linearizability: relaxed consistency for improved concurrency* (2010). The
//! `Quasi Queue` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), figure 3 and tables I to III, with its faults b1, b2
//! and b3.
//!
//! A linked list of segments of *K* + 1 cells. To enqueue, fill any free cell of the last segment; if there is none,
//! append a segment. To dequeue, mark any value of the first segment as removed; if all are, go on to the next. All of a
//! segment is enqueued, and dequeued, before anything of the next one is: values are out of order by at most *K* steps.
//!
//! The queue is empty if no cell of the first segment has a value that is not removed. As they are looked at one after the
//! other, those that are free are looked at again: if none was filled, there was a time between at which it was empty.
//!
//! | fault | what is wrong | a history, for *K* = 2 |
//! |---|---|---|
//! | [`Fault::LongSegments`] | segments have twice as many cells; b1 | `enqueue` of 1, 2, 3 and 4; then `dequeue` → 4 |
//! | [`Fault::RemovedTwice`] | the mark is read, then set; b2 | `enqueue(1)`; of two dequeues at a time, both → 1 |
//! | [`Fault::EmptyAtGap`] | one free cell means that the queue is empty; b3 | `enqueue(1)`; then `dequeue` → none |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicBool, AtomicU32, AtomicU64};

use super::cells::in_a_circle;
use super::word;
use crate::arena::{Arena, NULL};

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Segments are too long.
    LongSegments,
    /// Reads whether a value is removed, and then says so.
    RemovedTwice,
    /// Takes a free cell for an empty queue.
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

/// The queue.
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
    /// An empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// An empty queue that is wrong.
    ///
    /// # Panics
    /// If segments are longer than a `u32` can count.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        let fault = fault.into();
        let times = if fault == Some(Fault::LongSegments) { 2 } else { 1 };
        let size = u32::try_from(times * (factor + 1)).expect("segments are not too long");
        let segments = Arena::new();
        let first = segments.allocate();
        let (head, tail) = (AtomicU32::new(first), AtomicU32::new(first));
        Self { size, head, tail, segments, cells: Arena::new(), fault }
    }

    /// The cells of a segment, from any of them on.
    fn cells(&self, segment: u32) -> impl Iterator<Item = &Cell> {
        in_a_circle(self.size).map(move |index| self.cells.at((segment - 1) * self.size + index + 1))
    }

    /// Adds a value at the end, or up to *K* before it.
    ///
    /// # Panics
    /// If the value is `u64::MAX`: it shares a word with none.
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

    /// Swings the tail to the segment behind this one, which is full.
    fn append(&self, tail: u32) {
        let link = &self.segments[tail].next;
        let next = match link.load(SeqCst) {
            NULL => {
                let new = self.segments.allocate();
                link.compare_exchange(NULL, new, SeqCst, SeqCst).map_or_else(|other| other, |_| new)
            }
            next => next,
        };
        // If this fails, another has done it.
        let _ = self.tail.compare_exchange(tail, next, SeqCst, SeqCst);
    }

    /// Removes and returns one of the first *K* + 1 values; `None` if the queue is empty.
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
                // Cells are filled once: as many that are free are the same. Where one is, there is no next segment.
                if self.cells(head).filter(|cell| cell.value.load(SeqCst) == 0).count() == free {
                    return None;
                }
                continue;
            }
            match self.segments[head].next.load(SeqCst) {
                NULL => return None,
                next => {
                    // If this fails, another has done it.
                    let _ = self.head.compare_exchange(head, next, SeqCst, SeqCst);
                }
            }
        }
    }

    /// Whether this thread has removed what is in the cell.
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
