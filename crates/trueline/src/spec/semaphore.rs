//! A counting semaphore.

use super::mutex::LockRet;
use super::{Initial, Outcomes, Spec, Standard, blocked, outcome};

/// A semaphore with an initial number of permits: a *partial* object, like [`Mutex`](super::Mutex).
///
/// | operation | result | possible | leaves the state unchanged |
/// |---|---|---|---|
/// | `Acquire` | `Done` | while a permit is left | never |
/// | `TryAcquire` | `Taken`: `true` if a permit was left | always | if `false` |
/// | `Release` | `Done` | always | never |
///
/// A release adds a permit, whether or not one was acquired before: as Dijkstra defined it, a semaphore has no maximum
/// number of permits, and starts without permits if it is used for signaling. There are no keys. A state is the number
/// of permits that are left.
///
/// ```
/// use trueline::spec::{Semaphore, SemaphoreOp, Spec};
///
/// let semaphore = Semaphore::new(1);
/// let none_left = semaphore.step(&semaphore.initial(), &SemaphoreOp::Acquire, None).remove(0).1;
/// assert!(semaphore.step(&none_left, &SemaphoreOp::Acquire, None).is_empty());
/// assert_eq!(semaphore.step(&none_left, &SemaphoreOp::Release, None)[0].1, 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Semaphore {
    permits: u64,
}

impl Semaphore {
    /// Creates a semaphore that initially has `permits` permits.
    pub const fn new(permits: u64) -> Self {
        Self { permits }
    }
}

/// An operation of a [`Semaphore`]. Its result is a [`LockRet`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SemaphoreOp {
    /// Takes a permit.
    Acquire,
    /// Takes a permit, if one is left.
    TryAcquire,
    /// Returns a permit, or adds a new one.
    Release,
}

impl Spec for Semaphore {
    type Op = SemaphoreOp;
    type Ret = LockRet;
    type State = u64;
    type Key = ();
    type Value = ();

    fn initial(&self) -> u64 {
        self.permits
    }

    fn step(&self, state: &u64, op: &SemaphoreOp, recorded: Option<&LockRet>) -> Outcomes<LockRet, u64> {
        let (result, next) = match (op, *state) {
            (SemaphoreOp::Acquire, 0) => return blocked(),
            (SemaphoreOp::Acquire, left) => (LockRet::Done, left - 1),
            (SemaphoreOp::TryAcquire, 0) => (LockRet::Taken(false), 0),
            (SemaphoreOp::TryAcquire, left) => (LockRet::Taken(true), left - 1),
            // The count saturates at the maximum. This makes no difference, because no history has
            // enough operations to acquire that many permits.
            (SemaphoreOp::Release, left) => (LockRet::Done, left.saturating_add(1)),
        };
        if recorded.is_some_and(|recorded| *recorded != result) { blocked() } else { outcome(result, next) }
    }

    fn observes(&self, op: &SemaphoreOp, recorded: Option<&LockRet>) -> bool {
        *op == SemaphoreOp::TryAcquire && recorded == Some(&LockRet::Taken(false))
    }

    fn describe_state(&self, state: &u64) -> String {
        match state {
            1 => "1 permit".to_owned(),
            permits => format!("{permits} permits"),
        }
    }

    fn standard<'a>(&'a self, op: &'a SemaphoreOp, recorded: Option<&'a LockRet>) -> Option<Standard<&'a ()>> {
        Some(match (op, recorded) {
            (SemaphoreOp::Acquire, None | Some(LockRet::Done)) => Standard::Acquire,
            // A pending attempt can be treated as successful. An attempt that fails leaves the
            // state unchanged, so it can be left out if it is pending.
            (SemaphoreOp::TryAcquire, None | Some(LockRet::Taken(true))) => Standard::Acquire,
            (SemaphoreOp::Release, None | Some(LockRet::Done)) => Standard::Release,
            _ => return None,
        })
    }

    fn standard_initial(&self) -> Initial<&()> {
        Initial::Permits(self.permits)
    }
}

#[cfg(test)]
mod tests {
    use super::LockRet::{Done, Taken};
    use super::SemaphoreOp::{Acquire, Release, TryAcquire};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        for permits in 0..3 {
            let operations = [Acquire, TryAcquire, Release];
            laws::check(&Semaphore::new(permits), &operations, &[Done, Taken(true), Taken(false)], 1);
            laws::check_observers_are_known(&Semaphore::new(permits), &operations, |_, _| false, 2);
        }
    }

    #[test]
    fn has_so_many_permits() {
        let legal = |sequence: &[(SemaphoreOp, LockRet)]| laws::is_legal(&Semaphore::new(2), sequence);
        let both = vec![(Acquire, Done), (TryAcquire, Taken(true))];
        assert!(!legal(&[both.clone(), vec![(Acquire, Done)]].concat()));
        assert!(!legal(&[both.clone(), vec![(TryAcquire, Taken(true))]].concat()));
        assert!(legal(&[both.clone(), vec![(TryAcquire, Taken(false)), (Release, Done), (Acquire, Done)]].concat()));
        assert!(!legal(&[(TryAcquire, Taken(false))]));
        assert!(legal(&[vec![(Release, Done)], both, vec![(Acquire, Done)]].concat()), "a release adds a permit");
    }
}
