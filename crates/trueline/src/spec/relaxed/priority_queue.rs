//! A priority queue that returns one of its smallest values.

use std::fmt::Debug;
use std::hash::Hash;

use super::super::persistent::Treap;
use super::super::priority_queue::{PriorityQueueOp, PriorityQueueRet};
use super::super::{Outcomes, PriorityQueue, Spec, Steps, outcome};
use super::{Relaxed, add};

/// A priority queue whose delete-min may take any of its `k + 1` least values, where equal values count separately.
///
/// Operations and results are those of a [`PriorityQueue`](super::super::PriorityQueue), and for `k = 0` it is a
/// `PriorityQueue`. `PeekMin` returns any value that delete-min may return. With [`lateness`](Relaxed::lateness), the
/// least value is passed over at most `k` times in a row (the count restarts when a lesser value is inserted); with
/// [`relaxed_empty`](Relaxed::relaxed_empty), delete-min may report that the queue is empty while it has up to `k`
/// values.
///
/// # Complexity
/// O(k + log n) for each outcome.
///
/// ```
/// use trueline::spec::{PriorityQueueOp, PriorityQueueRet, RelaxedPriorityQueue, Spec};
///
/// let queue = RelaxedPriorityQueue::new(1);
/// let mut state = queue.initial();
/// for value in [3, 1, 2] {
///     state = queue.step(&state, &PriorityQueueOp::Insert(value), None).remove(0).1;
/// }
/// let results = queue.step(&state, &PriorityQueueOp::DeleteMin, None).into_iter().map(|(result, _)| result);
/// assert!(results.eq([PriorityQueueRet::Value(Some(1)), PriorityQueueRet::Value(Some(2))]));
/// ```
pub type RelaxedPriorityQueue<V> = Relaxed<PriorityQueue<V>>;

impl<V: Clone + Ord + Hash + Debug + Send + Sync> Spec for RelaxedPriorityQueue<V> {
    type Op = PriorityQueueOp<V>;
    type Ret = PriorityQueueRet<V>;
    /// The count of each value, which is at least 1, and the number of times that the least value
    /// was passed over, which is always 0 without lateness.
    type State = (Treap<V, u32>, u32);
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        (Treap::new(), 0)
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let (values, passed_over) = state;
        if let PriorityQueueOp::Insert(value) = op {
            let count = values.get(value).copied().unwrap_or(0);
            let is_least = values.first().is_none_or(|(least, _)| value < least);
            let passed_over = if is_least { 0 } else { *passed_over };
            return outcome(PriorityQueueRet::Done, (values.insert(value.clone(), count + 1), passed_over));
        }
        let mut outcomes = Outcomes::new();
        let most = if self.must_be_first(*passed_over) { 0 } else { self.k };
        let mut lesser = 0;
        for (value, &count) in values.iter() {
            if lesser > most {
                break;
            }
            if recorded.is_none_or(|recorded| *recorded == PriorityQueueRet::Value(Some(value.clone()))) {
                let mut next = state.clone();
                if *op == PriorityQueueOp::DeleteMin {
                    // A count of 0 is never stored, so that equal queues are equal maps.
                    next.0 = if count == 1 { values.remove(value) } else { values.insert(value.clone(), count - 1) };
                    next.1 = self.passed_over_then(*passed_over, lesser > 0);
                }
                add(&mut outcomes, PriorityQueueRet::Value(Some(value.clone())), next);
            }
            lesser += count;
        }
        // Each count is at least 1. So if the counts of the first `k + 1` distinct values add up to
        // at most `k`, there are fewer than `k + 1` distinct values, and the sum includes all of
        // them.
        let is_few = || values.iter().take(self.k as usize + 1).map(|(_, count)| *count).sum::<u32>() <= self.k;
        if values.is_empty() || (self.relaxed_empty && is_few()) {
            add(&mut outcomes, PriorityQueueRet::Value(None), state.clone());
        }
        outcomes
    }

    fn observes(&self, op: &PriorityQueueOp<V>, recorded: Option<&PriorityQueueRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &Self::State) -> usize {
        state.0.heap_size()
    }

    fn describe_state(&self, state: &Self::State) -> String {
        let instances = state.0.iter().flat_map(|(value, &count)| (0..count).map(move |_| value));
        format!("{:?}", instances.collect::<Vec<_>>())
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
        for k in 0..3 {
            for (lateness, relaxed_empty) in [(false, false), (false, true), (true, false), (true, true)] {
                let queue = RelaxedPriorityQueue::new(k).lateness(lateness).relaxed_empty(relaxed_empty);
                laws::check(&queue, &operations, &results, 1);
                laws::check_observers_are_known(&queue, &operations, |_, _| false, 2);
            }
        }
    }

    #[test]
    fn what_is_taken_is_among_the_least() {
        let legal = |queue: RelaxedPriorityQueue<u8>, taken: &[u8]| {
            let mut sequence: Vec<_> = [3, 1, 2, 2].map(|value| (Insert(value), Done)).to_vec();
            sequence.extend(taken.iter().map(|value| (DeleteMin, Value(Some(*value)))));
            laws::is_legal(&queue, &sequence)
        };
        assert!(legal(RelaxedPriorityQueue::new(1), &[2, 2, 3, 1]));
        assert!(!legal(RelaxedPriorityQueue::new(2), &[3]));
        assert!(legal(RelaxedPriorityQueue::new(3), &[3]));
        assert!(!legal(RelaxedPriorityQueue::new(1).lateness(true), &[2, 2]));
        assert!(legal(RelaxedPriorityQueue::new(1).lateness(true), &[2, 1, 3, 2]));
    }

    #[test]
    fn with_0_it_is_a_priority_queue() {
        let operations = [Insert(0), Insert(1), DeleteMin, PeekMin];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1))];
        let queue = RelaxedPriorityQueue::new(0).lateness(true).relaxed_empty(true);
        laws::check_same(&queue, &PriorityQueue::new(), &operations, &results, 3);
    }
}
