//! A queue with two ends.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::container::Does;
use super::persistent::DoubleEnded;
use super::{Spec, Steps, Subject, blocked, outcome};

pub use super::container::ContainerRet as DequeRet;

/// An unbounded double-ended queue of values `V`, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `PushFront(v)`, `PushBack(v)` | `Done` | never |
/// | `PopFront`, `PopBack` | `Value`, the value removed at that end; `Value(None)` if it was empty | if it was empty |
/// | `PeekFront`, `PeekBack` | `Value`, the value at that end; `Value(None)` if it is empty | always |
///
/// The result of a pop depends on all values, so there are no keys. A new state allocates at most
/// one list node; see [`DoubleEnded::heap_size`]. States are formatted from the front to the back.
///
/// # Complexity
///
/// Each step costs O(log n), where n is the number of values pushed since the deque was last empty.
///
/// ```
/// use trueline::spec::{Deque, DequeOp, DequeRet, Spec};
///
/// let deque = Deque::new();
/// let state = deque.step(&deque.initial(), &DequeOp::PushBack(2), None).remove(0).1;
/// let state = deque.step(&state, &DequeOp::PushFront(1), None).remove(0).1;
/// assert_eq!(deque.describe_state(&state), "[1, 2]");
/// assert_eq!(deque.step(&state, &DequeOp::PopBack, None)[0].0, DequeRet::Value(Some(2)));
/// assert!(deque.step(&state, &DequeOp::PopFront, Some(&DequeRet::Value(Some(2)))).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Deque<V>(PhantomData<fn() -> V>);

without_parameters!(Deque<V>, "Creates the specification of a deque that is initially empty.");

/// An operation of a [`Deque`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DequeOp<V> {
    /// Adds a value at the front.
    PushFront(V),
    /// Adds a value at the back.
    PushBack(V),
    /// Removes and returns the value at the front.
    PopFront,
    /// Removes and returns the value at the back.
    PopBack,
    /// Returns the value at the front.
    PeekFront,
    /// Returns the value at the back.
    PeekBack,
}

impl<V> DequeOp<V> {
    pub(super) fn does(&self) -> Does<'_, V> {
        match self {
            Self::PushFront(value) | Self::PushBack(value) => Does::Puts(value),
            Self::PopFront | Self::PopBack => Does::Takes,
            Self::PeekFront | Self::PeekBack => Does::Looks,
        }
    }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Deque<V> {
    type Op = DequeOp<V>;
    type Ret = DequeRet<V>;
    type State = DoubleEnded<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> DoubleEnded<V> {
        DoubleEnded::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        // Reading the result is cheaper than updating the state, so the result is checked first.
        let result = match op {
            DequeOp::PushFront(_) | DequeOp::PushBack(_) => DequeRet::Done,
            DequeOp::PopFront | DequeOp::PeekFront => DequeRet::Value(state.front().cloned()),
            DequeOp::PopBack | DequeOp::PeekBack => DequeRet::Value(state.back().cloned()),
        };
        if recorded.is_some_and(|recorded| *recorded != result) {
            return blocked();
        }
        let next = match op {
            DequeOp::PushFront(value) => Some(state.push_front(value.clone())),
            DequeOp::PushBack(value) => Some(state.push_back(value.clone())),
            DequeOp::PopFront => state.pop_front().map(|(_, rest)| rest),
            DequeOp::PopBack => state.pop_back().map(|(_, rest)| rest),
            DequeOp::PeekFront | DequeOp::PeekBack => None,
        };
        outcome(result, next.unwrap_or_else(|| state.clone()))
    }

    fn subject(&self, op: &DequeOp<V>, recorded: Option<&DequeRet<V>>) -> Subject {
        // Removing values does not change the order of the others: if a value at an end is kept, it is still at that
        // end.
        op.does().subject(recorded)
    }

    fn leads_to(&self, _op: &DequeOp<V>, recorded: &DequeRet<V>) -> Option<DoubleEnded<V>> {
        // An operation that found the deque empty leaves the deque empty.
        recorded.is_empty().then(DoubleEnded::new)
    }

    fn observes(&self, op: &DequeOp<V>, recorded: Option<&DequeRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &DoubleEnded<V>) -> usize {
        state.heap_size()
    }
}

#[cfg(test)]
mod tests {
    use super::DequeOp::{PeekBack, PeekFront, PopBack, PopFront, PushBack, PushFront};
    use super::DequeRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [
            PushFront(0),
            PushFront(1),
            PushBack(0),
            PushBack(2),
            PopFront,
            PopFront,
            PopBack,
            PopBack,
            PeekFront,
            PeekBack,
        ];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        laws::check(&Deque::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Deque::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn has_two_ends() {
        let pushes = vec![(PushBack(2), Done), (PushBack(3), Done), (PushFront(1), Done)];
        let pops = vec![(PopBack, Value(Some(3))), (PopFront, Value(Some(1))), (PeekFront, Value(Some(2)))];
        let rest = vec![(PeekBack, Value(Some(2))), (PopFront, Value(Some(2))), (PopBack, Value(None))];
        assert!(laws::is_legal(&Deque::new(), &[pushes.clone(), pops, rest].concat()));
        assert!(!laws::is_legal(&Deque::new(), &[pushes, vec![(PopFront, Value(Some(2)))]].concat()));
    }
}
