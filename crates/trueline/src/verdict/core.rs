//! The few operations that a rejection rests on.

use crate::history::{History, OpId};

/// A small part of a rejected history that is not linearizable either, whatever became of the rest.
///
/// Its [`history`](Core::history) is weaker than the history it comes from: if that were linearizable, so would this
/// be. So its rejection proves that of the whole, and it is 1-minimal if no single further step to weaken it leaves it
/// rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core<Op, Ret> {
    /// What is left, ready to be judged: it is rejected.
    pub history: History<Op, Ret>,
    /// What each operation of [`history`](Core::history) was, by its number there.
    pub members: Vec<Member>,
    /// How many operations the whole history has.
    pub of: usize,
    /// The operation behind which [`history`](Core::history) begins: whatever returned before it was called does not
    /// matter, because the state behind it is known. It belongs to the story, even if it is not in the history (because
    /// the state behind it is the initial one) or is forgotten there. `None` if the history begins at its beginning.
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
    /// Leaves out an operation that changes no state.
    LeaveOut(OpId),
    /// Forgets the return and the result of an operation.
    Forget(OpId),
    /// Leaves out all operations about one value or key.
    LeaveOutAll(Vec<OpId>),
}

impl<Op, Ret> Core<Op, Ret> {
    /// The same core with another form of its history: `form` keeps the operations and their order.
    pub fn map<Op2, Ret2>(self, form: impl FnOnce(&History<Op, Ret>) -> History<Op2, Ret2>) -> Core<Op2, Ret2> {
        let Self { history, members, of, begins_behind, undecided, confirmed, oracle_calls } = self;
        Core { history: form(&history), members, of, begins_behind, undecided, confirmed, oracle_calls }
    }

    /// Whether no single further step leaves it rejected.
    ///
    /// Steps are to leave out an operation that changes no state, to forget an operation's return and result, and to
    /// leave out all that is about one value or key, where the specification allows that. If it is not known to be
    /// minimal, [`undecided`](Core::undecided) says why.
    pub fn is_minimal(&self) -> bool {
        self.undecided.is_empty()
    }

    /// The operations whose results matter, in the order of their calls: what there is to tell.
    pub fn told(&self) -> impl Iterator<Item = Member> + '_ {
        self.members.iter().copied().filter(|member| member.role.matters())
    }

    /// How many operations of the whole history are not [told](Core::told).
    ///
    /// They may have had any result and may have taken effect or not: it does not matter. The
    /// [`history`](Core::history) has those of them that could still have an effect as pending ones; without them it
    /// would only be stricter.
    pub fn left_out(&self) -> usize {
        self.of - self.told().count()
    }
}
