//! A lock that many readers or one writer can hold.

use super::mutex::LockRet;
use super::{Outcomes, Spec, Standard, blocked, outcome};

/// A read-write lock, initially free, that any number of readers or one writer can hold: a *partial* object, like
/// [`Mutex`](super::Mutex).
///
/// | operation | result | possible | leaves the state unchanged |
/// |---|---|---|---|
/// | `ReadLock` | `Done` | while no writer holds the lock | never |
/// | `TryReadLock` | `Taken`: `true` if no writer held the lock | always | if `false` |
/// | `ReadUnlock` | `Done` | while a reader holds the lock | never |
/// | `WriteLock` | `Done` | while the lock is free | never |
/// | `TryWriteLock` | `Taken`: `true` if the lock was free | always | if `false` |
/// | `WriteUnlock` | `Done` | while a writer holds the lock | never |
///
/// Owners are ignored. An attempt fails if and only if the lock cannot be taken. A lock whose
/// attempts may fail spuriously, or because a writer is waiting, needs a different specification.
/// There are no keys, and a state uses no heap.
///
/// ```
/// use trueline::spec::{RwLock, RwLockOp, Spec};
///
/// let lock = RwLock::new();
/// let one = lock.step(&lock.initial(), &RwLockOp::ReadLock, None).remove(0).1;
/// let two = lock.step(&one, &RwLockOp::ReadLock, None).remove(0).1;
/// assert!(lock.step(&two, &RwLockOp::WriteLock, None).is_empty());
/// assert_eq!(lock.describe_state(&two), "held by 2 readers");
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct RwLock;

impl RwLock {
    /// Creates a lock that is initially free.
    pub const fn new() -> Self {
        Self
    }
}

/// An operation of a [`RwLock`]. Its result is a [`LockRet`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum RwLockOp {
    /// Takes the lock for reading.
    ReadLock,
    /// Takes the lock for reading, if that is possible without waiting.
    TryReadLock,
    /// Releases the lock after reading.
    ReadUnlock,
    /// Takes the lock for writing.
    WriteLock,
    /// Takes the lock for writing, if that is possible without waiting.
    TryWriteLock,
    /// Releases the lock after writing.
    WriteUnlock,
}

/// A state of a [`RwLock`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RwLockState {
    /// Held by this many readers; free if 0.
    Readers(u32),
    /// Held by a writer.
    Writer,
}

impl Spec for RwLock {
    type Op = RwLockOp;
    type Ret = LockRet;
    type State = RwLockState;
    type Key = ();
    type Value = ();

    fn initial(&self) -> RwLockState {
        RwLockState::Readers(0)
    }

    fn step(&self, state: &RwLockState, op: &RwLockOp, recorded: Option<&LockRet>) -> Outcomes<LockRet, RwLockState> {
        use RwLockState::{Readers, Writer};
        let (result, next) = match (op, *state) {
            (RwLockOp::ReadLock, Readers(count)) => (LockRet::Done, Readers(count + 1)),
            (RwLockOp::TryReadLock, Readers(count)) => (LockRet::Taken(true), Readers(count + 1)),
            (RwLockOp::ReadUnlock, Readers(count @ 1..)) => (LockRet::Done, Readers(count - 1)),
            (RwLockOp::WriteLock, Readers(0)) => (LockRet::Done, Writer),
            (RwLockOp::TryWriteLock, Readers(0)) => (LockRet::Taken(true), Writer),
            (RwLockOp::WriteUnlock, Writer) => (LockRet::Done, Readers(0)),
            (RwLockOp::TryReadLock | RwLockOp::TryWriteLock, held) => (LockRet::Taken(false), held),
            (RwLockOp::ReadLock | RwLockOp::ReadUnlock | RwLockOp::WriteLock | RwLockOp::WriteUnlock, _) => {
                return blocked();
            }
        };
        if recorded.is_some_and(|recorded| *recorded != result) { blocked() } else { outcome(result, next) }
    }

    fn leads_to(&self, op: &RwLockOp, recorded: &LockRet) -> Option<RwLockState> {
        match (op, recorded) {
            (RwLockOp::WriteLock, LockRet::Done) | (RwLockOp::TryWriteLock, LockRet::Taken(true)) => {
                Some(RwLockState::Writer)
            }
            (RwLockOp::WriteUnlock, LockRet::Done) => Some(RwLockState::Readers(0)),
            _ => None,
        }
    }

    fn observes(&self, op: &RwLockOp, recorded: Option<&LockRet>) -> bool {
        matches!(op, RwLockOp::TryReadLock | RwLockOp::TryWriteLock) && recorded == Some(&LockRet::Taken(false))
    }

    fn describe_state(&self, state: &RwLockState) -> String {
        match state {
            RwLockState::Readers(0) => "free".to_owned(),
            RwLockState::Readers(1) => "held by a reader".to_owned(),
            RwLockState::Readers(count) => format!("held by {count} readers"),
            RwLockState::Writer => "held by a writer".to_owned(),
        }
    }

    fn standard<'a>(&'a self, op: &'a RwLockOp, recorded: Option<&'a LockRet>) -> Option<Standard<&'a ()>> {
        Some(match (op, recorded) {
            (RwLockOp::ReadLock, None | Some(LockRet::Done)) => Standard::LockShared { by: None },
            (RwLockOp::WriteLock, None | Some(LockRet::Done)) => Standard::Lock { by: None },
            // A pending attempt can be treated as successful. An attempt that fails leaves the
            // state unchanged, so it can be left out if it is pending.
            (RwLockOp::TryReadLock, None | Some(LockRet::Taken(true))) => Standard::LockShared { by: None },
            (RwLockOp::TryWriteLock, None | Some(LockRet::Taken(true))) => Standard::Lock { by: None },
            (RwLockOp::ReadUnlock, None | Some(LockRet::Done)) => Standard::UnlockShared { by: None },
            (RwLockOp::WriteUnlock, None | Some(LockRet::Done)) => Standard::Unlock { by: None },
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LockRet::{Done, Taken};
    use super::RwLockOp::{ReadLock, ReadUnlock, TryReadLock, TryWriteLock, WriteLock, WriteUnlock};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations =
            [ReadLock, TryReadLock, ReadUnlock, ReadUnlock, ReadUnlock, WriteLock, TryWriteLock, WriteUnlock];
        laws::check(&RwLock::new(), &operations, &[Done, Taken(true), Taken(false)], 1);
        laws::check_observers_are_known(&RwLock::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let legal = |sequence: &[(RwLockOp, LockRet)]| laws::is_legal(&RwLock::new(), sequence);
        let readers = vec![(ReadLock, Done), (TryReadLock, Taken(true)), (TryWriteLock, Taken(false))];
        assert!(legal(&readers));
        assert!(!legal(&[readers.clone(), vec![(ReadUnlock, Done), (WriteLock, Done)]].concat()));
        let unlocks = vec![(ReadUnlock, Done), (ReadUnlock, Done), (WriteLock, Done), (TryReadLock, Taken(false))];
        assert!(legal(&[readers, unlocks.clone()].concat()));
        assert!(!legal(&[(WriteLock, Done), (ReadLock, Done)]));
        assert!(!legal(&[(WriteLock, Done), (ReadUnlock, Done)]));
        assert!(!legal(&[(ReadLock, Done), (WriteUnlock, Done)]));
        assert!(!legal(&[(TryReadLock, Taken(false))]));
        assert!(legal(&[(WriteLock, Done), (WriteUnlock, Done), (ReadLock, Done)]));
    }
}
