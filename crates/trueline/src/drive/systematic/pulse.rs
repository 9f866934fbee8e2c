//! Heartbeats of an exploration, for a thread that watches it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::drive::panics_are_printed;

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
#[derive(Debug, Default)]
pub(super) struct Beat(AtomicU64);

impl Beat {
    fn set(&self, doing: u64) {
        // A load and a store suffice, because only one thread writes to this heartbeat.
        let step = (self.0.load(Ordering::Relaxed) | MASK).wrapping_add(1);
        self.0.store(step | doing, Ordering::Relaxed);
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
    pub(super) fn start(&self) -> Arc<Beat> {
        let beat = Arc::<Beat>::default();
        let mut beats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        beats.retain(|beat| beat.strong_count() > 0);
        beats.push(Arc::downgrade(&beat));
        beat
    }
}

/// Watches the [`Pulse`] of an exploration.
#[derive(Debug, Default)]
pub struct Monitor {
    known: Vec<(Weak<Beat>, u64, Instant)>,
}

impl Monitor {
    /// Returns the activity of a thread that has not had a heartbeat for at least `longest`, if there is such a thread.
    pub fn look(&mut self, pulse: &Pulse, longest: Duration) -> Option<Doing> {
        let now = Instant::now();
        let beats = pulse.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.known.retain(|(beat, ..)| beat.strong_count() > 0);
        let is_printing = panics_are_printed();
        let mut stuck = None;
        for beat in beats {
            let Some(at) = beat.upgrade().map(|beat| beat.0.load(Ordering::Relaxed)) else { continue };
            match self.known.iter_mut().find(|(known, ..)| known.ptr_eq(&beat)) {
                Some((_, last, since)) if *last == at && !is_printing => {
                    if now.duration_since(*since) >= longest {
                        stuck = Some(match at & MASK {
                            OTHER => Doing::Other,
                            JUDGING => Doing::Judging,
                            operation => Doing::Operation(u32::try_from(operation - FIRST_OPERATION).unwrap_or(0)),
                        });
                    }
                }
                Some((_, last, since)) => (*last, *since) = (at, now),
                None => self.known.push((beat, at, now)),
            }
        }
        stuck
    }
}
