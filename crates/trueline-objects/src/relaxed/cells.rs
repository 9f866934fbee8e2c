//! Segments of slots, which are searched from a random slot on.

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
    /// Creates segments of this many slots, at least one.
    pub(super) fn new(size: usize) -> Self {
        let size = u32::try_from(size).ok().filter(|size| *size > 0).expect("a segment has slots, but not too many");
        Self { size, slots: Arena::new() }
    }

    pub(super) fn size(&self) -> usize {
        self.size as usize
    }

    pub(super) fn slot(&self, segment: u32, index: u32) -> &Slot {
        self.slots.at(segment * self.size + index + 1)
    }

    /// Returns a slot without a value, and its content.
    pub(super) fn find_free(&self, segment: u32) -> Option<(&Slot, Item)> {
        self.find(segment, |item| item.value.is_none())
    }

    /// Returns a slot with a value, and its content.
    pub(super) fn find_item(&self, segment: u32) -> Option<(&Slot, Item)> {
        self.find(segment, |item| item.value.is_some())
    }

    /// Searches the slots in a circle that starts at a random slot.
    fn find(&self, segment: u32, is_wanted: impl Fn(Item) -> bool) -> Option<(&Slot, Item)> {
        in_a_circle(self.size)
            .map(|index| self.slot(segment, index))
            .map(|slot| (slot, slot.load()))
            .find(|(_, item)| is_wanted(*item))
    }

    /// Returns whether there was a time at which no slot had a value: all slots are read twice, and none has changed.
    pub(super) fn is_empty(&self, segment: u32) -> bool {
        let look = || (0..self.size).map(|index| self.slot(segment, index).load());
        let first: Vec<Item> = look().take_while(|item| item.value.is_none()).collect();
        first.len() == self.size() && look().eq(first)
    }
}

/// Returns all numbers below `size`, which must not be 0, in a circle that starts at a random number.
pub(super) fn in_a_circle(size: u32) -> impl Iterator<Item = u32> {
    // The choice is below a `u32`.
    let start = choose(size as usize) as u32;
    (start..size).chain(0..start)
}
