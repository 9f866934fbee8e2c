//! Random numbers from a seed.

/// A random number generator that is determined by its seed: SplitMix64, by Steele, Lea and Flood.
///
/// ```
/// use trueline::drive::Random;
///
/// let mut random = Random::new(7);
/// assert!(random.below(10) < 10);
/// assert_eq!(Random::new(7).below(1000), Random::new(7).below(1000));
/// ```
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Creates a generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0..bound`.
    ///
    /// # Panics
    /// Panics if `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        assert!(bound > 0, "the bound must be greater than 0");
        u32::try_from((u64::from(bound) * (self.bits() >> 32)) >> 32).expect("the number is below `bound`")
    }

    /// Returns true with probability `numerator / denominator`.
    ///
    /// # Panics
    /// Panics if `denominator` is 0.
    pub fn chance(&mut self, numerator: u32, denominator: u32) -> bool {
        self.below(denominator) < numerator
    }

    /// Returns a random item.
    ///
    /// # Panics
    /// Panics if there are no items.
    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(u32::try_from(items.len()).expect("the number of items fits in 32 bits")) as usize]
    }
}
