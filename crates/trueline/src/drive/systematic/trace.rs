//! What threads did, step by step.

use crate::primitives::Seen;

/// A step of an execution.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) process: u32,
    pub(super) what: What,
}

/// What happened in it.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// The event of this number.
    Event(usize),
    /// An access.
    Seen(Seen),
    /// A choice.
    Chose { number: usize, bound: usize },
}
