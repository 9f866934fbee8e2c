//! What a checker answers: never a `bool`, never an error.

mod argument;
mod core;
mod passed;
mod quasi;
mod sync;

use std::fmt;
use std::time::Duration;

pub use argument::{Argument, Before, Count, Counted, End, Ground, NoPlace, ObjectKind, Place, Proof, Reason, Step};
pub use core::{Core, Member, Role, Weakening};
pub use passed::Passed;
pub use quasi::{MoreFactor, QuasiEvidence};
pub use sync::{Partners, ProgressEvidence, ProgressVerdict, Synchronisations, Unfit, WhyUnfit};

use crate::history::OpId;

/// The answer to "is this history linearizable?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<Ret> {
    /// Yes: here is a linearization, which has been replayed against the specification.
    Accepted(Witness),
    /// No: here is the event that no linearization survives.
    Rejected(Evidence<Ret>),
    /// Nobody knows: this limit came first.
    Unknown(Limit),
}

impl<Ret> Verdict<Ret> {
    /// Whether the history was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// Whether the history was rejected.
    pub fn is_rejected(&self) -> bool {
        matches!(self, Self::Rejected(_))
    }

    /// `accepted`, `rejected` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Rejected(_) => "rejected",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The evidence, if the history was rejected.
    pub fn evidence(&self) -> Option<&Evidence<Ret>> {
        if let Self::Rejected(evidence) = self { Some(evidence) } else { None }
    }

    /// The linearization that there is to show: the witness of an accepted history, the longest prefix of a rejected one.
    pub fn linearization(&self) -> Option<Witness> {
        match self {
            Self::Accepted(witness) => Some(witness.clone()),
            Self::Rejected(Evidence { prefix, together, .. }) => {
                Some(Witness { order: prefix.clone(), together: together.clone(), permuted: Vec::new() })
            }
            Self::Unknown(_) => None,
        }
    }

    /// The witness, if the history was accepted.
    pub fn witness(&self) -> Option<&Witness> {
        if let Self::Accepted(witness) = self { Some(witness) } else { None }
    }
}

/// A linearization: the operations in an order in which they may have taken effect.
///
/// Every operation that returned is there; of those that did not, the ones that took effect. States are not stored:
/// they are computed again where they are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The operations in the order of the linearization; one that took effect in several steps is there for each of them.
    pub order: Vec<OpId>,
    /// How many of them took effect together, one number for each time; empty if each did alone.
    pub together: Vec<u32>,
    /// For quasi linearizability: the same operations in an order that the specification allows, which is not far from
    /// [`order`](Witness::order). Empty for every other criterion, where `order` is allowed itself.
    pub permuted: Vec<OpId>,
}

impl Witness {
    /// Operations that took effect one behind the other.
    pub fn one_by_one(order: Vec<OpId>) -> Self {
        Self { order, together: Vec::new(), permuted: Vec::new() }
    }

    /// Operations that took effect one behind the other, as if in the order `permuted`.
    pub fn quasi(order: Vec<OpId>, permuted: Vec<OpId>) -> Self {
        Self { order, together: Vec::new(), permuted }
    }

    /// Operations that took effect in groups.
    pub fn in_groups(groups: &[Vec<OpId>]) -> Self {
        Self { order: groups.concat(), together: sizes(groups), permuted: Vec::new() }
    }

    /// The operations that took effect together, in the order of the groups.
    ///
    /// ```
    /// use trueline::history::OpId;
    /// use trueline::verdict::Witness;
    ///
    /// let exchanged = Witness::in_groups(&[vec![OpId(0), OpId(2)], vec![OpId(1), OpId(3)]]);
    /// assert_eq!(exchanged.groups().nth(1), Some(&[OpId(1), OpId(3)][..]));
    /// assert_eq!(Witness::one_by_one(vec![OpId(1), OpId(0)]).groups().count(), 2);
    /// ```
    pub fn groups(&self) -> impl Iterator<Item = &[OpId]> {
        groups(&self.order, &self.together)
    }
}

/// What took effect together: so many each time, and alone where nothing is said.
pub(crate) fn groups<'a, T>(order: &'a [T], together: &'a [u32]) -> impl Iterator<Item = &'a [T]> {
    let mut rest = order;
    let mut sizes = together.iter();
    std::iter::from_fn(move || {
        let size = sizes.next().map_or(1, |size| *size as usize);
        let (group, behind) = rest.split_at_checked(size)?;
        rest = behind;
        (!group.is_empty()).then_some(group)
    })
}

/// How many operations are in each group.
pub(crate) fn sizes(groups: &[Vec<OpId>]) -> Vec<u32> {
    groups.iter().map(|group| u32::try_from(group.len()).expect("operations have numbers")).collect()
}

/// Why a history is not linearizable.
///
/// The history is linearizable *up to an event* if there is an order of its calls that the specification allows, with every
/// call that returned by then, each within its interval, and with some of those that are open there, with the results that
/// they have. `event` is the first event up to which it is not (if `is_first`): the first of the whole history, over all
/// objects and partitions, whichever algorithm found it.
///
/// A result is *allowed* for the refused return if the history is linearizable up to that return with this result in its
/// place, over the whole object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence<Ret> {
    /// A linearization of the longest linearizable prefix (of the part that was rejected).
    pub prefix: Vec<OpId>,
    /// How many operations of it took effect together, one number for each time; empty if each did alone.
    pub together: Vec<u32>,
    /// The operation whose return no linearization of the prefix allows.
    pub refused: OpId,
    /// The position of that return in the order of events.
    pub event: u32,
    /// The other operations (of the part that was rejected) that were open then.
    pub open: Vec<OpId>,
    /// Results that it could have returned, each once, in the order of their descriptions.
    pub allowed: Vec<Ret>,
    /// Whether `allowed` has all of them. If so and it is empty, the operation could not have returned at all.
    pub all_allowed: bool,
    /// Whether `event` is known to be the first such event. If not, the first may be earlier: a limit ended the search for
    /// it. Then nothing is said of what was allowed.
    pub is_first: bool,
    /// Operations that conflict, if a monitor found them: the few that its explanation is about.
    pub conflict: Vec<OpId>,
    /// For quasi linearizability, what is exact then: see [`QuasiEvidence`]. All the rest is a hint.
    pub quasi: Option<QuasiEvidence>,
}

impl<Ret> Evidence<Ret> {
    /// The same evidence with results as another type.
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Evidence<Other> {
        self.map_by(&mut read)
    }

    /// The same, compiled once for each pair of types.
    fn map_by<Other>(self, read: &mut dyn FnMut(&Ret) -> Other) -> Evidence<Other> {
        let Self { prefix, together, refused, event, open, allowed: before, all_allowed, is_first, conflict, quasi } =
            self;
        let mut allowed = Vec::with_capacity(before.len());
        for result in &before {
            allowed.push(read(result));
        }
        Evidence { prefix, together, refused, event, open, allowed, all_allowed, is_first, conflict, quasi }
    }
}

/// Which limit ended a search, and how far it had come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Which limit.
    pub kind: LimitKind,
    /// The furthest position in the order of events that the search had come to.
    pub event: u32,
    /// The number of events there are; 0 if the limit ended the reading of the history.
    pub events: u32,
}

/// The limits that can end a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// The time was up.
    Time,
    /// The next table would not have fitted the memory.
    Memory,
    /// The number of configurations was reached.
    Configurations,
    /// Somebody cancelled it.
    Cancelled,
    /// The algorithm cannot judge such histories, for this reason.
    Refused(&'static str),
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::Configurations => "configurations",
            Self::Cancelled => "cancelled",
            Self::Refused(_) => "refused",
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = match self.kind {
            LimitKind::Time => "the time limit was reached",
            LimitKind::Memory => "the memory limit was reached",
            LimitKind::Configurations => "the limit of configurations was reached",
            LimitKind::Cancelled => "the search was cancelled",
            LimitKind::Refused(why) => return write!(f, "the algorithm cannot judge such a history: {why}"),
        };
        if self.events == 0 {
            return write!(f, "{reached} while the history was read");
        }
        write!(f, "{reached}; the search had come to event {} of {}", self.event, self.events)
    }
}

/// What the judging took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The algorithm that gave the answer.
    pub algorithm: String,
    /// What was judged, if it was not linearizability or synchronisation: which quasi linearizability, by which factors.
    pub criterion: Option<String>,
    /// Why this algorithm, where it was chosen automatically; and which won, where several competed.
    pub choice: Option<String>,
    /// The number of parts that were judged one by one.
    pub partitions: usize,
    /// Configurations visited, over all parts and algorithms tried.
    pub configurations: u64,
    /// How often Lowe's queue algorithm had to go back.
    pub backtracks: u64,
    /// Distinct states of the specification that were met.
    pub states: u64,
    /// Sequentializations that the paper's enumeration for quasi linearizability made.
    pub sequentializations: u64,
    /// Quasi-permutations that it made.
    pub permutations: u64,
    /// The most bytes that the tables and states of the search took at once.
    pub peak_bytes: u64,
    /// The time from a validated history to the verdict with its witness.
    pub elapsed: Duration,
}

/// A verdict and what it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement<Ret> {
    /// The verdict.
    pub verdict: Verdict<Ret>,
    /// What it took.
    pub stats: Stats,
}

impl<Ret> Judgement<Ret> {
    /// The same judgement with results as another type.
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Judgement<Other> {
        let verdict = match self.verdict {
            Verdict::Accepted(witness) => Verdict::Accepted(witness),
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Rejected(evidence) => Verdict::Rejected(evidence.map_by(&mut read)),
        };
        Judgement { verdict, stats: self.stats }
    }
}
