//! Strategies decide which task runs next.

use crate::primitives::{Access, AccessKind};

/// A set of tasks, with one bit for each task.
pub(super) type Tasks = u64;

/// The maximum number of tasks of a program.
pub(super) const MOST_TASKS: usize = 64;

/// Returns the set with one task.
pub(super) fn only(task: usize) -> Tasks {
    1 << task
}

/// Returns the tasks of a set, in order.
pub(super) fn members(mut tasks: Tasks) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let task = (tasks != 0).then(|| tasks.trailing_zeros() as usize);
        tasks &= tasks.wrapping_sub(1);
        task
    })
}

/// Returns the task that runs next by default: the current task if it is enabled, otherwise the
/// first enabled task. The name of a schedule describes the differences from this choice.
pub(super) fn first_choice(enabled: Tasks, current: Option<usize>) -> usize {
    match current {
        Some(task) if enabled & only(task) != 0 => task,
        _ => enabled.trailing_zeros() as usize,
    }
}

/// The next action of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The access that the action begins with, if any.
    pub(super) access: Option<Access>,
    /// Whether the action begins with a call.
    pub(super) calls: bool,
}

/// The part of a task's execution between two schedule points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transition {
    pub(super) task: usize,
    pub(super) access: Option<Access>,
    /// Whether the access may have changed the primitive: `true` until it is known that the access
    /// did not change it.
    pub(super) wrote: bool,
    /// Whether an operation was called in this transition.
    pub(super) called: bool,
    /// Whether an operation returned in this transition.
    pub(super) returned: bool,
    /// The tasks that the transition woke.
    pub(super) woke: Tasks,
}

impl Transition {
    /// Returns what is known about the next transition of `task`, before the transition is executed.
    pub(super) fn of(task: usize, pending: Pending) -> Self {
        let wrote = pending.access.is_some_and(|access| access.kind != AccessKind::Load);
        Self { task, access: pending.access, wrote, called: pending.calls, returned: false, woke: 0 }
    }

    /// Returns whether the order of two transitions of different tasks matters.
    ///
    /// The order matters if both access the same primitive and one of them may change it. It also matters if one
    /// calls an operation and the other returns from one, because the history is then different. Two calls, or two
    /// returns, may be swapped.
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

/// The information that a strategy bases its decision on.
pub(super) struct View<'v> {
    /// The tasks that can run. There is at least one.
    pub(super) enabled: Tasks,
    /// The task of the last transition.
    pub(super) current: Option<usize>,
    /// Whether the current task is between two of its operations.
    pub(super) is_between: bool,
    /// The next action of each task.
    pub(super) pending: &'v [Pending],
}

impl View<'_> {
    /// Returns whether running this task preempts another task in the middle of an operation.
    pub(super) fn preempts(&self, task: usize) -> bool {
        !self.is_between && self.current.is_some_and(|current| current != task && self.enabled & only(current) != 0)
    }
}

/// Decides which task runs next, in one execution after another.
pub(super) trait Strategy {
    /// Prepares the next execution. Returns whether there is one.
    fn begin(&mut self) -> bool;

    /// Returns the task to run next, or `None` if all continuations of the execution are explored elsewhere.
    fn schedule(&mut self, view: &View<'_>) -> Option<usize>;

    /// Returns a number below `bound`, as a choice of the current transition.
    fn choose(&mut self, bound: usize) -> usize;

    /// Reports that a transition has ended.
    fn observe(&mut self, transition: &Transition);

    /// Reports that the execution has ended; `pending` gives the next transitions of blocked tasks.
    fn end(&mut self, pending: &mut dyn Iterator<Item = (usize, Pending)>) {
        let _ = pending;
    }

    /// Splits off a part of the remaining exploration for another thread. Returns `None` if nothing
    /// can be split off.
    fn donate(&mut self) -> Option<super::jobs::Job> {
        None
    }
}
