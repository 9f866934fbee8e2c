//! `--timeout` and `--memory`, from the first byte read to the last line printed.
//!
//! Reading and judging look at the limits by themselves, and end with what they know. A thread watches over the rest: it
//! measures the memory of the process, cancels the work when a limit is reached, and if the work does not end soon after,
//! it ends the process, with the last words of the command.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trueline::judge::CancelToken;
use trueline::verdict::LimitKind;

use crate::args::LimitArgs;
use crate::output;

/// Work is cancelled when the process takes this much more than the limit: code, stacks and buffers are not counted by it.
const SPARE: u64 = 12 << 20;
/// The process ends when it takes this much more than the limit.
const MOST_SPARE: u64 = 24 << 20;
/// The process ends this long after the time is up, and a 25th of the time.
const GRACE: Duration = Duration::from_millis(30);
/// Readers of the last words are waited for this long.
const LAST_WORDS: Duration = Duration::from_millis(15);
/// The limits are looked at this often when one is near, and when none is.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));
/// No process fills more memory in a second.
const BYTES_PER_SECOND: u64 = 4 << 30;

/// In debug builds, the variable that names the stage at which the time ends.
const TIME_ENDS: &str = "TRUELINE_TIME_ENDS";

/// What a command does with one input, in its order.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// It reads and judges.
    Judging,
    /// It finds out what else is to be said of the verdict.
    Explaining,
    /// It draws, and writes.
    Drawing,
}

/// The limits of what a command does with one input.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    started: Instant,
    time: Option<Duration>,
    pub(crate) memory: u64,
    /// What the process took at the start: earlier inputs may have left some.
    before: u64,
    /// Cancelled when a limit is reached, or with its parent.
    pub(crate) token: CancelToken,
}

impl Limits {
    /// Starts the clock. The work ends with `parent`, too.
    pub(crate) fn start(args: &LimitArgs, parent: &CancelToken) -> Self {
        let LimitArgs { timeout: time, memory } = *args;
        let started = Instant::now();
        output::wait_until(time.and_then(|time| started.checked_add(latest(time).saturating_add(LAST_WORDS))));
        Self { started, time, memory, before: resident().unwrap_or(0), token: parent.child() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The time that is left, if it is limited.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.time.map(|time| time.saturating_sub(self.elapsed()))
    }

    /// The limit that is reached, if one is.
    pub(crate) fn reached(&self) -> Option<LimitKind> {
        self.token.reason().or_else(|| self.left().filter(Duration::is_zero).map(|_| LimitKind::Time))
    }

    /// Does `work`, which should end soon after the token is cancelled. If it does not, `last_words` says what is known, and
    /// the process ends with the exit code that it returns.
    pub(crate) fn watch<T>(
        &self,
        stage: Stage,
        last_words: impl FnOnce(LimitKind) -> u8 + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        // Tests end the time at a stage, which no clock could do for certain: the work is cancelled there, or never ends.
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
            // Without a thread to watch, the work still looks at the limits itself.
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
                // The work cannot go on, and neither print, while the lock is held.
                Err(kind) => std::process::exit(i32::from(last_words(kind))),
            };
            let wait = headroom.clamp(LOOK.0, LOOK.1);
            guard = ended.changed.wait_timeout(guard, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Cancels the work if a limit is reached, and tells how long none can be; or which limit is passed by too much.
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

/// When the process ends if this is the most time.
fn latest(time: Duration) -> Duration {
    time.saturating_add(time / 25).saturating_add(GRACE)
}

/// Whether work that is watched has ended.
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

/// Ends the watch, also when the work panics.
struct EndsWhenDropped<'e>(&'e Ended);

impl Drop for EndsWhenDropped<'_> {
    fn drop(&mut self) {
        *self.0.lock() = true;
        self.0.changed.notify_all();
    }
}

/// How many bytes of memory of its own the process has, as far as the system tells.
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
