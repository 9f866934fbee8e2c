//! Atomic broadcasts.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 9. One send and a fixed number of
//! receives synchronise; all of these return the value.
//!
//! Receivers come until all are there; then a sender fills the slot; then the receivers leave, and the last empties it.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::NoRounds`] | the sender does not look whether the slot is filled: two sends may fall into one round | `send(1)` and `send(2)` return; one receive returns 2, and none or not all return 1; a later round never comes to an end, for want of a send |

use trueline::primitives::{Condvar, Mutex};

/// What is wrong with a broadcast.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A send may overwrite another.
    NoRounds,
}

#[derive(Default, Debug)]
struct State {
    /// How many receivers have come and not left.
    inside: usize,
    filled: bool,
    value: u64,
}

/// The broadcast.
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
    /// Where receivers wait for the next round.
    emptied: Condvar,
    /// Where senders wait for receivers.
    all_inside: Condvar,
    /// Where receivers wait for a sender.
    filled: Condvar,
    fault: Option<Fault>,
}

impl AtomicBroadcast {
    /// A broadcast to so many receivers, of which there is at least one.
    pub fn new(receivers: usize) -> Self {
        Self::faulty(receivers, None)
    }

    /// A broadcast that is wrong.
    pub fn faulty(receivers: usize, fault: impl Into<Option<Fault>>) -> Self {
        let (state, emptied, all_inside, filled) = Default::default();
        Self { receivers: receivers.max(1), state, emptied, all_inside, filled, fault: fault.into() }
    }

    /// Waits for all receivers, and gives them the value.
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
            // One sender is enough; it is one who waits for nothing else, unless there is a fault.
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
