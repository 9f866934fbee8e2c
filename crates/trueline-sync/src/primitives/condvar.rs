//! Condition variables that a world can schedule.

use std::collections::VecDeque;
use std::fmt;
use std::sync;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{MutexGuard, choose};
use crate::cancel::{self, Sleeper, lock};
use crate::world::{self, Access, AccessKind, Named, Place, Wake};

/// A condition variable: lets threads wait until other threads have changed data under a [`Mutex`](super::Mutex).
///
/// Without a [`World`](super::World), there are no spurious wake-ups: a thread returns from
/// [`wait`](Self::wait) if and only if it was notified, and [`notify_one`](Self::notify_one) wakes
/// the thread that has waited longest. So a spurious wake-up can neither hide a missing notification
/// nor disturb an object that expects no spurious wake-ups. In contrast, a world chooses which thread
/// to wake, and may wake threads spuriously: [`Chaos`](super::Chaos) does so now and then, to find
/// objects that do not check their condition again. A thread that waits can be
/// [canceled](super::Cancellation).
///
/// ```
/// use trueline_sync::primitives::{Condvar, Mutex};
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
    /// The sleepers of the waiting threads, in the order of their arrival. A sleeper is notified
    /// only while this queue is locked, so it is never notified after it has been removed.
    sleepers: sync::Mutex<VecDeque<Arc<Sleeper>>>,
}

impl Condvar {
    /// Creates a condition variable that no thread waits on.
    pub const fn new() -> Self {
        Self { sleepers: sync::Mutex::new(VecDeque::new()) }
    }

    /// Releases the lock, waits to be notified, and takes the lock again.
    ///
    /// Notifications after the release are not missed. When the thread has the lock again, the
    /// condition that it waits for does not necessarily hold: check the condition in a loop, or use
    /// [`wait_while`](Self::wait_while).
    #[track_caller]
    pub fn wait<'m, T>(&self, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
        self.wait_until(guard, None).0
    }

    /// Like [`wait`](Self::wait), with a time limit. Also returns whether the limit has expired.
    ///
    /// A world that [blocks](super::World::blocking) threads does not measure time: it ignores `duration`, and decides
    /// whether the limit expires before the thread is notified (see
    /// [`Blocking::block_for_a_while`](super::Blocking::block_for_a_while)).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueline_sync::primitives::{Condvar, Mutex};
    ///
    /// let (mutex, changed) = (Mutex::new(0), Condvar::new());
    /// let (guard, timed_out) = changed.wait_timeout(mutex.lock(), Duration::from_millis(1));
    /// assert!(timed_out);
    /// assert_eq!(*guard, 0);
    /// ```
    #[track_caller]
    pub fn wait_timeout<'m, T>(&self, guard: MutexGuard<'m, T>, duration: Duration) -> (MutexGuard<'m, T>, bool) {
        self.wait_until(guard, Deadline::after(duration))
    }

    #[track_caller]
    fn wait_until<'m, T>(&self, guard: MutexGuard<'m, T>, deadline: Option<Deadline>) -> (MutexGuard<'m, T>, bool) {
        let mutex = guard.mutex();
        if let Some(world) = world::current() {
            if let Some(blocking) = world.blocking() {
                // The only schedule point is before the release, so the next thread that takes the
                // lock finds this thread blocked.
                let mut guard = guard;
                guard.will_wait(Place::of(self));
                drop(guard);
                let timed_out = match deadline {
                    None => {
                        blocking.block(Place::of(self));
                        false
                    }
                    Some(_) => blocking.block_for_a_while(Place::of(self)),
                };
                return (mutex.lock(), timed_out);
            }
            if world.wakes_early() {
                // Simulates a spurious wake-up: returns as if the thread had slept and had been
                // woken before another thread could notify it.
                drop(guard);
                std::thread::yield_now();
                return (mutex.lock(), false);
            }
        }
        let sleeper = cancel::sleeper();
        sleeper.prepare();
        lock(&self.sleepers).push_back(Arc::clone(&sleeper));
        drop(guard);
        let timed_out = match sleeper.sleep_until(deadline.and_then(|deadline| deadline.0)) {
            Ok(true) => false,
            // If the sleeper is no longer in the queue, it was notified in the meantime. In this
            // case, the wait has not timed out, and the notification is not lost.
            Ok(false) => self.forget(&sleeper),
            Err(cancelled) => {
                self.forget(&sleeper);
                cancel::end(cancelled)
            }
        };
        (mutex.lock(), timed_out)
    }

    /// Removes a sleeper from the queue. Returns whether the queue contained the sleeper.
    fn forget(&self, sleeper: &Arc<Sleeper>) -> bool {
        let mut sleepers = lock(&self.sleepers);
        let at = sleepers.iter().position(|other| Arc::ptr_eq(other, sleeper));
        at.is_some_and(|at| sleepers.remove(at).is_some())
    }

    /// Waits while `condition` holds. The condition is checked under the lock.
    #[track_caller]
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

    /// Waits while `condition` holds, with a time limit. Also returns whether the limit has expired; in that case,
    /// `condition` still holds.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueline_sync::primitives::{Condvar, Mutex};
    ///
    /// let (slot, changed) = (Mutex::new(None), Condvar::new());
    /// let (guard, timed_out) =
    ///     changed.wait_timeout_while(slot.lock(), Duration::from_millis(1), |slot: &mut Option<u64>| slot.is_none());
    /// assert!(timed_out && guard.is_none());
    /// ```
    #[track_caller]
    pub fn wait_timeout_while<'m, T>(
        &self,
        mut guard: MutexGuard<'m, T>,
        duration: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> (MutexGuard<'m, T>, bool) {
        let deadline = Deadline::after(duration);
        while condition(&mut guard) {
            let timed_out;
            (guard, timed_out) = self.wait_until(guard, deadline);
            if timed_out {
                let still = condition(&mut guard);
                return (guard, still);
            }
        }
        (guard, false)
    }

    /// Wakes one of the waiting threads, if there are any.
    #[track_caller]
    pub fn notify_one(&self) {
        world::point_at(Access::new(AccessKind::Notify, Place::of(self)), Named::plain("notify_one"));
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

    /// Wakes all waiting threads.
    #[track_caller]
    pub fn notify_all(&self) {
        world::point_at(Access::new(AccessKind::Notify, Place::of(self)), Named::plain("notify_all"));
        if let Some(world) = world::current() {
            if let Some(blocking) = world.blocking() {
                return blocking.wake(Place::of(self), Wake::All);
            }
        }
        for sleeper in lock(&self.sleepers).drain(..) {
            sleeper.notify();
        }
    }

    /// Returns the number of waiting threads; for tests.
    #[doc(hidden)]
    pub fn waiting(&self) -> usize {
        lock(&self.sleepers).len()
    }
}

/// The end of a timed wait; `None` if an `Instant` cannot represent it.
#[derive(Clone, Copy)]
struct Deadline(Option<Instant>);

impl Deadline {
    fn after(duration: Duration) -> Option<Self> {
        Some(Self(Instant::now().checked_add(duration)))
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
    use crate::primitives::{Chaos, Mutex, enter};
    use std::rc::Rc;

    /// Calls `notify` when `threads` threads are waiting, and returns how many of them `notify` has woken. Before it
    /// returns, wakes the other threads.
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
    fn a_timed_wait_ends_and_is_forgotten() {
        let (mutex, condvar) = (Mutex::new(0), Condvar::new());
        let short = Duration::from_millis(2);
        let started = Instant::now();
        let (guard, timed_out) = condvar.wait_timeout(mutex.lock(), short);
        assert!(timed_out && mutex.try_lock().is_none(), "the lock is taken again");
        assert!(started.elapsed() >= short);
        drop(guard);
        let (guard, timed_out) = condvar.wait_timeout_while(mutex.lock(), short, |number| *number == 0);
        assert!(timed_out && *guard == 0);
        assert!(started.elapsed() >= 2 * short);
        drop(guard);
        assert!(!condvar.wait_timeout_while(mutex.lock(), short, |number| *number != 0).1, "nothing to wait for");
        assert!(condvar.wait_timeout(mutex.lock(), Duration::ZERO).1);
        assert_eq!(condvar.waiting(), 0);
    }

    #[test]
    fn a_timed_wait_hears_notifications() {
        let (mutex, condvar) = (Mutex::new(0), Condvar::new());
        // Long durations: one that never expires in practice, and one that overflows `Instant`.
        for duration in [Duration::from_secs(1 << 20), Duration::MAX] {
            thread::scope(|scope| {
                let bare = scope.spawn(|| condvar.wait_timeout(mutex.lock(), duration).1);
                while condvar.waiting() < 1 {
                    thread::yield_now();
                }
                condvar.notify_one();
                assert!(!bare.join().expect("the thread does not panic"));
                let looping =
                    scope.spawn(|| condvar.wait_timeout_while(mutex.lock(), duration, |number| *number == 0).1);
                *mutex.lock() = 1;
                condvar.notify_all();
                assert!(!looping.join().expect("the thread does not panic"));
                *mutex.lock() = 0;
            });
        }
    }

    /// Waits `waits` times without another thread, in a world of `Chaos`, and returns for each wait whether it ended
    /// early.
    fn early(one_in: u32, waits: usize) -> Vec<bool> {
        let _inside = enter(Rc::new(Chaos::new(one_in, 5, 0)));
        let (mutex, condvar) = (Mutex::new(()), Condvar::new());
        (0..waits).map(|_| !condvar.wait_timeout(mutex.lock(), Duration::ZERO).1).collect()
    }

    #[test]
    fn chaos_wakes_without_need_now_and_then() {
        let early_of_many = early(8, 800).into_iter().filter(|early| *early).count();
        assert!((40..160).contains(&early_of_many), "{early_of_many} of 800");
        assert!(early(1, 10).windows(2).all(|waits| waits[0] != waits[1]), "never twice in a row");
        assert_eq!(early(0, 100), [false; 100]);

        // No thread notifies this one: only a spurious wake-up can end the wait.
        let _inside = enter(Rc::new(Chaos::new(1, 5, 0)));
        let mutex = Mutex::new(());
        drop(Condvar::new().wait(mutex.lock()));
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
