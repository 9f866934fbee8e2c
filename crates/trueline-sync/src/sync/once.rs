//! `std::sync::Once`.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync as real;
use std::sync::atomic::{AtomicU32, Ordering};

use super::atomic;
use crate::cancel::lock;
use crate::world::{self, Access, AccessKind, Named, Place, ValueKind, Wake};

/// A replacement for `std`'s `Once`, with schedule points. If a `static` `Once` was incomplete when
/// an exploration began, it is incomplete at the start of each execution.
///
/// ```
/// use trueline_sync::sync::Once;
///
/// static START: Once = Once::new();
/// START.call_once(|| ());
/// START.call_once(|| unreachable!("it is done"));
/// assert!(START.is_completed());
/// ```
pub struct Once {
    state: AtomicU32,
}

const INCOMPLETE: u32 = 0;
const POISONED: u32 = 1;
const RUNNING: u32 = 2;
const COMPLETE: u32 = 3;

/// The mutex and condition variable with which operating-system threads wait for a thread that runs
/// a closure. All `Once`s share them, because few threads wait, and not for long.
static WAITING: (real::Mutex<()>, real::Condvar) = (real::Mutex::new(()), real::Condvar::new());

/// The state that a closure of [`Once::call_once_force`] receives.
pub struct OnceState {
    is_poisoned: bool,
}

impl OnceState {
    /// Returns whether an earlier closure has panicked.
    pub fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }
}

impl fmt::Debug for OnceState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceState").field("poisoned", &self.is_poisoned).finish()
    }
}

impl UnwindSafe for Once {}
impl RefUnwindSafe for Once {}

/// An initial value, deprecated as in `std`.
#[deprecated(note = "use `Once::new` instead")]
#[expect(clippy::declare_interior_mutable_const, reason = "as in `std`")]
pub const ONCE_INIT: Once = Once::new();

#[expect(clippy::new_without_default, reason = "as in `std`")]
impl Once {
    /// Creates a `Once` whose closure has not been called.
    #[inline]
    #[must_use]
    pub const fn new() -> Self {
        Self { state: AtomicU32::new(INCOMPLETE) }
    }

    /// Calls the closure, unless a closure has already been called. If another thread is calling a
    /// closure, waits until that closure has returned.
    ///
    /// # Panics
    /// Panics if an earlier closure has panicked.
    #[inline]
    #[track_caller]
    pub fn call_once<F: FnOnce()>(&self, closure: F) {
        let mut closure = Some(closure);
        self.call(false, "call_once", &mut |_| {
            if let Some(closure) = closure.take() {
                closure();
            }
        });
    }

    /// Like [`call_once`](Self::call_once), but also calls the closure if an earlier one has panicked.
    #[inline]
    #[track_caller]
    pub fn call_once_force<F: FnOnce(&OnceState)>(&self, closure: F) {
        let mut closure = Some(closure);
        self.call(true, "call_once_force", &mut |state| {
            if let Some(closure) = closure.take() {
                closure(state);
            }
        });
    }

    /// Returns whether a closure was called and has returned.
    #[inline]
    #[track_caller]
    pub fn is_completed(&self) -> bool {
        self.access(AccessKind::Load, "is_completed", || self.state.load(Ordering::Acquire)) == COMPLETE
    }

    /// Waits until a closure was called and has returned.
    ///
    /// # Panics
    /// Panics if a closure has panicked.
    #[track_caller]
    pub fn wait(&self) {
        self.wait_until(false, "wait");
    }

    /// Like [`wait`](Self::wait), but keeps waiting if a closure has panicked.
    #[track_caller]
    pub fn wait_force(&self) {
        self.wait_until(true, "wait_force");
    }

    #[track_caller]
    fn wait_until(&self, ignores_poison: bool, name: &'static str) {
        loop {
            match self.access(AccessKind::Update, name, || self.state.load(Ordering::Acquire)) {
                COMPLETE => return,
                POISONED if !ignores_poison => panic!("Once instance has previously been poisoned"),
                _ => self.block(|state| state != COMPLETE && (state != POISONED || ignores_poison)),
            }
        }
    }

    #[track_caller]
    fn call(&self, ignores_poison: bool, name: &'static str, closure: &mut dyn FnMut(&OnceState)) {
        loop {
            // A complete `Once` stays complete. So this call does not change it, and counts as a
            // load.
            let is_complete = self.state.load(Ordering::Acquire) == COMPLETE;
            let kind = if is_complete { AccessKind::Load } else { AccessKind::Update };
            let begin = || {
                let is_free = |state| state == INCOMPLETE || (state == POISONED && ignores_poison);
                let next = |state| is_free(state).then_some(RUNNING);
                self.state.fetch_update(Ordering::Acquire, Ordering::Acquire, next)
            };
            match self.access(kind, name, begin) {
                Ok(before) => return self.run(before == POISONED, closure),
                Err(COMPLETE) => return,
                Err(POISONED) => panic!("Once instance has previously been poisoned"),
                Err(_) => self.block(|state| state == RUNNING),
            }
        }
    }

    /// Calls the closure. Only one thread at a time calls this function.
    #[track_caller]
    fn run(&self, is_poisoned: bool, closure: &mut dyn FnMut(&OnceState)) {
        struct Finish<'o>(&'o Once, u32);
        impl Drop for Finish<'_> {
            fn drop(&mut self) {
                self.0.finish(self.1);
            }
        }
        let mut finish = Finish(self, POISONED);
        closure(&OnceState { is_poisoned });
        finish.1 = COMPLETE;
    }

    fn finish(&self, state: u32) {
        let store = || self.state.store(state, Ordering::Release);
        if std::thread::panicking() {
            store();
        } else {
            self.access(AccessKind::Update, "complete", store);
        }
        world::wake(Place::of(self), Wake::All);
        drop(lock(&WAITING.0));
        WAITING.1.notify_all();
    }

    /// Waits while `while_state` returns true for the state. May return early.
    fn block(&self, while_state: impl Fn(u32) -> bool) {
        if world::block(Place::of(self)) {
            return;
        }
        let waiting = lock(&WAITING.0);
        drop(WAITING.1.wait_while(waiting, |()| while_state(self.state.load(Ordering::Acquire))));
    }

    #[inline]
    #[track_caller]
    fn access<R>(&self, kind: AccessKind, name: &'static str, act: impl FnOnce() -> R) -> R {
        let place = Place::of(self);
        // If this `Once` was complete when the exploration began, it stays complete in all executions.
        if world::is_inside() && world::was_always(place, u64::from(COMPLETE)) {
            return act();
        }
        let named = Named { name, type_name: "Once", value_kind: ValueKind::Unsigned };
        let value = || u64::from(self.state.load(Ordering::Relaxed));
        world::access_of_std(Access::new(kind, place), named, act, value, atomic::AtomicU32::restore)
    }

    /// Returns whether this `Once` is complete. Exclusive access makes a schedule point unnecessary.
    pub(super) fn is_completed_mut(&mut self) -> bool {
        *self.state.get_mut() == COMPLETE
    }

    /// Makes this `Once` incomplete again.
    pub(super) fn reset(&mut self) {
        *self.state.get_mut() = INCOMPLETE;
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn one_thread_runs_and_the_others_wait() {
        let (once, runs) = (Once::new(), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    once.call_once(|| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                    });
                    assert_eq!(runs.load(Ordering::SeqCst), 1);
                });
            }
        });
        assert!(once.is_completed());
    }

    #[test]
    fn a_panic_poisons() {
        let once = Once::new();
        assert!(catch_unwind(|| once.call_once(|| std::panic::resume_unwind(Box::new(())))).is_err());
        assert!(catch_unwind(|| once.call_once(|| ())).is_err());
        once.call_once_force(|state| assert!(state.is_poisoned()));
        once.call_once(|| unreachable!("it is complete"));
    }
}
