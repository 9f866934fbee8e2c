//! Synchronous channels that can be closed.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1, 2.4 and 9. While the channel is
//! open, a send and a receive synchronize; when it is closed, both fail.
//!
//! This works like a [synchronous channel](super::channel), except that no call waits once the channel is closed. The
//! slot decides whether a send has succeeded: if a receiver has emptied the slot, the send succeeds, even if the
//! channel has been closed since.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::ClosedFirst`] | the sender checks whether the channel is closed before it checks the slot | `send(4)` waits; `receive` → 4; `close`; `send(4)` returns false |
//! | [`Fault::OldLibrary`] | the fault of `ClosedFirst` in the code of an old library, with three condition variables | as for `ClosedFirst` |

use trueline::primitives::{Condvar, Mutex};

use super::channel::Slot;
use super::monitor::Monitor;

/// A fault of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A send fails although its value was received.
    ClosedFirst,
    /// Like `ClosedFirst`, in a channel with three condition variables.
    OldLibrary,
}

#[derive(Default, Debug)]
struct State {
    slot: Slot,
    value: u64,
    closed: bool,
}

/// The channel of [`Fault::OldLibrary`].
#[derive(Default, Debug)]
struct Old {
    state: Mutex<OldState>,
    /// Senders wait on this condition variable until the slot is free.
    slot_free: Condvar,
    /// Receivers wait on this condition variable.
    slot_filled: Condvar,
    /// Senders wait on this condition variable until a receiver has taken their value.
    go_on: Condvar,
}

#[derive(Default, Debug)]
struct OldState {
    slot: Option<u64>,
    /// The number of times that the slot was filled. A sender compares it with `emptied`, the
    /// number of times that the slot was emptied, to determine when its own value was received.
    filled: u64,
    emptied: u64,
    closed: bool,
}

impl Old {
    fn send(&self, value: u64) -> bool {
        let mut state = self.slot_free.wait_while(self.state.lock(), |state| !state.closed && state.slot.is_some());
        if state.closed {
            return false;
        }
        state.slot = Some(value);
        state.filled += 1;
        let number = state.filled;
        self.slot_filled.notify_one();
        state = self.go_on.wait_while(state, |state| !state.closed && state.emptied < number);
        !state.closed
    }

    fn receive(&self) -> Option<u64> {
        let mut state = self.slot_filled.wait_while(self.state.lock(), |state| !state.closed && state.slot.is_none());
        if state.closed {
            return None;
        }
        state.emptied += 1;
        self.go_on.notify_all();
        self.slot_free.notify_one();
        state.slot.take()
    }

    fn close(&self) {
        self.state.lock().closed = true;
        for condition in [&self.slot_free, &self.slot_filled, &self.go_on] {
            condition.notify_all();
        }
    }
}

#[derive(Debug)]
enum Means {
    Stages { monitor: Monitor<State>, closed_first: bool },
    Old(Old),
}

/// A synchronous channel that can be closed.
///
/// ```
/// use trueline_objects::sync::closeable_channel::CloseableChannel;
///
/// let channel = CloseableChannel::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert!(channel.send(1)));
///     assert_eq!(channel.receive(), Some(1));
/// });
/// channel.close();
/// assert!(!channel.send(2));
/// assert_eq!(channel.receive(), None);
/// ```
#[derive(Debug)]
pub struct CloseableChannel {
    means: Means,
}

impl CloseableChannel {
    /// Creates an open channel.
    pub fn new() -> Self {
        Self { means: Means::Stages { monitor: Monitor::default(), closed_first: false } }
    }

    /// Creates a channel with a fault.
    pub fn faulty(fault: Fault) -> Self {
        let means = match fault {
            Fault::ClosedFirst => Means::Stages { monitor: Monitor::default(), closed_first: true },
            Fault::OldLibrary => Means::Old(Old::default()),
        };
        Self { means }
    }

    /// Waits for a receiver and passes the value to it. Returns `false` if the channel is closed
    /// before a receiver takes the value.
    pub fn send(&self, value: u64) -> bool {
        let (monitor, closed_first) = match &self.means {
            Means::Stages { monitor, closed_first } => (monitor, *closed_first),
            Means::Old(old) => return old.send(value),
        };
        let mut state = monitor.enter_when(|state| state.closed || state.slot == Slot::Free);
        if state.closed {
            return false;
        }
        state.slot = Slot::Filled;
        state.value = value;
        monitor.notify_all();
        state = monitor.wait_until(state, |state| state.closed || state.slot != Slot::Filled);
        let is_received = state.slot == Slot::Emptied;
        state.slot = Slot::Free;
        monitor.notify_all();
        is_received && !(closed_first && state.closed)
    }

    /// Waits for a sender and returns its value. Returns `None` if the channel is closed before a
    /// sender arrives.
    pub fn receive(&self) -> Option<u64> {
        let monitor = match &self.means {
            Means::Stages { monitor, .. } => monitor,
            Means::Old(old) => return old.receive(),
        };
        let mut state = monitor.enter_when(|state| state.closed || state.slot == Slot::Filled);
        if state.closed {
            return None;
        }
        state.slot = Slot::Emptied;
        monitor.notify_all();
        Some(state.value)
    }

    /// Closes the channel. Closing it again has no effect.
    pub fn close(&self) {
        match &self.means {
            Means::Stages { monitor, .. } => {
                monitor.enter().closed = true;
                monitor.notify_all();
            }
            Means::Old(old) => old.close(),
        }
    }
}
