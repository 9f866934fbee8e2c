//! A queue that gives out one of its oldest values.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::super::persistent::Chain;
use super::super::queue::{QueueOp, QueueRet};
use super::super::{Outcomes, Spec, outcome};
use super::add;

/// A queue whose dequeue may take any of its `k + 1` oldest values: a *k-out-of-order* queue.
///
/// Operations and results are those of a [`Queue`](super::super::Queue), which it is for `k = 0`. `Peek` returns what a
/// dequeue might.
///
/// - [`lateness`](Self::lateness): the oldest value is passed over at most `k` times in a row. With it, this is
///   *restricted* out-of-order: *k-FIFO* (Kirsch, Lippautz & Payer).
/// - [`relaxed_empty`](Self::relaxed_empty): a dequeue may return nothing although up to `k` values are there, as most k-FIFO
///   queues do. It passes over nothing.
///
/// # Complexity
/// `Enqueue` O(k), `Dequeue` O(k^2 + log n); a state costs k values and a list node.
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
/// assert!(results(&state).eq([QueueRet::Value(Some(1))])); // it has been passed over once
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RelaxedQueue<V> {
    k: u32,
    lateness: bool,
    relaxed_empty: bool,
    values: PhantomData<fn() -> V>,
}

impl<V> RelaxedQueue<V> {
    /// Gives out one of its `k + 1` oldest values.
    pub const fn new(k: u32) -> Self {
        Self { k, lateness: false, relaxed_empty: false, values: PhantomData }
    }

    /// A k-FIFO queue: with lateness.
    pub const fn k_fifo(k: u32) -> Self {
        Self { k, lateness: true, relaxed_empty: false, values: PhantomData }
    }

    /// Whether the oldest value is passed over at most `k` times in a row.
    #[must_use]
    pub const fn lateness(mut self, yes: bool) -> Self {
        self.lateness = yes;
        self
    }

    /// Whether it may claim to be empty while it has up to `k` values.
    #[must_use]
    pub const fn relaxed_empty(mut self, yes: bool) -> Self {
        self.relaxed_empty = yes;
        self
    }
}

/// What a [`RelaxedQueue`] holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RelaxedQueueState<V: Hash + Eq> {
    /// The `k + 1` oldest values, or all if there are less, from the oldest on.
    near: Vec<V>,
    /// The others.
    far: Chain<V>,
    /// How often the oldest was passed over; 0 if that does not count.
    passed_over: u32,
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for RelaxedQueue<V> {
    type Op = QueueOp<V>;
    type Ret = QueueRet<V>;
    type State = RelaxedQueueState<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> RelaxedQueueState<V> {
        RelaxedQueueState { near: Vec::new(), far: Chain::new(), passed_over: 0 }
    }

    fn step(
        &self,
        state: &RelaxedQueueState<V>,
        op: &QueueOp<V>,
        recorded: Option<&QueueRet<V>>,
    ) -> Outcomes<QueueRet<V>, RelaxedQueueState<V>> {
        let RelaxedQueueState { near, far, passed_over } = state;
        if let QueueOp::Enqueue(value) = op {
            let mut next = state.clone();
            if near.len() <= self.k as usize {
                next.near.push(value.clone());
            } else {
                next.far = far.push_newest(value.clone());
            }
            return outcome(QueueRet::Done, next);
        }
        let mut outcomes = Outcomes::new();
        let must_be_first = self.lateness && *passed_over >= self.k;
        for (rank, value) in near.iter().enumerate().take(if must_be_first { 1 } else { near.len() }) {
            if recorded.is_some_and(|recorded| *recorded != QueueRet::Value(Some(value.clone()))) {
                continue;
            }
            let mut next = state.clone();
            if *op == QueueOp::Dequeue {
                next.near.remove(rank);
                if let Some((oldest, rest)) = far.drop_oldest() {
                    next.near.push(oldest.clone());
                    next.far = rest;
                }
                next.passed_over = if self.lateness && rank > 0 { passed_over + 1 } else { 0 };
            }
            add(&mut outcomes, QueueRet::Value(Some(value.clone())), next);
        }
        let is_few = near.len() <= self.k as usize;
        if near.is_empty() || (self.relaxed_empty && is_few) {
            add(&mut outcomes, QueueRet::Value(None), state.clone());
        }
        outcomes
    }

    fn observes(&self, op: &QueueOp<V>, recorded: Option<&QueueRet<V>>) -> bool {
        match op {
            QueueOp::Enqueue(_) => false,
            QueueOp::Dequeue => recorded == Some(&QueueRet::Value(None)),
            QueueOp::Peek => true,
        }
    }

    fn heap_size(&self, state: &RelaxedQueueState<V>) -> usize {
        state.near.capacity() * size_of::<V>() + state.far.heap_size()
    }

    fn describe_state(&self, state: &RelaxedQueueState<V>) -> String {
        let mut values: Vec<&V> = state.far.iter().collect();
        values.extend(state.near.iter().rev());
        values.reverse();
        format!("{values:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::register::laws;
    use super::QueueOp::{Dequeue, Enqueue, Peek};
    use super::QueueRet::{Done, Value};
    use super::*;
    use crate::spec::Queue;

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
