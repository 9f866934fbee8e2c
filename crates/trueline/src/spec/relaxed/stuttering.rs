//! Objects whose operations may occasionally have no effect.

use super::super::{Outcomes, Spec};
use super::add;

/// An object in which up to `k` operations in a row may have no effect: *k-stuttering*.
///
/// An operation that stutters returns the result that it would have returned anyway, but leaves the state unchanged. An
/// operation that would not change the state anyway does not stutter, and does not reset the count.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Config, check};
/// use trueline::spec::{FetchAdd, FetchAddOp, Stuttering};
///
/// let mut builder = History::builder();
/// for number in [0, 0, 1, 1, 1] {
///     builder.call(0, FetchAddOp::FetchAdd(1))?;
///     builder.ret(0, number)?;
/// }
/// let history = builder.finish();
/// let is_right = |k| check(&Stuttering::new(FetchAdd::new(0), k), &history, &Config::new()).verdict.is_accepted();
/// assert!(!is_right(1)); // 1 was returned three times
/// assert!(is_right(2));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stuttering<S> {
    spec: S,
    k: u32,
}

impl<S> Stuttering<S> {
    /// Creates an object that behaves as in `spec`, except that up to `k` operations in a row may
    /// have no effect.
    pub const fn new(spec: S, k: u32) -> Self {
        Self { spec, k }
    }
}

impl<S: Spec> Spec for Stuttering<S> {
    type Op = S::Op;
    type Ret = S::Ret;
    /// The state, and the number of operations in a row that have had no effect.
    type State = (S::State, u32);
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        (self.spec.initial(), 0)
    }

    fn step(&self, state: &Self::State, op: &S::Op, recorded: Option<&S::Ret>) -> Outcomes<S::Ret, Self::State> {
        let (inner, in_a_row) = state;
        let mut outcomes = Outcomes::new();
        for (result, next) in self.spec.step(inner, op, recorded) {
            if next == *inner {
                add(&mut outcomes, result, state.clone());
                continue;
            }
            add(&mut outcomes, result.clone(), (next, 0));
            if *in_a_row < self.k {
                add(&mut outcomes, result, (inner.clone(), in_a_row + 1));
            }
        }
        outcomes
    }

    fn observes(&self, op: &S::Op, recorded: Option<&S::Ret>) -> bool {
        self.spec.observes(op, recorded)
    }

    fn heap_size(&self, state: &Self::State) -> usize {
        self.spec.heap_size(&state.0)
    }

    fn describe_result(&self, result: &S::Ret) -> String {
        self.spec.describe_result(result)
    }

    fn describe_operation(&self, op: &S::Op) -> String {
        self.spec.describe_operation(op)
    }

    fn describe_state(&self, state: &Self::State) -> String {
        format!("{}, operations in a row without effect: {}", self.spec.describe_state(&state.0), state.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::QueueOp::{Dequeue, Enqueue, Peek};
    use crate::spec::QueueRet::{Done, Value};
    use crate::spec::laws;
    use crate::spec::{Queue, QueueOp, QueueRet};

    #[test]
    fn keeps_the_laws() {
        let operations = [Enqueue(0), Enqueue(1), Enqueue(2), Dequeue, Dequeue, Peek];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        for k in 0..3 {
            laws::check(&Stuttering::new(Queue::new(), k), &operations, &results, 1);
            laws::check_observers_are_known(&Stuttering::new(Queue::new(), k), &operations, |_, _| false, 2);
        }
        laws::check_same(&Stuttering::new(Queue::new(), 0), &Queue::new(), &operations, &results, 3);
    }

    #[test]
    fn a_value_may_come_out_twice_or_be_lost() {
        let legal =
            |k, sequence: &[(QueueOp<u8>, QueueRet<u8>)]| laws::is_legal(&Stuttering::new(Queue::new(), k), sequence);
        let twice = [(Enqueue(1), Done), (Dequeue, Value(Some(1))), (Dequeue, Value(Some(1)))];
        let lost = [(Enqueue(1), Done), (Enqueue(2), Done), (Dequeue, Value(None))];
        assert!(!legal(0, &twice) && legal(1, &twice));
        assert!(!legal(1, &lost) && legal(2, &lost));
    }
}
