//! The clock that measures when operations are called and when they return.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

#[cfg(target_arch = "x86_64")]
use super::raw;

/// The clock of a recorder.
///
/// A clock must neither hide violations nor introduce them. A time stamp counter without fences may
/// be read too early or too late, so correct objects may appear to violate their specification. A
/// shared counter orders memory like a lock: when an operation has returned, all other threads see
/// its writes. So a shared counter hides faults of objects whose memory orderings are too weak:
/// without the counter, such an object may violate its specification because a write is not yet
/// visible to other threads when the operation returns.
///
/// ```
/// use trueline::drive::Clock;
///
/// let clock = Clock::best().clock;
/// let before = clock.now();
/// assert!(clock.now() >= before);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clock {
    /// The time stamp counter of the processor, read between two fences. Reading it takes about 20
    /// ns. Available only on x86-64.
    TimeStamp,
    /// [`Instant`], the monotonic clock of the operating system. Reading it takes about 25 ns.
    Instant,
    /// A counter that all threads share. It hides faults in memory orderings; use it only on machines without a better
    /// clock.
    Counter,
}

/// A clock, and why it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chosen {
    /// The clock.
    pub clock: Clock,
    /// The reason why the best clock is not available; `None` if `clock` is the best clock.
    pub warning: Option<&'static str>,
}

impl Clock {
    /// All clocks.
    pub const ALL: [Self; 3] = [Self::TimeStamp, Self::Instant, Self::Counter];

    /// Returns the best clock of this machine. This is the time stamp counter if the counters of
    /// all processors agree, and [`Instant`] otherwise. Whether the counters agree is tested once.
    #[doc(hidden)]
    pub fn best() -> Chosen {
        static BEST: OnceLock<Chosen> = OnceLock::new();
        *BEST.get_or_init(|| match Self::TimeStamp.check() {
            Ok(()) => Chosen { clock: Self::TimeStamp, warning: None },
            Err(warning) => Chosen { clock: Self::Instant, warning: Some(warning) },
        })
    }

    /// Checks that this machine has this clock, and that threads on several processors agree on it.
    ///
    /// # Errors
    /// Returns the reason why the clock cannot be used.
    #[doc(hidden)]
    pub fn check(self) -> Result<(), &'static str> {
        #[cfg(target_arch = "x86_64")]
        let is_there = raw::has_invariant_time_stamps();
        #[cfg(not(target_arch = "x86_64"))]
        let is_there = false;
        match self {
            Self::TimeStamp if !is_there => {
                Err("this processor has no time stamp counter that runs at a constant rate")
            }
            Self::TimeStamp | Self::Instant if !agrees(processors(), || self.now()) => {
                Err("the time stamp counters of the processors do not agree")
            }
            _ => Ok(()),
        }
    }

    /// Returns the current time, in a unit that depends on the clock.
    #[inline(always)]
    #[doc(hidden)]
    pub fn now(self) -> u64 {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::TimeStamp => raw::fenced_time_stamp(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::TimeStamp => instant(),
            Self::Instant => instant(),
            Self::Counter => {
                static COUNTER: AtomicU64 = AtomicU64::new(0);
                COUNTER.fetch_add(1, Ordering::SeqCst)
            }
        }
    }

    /// Returns the name of the clock, as [`FromStr`] parses it.
    #[doc(hidden)]
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeStamp => "tsc",
            Self::Instant => "instant",
            Self::Counter => "counter",
        }
    }
}

fn instant() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let elapsed = START.get_or_init(Instant::now).elapsed().as_nanos();
    u64::try_from(elapsed).expect("500 years in nanoseconds fit in 64 bits")
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Clock {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|clock| clock.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            format!("no clock is called `{name}`; the clocks are {}", names.join(", "))
        })
    }
}

/// The number of times that a time stamp is passed between threads before the clock is trusted.
const HANDED_ON: usize = 4000;
/// The maximum number of threads that pass time stamps to each other.
const MOST_THREADS: usize = 8;

/// Returns the number of threads that pass time stamps to each other on this machine.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}

/// Passes time stamps from thread to thread. Returns `true` if no thread reads a time that is
/// earlier than the time stamp it received.
fn agrees(threads: usize, now: impl Fn() -> u64 + Sync) -> bool {
    let (turn, latest) = (AtomicUsize::new(0), AtomicU64::new(now()));
    let errors = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (turn, latest, errors, now) = (&turn, &latest, &errors, &now);
            scope.spawn(move || {
                let mut spins = 0_u32;
                loop {
                    let turns = turn.load(Ordering::Acquire);
                    if turns >= HANDED_ON {
                        return;
                    }
                    if turns % threads != thread {
                        spins += 1;
                        if spins % 64 == 0 {
                            std::thread::yield_now();
                        }
                        std::hint::spin_loop();
                        continue;
                    }
                    let seen = now();
                    if seen < latest.load(Ordering::Relaxed) {
                        errors.fetch_add(1, Ordering::Relaxed);
                    }
                    latest.store(seen, Ordering::Relaxed);
                    turn.store(turns + 1, Ordering::Release);
                }
            });
        }
    });
    errors.into_inner() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        for clock in Clock::ALL {
            assert_eq!(clock.to_string().parse(), Ok(clock));
        }
        assert!("sundial".parse::<Clock>().expect_err("no clock has this name").contains("instant"));
    }

    #[test]
    fn clocks_that_do_not_agree_are_found_out() {
        thread_local!(static LATE: u64 = {
            static THREADS: AtomicU64 = AtomicU64::new(0);
            THREADS.fetch_add(1, Ordering::Relaxed) * 1_000_000
        });
        assert!(!agrees(2, || instant() + LATE.with(|late| *late)));
        assert!(agrees(2, instant));
        assert!(agrees(2, || Clock::Counter.now()));
    }

    #[test]
    fn the_best_clock_is_one_that_works() {
        let Chosen { clock, warning } = Clock::best();
        assert_eq!(clock.check(), Ok(()));
        assert_eq!(warning.is_some(), clock != Clock::TimeStamp);
    }
}
