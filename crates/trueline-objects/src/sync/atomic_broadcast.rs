//! Atomic broadcasts.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. One send and a fixed number of
//! receives synchronize; all of the receives return the value that was sent.
//!
//! Receivers arrive until all are present; then a sender fills the slot; then the receivers leave, and the last one
//! empties the slot.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoRounds`] | the sender does not check whether the slot is filled: two sends may take part in the same round | `send(1)` and `send(2)` return; at least one receive returns 2 instead of 1; a later round never ends, because a send is missing |

use trueline::primitives::{Condvar, Mutex};

/// A fault of a broadcast.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A send may overwrite the value of another send.
    NoRounds,
}

#[derive(Default, Debug)]
struct State {
    /// The number of receivers that have arrived but have not left yet.
    inside: usize,
    filled: bool,
    value: u64,
}

/// An atomic broadcast.
///
/// ```
/// use trueline_objects::sync::atomic_broadcast::AtomicBroadcast;
///
/// let broadcast = AtomicBroadcast::new(2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(broadcast.receive(), 5));
///     scope.spawn(|| assert_eq!(broadcast.receive(), 5));
///     broadcast.send(5);
/// });
/// ```
#[derive(Debug)]
pub struct AtomicBroadcast {
    receivers: usize,
    state: Mutex<State>,
    /// Signaled when receivers may start the next round.
    emptied: Condvar,
    /// Signaled when all receivers have arrived and a sender may fill the slot.
    all_inside: Condvar,
    /// Signaled when the slot is filled.
    filled: Condvar,
    fault: Option<Fault>,
}

impl AtomicBroadcast {
    /// Creates a broadcast to `receivers` receivers. A number of 0 is treated as 1.
    pub fn new(receivers: usize) -> Self {
        Self::faulty(receivers, None)
    }

    /// Creates a broadcast with a fault; `None` creates a correct one.
    pub fn faulty(receivers: usize, fault: impl Into<Option<Fault>>) -> Self {
        let (state, emptied, all_inside, filled) = Default::default();
        Self { receivers: receivers.max(1), state, emptied, all_inside, filled, fault: fault.into() }
    }

    /// Waits for all receivers, and passes the value to them.
    pub fn send(&self, value: u64) {
        let looks = self.fault != Some(Fault::NoRounds);
        let mut state = self
            .all_inside
            .wait_while(self.state.lock(), |state| state.inside < self.receivers || (looks && state.filled));
        state.filled = true;
        state.value = value;
        self.filled.notify_all();
    }

    /// Waits for a sender and for all other receivers, and returns the value.
    pub fn receive(&self) -> u64 {
        let is_next = |state: &mut State| !state.filled && state.inside < self.receivers;
        let mut state = self.emptied.wait_while(self.state.lock(), |state| !is_next(state));
        state.inside += 1;
        if state.inside == self.receivers {
            // Waking one sender is enough: the slot is free now, so any waiting sender can continue.
            self.all_inside.notify_one();
        }
        state = self.filled.wait_while(state, |state| !state.filled);
        state.inside -= 1;
        if state.inside == 0 {
            state.filled = false;
            self.emptied.notify_all();
        }
        state.value
    }
}
