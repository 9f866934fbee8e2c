//! Slots that count how often they have changed.

use std::fmt;

use trueline::primitives::AtomicU64;
use trueline::primitives::Ordering::SeqCst;

/// The content of a slot: an optional value, and a counter of the slot's changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) value: Option<u32>,
    pub(crate) counter: u32,
}

impl Item {
    /// Converts a value to the 32 bits that are available next to the counter.
    ///
    /// # Panics
    /// Panics if the value is not below `u32::MAX`.
    #[track_caller]
    pub(crate) fn fit(value: u64) -> u32 {
        u32::try_from(value).ok().filter(|value| *value < u32::MAX).expect("the value must be below `u32::MAX`")
    }

    /// Returns the content that the slot has after its value was replaced by `value`. The new
    /// counter is the old one plus 1.
    pub(crate) fn replaced_by(self, value: Option<u32>) -> Self {
        Self { value, counter: self.counter.wrapping_add(1) }
    }

    /// Packs the item into a word. The upper half is 0 if there is no value, and `v + 1` for a
    /// value `v`; the lower half is the counter.
    fn pack(self) -> u64 {
        u64::from(self.value.map_or(0, |value| value + 1)) << 32 | u64::from(self.counter)
    }

    fn unpack(word: u64) -> Self {
        Self { value: ((word >> 32) as u32).checked_sub(1), counter: word as u32 }
    }
}

/// An atomic slot. Initially it has no value.
#[derive(Default)]
pub(crate) struct Slot(AtomicU64);

impl Slot {
    pub(crate) fn load(&self) -> Item {
        Item::unpack(self.0.load(SeqCst))
    }

    /// If the content of the slot equals `expected`, replaces the value and increments the counter,
    /// in one compare-and-set. Returns whether the content was equal.
    pub(crate) fn replace(&self, expected: Item, value: Option<u32>) -> bool {
        self.0.compare_exchange(expected.pack(), expected.replaced_by(value).pack(), SeqCst, SeqCst).is_ok()
    }

    /// Fills a slot that no other thread can see yet.
    pub(crate) fn prepare(&self, value: u32) {
        self.0.unscheduled().store(Item { value: Some(value), counter: 0 }.pack(), SeqCst);
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Item::unpack(self.0.unscheduled().load(SeqCst)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_all_bits() {
        for value in [None, Some(0), Some(7), Some(u32::MAX - 1)] {
            for counter in [0, 5, u32::MAX] {
                let item = Item { value, counter };
                assert_eq!(Item::unpack(item.pack()), item);
            }
        }
        assert_eq!(Item { value: None, counter: u32::MAX }.replaced_by(Some(1)), Item { value: Some(1), counter: 0 });
    }
}
