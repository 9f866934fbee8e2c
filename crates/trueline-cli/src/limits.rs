//! `--timeout` and `--memory`, from the first byte read to the last line printed.
//!
//! Reading and judging check the limits themselves, and end with the results so far. A thread watches over the rest: it
//! measures the memory of the process and cancels the work when a limit is reached. If the work does not end soon
//! after, the thread prints the results so far and ends the process.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trueline::judge::CancelToken;
use trueline::verdict::LimitKind;

use crate::args::LimitArgs;
use crate::output;

/// Work is canceled when the process takes this much more than the limit, which does not cover code, stacks and
/// buffers.
const SPARE: u64 = 12 << 20;
/// The process ends when it takes this much more than the limit.
const MOST_SPARE: u64 = 24 << 20;
/// The process ends this long, plus a 25th of the time limit, after the time limit has passed.
const GRACE: Duration = Duration::from_millis(30);
/// The time that the final output waits for its readers.
const LAST_WORDS: Duration = Duration::from_millis(15);
/// The shortest and longest interval between checks of the limits: the former if a limit is near.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));
/// An upper bound on the memory that a process can fill in one second.
const BYTES_PER_SECOND: u64 = 4 << 30;

/// The environment variable that, in debug builds, names the stage at which time runs out.
const TIME_ENDS: &str = "TRUELINE_TIME_ENDS";

/// The stages of a command's work on one input, in order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// Reading and judging.
    Judging,
    /// Adding explanations to the verdict.
    Explaining,
    /// Drawing and writing.
    Drawing,
}

/// The limits of a command's work on one input.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    started: Instant,
    time: Option<Duration>,
    pub(crate) memory: u64,
    /// The memory that the process took at the start, because earlier inputs may have left some allocated.
    before: u64,
    /// Canceled when a limit is reached, or when its parent is canceled.
    pub(crate) token: CancelToken,
}

impl Limits {
    /// Starts the clock. Canceling `parent` ends the work, too.
    pub(crate) fn start(args: &LimitArgs, parent: &CancelToken) -> Self {
        let LimitArgs { timeout: time, memory } = *args;
        let started = Instant::now();
        output::wait_until(time.and_then(|time| started.checked_add(latest(time).saturating_add(LAST_WORDS))));
        Self { started, time, memory, before: resident().unwrap_or(0), token: parent.child() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the time that is left; `None` if the time is unlimited.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.elapsed()))
    }

    /// Returns the limit that has been reached, if any.
    pub(crate) fn reached(&self) -> Option<LimitKind> {
        self.token.reason().or_else(|| self.left().filter(Duration::is_zero).map(|_| LimitKind::Time))
    }

    /// Does `work`, which should end soon after the token is canceled. If it does not, `last_words` prints what is
    /// known, and the process ends with the exit code that it returns.
    pub(crate) fn watch<T>(
        &self,
        stage: Stage,
        last_words: impl FnOnce(LimitKind) -> u8 + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        // Tests make the time run out at a certain stage, which no clock could do reliably: the work is canceled there,
        // or is treated as if it never ended.
        if let Some(ends) = std::env::var_os(TIME_ENDS).filter(|_| cfg!(debug_assertions)) {
            if ends == *format!("{stage:?}") {
                self.token.cancel_for(LimitKind::Time);
            } else if ends == *format!("{stage:?} for ever") {
                output::wait_until(Some(Instant::now()));
                std::process::exit(i32::from(last_words(LimitKind::Time)));
            }
        }
        let ended = Ended::default();
        thread::scope(|scope| {
            // If the thread cannot be started, the work still checks the limits itself.
            let _ = thread::Builder::new().spawn_scoped(scope, || self.wait_for(&ended, last_words));
            let _ends = EndsWhenDropped(&ended);
            work()
        })
    }

    fn wait_for(&self, ended: &Ended, last_words: impl FnOnce(LimitKind) -> u8) {
        let mut guard = ended.lock();
        while !*guard {
            let headroom = match self.look() {
                Ok(headroom) => headroom,
                // While this lock is held, the work cannot return, so that it cannot print at the same time.
                Err(kind) => std::process::exit(i32::from(last_words(kind))),
            };
            let wait = headroom.clamp(LOOK.0, LOOK.1);
            guard = ended.changed.wait_timeout(guard, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Cancels the work if a limit is reached, and returns the time until one can be reached at the earliest. Returns
    /// an error if a limit is exceeded by too much.
    fn look(&self) -> Result<Duration, LimitKind> {
        let mut headroom = Duration::MAX;
        if let (Some(left), Some(time)) = (self.left(), self.time) {
            if left.is_zero() {
                self.token.cancel_for(LimitKind::Time);
            }
            if self.elapsed() > latest(time) {
                return Err(LimitKind::Time);
            }
            headroom = left;
        }
        if let Some(taken) = resident().map(|taken| taken.saturating_sub(self.before)) {
            if taken > self.memory.saturating_add(SPARE) {
                self.token.cancel_for(LimitKind::Memory);
            }
            if taken > self.memory.saturating_add(MOST_SPARE) {
                return Err(LimitKind::Memory);
            }
            let bytes = self.memory.saturating_sub(taken);
            headroom = headroom.min(Duration::from_micros(bytes / (BYTES_PER_SECOND / 1_000_000)));
        }
        Ok(headroom)
    }
}

/// Returns the time after which the process is ended, for a time limit of `time`.
fn latest(time: Duration) -> Duration {
    time.saturating_add(time / 25).saturating_add(GRACE)
}

/// Whether the watched work has ended.
#[derive(Default)]
struct Ended {
    is_over: Mutex<bool>,
    changed: Condvar,
}

impl Ended {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the watch when dropped, even if the work panics.
struct EndsWhenDropped<'e>(&'e Ended);

impl Drop for EndsWhenDropped<'_> {
    fn drop(&mut self) {
        *self.0.lock() = true;
        self.0.changed.notify_all();
    }
}

/// Returns the private resident memory of the process in bytes; `None` if the system does not report it.
#[cfg(unix)]
fn resident() -> Option<u64> {
    let page = rustix::param::page_size() as u64;
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let mut pages = pages.split(' ').skip(1).map_while(|field| field.parse::<u64>().ok());
    let (all, shared) = (pages.next()?, pages.next()?);
    Some(all.saturating_sub(shared) * page)
}

#[cfg(not(unix))]
fn resident() -> Option<u64> {
    None
}
