//! Masks, which mark the open operations that are linearized. A mask has as many words as the
//! largest number of overlapping operations needs.
//!
//! The bits for the slots of open operations come first. After them, a field for each class of never-returning
//! operations counts how many operations of the class were used. A field never crosses a word boundary.

/// A mask: a fixed number of bits. A search is compiled once for each implementation of this trait.
pub(crate) trait Mask: Clone + Eq {
    /// Returns a mask with the given number of words, all of them zero.
    fn zero(words: usize) -> Self;
    fn words(&self) -> &[u64];
    fn words_mut(&mut self) -> &mut [u64];

    /// Returns the number of bytes that the mask takes on the heap.
    fn heap_size(&self) -> usize {
        0
    }

    #[inline]
    fn has(&self, bit: u32) -> bool {
        self.words()[(bit / 64) as usize] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn set(&mut self, bit: u32) {
        self.words_mut()[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    #[inline]
    fn clear(&mut self, bit: u32) {
        self.words_mut()[(bit / 64) as usize] &= !(1 << (bit % 64));
    }

    #[inline]
    fn field(&self, field: Field) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "a field has at most 32 bits")]
        let count = (self.words()[field.word as usize] >> field.shift & field.mask()) as u32;
        count
    }

    /// Adds one to `field`, which must not overflow.
    #[inline]
    fn increment(&mut self, field: Field) {
        debug_assert!(u64::from(self.field(field)) < field.mask(), "a field can count all members of its class");
        self.words_mut()[field.word as usize] += 1 << field.shift;
    }
}

impl<const N: usize> Mask for [u64; N] {
    fn zero(words: usize) -> Self {
        debug_assert!(words <= N, "the caller chooses a mask with enough words");
        [0; N]
    }

    #[inline]
    fn words(&self) -> &[u64] {
        self
    }

    #[inline]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
}

impl Mask for Box<[u64]> {
    fn zero(words: usize) -> Self {
        vec![0; words].into()
    }

    fn words(&self) -> &[u64] {
        self
    }

    fn words_mut(&mut self) -> &mut [u64] {
        self
    }

    fn heap_size(&self) -> usize {
        self.len() * 8 + 16
    }
}

/// A counter that consists of some bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    word: u32,
    shift: u8,
    width: u8,
}

impl Field {
    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.width)
    }

    /// Returns whether the field has only one bit, and so can count only to 1.
    pub(crate) fn is_single(self) -> bool {
        self.width == 1
    }

    /// Sets all bits of the field.
    pub(crate) fn fill(self, words: &mut [u64]) {
        words[self.word as usize] |= self.mask() << self.shift;
    }
}

/// Allocates bits and fields, from the lowest bit upward.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    bits: u32,
}

impl Layout {
    /// Allocates the next `count` single bits, and returns the first of them.
    pub(crate) fn bits(&mut self, count: u32) -> u32 {
        let first = self.bits;
        self.bits += count;
        first
    }

    /// Allocates the next field. It can count to `most`.
    pub(crate) fn field(&mut self, most: u32) -> Field {
        let width = (32 - most.leading_zeros()).max(1);
        if self.bits % 64 + width > 64 {
            self.bits = self.bits.next_multiple_of(64);
        }
        let first = self.bits(width);
        #[expect(clippy::cast_possible_truncation, reason = "a shift is below 64 and a width at most 32")]
        let field = Field { word: first / 64, shift: (first % 64) as u8, width: width as u8 };
        field
    }

    /// Returns the number of words that all bits and fields together take, but at least 1.
    pub(crate) fn words(&self) -> usize {
        (self.bits.div_ceil(64) as usize).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_count_and_do_not_cross_words() {
        let mut layout = Layout::default();
        let first_bit = layout.bits(62);
        let field = layout.field(5);
        let single = layout.field(1);
        assert_eq!((first_bit, layout.words()), (0, 2));
        let mut mask = <[u64; 2]>::zero(2);
        mask.set(61);
        for count in 0..5 {
            assert_eq!(mask.field(field), count);
            mask.increment(field);
        }
        mask.increment(single);
        assert_eq!((mask.field(field), mask.field(single), mask.has(61), mask.has(60)), (5, 1, true, false));
        mask.clear(61);
        assert_eq!(mask.words()[0], 0);
    }
}
