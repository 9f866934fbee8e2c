//! `std::sync::Condvar`.

use std::fmt;
use std::sync as real;
use std::sync::{LockResult, PoisonError};
use std::time::{Duration, Instant};

use super::MutexGuard;
use crate::world::{self, Access, AccessKind, Named, Place, Wake};

/// A replacement for `std`'s `Condvar`, with schedule points. If a scheduler controls the threads,
/// time is not measured: the scheduler chooses when a time limit expires.
///
/// ```
/// use std::time::Duration;
/// use trueline_sync::sync::{Condvar, Mutex};
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// let (guard, result) = changed.wait_timeout(ready.lock().unwrap(), Duration::ZERO).unwrap();
/// assert!(result.timed_out() && !*guard);
/// ```
#[derive(Default)]
pub struct Condvar {
    real: real::Condvar,
}

/// Whether a wait ended because its time limit expired.
#[derive(Debug, PartialEq, Eq, Copy, Clone)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Returns whether the time limit expired.
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

/// The result of a wait with a time limit.
type Waited<'m, T> = LockResult<(MutexGuard<'m, T>, WaitTimeoutResult)>;

fn with<G, R>(guard: LockResult<G>, result: R) -> LockResult<(G, R)> {
    match guard {
        Ok(guard) => Ok((guard, result)),
        Err(poisoned) => Err(PoisonError::new((poisoned.into_inner(), result))),
    }
}

impl Condvar {
    /// Creates a condition variable that no thread waits on.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { real: real::Condvar::new() }
    }

    /// Releases the lock, waits to be notified, and takes the lock again.
    ///
    /// # Errors
    /// Returns the guard in an error if the mutex is poisoned.
    #[track_caller]
    pub fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> LockResult<MutexGuard<'m, T>> {
        if world::blocks() {
            let mutex = self.release(guard);
            world::block(Place::of(self));
            return mutex.lock();
        }
        guard.map(|real| (self.real.wait(real), ())).0
    }

    /// Waits while `condition` holds.
    ///
    /// # Errors
    /// Returns the guard in an error if the mutex is poisoned.
    #[track_caller]
    pub fn wait_while<'m, T, F>(&self, mut guard: MutexGuard<'m, T>, mut condition: F) -> LockResult<MutexGuard<'m, T>>
    where
        F: FnMut(&mut T) -> bool,
    {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Like [`wait`](Self::wait), with a time limit.
    ///
    /// # Errors
    /// Returns the guard in an error if the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout<'m, T>(&self, guard: MutexGuard<'m, T>, duration: Duration) -> Waited<'m, T> {
        if world::blocks() {
            let mutex = self.release(guard);
            let timed_out = world::block_for_a_while(Place::of(self)).unwrap_or(true);
            return with(mutex.lock(), WaitTimeoutResult(timed_out));
        }
        let (guard, timed_out) = guard.map(|real| match self.real.wait_timeout(real, duration) {
            Ok((real, result)) => (Ok(real), result.timed_out()),
            Err(poisoned) => {
                let (real, result) = poisoned.into_inner();
                (Err(PoisonError::new(real)), result.timed_out())
            }
        });
        with(guard, WaitTimeoutResult(timed_out))
    }

    /// Like [`wait_timeout`](Self::wait_timeout), with a duration in milliseconds; deprecated as in
    /// `std`.
    ///
    /// # Errors
    /// Returns the guard in an error if the mutex is poisoned.
    #[track_caller]
    #[deprecated(note = "use wait_timeout instead")]
    pub fn wait_timeout_ms<'m, T>(&self, guard: MutexGuard<'m, T>, ms: u32) -> LockResult<(MutexGuard<'m, T>, bool)> {
        match self.wait_timeout(guard, Duration::from_millis(ms.into())) {
            Ok((guard, result)) => Ok((guard, !result.timed_out())),
            Err(poisoned) => {
                let (guard, result) = poisoned.into_inner();
                Err(PoisonError::new((guard, !result.timed_out())))
            }
        }
    }

    /// Waits while `condition` holds, with a time limit.
    ///
    /// # Errors
    /// Returns the guard in an error if the mutex is poisoned.
    #[track_caller]
    pub fn wait_timeout_while<'m, T, F>(
        &self,
        mut guard: MutexGuard<'m, T>,
        duration: Duration,
        mut condition: F,
    ) -> Waited<'m, T>
    where
        F: FnMut(&mut T) -> bool,
    {
        let start = Instant::now();
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(left) = duration.checked_sub(start.elapsed()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            let result;
            (guard, result) = self.wait_timeout(guard, left)?;
            // In a world that blocks threads, the time limit expires when the world decides, not by the clock.
            if result.timed_out() && world::blocks() {
                let is_over = condition(&mut guard);
                return Ok((guard, WaitTimeoutResult(is_over)));
            }
        }
    }

    /// Releases the lock in order to wait. The only schedule point is before the release, so the
    /// next thread that takes the lock finds this thread waiting.
    #[track_caller]
    fn release<'m, T>(&self, mut guard: MutexGuard<'m, T>) -> &'m super::Mutex<T> {
        guard.will_wait(Place::of(self));
        guard.mutex()
    }

    /// Wakes one of the waiting threads.
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify("notify_one", Wake::One);
        self.real.notify_one();
    }

    /// Wakes all waiting threads.
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify("notify_all", Wake::All);
        self.real.notify_all();
    }

    #[track_caller]
    fn notify(&self, name: &'static str, wake: Wake) {
        let place = Place::of(self);
        world::point_of_std(Access::new(AccessKind::Notify, place), Named::new(name, "Condvar"));
        world::wake(place, wake);
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}
