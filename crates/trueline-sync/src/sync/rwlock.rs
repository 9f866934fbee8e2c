//! `std::sync::RwLock`.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync as real;
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

use crate::world::{self, Access, AccessKind, Named, Place, Wake};

/// A replacement for `std`'s `RwLock`, with a schedule point before the lock is taken and before it
/// is released.
///
/// ```
/// use trueline_sync::sync::RwLock;
///
/// let number = RwLock::new(1);
/// let (one, other) = (number.read().unwrap(), number.read().unwrap());
/// assert!(number.try_write().is_err());
/// assert_eq!(*one, *other);
/// ```
#[derive(Default)]
pub struct RwLock<T: ?Sized> {
    real: real::RwLock<T>,
}

impl<T> RwLock<T> {
    /// Creates a lock around this value.
    #[inline]
    pub const fn new(value: T) -> Self {
        Self { real: real::RwLock::new(value) }
    }

    /// Returns the value, and consumes the lock.
    ///
    /// # Errors
    /// Returns the value in an error if the lock is poisoned.
    pub fn into_inner(self) -> LockResult<T> {
        self.real.into_inner()
    }
}

/// Takes the lock. In a world that blocks threads, repeats `attempt` until it succeeds; otherwise, calls `really`,
/// which waits for the lock.
#[track_caller]
fn acquire<G>(
    place: Place,
    name: &'static str,
    attempt: impl Fn() -> TryLockResult<G>,
    really: impl FnOnce() -> LockResult<G>,
) -> LockResult<G> {
    world::point_of_std(Access::new(AccessKind::Update, place), Named::new(name, "RwLock"));
    loop {
        match attempt() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
            Err(TryLockError::WouldBlock) if world::block(place) => {}
            Err(TryLockError::WouldBlock) => return really(),
        }
    }
}

/// Converts `$result`, a `LockResult` with a `std` guard, to a `LockResult` with a `$guard`. This is a macro, not a
/// closure, because guards record the caller's location.
macro_rules! guarded {
    ($self:ident, $guard:ident, $result:expr) => {
        match $result {
            Ok(real) => Ok($guard { before: $self.before(), real, _after: After(Place::of($self)) }),
            Err(poisoned) => {
                let real = poisoned.into_inner();
                Err(PoisonError::new($guard { before: $self.before(), real, _after: After(Place::of($self)) }))
            }
        }
    };
}

macro_rules! tried {
    ($self:ident, $guard:ident, $name:literal, $method:ident) => {{
        let named = Named::new($name, "RwLock");
        world::point_of_std(Access::new(AccessKind::Update, Place::of($self)), named);
        match $self.real.$method() {
            Ok(real) => Ok($guard { before: $self.before(), real, _after: After(Place::of($self)) }),
            Err(TryLockError::WouldBlock) => Err(TryLockError::WouldBlock),
            Err(TryLockError::Poisoned(poisoned)) => {
                let real = poisoned.into_inner();
                let guard = $guard { before: $self.before(), real, _after: After(Place::of($self)) };
                Err(TryLockError::Poisoned(PoisonError::new(guard)))
            }
        }
    }};
}

impl<T: ?Sized> RwLock<T> {
    #[track_caller]
    fn before(&self) -> Before {
        Before(Place::of(self), Location::caller())
    }

    /// Waits until no thread holds the lock for writing, and takes the lock for reading.
    ///
    /// # Errors
    /// Returns the guard in an error if the lock is poisoned.
    #[track_caller]
    pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
        let result = acquire(Place::of(self), "read", || self.real.try_read(), || self.real.read());
        guarded!(self, RwLockReadGuard, result)
    }

    /// Waits until no other thread holds the lock, and takes the lock for writing.
    ///
    /// # Errors
    /// Returns the guard in an error if the lock is poisoned.
    #[track_caller]
    pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
        let result = acquire(Place::of(self), "write", || self.real.try_write(), || self.real.write());
        guarded!(self, RwLockWriteGuard, result)
    }

    /// Takes the lock for reading, if no thread holds it for writing.
    ///
    /// # Errors
    /// Fails if a thread holds the lock for writing, or if the lock is poisoned.
    #[track_caller]
    pub fn try_read(&self) -> TryLockResult<RwLockReadGuard<'_, T>> {
        tried!(self, RwLockReadGuard, "try_read", try_read)
    }

    /// Takes the lock for writing, if no other thread holds it.
    ///
    /// # Errors
    /// Fails if another thread holds the lock, or if the lock is poisoned.
    #[track_caller]
    pub fn try_write(&self) -> TryLockResult<RwLockWriteGuard<'_, T>> {
        tried!(self, RwLockWriteGuard, "try_write", try_write)
    }

    /// Returns whether a thread has panicked while it held the lock for writing.
    pub fn is_poisoned(&self) -> bool {
        self.real.is_poisoned()
    }

    /// Makes the lock usable again after a panic.
    pub fn clear_poison(&self) {
        self.real.clear_poison();
    }

    /// Returns a mutable reference to the value. The lock is not taken, because no other thread has
    /// access.
    ///
    /// # Errors
    /// Returns the value in an error if the lock is poisoned.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        self.real.get_mut()
    }
}

impl<T> From<T> for RwLock<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.real.fmt(f)
    }
}

/// Runs the schedule point before the release, when dropped.
struct Before(Place, &'static Location<'static>);

impl Drop for Before {
    fn drop(&mut self) {
        let access = Access::new(AccessKind::Update, self.0);
        world::point_of_release(access, Named::new("unlock", "RwLock"), false, self.1);
    }
}

/// Wakes the threads that wait for the lock, when dropped. It must be dropped after the release.
struct After(Place);

impl Drop for After {
    fn drop(&mut self) {
        world::wake(self.0, Wake::All);
    }
}

macro_rules! guard {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[must_use = "if unused the RwLock will immediately unlock"]
        pub struct $name<'l, T: ?Sized> {
            // Fields are dropped in this order: dropping `before` runs the schedule point, dropping
            // `real` releases the lock, and dropping `_after` wakes the waiting threads.
            #[expect(dead_code, reason = "only its destructor is used")]
            before: Before,
            real: real::$name<'l, T>,
            _after: After,
        }

        impl<T: ?Sized> Deref for $name<'_, T> {
            type Target = T;

            fn deref(&self) -> &T {
                &self.real
            }
        }

        impl<T: ?Sized + fmt::Debug> fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.real.fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $name<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.real.fmt(f)
            }
        }
    };
}

guard!(RwLockReadGuard, "Holds a [`RwLock`] to read its value.");
guard!(RwLockWriteGuard, "Holds a [`RwLock`] to read and write its value.");

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.real
    }
}
