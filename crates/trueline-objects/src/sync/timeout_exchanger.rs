//! Exchangers with timeouts.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. Two calls of `exchange`
//! synchronize, or one gives up after a timeout and has no effect.
//!
//! This works like the [exchanger](super::exchanger); the first thread takes its value back if no partner arrives in
//! time.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::ThirdJoins`] | a thread waits until an exchange of two other threads has ended; if this wait times out, the thread continues as if it were the second thread of that exchange | three calls form a cycle: `exchange(1)` → 3, `exchange(2)` → 1, `exchange(3)` → 2 |
//! | [`Fault::Ghost`] | a thread that gives up does not take its value back | `exchange(1)` → none; later, `exchange(2)` → 1 |

use std::time::Duration;

use super::exchanger::{Stage, State};
use super::monitor::Monitor;

/// A fault of an exchanger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A third thread takes part in an exchange of two other threads.
    ThirdJoins,
    /// The value of a thread that has given up is exchanged.
    Ghost,
}

/// An exchanger with timeouts.
///
/// ```
/// use std::time::Duration;
/// use trueline_objects::sync::timeout_exchanger::TimeoutExchanger;
///
/// let exchanger = TimeoutExchanger::new();
/// assert_eq!(exchanger.exchange(1, Duration::from_millis(1)), None);
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(exchanger.exchange(1, Duration::MAX), Some(2)));
///     assert_eq!(exchanger.exchange(2, Duration::MAX), Some(1));
/// });
/// ```
#[derive(Default, Debug)]
pub struct TimeoutExchanger {
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl TimeoutExchanger {
    /// Creates an exchanger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an exchanger with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for another thread and exchanges values with it. Returns `None` if a wait times out.
    ///
    /// The call waits at most `timeout` until other threads have completed an exchange that is
    /// under way, and then again at most `timeout` for a partner.
    pub fn exchange(&self, value: u64, timeout: Duration) -> Option<u64> {
        let monitor = &self.monitor;
        let mut state = monitor.wait_for(monitor.enter(), timeout, |state| state.stage != Stage::Both);
        match state.stage {
            Stage::Both if self.fault != Some(Fault::ThirdJoins) => None,
            Stage::First | Stage::Both => {
                let other = std::mem::replace(&mut state.value, value);
                state.stage = Stage::Both;
                monitor.notify_all();
                Some(other)
            }
            Stage::Nobody => {
                *state = State { stage: Stage::First, value };
                state = monitor.wait_for(state, timeout, |state| state.stage != Stage::First);
                let came = state.stage != Stage::First;
                if came || self.fault != Some(Fault::Ghost) {
                    state.stage = Stage::Nobody;
                    monitor.notify_all();
                }
                came.then_some(state.value)
            }
        }
    }
}
