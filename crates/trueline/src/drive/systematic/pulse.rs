//! Heartbeats of an exploration, for a thread that watches it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::drive::{OsThread, panics_are_printed};

/// The activity of a thread of an exploration. [`Monitor::look`] reports an activity in which a thread may be stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doing {
    /// The exploration creates or drops an object, or decides which task runs next.
    Other,
    /// The exploration judges a history.
    Judging,
    /// The exploration executes the operation with this number.
    Operation(u32),
}

/// The low bits of a [`Beat`] hold the activity. The other bits change with each step.
const OTHER: u64 = 0;
const JUDGING: u64 = 1;
const FIRST_OPERATION: u64 = 2;
const BITS: u32 = 16;
const MASK: u64 = (1 << BITS) - 1;

/// The heartbeat of one thread of an exploration.
#[derive(Debug)]
pub(super) struct Beat {
    at: AtomicU64,
    thread: OsThread,
}

impl Beat {
    fn set(&self, doing: u64) {
        // A load and a store suffice, because only one thread writes to this heartbeat.
        let step = (self.at.load(Ordering::Relaxed) | MASK).wrapping_add(1);
        self.at.store(step | doing, Ordering::Relaxed);
    }

    pub(super) fn other(&self) {
        self.set(OTHER);
    }

    pub(super) fn judging(&self) {
        self.set(JUDGING);
    }

    pub(super) fn inside(&self, operation: u32) {
        self.set((u64::from(operation) + FIRST_OPERATION).min(MASK));
    }
}

/// The heartbeats of an exploration: see [`Settings::pulse`](super::Settings::pulse).
#[derive(Debug, Default)]
pub struct Pulse(Mutex<Vec<Weak<Beat>>>);

impl Pulse {
    /// Starts the heartbeat of the current thread.
    pub(super) fn start(&self) -> Arc<Beat> {
        let beat = Arc::new(Beat { at: AtomicU64::new(0), thread: OsThread::here() });
        let mut beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        beats.retain(|beat| beat.strong_count() > 0);
        beats.push(Arc::downgrade(&beat));
        beat
    }
}

/// Watches the [`Pulse`] of an exploration.
#[derive(Debug, Default)]
pub struct Monitor {
    known: Vec<LastChange>,
}

/// The last change of a heartbeat.
#[derive(Debug)]
struct LastChange {
    beat: Weak<Beat>,
    at: u64,
    since: Instant,
    /// How long the thread had run on a processor at that time, if it is known.
    ran: Option<Duration>,
}

impl Monitor {
    /// Returns the activity of a thread that has not had a heartbeat for at least `longest`, if there is such a thread.
    /// If the thread could continue, this time counts only while it has a processor.
    pub fn look(&mut self, pulse: &Pulse, longest: Duration) -> Option<Doing> {
        let now = Instant::now();
        let beats = pulse.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.known.retain(|known| known.beat.strong_count() > 0);
        let is_printing = panics_are_printed();
        let mut stuck = None;
        for beat in beats {
            let Some(strong) = beat.upgrade() else { continue };
            let at = strong.at.load(Ordering::Relaxed);
            match self.known.iter_mut().find(|known| known.beat.ptr_eq(&beat)) {
                Some(known) if known.at == at && !is_printing => {
                    if now.duration_since(known.since) >= longest && !strong.thread.is_starved(known.ran, longest) {
                        stuck = Some(match at & MASK {
                            OTHER => Doing::Other,
                            JUDGING => Doing::Judging,
                            operation => Doing::Operation(u32::try_from(operation - FIRST_OPERATION).unwrap_or(0)),
                        });
                    }
                }
                Some(known) => (known.at, known.since, known.ran) = (at, now, strong.thread.ran()),
                None => self.known.push(LastChange { beat, at, since: now, ran: strong.thread.ran() }),
            }
        }
        stuck
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    #[expect(clippy::print_stderr, reason = "prints that the test is skipped")]
    fn a_thread_that_waits_for_a_processor_is_not_stuck() {
        if OsThread::here().ran().is_none() {
            eprintln!("skipped: this system does not report how long a thread has run");
            return;
        }
        let longest = Duration::from_secs(100);
        let (pulse, works) = (Arc::new(Pulse::default()), Arc::new(AtomicBool::new(true)));
        let (to_main, started) = channel();
        let (end, ended) = channel::<()>();
        let thread = std::thread::spawn({
            let (pulse, works) = (Arc::clone(&pulse), Arc::clone(&works));
            move || {
                let beat = pulse.start();
                to_main.send(OsThread::here()).expect("the test waits for the message");
                while works.load(Ordering::Relaxed) {}
                let _ = ended.recv();
                drop(beat);
            }
        });
        let task = started.recv().expect("the thread sends its handle");
        let mut monitor = Monitor::default();
        assert_eq!(monitor.look(&pulse, longest), None);
        // As if the last heartbeat had been long ago. The thread has run for much less than that.
        let Some(long_ago) = Instant::now().checked_sub(longest) else {
            eprintln!("skipped: this machine started less than 100 s ago");
            works.store(false, Ordering::Relaxed);
            return;
        };
        monitor.known[0].since = long_ago;
        assert_eq!(monitor.look(&pulse, longest), None, "the thread could continue");
        // A thread that has run for that long, and one that is blocked, are stuck.
        assert_eq!(monitor.look(&pulse, Duration::ZERO), Some(Doing::Other));
        works.store(false, Ordering::Relaxed);
        while task.is_runnable() {
            std::thread::yield_now();
        }
        assert_eq!(monitor.look(&pulse, longest), Some(Doing::Other), "the thread is blocked");
        drop(end);
        thread.join().expect("the thread does not panic");
    }
}
