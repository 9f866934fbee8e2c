//! A priority queue: least value first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::container::Does;
use super::persistent::Treap;
use super::standard::dense_ranks;
use super::{Object, Spec, Standard, Steps, Subject, blocked, outcome};

pub use super::container::ContainerRet as PriorityQueueRet;

/// An unbounded priority queue of values `V`, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Insert(v)` | `Done` | never |
/// | `DeleteMin` | `Value`, the removed least value; `Value(None)` if the queue was empty | if it was empty |
/// | `PeekMin` | `Value`, the least value; `Value(None)` if the queue is empty | always |
///
/// Values are ordered by `Ord`, and equal values are not distinguished: it does not matter which of two equal values is
/// returned. If different values can have equal priorities, let `V` be the pair of priority and value; then values
/// with equal priorities are ordered, too.
///
/// The result of a `DeleteMin` depends on all values, so there are no keys. A state contains the
/// count of each value. A new state allocates only the nodes on the path to the changed entry; see
/// [`Treap::heap_size`]. Each step costs O(log n).
///
/// ```
/// use trueline::spec::{PriorityQueue, PriorityQueueOp, PriorityQueueRet, Spec};
///
/// let queue = PriorityQueue::new();
/// let state = queue.step(&queue.initial(), &PriorityQueueOp::Insert(2), None).remove(0).1;
/// let state = queue.step(&state, &PriorityQueueOp::Insert(1), None).remove(0).1;
/// let (result, state) = queue.step(&state, &PriorityQueueOp::DeleteMin, None).remove(0);
/// assert_eq!(result, PriorityQueueRet::Value(Some(1)));
/// assert_eq!(queue.describe_state(&state), "[2]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PriorityQueue<V>(PhantomData<fn() -> V>);

without_parameters!(PriorityQueue<V>, "Creates the specification of a priority queue that is initially empty.");

/// An operation of a [`PriorityQueue`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PriorityQueueOp<V> {
    /// Adds a value.
    Insert(V),
    /// Removes and returns the least value.
    DeleteMin,
    /// Returns the least value.
    PeekMin,
}

impl<V> PriorityQueueOp<V> {
    pub(super) fn does(&self) -> Does<'_, V> {
        match self {
            Self::Insert(value) => Does::Puts(value),
            Self::DeleteMin => Does::Takes,
            Self::PeekMin => Does::Looks,
        }
    }
}

impl<V: Clone + Ord + Hash + Debug + Send + Sync> Spec for PriorityQueue<V> {
    type Op = PriorityQueueOp<V>;
    type Ret = PriorityQueueRet<V>;
    /// The count of each value, which is at least 1.
    type State = Treap<V, u32>;
    type Key = ();
    type Value = V;

    fn initial(&self) -> Treap<V, u32> {
        Treap::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        if let PriorityQueueOp::Insert(value) = op {
            return match recorded {
                None | Some(PriorityQueueRet::Done) => {
                    let count = state.get(value).copied().unwrap_or(0);
                    outcome(PriorityQueueRet::Done, state.insert(value.clone(), count + 1))
                }
                Some(PriorityQueueRet::Value(_)) => blocked(),
            };
        }
        let least = state.first();
        match recorded {
            Some(PriorityQueueRet::Done) => return blocked(),
            Some(PriorityQueueRet::Value(value)) if value.as_ref() != least.map(|(value, _)| value) => {
                return blocked();
            }
            Some(PriorityQueueRet::Value(_)) | None => {}
        }
        let result = PriorityQueueRet::Value(least.map(|(value, _)| value.clone()));
        let next = match (op, least) {
            // A count of 0 is never stored, so that equal queues are equal maps.
            (PriorityQueueOp::DeleteMin, Some((_, 1))) => {
                state.pop_first().map_or_else(Treap::new, |(_, _, rest)| rest)
            }
            (PriorityQueueOp::DeleteMin, Some((value, count))) => state.insert(value.clone(), count - 1),
            _ => state.clone(),
        };
        outcome(result, next)
    }

    fn object<'a>(&'a self) -> Option<Object<'a, PriorityQueueOp<V>, PriorityQueueRet<V>>> {
        // The binary heap contains copies of the values, because comparing values through
        // references would cause many cache misses.
        let mut values: BinaryHeap<Reverse<V>> = BinaryHeap::new();
        Some(Box::new(move |op, result| match (op, result) {
            (PriorityQueueOp::Insert(value), PriorityQueueRet::Done) => {
                values.push(Reverse(value.clone()));
                true
            }
            (PriorityQueueOp::DeleteMin, PriorityQueueRet::Value(value)) => {
                values.pop().map(|Reverse(least)| least) == *value
            }
            (PriorityQueueOp::PeekMin, PriorityQueueRet::Value(value)) => {
                values.peek().map(|Reverse(least)| least) == value.as_ref()
            }
            _ => false,
        }))
    }

    fn subject(&self, op: &PriorityQueueOp<V>, recorded: Option<&PriorityQueueRet<V>>) -> Subject {
        // If the least value is kept while others are removed, it is still the least.
        op.does().subject(recorded)
    }

    fn leads_to(&self, _op: &PriorityQueueOp<V>, recorded: &PriorityQueueRet<V>) -> Option<Treap<V, u32>> {
        // An operation that found the queue empty leaves the queue empty.
        recorded.is_empty().then(Treap::new)
    }

    fn observes(&self, op: &PriorityQueueOp<V>, recorded: Option<&PriorityQueueRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &Treap<V, u32>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &Treap<V, u32>) -> String {
        let instances = state.iter().flat_map(|(value, &count)| (0..count).map(move |_| value));
        format!("{:?}", instances.collect::<Vec<_>>())
    }

    fn standard<'a>(&'a self, op: &'a Self::Op, recorded: Option<&'a Self::Ret>) -> Option<Standard<&'a V>> {
        op.does().standard(recorded, Standard::Insert, Standard::DeleteMin, Standard::Min)
    }

    fn standard_order(&self, one: &V, other: &V) -> Ordering {
        one.cmp(other)
    }

    fn standard_ranks(&self, values: &[&V]) -> Vec<u32> {
        // Sort copies of the values: the copies are adjacent in memory, whereas the values
        // themselves are scattered over the history.
        let mut order: Vec<(V, usize)> = values.iter().map(|value| (*value).clone()).zip(0..).collect();
        order.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let differs = |place: usize| place > 0 && order[place - 1].0 != order[place].0;
        dense_ranks(order.len(), (0..order.len()).map(|place| (order[place].1, differs(place))))
    }
}

#[cfg(test)]
mod tests {
    use super::PriorityQueueOp::{DeleteMin, Insert, PeekMin};
    use super::PriorityQueueRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Insert(0), Insert(1), Insert(2), DeleteMin, DeleteMin, DeleteMin, PeekMin];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        laws::check(&PriorityQueue::new(), &operations, &results, 1);
        laws::check_observers_are_known(&PriorityQueue::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn the_least_is_the_first_out() {
        let mut sequence = vec![(Insert(3), Done), (Insert(1), Done), (Insert(2), Done), (Insert(1), Done)];
        sequence.extend([1, 1, 2].map(|value| (DeleteMin, Value(Some(value)))));
        sequence.push((PeekMin, Value(Some(3))));
        assert!(laws::is_legal(&PriorityQueue::new(), &sequence));
        assert!(!laws::is_legal(&PriorityQueue::new(), &[sequence.clone(), vec![(DeleteMin, Value(None))]].concat()));
        sequence.extend([(DeleteMin, Value(Some(3))), (DeleteMin, Value(None)), (PeekMin, Value(None))]);
        assert!(laws::is_legal(&PriorityQueue::new(), &sequence));
    }

    #[test]
    fn is_described_in_order() {
        let state = [(10, 1), (9, 2)].into_iter().collect();
        assert_eq!(PriorityQueue::new().describe_state(&state), "[9, 9, 10]");
    }
}
