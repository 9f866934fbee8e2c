//! The few operations that a rejection rests on.

use crate::history::{History, OpId};

/// The few calls that a rejection rests on.
///
/// A call is *left out* if it took effect within its own interval and with its recorded result, or not at all; a call that
/// never returned stays pending. The [`calls`](Core::calls) of a core are such that the history up to the failing return,
/// with all other calls left out, is rejected. They are 1-minimal: if any one of them is left out too, it is linearizable.
///
/// What an explanation is about is another, weaker [`history`](Core::history) with these calls in it: if the whole were
/// linearizable, so would this be, and it is rejected. There, an operation may be *forgotten*: it may have had any result,
/// at any time after its call. An explanation that needs less is easier to follow, but not every call of that history need be
/// in the core: that a value was overwritten rests on the second write and the read, and the explanation names the first
/// write too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core<Op, Ret> {
    /// The calls of the core, in the order of their numbers: the history up to the failing return is rejected even if every
    /// other call is left out. Each of them is needed for that, unless [`undecided`](Core::undecided) has it.
    pub calls: Vec<OpId>,
    /// The other calls that the explanation names; empty where there is no explanation.
    pub named: Vec<OpId>,
    /// What is left, ready to be judged: it is rejected.
    pub history: History<Op, Ret>,
    /// What each operation of [`history`](Core::history) was, by its number there.
    pub members: Vec<Member>,
    /// How many operations the whole history has.
    pub of: usize,
    /// The operation behind which [`history`](Core::history) begins: whatever returned before it was called does not
    /// matter, because the state after it is known. It is in the history and completed there, or it is not in the history, because
    /// the state after it is the initial one. `None` if the history begins at its beginning.
    pub begins_behind: Option<OpId>,
    /// The steps that were not decided within the limits, and so were not taken.
    pub undecided: Vec<Weakening>,
    /// Whether [`history`](Core::history) was judged as it is, and rejected. If there was no time for that, its rejection
    /// follows from what was judged.
    pub confirmed: bool,
    /// How often a weaker history was judged.
    pub oracle_calls: u32,
}

/// An operation of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Its number in the whole history.
    pub id: OpId,
    /// The positions of its call and of its return in the whole history.
    pub events: (u32, Option<u32>),
    /// What is known of it in the core.
    pub role: Role,
    /// Whether only that part of it is left, in arguments and result, which is about values or keys in the core.
    pub in_part: bool,
}

/// What is known of an operation in a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// All that was recorded.
    Completed,
    /// It was open at the failing return, or its return was never recorded. If it took effect, then with the result
    /// that it has.
    Optional,
    /// Its result and its return are forgotten: the core is rejected whatever it did.
    Forgotten,
    /// It never returned.
    Pending,
}

impl Role {
    /// Whether its result matters; if not, whatever it did is as good.
    pub fn matters(self) -> bool {
        matches!(self, Self::Completed | Self::Optional)
    }

    /// `completed`, `optional`, `forgotten` or `pending`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Optional => "optional",
            Self::Forgotten => "forgotten",
            Self::Pending => "pending",
        }
    }
}

/// One step that makes a history say less.
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
    /// The same core with another form of its history: `form` keeps the operations and their order.
    pub fn map<Op2, Ret2>(self, form: impl FnOnce(&History<Op, Ret>) -> History<Op2, Ret2>) -> Core<Op2, Ret2> {
        let Self { calls, named, history, members, of, begins_behind, undecided, confirmed, oracle_calls } = self;
        Core { calls, named, history: form(&history), members, of, begins_behind, undecided, confirmed, oracle_calls }
    }

    /// Whether no call can be left out, and no single step to weaken the [`history`](Core::history) leaves it rejected.
    ///
    /// Such steps are to leave out an operation that changes no state, to forget the return and the result of an operation
    /// other than the one at which the history begins, and to leave out all that is about one value or key, where the
    /// specification allows that. If it is not known to be
    /// minimal, [`undecided`](Core::undecided) says why.
    pub fn is_minimal(&self) -> bool {
        self.undecided.is_empty()
    }

    /// The operations of [`history`](Core::history) whose results matter, in the order of their calls.
    pub fn told(&self) -> impl Iterator<Item = Member> + '_ {
        self.members.iter().copied().filter(|member| member.role.matters())
    }

    /// How many calls of the whole history are left out: those that are not among the [`calls`](Core::calls).
    pub fn left_out(&self) -> usize {
        self.of - self.calls.len()
    }

    /// The calls that a picture of the core shows, in the order of their numbers: its own, and those that the explanation
    /// names.
    pub fn shown(&self) -> Vec<OpId> {
        let mut shown = [self.calls.as_slice(), &self.named].concat();
        shown.sort_unstable();
        shown
    }
}
