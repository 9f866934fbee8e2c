//! Verdicts on quasi linearizability.

use std::fmt;

use crate::history::OpId;

/// Why a history is not quasi linearizable.
///
/// There is no first event that is wrong: a prefix may be rejected and the whole accepted, when a value comes out early and
/// is put in later. What can be said for certain is that no order exists, and how much larger the factors would have to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiEvidence {
    /// By how much all factors would have to be larger.
    pub more: MoreFactor,
    /// The operations that are not in [`Evidence::prefix`](super::Evidence::prefix), the longest beginning of a legal
    /// order that was found, in the order of their calls. If a few cannot all be right
    /// ([`Evidence::conflict`](super::Evidence::conflict)), only those.
    pub out_of_reach: Vec<OpId>,
}

/// By how much all factors would have to be larger for a history to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MoreFactor {
    /// By this much: with less it is rejected.
    By(u32),
    /// No factor is large enough: no order of these operations is legal.
    Never,
    /// By more than this; the search was not taken further.
    MoreThan(u32),
}

impl fmt::Display for MoreFactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By(more) => write!(f, "it would be with factors larger by {more}, and not by less"),
            Self::Never => f.write_str("no order of the operations is legal, whatever the factors"),
            Self::MoreThan(0) => f.write_str("how much larger the factors would have to be is not known"),
            Self::MoreThan(less) => write!(f, "factors larger by {less} would not be enough"),
        }
    }
}
