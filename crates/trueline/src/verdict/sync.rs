//! Verdicts on objects whose operations synchronise.

use super::{Evidence, Limit};
use crate::history::OpId;

/// Executions that synchronised, in the order of the synchronisations: a synchronisation linearisation.
pub type Synchronisations = Vec<Vec<OpId>>;

/// The answer to "should some execution that is stuck at the end have returned?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressVerdict<Ret> {
    /// No: here is a maximal synchronisation linearisation in which all that synchronised have returned.
    Accepted(Synchronisations),
    /// Yes.
    Rejected(ProgressEvidence),
    /// What did return is wrong already.
    Unsafe(Evidence<Ret>),
    /// Nobody knows: this limit came first.
    Unknown(Limit),
}

impl<Ret> ProgressVerdict<Ret> {
    /// The same verdict with results as another type.
    pub fn map<Other>(self, read: impl FnMut(&Ret) -> Other) -> ProgressVerdict<Other> {
        match self {
            Self::Accepted(synchronisations) => ProgressVerdict::Accepted(synchronisations),
            Self::Rejected(evidence) => ProgressVerdict::Rejected(evidence),
            Self::Unsafe(evidence) => ProgressVerdict::Unsafe(evidence.map(read)),
            Self::Unknown(limit) => ProgressVerdict::Unknown(limit),
        }
    }
}

/// Which executions should have returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressEvidence {
    /// What may have synchronised.
    pub synchronisations: Synchronisations,
    /// Executions that should then have synchronised, or have, of which some did not return. In every maximal
    /// synchronisation linearisation there are such.
    pub anticipated: Synchronisations,
}

/// Why executions that returned cannot all have had partners: they need more than there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partners {
    /// Executions that have returned, each of which had a partner of its own.
    pub needing: Vec<OpId>,
    /// All executions that may have been that of one of them: they overlapped and fit. They are fewer.
    pub partners: Vec<OpId>,
    /// If there are none: some that come near, and why they are none.
    pub unfit: Vec<Unfit>,
}

/// An execution that may not have been another's partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The execution.
    pub op: OpId,
    /// Why not.
    pub why: WhyUnfit,
}

/// Why an execution may not have been another's partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyUnfit {
    /// It had returned before the other was called.
    TooEarly,
    /// It was called when the other had returned.
    TooLate,
    /// They overlapped, but do not have the results that they would have.
    Result,
}
