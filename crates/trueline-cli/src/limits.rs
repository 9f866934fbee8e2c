//! Enforces `--timeout` and `--memory`, from the first byte read to the last line printed.
//!
//! Reading and judging check the limits themselves, and end with the results so far. In addition, a thread measures the
//! time and the memory of the process, and cancels the work when a limit is reached. If the work does not end soon
//! after that, the thread prints the results so far and ends the process.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trueline::judge::CancelToken;
use trueline::verdict::LimitKind;

use crate::args::LimitArgs;
use crate::output;

/// The work is canceled when the process takes this many bytes more than the memory limit. These
/// bytes are for code, stacks and buffers, which the limit does not cover.
const SPARE: u64 = 12 << 20;
/// The process ends when it takes this many bytes more than the memory limit. Drawing cannot be
/// canceled; during it, the process ends after [`SPARE`] bytes.
const MOST_SPARE: u64 = 18 << 20;
/// The process is ended when it has exceeded the time limit by 4 % of the limit plus this duration.
const GRACE: Duration = Duration::from_millis(30);
/// The additional time that the final output may wait for its readers.
const LAST_WORDS: Duration = Duration::from_millis(15);
/// The shortest and the longest interval between two checks of the limits. The nearer a limit is,
/// the shorter the interval.
const LOOK: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// An upper bound on the memory that a process can fill in one second.
const BYTES_PER_SECOND: u64 = 4 << 30;

/// The environment variable that names the stage at which a timeout is simulated. It has an effect
/// only in debug builds.
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
    /// The memory that the process took when the work started. It does not count towards the limit,
    /// because it may be left over from earlier inputs.
    before: u64,
    /// Canceled when a limit is reached, or when its parent is canceled.
    pub(crate) token: CancelToken,
}

impl Limits {
    /// Starts the time limit. Canceling `parent` also cancels the work.
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

    /// Returns the number of bytes that the process can still take; `None` if the system does not
    /// report its memory.
    pub(crate) fn room(&self) -> Option<u64> {
        self.taken().map(|taken| self.memory.saturating_sub(taken))
    }

    /// Returns the number of bytes that the process has taken since the work started.
    fn taken(&self) -> Option<u64> {
        resident().map(|taken| taken.saturating_sub(self.before))
    }

    /// Runs `work`, which should end soon after the token is canceled. If the work does not end,
    /// `last_words` prints the results so far, and the process exits with the code that
    /// `last_words` returns.
    pub(crate) fn watch<T>(
        &self,
        stage: Stage,
        last_words: impl FnOnce(LimitKind) -> u8 + Send,
        work: impl FnOnce() -> T,
    ) -> T {
        // Tests use this variable to simulate a timeout at a certain stage, because a real clock
        // could not do so reliably. Depending on the value, the work of the stage is canceled, or
        // is treated as if it never ended.
        if let Some(ends) = std::env::var_os(TIME_ENDS).filter(|_| cfg!(debug_assertions)) {
            if ends == *format!("{stage:?}") {
                self.token.cancel_for(LimitKind::Time);
            } else if ends == *format!("{stage:?} forever") {
                output::wait_until(Some(Instant::now()));
                std::process::exit(i32::from(last_words(LimitKind::Time)));
            }
        }
        let ended = Ended::default();
        thread::scope(|scope| {
            // If the thread cannot be started, the work still checks the limits itself.
            let _ = thread::Builder::new().spawn_scoped(scope, || self.wait_for(stage, &ended, last_words));
            let _ends = EndsWhenDropped(&ended);
            work()
        })
    }

    fn wait_for(&self, stage: Stage, ended: &Ended, last_words: impl FnOnce(LimitKind) -> u8) {
        let mut guard = ended.lock();
        while !*guard {
            let headroom = match self.look(stage) {
                Ok(headroom) => headroom,
                // While `guard` holds the lock, the work cannot return. Therefore it cannot print
                // at the same time as `last_words`.
                Err(kind) => std::process::exit(i32::from(last_words(kind))),
            };
            let wait = headroom.clamp(LOOK.0, LOOK.1);
            guard = ended.changed.wait_timeout(guard, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Cancels the work if a limit has been reached. Returns the minimum time until a limit can be
    /// reached, or an error if a limit has been exceeded by so much that the process must end.
    fn look(&self, stage: Stage) -> Result<Duration, LimitKind> {
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
        if let Some(taken) = self.taken() {
            if taken > self.memory.saturating_add(SPARE) {
                self.token.cancel_for(LimitKind::Memory);
            }
            let most = if matches!(stage, Stage::Drawing) { SPARE } else { MOST_SPARE };
            if taken > self.memory.saturating_add(most) {
                return Err(LimitKind::Memory);
            }
            let bytes = self.memory.saturating_sub(taken);
            headroom = headroom.min(Duration::from_micros(bytes / (BYTES_PER_SECOND / 1_000_000)));
        }
        Ok(headroom)
    }
}

/// For a time limit of `time`, returns the elapsed time at which the process is ended.
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
