//! A queue: first in, first out.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::container::Does;
use super::persistent::Chain;
use super::{Object, Spec, Standard, Steps, Subject, blocked, outcome};

pub use super::container::ContainerRet as QueueRet;

/// An unbounded first-in-first-out queue of values `V`, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Enqueue(v)` | `Done` | never |
/// | `Dequeue` | `Value`, the oldest value, which is removed; `Value(None)` if the queue was empty | if it was empty |
/// | `Peek` | `Value`, the oldest value; `Value(None)` if the queue is empty | always |
///
/// The result of a dequeue depends on all values, so there are no keys. A new state allocates at
/// most one list node; see [`Chain::heap_size`]. States are formatted from the oldest value to the
/// newest.
///
/// # Complexity
///
/// `Enqueue` costs O(1), `Dequeue` and `Peek` O(log n), where n is the number of values enqueued since the queue was
/// last empty.
///
/// ```
/// use trueline::spec::{Queue, QueueOp, QueueRet, Spec};
///
/// let queue = Queue::new();
/// let state = queue.step(&queue.initial(), &QueueOp::Enqueue(1), None).remove(0).1;
/// let state = queue.step(&state, &QueueOp::Enqueue(2), None).remove(0).1;
/// assert!(queue.step(&state, &QueueOp::Dequeue, Some(&QueueRet::Value(Some(2)))).is_empty());
/// let (result, state) = queue.step(&state, &QueueOp::Dequeue, None).remove(0);
/// assert_eq!(result, QueueRet::Value(Some(1)));
/// assert_eq!(queue.describe_state(&state), "[2]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Queue<V>(PhantomData<fn() -> V>);

without_parameters!(Queue<V>, "Creates the specification of a queue that is initially empty.");

/// An operation of a [`Queue`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum QueueOp<V> {
    /// Adds a value at the end.
    Enqueue(V),
    /// Removes and returns the value at the front.
    Dequeue,
    /// Returns the value at the front.
    Peek,
}

impl<V> QueueOp<V> {
    pub(super) fn does(&self) -> Does<'_, V> {
        match self {
            Self::Enqueue(value) => Does::Puts(value),
            Self::Dequeue => Does::Takes,
            Self::Peek => Does::Looks,
        }
    }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Queue<V> {
    type Op = QueueOp<V>;
    type Ret = QueueRet<V>;
    type State = Chain<V>;
    type Key = ();
    type Value = V;

    fn initial(&self) -> Chain<V> {
        Chain::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        if let QueueOp::Enqueue(value) = op {
            return match recorded {
                None | Some(QueueRet::Done) => outcome(QueueRet::Done, state.push_newest(value.clone())),
                Some(QueueRet::Value(_)) => blocked(),
            };
        }
        // Finding the oldest element takes some time, so it is done only once.
        let (front, rest) = match op {
            QueueOp::Dequeue => state.drop_oldest().map_or((None, None), |(front, rest)| (Some(front), Some(rest))),
            _ => (state.oldest(), None),
        };
        match recorded {
            Some(QueueRet::Done) => return blocked(),
            Some(QueueRet::Value(value)) if value.as_ref() != front => return blocked(),
            Some(QueueRet::Value(_)) | None => {}
        }
        outcome(QueueRet::Value(front.cloned()), rest.unwrap_or_else(|| state.clone()))
    }

    fn object<'a>(&'a self) -> Option<Object<'a, QueueOp<V>, QueueRet<V>>> {
        let mut values: VecDeque<&V> = VecDeque::new();
        Some(Box::new(move |op, result| match (op, result) {
            (QueueOp::Enqueue(value), QueueRet::Done) => {
                values.push_back(value);
                true
            }
            (QueueOp::Dequeue, QueueRet::Value(value)) => values.pop_front() == value.as_ref(),
            (QueueOp::Peek, QueueRet::Value(value)) => values.front().copied() == value.as_ref(),
            _ => false,
        }))
    }

    fn subject(&self, op: &QueueOp<V>, recorded: Option<&QueueRet<V>>) -> Subject {
        // Removing values does not change the order of the others: if the first value is kept, it is still the first.
        op.does().subject(recorded)
    }

    fn leads_to(&self, _op: &QueueOp<V>, recorded: &QueueRet<V>) -> Option<Chain<V>> {
        // An operation that found the queue empty leaves the queue empty.
        recorded.is_empty().then(Chain::new)
    }

    fn observes(&self, op: &QueueOp<V>, recorded: Option<&QueueRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &Chain<V>) -> usize {
        state.heap_size()
    }

    fn standard<'a>(&'a self, op: &'a QueueOp<V>, recorded: Option<&'a QueueRet<V>>) -> Option<Standard<&'a V>> {
        op.does().standard(recorded, Standard::Enqueue, Standard::Dequeue, Standard::Front)
    }
}

#[cfg(test)]
mod tests {
    use super::QueueOp::{Dequeue, Enqueue, Peek};
    use super::QueueRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Enqueue(0), Enqueue(1), Enqueue(2), Dequeue, Peek];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        laws::check(&Queue::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Queue::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn the_first_in_is_the_first_out() {
        let values = [(Enqueue(1), Done), (Enqueue(2), Done), (Peek, Value(Some(1))), (Dequeue, Value(Some(1)))];
        let mut sequence = values.to_vec();
        assert!(laws::is_legal(&Queue::new(), &sequence));
        sequence.extend([(Dequeue, Value(Some(2))), (Dequeue, Value(None)), (Peek, Value(None))]);
        assert!(laws::is_legal(&Queue::new(), &sequence));
        sequence.push((Dequeue, Value(Some(2))));
        assert!(!laws::is_legal(&Queue::new(), &sequence));
    }
}
