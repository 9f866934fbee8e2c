//! Segments of slots. A search in a segment starts at a random slot.

use trueline::primitives::choose;

use crate::arena::Arena;
use crate::slot::{Item, Slot};

/// The slots of numbered segments, all of the same size.
#[derive(Debug)]
pub(super) struct Cells {
    size: u32,
    slots: Arena<Slot>,
}

impl Cells {
    /// Creates segments that have `size` slots each. Panics if `size` is 0 or does not fit in a
    /// `u32`.
    pub(super) fn new(size: usize) -> Self {
        let size =
            u32::try_from(size).ok().filter(|size| *size > 0).expect("the size must be positive and fit in a `u32`");
        Self { size, slots: Arena::new() }
    }

    pub(super) fn size(&self) -> usize {
        self.size as usize
    }

    pub(super) fn slot(&self, segment: u32, index: u32) -> &Slot {
        self.slots.at(segment * self.size + index + 1)
    }

    /// Returns an empty slot, together with the content that was loaded from it. Returns `None` if
    /// no empty slot is found.
    pub(super) fn find_free(&self, segment: u32) -> Option<(&Slot, Item)> {
        self.find(segment, |item| item.value.is_none())
    }

    /// Returns a slot that holds a value, together with the content that was loaded from the slot.
    /// Returns `None` if no such slot is found.
    pub(super) fn find_item(&self, segment: u32) -> Option<(&Slot, Item)> {
        self.find(segment, |item| item.value.is_some())
    }

    /// Searches the slots in circular order, starting at a random slot.
    fn find(&self, segment: u32, is_wanted: impl Fn(Item) -> bool) -> Option<(&Slot, Item)> {
        in_a_circle(self.size)
            .map(|index| self.slot(segment, index))
            .map(|slot| (slot, slot.load()))
            .find(|(_, item)| is_wanted(*item))
    }

    /// Returns whether there was a time at which no slot of the segment had a value. To be certain,
    /// reads all slots twice, and requires that none has changed in between.
    pub(super) fn is_empty(&self, segment: u32) -> bool {
        let look = || (0..self.size).map(|index| self.slot(segment, index).load());
        let first: Vec<Item> = look().take_while(|item| item.value.is_none()).collect();
        first.len() == self.size() && look().eq(first)
    }
}

/// Returns all numbers below `size` in circular order, starting at a random number. `size` must not
/// be 0.
pub(super) fn in_a_circle(size: u32) -> impl Iterator<Item = u32> {
    // The chosen number is below `size`, so it fits in a `u32`.
    let start = choose(size as usize) as u32;
    (start..size).chain(0..start)
}
