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
