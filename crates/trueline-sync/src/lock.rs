//! The part that the mutexes of [`primitives`](crate::primitives) and of [`sync`](crate::sync) share.

use std::panic::Location;
use std::sync;
use std::sync::{LockResult, TryLockError, TryLockResult};

use crate::cancel;
use crate::primitives::spin_hint;
use crate::world::{self, Access, AccessKind, Named, Place, Wake};

/// A mutex, and whether threads may be ended while they wait for it.
#[derive(Clone, Copy)]
pub(crate) struct Lock {
    pub(crate) place: Place,
    pub(crate) type_name: &'static str,
    pub(crate) may_end: bool,
}

impl Lock {
    #[inline]
    #[track_caller]
    fn point(self, kind: AccessKind, name: &'static str) {
        let (access, named) = (Access::new(kind, self.place), Named::new(name, self.type_name));
        if self.may_end {
            world::point_at(access, named);
        } else {
            world::point_of_std(access, named);
        }
    }

    /// Waits until no other thread holds the lock, and takes it.
    #[inline]
    #[track_caller]
    pub(crate) fn lock<T: ?Sized>(self, real: &sync::Mutex<T>) -> LockResult<sync::MutexGuard<'_, T>> {
        self.point(AccessKind::Lock, "lock");
        match real.try_lock() {
            Ok(guard) => Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => Err(poisoned),
            Err(TryLockError::WouldBlock) => self.wait(real),
        }
    }

    #[cold]
    fn wait<T: ?Sized>(self, real: &sync::Mutex<T>) -> LockResult<sync::MutexGuard<'_, T>> {
        let world = world::current();
        let blocking = world.as_ref().and_then(|world| world.blocking());
        if blocking.is_none() && !(self.may_end && cancel::is_cancellable()) {
            return real.lock();
        }
        let locking = blocking.is_none().then(cancel::Locking::begin);
        loop {
            match blocking {
                Some(blocking) => {
                    blocking.block(self.place);
                    if self.may_end {
                        cancel::check();
                    }
                }
                None => spin_hint(),
            }
            match real.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
                Err(TryLockError::WouldBlock) => {
                    if let Some(locking) = &locking {
                        locking.tried_in_vain();
                    }
                }
            }
        }
    }

    /// Takes the lock if no other thread holds it.
    #[inline]
    #[track_caller]
    pub(crate) fn try_lock<T: ?Sized>(self, real: &sync::Mutex<T>) -> TryLockResult<sync::MutexGuard<'_, T>> {
        self.point(AccessKind::TryLock, "try_lock");
        let tried = real.try_lock();
        let is_taken = !matches!(tried, Err(TryLockError::WouldBlock));
        let access = Access::new(AccessKind::TryLock, self.place);
        world::tell(access, Named::new("try_lock", self.type_name), (0, u64::from(is_taken)));
        tried
    }

    /// Returns two values whose destructors act before and after the release of the lock: drop the first before
    /// releasing the lock, and the second after releasing it. The location of the caller is recorded as the place where
    /// the lock was taken.
    #[track_caller]
    pub(crate) fn release(self) -> (BeforeRelease, Release) {
        let unlock = Access::new(AccessKind::Unlock, self.place);
        (BeforeRelease { access: unlock, lock: self, location: Location::caller() }, Release(self.place))
    }
}

/// Runs the schedule point before the release of a lock, when dropped. The schedule point reports the location where
/// the lock was taken, because the location of a drop is not available.
pub(crate) struct BeforeRelease {
    access: Access,
    lock: Lock,
    location: &'static Location<'static>,
}

impl BeforeRelease {
    /// Records that the lock is released in order to wait on `condvar`.
    #[track_caller]
    pub(crate) fn will_wait(&mut self, condvar: Place) {
        (self.access.kind, self.access.other) = (AccessKind::Wait, Some(condvar));
        self.location = Location::caller();
    }
}

impl Drop for BeforeRelease {
    #[inline]
    fn drop(&mut self) {
        let name = if self.access.kind == AccessKind::Wait { "wait" } else { "unlock" };
        let named = Named::new(name, self.lock.type_name);
        world::point_of_release(self.access, named, self.lock.may_end, self.location);
    }
}

/// Wakes the threads that wait for a lock, when dropped. It must be dropped after the release.
pub(crate) struct Release(Place);

impl Drop for Release {
    #[inline]
    fn drop(&mut self) {
        // Wakes all waiting threads, because any of them may take the lock next. A thread that is not waiting yet may
        // take it, too.
        world::wake(self.0, Wake::All);
    }
}
