//! Generates the arguments of operations.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Range, RangeInclusive};

use super::Random;
use crate::history::{Argument, Datum, Value};

/// The source of arguments in one run of an object.
#[derive(Debug)]
pub struct Making<'m> {
    /// The random number generator.
    pub random: &'m mut Random,
    /// The number of unique values generated in this run.
    pub(super) unique: &'m mut u64,
    /// If set, ranges and lists produce only their first `few` values. Objects often fail when few
    /// keys are used.
    pub(super) few: Option<u32>,
}

/// Generates the arguments of an operation.
///
/// Ranges of numbers, lists (arrays), tuples of generators, and `()` for operations without
/// arguments are generators; [`unique`], [`skewed`], [`always`] and [`made_by`] create other
/// generators.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not generate arguments of operations",
    label = "give a range such as `0..10`, a list such as `[1, 5]`, a tuple of these, or `()` for no argument",
    note = "or one of `unique()`, `skewed(0..100)`, `always(7)`, `made_by(|random| ...)` in `trueline::drive`"
)]
pub trait Generate {
    /// The type of the arguments.
    type Item: Argument;

    /// Generates an argument.
    fn generate(&self, making: &mut Making<'_>) -> Self::Item;
}

impl Generate for () {
    type Item = ();

    fn generate(&self, _making: &mut Making<'_>) {}
}

macro_rules! ranges {
    ($($type:ty)*) => {$(
        impl Generate for Range<$type> {
            type Item = $type;

            fn generate(&self, making: &mut Making<'_>) -> $type {
                assert!(self.start < self.end, "the range {self:?} is empty, so there is no argument to generate");
                (self.start..=self.end - 1).generate(making)
            }
        }

        impl Generate for RangeInclusive<$type> {
            type Item = $type;

            fn generate(&self, making: &mut Making<'_>) -> $type {
                let (start, end) = (*self.start() as i128, *self.end() as i128);
                assert!(start <= end, "the range {self:?} is empty, so there is no argument to generate");
                let width = u64::try_from(end - start).expect("the width of a range of integers fits in 64 bits");
                let offset = making.below(width.saturating_add(1));
                <$type>::try_from(start + i128::from(offset)).expect("the sum is in the range")
            }
        }
    )*};
}

ranges!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

impl Making<'_> {
    /// Returns a random number below `bound`, and below `few` if it is set.
    fn below(&mut self, bound: u64) -> u64 {
        let bound = self.few.map_or(bound, |few| bound.min(u64::from(few)));
        match u32::try_from(bound) {
            Ok(bound) => u64::from(self.random.below(bound)),
            Err(_) => self.random.bits() % bound,
        }
    }
}

impl<T: Argument + Clone, const N: usize> Generate for [T; N] {
    type Item = T;

    fn generate(&self, making: &mut Making<'_>) -> T {
        let choice = making.below(N as u64);
        self[usize::try_from(choice).expect("the choice is below `N`")].clone()
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => {$(
        impl<$($name: Generate),+> Generate for ($($name,)+) {
            type Item = ($($name::Item,)+);

            fn generate(&self, making: &mut Making<'_>) -> Self::Item {
                ($(self.$index.generate(making),)+)
            }
        }
    )*};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

/// Generates the numbers 1, 2, 3 and so on, each once in a run. Histories with unique values are
/// the most informative, and the near-linear [monitors](crate::judge::monitor) can judge them.
pub fn unique() -> Unique {
    Unique(())
}

/// See [`unique`].
#[derive(Clone, Copy, Debug)]
pub struct Unique(());

impl Generate for Unique {
    type Item = u64;

    fn generate(&self, making: &mut Making<'_>) -> u64 {
        *making.unique += 1;
        *making.unique
    }
}

/// Generates mostly the first values of a range: draws from the whole range in one half of the cases, from its first
/// half in one quarter, from its first quarter in one eighth, and so on.
pub fn skewed(range: Range<u64>) -> Skewed {
    Skewed(range)
}

/// See [`skewed`].
#[derive(Clone, Debug)]
pub struct Skewed(Range<u64>);

impl Generate for Skewed {
    type Item = u64;

    fn generate(&self, making: &mut Making<'_>) -> u64 {
        let mut width = self.0.end - self.0.start;
        while width > 1 && making.random.chance(1, 2) {
            width = width.div_ceil(2);
        }
        (self.0.start..self.0.start + width).generate(making)
    }
}

/// Always generates this argument.
pub fn always<T: Argument + Clone>(argument: T) -> Always<T> {
    Always(argument)
}

/// See [`always`].
#[derive(Clone, Debug)]
pub struct Always<T>(T);

impl<T: Argument + Clone> Generate for Always<T> {
    type Item = T;

    fn generate(&self, _making: &mut Making<'_>) -> T {
        self.0.clone()
    }
}

/// Generates arguments with a closure, from random numbers.
pub fn made_by<T: Argument, F: Fn(&mut Random) -> T>(make: F) -> MadeBy<F> {
    MadeBy(make)
}

/// See [`made_by`].
#[derive(Clone)]
pub struct MadeBy<F>(F);

impl<F> fmt::Debug for MadeBy<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MadeBy").finish_non_exhaustive()
    }
}

impl<T: Argument, F: Fn(&mut Random) -> T> Generate for MadeBy<F> {
    type Item = T;

    fn generate(&self, making: &mut Making<'_>) -> T {
        (self.0)(making.random)
    }
}

/// A number that takes up `BYTES` bytes: moving large elements takes longer, which makes races more likely to show.
///
/// ```
/// use trueline::drive::Payload;
///
/// let heavy: Payload<1024> = Payload::from(7);
/// assert_eq!(heavy.number(), 7);
/// assert!(size_of_val(&heavy) >= 1024);
/// ```
#[derive(Clone, Copy)]
pub struct Payload<const BYTES: usize> {
    number: u64,
    ballast: [u8; BYTES],
}

impl<const BYTES: usize> Payload<BYTES> {
    /// Returns the number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns whether the payload is consistent. A payload that was read during a write may be
    /// inconsistent.
    pub fn is_whole(&self) -> bool {
        let expected = self.number.to_le_bytes()[0];
        self.ballast.iter().all(|byte| *byte == expected)
    }
}

impl<const BYTES: usize> From<u64> for Payload<BYTES> {
    fn from(number: u64) -> Self {
        Self { number, ballast: [number.to_le_bytes()[0]; BYTES] }
    }
}

impl<const BYTES: usize> PartialEq for Payload<BYTES> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<const BYTES: usize> Eq for Payload<BYTES> {}

impl<const BYTES: usize> Hash for Payload<BYTES> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<const BYTES: usize> fmt::Debug for Payload<BYTES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

/// Converts a payload to its number. An inconsistent payload becomes a text such as `torn 7`.
impl<const BYTES: usize> Datum for Payload<BYTES> {
    fn to_value(&self) -> Value {
        if self.is_whole() { self.number.to_value() } else { Value::Text(format!("torn {}", self.number).into()) }
    }
}

/// A key whose hash has only `HASHES` possible values: maps and sets often fail when hashes
/// collide.
///
/// ```
/// use std::hash::{BuildHasher, RandomState};
/// use trueline::drive::Colliding;
///
/// let state = RandomState::new();
/// let hash = |key: u64| state.hash_one(Colliding::<2>(key));
/// assert_eq!(hash(1), hash(3));
/// assert_ne!(hash(1), hash(2));
/// assert_ne!(Colliding::<2>(1), Colliding(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Colliding<const HASHES: u64>(pub u64);

impl<const HASHES: u64> Hash for Colliding<HASHES> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 % HASHES).hash(state);
    }
}

impl<const HASHES: u64> Datum for Colliding<HASHES> {
    fn to_value(&self) -> Value {
        self.0.to_value()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn draw<G: Generate>(generator: &G, few: Option<u32>) -> Vec<G::Item> {
        let (mut random, mut unique) = (Random::new(3), 0);
        let mut making = Making { random: &mut random, unique: &mut unique, few };
        (0..400).map(|_| generator.generate(&mut making)).collect()
    }

    fn distinct<G: Generate<Item: Ord>>(generator: &G, few: Option<u32>) -> BTreeSet<G::Item> {
        draw(generator, few).into_iter().collect()
    }

    #[test]
    fn ranges_and_lists_are_drawn_from() {
        assert_eq!(distinct(&(3..6), None), BTreeSet::from([3, 4, 5]));
        assert_eq!(distinct(&(-1..=1_i8), None), BTreeSet::from([-1, 0, 1]));
        assert_eq!(distinct(&(3..600), Some(2)), BTreeSet::from([3, 4]));
        assert_eq!(distinct(&['x', 'y'], None), BTreeSet::from(['x', 'y']));
        assert_eq!(distinct(&(0..2_u8, always(7)), None), BTreeSet::from([(0, 7), (1, 7)]));
        assert!(draw(&(0..=u64::MAX), None).iter().any(|number| *number > u64::from(u32::MAX)));
        assert!(draw(&(i64::MIN..=i64::MAX), None).iter().any(|number| *number < 0));
    }

    #[test]
    fn unique_numbers_are() {
        assert_eq!(distinct(&unique(), Some(1)).len(), 400);
    }

    #[test]
    fn skewed_ranges_prefer_the_first() {
        let numbers = draw(&skewed(0..64), None);
        assert!(numbers.iter().all(|number| *number < 64));
        let first = numbers.iter().filter(|number| **number < 8).count();
        assert!((90..250).contains(&first), "{first} of 400 numbers are below 8; an even distribution would have 50");
        assert!(numbers.iter().any(|number| *number >= 32));
    }

    #[test]
    fn closures_make_what_they_like() {
        let words = draw(&made_by(|random| "x".repeat(random.below(3) as usize)), None);
        assert_eq!(words.into_iter().collect::<BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn torn_payloads_are_no_numbers() {
        let mut payload = Payload::<16>::from(5);
        assert_eq!(payload.to_value(), Value::Int(5));
        payload.ballast[3] = 0;
        assert_eq!(payload.to_value().kind(), "a string");
    }
}
