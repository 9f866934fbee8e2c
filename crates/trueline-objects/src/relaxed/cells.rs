//! Segments of slots, that are looked through from any slot on.

use trueline::primitives::choose;

use crate::arena::Arena;
use crate::slot::{Item, Slot};

/// The slots of segments with numbers, all of one size.
#[derive(Debug)]
pub(super) struct Cells {
    size: u32,
    slots: Arena<Slot>,
}

impl Cells {
    /// Segments of so many slots, which is not 0.
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

    /// A slot without a value, and what is in it.
    pub(super) fn find_free(&self, segment: u32) -> Option<(&Slot, Item)> {
        self.find(segment, |item| item.value.is_none())
    }

    /// A slot with a value, and what is in it.
    pub(super) fn find_item(&self, segment: u32) -> Option<(&Slot, Item)> {
        self.find(segment, |item| item.value.is_some())
    }

    /// Looks at one slot after the other, in a circle from any of them on.
    fn find(&self, segment: u32, is_wanted: impl Fn(Item) -> bool) -> Option<(&Slot, Item)> {
        in_a_circle(self.size)
            .map(|index| self.slot(segment, index))
            .map(|slot| (slot, slot.load()))
            .find(|(_, item)| is_wanted(*item))
    }

    /// Whether there was a time at which no slot had a value: none has changed between two looks.
    pub(super) fn is_empty(&self, segment: u32) -> bool {
        let look = || (0..self.size).map(|index| self.slot(segment, index).load());
        let first: Vec<Item> = look().take_while(|item| item.value.is_none()).collect();
        first.len() == self.size() && look().eq(first)
    }
}

/// All numbers below `size`, which is not 0, in a circle from any of them on.
pub(super) fn in_a_circle(size: u32) -> impl Iterator<Item = u32> {
    // The choice is one below a u32.
    let start = choose(size as usize) as u32;
    (start..size).chain(0..start)
}
