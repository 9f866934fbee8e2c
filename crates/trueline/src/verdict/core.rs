//! The few operations that a rejection rests on.

use crate::history::{History, OpId};

/// The few calls that a rejection rests on.
///
/// *Leaving out* a call weakens what is known about it: either it took effect within its own
/// interval and with its recorded result, or it did not take effect. A call that never returned
/// stays pending. The history up to the failing return is rejected even if all calls other than the
/// [`calls`](Core::calls) of the core are left out. The calls are 1-minimal: if any one of them is
/// left out, too, the history becomes linearizable.
///
/// An explanation is about another, weaker [`history`](Core::history) that contains these calls. If
/// the whole history were linearizable, this weaker history would be linearizable, too; but the
/// weaker history is rejected. An operation of the weaker history may be *forgotten*: it may have
/// had any result, at any time after its call. An explanation that relies on fewer facts is easier
/// to follow, but it may need calls that are not in the core. For example, if a read returns a
/// value that was overwritten, the core consists of the overwriting write and the read, but the
/// explanation also names the write of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Core<Op, Ret> {
    /// The calls of the core, in the order of their numbers: the history up to the failing return
    /// is rejected even if every other call is left out. Each call of the core is needed for the
    /// rejection, unless [`undecided`](Core::undecided) lists it.
    pub calls: Vec<OpId>,
    /// The other calls that the explanation refers to; empty if there is no explanation.
    #[doc(hidden)]
    pub named: Vec<OpId>,
    /// The weaker history that the explanation is about. It is rejected, too.
    pub history: History<Op, Ret>,
    /// The role of each operation of [`history`](Core::history), by its number there.
    #[doc(hidden)]
    pub members: Vec<Member>,
    /// The number of operations of the whole history.
    #[doc(hidden)]
    pub of: usize,
    /// The operation after which [`history`](Core::history) begins. The state after this operation
    /// is known, so operations that returned before this operation was called are irrelevant. If
    /// this state is the initial state, [`history`](Core::history) does not contain the operation.
    /// Otherwise, [`history`](Core::history) contains it, as a completed operation. `None` if
    /// [`history`](Core::history) begins where the whole history begins.
    pub begins_behind: Option<OpId>,
    /// The weakening steps that were not taken because they could not be decided within the limits.
    #[doc(hidden)]
    pub undecided: Vec<Weakening>,
    /// Whether [`history`](Core::history) itself was judged and rejected. If there was no time for
    /// this, the rejection follows from other histories that were judged.
    pub confirmed: bool,
    /// The number of times that a weaker history was judged.
    #[doc(hidden)]
    pub oracle_calls: u32,
}

/// An operation of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Member {
    /// The number of the operation in the whole history.
    pub id: OpId,
    /// The positions of the operation's call and return in the whole history.
    pub events: (u32, Option<u32>),
    /// Which facts about the operation are part of the core.
    pub role: Role,
    /// Whether the core contains only a part of the operation's arguments and result: the part
    /// about values or keys that are in the core.
    pub in_part: bool,
}

/// The facts about an operation that a core contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The core contains all recorded facts about the operation.
    Completed,
    /// The operation was open at the failing return, or its return is not known. If it took effect,
    /// it had the recorded result.
    Optional,
    /// The result and the return of the operation are forgotten: the core is rejected whatever the
    /// operation did.
    Forgotten,
    /// The operation never returned.
    Pending,
}

impl Role {
    /// Returns whether the result of the operation matters. If it does not matter, the core is
    /// rejected whatever the operation did.
    pub fn matters(self) -> bool {
        matches!(self, Self::Completed | Self::Optional)
    }

    /// Returns `completed`, `optional`, `forgotten` or `pending`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Optional => "optional",
            Self::Forgotten => "forgotten",
            Self::Pending => "pending",
        }
    }
}

/// A step that weakens a history by removing facts about one or more operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Weakening {
    /// Leaves out a call.
    LeaveOut(OpId),
    /// Forgets the return and the result of an operation.
    Forget(OpId),
    /// Leaves out all operations about one value or key.
    LeaveOutAll(Vec<OpId>),
}

impl<Op, Ret> Core<Op, Ret> {
    /// Returns the same core with its history converted by `form`, which keeps the operations and their order.
    #[doc(hidden)]
    pub fn map<Op2, Ret2>(self, form: impl FnOnce(&History<Op, Ret>) -> History<Op2, Ret2>) -> Core<Op2, Ret2> {
        let Self { calls, named, history, members, of, begins_behind, undecided, confirmed, oracle_calls } = self;
        Core { calls, named, history: form(&history), members, of, begins_behind, undecided, confirmed, oracle_calls }
    }

    /// Returns whether the core is known to be minimal: leaving out any one of its calls, or taking
    /// any single step that weakens its [`history`](Core::history), gives a history that is no
    /// longer rejected.
    ///
    /// The steps are: leaving out an operation that does not change the state; forgetting the return and the result of
    /// an operation other than the one at which the history begins; and leaving out all operations on one value or key,
    /// if the specification allows that. If the core is not known to be minimal, [`undecided`](Core::undecided) has
    /// the steps that could not be decided.
    pub fn is_minimal(&self) -> bool {
        self.undecided.is_empty()
    }

    /// Returns the operations of [`history`](Core::history) whose results matter, in the order of their calls.
    #[doc(hidden)]
    pub fn told(&self) -> impl Iterator<Item = Member> + '_ {
        self.members.iter().copied().filter(|member| member.role.matters())
    }

    /// Returns the number of calls of the whole history that are left out, that is, are not among the
    /// [`calls`](Core::calls).
    pub fn left_out(&self) -> usize {
        self.of - self.calls.len()
    }

    /// Returns the calls that a picture of the core shows, in the order of their numbers: those of
    /// the core, and those that the explanation refers to.
    #[doc(hidden)]
    pub fn shown(&self) -> Vec<OpId> {
        let mut shown = [self.calls.as_slice(), &self.named].concat();
        shown.sort_unstable();
        shown
    }
}
