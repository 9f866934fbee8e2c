//! Verdicts on quasi linearizability.

use std::fmt;

use crate::history::OpId;

/// The evidence that a history is not quasi linearizable.
///
/// This evidence does not name a first failing event: if a value is taken out early and put in
/// later, a prefix may be rejected although the whole history is accepted. Instead, the evidence
/// states that no order exists, and by how much the factors would have to be larger.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuasiEvidence {
    /// The amount by which all factors would have to be larger for the history to be accepted.
    pub more: MoreFactor,
    /// The operations that are not in [`Evidence::prefix`](super::Evidence::prefix), the longest
    /// prefix of a legal order that the search found. They are in the order of their calls. If
    /// there is a conflict ([`Evidence::conflict`](super::Evidence::conflict)), the list has only
    /// operations that are part of the conflict.
    pub out_of_reach: Vec<OpId>,
}

/// The amount by which all factors would have to be larger for a history to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MoreFactor {
    /// The factors would have to be larger by exactly this amount. With any smaller amount, the
    /// history is still rejected.
    By(u32),
    /// No factor is large enough: no order of these operations is legal.
    Never,
    /// The factors would have to be larger by more than this amount; the search did not try larger
    /// amounts.
    MoreThan(u32),
}

impl fmt::Display for MoreFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(more) => {
                write!(f, "it would be if the factors were larger by {more}, and no smaller increase is enough")
            }
            Self::Never => f.write_str("no order of the operations is legal, whatever the factors"),
            Self::MoreThan(0) => f.write_str("it is not known how much larger the factors would have to be"),
            Self::MoreThan(less) => write!(f, "factors larger by {less} would not be enough"),
        }
    }
}
