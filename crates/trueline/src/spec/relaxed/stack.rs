//! A stack that gives out one of its newest values.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::super::persistent::Chain;
use super::super::stack::{StackOp, StackRet};
use super::super::{Outcomes, Spec, outcome};
use super::add;

/// A stack whose pop may take any of its `k + 1` newest values: a *k-out-of-order* stack, or k-stack.
///
/// Operations and results are those of a [`Stack`](super::super::Stack), which it is for `k = 0`. `Top` returns what a pop
/// might. With [`lateness`](Self::lateness), the value on top is passed over at most `k` times in a row; with
/// [`relaxed_empty`](Self::relaxed_empty), a pop may return nothing although up to `k` values are there.
///
/// # Complexity
/// O(k^2) a step; a state costs k values and a list node.
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
#[derive(Clone, Copy, Debug)]
pub struct RelaxedStack<V> {
    k: u32,
    lateness: bool,
    relaxed_empty: bool,
    values: PhantomData<fn() -> V>,
}

impl<V> RelaxedStack<V> {
    /// Gives out one of its `k + 1` newest values.
    pub const fn new(k: u32) -> Self {
        Self { k, lateness: false, relaxed_empty: false, values: PhantomData }
    }

    /// Whether the newest value is passed over at most `k` times in a row.
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

/// What a [`RelaxedStack`] holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RelaxedStackState<V: Hash + Eq> {
    /// The `k + 1` newest values, or all if there are less, up to the newest.
    near: Vec<V>,
    /// The others.
    far: Chain<V>,
    /// How often the newest was passed over; 0 if that does not count.
    passed_over: u32,
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for RelaxedStack<V> {
    type Op = StackOp<V>;
    type Ret = StackRet<V>;
    type State = RelaxedStackState<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> RelaxedStackState<V> {
        RelaxedStackState { near: Vec::new(), far: Chain::new(), passed_over: 0 }
    }

    fn step(
        &self,
        state: &RelaxedStackState<V>,
        op: &StackOp<V>,
        recorded: Option<&StackRet<V>>,
    ) -> Outcomes<StackRet<V>, RelaxedStackState<V>> {
        let RelaxedStackState { near, far, passed_over } = state;
        if let StackOp::Push(value) = op {
            let mut next = state.clone();
            next.near.push(value.clone());
            next.passed_over = 0;
            if near.len() > self.k as usize {
                next.far = far.push_newest(next.near.remove(0));
            }
            return outcome(StackRet::Done, next);
        }
        let mut outcomes = Outcomes::new();
        let must_be_first = self.lateness && *passed_over >= self.k;
        for (rank, value) in near.iter().rev().enumerate().take(if must_be_first { 1 } else { near.len() }) {
            if recorded.is_some_and(|recorded| *recorded != StackRet::Value(Some(value.clone()))) {
                continue;
            }
            let mut next = state.clone();
            if *op == StackOp::Pop {
                next.near.remove(near.len() - 1 - rank);
                if let Some((newest, rest)) = far.pop_newest() {
                    next.near.insert(0, newest.clone());
                    next.far = rest;
                }
                next.passed_over = if self.lateness && rank > 0 { passed_over + 1 } else { 0 };
            }
            add(&mut outcomes, StackRet::Value(Some(value.clone())), next);
        }
        let is_few = near.len() <= self.k as usize;
        if near.is_empty() || (self.relaxed_empty && is_few) {
            add(&mut outcomes, StackRet::Value(None), state.clone());
        }
        outcomes
    }

    fn observes(&self, op: &StackOp<V>, recorded: Option<&StackRet<V>>) -> bool {
        match op {
            StackOp::Push(_) => false,
            StackOp::Pop => recorded == Some(&StackRet::Value(None)),
            StackOp::Top => true,
        }
    }

    fn heap_size(&self, state: &RelaxedStackState<V>) -> usize {
        state.near.capacity() * size_of::<V>() + state.far.heap_size()
    }

    fn describe_state(&self, state: &RelaxedStackState<V>) -> String {
        let mut values: Vec<&V> = state.near.iter().rev().collect();
        values.extend(state.far.iter());
        values.reverse();
        format!("{values:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::register::laws;
    use super::StackOp::{Pop, Push, Top};
    use super::StackRet::{Done, Value};
    use super::*;
    use crate::spec::Stack;

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
