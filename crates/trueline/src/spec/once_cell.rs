//! A cell that can be set once.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{Spec, Steps, blocked, outcome};

/// A cell for a value `V`, initially empty, that keeps the first value that it is given.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Set(v)` | `Stored`: `true` if the cell was empty (and now holds `v`) | if `false` |
/// | `Get` | `Value`, the current value; `Value(None)` if the cell is empty | always |
/// | `GetOrInit(v)` | `Value`, the value after the operation, never `None` | if the result is not `v` |
///
/// A cell is one object without keys. A state is the value, if there is one. The heap memory of the
/// value itself is not counted.
///
/// ```
/// use trueline::spec::{OnceCell, OnceCellOp, OnceCellRet, Spec};
///
/// let cell = OnceCell::new();
/// let (result, state) = cell.step(&cell.initial(), &OnceCellOp::Set(1), None).remove(0);
/// assert_eq!(result, OnceCellRet::Stored(true));
/// assert_eq!(cell.step(&state, &OnceCellOp::Set(2), None)[0].0, OnceCellRet::Stored(false));
/// assert_eq!(cell.step(&state, &OnceCellOp::GetOrInit(2), None)[0].0, OnceCellRet::Value(Some(1)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OnceCell<V>(PhantomData<fn() -> V>);

without_parameters!(OnceCell<V>, "Creates the specification of a cell that is initially empty.");

/// An operation of a [`OnceCell`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OnceCellOp<V> {
    /// Stores a value if the cell is empty, and returns whether the value was stored.
    Set(V),
    /// Returns the value.
    Get,
    /// Stores a value if the cell is empty, and returns the value that the cell then holds.
    GetOrInit(V),
}

/// A result of a [`OnceCellOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OnceCellRet<V> {
    /// Whether a value was stored.
    Stored(bool),
    /// The value; `None` if the cell is empty.
    Value(Option<V>),
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for OnceCell<V> {
    type Op = OnceCellOp<V>;
    type Ret = OnceCellRet<V>;
    type State = Option<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Option<V> {
        None
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let next = match op {
            OnceCellOp::Set(value) | OnceCellOp::GetOrInit(value) => state.as_ref().or(Some(value)),
            OnceCellOp::Get => state.as_ref(),
        };
        let result = match op {
            OnceCellOp::Set(_) => OnceCellRet::Stored(state.is_none()),
            OnceCellOp::Get | OnceCellOp::GetOrInit(_) => OnceCellRet::Value(next.cloned()),
        };
        if recorded.is_some_and(|recorded| *recorded != result) { blocked() } else { outcome(result, next.cloned()) }
    }

    fn describe_state(&self, state: &Option<V>) -> String {
        state.as_ref().map_or_else(|| "empty".to_owned(), |value| format!("{value:?}"))
    }

    fn leads_to(&self, op: &OnceCellOp<V>, recorded: &OnceCellRet<V>) -> Option<Option<V>> {
        match (op, recorded) {
            (OnceCellOp::Set(value), OnceCellRet::Stored(true)) => Some(Some(value.clone())),
            (OnceCellOp::Get | OnceCellOp::GetOrInit(_), OnceCellRet::Value(value)) => Some(value.clone()),
            _ => None,
        }
    }

    fn observes(&self, op: &OnceCellOp<V>, recorded: Option<&OnceCellRet<V>>) -> bool {
        match op {
            OnceCellOp::Set(_) => recorded == Some(&OnceCellRet::Stored(false)),
            OnceCellOp::Get => true,
            // If a different value was returned, nothing was stored. If `value` was returned, this operation may have
            // stored it.
            OnceCellOp::GetOrInit(value) => {
                matches!(recorded, Some(OnceCellRet::Value(Some(found))) if found != value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OnceCellOp::{Get, GetOrInit, Set};
    use super::OnceCellRet::{Stored, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Get, Set(0), Set(1), GetOrInit(0), GetOrInit(1)];
        let results = [Stored(true), Stored(false), Value(None), Value(Some(0)), Value(Some(1))];
        laws::check(&OnceCell::new(), &operations, &results, 1);
        laws::check_observers_are_known(&OnceCell::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn the_first_value_stays() {
        let legal = |sequence: &[(OnceCellOp<u8>, OnceCellRet<u8>)]| laws::is_legal(&OnceCell::new(), sequence);
        assert!(legal(&[(Get, Value(None)), (Set(1), Stored(true)), (Set(2), Stored(false)), (Get, Value(Some(1)))]));
        assert!(legal(&[(GetOrInit(1), Value(Some(1))), (GetOrInit(2), Value(Some(1))), (Set(1), Stored(false))]));
        assert!(!legal(&[(Set(1), Stored(true)), (Set(2), Stored(true))]));
        assert!(!legal(&[(Set(1), Stored(false))]));
        assert!(!legal(&[(GetOrInit(1), Value(Some(2)))]));
        assert!(!legal(&[(GetOrInit(1), Value(Some(1))), (Get, Value(None))]));
    }
}
