//! Synchronous channels.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. A `send(x)` and a `receive`
//! that overlap synchronize, and the `receive` returns `x`.
//!
//! The channel has one slot, which is free, filled or emptied. A sender waits until the slot is free, fills it, waits
//! until a receiver has emptied it, and only then frees it, so that no other sender can interfere.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoWait`] | the sender fills the slot and returns | `send(3)` returns; then `receive` → 3 |
//! | [`Fault::TwoStates`] | the receiver frees the slot, and the sender waits until the slot is free: another sender may fill the slot first, and the first sender mistakes the new value for its own | `send(1)` and `receive` → 1 synchronize; `send(2)` arrives; `send(1)` does not return unless there is another `receive` |
//! | [`Fault::WrongCondition`] | the sender wakes other senders instead of receivers | `receive`; then `send(1)`; neither returns |

use trueline::primitives::{Condvar, Mutex, MutexGuard};

/// A fault of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The sender does not wait for a receiver.
    NoWait,
    /// The slot becomes free before its sender has returned.
    TwoStates,
    /// The sender notifies the wrong condition variable.
    WrongCondition,
}

/// The state of the slot through which a value is passed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Slot {
    #[default]
    Free,
    Filled,
    Emptied,
}

#[derive(Default, Debug)]
pub(super) struct State {
    pub(super) slot: Slot,
    pub(super) value: u64,
}

/// A synchronous channel.
///
/// ```
/// use trueline_objects::sync::channel::SyncChannel;
///
/// let channel = SyncChannel::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| channel.send(3));
///     assert_eq!(channel.receive(), 3);
/// });
/// ```
#[derive(Default, Debug)]
pub struct SyncChannel {
    state: Mutex<State>,
    /// Senders wait on this condition variable.
    not_filled: Condvar,
    /// Receivers wait on this condition variable.
    filled: Condvar,
    fault: Option<Fault>,
}

impl SyncChannel {
    /// Creates a channel.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a channel with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for a receiver, and passes the value to it.
    pub fn send(&self, value: u64) {
        let mut state = self.wait_as_sender(self.state.lock(), |slot| slot == Slot::Free);
        *state = State { slot: Slot::Filled, value };
        if self.fault == Some(Fault::WrongCondition) {
            self.not_filled.notify_all();
        } else {
            self.filled.notify_all();
        }
        if self.fault == Some(Fault::NoWait) {
            return;
        }
        state = self.wait_as_sender(state, |slot| slot != Slot::Filled);
        if state.slot == Slot::Emptied {
            state.slot = Slot::Free;
            self.not_filled.notify_all();
        }
    }

    fn wait_as_sender<'m>(&self, state: MutexGuard<'m, State>, ready: impl Fn(Slot) -> bool) -> MutexGuard<'m, State> {
        self.not_filled.wait_while(state, |state| !ready(state.slot))
    }

    /// Waits for a sender, and returns its value.
    pub fn receive(&self) -> u64 {
        let mut state = self.filled.wait_while(self.state.lock(), |state| state.slot != Slot::Filled);
        state.slot = match self.fault {
            Some(Fault::NoWait | Fault::TwoStates) => Slot::Free,
            None | Some(Fault::WrongCondition) => Slot::Emptied,
        };
        self.not_filled.notify_all();
        state.value
    }
}
