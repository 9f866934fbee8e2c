//! Cancellation of threads that are stuck.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Ends threads that are stuck in an object. Rust cannot interrupt a thread, so the primitives check for cancellation.
///
/// After [`cancel`](Self::cancel) is called, each thread that has [entered](Self::enter) the
/// cancellation is ended: at its next access to a primitive, at its next
/// [`spin_hint`](crate::primitives::spin_hint), or while it waits for a
/// [`Mutex`](crate::primitives::Mutex) or on a [`Condvar`](crate::primitives::Condvar). The thread
/// unwinds with a private payload, without a message, up to the call of [`catch_cancelled`] that
/// the harness has put around the operation; guards are dropped on the way. The operation that was
/// ended is pending: it has not returned, and may have taken effect in part. So the object must no
/// longer be used.
///
/// A thread that blocks or loops without using the primitives cannot be ended, and neither can a thread that is already
/// unwinding. A program that is built with `panic = "abort"` aborts.
///
/// ```
/// use trueline_sync::primitives::{Cancellation, catch_cancelled, spin_hint};
///
/// let cancellation = Cancellation::new();
/// std::thread::scope(|scope| {
///     let stuck = scope.spawn(|| {
///         let _cancellable = cancellation.enter();
///         catch_cancelled(|| loop {
///             spin_hint(); // waits forever
///         })
///     });
///     cancellation.cancel();
///     let ended: Result<(), _> = stuck.join().expect("it does not panic");
///     assert!(ended.is_err());
/// });
/// ```
#[derive(Clone, Default)]
pub struct Cancellation {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    /// The threads that have entered this cancellation. [`Cancellation::cancel`] wakes them.
    inside: Mutex<Vec<Arc<Sleeper>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if *self.cancelled.get_mut() {
            CANCELLED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The number of existing cancellations whose [`cancel`](Cancellation::cancel) has been called.
/// While it is 0, which is nearly always, a schedule point costs one load of this number, and
/// checks nothing else.
static CANCELLED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
    static SLEEPER: Arc<Sleeper> = Arc::default();
}

impl Cancellation {
    /// Creates a cancellation, which ends threads only after [`cancel`](Self::cancel) is called.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the threads that have [entered](Self::enter) this cancellation. This cannot be undone.
    pub fn cancel(&self) {
        if !self.shared.cancelled.swap(true, Ordering::SeqCst) {
            CANCELLED.fetch_add(1, Ordering::SeqCst);
        }
        for sleeper in lock(&self.shared.inside).iter() {
            // Locking `notified` ensures that the thread is not between its check for cancellation
            // and its sleep.
            drop(lock(&sleeper.notified));
            sleeper.changed.notify_one();
        }
    }

    /// Returns whether [`cancel`](Self::cancel) has been called.
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::SeqCst)
    }

    /// Returns the threads that have entered this cancellation and are waiting. Such a thread waits
    /// on a condition variable and was not notified, or waits for a mutex and failed to lock it at
    /// its last attempt.
    fn waiting(&self) -> Vec<Waiting> {
        let inside = lock(&self.shared.inside);
        let tries = |sleeper: &Arc<Sleeper>| sleeper.tries.load(Ordering::SeqCst);
        let tries_before: Vec<u64> = inside.iter().map(tries).collect();
        let sleeps = |sleeper: &Arc<Sleeper>| {
            let notified = lock(&sleeper.notified);
            let sleeps = sleeper.sleeps.load(Ordering::SeqCst);
            let locking = sleeper.is_locking.load(Ordering::SeqCst);
            (sleeps % 2 == 1 && (locking || !*notified)).then_some((sleeps, locking))
        };
        let sleeps: Vec<_> = inside.iter().map(sleeps).collect();
        let tries_after = inside.iter().map(tries);
        let threads = inside.iter().zip(sleeps).zip(tries_before.iter().zip(tries_after));
        let threads = threads.filter_map(|((sleeper, sleeps), (tries_before, tries_after))| {
            let (sleep, is_locking) = sleeps?;
            Some(Waiting {
                thread: Arc::as_ptr(sleeper).addr(),
                sleep,
                is_locking,
                tries_before: *tries_before,
                tries_after,
            })
        });
        threads.collect()
    }

    /// Allows this thread to be canceled until the guard is dropped.
    ///
    /// Calls may be nested: while several guards exist, only the token of the newest guard can end the thread.
    #[must_use = "once the guard is dropped, the thread can no longer be canceled"]
    pub fn enter(&self) -> Cancellable {
        lock(&self.shared.inside).push(sleeper());
        let before = CURRENT.replace(Some(self.clone()));
        Cancellable { entered: self.clone(), before, this_thread: std::marker::PhantomData }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancellation").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}

/// Detects whether the threads inside a [`Cancellation`] are deadlocked.
///
/// A thread that waits for a mutex tries to lock it again and again. For a moment after it has
/// locked the mutex, the thread still counts as waiting, so observing the threads twice is not
/// enough. Suppose that all threads are in the same waits at three observations, and that each
/// thread that waits for a mutex has failed to lock it between the first and the second
/// observation, and again between the second and the third:
/// - Between the first and the second observation, no thread has locked the mutex that it waits
///   for, because each of these threads was still trying to lock its mutex after the second
///   observation. So all threads only waited: no thread has released a mutex or notified another
///   thread.
/// - During this time, each of these mutexes was held. Its holder is either one of the waiting
///   threads, and does not release the mutex while it waits, or a thread that has ended.
///
/// So no wait ends, unless a thread outside of the cancellation ends it.
#[derive(Debug, Default)]
pub struct DeadlockWatch {
    first: Option<Vec<Waiting>>,
    second: Option<Vec<Waiting>>,
}

impl DeadlockWatch {
    /// Observes the threads once more, and returns whether they are deadlocked. `busy` is the
    /// number of threads, not counting those that have ended or are waiting at a barrier that all
    /// threads must reach. The caller counts the threads before this call.
    pub fn look(&mut self, cancellation: &Cancellation, busy: usize) -> bool {
        let now = cancellation.waiting();
        if busy == 0 || now.len() < busy {
            *self = Self::default();
            return false;
        }
        match (&self.first, &self.second) {
            (Some(_), Some(second)) if tried_in_vain(second, &now) => return true,
            (Some(first), None) if tried_in_vain(first, &now) => self.second = Some(now),
            (Some(first), _) if are_same_waits(first, &now) => {}
            _ => *self = Self { first: Some(now), second: None },
        }
        false
    }
}

/// A thread that was waiting when it was observed.
#[derive(Debug)]
struct Waiting {
    thread: usize,
    /// The number of the wait; see [`Sleeper::sleeps`].
    sleep: u64,
    /// Whether the observed thread is waiting for a mutex.
    is_locking: bool,
    /// The number of failed attempts to lock a mutex. `tries_before` is loaded before the other
    /// fields are observed, and `tries_after` after them.
    tries_before: u64,
    tries_after: u64,
}

fn are_same_waits(before: &[Waiting], now: &[Waiting]) -> bool {
    before.iter().map(|one| (one.thread, one.sleep)).eq(now.iter().map(|one| (one.thread, one.sleep)))
}

/// Returns whether both observations show the same waits, and whether each thread that waits for a
/// mutex has failed to lock it since the observation `before`. Only attempts that began after
/// `before` count. One attempt may have been under way during the observation `before`, so this
/// function requires two more failed attempts.
fn tried_in_vain(before: &[Waiting], now: &[Waiting]) -> bool {
    let has_tried = |(before, now): (&Waiting, &Waiting)| {
        !now.is_locking || now.tries_before >= before.tries_after.saturating_add(2)
    };
    are_same_waits(before, now) && before.iter().zip(now).all(has_tried)
}

/// Keeps a thread inside the [`Cancellation`] that it has entered, until dropped.
#[derive(Debug)]
pub struct Cancellable {
    entered: Cancellation,
    before: Option<Cancellation>,
    this_thread: std::marker::PhantomData<*const ()>,
}

impl Drop for Cancellable {
    fn drop(&mut self) {
        let _ = CURRENT.try_with(|current| current.replace(self.before.take()));
        let this = SLEEPER.try_with(Arc::clone);
        let mut inside = lock(&self.entered.shared.inside);
        if let Some(at) = this.ok().and_then(|this| inside.iter().position(|sleeper| Arc::ptr_eq(sleeper, &this))) {
            inside.swap_remove(at);
        }
    }
}

/// The error of an operation that was ended by its [`Cancellation`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cancelled(());

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operation was canceled")
    }
}

impl std::error::Error for Cancelled {}

/// Runs `operation`, and catches the panic by which a [`Cancellation`] ends the operation. Other
/// panics are not caught.
///
/// # Errors
/// Returns an error if the operation was canceled.
pub fn catch_cancelled<R>(operation: impl FnOnce() -> R) -> Result<R, Cancelled> {
    // Unwind safe: only the object may be left in an inconsistent state, and the object must no
    // longer be used (see `Cancellation`).
    catch_unwind(AssertUnwindSafe(operation)).map_err(|payload: Box<dyn Any + Send>| {
        payload.downcast::<Cancelled>().map_or_else(|panic| resume_unwind(panic), |cancelled| *cancelled)
    })
}

/// Returns whether [`cancel`](Cancellation::cancel) of any existing cancellation has been called.
#[inline]
pub(crate) fn any() -> bool {
    CANCELLED.load(Ordering::Relaxed) != 0
}

/// Returns whether this thread can be canceled.
pub(crate) fn is_cancellable() -> bool {
    CURRENT.try_with(|current| current.borrow().is_some()).unwrap_or(false)
}

fn is_cancelled() -> bool {
    let is_cancelled =
        |current: &RefCell<Option<Cancellation>>| current.borrow().as_ref().is_some_and(Cancellation::is_cancelled);
    CURRENT.try_with(is_cancelled).unwrap_or(false)
}

/// Ends this thread if it is canceled.
#[inline]
pub(crate) fn check() {
    // A panic while the thread unwinds would abort the program.
    if any() && is_cancelled() && !std::thread::panicking() {
        end(Cancelled(()));
    }
}

/// Ends this thread, which has been canceled.
pub(crate) fn end(cancelled: Cancelled) -> ! {
    resume_unwind(Box::new(cancelled))
}

/// A thread that sleeps until it is notified or canceled. Each thread has one `Sleeper`, since it
/// waits for one thing at a time.
#[derive(Default, Debug)]
pub(crate) struct Sleeper {
    notified: Mutex<bool>,
    changed: Condvar,
    /// This number is odd while the thread waits for a mutex, or waits for a notification without a
    /// time limit; otherwise, it is even. Each wait has its own number.
    sleeps: AtomicU64,
    /// Whether the thread is waiting for a mutex.
    is_locking: AtomicBool,
    /// The number of failed attempts to lock a mutex that the thread waited for.
    tries: AtomicU64,
}

/// Marks this thread as waiting for a mutex, until dropped.
pub(super) struct Locking(Arc<Sleeper>);

impl Locking {
    pub(super) fn begin() -> Self {
        let sleeper = sleeper();
        sleeper.is_locking.store(true, Ordering::SeqCst);
        sleeper.sleeps.fetch_add(1, Ordering::SeqCst);
        Self(sleeper)
    }

    /// Counts an attempt that failed because another thread held the mutex.
    pub(super) fn tried_in_vain(&self) {
        self.0.tries.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Locking {
    fn drop(&mut self) {
        self.0.sleeps.fetch_add(1, Ordering::SeqCst);
        self.0.is_locking.store(false, Ordering::SeqCst);
    }
}

impl Sleeper {
    /// Forgets notifications of earlier sleeps.
    pub(crate) fn prepare(&self) {
        *lock(&self.notified) = false;
    }

    pub(crate) fn notify(&self) {
        *lock(&self.notified) = true;
        self.changed.notify_one();
    }

    /// Sleeps until the thread is notified or the deadline is reached. Returns `true` if it was
    /// notified, and `false` if it was not. Returns an error if the thread is canceled.
    pub(crate) fn sleep_until(&self, deadline: Option<Instant>) -> Result<bool, Cancelled> {
        if deadline.is_some() {
            return self.sleep(deadline);
        }
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        let woken = self.sleep(None);
        self.sleeps.fetch_add(1, Ordering::SeqCst);
        woken
    }

    fn sleep(&self, deadline: Option<Instant>) -> Result<bool, Cancelled> {
        let mut notified = lock(&self.notified);
        while !*notified {
            if is_cancelled() && !std::thread::panicking() {
                return Err(Cancelled(()));
            }
            notified = match deadline {
                None => self.changed.wait(notified).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let remaining = deadline.saturating_duration_since(Instant::now());
                    if remaining.is_zero() {
                        return Ok(false);
                    }
                    self.changed.wait_timeout(notified, remaining).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        Ok(true)
    }
}

/// Returns the sleeper of this thread.
pub(crate) fn sleeper() -> Arc<Sleeper> {
    SLEEPER.with(Arc::clone)
}

/// Locks `mutex`, even if it is poisoned. No thread panics while it holds a mutex that this function
/// has locked, but a thread that was ended by force might have poisoned the mutex.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the guard of a lock, even if the lock is poisoned.
pub(crate) fn unpoisoned<G>(result: std::sync::LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::primitives;

    /// Runs `stuck` on a thread, cancels the thread, and returns whether `stuck` was ended.
    fn is_ended(stuck: impl FnOnce() + Send) -> bool {
        let cancellation = Cancellation::new();
        let started = AtomicBool::new(false);
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let _cancellable = cancellation.enter();
                started.store(true, Ordering::SeqCst);
                catch_cancelled(stuck).is_err()
            });
            while !started.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            cancellation.cancel();
            thread.join().expect("the thread does not panic")
        })
    }

    #[test]
    fn loops_over_shared_memory_are_ended() {
        let flag = primitives::AtomicBool::new(false);
        assert!(is_ended(|| while !flag.load(Ordering::SeqCst) {}));
        assert!(is_ended(|| loop {
            primitives::spin_hint();
        }));
    }

    #[test]
    fn waiting_for_a_mutex_is_ended() {
        let mutex = primitives::Mutex::new(());
        let held = mutex.lock();
        assert!(is_ended(|| drop(mutex.lock())));
        drop(held);
        drop(mutex.lock());
    }

    #[test]
    fn waiting_on_a_condition_variable_is_ended_and_forgotten() {
        let (mutex, condvar) = (primitives::Mutex::new(()), primitives::Condvar::new());
        assert!(is_ended(|| drop(condvar.wait_while(mutex.lock(), |()| true))));
        assert_eq!(condvar.waiting(), 0);
        assert!(is_ended(|| drop(condvar.wait_timeout_while(mutex.lock(), Duration::MAX, |()| true))));
        assert_eq!(condvar.waiting(), 0);
        drop(mutex.lock());
    }

    #[test]
    fn others_are_not_ended() {
        let cancellation = Cancellation::new();
        let bystander = Cancellation::new();
        let _cancellable = bystander.enter();
        cancellation.cancel();
        assert!(cancellation.is_cancelled() && !bystander.is_cancelled());
        assert_eq!(catch_cancelled(|| primitives::AtomicU64::new(3).load(Ordering::SeqCst)), Ok(3));
    }

    #[test]
    fn a_thread_that_has_left_is_not_ended() {
        let cancellation = Cancellation::new();
        drop(cancellation.enter());
        assert!(lock(&cancellation.shared.inside).is_empty());
        cancellation.cancel();
        assert_eq!(catch_cancelled(primitives::point), Ok(()));
    }

    #[test]
    fn panics_pass_through() {
        let panic = catch_unwind(|| catch_cancelled(|| resume_unwind(Box::new("of its own"))));
        assert_eq!(panic.expect_err("the operation panics").downcast_ref(), Some(&"of its own"));
    }
}
