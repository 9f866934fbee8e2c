//! A register: one value that can be read and written.

use std::fmt::Debug;
use std::hash::Hash;

use super::{Initial, Outcomes, Spec, Standard, Subject, blocked, outcome};

/// A register with values `V`.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Read` | `Value`, the current value | always |
/// | `Write(v)` | `Done` | never |
///
/// A register is one object without keys. A state is a value. The heap memory of the value itself
/// is not counted.
///
/// ```
/// use trueline::spec::{Register, RegisterOp, RegisterRet, Spec};
///
/// let register = Register::new(0);
/// let state = register.initial();
/// let (result, state) = register.step(&state, &RegisterOp::Write(5), None).remove(0);
/// assert_eq!(result, RegisterRet::Done);
/// assert!(register.step(&state, &RegisterOp::Read, Some(&RegisterRet::Value(0))).is_empty());
/// assert_eq!(register.step(&state, &RegisterOp::Read, None)[0], (RegisterRet::Value(5), 5));
/// ```
#[derive(Clone, Debug)]
pub struct Register<V> {
    initial: V,
}

impl<V> Register<V> {
    /// Creates a register that initially holds `initial`.
    pub fn new(initial: V) -> Self {
        Self { initial }
    }
}

/// An operation of a [`Register`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum RegisterOp<V> {
    /// Returns the current value.
    Read,
    /// Replaces the current value.
    Write(V),
}

/// A result of a [`RegisterOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum RegisterRet<V> {
    /// The value that a read returned.
    Value(V),
    /// A write took place.
    Done,
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Register<V> {
    type Op = RegisterOp<V>;
    type Ret = RegisterRet<V>;
    type State = V;
    type Key = ();
    type Value = V;

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn step(&self, state: &V, op: &RegisterOp<V>, recorded: Option<&RegisterRet<V>>) -> Outcomes<RegisterRet<V>, V> {
        match (op, recorded) {
            (RegisterOp::Read, Some(RegisterRet::Value(value))) if value != state => blocked(),
            (RegisterOp::Read, None | Some(RegisterRet::Value(_))) => {
                outcome(RegisterRet::Value(state.clone()), state.clone())
            }
            (RegisterOp::Write(value), None | Some(RegisterRet::Done)) => outcome(RegisterRet::Done, value.clone()),
            (RegisterOp::Read, Some(RegisterRet::Done)) | (RegisterOp::Write(_), Some(RegisterRet::Value(_))) => {
                blocked()
            }
        }
    }

    fn subject(&self, op: &RegisterOp<V>, recorded: Option<&RegisterRet<V>>) -> Subject {
        // The latest write before a read wrote the value of the read (or there is no such write, and the read returns
        // the initial value). This stays true if the writes of other values are removed.
        match (op, recorded) {
            (RegisterOp::Write(value), _) | (RegisterOp::Read, Some(RegisterRet::Value(value))) => Subject::of(value),
            (RegisterOp::Read, _) => Subject::Free,
        }
    }

    fn leads_to(&self, op: &RegisterOp<V>, recorded: &RegisterRet<V>) -> Option<V> {
        match (op, recorded) {
            (RegisterOp::Write(value), RegisterRet::Done) | (RegisterOp::Read, RegisterRet::Value(value)) => {
                Some(value.clone())
            }
            _ => None,
        }
    }

    fn observes(&self, op: &RegisterOp<V>, _recorded: Option<&RegisterRet<V>>) -> bool {
        match op {
            RegisterOp::Read => true,
            RegisterOp::Write(_) => false,
        }
    }

    fn overwrites(&self, op: &RegisterOp<V>, recorded: Option<&RegisterRet<V>>) -> bool {
        matches!((op, recorded), (RegisterOp::Write(_), None | Some(RegisterRet::Done)))
    }

    fn standard<'a>(&'a self, op: &'a RegisterOp<V>, recorded: Option<&'a RegisterRet<V>>) -> Option<Standard<&'a V>> {
        Some(match (op, recorded) {
            (RegisterOp::Read, Some(RegisterRet::Value(value))) => Standard::Read(value),
            (RegisterOp::Write(value), None | Some(RegisterRet::Done)) => Standard::Write(value),
            _ => return None,
        })
    }

    fn standard_initial(&self) -> Initial<&V> {
        Initial::Value(&self.initial)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let register = Register::new(0);
        let operations: Vec<_> = (1..4).map(RegisterOp::Write).chain([RegisterOp::Read]).collect();
        let results: Vec<_> = (0..4).map(RegisterRet::Value).chain([RegisterRet::Done]).collect();
        laws::check(&register, &operations, &results, 1);
        laws::check_observers_are_known(&register, &operations, |_, _| false, 2);
    }

    #[test]
    fn a_read_returns_the_latest_write() {
        use RegisterOp::{Read, Write};
        use RegisterRet::{Done, Value};
        let register = Register::new(0);
        assert!(laws::is_legal(&register, &[(Read, Value(0)), (Write(1), Done), (Write(2), Done), (Read, Value(2))]));
        assert!(!laws::is_legal(&register, &[(Write(1), Done), (Write(2), Done), (Read, Value(1))]));
    }
}
