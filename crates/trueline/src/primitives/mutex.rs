//! Mutual exclusion that a world can schedule.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync;
use std::sync::{PoisonError, TryLockError};

use super::world::{self, Access, AccessKind, Place, Wake};
use super::{cancel, spin_hint};

/// A lock around a value: `std`'s, with a schedule point before it is taken and before it is released.
///
/// It is never poisoned. A thread that waits for it blocks in the way of its [`World`](super::World), and can be
/// [cancelled](super::Cancellation); one that can be cancelled waits by spinning.
///
/// ```
/// use trueline::primitives::Mutex;
///
/// let mutex = Mutex::new(1);
/// *mutex.lock() += 1;
/// let guard = mutex.lock();
/// assert!(mutex.try_lock().is_none());
/// assert_eq!(*guard, 2);
/// ```
#[derive(Default)]
pub struct Mutex<T> {
    value: sync::Mutex<T>,
}

impl<T> Mutex<T> {
    /// A lock around this value.
    pub const fn new(value: T) -> Self {
        Self { value: sync::Mutex::new(value) }
    }

    /// Waits until nobody else holds the lock, and takes it.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        world::point_at(Access::new(AccessKind::Lock, Place::of(self)), "lock");
        let value = match self.value.try_lock() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => self.wait(),
        };
        self.guard(value)
    }

    #[cold]
    fn wait(&self) -> sync::MutexGuard<'_, T> {
        let world = world::current();
        let blocking = world.as_ref().and_then(|world| world.blocking());
        if blocking.is_none() && !cancel::is_cancellable() {
            return self.value.lock().unwrap_or_else(PoisonError::into_inner);
        }
        let locking = blocking.is_none().then(cancel::Locking::begin);
        loop {
            match blocking {
                Some(blocking) => {
                    blocking.block(Place::of(self));
                    cancel::check();
                }
                None => spin_hint(),
            }
            match self.value.try_lock() {
                Ok(value) => return value,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => {
                    if let Some(locking) = &locking {
                        locking.tried_in_vain();
                    }
                }
            }
        }
    }

    /// Takes the lock if nobody else holds it.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let access = Access::new(AccessKind::TryLock, Place::of(self));
        world::point_at(access, "try_lock");
        let value = match self.value.try_lock() {
            Ok(value) => Some(value),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        world::tell(access, "try_lock", (0, u64::from(value.is_some())));
        // Not by `map`: the guard remembers who has called.
        Some(self.guard(value?))
    }

    #[track_caller]
    fn guard<'m>(&'m self, value: sync::MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        let unlock = Access::new(AccessKind::Unlock, Place::of(self));
        MutexGuard { before: BeforeRelease(unlock, Location::caller()), value, release: Release { mutex: self } }
    }

    /// The value, without locking: nobody else has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, at last.
    pub fn into_inner(self) -> T {
        self.value.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// Holds a [`Mutex`] and gives access to its value; releases it when dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'m, T> {
    // Fields are dropped in this order: a schedule point, the release, and word of it.
    before: BeforeRelease,
    value: sync::MutexGuard<'m, T>,
    release: Release<'m, T>,
}

impl<'m, T> MutexGuard<'m, T> {
    pub(super) fn mutex(&self) -> &'m Mutex<T> {
        self.release.mutex
    }

    /// Says that the lock is released in order to wait there.
    #[track_caller]
    pub(super) fn will_wait(&mut self, condvar: Place) {
        let BeforeRelease(Access { kind, other, .. }, location) = &mut self.before;
        (*kind, *other, *location) = (AccessKind::Wait, Some(condvar), Location::caller());
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// What will happen, and where the lock was taken: where a guard is dropped cannot be told.
struct BeforeRelease(Access, &'static Location<'static>);

impl Drop for BeforeRelease {
    #[inline]
    fn drop(&mut self) {
        let name = if self.0.kind == AccessKind::Wait { "wait" } else { "unlock" };
        world::point_of_release(self.0, name, self.1);
    }
}

struct Release<'m, T> {
    mutex: &'m Mutex<T>,
}

impl<T> Drop for Release<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(world) = world::current() {
            if let Some(blocking) = world.blocking() {
                // All, because any of those who wait may be the next, and so may one who does not yet.
                blocking.wake(Place::of(self.mutex), Wake::All);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
    use std::thread;

    use super::*;
    use crate::primitives::Cancellation;

    fn count_together(cancellation: Option<&Cancellation>) -> u32 {
        let mutex = Mutex::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _cancellable = cancellation.map(Cancellation::enter);
                    for _ in 0..1000 {
                        *mutex.lock() += 1;
                    }
                });
            }
        });
        mutex.into_inner()
    }

    #[test]
    fn excludes() {
        assert_eq!(count_together(None), 4000);
        assert_eq!(count_together(Some(&Cancellation::new())), 4000);
    }

    #[test]
    fn is_never_poisoned() {
        let mut mutex = Mutex::new(0);
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let _guard = mutex.lock();
            resume_unwind(Box::new(()));
        }));
        assert!(panic.is_err());
        *mutex.lock() += 1;
        *mutex.try_lock().expect("it is free") += 1;
        *mutex.get_mut() += 1;
        assert_eq!(mutex.into_inner(), 3);
    }
}
