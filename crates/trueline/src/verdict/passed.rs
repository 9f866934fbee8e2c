//! The states that a linearization passes through, as text for a reader.

use std::sync::Arc;

use crate::history::OpId;

/// An operation of a linearization, with the states of its object before and after it.
///
/// Verdicts do not contain states, which may be large: [`judge::states`](crate::judge::states)
/// computes the states that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// The operation.
    pub op: OpId,
    /// The state before the operation took effect; all possible states if the specification is
    /// nondeterministic.
    pub before: Arc<str>,
    /// The state after the operation took effect.
    pub after: Arc<str>,
}

impl Passed {
    /// Returns an operation with the states before and after it.
    #[doc(hidden)]
    pub fn new(op: OpId, before: impl Into<Arc<str>>, after: impl Into<Arc<str>>) -> Self {
        Self { op, before: before.into(), after: after.into() }
    }
}
