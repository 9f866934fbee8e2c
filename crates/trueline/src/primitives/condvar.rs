//! Condition variables that a world can schedule.

use std::collections::VecDeque;
use std::fmt;
use std::sync;
use std::sync::Arc;

use super::cancel::{self, Sleeper, lock};
use super::world::{self, Place, Wake};
use super::{MutexGuard, choose, point};

/// Lets threads wait for what others do under a [`Mutex`](super::Mutex).
///
/// Unlike `std`'s it wakes nobody without need, so that an object that should look again and does not is not healed by
/// accident, and one that must not depend on it is not broken by it: a thread returns from [`wait`](Self::wait) if and
/// only if it was notified. [`notify_one`](Self::notify_one) wakes the thread that has waited longest; in a
/// [`World`](super::World) the world chooses. A thread that waits can be [cancelled](super::Cancellation).
///
/// ```
/// use trueline::primitives::{Condvar, Mutex};
///
/// let (ready, changed) = (Mutex::new(false), Condvar::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *ready.lock() = true;
///         changed.notify_all();
///     });
///     let guard = changed.wait_while(ready.lock(), |ready| !*ready);
///     assert!(*guard);
/// });
/// ```
#[derive(Default)]
pub struct Condvar {
    /// In the order in which they came. A sleeper is notified only while this is locked, and so never after it has
    /// taken itself out.
    sleepers: sync::Mutex<VecDeque<Arc<Sleeper>>>,
}

impl Condvar {
    /// One that nobody waits on.
    pub const fn new() -> Self {
        Self { sleepers: sync::Mutex::new(VecDeque::new()) }
    }

    /// Releases the lock, waits to be notified, and takes the lock again.
    ///
    /// Whoever notifies from then on is heard. What the thread waits for need not hold when it has the lock again:
    /// look, and wait again, or use [`wait_while`](Self::wait_while).
    pub fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        let mutex = guard.mutex();
        if let Some(world) = world::current() {
            if let Some(blocking) = world.blocking() {
                // The only schedule point is before the release: whoever takes the lock next finds this one blocked.
                drop(guard);
                blocking.block(Place::of(self));
                return mutex.lock();
            }
        }
        let sleeper = cancel::sleeper();
        sleeper.prepare();
        lock(&self.sleepers).push_back(Arc::clone(&sleeper));
        drop(guard);
        if let Err(cancelled) = sleeper.sleep() {
            lock(&self.sleepers).retain(|other| !Arc::ptr_eq(other, &sleeper));
            cancel::end(cancelled);
        }
        mutex.lock()
    }

    /// Waits as long as `condition` holds, which is looked at under the lock.
    pub fn wait_while<'m, T>(
        &self,
        mut guard: MutexGuard<'m, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'m, T> {
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// Wakes one of the threads that wait, if any does.
    pub fn notify_one(&self) {
        point();
        let world = world::current();
        if let Some(blocking) = world.as_ref().and_then(|world| world.blocking()) {
            return blocking.wake(Place::of(self), Wake::One);
        }
        let mut sleepers = lock(&self.sleepers);
        let chosen = if world.is_some() && !sleepers.is_empty() { choose(sleepers.len()) } else { 0 };
        if let Some(sleeper) = sleepers.remove(chosen) {
            sleeper.notify();
        }
    }

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        point();
        if let Some(world) = world::current() {
            if let Some(blocking) = world.blocking() {
                return blocking.wake(Place::of(self), Wake::All);
            }
        }
        for sleeper in lock(&self.sleepers).drain(..) {
            sleeper.notify();
        }
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        lock(&self.sleepers).len()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Condvar").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::primitives::Mutex;

    /// Runs `notify` when so many threads wait, and gives how many that takes from their sleep. Then wakes the others.
    fn woken(threads: usize, notify: impl FnOnce(&Condvar)) -> usize {
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| drop(condvar.wait(mutex.lock())));
            }
            while condvar.waiting() < threads {
                thread::yield_now();
            }
            notify(&condvar);
            let woken = threads - condvar.waiting();
            for _ in woken..threads {
                condvar.notify_one();
            }
            woken
        })
    }

    #[test]
    fn wakes_as_many_as_it_says() {
        assert_eq!(woken(3, Condvar::notify_one), 1);
        assert_eq!(woken(3, Condvar::notify_all), 3);
        assert_eq!(woken(2, |_| ()), 0);
    }

    #[test]
    fn hands_over_in_turns() {
        const ROUNDS: u32 = 200;
        let (turn, changed) = (Mutex::new(0), Condvar::new());
        thread::scope(|scope| {
            for player in 0..3 {
                let (turn, changed) = (&turn, &changed);
                scope.spawn(move || {
                    for _ in 0..ROUNDS {
                        let mut turn = changed.wait_while(turn.lock(), |turn| *turn % 3 != player);
                        *turn += 1;
                        drop(turn);
                        changed.notify_all();
                    }
                });
            }
        });
        assert_eq!(turn.into_inner(), 3 * ROUNDS);
    }
}
