//! A set that can contain a value more than once.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::bag::{describe_counts, without_one};
use super::persistent::Trie;
use super::{Spec, Standard, Steps, Taken, blocked, outcome};

/// A multiset of values `V`, initially empty. See [`Bag`](super::Bag) for a multiset from which any value may be
/// removed.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Add(v)` | `Done` | never |
/// | `Remove(v)` | `Removed`: `true` if `v` was present (and its count is now one less) | if `false` |
/// | `Count(v)` | `Count`, the count of `v` | always |
///
/// The key of each operation is its `v`. A state contains the count of each value. A new state
/// allocates only the nodes on the path to the changed entry; see [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{Multiset, MultisetOp, MultisetRet, Spec};
///
/// let multiset = Multiset::new();
/// let state = multiset.step(&multiset.initial(), &MultisetOp::Add('a'), None).remove(0).1;
/// let state = multiset.step(&state, &MultisetOp::Add('a'), None).remove(0).1;
/// let (result, state) = multiset.step(&state, &MultisetOp::Remove('a'), None).remove(0);
/// assert_eq!(result, MultisetRet::Removed(true));
/// assert_eq!(multiset.step(&state, &MultisetOp::Count('a'), None)[0].0, MultisetRet::Count(1));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Multiset<V>(PhantomData<fn() -> V>);

without_parameters!(Multiset<V>, "Creates the specification of a multiset that is initially empty.");

/// An operation of a [`Multiset`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MultisetOp<V> {
    /// Adds a value once.
    Add(V),
    /// Removes one instance of a value, and returns whether the value was present.
    Remove(V),
    /// Returns the count of a value.
    Count(V),
}

/// A result of a [`MultisetOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MultisetRet {
    /// An addition took place.
    Done,
    /// Whether the value was present, and has been removed.
    Removed(bool),
    /// The count of a value.
    Count(u32),
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Multiset<V> {
    type Op = MultisetOp<V>;
    type Ret = MultisetRet;
    /// The count of each value, which is at least 1.
    type State = Trie<V, u32>;
    type Key = V;
    type Value = V;

    fn initial(&self) -> Trie<V, u32> {
        Trie::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        // Reading the result is cheaper than updating the state, so the result is checked first.
        let (MultisetOp::Add(value) | MultisetOp::Remove(value) | MultisetOp::Count(value)) = op;
        let count = state.get(value).copied().unwrap_or(0);
        let result = match op {
            MultisetOp::Add(_) => MultisetRet::Done,
            MultisetOp::Remove(_) => MultisetRet::Removed(count > 0),
            MultisetOp::Count(_) => MultisetRet::Count(count),
        };
        if recorded.is_some_and(|recorded| *recorded != result) {
            return blocked();
        }
        let next = match op {
            MultisetOp::Add(value) => state.insert(value.clone(), count + 1),
            MultisetOp::Remove(value) if count > 0 => without_one(state, value, count),
            MultisetOp::Remove(_) | MultisetOp::Count(_) => state.clone(),
        };
        outcome(result, next)
    }

    fn leads_to(&self, op: &MultisetOp<V>, recorded: &MultisetRet) -> Option<Trie<V, u32>> {
        match (op, recorded) {
            (MultisetOp::Count(_), MultisetRet::Count(0)) | (MultisetOp::Remove(_), MultisetRet::Removed(false)) => {
                Some(Trie::new())
            }
            (MultisetOp::Count(value), MultisetRet::Count(count)) => Some(Trie::new().insert(value.clone(), *count)),
            _ => None,
        }
    }

    fn observes(&self, op: &MultisetOp<V>, recorded: Option<&MultisetRet>) -> bool {
        match op {
            MultisetOp::Add(_) => false,
            MultisetOp::Remove(_) => recorded == Some(&MultisetRet::Removed(false)),
            MultisetOp::Count(_) => true,
        }
    }

    fn key(&self, op: &MultisetOp<V>, _recorded: Option<&MultisetRet>) -> Option<V> {
        match op {
            MultisetOp::Add(value) | MultisetOp::Remove(value) | MultisetOp::Count(value) => Some(value.clone()),
        }
    }

    fn heap_size(&self, state: &Trie<V, u32>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Trie<V, u32>) -> String {
        describe_counts(state)
    }

    fn standard<'a>(&'a self, op: &'a MultisetOp<V>, recorded: Option<&'a MultisetRet>) -> Option<Standard<&'a V>> {
        Some(match (op, recorded) {
            (MultisetOp::Add(value), None | Some(MultisetRet::Done)) => Standard::Put(value),
            // Each key is judged separately, and the part of the multiset that belongs to a key
            // contains only one distinct value. So "the value is absent" means that the part is
            // empty.
            (MultisetOp::Remove(value), Some(MultisetRet::Removed(true))) => Standard::Take(Taken::Value(value)),
            (MultisetOp::Remove(_), Some(MultisetRet::Removed(false))) => Standard::Take(Taken::Nothing),
            (MultisetOp::Remove(_), None) => Standard::Take(Taken::Unknown),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::MultisetOp::{Add, Count, Remove};
    use super::MultisetRet::{Count as Counted, Done, Removed};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations: Vec<_> = (0..3).flat_map(|value| [Add(value), Remove(value), Count(value)]).collect();
        let results: Vec<_> = (0..=40).map(Counted).chain([Done, Removed(true), Removed(false)]).collect();
        laws::check(&Multiset::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Multiset::new(), &operations, |_, _| false, 2);
        laws::check_keys(&Multiset::new(), &operations, &results, 3);
    }

    #[test]
    fn counts_each_value() {
        let multiset = Multiset::new();
        let adds = vec![(Add(1), Done), (Add(2), Done), (Add(1), Done), (Count(1), Counted(2))];
        let removes = vec![(Remove(1), Removed(true)), (Remove(1), Removed(true)), (Remove(1), Removed(false))];
        assert!(laws::is_legal(&multiset, &[adds.clone(), removes].concat()));
        assert!(!laws::is_legal(&multiset, &[adds, vec![(Remove(2), Removed(false))]].concat()));
        assert_eq!(multiset.describe_state(&[(1, 2), (0, 1)].into_iter().collect()), "{0, 1, 1}");
    }
}
