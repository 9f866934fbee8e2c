//! Synchronous channels with timeouts.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1, 2.4 and 9. A send and a receive
//! synchronize, or either of them gives up after a timeout and has no effect.
//!
//! A sender waits until the slot is free, fills it, and waits until a receiver has emptied it.
//! Neither of these two waits lasts longer than the timeout. Only the sender frees the slot.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::OneFlag`] | the receiver frees the slot: another sender may fill the slot before the first one wakes up; the first one then mistakes the new value for its own, and withdraws the value | `send_within(1)` and `receive_within` → 1 synchronize; `send_within(2)` arrives; the first send returns false; the second send may return true although no receiver has its value |

use std::time::Duration;

use super::channel::{Slot, State};
use super::monitor::Monitor;

/// A fault of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The slot becomes free before its sender has returned.
    OneFlag,
}

/// A synchronous channel with timeouts.
///
/// ```
/// use std::time::Duration;
/// use trueline_objects::sync::timeout_channel::TimeoutChannel;
///
/// let channel = TimeoutChannel::new();
/// assert!(!channel.send_within(1, Duration::from_millis(1)));
/// assert_eq!(channel.receive_within(Duration::from_millis(1)), None);
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert!(channel.send_within(2, Duration::MAX)));
///     assert_eq!(channel.receive_within(Duration::MAX), Some(2));
/// });
/// ```
#[derive(Default, Debug)]
pub struct TimeoutChannel {
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl TimeoutChannel {
    /// Creates a channel.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a channel with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for a receiver and passes the value to it; returns `false` if the wait times out.
    ///
    /// The call waits at most `timeout` until no other sender uses the slot, and then again at most
    /// `timeout` for a receiver.
    pub fn send_within(&self, value: u64, timeout: Duration) -> bool {
        let monitor = &self.monitor;
        let mut state = monitor.wait_for(monitor.enter(), timeout, |state| state.slot == Slot::Free);
        if state.slot != Slot::Free {
            return false;
        }
        *state = State { slot: Slot::Filled, value };
        monitor.notify_all();
        state = monitor.wait_for(state, timeout, |state| state.slot != Slot::Filled);
        let is_received = state.slot != Slot::Filled;
        state.slot = Slot::Free;
        monitor.notify_all();
        is_received
    }

    /// Waits for a sender and returns its value, or returns `None` if the wait times out.
    pub fn receive_within(&self, timeout: Duration) -> Option<u64> {
        let monitor = &self.monitor;
        let mut state = monitor.wait_for(monitor.enter(), timeout, |state| state.slot == Slot::Filled);
        if state.slot != Slot::Filled {
            return None;
        }
        state.slot = if self.fault == Some(Fault::OneFlag) { Slot::Free } else { Slot::Emptied };
        monitor.notify_all();
        Some(state.value)
    }
}
