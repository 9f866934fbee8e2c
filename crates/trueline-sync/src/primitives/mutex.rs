//! A mutex that a world can schedule.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync;
use std::sync::{PoisonError, TryLockError};

use crate::lock::{BeforeRelease, Lock, Release};
use crate::world::Place;

/// A lock around a value: `std`'s mutex, with a schedule point before the lock is taken and before it is released.
///
/// The lock is never poisoned. If the [`World`](super::World) of a thread blocks threads, it blocks the thread while
/// the thread waits for the lock. A thread that has entered a [cancellation](super::Cancellation) can be canceled while
/// it waits for the lock. For this, the thread spins while it waits, unless a world blocks it.
///
/// ```
/// use trueline_sync::primitives::Mutex;
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
    /// Creates a lock around this value.
    pub const fn new(value: T) -> Self {
        Self { value: sync::Mutex::new(value) }
    }

    /// Waits until no other thread holds the lock, and takes it.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        let value = self.of_world().lock(&self.value).unwrap_or_else(PoisonError::into_inner);
        self.guard(value)
    }

    /// Takes the lock if no other thread holds it.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        let value = match self.of_world().try_lock(&self.value) {
            Ok(value) => value,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(self.guard(value))
    }

    fn of_world(&self) -> Lock {
        Lock { place: Place::of(self), type_name: "", may_end: true }
    }

    #[track_caller]
    fn guard<'m>(&'m self, value: sync::MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        let (before, release) = self.of_world().release();
        MutexGuard { before, value, _release: release, mutex: self }
    }

    /// Returns a mutable reference to the value. The mutex is not locked, because no other thread
    /// has access.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value, and consumes the lock.
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

/// Holds the lock of a [`Mutex`] and gives access to its value; releases the lock when dropped.
#[must_use = "the lock is released when the guard is dropped"]
pub struct MutexGuard<'m, T> {
    // Fields are dropped in this order: dropping `before` runs the schedule point, dropping `value` releases the lock,
    // and dropping `_release` wakes the waiting threads.
    before: BeforeRelease,
    value: sync::MutexGuard<'m, T>,
    _release: Release,
    mutex: &'m Mutex<T>,
}

impl<'m, T> MutexGuard<'m, T> {
    pub(super) fn mutex(&self) -> &'m Mutex<T> {
        self.mutex
    }

    /// Records that the lock is released in order to wait on `condvar`.
    #[track_caller]
    pub(super) fn will_wait(&mut self, condvar: Place) {
        self.before.will_wait(condvar);
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
        *mutex.try_lock().expect("the lock is free") += 1;
        *mutex.get_mut() += 1;
        assert_eq!(mutex.into_inner(), 3);
    }
}
