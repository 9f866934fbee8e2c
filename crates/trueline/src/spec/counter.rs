//! A counter.

use super::{Outcomes, Spec, Standard, blocked, outcome};

/// A number that can be added to and read.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Add(n)` | `Done` | if `n` is 0 |
/// | `Read` | `Value`, the current number | always |
///
/// Additions wrap around at the greatest number, as with atomic integers. A counter is one object without keys. A state
/// is a number. See [`FetchAdd`](super::FetchAdd) for a counter whose additions return the previous number.
///
/// ```
/// use trueline::spec::{Counter, CounterOp, CounterRet, Spec};
///
/// let counter = Counter::new(0);
/// let state = counter.step(&counter.initial(), &CounterOp::Add(5), None).remove(0).1;
/// let state = counter.step(&state, &CounterOp::Add(-2), None).remove(0).1;
/// assert_eq!(counter.step(&state, &CounterOp::Read, None)[0].0, CounterRet::Value(3));
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Counter {
    initial: i64,
}

impl Counter {
    /// Creates a counter with this initial number.
    pub const fn new(initial: i64) -> Self {
        Self { initial }
    }
}

/// An operation of a [`Counter`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CounterOp {
    /// Adds a number, which may be negative.
    Add(i64),
    /// Returns the current number.
    Read,
}

/// A result of a [`CounterOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CounterRet {
    /// An addition took place.
    Done,
    /// The number that a read returned.
    Value(i64),
}

impl Spec for Counter {
    type Op = CounterOp;
    type Ret = CounterRet;
    type State = i64;
    type Key = ();
    type Value = ();

    fn initial(&self) -> i64 {
        self.initial
    }

    fn step(&self, state: &i64, op: &CounterOp, recorded: Option<&CounterRet>) -> Outcomes<CounterRet, i64> {
        let (result, next) = match op {
            CounterOp::Add(number) => (CounterRet::Done, state.wrapping_add(*number)),
            CounterOp::Read => (CounterRet::Value(*state), *state),
        };
        if recorded.is_some_and(|recorded| *recorded != result) { blocked() } else { outcome(result, next) }
    }

    fn observes(&self, op: &CounterOp, _recorded: Option<&CounterRet>) -> bool {
        match op {
            CounterOp::Add(number) => *number == 0,
            CounterOp::Read => true,
        }
    }

    fn standard<'a>(&'a self, op: &'a CounterOp, recorded: Option<&'a CounterRet>) -> Option<Standard<&'a ()>> {
        Some(match (op, recorded) {
            (CounterOp::Add(1), None | Some(CounterRet::Done)) => Standard::Increment,
            (CounterOp::Read, Some(CounterRet::Value(seen))) => Standard::Count(seen.wrapping_sub(self.initial)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CounterOp::{Add, Read};
    use super::CounterRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Add(1), Add(2), Add(-1), Add(0), Read];
        let results: Vec<_> = (-50..=90).map(Value).chain([Done]).collect();
        laws::check(&Counter::new(3), &operations, &results, 1);
        laws::check_observers_are_known(&Counter::new(3), &operations, |_, _| false, 2);
    }

    #[test]
    fn counts() {
        let counter = Counter::new(0);
        assert!(laws::is_legal(&counter, &[(Read, Value(0)), (Add(2), Done), (Add(3), Done), (Read, Value(5))]));
        assert!(!laws::is_legal(&counter, &[(Add(2), Done), (Read, Value(0))]));
        assert!(laws::is_legal(&Counter::new(i64::MAX), &[(Add(1), Done), (Read, Value(i64::MIN))]));
    }
}
