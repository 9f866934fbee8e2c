//! A queue that returns one of its oldest values.

use std::fmt::Debug;
use std::hash::Hash;

use super::super::persistent::Chain;
use super::super::queue::{QueueOp, QueueRet};
use super::super::{Queue, Spec, Steps, outcome};
use super::{Relaxed, RelaxedState};

/// A queue whose dequeue may take any of its `k + 1` oldest values: a *k-out-of-order* queue.
///
/// Operations and results are those of a [`Queue`](super::super::Queue), and for `k = 0` it is a `Queue`. `Peek`
/// returns any value that a dequeue may return.
///
/// - [`lateness`](Relaxed::lateness): the oldest value is passed over at most `k` times in a row.
///   With this limit, the queue is a *restricted out-of-order* queue, also called *k-FIFO* queue
///   (Kirsch, Lippautz & Payer).
/// - [`relaxed_empty`](Relaxed::relaxed_empty): a dequeue may report that the queue is empty while it has up to `k`
///   values, as most k-FIFO queues do. Such a dequeue does not pass over a value.
///
/// # Complexity
/// `Enqueue` O(k), `Dequeue` O(k^2 + log n); a state takes the memory of k values and a list node.
///
/// ```
/// use trueline::spec::{QueueOp, QueueRet, RelaxedQueue, Spec};
///
/// let queue = RelaxedQueue::new(1).lateness(true);
/// let mut state = queue.initial();
/// for value in 1..=4 {
///     state = queue.step(&state, &QueueOp::Enqueue(value), None).remove(0).1;
/// }
/// let results = |state: &_| queue.step(state, &QueueOp::Dequeue, None).into_iter().map(|(result, _)| result);
/// let values = |one, other| [QueueRet::Value(Some(one)), QueueRet::Value(Some(other))];
/// assert!(results(&state).eq(values(1, 2)));
/// let state = queue.step(&state, &QueueOp::Dequeue, Some(&QueueRet::Value(Some(2)))).remove(0).1;
/// assert!(results(&state).eq([QueueRet::Value(Some(1))])); // 1 has been passed over once
/// ```
pub type RelaxedQueue<V> = Relaxed<Queue<V>>;

/// The state of a [`RelaxedQueue`].
pub type RelaxedQueueState<V> = RelaxedState<V>;

impl<V> RelaxedQueue<V> {
    /// Creates a k-FIFO queue: one with [`lateness`](Relaxed::lateness).
    pub const fn k_fifo(k: u32) -> Self {
        Self::new(k).lateness(true)
    }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for RelaxedQueue<V> {
    type Op = QueueOp<V>;
    type Ret = QueueRet<V>;
    type State = RelaxedState<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> RelaxedState<V> {
        RelaxedState::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let QueueOp::Enqueue(value) = op else {
            return self.take(state, *op == QueueOp::Dequeue, recorded, Chain::drop_oldest);
        };
        let mut next = state.clone();
        if self.is_few(state.near.len()) {
            next.near.push(value.clone());
        } else {
            next.far = state.far.push_newest(value.clone());
        }
        outcome(QueueRet::Done, next)
    }

    fn observes(&self, op: &QueueOp<V>, recorded: Option<&QueueRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &RelaxedState<V>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &RelaxedState<V>) -> String {
        let mut values: Vec<&V> = state.far.iter().chain(state.near.iter().rev()).collect();
        values.reverse();
        state.describe(&values)
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
        let operations = [Enqueue(0), Enqueue(1), Enqueue(2), Dequeue, Dequeue, Peek];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        for k in 0..3 {
            for (lateness, relaxed_empty) in [(false, false), (false, true), (true, false), (true, true)] {
                let queue = RelaxedQueue::new(k).lateness(lateness).relaxed_empty(relaxed_empty);
                laws::check(&queue, &operations, &results, 1);
                laws::check_observers_are_known(&queue, &operations, |_, _| false, 2);
            }
        }
    }

    fn sequence(taken: &[u8]) -> Vec<(QueueOp<u8>, QueueRet<u8>)> {
        let mut sequence: Vec<_> = (1..=4).map(|value| (Enqueue(value), Done)).collect();
        sequence.extend(taken.iter().map(|value| (Dequeue, Value(Some(*value)))));
        sequence
    }

    #[test]
    fn what_is_taken_is_among_the_oldest() {
        let legal = |queue: RelaxedQueue<u8>, taken: &[u8]| laws::is_legal(&queue, &sequence(taken));
        assert!(legal(RelaxedQueue::new(1), &[2, 3, 4, 1]));
        assert!(!legal(RelaxedQueue::new(1), &[3]));
        assert!(legal(RelaxedQueue::new(2), &[3]));
        assert!(legal(RelaxedQueue::k_fifo(1), &[2, 1, 4, 3]));
        assert!(!legal(RelaxedQueue::k_fifo(1), &[2, 3]));
        assert!(legal(RelaxedQueue::k_fifo(2), &[2, 3, 1, 4]));
    }

    #[test]
    fn it_may_claim_to_be_empty() {
        let mut sequence = sequence(&[1, 2]);
        sequence.push((Dequeue, Value(None)));
        assert!(!laws::is_legal(&RelaxedQueue::k_fifo(2), &sequence));
        assert!(laws::is_legal(&RelaxedQueue::k_fifo(2).relaxed_empty(true), &sequence));
        assert!(!laws::is_legal(&RelaxedQueue::k_fifo(1).relaxed_empty(true), &sequence));
    }

    #[test]
    fn with_0_it_is_a_queue() {
        let operations = [Enqueue(0), Enqueue(1), Dequeue, Peek];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1))];
        for lateness in [false, true] {
            let queue = RelaxedQueue::new(0).lateness(lateness).relaxed_empty(true);
            laws::check_same(&queue, &Queue::new(), &operations, &results, 3);
        }
    }
}
