//! What decides who goes on.

use crate::primitives::{Access, AccessKind};

/// A set of tasks, one bit each.
pub(super) type Tasks = u64;

/// The most tasks of a program.
pub(super) const MOST_TASKS: usize = 64;

/// The set of one task.
pub(super) fn only(task: usize) -> Tasks {
    1 << task
}

/// The tasks of a set, in order.
pub(super) fn members(mut tasks: Tasks) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let task = (tasks != 0).then(|| tasks.trailing_zeros() as usize);
        tasks &= tasks.wrapping_sub(1);
        task
    })
}

/// Who goes on if nothing speaks against it: the one that runs, or else the first. Names of schedules count from this.
pub(super) fn first_choice(enabled: Tasks, current: Option<usize>) -> usize {
    match current {
        Some(task) if enabled & only(task) != 0 => task,
        _ => enabled.trailing_zeros() as usize,
    }
}

/// What a task will do next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The access it begins with, if it begins with one.
    pub(super) access: Option<Access>,
    /// Whether it begins with a call.
    pub(super) calls: bool,
}

/// What a task did between two points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) task: usize,
    pub(super) access: Option<Access>,
    /// Whether the access may have changed something. Until it is known, it may have.
    pub(super) wrote: bool,
    /// Whether an operation was called in it.
    pub(super) called: bool,
    /// Whether an operation returned in it.
    pub(super) returned: bool,
    /// Who was woken in it.
    pub(super) woke: Tasks,
}

impl Transition {
    /// What `task` is about to do.
    pub(super) fn of(task: usize, pending: Pending) -> Self {
        let wrote = pending.access.is_some_and(|access| access.kind != AccessKind::Load);
        Self { task, access: pending.access, wrote, called: pending.calls, returned: false, woke: 0 }
    }

    /// Whether it matters which of two transitions of different tasks comes first.
    ///
    /// It does if they access the same primitive and one of them may change it; and if one calls an operation and the
    /// other returns from one, as the history is another then. Two calls, or two returns, may change places.
    pub(super) fn depends_on(&self, other: &Self) -> bool {
        if (self.called && other.returned) || (self.returned && other.called) {
            return true;
        }
        let (Some(mine), Some(others)) = (self.access, other.access) else { return false };
        if mine.kind == AccessKind::Unknown || others.kind == AccessKind::Unknown {
            return true;
        }
        let is_shared = [mine.place, mine.other]
            .iter()
            .flatten()
            .any(|place| others.place == Some(*place) || others.other == Some(*place));
        is_shared && (self.wrote || other.wrote)
    }
}

/// What is known when it is decided who goes on.
pub(super) struct View<'v> {
    /// Who can go on. There is one.
    pub(super) enabled: Tasks,
    /// Who did the last transition.
    pub(super) current: Option<usize>,
    /// Whether it is between two of its operations.
    pub(super) is_between: bool,
    /// By task: what it will do.
    pub(super) pending: &'v [Pending],
}

impl View<'_> {
    /// Whether going on with this task takes the processor away from another in the middle of an operation.
    pub(super) fn preempts(&self, task: usize) -> bool {
        !self.is_between && self.current.is_some_and(|current| current != task && self.enabled & only(current) != 0)
    }
}

/// Decides who goes on, in one execution after the other.
pub(super) trait Strategy {
    /// Prepares the next execution; whether there is one.
    fn begin(&mut self) -> bool;

    /// Who goes on; nobody, if all that may follow is known already.
    fn schedule(&mut self, view: &View<'_>) -> Option<usize>;

    /// A number below `bound`, as part of the transition that is under way.
    fn choose(&mut self, bound: usize) -> usize;

    /// A transition is over.
    fn observe(&mut self, transition: &Transition);

    /// The execution is over; `pending` is what tasks would do that cannot go on.
    fn end(&mut self, pending: &mut dyn Iterator<Item = (usize, Pending)>) {
        let _ = pending;
    }

    /// Gives away a part of what is left to be explored, if it can be spared.
    fn donate(&mut self) -> Option<super::jobs::Job> {
        None
    }
}
