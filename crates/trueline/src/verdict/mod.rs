//! The answers of a checker. A [`Verdict`] is more than a `bool`: it contains a witness, evidence,
//! or the limit that ended the search.

mod argument;
mod core;
mod passed;
mod quasi;
mod sync;

use std::fmt;
use std::time::Duration;

#[doc(hidden)]
pub use argument::{Argument, Before, Count, Counted, End, Ground, NoPlace, ObjectKind, Place, Proof, Reason, Step};
pub use core::Core;
#[doc(hidden)]
pub use core::{Member, Role, Weakening};
#[doc(hidden)]
pub use passed::Passed;
pub use quasi::{MoreFactor, QuasiEvidence};
#[doc(hidden)]
pub use sync::{Partners, Unfit, WhyUnfit};
pub use sync::{ProgressEvidence, ProgressVerdict, Synchronizations};

use crate::history::OpId;

/// The answer to "is this history linearizable?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<Ret> {
    /// The history is linearizable: the witness is a linearization that has been replayed against
    /// the specification.
    Accepted(Witness),
    /// The history is not linearizable: the evidence gives an event such that the history up to and
    /// including this event has no linearization.
    Rejected(Evidence<Ret>),
    /// Undecided, because the search reached this limit.
    Unknown(Limit),
}

impl<Ret> Verdict<Ret> {
    /// Returns whether the history was accepted.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// Returns whether the history was rejected.
    pub fn is_rejected(&self) -> bool {
        matches!(self, Self::Rejected(_))
    }

    /// Returns `accepted`, `rejected` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted(_) => "accepted",
            Self::Rejected(_) => "rejected",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Returns the evidence if the history was rejected.
    pub fn evidence(&self) -> Option<&Evidence<Ret>> {
        if let Self::Rejected(evidence) = self { Some(evidence) } else { None }
    }

    /// Returns the linearization to show: the witness of an accepted history, or the longest linearizable prefix of a
    /// rejected one. Returns `None` if the verdict is unknown.
    pub fn linearization(&self) -> Option<Witness> {
        match self {
            Self::Accepted(witness) => Some(witness.clone()),
            Self::Rejected(Evidence { prefix, together, .. }) => {
                Some(Witness { order: prefix.clone(), together: together.clone(), permuted: Vec::new() })
            }
            Self::Unknown(_) => None,
        }
    }

    /// Returns the witness if the history was accepted.
    pub fn witness(&self) -> Option<&Witness> {
        if let Self::Accepted(witness) = self { Some(witness) } else { None }
    }
}

/// A linearization: the operations in an order in which they may have taken effect.
///
/// A witness contains every operation that returned, and the pending operations that took effect.
/// It does not contain states: where states are shown, they are computed again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Witness {
    /// The operations in the order of the linearization. An operation that took effect in several steps occurs once for
    /// each step.
    pub order: Vec<OpId>,
    /// The sizes of the groups of operations that took effect together, in order. Empty if each operation took effect
    /// alone.
    pub together: Vec<u32>,
    /// For quasi linearizability, the same operations in an order that the specification allows and
    /// that is not far from [`order`](Witness::order). Empty for every other criterion, because the
    /// specification then allows `order` itself.
    pub permuted: Vec<OpId>,
}

impl Witness {
    /// Returns a witness whose operations took effect one after the other.
    #[doc(hidden)]
    pub fn one_by_one(order: Vec<OpId>) -> Self {
        Self { order, together: Vec::new(), permuted: Vec::new() }
    }

    /// Returns a witness for quasi linearizability. Its operations took effect one after the other,
    /// with the results of the order `permuted`.
    #[doc(hidden)]
    pub fn quasi(order: Vec<OpId>, permuted: Vec<OpId>) -> Self {
        Self { order, together: Vec::new(), permuted }
    }

    /// Returns a witness whose operations took effect in groups.
    #[doc(hidden)]
    pub fn in_groups(groups: &[Vec<OpId>]) -> Self {
        Self { order: groups.concat(), together: sizes(groups), permuted: Vec::new() }
    }

    /// Returns the groups of operations that took effect together, in order.
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

/// Splits an order into groups of these sizes. Each operation that is left after the last group is
/// a group of its own.
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

/// Returns the number of operations in each group.
pub(crate) fn sizes(groups: &[Vec<OpId>]) -> Vec<u32> {
    groups.iter().map(|group| u32::try_from(group.len()).expect("operations are numbered with 32 bits")).collect()
}

/// The evidence that a history is not linearizable.
///
/// A history is linearizable *up to an event* if its operations have an order that the
/// specification allows, and in which each operation takes effect within its interval. The order
/// contains all operations that have returned by this event, and some of those that are open at the
/// event, with their recorded results. If `is_first` is set, `event` is the first event up to which
/// the history is not linearizable. This event is the first in the whole history, over all objects
/// and partitions, and does not depend on the algorithm.
///
/// A result is *allowed* for the refused return if replacing the recorded result by this result
/// makes the history of the whole object linearizable up to that return.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence<Ret> {
    /// A linearization of the longest linearizable prefix of the rejected part.
    pub prefix: Vec<OpId>,
    /// The sizes of the groups of operations of `prefix` that took effect together, in order. Empty
    /// if each operation took effect alone.
    pub together: Vec<u32>,
    /// The operation whose return no linearization of the prefix allows.
    pub refused: OpId,
    /// The position of the refused return in the order of events.
    pub event: u32,
    /// The other operations of the rejected part that were open at the refused return.
    pub open: Vec<OpId>,
    /// The results that the refused operation could have returned, without duplicates, ordered by
    /// their descriptions.
    pub allowed: Vec<Ret>,
    /// Whether `allowed` contains every allowed result. If so, and if `allowed` is empty, the
    /// refused operation could not have returned at all.
    pub all_allowed: bool,
    /// Whether `event` is known to be the first event up to which the history is not linearizable.
    /// If `false`, a limit ended the search for the first event, which may be earlier, and nothing
    /// is known about allowed results.
    pub is_first: bool,
    /// Operations, usually few, that conflict: they cannot all have happened as recorded. Empty if
    /// the algorithm does not find conflicts.
    pub conflict: Vec<OpId>,
    /// The exact part of the evidence for quasi linearizability: see [`QuasiEvidence`]. For quasi
    /// linearizability, all other fields are only hints.
    pub quasi: Option<QuasiEvidence>,
}

impl<Ret> Evidence<Ret> {
    /// Returns evidence that contains only the refused return; nothing else is known.
    #[doc(hidden)]
    pub fn at(refused: OpId, event: u32) -> Self {
        Self {
            prefix: Vec::new(),
            together: Vec::new(),
            refused,
            event,
            open: Vec::new(),
            allowed: Vec::new(),
            all_allowed: false,
            is_first: false,
            conflict: Vec::new(),
            quasi: None,
        }
    }

    /// Returns the same evidence with results of another type.
    #[doc(hidden)]
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Evidence<Other> {
        self.map_by(&mut read)
    }

    /// Does the work of `map`. The closure is a reference to a trait object, so that this code is
    /// compiled only once for each pair of result types.
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

/// The limit that ended a search, and how far the search had come.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limit {
    /// The kind of the limit.
    pub kind: LimitKind,
    /// The furthest position in the order of events that the search reached.
    pub event: u32,
    /// The total number of events; 0 if the limit was reached while the history was being read.
    pub events: u32,
}

impl Limit {
    /// Returns the limit that ended a search at position `event` in a history of this many
    /// `events`.
    #[doc(hidden)]
    pub fn new(kind: LimitKind, event: u32, events: u32) -> Self {
        Self { kind, event, events }
    }
}

/// The limits that can end a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// The time limit was reached.
    Time,
    /// The next table would have exceeded the memory limit.
    Memory,
    /// The limit on the number of configurations was reached.
    Configurations,
    /// The search was canceled.
    Cancelled,
    /// The algorithm cannot judge the history, for this reason.
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
            LimitKind::Configurations => "the limit on configurations was reached",
            LimitKind::Cancelled => "the search was canceled",
            LimitKind::Refused(why) => return write!(f, "the algorithm cannot judge this history: {why}"),
        };
        if self.events == 0 {
            return write!(f, "{reached} while the history was read");
        }
        if self.event == 0 {
            // The algorithm got nowhere, or does not report how far it came.
            return f.write_str(reached);
        }
        write!(f, "{reached}; the search had reached event {} of {}", self.event, self.events)
    }
}

/// The cost of judging a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The algorithm that gave the answer.
    pub algorithm: String,
    /// The criterion; `None` for linearizability and synchronization. For quasi linearizability,
    /// this is the variant of the criterion, with its factors.
    pub criterion: Option<String>,
    /// The algorithms that decided the parts, in words, such as `the monitor "queue"`. `None`
    /// unless the algorithm was chosen automatically or several algorithms competed.
    pub choice: Option<String>,
    /// The number of parts that were judged separately.
    pub partitions: usize,
    /// The number of configurations visited, over all parts and all algorithms that were tried.
    pub configurations: u64,
    /// The number of times that Lowe's queue algorithm had to backtrack.
    #[doc(hidden)]
    pub backtracks: u64,
    /// The number of distinct states of the specification that were encountered.
    pub states: u64,
    /// The number of sequentializations that were made for quasi linearizability by the enumeration
    /// in the paper of Zhang, Chattopadhyay and Wang.
    #[doc(hidden)]
    pub sequentializations: u64,
    /// The number of quasi-permutations that were made for quasi linearizability by the enumeration
    /// in the paper of Zhang, Chattopadhyay and Wang.
    #[doc(hidden)]
    pub permutations: u64,
    /// The maximum number of bytes that the tables and states of the search occupied at once.
    pub peak_bytes: u64,
    /// The time taken to find the verdict and its witness, after the history was validated.
    pub elapsed: Duration,
    /// The outcome of judging parts by the versions that operations carry. `None` if operations
    /// carry no versions, or if their versions were not used.
    pub versions: Option<Versions>,
}

/// The outcome of judging parts of a history by the versions that operations carry: see
/// [`Builder::version`](crate::history::Builder::version).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Versions {
    /// The number of parts of the history that are linearizable in the order of their versions.
    pub parts: usize,
    /// The contradiction in the first part that is not linearizable in the order of its versions,
    /// if there is such a part. The verdict on this part was found without versions.
    #[doc(hidden)]
    pub contradiction: Option<Contradiction>,
}

/// The reason why the order of versions is not a linearization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Contradiction {
    /// According to their versions, `first` took effect before `second`, but `second` returned before `first` was
    /// called.
    RealTime {
        /// The operation with the smaller version.
        first: OpId,
        /// The operation with the larger version, or a read of the same version.
        second: OpId,
    },
    /// In the order of versions, this operation, or another operation with the same version, cannot
    /// have returned its recorded result.
    Result(OpId),
    /// The reason is not known. The search that places the operations without a version gave up: it
    /// took too many steps, or the specification is nondeterministic.
    Undecided,
}

/// A verdict, with the cost of reaching it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judgment<Ret> {
    /// The verdict.
    pub verdict: Verdict<Ret>,
    /// The cost of reaching the verdict.
    pub stats: Stats,
}

impl<Ret> Judgment<Ret> {
    /// Returns this verdict, with the cost of reaching it.
    #[doc(hidden)]
    pub fn new(verdict: Verdict<Ret>, stats: Stats) -> Self {
        Self { verdict, stats }
    }

    /// Returns the same judgment with results of another type.
    #[doc(hidden)]
    pub fn map<Other>(self, mut read: impl FnMut(&Ret) -> Other) -> Judgment<Other> {
        let verdict = match self.verdict {
            Verdict::Accepted(witness) => Verdict::Accepted(witness),
            Verdict::Unknown(limit) => Verdict::Unknown(limit),
            Verdict::Rejected(evidence) => Verdict::Rejected(evidence.map_by(&mut read)),
        };
        Judgment { verdict, stats: self.stats }
    }
}
