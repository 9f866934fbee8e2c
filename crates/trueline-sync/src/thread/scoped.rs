//! Scoped threads, which may borrow from the thread that spawns them.
#![expect(unsafe_code, reason = "the scope waits for threads that borrow from its surroundings")]

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::{fmt, io};

use super::spawned::Spawned;
use super::{Builder, Result, Thread};
use crate::cancel::unpoisoned;
use crate::sync::{Condvar, Mutex};

/// The state of a scope's threads.
#[derive(Default)]
struct Running {
    threads: usize,
    /// The number of threads that have panicked and were not joined.
    panicked: usize,
}

#[derive(Default)]
struct Shared {
    running: Mutex<Running>,
    changed: Condvar,
}

/// A scope that can spawn threads which borrow local variables; see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    shared: Arc<Shared>,
    // Makes the type invariant in both lifetimes, as in `std`: they must neither grow nor shrink.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Owns a thread of a [`Scope`].
pub struct ScopedJoinHandle<'scope, T> {
    spawned: Spawned<T>,
    shared: Arc<Shared>,
    scope: PhantomData<&'scope ()>,
}

/// Calls `body` with a scope that can spawn threads which borrow local variables. Waits for these
/// threads.
///
/// ```
/// let numbers = [1, 2, 3];
/// let sum: i32 = trueline_sync::thread::scope(|scope| {
///     let sum = scope.spawn(|| numbers.iter().sum());
///     sum.join().unwrap()
/// });
/// assert_eq!(sum, 6);
/// ```
///
/// # Panics
/// Panics if a thread that was not joined has panicked.
#[track_caller]
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope { shared: Arc::default(), scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let mut running = unpoisoned(scope.shared.running.lock());
    while running.threads > 0 {
        running = unpoisoned(scope.shared.changed.wait(running));
    }
    let panicked = running.panicked;
    drop(running);
    match result {
        Err(payload) => resume_unwind(payload),
        Ok(_) if panicked > 0 => panic!("a scoped thread panicked"),
        Ok(result) => result,
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread in this scope.
    ///
    /// # Panics
    /// Panics if the thread cannot be started.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, body: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        Builder::new().spawn_scoped(self, body).expect("failed to spawn thread")
    }
}

impl Builder {
    /// Starts a thread in a scope.
    ///
    /// # Errors
    /// Fails if the thread cannot be started.
    #[track_caller]
    pub fn spawn_scoped<'scope, F, T>(
        self,
        scope: &'scope Scope<'scope, '_>,
        body: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let shared = Arc::clone(&scope.shared);
        let theirs = Arc::clone(&shared);
        unpoisoned(shared.running.lock()).threads += 1;
        let ended = move |has_panicked: bool| {
            let mut running = unpoisoned(theirs.running.lock());
            running.threads -= 1;
            running.panicked += usize::from(has_panicked);
            theirs.changed.notify_all();
        };
        // SAFETY: everything that the thread borrows lives for `'scope`, which does not end before `scope` returns.
        // `scope` waits until `ended`, which owns everything it uses, has decremented the number of threads.
        let spawned = unsafe { self.spawn_then(body, ended) };
        match spawned {
            Ok(spawned) => Ok(ScopedJoinHandle { spawned, shared, scope: PhantomData }),
            Err(error) => {
                unpoisoned(shared.running.lock()).threads -= 1;
                Err(error)
            }
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended.
    ///
    /// # Errors
    /// Returns the payload of the panic if the thread has panicked.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let result = self.spawned.join();
        if result.is_err() {
            unpoisoned(self.shared.running.lock()).panicked -= 1;
        }
        result
    }

    /// Returns a handle to the thread.
    #[must_use]
    pub fn thread(&self) -> &Thread {
        self.spawned.thread()
    }

    /// Returns whether the thread has ended.
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        self.spawned.is_finished()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_that_was_not_seen_goes_on() {
        let quiet = || resume_unwind(Box::new("of a thread"));
        let seen = catch_unwind(|| scope(|scope| scope.spawn(quiet).join().is_err() as u8));
        assert_eq!(seen.expect("the thread that panicked was joined"), 1);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        let unseen = catch_unwind(|| scope(|scope| drop::<ScopedJoinHandle<'_, ()>>(scope.spawn(quiet))));
        std::panic::set_hook(hook);
        assert!(unseen.is_err());
    }
}
