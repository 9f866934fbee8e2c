//! Supervision of the test's code that runs outside of operations: constructors, destructors, models, generators.
//!
//! This code runs on a thread of its own, which records each activity before starting it. If an
//! activity takes too long, the thread is abandoned, and the test fails with a report that names
//! the code. The watchdog of [`Runner`](crate::drive::Runner) does the same for operations.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::token::Token;
use crate::drive::{OsThread, message, panics_are_printed, without_exit};
use crate::primitives::Cancellation;

/// The activity of a supervised thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// An activity that terminates by itself, such as executing runs under a watchdog.
    Running,
    /// Generating programs.
    Generating,
    /// Creating an object.
    Constructing,
    /// Dropping an object.
    Dropping,
    /// Comparing a history with the model.
    Judging,
    /// Finding out why a run failed.
    Explaining,
}

impl Doing {
    const ALL: [Self; 6] =
        [Self::Running, Self::Generating, Self::Constructing, Self::Dropping, Self::Judging, Self::Explaining];

    /// Returns the name of the test's code that this activity executes.
    pub(super) fn place(self) -> &'static str {
        match self {
            Self::Running => "the test",
            Self::Generating => "generating arguments",
            Self::Constructing => "the constructor",
            Self::Dropping => "dropping the object",
            Self::Judging => "the model",
            Self::Explaining => "explaining the failure",
        }
    }
}

/// The time that code outside of operations may take, unless the watchdog is set to a longer time.
pub(super) const LONGEST: Duration = Duration::from_secs(3);
/// The interval at which the supervisor checks whether a thread makes progress.
const TICK: Duration = Duration::from_millis(20);
/// The time for which the supervisor waits for a canceled thread to terminate.
const GRACE: Duration = Duration::from_millis(50);
/// A runnable thread counts as stuck only if it has used at least this much CPU time without progress; with less, it
/// may be waiting for a processor.
const IN_VAIN: Duration = Duration::from_millis(5);

/// The part of a supervised thread that its supervisor can see.
#[derive(Default)]
struct Beacon {
    /// Bits 0 to 7 hold the activity. Bits 8 to 31 hold the index of the run in `tokens`. Bits 32
    /// to 63 hold a counter, which increases whenever an activity begins or ends.
    at: AtomicU64,
    /// The runs that the thread executes.
    tokens: Mutex<Vec<Token>>,
    task: OnceLock<OsThread>,
    cancellation: Cancellation,
}

thread_local!(static BEACON: RefCell<Option<Arc<Beacon>>> = const { RefCell::new(None) });

/// The number that is added to [`Beacon::at`] to increase its counter by 1.
const STEP: u64 = 1 << 32;

/// Records the activity of this thread. Dropping the returned guard restores the previous activity.
/// If `run` is given, also records that the activity concerns this run. Recording takes a few
/// nanoseconds. Does nothing on threads that are not supervised.
#[must_use = "the note is withdrawn when the guard is dropped"]
pub(super) fn note(doing: Doing, run: Option<usize>) -> Note {
    let before = BEACON.with_borrow(|beacon| {
        let beacon = beacon.as_ref()?;
        let before = beacon.at.load(Ordering::Relaxed);
        let run = run.map_or(before >> 8, |run| run as u64) & 0xff_ffff;
        let now = (before & !(STEP - 1)).wrapping_add(STEP) | run << 8 | doing as u64;
        beacon.at.store(now, Ordering::Relaxed);
        Some(before)
    });
    Note(before)
}

/// Records the runs that this thread executes.
pub(super) fn note_runs(tokens: &[Token]) {
    BEACON.with_borrow(|beacon| {
        if let Some(beacon) = beacon {
            tokens.clone_into(&mut beacon.tokens.lock().unwrap_or_else(PoisonError::into_inner));
        }
    });
}

/// A guard that restores the previous activity when it is dropped.
pub(super) struct Note(Option<u64>);

impl Drop for Note {
    fn drop(&mut self) {
        // After a panic, keep the recorded activity, so that the supervisor can report where the
        // panic came from.
        let Some(before) = self.0.filter(|_| !std::thread::panicking()) else { return };
        let _ = BEACON.try_with(|beacon| {
            if let Some(beacon) = &*beacon.borrow() {
                let now = beacon.at.load(Ordering::Relaxed);
                beacon.at.store((now & !(STEP - 1)).wrapping_add(STEP) | before & (STEP - 1), Ordering::Relaxed);
            }
        });
    }
}

/// The reason why a supervised thread did not return a result.
pub(super) struct Trouble {
    /// The activity of the thread.
    pub(super) doing: Doing,
    /// The run that the thread was executing, if there was one.
    pub(super) token: Option<Box<Token>>,
    pub(super) how: How,
}

/// The way in which a supervised thread failed to return.
pub(super) enum How {
    Panicked(Box<dyn Any + Send>),
    Stuck(Duration),
}

impl How {
    /// Returns a description of the failure that follows the name of the code in a sentence, such
    /// as "did not return within 2.0s".
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Panicked(payload) => format!("panicked: {}", message(&**payload)),
            Self::Stuck(time) => format!("did not return within {time:.1?}"),
        }
    }
}

/// A supervised thread.
pub(super) struct Supervised<T> {
    result: Receiver<std::thread::Result<T>>,
    beacon: Arc<Beacon>,
}

impl<T: Send + 'static> Supervised<T> {
    /// Starts a thread, which gets the name of the current thread.
    pub(super) fn start(code: impl FnOnce() -> T + Send + 'static) -> Self {
        let beacon = Arc::<Beacon>::default();
        let (sender, result) = channel();
        let noted = Arc::clone(&beacon);
        let work = move || {
            let _cancellable = noted.cancellation.enter();
            noted.task.get_or_init(OsThread::here);
            BEACON.set(Some(noted));
            let result = without_exit(|| catch_unwind(AssertUnwindSafe(code)));
            // If the code took too long, the supervisor has already stopped waiting, and the result
            // cannot be sent.
            if let Err(unsent) = sender.send(result) {
                std::mem::forget(unsent);
            }
        };
        let name = std::thread::current().name().unwrap_or("trueline").to_owned();
        if let Err(error) = std::thread::Builder::new().name(name).spawn(work) {
            panic!("the system cannot start another thread for a test ({error})");
        }
        Self { result, beacon }
    }

    /// Waits for the result of the thread. Returns [`Trouble`] if the thread panics, or if one of
    /// its activities takes longer than the `limit` for this activity.
    pub(super) fn wait(self, limit: impl Fn(Doing) -> Option<Duration>) -> Result<T, Trouble> {
        let beacon = &*self.beacon;
        let ran = || beacon.task.get().and_then(OsThread::ran);
        let (mut at, mut since, mut ticks, mut ran_before) = (u64::MAX, Instant::now(), 0, None);
        loop {
            match self.result.recv_timeout(TICK) {
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(payload)) => return Err(self.trouble(How::Panicked(payload))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends its result or its panic"),
            }
            let now = beacon.at.load(Ordering::Relaxed);
            if now != at || panics_are_printed() {
                (at, since, ticks, ran_before) = (now, Instant::now(), 0, ran());
                continue;
            }
            ticks += 1;
            // If even the supervisor wakes up late, the whole machine is slow. So the ticks so far
            // count for at most twice their intended time.
            let waited = since.elapsed().min(TICK * 2 * ticks);
            let is_starved = || beacon.task.get().is_some_and(|task| task.is_starved(ran_before, IN_VAIN));
            if limit(doing(at)).is_some_and(|limit| waited >= limit) && !is_starved() {
                let trouble = self.trouble(How::Stuck(waited));
                beacon.cancellation.cancel();
                if let Ok(result) = self.result.recv_timeout(GRACE) {
                    std::mem::forget(result);
                }
                return Err(trouble);
            }
        }
    }

    fn trouble(&self, how: How) -> Trouble {
        let at = self.beacon.at.load(Ordering::Relaxed);
        let run = usize::try_from(at >> 8 & 0xff_ffff).unwrap_or(usize::MAX);
        let tokens = self.beacon.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        Trouble { doing: doing(at), token: tokens.get(run).or(tokens.first()).cloned().map(Box::new), how }
    }
}

fn doing(at: u64) -> Doing {
    Doing::ALL.into_iter().find(|doing| *doing as u64 == at & 0xff).unwrap_or(Doing::Running)
}

/// Calls code of the test on a thread of its own.
///
/// # Panics
/// Panics if the code panics, or does not return in time.
#[track_caller]
pub(super) fn call<T: Send + 'static>(doing: Doing, code: impl FnOnce() -> T + Send + 'static) -> T {
    let noted = move || {
        let _note = note(doing, None);
        code()
    };
    match Supervised::start(noted).wait(|_| Some(LONGEST)) {
        Ok(result) => result,
        Err(Trouble { how: How::Panicked(payload), .. }) => resume_unwind(payload),
        Err(Trouble { how, .. }) => panic!("{} {}", doing.place(), how.describe()),
    }
}
