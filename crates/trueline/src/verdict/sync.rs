//! Verdicts on objects whose operations synchronise.

use super::{Limit, Stats};
use crate::history::OpId;

/// Executions that synchronised, in the order of the synchronisations: a synchronisation linearisation.
pub type Synchronisations = Vec<Vec<OpId>>;

/// The answer to "is this history synchronisation-linearisable?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyncVerdict<Ret> {
    /// Yes: here is a synchronisation linearisation, which has been replayed against the specification.
    Accepted(Synchronisations),
    /// No: here is the return that no synchronisation linearisation explains.
    Rejected(SyncEvidence<Ret>),
    /// Nobody knows: this limit came first.
    Unknown(Limit),
}

impl<Ret> SyncVerdict<Ret> {
    /// Whether the history was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// Whether the history was rejected.
    pub fn is_rejected(&self) -> bool {
        matches!(self, Self::Rejected(_))
    }

    /// The evidence, if the history was rejected.
    pub fn evidence(&self) -> Option<&SyncEvidence<Ret>> {
        if let Self::Rejected(evidence) = self { Some(evidence) } else { None }
    }
}

/// Why a history is not synchronisation-linearisable.
///
/// The place is exact, whichever algorithm found it: up to the event before `event` the history is
/// synchronisation-linearisable, and up to `event` it is not, whatever the executions that are open then may still return.
/// With several objects, that is said of the object of `refused`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncEvidence<Ret> {
    /// A synchronisation linearisation of the history up to the event before.
    pub synchronisations: Synchronisations,
    /// The execution whose return nothing explains.
    pub refused: OpId,
    /// The position of that return in the order of events.
    pub event: u32,
    /// The other executions that were open then.
    pub open: Vec<OpId>,
    /// Results that it could have returned, each once.
    pub allowed: Vec<Ret>,
    /// Whether `allowed` has all of them. If so and it is empty, the execution could not have returned at all.
    pub all_allowed: bool,
}

/// The answer to "should some execution that is stuck at the end have returned?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressVerdict<Ret> {
    /// No: here is a maximal synchronisation linearisation in which all that synchronised have returned.
    Accepted(Synchronisations),
    /// Yes.
    Rejected(ProgressEvidence),
    /// What did return is wrong already.
    Unsafe(SyncEvidence<Ret>),
    /// Nobody knows: this limit came first.
    Unknown(Limit),
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

/// A verdict and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncJudgement<Ret> {
    /// The verdict.
    pub verdict: SyncVerdict<Ret>,
    /// What it took.
    pub stats: Stats,
}
