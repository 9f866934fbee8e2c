//! Random choices that are determined by a seed.

use std::cell::Cell;

/// A random number generator for one thread: SplitMix64, by Steele, Lea and Flood.
#[derive(Debug)]
pub(crate) struct Choices {
    state: Cell<u64>,
}

impl Choices {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: Cell::new(seed) }
    }

    pub(crate) fn bits(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        mix(state)
    }

    /// Returns a number below `bound`; `bound` must not be 0.
    pub(crate) fn below(&self, bound: usize) -> usize {
        let scaled = (u128::from(self.bits()) * bound as u128) >> 64;
        usize::try_from(scaled).expect("the number is below `bound`, which is a `usize`")
    }
}

/// Mixes the bits of `word`: each bit of the result depends on all bits of `word`.
pub(crate) fn mix(word: u64) -> u64 {
    let mut mixed = word;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_below_the_bound_and_reach_all_of_it() {
        for bound in [1, 2, 3, 7, 100] {
            let choices = Choices::new(3);
            let mut seen = vec![false; bound];
            for _ in 0..2000 {
                seen[choices.below(bound)] = true;
            }
            assert!(seen.into_iter().all(|seen| seen), "some number below {bound} was never chosen");
        }
        assert!(Choices::new(3).below(usize::MAX) < usize::MAX);
    }
}
