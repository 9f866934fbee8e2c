//! Verdicts on quasi linearizability.

use std::fmt;

use crate::history::OpId;

/// The evidence that a history is not quasi linearizable.
///
/// Such a history has no first failing event: a prefix may be rejected and the whole history accepted, when a value is
/// taken out early and put in later. The evidence is that no order exists, and how much larger the factors
/// would have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuasiEvidence {
    /// The amount by which all factors would have to be larger for the history to be accepted.
    pub more: MoreFactor,
    /// The operations that are not in [`Evidence::prefix`](super::Evidence::prefix), the longest prefix of a legal
    /// order that was found, in the order of their calls. If there is a conflict
    /// ([`Evidence::conflict`](super::Evidence::conflict)), only those that are part of it.
    pub out_of_reach: Vec<OpId>,
}

/// The amount by which all factors would have to be larger for a history to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MoreFactor {
    /// The factors would have to be larger by exactly this much: with smaller ones the history is rejected.
    By(u32),
    /// No factor is large enough: no order of these operations is legal.
    Never,
    /// The factors would have to be larger by more than this; the search did not try larger ones.
    MoreThan(u32),
}

impl fmt::Display for MoreFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(more) => {
                write!(f, "it would be if the factors were larger by {more}, but no smaller increase is enough")
            }
            Self::Never => f.write_str("no order of the operations is legal, whatever the factors"),
            Self::MoreThan(0) => f.write_str("how much larger the factors would have to be is not known"),
            Self::MoreThan(less) => write!(f, "factors larger by {less} would not be enough"),
        }
    }
}
