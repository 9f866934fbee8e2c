//! A register with compare-and-set.

use std::fmt::Debug;
use std::hash::Hash;

use super::{Initial, Spec, Standard, Steps, Subject, blocked, outcome};

/// A register with values `V` and compare-and-set.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Read` | `Value`, the current value | always |
/// | `Write(v)` | `Done` | never |
/// | `Cas { expected, new }` | `Swapped`: `true` if the value was `expected` | if `false`; always if `expected` is `new` |
///
/// `Cas` replaces the value with `new` if the value is `expected`. Otherwise it fails, and returns
/// `Swapped(false)`. It does not fail for any other reason. A register is one object without keys.
/// A state is a value. The heap memory of the value itself is not counted.
///
/// ```
/// use trueline::spec::{CasRegister, CasRegisterOp, CasRegisterRet, Spec};
///
/// let register = CasRegister::new(0);
/// let cas = CasRegisterOp::Cas { expected: 0, new: 1 };
/// let (result, state) = register.step(&register.initial(), &cas, None).remove(0);
/// assert_eq!((result, state), (CasRegisterRet::Swapped(true), 1));
/// assert!(register.step(&state, &cas, Some(&CasRegisterRet::Swapped(true))).is_empty());
/// assert_eq!(register.step(&state, &cas, None)[0], (CasRegisterRet::Swapped(false), 1));
/// ```
#[derive(Clone, Debug)]
pub struct CasRegister<V> {
    initial: V,
    nil: Option<V>,
}

impl<V> CasRegister<V> {
    /// Creates a register that initially holds `initial`.
    pub fn new(initial: V) -> Self {
        Self { initial, nil: None }
    }

    /// Makes a read whose recorded result is `nil` match any value of the register: some logs write `nil` for a read
    /// whose result is unknown.
    ///
    /// Such a read gives no information about the state. But like every read, it
    /// [observes](Spec::observes): it leaves the state unchanged.
    ///
    /// ```
    /// use trueline::spec::{CasRegister, CasRegisterOp, CasRegisterRet, Spec};
    ///
    /// let register = CasRegister::new(Some(3)).nil_wildcard(None);
    /// let unknown = CasRegisterRet::Value(None);
    /// let outcomes = register.step(&Some(3), &CasRegisterOp::Read, Some(&unknown));
    /// assert_eq!(outcomes[0], (unknown, Some(3)));
    /// ```
    #[must_use]
    pub fn nil_wildcard(mut self, nil: V) -> Self {
        self.nil = Some(nil);
        self
    }
}

/// An operation of a [`CasRegister`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CasRegisterOp<V> {
    /// Returns the current value.
    Read,
    /// Replaces the current value.
    Write(V),
    /// Replaces the current value by `new` if it is `expected`.
    Cas {
        /// The value that the register must have.
        expected: V,
        /// The new value.
        new: V,
    },
}

/// A result of a [`CasRegisterOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum CasRegisterRet<V> {
    /// The value that a read returned.
    Value(V),
    /// A write took place.
    Done,
    /// Whether a compare-and-set found the expected value.
    Swapped(bool),
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for CasRegister<V> {
    type Op = CasRegisterOp<V>;
    type Ret = CasRegisterRet<V>;
    type State = V;
    type Key = ();
    type Value = V;

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        match (op, recorded) {
            (CasRegisterOp::Read, Some(CasRegisterRet::Value(value))) => {
                if value == state || self.nil.as_ref() == Some(value) {
                    outcome(CasRegisterRet::Value(value.clone()), state.clone())
                } else {
                    blocked()
                }
            }
            (CasRegisterOp::Read, None) => outcome(CasRegisterRet::Value(state.clone()), state.clone()),
            (CasRegisterOp::Write(value), None | Some(CasRegisterRet::Done)) => {
                outcome(CasRegisterRet::Done, value.clone())
            }
            (CasRegisterOp::Cas { expected, new }, None | Some(CasRegisterRet::Swapped(_))) => {
                let swaps = state == expected;
                let result = CasRegisterRet::Swapped(swaps);
                if recorded.is_some_and(|recorded| *recorded != result) {
                    return blocked();
                }
                outcome(result, if swaps { new.clone() } else { state.clone() })
            }
            _ => blocked(),
        }
    }

    fn subject(&self, op: &CasRegisterOp<V>, recorded: Option<&CasRegisterRet<V>>) -> Subject {
        // Operations on some values can be removed for the same reason as in `Register`. But a successful
        // compare-and-set depends on two values, and a failed one on all values except `expected`.
        match (op, recorded) {
            (CasRegisterOp::Read, Some(CasRegisterRet::Value(value))) if self.nil.as_ref() == Some(value) => {
                Subject::Free
            }
            (CasRegisterOp::Write(value), _) | (CasRegisterOp::Read, Some(CasRegisterRet::Value(value))) => {
                Subject::of(value)
            }
            (CasRegisterOp::Read, _) => Subject::Free,
            (CasRegisterOp::Cas { .. }, _) => Subject::All,
        }
    }

    fn leads_to(&self, op: &CasRegisterOp<V>, recorded: &CasRegisterRet<V>) -> Option<V> {
        match (op, recorded) {
            (CasRegisterOp::Read, CasRegisterRet::Value(value)) if self.nil.as_ref() == Some(value) => None,
            (CasRegisterOp::Write(value), CasRegisterRet::Done)
            | (CasRegisterOp::Read, CasRegisterRet::Value(value))
            | (CasRegisterOp::Cas { new: value, .. }, CasRegisterRet::Swapped(true)) => Some(value.clone()),
            _ => None,
        }
    }

    fn observes(&self, op: &CasRegisterOp<V>, recorded: Option<&CasRegisterRet<V>>) -> bool {
        match op {
            CasRegisterOp::Read => true,
            CasRegisterOp::Write(_) => false,
            // If `expected` equals `new`, a successful compare-and-set leaves the state unchanged,
            // too.
            CasRegisterOp::Cas { expected, new } => {
                expected == new || recorded == Some(&CasRegisterRet::Swapped(false))
            }
        }
    }

    fn overwrites(&self, op: &CasRegisterOp<V>, recorded: Option<&CasRegisterRet<V>>) -> bool {
        matches!((op, recorded), (CasRegisterOp::Write(_), None | Some(CasRegisterRet::Done)))
    }

    fn standard<'a>(&'a self, op: &'a Self::Op, recorded: Option<&'a Self::Ret>) -> Option<Standard<&'a V>> {
        Some(match (op, recorded) {
            (CasRegisterOp::Read, Some(CasRegisterRet::Value(value))) if self.nil.as_ref() != Some(value) => {
                Standard::Read(value)
            }
            (CasRegisterOp::Write(value), None | Some(CasRegisterRet::Done)) => Standard::Write(value),
            // A pending compare-and-set can be treated as successful. One that fails leaves the
            // state unchanged, so it can be left out if it is pending.
            (CasRegisterOp::Cas { expected, new }, None | Some(CasRegisterRet::Swapped(true))) => {
                Standard::Exchange { old: Some(expected), new }
            }
            _ => return None,
        })
    }

    fn standard_initial(&self) -> Initial<&V> {
        Initial::Value(&self.initial)
    }
}

#[cfg(test)]
mod tests {
    use super::CasRegisterOp::{Cas, Read, Write};
    use super::CasRegisterRet::{Done, Swapped, Value};
    use super::*;
    use crate::spec::laws;

    fn operations() -> Vec<CasRegisterOp<u8>> {
        let mut operations = vec![Read];
        for expected in 0..3 {
            operations.push(Write(expected));
            operations.extend((0..3).map(|new| Cas { expected, new }));
        }
        operations
    }

    #[test]
    fn keeps_the_laws() {
        let register = CasRegister::new(0);
        let results = [Value(0), Value(1), Value(2), Done, Swapped(true), Swapped(false)];
        laws::check(&register, &operations(), &results, 1);
        laws::check_observers_are_known(&register, &operations(), |_, _| false, 2);
    }

    #[test]
    fn observes_by_result_and_arguments() {
        let register = CasRegister::new(0);
        let (change, keep) = (Cas { expected: 0, new: 1 }, Cas { expected: 1, new: 1 });
        assert!(!register.observes(&change, None) && register.observes(&keep, None));
        assert!(!register.observes(&change, Some(&Swapped(true))) && register.observes(&keep, Some(&Swapped(true))));
        assert!(register.observes(&change, Some(&Swapped(false))));
        assert!(register.observes(&Read, None) && !register.observes(&Write(0), Some(&Done)));
    }

    #[test]
    fn a_cas_that_could_succeed_cannot_fail() {
        let register = CasRegister::new(0);
        assert!(!laws::is_legal(&register, &[(Cas { expected: 0, new: 1 }, Swapped(false))]));
        assert!(!laws::is_legal(&register, &[(Cas { expected: 1, new: 0 }, Swapped(true))]));
    }

    #[test]
    fn nil_matches_every_read_and_nothing_else() {
        let register = CasRegister::new(1).nil_wildcard(9);
        assert_eq!(register.step(&1, &Read, Some(&Value(9))).as_slice(), [(Value(9), 1)]);
        assert_eq!(register.step(&1, &Read, None).as_slice(), [(Value(1), 1)]);
        assert!(register.step(&1, &Read, Some(&Value(2))).is_empty());
        assert!(laws::is_legal(&register, &[(Write(9), Done), (Read, Value(9))]));
        assert!(!laws::is_legal(&register, &[(Write(9), Done), (Read, Value(1))]));
        assert!(!laws::is_legal(&register, &[(Cas { expected: 9, new: 2 }, Swapped(true))]));
        assert!(register.observes(&Read, Some(&Value(9))));
        let results = [Value(0), Value(1), Value(9), Done, Swapped(true), Swapped(false)];
        laws::check_overwrites(&register, &operations(), &results, 4);
    }
}
