//! A k-stack: a stack of segments.
//!
//! T. A. Henzinger, C. M. Kirsch, H. Payer, A. Sezgin and A. Sokolova, *Quantitative relaxation of concurrent data
//! structures* (2013); the `k-stack` of the Scal suite, in which Zhang, Chattopadhyay and Wang, *Round-Up* (2015), algorithm
//! 3 and table V, found a fault.
//!
//! Each segment has *K* + 1 slots. To push, fill any free slot of the top segment; if it has no free slot, put a new
//! segment with the value on top. To pop, empty any filled slot of the top segment; if it has no filled slot, remove
//! the segment, unless it is the lowest one, in which case the stack is empty. Thus a popped value is among the top
//! *K* + 1 values.
//!
//! A thread that removes a segment announces this first, by a counter in the segment, and then checks again whether the
//! segment is empty. A thread that fills a slot checks the counter: if no thread is about to remove the segment, the
//! value is *committed*. Otherwise the thread changes the tag of the top, which makes the removal fail, or takes the
//! value back, unless another thread has already popped it.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::SecondRead`] | the counter is read twice: the first read says that a thread removes the segment, the second that none does; the value is neither committed nor taken back, and is pushed again | `push(1)`; then `pop` → 1, `pop` → 1 |

use trueline::primitives::Ordering::SeqCst;
use trueline::primitives::{AtomicU32, choose};

use super::cells::Cells;
use crate::arena::{Arena, NULL};
use crate::link::{Tagged, TaggedLink};
use crate::slot::{Item, Slot};

/// A fault of a stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Checks twice whether a segment is being removed. The two answers can differ.
    SecondRead,
}

#[derive(Default, Debug)]
struct Segment {
    below: AtomicU32,
    /// Number of threads that are about to remove the segment.
    removers: AtomicU32,
}

/// A stack of segments.
///
/// ```
/// use trueline_objects::relaxed::k_stack::KStack;
///
/// let stack = KStack::new(1);
/// (1..=3).for_each(|value| stack.push(value));
/// assert_ne!(stack.pop(), Some(1));
/// ```
#[derive(Debug)]
pub struct KStack {
    top: TaggedLink,
    segments: Arena<Segment>,
    cells: Cells,
    fault: Option<Fault>,
}

impl KStack {
    /// Creates an empty stack with this quasi factor.
    pub fn new(factor: usize) -> Self {
        Self::faulty(factor, None)
    }

    /// Creates an empty stack with a fault; `None` creates a correct one.
    pub fn faulty(factor: usize, fault: impl Into<Option<Fault>>) -> Self {
        let segments = Arena::new();
        let lowest = Tagged { node: segments.allocate(), tag: 0 };
        Self { top: TaggedLink::new(lowest), segments, cells: Cells::new(factor + 1), fault: fault.into() }
    }

    /// Adds a value on top, or at most *K* places below.
    ///
    /// # Panics
    /// Panics if the value is not below `u32::MAX`, because it shares a word with a counter.
    pub fn push(&self, value: u64) {
        let value = Item::fit(value);
        loop {
            let top = self.top.load();
            let free = self.cells.find_free(top.node);
            if self.top.load() != top {
                continue;
            }
            let is_pushed = match free {
                Some((slot, item)) => {
                    slot.replace(item, Some(value)) && self.is_committed(top, slot, item.replaced_by(Some(value)))
                }
                None => self.grow(top, value),
            };
            if is_pushed {
                return;
            }
        }
    }

    /// Puts a new segment with a value on top; returns `false` if the top has changed.
    fn grow(&self, top: Tagged, value: u32) -> bool {
        let new = self.segments.allocate();
        self.segments[new].below.unscheduled().store(top.node, SeqCst);
        // The chosen number is below the size, which is a `u32`.
        self.cells.slot(new, choose(self.cells.size()) as u32).prepare(value);
        self.top.swing(top, Tagged { node: new, tag: top.tag.wrapping_add(1) })
    }

    /// Removes and returns one of the top *K* + 1 values, or returns `None` if the stack is empty.
    pub fn pop(&self) -> Option<u64> {
        loop {
            let top = self.top.load();
            let found = self.cells.find_item(top.node);
            if self.top.load() != top {
                continue;
            }
            match found {
                Some((slot, item)) => {
                    if slot.replace(item, None) {
                        return item.value.map(u64::from);
                    }
                }
                None => match self.segments[top.node].below.load(SeqCst) {
                    NULL => {
                        if self.cells.is_empty(top.node) && self.top.load() == top {
                            return None;
                        }
                    }
                    below => self.try_to_remove(top, below),
                },
            }
        }
    }

    /// Announces the removal of the top segment, and removes this segment if it is still empty.
    fn try_to_remove(&self, top: Tagged, below: u32) {
        let removers = &self.segments[top.node].removers;
        removers.fetch_add(1, SeqCst);
        let is_removed =
            self.cells.is_empty(top.node) && self.top.swing(top, Tagged { node: below, tag: top.tag.wrapping_add(1) });
        if !is_removed {
            removers.fetch_sub(1, SeqCst);
        }
    }

    /// Returns `true` if the value that this thread has put into a slot can stay there, or has
    /// already been popped. Otherwise, takes the value back and returns `false`.
    fn is_committed(&self, top: Tagged, slot: &Slot, put: Item) -> bool {
        let removers = &self.segments[top.node].removers;
        if slot.load() != put || removers.load(SeqCst) == 0 {
            return true;
        }
        if self.fault == Some(Fault::SecondRead) && removers.load(SeqCst) == 0 {
            return false;
        }
        if self.top.load() == top && self.top.swing(top, Tagged { tag: top.tag.wrapping_add(1), ..top }) {
            return true;
        }
        // If this compare-and-set fails, another thread has already popped the value.
        !slot.replace(put, None)
    }
}
