//! `std::sync::Mutex`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync as real;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::lock::{BeforeRelease, Lock, Release};
use crate::world::Place;

/// A replacement for `std`'s `Mutex`, with a schedule point before the lock is taken and before it
/// is released.
///
/// ```
/// use trueline_sync::sync::Mutex;
///
/// let number = Mutex::new(1);
/// *number.lock().unwrap() += 1;
/// assert_eq!(number.into_inner().unwrap(), 2);
/// ```
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    real: real::Mutex<T>,
}

impl<T> Mutex<T> {
    /// Creates a lock around this value.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self { real: real::Mutex::new(value) }
    }

    /// Returns the value, and consumes the lock.
    ///
    /// # Errors
    /// Returns the value in an error if the mutex is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.real.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    fn of_world(&self) -> Lock {
        Lock { place: Place::of(self), type_name: "Mutex", may_end: false }
    }

    #[track_caller]
    fn guard<'m>(&'m self, real: real::MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        let (before, release) = self.of_world().release();
        MutexGuard { before, real, release, mutex: self }
    }

    /// Waits until no other thread holds the lock, and takes it.
    ///
    /// # Errors
    /// Returns the guard in an error if the mutex is poisoned.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        match self.of_world().lock(&self.real) {
            Ok(real) => Ok(self.guard(real)),
            Err(poisoned) => Err(PoisonError::new(self.guard(poisoned.into_inner()))),
        }
    }

    /// Takes the lock if no other thread holds it.
    ///
    /// # Errors
    /// Fails if another thread holds the lock, or if the mutex is poisoned.
    #[inline]
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        match self.of_world().try_lock(&self.real) {
            Ok(real) => Ok(self.guard(real)),
            Err(TryLockError::Poisoned(poisoned)) => {
                Err(TryLockError::Poisoned(PoisonError::new(self.guard(poisoned.into_inner()))))
            }
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
        }
    }

    /// Returns whether a thread has panicked while holding the lock.
    pub fn is_poisoned(&self) -> bool {
        self.real.is_poisoned()
    }

    /// Makes the mutex usable again after a panic.
    pub fn clear_poison(&self) {
        self.real.clear_poison();
    }

    /// Returns a mutable reference to the value. The mutex is not locked, because no other thread
    /// has access.
    ///
    /// # Errors
    /// Returns the value in an error if the mutex is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.real.get_mut()
    }
}

impl<T> From<T> for Mutex<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

/// Holds a [`Mutex`], and gives access to its value.
#[must_use = "if unused the Mutex will immediately unlock"]
pub struct MutexGuard<'m, T: ?Sized> {
    // Fields are dropped in this order: dropping `before` runs the schedule point, dropping `real` releases the lock,
    // and dropping `release` wakes the waiting threads.
    before: BeforeRelease,
    real: real::MutexGuard<'m, T>,
    release: Release,
    mutex: &'m Mutex<T>,
}

impl<'m, T: ?Sized> MutexGuard<'m, T> {
    pub(super) fn mutex(&self) -> &'m Mutex<T> {
        self.mutex
    }

    /// Records that the lock is released in order to wait on `condvar`.
    #[track_caller]
    pub(super) fn will_wait(&mut self, condvar: Place) {
        self.before.will_wait(condvar);
    }

    /// Passes the `std` guard to `wait`, and wraps the `std` guard that `wait` returns.
    pub(super) fn map<R>(
        self,
        wait: impl FnOnce(real::MutexGuard<'m, T>) -> (LockResult<real::MutexGuard<'m, T>>, R),
    ) -> (LockResult<Self>, R) {
        let Self { before, real, release, mutex } = self;
        let (real, result) = wait(real);
        let guard = match real {
            Ok(real) => Ok(Self { before, real, release, mutex }),
            Err(poisoned) => Err(PoisonError::new(Self { before, real: poisoned.into_inner(), release, mutex })),
        };
        (guard, result)
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.real
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.real
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}
