//! A stack that returns one of its newest values.

use std::fmt::Debug;
use std::hash::Hash;

use super::super::persistent::Chain;
use super::super::stack::{StackOp, StackRet};
use super::super::{Spec, Stack, Steps, outcome};
use super::{Relaxed, RelaxedState};

/// A stack whose pop may take any of its `k + 1` newest values: a *k-out-of-order* stack, or k-stack.
///
/// Operations and results are those of a [`Stack`](super::super::Stack), and for `k = 0` it is a `Stack`. `Top` returns
/// any value that a pop may return. With [`lateness`](Relaxed::lateness), the value on top is passed over at most `k`
/// times in a row; with [`relaxed_empty`](Relaxed::relaxed_empty), a pop may report that the stack is empty while it
/// has up to `k` values.
///
/// # Complexity
/// O(k^2) for each step; a state takes the memory of k values and a list node.
///
/// ```
/// use trueline::spec::{RelaxedStack, Spec, StackOp, StackRet};
///
/// let stack = RelaxedStack::new(1);
/// let mut state = stack.initial();
/// for value in 1..=3 {
///     state = stack.step(&state, &StackOp::Push(value), None).remove(0).1;
/// }
/// let results = stack.step(&state, &StackOp::Pop, None).into_iter().map(|(result, _)| result);
/// assert!(results.eq([StackRet::Value(Some(3)), StackRet::Value(Some(2))]));
/// ```
pub type RelaxedStack<V> = Relaxed<Stack<V>>;

/// The state of a [`RelaxedStack`].
pub type RelaxedStackState<V> = RelaxedState<V>;

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for RelaxedStack<V> {
    type Op = StackOp<V>;
    type Ret = StackRet<V>;
    type State = RelaxedState<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> RelaxedState<V> {
        RelaxedState::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let StackOp::Push(value) = op else {
            return self.take(state, *op == StackOp::Pop, recorded, Chain::pop_newest);
        };
        let mut next = RelaxedState { passed_over: 0, ..state.clone() };
        if !self.is_few(state.near.len()) {
            next.far = state.far.push_newest(next.near.remove(state.near.len() - 1));
        }
        next.near.insert(0, value.clone());
        outcome(StackRet::Done, next)
    }

    fn observes(&self, op: &StackOp<V>, recorded: Option<&StackRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &RelaxedState<V>) -> usize {
        state.heap_size()
    }

    fn describe_state(&self, state: &RelaxedState<V>) -> String {
        let mut values: Vec<&V> = state.near.iter().chain(state.far.iter()).collect();
        values.reverse();
        state.describe(&values)
    }
}

#[cfg(test)]
mod tests {
    use super::StackOp::{Pop, Push, Top};
    use super::StackRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Push(0), Push(1), Push(2), Pop, Pop, Top];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        for k in 0..3 {
            for (lateness, relaxed_empty) in [(false, false), (false, true), (true, false), (true, true)] {
                let stack = RelaxedStack::new(k).lateness(lateness).relaxed_empty(relaxed_empty);
                laws::check(&stack, &operations, &results, 1);
                laws::check_observers_are_known(&stack, &operations, |_, _| false, 2);
            }
        }
    }

    #[test]
    fn what_is_taken_is_among_the_newest() {
        let legal = |stack: RelaxedStack<u8>, taken: &[u8]| {
            let mut sequence: Vec<_> = (1..=4).map(|value| (Push(value), Done)).collect();
            sequence.extend(taken.iter().map(|value| (Pop, Value(Some(*value)))));
            laws::is_legal(&stack, &sequence)
        };
        assert!(legal(RelaxedStack::new(1), &[3, 2, 1, 4]));
        assert!(!legal(RelaxedStack::new(1), &[2]));
        assert!(legal(RelaxedStack::new(2), &[2]));
        assert!(legal(RelaxedStack::new(1).lateness(true), &[3, 4, 1, 2]));
        assert!(!legal(RelaxedStack::new(1).lateness(true), &[3, 2]));
    }

    #[test]
    fn with_0_it_is_a_stack() {
        let operations = [Push(0), Push(1), Pop, Top];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1))];
        for lateness in [false, true] {
            let stack = RelaxedStack::new(0).lateness(lateness).relaxed_empty(true);
            laws::check_same(&stack, &Stack::new(), &operations, &results, 3);
        }
    }
}
