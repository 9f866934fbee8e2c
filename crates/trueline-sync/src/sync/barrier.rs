//! `std::sync::Barrier`.

use std::fmt;

use super::{Condvar, Mutex};
use crate::cancel::unpoisoned;

/// A replacement for `std`'s `Barrier`, with schedule points.
///
/// ```
/// use trueline_sync::sync::Barrier;
///
/// assert!(Barrier::new(1).wait().is_leader());
/// ```
pub struct Barrier {
    /// The number of waiting threads, and the number of completed rounds. A round ends when all threads have arrived.
    state: Mutex<(usize, usize)>,
    changed: Condvar,
    threads: usize,
}

/// Distinguishes the last thread to arrive at a barrier from the others.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns whether this is the thread that arrived last.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.0).finish()
    }
}

impl Barrier {
    /// Creates a barrier for this many threads.
    #[inline]
    #[must_use]
    pub const fn new(threads: usize) -> Self {
        Self { state: Mutex::new((0, 0)), changed: Condvar::new(), threads }
    }

    /// Waits until all threads have arrived.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let mut state = unpoisoned(self.state.lock());
        let round = state.1;
        state.0 += 1;
        if state.0 < self.threads {
            drop(unpoisoned(self.changed.wait_while(state, |state| state.1 == round)));
            return BarrierWaitResult(false);
        }
        *state = (0, round.wrapping_add(1));
        self.changed.notify_all();
        BarrierWaitResult(true)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
