//! A priority queue with a window.
//!
//! The `Quasi Priority Queue` of Zhang, Chattopadhyay and Wang, *Round-Up* (2015), tables I to III, with its fault b2;
//! the window is described in section II, figure 4. The paper does not describe the algorithm.
//!
//! The entries are in a sorted list protected by a lock. To delete the minimum, take any of the first *K* + 1 entries,
//! the *window*. In the paper the window stays until all of its entries are taken, so that no entry is overtaken
//! forever; but a smaller entry that is inserted in the meantime would have to wait for the whole window. Here each
//! entry counts how often it was overtaken, and the window ends with the first entry that must not be overtaken again.
//! Thus each entry is among the first *K* + 1 when it is taken, and is overtaken at most *K* times.
//!
//! | fault | description | example history, for *K* = 1 |
//! |---|---|---|
//! | [`Fault::BeyondWindow`] | takes any of the first 2*K* + 2 entries; b2 | 1, 2 and 3 are inserted; then `delete_min` → 3 |
//! | [`Fault::NoWindow`] | overtaking is not limited: any of the first *K* + 1 entries is taken, and the first may stay forever; section II | 1, 2 and 3 are inserted; then `delete_min` → 2, → 3 |

use trueline::primitives::{Mutex, choose};

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Takes an entry that is too far from the front.
    BeyondWindow,
    /// Lets entries be overtaken forever.
    NoWindow,
}

#[derive(Debug)]
struct Entry {
    priority: u64,
    value: u64,
    /// The number of times that an entry further back in the list was taken before this entry.
    overtaken: usize,
}

/// A priority queue with a window.
///
/// ```
/// use trueline_objects::relaxed::quasi_priority_queue::QuasiPriorityQueue;
///
/// let queue = QuasiPriorityQueue::new(1);
/// [30, 10, 20].into_iter().for_each(|value| queue.insert(value, value / 10));
/// assert_ne!(queue.delete_min(), Some(30));
/// ```
#[derive(Debug)]
pub struct QuasiPriorityQueue {
    factor: usize,
    /// The entries, sorted by priority, the least one first. Entries with equal priorities are in
    /// the order of their insertion.
    entries: Mutex<Vec<Entry>>,
    fault: Option<Fault>,
}

impl QuasiPriorityQueue {
    /// Creates an empty queue with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { factor, entries: Mutex::new(Vec::new()), fault: fault.into() }
    }

    /// Adds a value with a priority. Lower priorities come first.
    pub fn insert(&self, value: u64, priority: u64) {
        let mut entries = self.entries.lock();
        let at = entries.partition_point(|entry| entry.priority <= priority);
        entries.insert(at, Entry { priority, value, overtaken: 0 });
    }

    /// Removes and returns one of the *K* + 1 values with the lowest priorities, or returns `None` if the queue is
    /// empty.
    pub fn delete_min(&self) -> Option<u64> {
        let mut entries = self.entries.lock();
        if entries.is_empty() {
            return None;
        }
        let chosen = choose(self.window(&entries));
        entries[..chosen].iter_mut().for_each(|entry| entry.overtaken += 1);
        Some(entries.remove(chosen).value)
    }

    /// Returns the number of entries at the front that may be taken.
    fn window(&self, entries: &[Entry]) -> usize {
        let first = self.factor + 1;
        let longest = match self.fault {
            Some(Fault::BeyondWindow) => 2 * first,
            Some(Fault::NoWindow) => first,
            None => {
                let due = entries.iter().position(|entry| entry.overtaken == self.factor);
                due.map_or(first, |due| first.min(due + 1))
            }
        };
        longest.min(entries.len())
    }
}
