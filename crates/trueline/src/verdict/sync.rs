//! Verdicts on objects whose operations synchronize.

use super::{Evidence, Limit};
use crate::history::OpId;

/// Groups of executions that synchronized, in the order of the synchronizations: a synchronization linearization.
pub type Synchronizations = Vec<Vec<OpId>>;

/// The answer to "should some execution that is stuck at the end have returned?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressVerdict<Ret> {
    /// No. In this maximal synchronization linearization, all executions that synchronized have returned.
    Accepted(Synchronizations),
    /// Yes.
    Rejected(ProgressEvidence),
    /// The executions that returned are not synchronization linearizable in the first place.
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
    /// Synchronizations that may have happened.
    pub synchronizations: Synchronizations,
    /// Synchronizations that happened or should then have happened, each with an execution that did not return. Every
    /// maximal synchronization linearization contains such a synchronization.
    pub anticipated: Synchronizations,
}

/// The reason why the executions that returned cannot all have had partners: more partners are needed than there are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Partners {
    /// Executions that have returned, each of which needs a partner of its own.
    pub needing: Vec<OpId>,
    /// All executions that may have been the partner of one of them, because they overlap and fit. There are fewer of
    /// these than of the executions in `needing`.
    pub partners: Vec<OpId>,
    /// If `partners` is empty: executions that nearly fit, each with the reason why it does not.
    pub unfit: Vec<Unfit>,
}

impl Partners {
    /// Returns the reason, given the executions that need partners, those that may be partners, and those that nearly
    /// fit.
    #[doc(hidden)]
    pub fn new(needing: Vec<OpId>, partners: Vec<OpId>, unfit: Vec<Unfit>) -> Self {
        Self { needing, partners, unfit }
    }
}

/// An execution that cannot have been another's partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfit {
    /// The execution.
    pub op: OpId,
    /// The reason why it cannot have been the partner.
    pub why: WhyUnfit,
}

impl Unfit {
    /// Returns an execution, and the reason why it does not fit.
    #[doc(hidden)]
    pub fn new(op: OpId, why: WhyUnfit) -> Self {
        Self { op, why }
    }
}

/// The reason why an execution cannot have been another's partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyUnfit {
    /// The execution had returned before the other was called.
    TooEarly,
    /// The execution was called after the other had returned.
    TooLate,
    /// The two overlapped, but at least one does not have the result that it would have had.
    Result,
}
