//! A mutual exclusion lock.

use super::{Spec, Standard, Steps, blocked, outcome};

/// A lock, initially free: a *partial* object, some of whose operations are impossible in some states.
///
/// | operation | result | possible | leaves the state unchanged |
/// |---|---|---|---|
/// | `Acquire { by }` | `Done` | while the lock is free | never |
/// | `TryAcquire { by }` | `Taken`: `true` if the lock was free | always | if `false` |
/// | `Release { by }` | `Done` | while the lock is held, except by a different owner | never |
///
/// `by` identifies the caller. With `None`, owners are ignored: any release matches any acquire. If both the acquire
/// and the release have `Some`, only the owner may release the lock. A lock that was acquired without an owner may be
/// released by any caller.
///
/// An attempt fails if and only if the lock is held, even if the caller itself holds it. A lock
/// whose attempts may fail spuriously needs a different specification. There are no keys. The state
/// is `None` while the lock is free and `Some(by)` while it is held; it uses no heap.
///
/// ```
/// use trueline::spec::{LockRet, Mutex, MutexOp, Spec};
///
/// let mutex = Mutex::new();
/// let held = mutex.step(&mutex.initial(), &MutexOp::Acquire { by: Some(1) }, None).remove(0).1;
/// assert!(mutex.step(&held, &MutexOp::Acquire { by: Some(2) }, None).is_empty());
/// assert_eq!(mutex.step(&held, &MutexOp::TryAcquire { by: Some(2) }, None)[0].0, LockRet::Taken(false));
/// assert!(mutex.step(&held, &MutexOp::Release { by: Some(2) }, None).is_empty());
/// assert_eq!(mutex.step(&held, &MutexOp::Release { by: Some(1) }, None)[0].1, mutex.initial());
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Mutex;

impl Mutex {
    /// Creates a lock that is initially free.
    pub const fn new() -> Self {
        Self
    }
}

/// An operation of a [`Mutex`]. Its result is a [`LockRet`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MutexOp {
    /// Takes the lock.
    Acquire {
        /// The caller; `None` if owners are ignored.
        by: Option<u32>,
    },
    /// Takes the lock, if it is free.
    TryAcquire {
        /// The caller; `None` if owners are ignored.
        by: Option<u32>,
    },
    /// Releases the lock.
    Release {
        /// The caller; `None` if owners are ignored.
        by: Option<u32>,
    },
}

/// A result of an operation of a lock: a [`Mutex`], a [`RwLock`](super::RwLock) or a [`Semaphore`](super::Semaphore).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LockRet {
    /// The operation took place. This is the result of operations that wait until they are
    /// possible.
    Done,
    /// Whether an operation that fails instead of waiting has taken the lock or the permit.
    Taken(bool),
}

impl Spec for Mutex {
    type Op = MutexOp;
    type Ret = LockRet;
    type State = Option<Option<u32>>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Option<Option<u32>> {
        None
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let (result, next) = match (op, state) {
            (MutexOp::Acquire { by }, None) => (LockRet::Done, Some(*by)),
            (MutexOp::TryAcquire { by }, None) => (LockRet::Taken(true), Some(*by)),
            (MutexOp::TryAcquire { .. }, Some(_)) => (LockRet::Taken(false), *state),
            (MutexOp::Release { by: Some(caller) }, Some(Some(owner))) if caller != owner => return blocked(),
            (MutexOp::Release { .. }, Some(_)) => (LockRet::Done, None),
            (MutexOp::Acquire { .. }, Some(_)) | (MutexOp::Release { .. }, None) => return blocked(),
        };
        if recorded.is_some_and(|recorded| *recorded != result) { blocked() } else { outcome(result, next) }
    }

    fn leads_to(&self, op: &MutexOp, recorded: &LockRet) -> Option<Option<Option<u32>>> {
        match (op, recorded) {
            (MutexOp::Acquire { by }, LockRet::Done) | (MutexOp::TryAcquire { by }, LockRet::Taken(true)) => {
                Some(Some(*by))
            }
            (MutexOp::Release { .. }, LockRet::Done) => Some(None),
            _ => None,
        }
    }

    fn observes(&self, op: &MutexOp, recorded: Option<&LockRet>) -> bool {
        matches!(op, MutexOp::TryAcquire { .. }) && recorded == Some(&LockRet::Taken(false))
    }

    fn describe_state(&self, state: &Option<Option<u32>>) -> String {
        match state {
            None => "free".to_owned(),
            Some(None) => "held".to_owned(),
            Some(Some(owner)) => format!("held by process {owner}"),
        }
    }

    fn standard<'a>(&'a self, op: &'a MutexOp, recorded: Option<&'a LockRet>) -> Option<Standard<&'a ()>> {
        Some(match (op, recorded) {
            (MutexOp::Acquire { by }, None | Some(LockRet::Done)) => Standard::Lock { by: *by },
            // A pending attempt can be treated as successful. An attempt that fails leaves the
            // state unchanged, so it can be left out if it is pending.
            (MutexOp::TryAcquire { by }, None | Some(LockRet::Taken(true))) => Standard::Lock { by: *by },
            (MutexOp::TryAcquire { .. }, Some(LockRet::Taken(false))) => Standard::LockFailed,
            (MutexOp::Release { by }, None | Some(LockRet::Done)) => Standard::Unlock { by: *by },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LockRet::{Done, Taken};
    use super::MutexOp::{Acquire, Release, TryAcquire};
    use super::*;
    use crate::spec::laws;

    fn legal(sequence: &[(MutexOp, LockRet)]) -> bool {
        laws::is_legal(&Mutex::new(), sequence)
    }

    fn acquire(by: Option<u32>) -> (MutexOp, LockRet) {
        (Acquire { by }, Done)
    }

    fn try_acquire(by: Option<u32>, taken: bool) -> (MutexOp, LockRet) {
        (TryAcquire { by }, Taken(taken))
    }

    fn release(by: Option<u32>) -> (MutexOp, LockRet) {
        (Release { by }, Done)
    }

    #[test]
    fn keeps_the_laws() {
        let callers = [None, Some(1), Some(2)];
        let of = |by| [Acquire { by }, TryAcquire { by }, Release { by }];
        let operations: Vec<_> = callers.into_iter().flat_map(of).collect();
        laws::check(&Mutex::new(), &operations, &[Done, Taken(true), Taken(false)], 1);
        laws::check_observers_are_known(&Mutex::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn acquire_and_release_alternate() {
        assert!(legal(&[acquire(None), release(None), acquire(None)]));
        assert!(!legal(&[acquire(None), acquire(None)]));
        assert!(!legal(&[release(None)]));
    }

    #[test]
    fn a_try_fails_if_and_only_if_the_lock_is_held() {
        assert!(legal(&[try_acquire(None, true), try_acquire(None, false), release(None), acquire(None)]));
        assert!(!legal(&[try_acquire(None, false)]));
        assert!(!legal(&[acquire(None), try_acquire(None, true)]));
        assert!(legal(&[acquire(Some(1)), try_acquire(Some(1), false)]), "the lock is not reentrant");
        assert!(!legal(&[(TryAcquire { by: None }, Done)]));
    }

    #[test]
    fn owners_count_where_both_are_known() {
        let (one, two) = (Some(1), Some(2));
        assert!(legal(&[acquire(one), release(one), acquire(two)]));
        assert!(!legal(&[acquire(one), release(two)]));
        assert!(!legal(&[try_acquire(one, true), release(two)]));
        assert!(legal(&[acquire(one), release(None)]));
        assert!(legal(&[acquire(None), release(two)]));
    }

    #[test]
    fn states_are_described_in_words() {
        let described = [None, Some(None), Some(Some(3))].map(|state| Mutex::new().describe_state(&state));
        assert_eq!(described, ["free", "held", "held by process 3"]);
    }
}
