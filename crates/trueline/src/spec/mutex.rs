//! A mutual exclusion lock.

use super::{Outcomes, Spec, blocked, outcome};

/// A lock that is free at first: a *partial* object, whose operations may be impossible in a state.
///
/// | operation | result | possible |
/// |---|---|---|
/// | `Acquire { by }` | `()` | while the lock is free |
/// | `Release { by }` | `()` | while the lock is held, and not by another owner |
///
/// `by` tells who calls. With `None` owners are not looked at: any release matches any acquire. With `Some` on both
/// sides only the owner may release; a lock that was acquired without an owner may be released by anyone.
///
/// No operation observes: each one that is possible changes the state. There are no keys. The state is `None` while the
/// lock is free and `Some(by)` while it is held; it has nothing on the heap.
///
/// ```
/// use trueline::spec::{Mutex, MutexOp, Spec};
///
/// let mutex = Mutex::new();
/// let held = mutex.step(&mutex.initial(), &MutexOp::Acquire { by: Some(1) }, None).remove(0).1;
/// assert!(mutex.step(&held, &MutexOp::Acquire { by: Some(2) }, None).is_empty());
/// assert!(mutex.step(&held, &MutexOp::Release { by: Some(2) }, None).is_empty());
/// assert_eq!(mutex.step(&held, &MutexOp::Release { by: Some(1) }, None)[0].1, mutex.initial());
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Mutex;

impl Mutex {
    /// The lock that is free at first.
    pub const fn new() -> Self {
        Self
    }
}

/// An operation of a [`Mutex`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MutexOp {
    /// Takes the lock.
    Acquire {
        /// Who calls, if that matters.
        by: Option<u32>,
    },
    /// Gives the lock back.
    Release {
        /// Who calls, if that matters.
        by: Option<u32>,
    },
}

impl Spec for Mutex {
    type Op = MutexOp;
    type Ret = ();
    type State = Option<Option<u32>>;
    type Key = ();

    fn initial(&self) -> Option<Option<u32>> {
        None
    }

    fn step(
        &self,
        state: &Option<Option<u32>>,
        op: &MutexOp,
        _recorded: Option<&()>,
    ) -> Outcomes<(), Option<Option<u32>>> {
        match (op, state) {
            (MutexOp::Acquire { by }, None) => outcome((), Some(*by)),
            (MutexOp::Release { by: Some(caller) }, Some(Some(owner))) if caller != owner => blocked(),
            (MutexOp::Release { .. }, Some(_)) => outcome((), None),
            (MutexOp::Acquire { .. }, Some(_)) | (MutexOp::Release { .. }, None) => blocked(),
        }
    }

    fn describe_state(&self, state: &Option<Option<u32>>) -> String {
        match state {
            None => "free".to_owned(),
            Some(None) => "held".to_owned(),
            Some(Some(owner)) => format!("held by {owner}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::register::laws;
    use super::MutexOp::{Acquire, Release};
    use super::*;

    fn legal(operations: &[MutexOp]) -> bool {
        let sequence: Vec<(MutexOp, ())> = operations.iter().map(|operation| (operation.clone(), ())).collect();
        laws::is_legal(&Mutex::new(), &sequence)
    }

    #[test]
    fn keeps_the_laws() {
        let callers = [None, Some(1), Some(2)];
        let operations: Vec<_> = callers.into_iter().flat_map(|by| [Acquire { by }, Release { by }]).collect();
        laws::check(&Mutex::new(), &operations, &[()], 1);
        laws::check_observers_are_known(&Mutex::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn acquire_and_release_alternate() {
        let (acquire, release) = (Acquire { by: None }, Release { by: None });
        assert!(legal(&[acquire.clone(), release.clone(), acquire.clone()]));
        assert!(!legal(&[acquire.clone(), acquire]));
        assert!(!legal(&[release]));
    }

    #[test]
    fn owners_count_where_both_are_known() {
        let (one, two) = (Some(1), Some(2));
        assert!(legal(&[Acquire { by: one }, Release { by: one }, Acquire { by: two }]));
        assert!(!legal(&[Acquire { by: one }, Release { by: two }]));
        assert!(legal(&[Acquire { by: one }, Release { by: None }]));
        assert!(legal(&[Acquire { by: None }, Release { by: two }]));
    }

    #[test]
    fn states_are_described_in_words() {
        let described = [None, Some(None), Some(Some(3))].map(|state| Mutex::new().describe_state(&state));
        assert_eq!(described, ["free", "held", "held by 3"]);
    }
}
