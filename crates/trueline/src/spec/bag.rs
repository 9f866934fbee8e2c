//! A bag: a multiset from which any value may be removed.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::container::Does;
use super::persistent::{Trie, in_reading_order};
use super::{Spec, Standard, Steps, Subject, blocked, outcome};

pub use super::container::ContainerRet as BagRet;

/// A bag of values `V`, initially empty: a *nondeterministic* object, which can specify a pool.
///
/// | operation | result | key | leaves the state unchanged |
/// |---|---|---|---|
/// | `Add(v)` | `Done` | `v` | never |
/// | `RemoveAny` | `Value`, the value that was removed | that value, if known | if `Value(None)` |
///
/// `RemoveAny` removes any one value, and returns `Value(None)` if and only if the bag was empty. It has one outcome
/// for each *distinct* value; with a recorded result, only the outcome with this result is computed.
///
/// The key of an operation is the value that it adds or removes, if that is known. A `RemoveAny`
/// that found the bag empty depends on all values, and has no key. A state contains the count of
/// each value. A new state allocates only the nodes on the path to the changed entry; see
/// [`Trie::heap_size`].
///
/// ```
/// use trueline::spec::{Bag, BagOp, BagRet, Spec};
///
/// let bag = Bag::new();
/// let state = bag.step(&bag.initial(), &BagOp::Add('a'), None).remove(0).1;
/// let state = bag.step(&state, &BagOp::Add('b'), None).remove(0).1;
/// assert_eq!(bag.step(&state, &BagOp::RemoveAny, None).len(), 2);
/// assert_eq!(bag.step(&state, &BagOp::RemoveAny, Some(&BagRet::Value(Some('a')))).len(), 1);
/// assert!(bag.step(&state, &BagOp::RemoveAny, Some(&BagRet::Value(None))).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bag<V>(PhantomData<fn() -> V>);

without_parameters!(Bag<V>, "Creates the specification of a bag that is initially empty.");

/// An operation of a [`Bag`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BagOp<V> {
    /// Adds a value.
    Add(V),
    /// Removes and returns any one value.
    RemoveAny,
}

impl<V> BagOp<V> {
    pub(super) fn does(&self) -> Does<'_, V> {
        match self {
            Self::Add(value) => Does::Puts(value),
            Self::RemoveAny => Does::Takes,
        }
    }
}

/// Formats the values like a set, but repeats each value as many times as its count.
pub(super) fn describe_counts<V: Debug>(state: &Trie<V, u32>) -> String {
    let instances = state.iter().flat_map(|(value, &count)| (0..count).map(move |_| value));
    format!("{{{}}}", in_reading_order(instances).join(", "))
}

/// Returns the bag without one instance of `value`. The bag `state` contains `value` `count` times.
pub(super) fn without_one<V: Clone + Eq + Hash>(state: &Trie<V, u32>, value: &V, count: u32) -> Trie<V, u32> {
    // A count of 0 is never stored, so that equal bags are equal maps.
    if count > 1 { state.insert(value.clone(), count - 1) } else { state.remove(value) }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Bag<V> {
    type Op = BagOp<V>;
    type Ret = BagRet<V>;
    type State = Trie<V, u32>;
    type Key = V;
    type Value = V;

    fn initial(&self) -> Trie<V, u32> {
        Trie::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        match (op, recorded) {
            (BagOp::Add(value), None | Some(BagRet::Done)) => {
                let count = state.get(value).copied().unwrap_or(0);
                outcome(BagRet::Done, state.insert(value.clone(), count + 1))
            }
            (BagOp::Add(_), Some(BagRet::Value(_))) | (BagOp::RemoveAny, Some(BagRet::Done)) => blocked(),
            (BagOp::RemoveAny, Some(BagRet::Value(Some(value)))) => match state.get(value) {
                Some(&count) => outcome(BagRet::Value(Some(value.clone())), without_one(state, value, count)),
                None => blocked(),
            },
            (BagOp::RemoveAny, _) if state.is_empty() => outcome(BagRet::Value(None), state.clone()),
            (BagOp::RemoveAny, Some(BagRet::Value(None))) => blocked(),
            (BagOp::RemoveAny, None) => {
                let removed =
                    |(value, &count)| (BagRet::Value(Some(V::clone(value))), without_one(state, value, count));
                state.iter().map(removed).collect()
            }
        }
    }

    fn subject(&self, op: &BagOp<V>, recorded: Option<&BagRet<V>>) -> Subject {
        // If an operation found the bag empty, it still finds the bag empty after all operations on
        // some of the values have been removed from the history.
        op.does().subject(recorded)
    }

    fn leads_to(&self, _op: &BagOp<V>, recorded: &BagRet<V>) -> Option<Trie<V, u32>> {
        // An operation that found the bag empty leaves the bag empty.
        recorded.is_empty().then(Trie::new)
    }

    fn observes(&self, op: &BagOp<V>, recorded: Option<&BagRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn key(&self, op: &BagOp<V>, recorded: Option<&BagRet<V>>) -> Option<V> {
        match (op, recorded) {
            (BagOp::Add(value), _) | (BagOp::RemoveAny, Some(BagRet::Value(Some(value)))) => Some(value.clone()),
            (BagOp::RemoveAny, _) => None,
        }
    }

    fn heap_size(&self, state: &Trie<V, u32>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Trie<V, u32>) -> String {
        describe_counts(state)
    }

    fn standard_spans_keys(&self) -> bool {
        true
    }

    fn standard<'a>(&'a self, op: &'a BagOp<V>, recorded: Option<&'a BagRet<V>>) -> Option<Standard<&'a V>> {
        op.does().standard(recorded, Standard::Put, Standard::Take, Standard::Take)
    }
}

#[cfg(test)]
mod tests {
    use super::BagOp::{Add, RemoveAny};
    use super::BagRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Add(0), Add(1), Add(2), RemoveAny, RemoveAny, RemoveAny];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        laws::check(&Bag::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Bag::new(), &operations, |_, _| false, 2);
        laws::check_keys(&Bag::new(), &operations, &results, 3);
    }

    #[test]
    fn each_value_is_removed_as_often_as_it_was_added() {
        let mut sequence = vec![(Add(1), Done), (Add(2), Done), (Add(1), Done)];
        sequence.extend([2, 1, 1].map(|value| (RemoveAny, Value(Some(value)))));
        sequence.push((RemoveAny, Value(None)));
        assert!(laws::is_legal(&Bag::new(), &sequence));
        sequence.push((RemoveAny, Value(Some(1))));
        assert!(!laws::is_legal(&Bag::new(), &sequence));
    }

    #[test]
    fn equal_values_are_one_outcome() {
        let state = [(1, 3), (2, 1)].into_iter().collect();
        let outcomes = Bag::new().step(&state, &RemoveAny, None);
        assert_eq!(outcomes.len(), 2);
        assert!(outcomes.contains(&(Value(Some(1)), [(1, 2), (2, 1)].into_iter().collect())));
        assert!(outcomes.contains(&(Value(Some(2)), [(1, 3)].into_iter().collect())));
        assert_eq!(Bag::new().describe_state(&state), "{1, 1, 1, 2}");
    }

    #[test]
    fn emptiness_and_unknown_results_have_no_key() {
        let bag = Bag::<u8>::new();
        assert_eq!(bag.key(&RemoveAny, Some(&Value(None))), None);
        assert_eq!(bag.key(&RemoveAny, None), None);
        assert_eq!(bag.key(&RemoveAny, Some(&Value(Some(4)))), Some(4));
        assert_eq!(bag.key(&Add(4), None), Some(4));
    }
}
