//! The states that a linearization passes, as a person reads them.

use std::sync::Arc;

use crate::history::OpId;

/// An operation of a linearization, with the states of its object before and after it.
///
/// Verdicts do not hold states, which may be large: [`judge::states`](crate::judge::states) computes those that are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The operation.
    pub op: OpId,
    /// The state before it took effect. Where the specification leaves a choice, all that it may be.
    pub before: Arc<str>,
    /// The state after it took effect.
    pub after: Arc<str>,
}
