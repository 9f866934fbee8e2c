//! Watching over code of the test that runs outside of operations: constructors, destructors, models, generators.
//!
//! It runs on a thread of its own, which notes what it is about to do. If that takes too long, the thread is left behind, and
//! the test fails with the place. The watchdog of [`Runner`](crate::drive::Runner) does the same for operations.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::token::Token;
use crate::drive::{Task, message, without_exit};
use crate::primitives::Cancellation;

/// What a supervised thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Something that ends by itself, such as runs under a watchdog.
    Running,
    /// It generates programs.
    Generating,
    /// It makes an object.
    Constructing,
    /// It drops an object.
    Dropping,
    /// It compares a history with the model.
    Judging,
    /// It finds out why a run failed.
    Explaining,
}

impl Doing {
    const ALL: [Self; 6] =
        [Self::Running, Self::Generating, Self::Constructing, Self::Dropping, Self::Judging, Self::Explaining];

    /// Which code of the test that is.
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

/// How long code outside of operations may take, if the watchdog is not set to more.
pub(super) const LONGEST: Duration = Duration::from_secs(3);
/// How often it is looked whether a thread gets anywhere.
const TICK: Duration = Duration::from_millis(20);
/// How long a thread may take to end when it is cancelled.
const GRACE: Duration = Duration::from_millis(50);
/// How long a thread must have run in vain before it can be stuck.
const IN_VAIN: Duration = Duration::from_millis(5);

/// What others see of a supervised thread.
#[derive(Default)]
struct Beacon {
    /// Bits 0 to 7: what it does; 8 to 31: the run that this is about; the others change with each step.
    at: AtomicU64,
    /// The runs.
    tokens: Mutex<Vec<Token>>,
    task: OnceLock<Task>,
    cancellation: Cancellation,
}

thread_local!(static BEACON: RefCell<Option<Arc<Beacon>>> = const { RefCell::new(None) });

/// One step, in the bits that change with each.
const STEP: u64 = 1 << 32;

/// Notes what this thread does, in which run if that is another one, until the guard is dropped. It costs a few nanoseconds, and nothing is noted on threads that
/// nobody supervises.
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

/// Notes which runs this thread makes.
pub(super) fn note_runs(tokens: &[Token]) {
    BEACON.with_borrow(|beacon| {
        if let Some(beacon) = beacon {
            tokens.clone_into(&mut beacon.tokens.lock().unwrap_or_else(PoisonError::into_inner));
        }
    });
}

/// Withdraws a note.
pub(super) struct Note(Option<u64>);

impl Drop for Note {
    fn drop(&mut self) {
        // Whoever gets the panic is to know where it came from.
        let Some(before) = self.0.filter(|_| !std::thread::panicking()) else { return };
        let _ = BEACON.try_with(|beacon| {
            if let Some(beacon) = &*beacon.borrow() {
                let now = beacon.at.load(Ordering::Relaxed);
                beacon.at.store((now & !(STEP - 1)).wrapping_add(STEP) | before & (STEP - 1), Ordering::Relaxed);
            }
        });
    }
}

/// Why a supervised thread returned nothing.
pub(super) struct Trouble {
    /// What it did.
    pub(super) doing: Doing,
    /// In which run.
    pub(super) token: Option<Box<Token>>,
    pub(super) how: How,
}

/// What kept a thread from returning.
pub(super) enum How {
    Panicked(Box<dyn Any + Send>),
    Stuck(Duration),
}

impl How {
    /// It as a part of a sentence.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Panicked(payload) => format!("panicked: {}", message(&**payload)),
            Self::Stuck(time) => format!("did not return within {time:.1?}"),
        }
    }
}

/// A thread that is supervised.
pub(super) struct Supervised<T> {
    result: Receiver<std::thread::Result<T>>,
    beacon: Arc<Beacon>,
}

impl<T: Send + 'static> Supervised<T> {
    /// Starts a thread, which has the name of the present one.
    pub(super) fn start(code: impl FnOnce() -> T + Send + 'static) -> Self {
        let beacon = Arc::<Beacon>::default();
        let (sender, result) = channel();
        let noted = Arc::clone(&beacon);
        let work = move || {
            let _cancellable = noted.cancellation.enter();
            noted.task.get_or_init(Task::here);
            BEACON.set(Some(noted));
            let result = without_exit(|| catch_unwind(AssertUnwindSafe(code)));
            // Nobody listens any more if it took too long.
            if let Err(unsent) = sender.send(result) {
                std::mem::forget(unsent);
            }
        };
        let name = std::thread::current().name().unwrap_or("trueline").to_owned();
        if let Err(error) = std::thread::Builder::new().name(name).spawn(work) {
            panic!("the system has no further thread for a test ({error})");
        }
        Self { result, beacon }
    }

    /// Waits for what it returns. It is in trouble if it does one thing for longer than its `limit`.
    pub(super) fn wait(self, limit: impl Fn(Doing) -> Option<Duration>) -> Result<T, Trouble> {
        let beacon = &*self.beacon;
        let ran = || beacon.task.get().and_then(Task::ran);
        let (mut at, mut since, mut ticks, mut ran_before) = (u64::MAX, Instant::now(), 0, None);
        loop {
            match self.result.recv_timeout(TICK) {
                Ok(Ok(result)) => return Ok(result),
                Ok(Err(payload)) => return Err(self.trouble(How::Panicked(payload))),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the thread sends what it returns or panics with"),
            }
            let now = beacon.at.load(Ordering::Relaxed);
            if now != at {
                (at, since, ticks, ran_before) = (now, Instant::now(), 0, ran());
                continue;
            }
            ticks += 1;
            // If this thread was not awake either, it is the machine that is slow.
            let waited = since.elapsed().min(TICK * 2 * ticks);
            let is_starved = || match (ran_before, ran()) {
                (Some(before), Some(now)) => {
                    now.saturating_sub(before) < IN_VAIN && beacon.task.get().is_some_and(Task::is_runnable)
                }
                _ => false,
            };
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
/// If it does, or if it does not return in time.
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
