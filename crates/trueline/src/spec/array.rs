//! An array of registers.

use std::fmt::Debug;
use std::hash::Hash;

use super::persistent::{Trie, describe_map};
use super::{Initial, Spec, Standard, Steps, Subject, blocked, outcome};

/// An unbounded array of values `V`.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Read(i)` | `Value`, the current value at `i` | always |
/// | `Write(i, v)` | `Done` | never |
///
/// The key of an operation is its index. A state contains the values that differ from the initial
/// value. A new state allocates only the nodes on the path to the changed entry; see
/// [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{Array, ArrayOp, ArrayRet, Spec};
///
/// let array = Array::new(0);
/// let state = array.step(&array.initial(), &ArrayOp::Write(3, 7), None).remove(0).1;
/// assert_eq!(array.step(&state, &ArrayOp::Read(3), None)[0].0, ArrayRet::Value(7));
/// assert!(array.step(&state, &ArrayOp::Read(2), Some(&ArrayRet::Value(7))).is_empty());
/// ```
#[derive(Clone, Debug)]
pub struct Array<V> {
    initial: V,
}

impl<V> Array<V> {
    /// Creates an array that initially holds `initial` at each index.
    pub fn new(initial: V) -> Self {
        Self { initial }
    }
}

/// An operation of an [`Array`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ArrayOp<V> {
    /// Returns the current value at an index.
    Read(usize),
    /// Replaces the current value at an index.
    Write(usize, V),
}

/// A result of an [`ArrayOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ArrayRet<V> {
    /// The value that a read returned.
    Value(V),
    /// A write took place.
    Done,
}

/// Returns the state after a write: the map of the values that differ from the initial value.
///
/// The initial value is never stored, so that states with the same values are equal maps.
pub(super) fn written<K, V>(state: &Trie<K, V>, initial: &V, key: &K, value: &V) -> Trie<K, V>
where
    K: Clone + Eq + Hash,
    V: Clone + Eq + Hash,
{
    if value == initial { state.remove(key) } else { state.insert(key.clone(), value.clone()) }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Array<V> {
    type Op = ArrayOp<V>;
    type Ret = ArrayRet<V>;
    type State = Trie<usize, V>;
    type Key = usize;
    type Value = V;

    fn initial(&self) -> Trie<usize, V> {
        Trie::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        match (op, recorded) {
            (ArrayOp::Read(index), None | Some(ArrayRet::Value(_))) => {
                let value = state.get(index).unwrap_or(&self.initial);
                match recorded {
                    Some(ArrayRet::Value(recorded)) if recorded != value => blocked(),
                    _ => outcome(ArrayRet::Value(value.clone()), state.clone()),
                }
            }
            (ArrayOp::Write(index, value), None | Some(ArrayRet::Done)) => {
                outcome(ArrayRet::Done, written(state, &self.initial, index, value))
            }
            (ArrayOp::Read(_), Some(ArrayRet::Done)) | (ArrayOp::Write(..), Some(ArrayRet::Value(_))) => blocked(),
        }
    }

    fn subject(&self, op: &ArrayOp<V>, recorded: Option<&ArrayRet<V>>) -> Subject {
        // Each index is a register. As in `Register`, the operations on one value of a register can
        // be removed without the operations on its other values.
        match (op, recorded) {
            (ArrayOp::Write(index, value), _) | (ArrayOp::Read(index), Some(ArrayRet::Value(value))) => {
                Subject::of(&(index, value))
            }
            (ArrayOp::Read(_), _) => Subject::Free,
        }
    }

    fn leads_to(&self, op: &ArrayOp<V>, recorded: &ArrayRet<V>) -> Option<Trie<usize, V>> {
        match (op, recorded) {
            (ArrayOp::Write(index, value), ArrayRet::Done) | (ArrayOp::Read(index), ArrayRet::Value(value)) => {
                Some(written(&Trie::new(), &self.initial, index, value))
            }
            _ => None,
        }
    }

    fn observes(&self, op: &ArrayOp<V>, _recorded: Option<&ArrayRet<V>>) -> bool {
        match op {
            ArrayOp::Read(_) => true,
            ArrayOp::Write(..) => false,
        }
    }

    fn overwrites(&self, op: &ArrayOp<V>, recorded: Option<&ArrayRet<V>>) -> bool {
        matches!((op, recorded), (ArrayOp::Write(..), None | Some(ArrayRet::Done)))
    }

    fn key(&self, op: &ArrayOp<V>, _recorded: Option<&ArrayRet<V>>) -> Option<usize> {
        match op {
            ArrayOp::Read(index) | ArrayOp::Write(index, _) => Some(*index),
        }
    }

    fn heap_size(&self, state: &Trie<usize, V>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Trie<usize, V>) -> String {
        describe_map(state.iter())
    }

    fn standard<'a>(&'a self, op: &'a ArrayOp<V>, recorded: Option<&'a ArrayRet<V>>) -> Option<Standard<&'a V>> {
        Some(match (op, recorded) {
            (ArrayOp::Read(_), Some(ArrayRet::Value(value))) => Standard::Read(value),
            (ArrayOp::Write(_, value), None | Some(ArrayRet::Done)) => Standard::Write(value),
            _ => return None,
        })
    }

    fn standard_initial(&self) -> Initial<&V> {
        Initial::Value(&self.initial)
    }
}

#[cfg(test)]
mod tests {
    use super::ArrayOp::{Read, Write};
    use super::ArrayRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let at = |index| [Read(index), Write(index, 0), Write(index, 1), Write(index, 2)];
        let operations: Vec<_> = (0..3).flat_map(at).collect();
        let results = [Value(0), Value(1), Value(2), Done];
        laws::check(&Array::new(0), &operations, &results, 1);
        laws::check_observers_are_known(&Array::new(0), &operations, |_, _| false, 2);
        laws::check_keys(&Array::new(0), &operations, &results, 3);
    }

    #[test]
    fn each_index_is_a_register() {
        let array = Array::new(5);
        assert!(laws::is_legal(&array, &[(Write(0, 1), Done), (Read(1), Value(5)), (Read(0), Value(1))]));
        assert!(!laws::is_legal(&array, &[(Write(0, 1), Done), (Read(0), Value(5))]));
        assert!(array.overwrites(&Write(0, 1), None) && array.overwrites(&Write(0, 5), Some(&Done)));
    }

    #[test]
    fn the_initial_value_written_is_no_other_state() {
        let array = Array::new(5);
        let state = array.step(&array.initial(), &Write(2, 1), None).remove(0).1;
        assert_eq!(array.describe_state(&state), "{2: 1}");
        assert_eq!(array.step(&state, &Write(2, 5), None)[0].1, array.initial());
    }
}
