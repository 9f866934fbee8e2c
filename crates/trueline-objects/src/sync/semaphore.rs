//! Binary semaphores.

use trueline::primitives::{Condvar, Mutex};

/// A semaphore that is up or down, and that one thread may take down and another put up again.
///
/// So it can be passed on like a baton, as no [`Mutex`] can: who takes it down to enter a critical region may leave to
/// another what is to be done inside, and to put it up.
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
    /// One that is up: for mutual exclusion.
    pub const fn raised() -> Self {
        Self { is_up: Mutex::new(true), raised: Condvar::new() }
    }

    /// One that is down: for signals.
    pub const fn lowered() -> Self {
        Self { is_up: Mutex::new(false), raised: Condvar::new() }
    }

    /// Waits until it is up, and takes it down.
    pub fn down(&self) {
        *self.raised.wait_while(self.is_up.lock(), |is_up| !*is_up) = false;
    }

    /// Puts it up.
    ///
    /// # Panics
    /// If it is up: then a signal is lost.
    pub fn up(&self) {
        let mut is_up = self.is_up.lock();
        assert!(!*is_up, "the semaphore is up already");
        *is_up = true;
        self.raised.notify_one();
    }
}
