//! Verdicts on objects whose operations synchronize.

use super::{Evidence, Limit};
use crate::history::OpId;

/// Groups of executions that synchronized, in the order of the synchronizations: a synchronization linearization.
pub type Synchronizations = Vec<Vec<OpId>>;

/// The answer to "should some execution that is stuck at the end have returned?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressVerdict<Ret> {
    /// The stuck executions may wait: in this maximal synchronization linearization, all executions
    /// that synchronized have returned.
    Accepted(Synchronizations),
    /// Some stuck executions should have returned.
    Rejected(ProgressEvidence),
    /// The executions that returned are not synchronization linearizable, so progress was not
    /// judged.
    Unsafe(Evidence<Ret>),
    /// Undecided, because the search reached this limit.
    Unknown(Limit),
}

impl<Ret> ProgressVerdict<Ret> {
    /// Returns the same verdict with results of another type.
    #[doc(hidden)]
    pub fn map<Other>(self, read: impl FnMut(&Ret) -> Other) -> ProgressVerdict<Other> {
        match self {
            Self::Accepted(synchronizations) => ProgressVerdict::Accepted(synchronizations),
            Self::Rejected(evidence) => ProgressVerdict::Rejected(evidence),
            Self::Unsafe(evidence) => ProgressVerdict::Unsafe(evidence.map(read)),
            Self::Unknown(limit) => ProgressVerdict::Unknown(limit),
        }
    }
}

/// Evidence that some executions should have returned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgressEvidence {
    /// A sequence of synchronizations that may have happened.
    pub synchronizations: Synchronizations,
    /// Synchronizations in which at least one execution never returned. Each of them either is in
    /// `synchronizations`, or could have followed the last of the `synchronizations`. Every maximal
    /// synchronization linearization contains a synchronization with an execution that never
    /// returned, so some of these executions should have returned.
    pub anticipated: Synchronizations,
}

/// The reason why the executions that returned cannot all have had partners: more partners are
/// needed than exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partners {
    /// Executions that have returned, each of which needs a partner of its own.
    pub needing: Vec<OpId>,
    /// All executions that may have been the partner of an execution in `needing`, because the two
    /// executions overlap and their results match. This list has fewer executions than `needing`.
    pub partners: Vec<OpId>,
    /// Executions that would have been possible partners except for a single reason, each with this
    /// reason. Empty unless `needing` has exactly one execution and `partners` is empty.
    pub unfit: Vec<Unfit>,
}

impl Partners {
    /// Returns the reason, given the executions that need partners, the executions that may have
    /// been their partners, and the executions that cannot have been partners.
    #[doc(hidden)]
    pub fn new(needing: Vec<OpId>, partners: Vec<OpId>, unfit: Vec<Unfit>) -> Self {
        Self { needing, partners, unfit }
    }
}

/// An execution that cannot have been the partner of another execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfit {
    /// The execution.
    pub op: OpId,
    /// The reason why `op` cannot have been the partner.
    pub why: WhyUnfit,
}

impl Unfit {
    /// Returns the execution `op` with the reason why it cannot have been the partner.
    #[doc(hidden)]
    pub fn new(op: OpId, why: WhyUnfit) -> Self {
        Self { op, why }
    }
}

/// The reason why an execution cannot have been the partner of another execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyUnfit {
    /// The execution had returned before the other was called.
    TooEarly,
    /// The execution was called after the other had returned.
    TooLate,
    /// The two executions overlapped, but at least one of them does not have the result that it
    /// would have had as the partner of the other.
    Result,
}
