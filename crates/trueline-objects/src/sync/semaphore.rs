//! Binary semaphores.

use trueline::primitives::{Condvar, Mutex};

/// A semaphore that is up or down. One thread may lower it and another one raise it again.
///
/// A [`Mutex`] does not allow this, but some objects need it: a thread that lowers the semaphore to
/// enter a critical section may let another thread finish the work in the section and raise the
/// semaphore.
///
/// ```
/// use trueline_objects::sync::semaphore::Semaphore;
///
/// let signal = Semaphore::lowered();
/// std::thread::scope(|scope| {
///     scope.spawn(|| signal.down());
///     signal.up();
/// });
/// ```
#[derive(Debug)]
pub struct Semaphore {
    is_up: Mutex<bool>,
    raised: Condvar,
}

impl Semaphore {
    /// Creates a semaphore that is up, for mutual exclusion.
    pub const fn raised() -> Self {
        Self { is_up: Mutex::new(true), raised: Condvar::new() }
    }

    /// Creates a semaphore that is down, for signals.
    pub const fn lowered() -> Self {
        Self { is_up: Mutex::new(false), raised: Condvar::new() }
    }

    /// Waits until the semaphore is up, and lowers it.
    pub fn down(&self) {
        *self.raised.wait_while(self.is_up.lock(), |is_up| !*is_up) = false;
    }

    /// Raises the semaphore.
    ///
    /// # Panics
    /// Panics if the semaphore is already up, because the second signal would be lost.
    pub fn up(&self) {
        let mut is_up = self.is_up.lock();
        assert!(!*is_up, "the semaphore is already up");
        *is_up = true;
        self.raised.notify_one();
    }
}
