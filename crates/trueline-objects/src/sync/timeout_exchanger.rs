//! Exchangers that give up.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. Two calls of `exchange`
//! synchronise; or one gives up after some time, and has done nothing.
//!
//! As the [exchanger](super::exchanger); the first takes its value back if nobody comes.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::ThirdJoins`] | who has waited in vain for two others to finish goes on as if it were the second of them | three calls go round: `exchange(1)` → 3, `exchange(2)` → 1, `exchange(3)` → 2 |
//! | [`Fault::Ghost`] | who gives up leaves its value behind | `exchange(1)` → none; later, `exchange(2)` → 1 |

use std::time::Duration;

use super::exchanger::{Stage, State};
use super::monitor::Monitor;

/// What is wrong with an exchanger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A third one takes part in an exchange of two.
    ThirdJoins,
    /// The value of one who has gone is exchanged.
    Ghost,
}

/// The exchanger.
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
    /// An exchanger.
    pub fn new() -> Self {
        Self::default()
    }

    /// An exchanger that is wrong.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for another and exchanges values with it; `None` if there is none.
    ///
    /// It waits for others to finish no longer than `timeout`, and for a partner as long again.
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
