//! Erases the types of a synchronization specification: operations, results and states become numbers, so that code
//! that is generic over specifications is compiled once for all of them.

use std::sync::{Mutex, PoisonError};

use crate::history::{History, Outcome};
use crate::judge::interner::Interner;
use crate::spec::sync::{SyncSpec, Synchronized};

/// A specification whose operations, results and states are numbers that stand for values of any
/// type.
pub(super) trait ByNumber: SyncSpec<Op = u32, Ret = u32, State = u32> {
    /// Formats a state.
    fn describe(&self, state: u32) -> String;
}

/// A specification with numbers for its operations, results and states.
pub(super) struct Numbered<'s, S: SyncSpec + ?Sized> {
    spec: &'s S,
    /// The operations. An operation that may or may not have taken effect is stored with the result
    /// that it must have if it took effect. Other operations are stored without a result; if they
    /// returned, their results are compared at their returns.
    ops: Interner<(S::Op, Option<S::Ret>)>,
    /// The results that were encountered, starting with those of the history.
    results: Mutex<Interner<S::Ret>>,
    states: Mutex<Interner<S::State>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A panic cannot leave the data inconsistent, so a poisoned lock can still be used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'s, S: SyncSpec + ?Sized> Numbered<'s, S> {
    /// Converts the specification and the history to numbers.
    pub(super) fn new(spec: &'s S, history: &History<S::Op, S::Ret>) -> (Self, History<u32, u32>) {
        let (mut ops, mut results) = (Interner::default(), Interner::default());
        let numbered = history.map(|operation| {
            let outcome = operation.outcome.map(|result| results.number(result.clone()));
            let known = match &operation.outcome {
                Outcome::Optional(result) => Some(result.clone()),
                Outcome::Pending | Outcome::Returned(_) => None,
            };
            (ops.number((operation.op.clone(), known)), outcome)
        });
        let numbers = Self { spec, ops, results: Mutex::new(results), states: Mutex::default() };
        (numbers, numbered)
    }

    /// Returns the result with this number.
    pub(super) fn result(&self, number: u32) -> S::Ret {
        lock(&self.results)[number].clone()
    }

    fn state(&self, number: u32) -> S::State {
        lock(&self.states)[number].clone()
    }

    fn ops(&self, ops: &[&u32]) -> Vec<&S::Op> {
        ops.iter().map(|op| &self.ops[**op].0).collect()
    }
}

impl<S: SyncSpec + ?Sized> SyncSpec for Numbered<'_, S> {
    type Op = u32;
    type Ret = u32;
    type State = u32;

    fn initial(&self) -> u32 {
        lock(&self.states).number(self.spec.initial())
    }

    fn arities(&self, state: &u32) -> Vec<usize> {
        self.spec.arities(&self.state(*state))
    }

    fn place(&self, op: &u32) -> u32 {
        self.spec.place(&self.ops[*op].0)
    }

    fn extends(&self, state: &u32, ops: &[&u32]) -> bool {
        self.spec.extends(&self.state(*state), &self.ops(ops))
    }

    fn synchronize(&self, state: &u32, ops: &[&u32]) -> Synchronized<u32, u32> {
        let is_known = |(op, result): (&&u32, &S::Ret)| self.ops[**op].1.as_ref().is_none_or(|known| known == result);
        let mut outcomes = self.spec.synchronize(&self.state(*state), &self.ops(ops));
        outcomes.retain(|(_, results)| ops.iter().zip(results).all(is_known));
        let (mut states, mut results) = (lock(&self.states), lock(&self.results));
        let mut number = |(state, of_group): (S::State, Vec<S::Ret>)| {
            (states.number(state), of_group.into_iter().map(|result| results.number(result)).collect())
        };
        outcomes.into_iter().map(&mut number).collect()
    }

    fn is_interchangeable(&self, op: &u32, result: Option<&u32>) -> bool {
        let result = result.map(|result| self.result(*result));
        self.spec.is_interchangeable(&self.ops[*op].0, result.as_ref())
    }

    fn is_stateless(&self) -> bool {
        self.spec.is_stateless()
    }
}

impl<S: SyncSpec + ?Sized> ByNumber for Numbered<'_, S> {
    fn describe(&self, state: u32) -> String {
        format!("{:?}", self.state(state))
    }
}
