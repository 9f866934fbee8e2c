//! A queue with a maximum size.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::persistent::Chain;
use super::{Spec, Steps, Subject, blocked, outcome};

pub use super::queue::QueueOp as BoundedQueueOp;

/// A first-in-first-out queue of values `V` with a fixed capacity, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Enqueue(v)` | `Accepted`: `true` if there was room, and `v` has been added | if `false` |
/// | `Dequeue` | `Value`, the oldest value, which is removed; `Value(None)` if the queue was empty | if it was empty |
/// | `Peek` | `Value`, the oldest value; `Value(None)` if the queue is empty | always |
///
/// An enqueue is refused if and only if the queue is full. The result of a dequeue depends on all
/// values, so there are no keys. A new state allocates at most one list node; see
/// [`Chain::heap_size`]. States are formatted from the oldest value to the newest. Each step costs
/// as much as in a [`Queue`](super::Queue).
///
/// ```
/// use trueline::spec::{BoundedQueue, BoundedQueueOp, BoundedQueueRet, Spec};
///
/// let queue = BoundedQueue::new(1);
/// let (accepted, state) = queue.step(&queue.initial(), &BoundedQueueOp::Enqueue('a'), None).remove(0);
/// assert_eq!(accepted, BoundedQueueRet::Accepted(true));
/// let (accepted, state) = queue.step(&state, &BoundedQueueOp::Enqueue('b'), None).remove(0);
/// assert_eq!(accepted, BoundedQueueRet::Accepted(false));
/// assert_eq!(queue.describe_state(&state), "['a']");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BoundedQueue<V> {
    capacity: usize,
    values: PhantomData<fn() -> V>,
}

impl<V> BoundedQueue<V> {
    /// Creates a queue with room for `capacity` values that is initially empty.
    pub const fn new(capacity: usize) -> Self {
        Self { capacity, values: PhantomData }
    }
}

/// A result of a [`BoundedQueueOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BoundedQueueRet<V> {
    /// Whether there was room for a value.
    Accepted(bool),
    /// The value at the front; `None` if the queue was empty.
    Value(Option<V>),
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for BoundedQueue<V> {
    type Op = BoundedQueueOp<V>;
    type Ret = BoundedQueueRet<V>;
    type State = Chain<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Chain<V> {
        Chain::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        // Reading the result is cheaper than updating the state, so the result is checked first.
        let result = match op {
            BoundedQueueOp::Enqueue(_) => BoundedQueueRet::Accepted(state.len() < self.capacity),
            BoundedQueueOp::Dequeue | BoundedQueueOp::Peek => BoundedQueueRet::Value(state.oldest().cloned()),
        };
        if recorded.is_some_and(|recorded| *recorded != result) {
            return blocked();
        }
        let next = match op {
            BoundedQueueOp::Enqueue(value) if state.len() < self.capacity => Some(state.push_newest(value.clone())),
            BoundedQueueOp::Dequeue => state.drop_oldest().map(|(_, rest)| rest),
            BoundedQueueOp::Enqueue(_) | BoundedQueueOp::Peek => None,
        };
        outcome(result, next.unwrap_or_else(|| state.clone()))
    }

    fn subject(&self, op: &BoundedQueueOp<V>, recorded: Option<&BoundedQueueRet<V>>) -> Subject {
        // Operations on some values can be removed for the same reason as in `Queue`. With fewer
        // values there is more room, so only a refused enqueue may become illegal.
        match (op, recorded) {
            (BoundedQueueOp::Enqueue(_), Some(BoundedQueueRet::Accepted(false))) => Subject::All,
            (BoundedQueueOp::Enqueue(value), _) => Subject::of(value),
            (_, Some(BoundedQueueRet::Value(Some(value)))) => Subject::of(value),
            _ => Subject::Free,
        }
    }

    fn leads_to(&self, _op: &BoundedQueueOp<V>, recorded: &BoundedQueueRet<V>) -> Option<Chain<V>> {
        // An operation that found the queue empty leaves the queue empty.
        (*recorded == BoundedQueueRet::Value(None)).then(Chain::new)
    }

    fn observes(&self, op: &BoundedQueueOp<V>, recorded: Option<&BoundedQueueRet<V>>) -> bool {
        match op {
            BoundedQueueOp::Enqueue(_) => recorded == Some(&BoundedQueueRet::Accepted(false)),
            BoundedQueueOp::Dequeue => recorded == Some(&BoundedQueueRet::Value(None)),
            BoundedQueueOp::Peek => true,
        }
    }

    fn heap_size(&self, state: &Chain<V>) -> usize {
        state.heap_size()
    }
}

#[cfg(test)]
mod tests {
    use super::BoundedQueueOp::{Dequeue, Enqueue, Peek};
    use super::BoundedQueueRet::{Accepted, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Enqueue(0), Enqueue(1), Enqueue(2), Dequeue, Peek];
        let results = [Accepted(true), Accepted(false), Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        for capacity in 1..4 {
            laws::check(&BoundedQueue::new(capacity), &operations, &results, 1);
            laws::check_observers_are_known(&BoundedQueue::new(capacity), &operations, |_, _| false, 2);
        }
        laws::check(&BoundedQueue::new(0), &operations, &results, 3);
    }

    #[test]
    fn is_full_if_and_only_if_it_is() {
        let queue = BoundedQueue::new(2);
        let mut sequence = vec![(Enqueue(1), Accepted(true)), (Enqueue(2), Accepted(true))];
        assert!(!laws::is_legal(&queue, &[sequence.clone(), vec![(Enqueue(3), Accepted(true))]].concat()));
        sequence.extend([(Enqueue(3), Accepted(false)), (Dequeue, Value(Some(1)))]);
        assert!(laws::is_legal(&queue, &sequence));
        assert!(!laws::is_legal(&queue, &[sequence.clone(), vec![(Enqueue(3), Accepted(false))]].concat()));
        sequence.extend([(Enqueue(3), Accepted(true)), (Dequeue, Value(Some(2))), (Peek, Value(Some(3)))]);
        assert!(laws::is_legal(&queue, &sequence));
    }
}
