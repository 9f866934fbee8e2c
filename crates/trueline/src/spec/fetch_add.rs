//! A counter with fetch-and-add.

use super::{Outcomes, Spec, Standard, blocked, outcome};

/// A number with fetch-and-add: an addition returns the previous number.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `FetchAdd(n)` | the previous number | if `n` is 0 |
/// | `Read` | the current number | always |
///
/// Additions wrap around at the greatest number, as with atomic integers. A counter is one object without keys. A state
/// is a number.
///
/// ```
/// use trueline::spec::{FetchAdd, FetchAddOp, Spec};
///
/// let counter = FetchAdd::new(0);
/// let (before, state) = counter.step(&counter.initial(), &FetchAddOp::FetchAdd(5), None).remove(0);
/// assert_eq!((before, state), (0, 5));
/// assert!(counter.step(&state, &FetchAddOp::FetchAdd(1), Some(&0)).is_empty());
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct FetchAdd {
    initial: i64,
}

impl FetchAdd {
    /// Creates a counter with this initial number.
    pub const fn new(initial: i64) -> Self {
        Self { initial }
    }
}

/// An operation of a [`FetchAdd`]. Its result is a number.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum FetchAddOp {
    /// Adds a number, which may be negative, and returns the previous number.
    FetchAdd(i64),
    /// Returns the current number.
    Read,
}

impl Spec for FetchAdd {
    type Op = FetchAddOp;
    type Ret = i64;
    type State = i64;
    type Key = ();
    type Value = ();

    fn initial(&self) -> i64 {
        self.initial
    }

    fn step(&self, state: &i64, op: &FetchAddOp, recorded: Option<&i64>) -> Outcomes<i64, i64> {
        if recorded.is_some_and(|recorded| recorded != state) {
            return blocked();
        }
        match op {
            FetchAddOp::FetchAdd(number) => outcome(*state, state.wrapping_add(*number)),
            FetchAddOp::Read => outcome(*state, *state),
        }
    }

    fn observes(&self, op: &FetchAddOp, _recorded: Option<&i64>) -> bool {
        match op {
            FetchAddOp::FetchAdd(number) => *number == 0,
            FetchAddOp::Read => true,
        }
    }

    fn standard<'a>(&'a self, op: &'a FetchAddOp, recorded: Option<&'a i64>) -> Option<Standard<&'a ()>> {
        Some(match (op, recorded) {
            (FetchAddOp::FetchAdd(1), found) => {
                Standard::FetchIncrement(found.map(|found| found.wrapping_sub(self.initial)))
            }
            (FetchAddOp::Read, Some(seen)) => Standard::Count(seen.wrapping_sub(self.initial)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::FetchAddOp::{FetchAdd as Fetch, Read};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Fetch(1), Fetch(2), Fetch(-1), Fetch(0), Read];
        let results: Vec<_> = (-50..=90).collect();
        laws::check(&FetchAdd::new(3), &operations, &results, 1);
        laws::check_observers_are_known(&FetchAdd::new(3), &operations, |_, _| false, 2);
    }

    #[test]
    fn tells_what_was_there_before() {
        assert!(laws::is_legal(&FetchAdd::new(0), &[(Fetch(2), 0), (Fetch(3), 2), (Read, 5)]));
        assert!(!laws::is_legal(&FetchAdd::new(0), &[(Fetch(1), 0), (Fetch(1), 0)]));
        assert!(laws::is_legal(&FetchAdd::new(i64::MAX), &[(Fetch(1), i64::MAX), (Read, i64::MIN)]));
    }
}
