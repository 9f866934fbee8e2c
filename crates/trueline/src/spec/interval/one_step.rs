//! Adapts specifications of synchronizations to specifications with steps.

use super::{IntervalSpec, Part, Stepped};
use crate::spec::sync::SyncSpec;

/// Adapts an object whose operations synchronize: each synchronization becomes one step, in which all its operations
/// begin and end.
///
/// The two criteria then agree: a history is synchronization-linearizable if and only if it is interval-linearizable
/// with this specification.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneStep<S>(pub S);

impl<S: SyncSpec> IntervalSpec for OneStep<S> {
    type Op = S::Op;
    type Ret = S::Ret;
    type State = S::State;

    fn initial(&self) -> S::State {
        self.0.initial()
    }

    fn place(&self, op: &S::Op) -> u32 {
        self.0.place(op)
    }

    fn extends(&self, state: &S::State, parts: &[Part<'_, S::Op>]) -> bool {
        let is_longer = |arity: &usize| *arity > parts.len();
        self.0.arities(state).iter().any(is_longer) && self.0.extends(state, &ops(parts))
    }

    fn step(&self, state: &S::State, parts: &[Part<'_, S::Op>]) -> Stepped<S::State, S::Ret> {
        if !self.0.arities(state).contains(&parts.len()) {
            return Vec::new();
        }
        let synchronized = self.0.synchronize(state, &ops(parts));
        synchronized.into_iter().map(|(state, results)| (state, results.into_iter().map(Some).collect())).collect()
    }
}

/// Returns the operations of the executions `parts`. None of them continues from an earlier step,
/// because each execution ends in the step in which it begins.
fn ops<'a, Op>(parts: &[Part<'a, Op>]) -> Vec<&'a Op> {
    parts.iter().map(|part| part.op()).collect()
}
