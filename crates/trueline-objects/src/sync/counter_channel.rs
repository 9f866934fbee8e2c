//! Synchronous channels that count.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. A `send(x)` and a `receive`
//! synchronise; the latter returns `x`, and both the number of this synchronisation.
//!
//! As a [synchronous channel](super::channel): the sender counts as it fills the slot, so that the number goes with the
//! value.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::LateNumber`] | the receiver frees the slot, and the sender reads the count whenever it wakes | two calls of `send` return 2 |
//! | [`Fault::EarlyNumber`] | the sender takes its number before it waits for the slot, and another may overtake it | `send(1)` waits; `send(2)` → 2 and `receive` → (2, 2) return; later, `send(1)` → 1 and `receive` → (1, 1) |
//! | [`Fault::TwoStates`] | numbers are right; but the receiver frees the slot, and the sender waits for that: another sender may fill it first | `send(1)` and `receive` → (1, 1) synchronise; `send(2)` comes; `send(1)` does not return, unless there is another `receive` |

use super::channel::Slot;
use super::monitor::Monitor;

/// What is wrong with a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The sender reads the count when others may have counted.
    LateNumber,
    /// The sender takes a number before it is its turn.
    EarlyNumber,
    /// The slot is free before its sender has gone.
    TwoStates,
}

#[derive(Default, Debug)]
struct State {
    slot: Slot,
    value: u64,
    /// Of the value.
    number: u64,
    /// How often the slot was filled; for [`Fault::EarlyNumber`], how many numbers were taken.
    filled: u64,
    /// How often it was emptied: the counter.
    emptied: u64,
}

/// The channel.
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
    /// A channel whose first synchronisation has number 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// A channel that is wrong.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for a receiver, gives it the value, and returns the number of that.
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

    /// Waits for a sender, and returns its value and the number of that.
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
