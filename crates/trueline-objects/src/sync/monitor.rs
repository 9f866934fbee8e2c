//! Monitors, on which most of these objects are built.

use std::time::Duration;

use trueline::primitives::{Condvar, Mutex, MutexGuard};

/// A state protected by a lock, and one condition variable on which all threads wait, no matter
/// which condition they wait for.
#[derive(Default, Debug)]
pub(super) struct Monitor<S> {
    state: Mutex<S>,
    changed: Condvar,
}

impl<S> Monitor<S> {
    pub(super) const fn new(state: S) -> Self {
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn enter(&self) -> MutexGuard<'_, S> {
        self.state.lock()
    }

    /// Enters the monitor, and waits until `condition` holds.
    pub(super) fn enter_when(&self, condition: impl FnMut(&S) -> bool) -> MutexGuard<'_, S> {
        self.wait_until(self.enter(), condition)
    }

    /// Waits until `condition` holds.
    pub(super) fn wait_until<'m>(
        &self,
        guard: MutexGuard<'m, S>,
        mut condition: impl FnMut(&S) -> bool,
    ) -> MutexGuard<'m, S> {
        self.changed.wait_while(guard, |state| !condition(state))
    }

    /// Waits until `condition` holds or the timeout expires. The caller must check whether
    /// `condition` holds.
    pub(super) fn wait_for<'m>(
        &self,
        guard: MutexGuard<'m, S>,
        timeout: Duration,
        mut condition: impl FnMut(&S) -> bool,
    ) -> MutexGuard<'m, S> {
        self.changed.wait_timeout_while(guard, timeout, |state| !condition(state)).0
    }

    /// Waits for one notification or spurious wake-up, without checking any condition.
    pub(super) fn wait_once<'m>(&self, guard: MutexGuard<'m, S>) -> MutexGuard<'m, S> {
        self.changed.wait(guard)
    }

    pub(super) fn notify_all(&self) {
        self.changed.notify_all();
    }

    pub(super) fn notify_one(&self) {
        self.changed.notify_one();
    }
}
