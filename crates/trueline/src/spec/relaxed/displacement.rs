//! A queue that returns each value near its position in the order of enqueues.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::super::persistent::Chain;
use super::super::queue::{QueueOp, QueueRet};
use super::super::{Outcomes, Spec, Steps, outcome};
use super::add;

/// A queue in which the i-th value to be enqueued is dequeued as the j-th value, where i and j differ by at most `k`.
///
/// Operations and results are those of a [`Queue`](super::super::Queue), and for `k = 0` it is a `Queue`. Only dequeues
/// that return a value are numbered. `Peek` returns any value that a dequeue may return. This specification allows
/// dequeues to be as far out of order as definition 4 of quasi linearizability does: see the [module](super).
///
/// # Complexity
/// `Enqueue` O(k), `Dequeue` O(k^2 + log n); a state takes the memory of 2k values and a list node.
///
/// ```
/// use trueline::spec::{DisplacementQueue, QueueOp, QueueRet, Spec};
///
/// let queue = DisplacementQueue::new(1);
/// let mut state = queue.initial();
/// for value in 0..4 {
///     state = queue.step(&state, &QueueOp::Enqueue(value), None).remove(0).1;
/// }
/// for (value, others) in [(1, vec![0, 1]), (0, vec![0]), (2, vec![2, 3])] {
///     let results = queue.step(&state, &QueueOp::Dequeue, None).into_iter().map(|(result, _)| result);
///     assert!(results.eq(others.into_iter().map(|value| QueueRet::Value(Some(value)))));
///     state = queue.step(&state, &QueueOp::Dequeue, Some(&QueueRet::Value(Some(value)))).remove(0).1;
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DisplacementQueue<V> {
    k: u32,
    values: PhantomData<fn() -> V>,
}

impl<V> DisplacementQueue<V> {
    /// Creates a queue that returns values at most `k` positions from their position in the order of enqueues.
    pub const fn new(k: u32) -> Self {
        Self { k, values: PhantomData }
    }
}

/// The state of a [`DisplacementQueue`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct DisplacementState<V: Hash + Eq> {
    /// The values that may be dequeued next, starting with the oldest, each with the number of
    /// dequeues until it is *due*. The i-th value to be enqueued is due at the i-th dequeue. If a
    /// value is late, its number is negative.
    near: Vec<(V, i64)>,
    /// The values that cannot be dequeued next, because they are due after more than `k` dequeues.
    far: Chain<V>,
    /// The number of dequeues until the value that is enqueued next will be due.
    due: i64,
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for DisplacementQueue<V> {
    type Op = QueueOp<V>;
    type Ret = QueueRet<V>;
    type State = DisplacementState<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> DisplacementState<V> {
        DisplacementState { near: Vec::new(), far: Chain::new(), due: 0 }
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let DisplacementState { near, far, due } = state;
        let k = i64::from(self.k);
        if let QueueOp::Enqueue(value) = op {
            let mut next = state.clone();
            if *due <= k {
                next.near.push((value.clone(), *due));
            } else {
                next.far = far.push_newest(value.clone());
            }
            next.due += 1;
            return outcome(QueueRet::Done, next);
        }
        let mut outcomes = Outcomes::new();
        // A value that is late by `k` dequeues must be dequeued next.
        let must_be_first = near.first().is_some_and(|(_, due)| *due == -k);
        for (rank, (value, _)) in near.iter().enumerate().take(if must_be_first { 1 } else { near.len() }) {
            if recorded.is_some_and(|recorded| *recorded != QueueRet::Value(Some(value.clone()))) {
                continue;
            }
            let mut next = state.clone();
            if *op == QueueOp::Dequeue {
                next.near.remove(rank);
                next.near.iter_mut().for_each(|(_, due)| *due -= 1);
                next.due -= 1;
                if let Some((oldest, rest)) = far.drop_oldest() {
                    next.near.push((oldest.clone(), k));
                    next.far = rest;
                }
            }
            add(&mut outcomes, QueueRet::Value(Some(value.clone())), next);
        }
        if near.is_empty() {
            add(&mut outcomes, QueueRet::Value(None), state.clone());
        }
        outcomes
    }

    fn observes(&self, op: &QueueOp<V>, recorded: Option<&QueueRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &DisplacementState<V>) -> usize {
        state.near.capacity() * size_of::<(V, i64)>() + state.far.heap_size()
    }

    fn describe_state(&self, state: &DisplacementState<V>) -> String {
        let mut values: Vec<&V> = state.far.iter().collect();
        values.extend(state.near.iter().rev().map(|(value, _)| value));
        values.reverse();
        match state.near.first() {
            Some((first, -1)) => format!("{values:?} ({first:?} is late by 1 dequeue)"),
            Some((first, due)) if *due < 0 => format!("{values:?} ({first:?} is late by {} dequeues)", -due),
            _ => format!("{values:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QueueOp::{Dequeue, Enqueue, Peek};
    use super::QueueRet::{Done, Value};
    use super::*;
    use crate::spec::Queue;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Enqueue(0), Enqueue(1), Enqueue(2), Dequeue, Dequeue, Peek];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        for k in 0..4 {
            laws::check(&DisplacementQueue::new(k), &operations, &results, 1);
            laws::check_observers_are_known(&DisplacementQueue::new(k), &operations, |_, _| false, 2);
        }
    }

    #[test]
    fn nothing_is_far_from_its_place() {
        // Go through all permutations of four values.
        for code in 0..256_usize {
            let taken: Vec<usize> = (0..4).map(|at| code >> (2 * at) & 3).collect();
            if (0..4).any(|value| !taken.contains(&value)) {
                continue;
            }
            let off = taken.iter().enumerate().map(|(at, value)| at.abs_diff(*value)).max().unwrap_or(0);
            let mut sequence: Vec<_> = (0..4).map(|value| (Enqueue(value), Done)).collect();
            sequence.extend(taken.iter().map(|value| (Dequeue, Value(Some(*value)))));
            for k in 0..4 {
                let is_legal = laws::is_legal(&DisplacementQueue::new(u32::try_from(k).expect("k < 4")), &sequence);
                assert_eq!(is_legal, off <= k, "{taken:?} by {k}");
            }
        }
    }

    #[test]
    fn with_0_it_is_a_queue() {
        let operations = [Enqueue(0), Enqueue(1), Dequeue, Peek];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1))];
        laws::check_same(&DisplacementQueue::new(0), &Queue::new(), &operations, &results, 3);
    }
}
