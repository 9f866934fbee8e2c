//! Synchronous channels that count synchronizations.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. A `send(x)` and a `receive`
//! synchronize; the `receive` returns `x`, and both return the number of this synchronization.
//!
//! This works like a [synchronous channel](super::channel). The sender increments the count when it
//! fills the slot, so that the count is stored together with the value.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::LateNumber`] | the receiver frees the slot, and the sender reads the count only when it wakes up | two calls of `send` return 2 |
//! | [`Fault::EarlyNumber`] | the sender takes its number before it waits for the slot, and another sender may overtake it | `send(1)` waits; `send(2)` → 2 and `receive` → (2, 2) return; later, `send(1)` → 1 and `receive` → (1, 1) |
//! | [`Fault::TwoStates`] | the numbers are correct, but the receiver frees the slot, and the sender waits until the slot is free: another sender may fill the slot first | `send(1)` and `receive` → (1, 1) synchronize; `send(2)` arrives; `send(1)` does not return unless there is another `receive` |

use super::channel::Slot;
use super::monitor::Monitor;

/// A fault of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The sender reads the count too late: later synchronizations may already have been counted.
    LateNumber,
    /// The sender takes a number before it waits for the slot.
    EarlyNumber,
    /// The slot becomes free before its sender has returned.
    TwoStates,
}

#[derive(Default, Debug)]
struct State {
    slot: Slot,
    value: u64,
    /// The number that is stored with the value.
    number: u64,
    /// The number of times that the slot was filled; for [`Fault::EarlyNumber`], the last number that a sender took.
    filled: u64,
    /// The number of times that the slot was emptied, which is the number of synchronizations.
    emptied: u64,
}

/// A synchronous channel that counts synchronizations.
///
/// ```
/// use trueline_objects::sync::counter_channel::CounterChannel;
///
/// let channel = CounterChannel::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(channel.send(7), 1));
///     assert_eq!(channel.receive(), (7, 1));
/// });
/// ```
#[derive(Default, Debug)]
pub struct CounterChannel {
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl CounterChannel {
    /// Creates a channel whose first synchronization has number 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a channel with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for a receiver, passes the value to it, and returns the number of this synchronization.
    pub fn send(&self, value: u64) -> u64 {
        let monitor = &self.monitor;
        let mut state = monitor.enter();
        if self.fault == Some(Fault::EarlyNumber) {
            state.filled += 1;
            let number = state.filled;
            state = monitor.wait_until(state, |state| state.slot == Slot::Free);
            state.number = number;
        } else {
            state = monitor.wait_until(state, |state| state.slot == Slot::Free);
            state.filled += 1;
            state.number = state.filled;
        }
        let number = state.number;
        state.slot = Slot::Filled;
        state.value = value;
        monitor.notify_all();
        match self.fault {
            Some(Fault::LateNumber) => {
                state = monitor.wait_until(state, |state| state.emptied >= number);
                state.emptied
            }
            Some(Fault::TwoStates) => {
                drop(monitor.wait_until(state, |state| state.slot != Slot::Filled));
                number
            }
            None | Some(Fault::EarlyNumber) => {
                state = monitor.wait_until(state, |state| state.slot == Slot::Emptied);
                state.slot = Slot::Free;
                monitor.notify_all();
                number
            }
        }
    }

    /// Waits for a sender, and returns its value and the number of this synchronization.
    pub fn receive(&self) -> (u64, u64) {
        let mut state = self.monitor.enter_when(|state| state.slot == Slot::Filled);
        state.emptied += 1;
        state.slot = match self.fault {
            Some(Fault::LateNumber | Fault::TwoStates) => Slot::Free,
            None | Some(Fault::EarlyNumber) => Slot::Emptied,
        };
        self.monitor.notify_all();
        (state.value, state.number)
    }
}
