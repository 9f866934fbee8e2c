//! Synchronous channels whose receivers filter values.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 2.1 and 9. A `send(x)` and a
//! `receive(p)` synchronize if `p` accepts `x`.
//!
//! A thread that finds no partner enters a queue and sleeps; a thread that finds a partner in a queue removes the
//! partner from this queue, passes the value, and wakes the partner.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoFilter`] | the filter of the receiver is ignored | `send(3)` and `receive(even)` → 3 |
//! | [`Fault::OneSlot`] | all senders share the slot of a [synchronous channel](super::channel): a sender whose value is not accepted blocks the others | `send(1)`, `send(2)`, `receive(even)`; none returns |
//! | [`Fault::TwoStates`] | like `OneSlot`; in addition, the receiver frees the slot, so another sender may fill it before the first sender has returned | as for `OneSlot`; or `send(1)` and `receive(odd)` → 1 synchronize, `send(2)` arrives, and `send(1)` does not return |

use std::collections::VecDeque;
use std::sync::Arc;

use trueline::primitives::AtomicU64;
use trueline::primitives::Mutex;
use trueline::primitives::Ordering::SeqCst;

use super::monitor::Monitor;
use super::semaphore::Semaphore;

/// A fault of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A receiver gets a value that it does not accept.
    NoFilter,
    /// A sender whose value is not accepted blocks the other senders.
    OneSlot,
    /// Like `OneSlot`; in addition, the slot becomes free before its sender has returned.
    TwoStates,
}

/// The values that a receiver accepts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Filter {
    /// All values.
    Any,
    /// Even values.
    Even,
    /// Odd values.
    Odd,
}

impl Filter {
    /// Returns whether the filter accepts this value.
    pub fn accepts(self, value: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Even => value % 2 == 0,
            Self::Odd => value % 2 == 1,
        }
    }
}

#[derive(Default, Debug)]
struct Queues {
    senders: VecDeque<Sender>,
    receivers: VecDeque<Arc<Receiver>>,
}

/// A sleeping sender.
#[derive(Debug)]
struct Sender {
    value: u64,
    received: Arc<Semaphore>,
}

/// A sleeping receiver, and the value that is passed to it.
#[derive(Debug)]
struct Receiver {
    filter: Filter,
    value: AtomicU64,
    sent: Semaphore,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Slot {
    #[default]
    Free,
    Filled(u64),
    Emptied,
}

#[derive(Debug)]
enum Means {
    /// `filters` is true if the filters of receivers are respected.
    Queues { queues: Mutex<Queues>, filters: bool },
    /// `sender_frees` is true if the sender frees the slot, and false if the receiver does.
    Slot { slot: Monitor<Slot>, sender_frees: bool },
}

/// A synchronous channel whose receivers filter values.
///
/// ```
/// use trueline_objects::sync::filter_channel::{Filter, FilterChannel};
///
/// let channel = FilterChannel::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| channel.send(3));
///     scope.spawn(|| channel.send(4));
///     assert_eq!(channel.receive(Filter::Even), 4);
///     assert_eq!(channel.receive(Filter::Any), 3);
/// });
/// ```
#[derive(Debug)]
pub struct FilterChannel {
    means: Means,
}

impl FilterChannel {
    /// Creates a channel.
    pub fn new() -> Self {
        Self { means: Means::Queues { queues: Mutex::default(), filters: true } }
    }

    /// Creates a channel with a fault.
    pub fn faulty(fault: Fault) -> Self {
        let slot = |sender_frees| Means::Slot { slot: Monitor::default(), sender_frees };
        let means = match fault {
            Fault::NoFilter => Means::Queues { queues: Mutex::default(), filters: false },
            Fault::OneSlot => slot(true),
            Fault::TwoStates => slot(false),
        };
        Self { means }
    }

    /// Waits for a receiver that accepts the value, and passes the value to it.
    pub fn send(&self, value: u64) {
        match &self.means {
            Means::Queues { queues, filters } => {
                let mut queues = queues.lock();
                let accepts = |receiver: &Arc<Receiver>| !*filters || receiver.filter.accepts(value);
                let at = queues.receivers.iter().position(accepts);
                if let Some(receiver) = at.and_then(|at| queues.receivers.remove(at)) {
                    drop(queues);
                    receiver.value.store(value, SeqCst);
                    receiver.sent.up();
                } else {
                    let received = Arc::new(Semaphore::lowered());
                    queues.senders.push_back(Sender { value, received: Arc::clone(&received) });
                    drop(queues);
                    received.down();
                }
            }
            Means::Slot { slot: monitor, sender_frees } => {
                let mut slot = monitor.enter_when(|slot| *slot == Slot::Free);
                *slot = Slot::Filled(value);
                monitor.notify_all();
                slot = monitor.wait_until(slot, |slot| !matches!(slot, Slot::Filled(_)));
                if *sender_frees {
                    *slot = Slot::Free;
                    monitor.notify_all();
                }
            }
        }
    }

    /// Waits for a sender whose value the filter accepts, and returns the value.
    pub fn receive(&self, filter: Filter) -> u64 {
        match &self.means {
            Means::Queues { queues, filters } => {
                let mut queues = queues.lock();
                let accepted = |sender: &Sender| !*filters || filter.accepts(sender.value);
                let at = queues.senders.iter().position(accepted);
                if let Some(sender) = at.and_then(|at| queues.senders.remove(at)) {
                    drop(queues);
                    sender.received.up();
                    sender.value
                } else {
                    let receiver = Arc::new(Receiver { filter, value: AtomicU64::new(0), sent: Semaphore::lowered() });
                    queues.receivers.push_back(Arc::clone(&receiver));
                    drop(queues);
                    receiver.sent.down();
                    receiver.value.load(SeqCst)
                }
            }
            Means::Slot { slot: monitor, sender_frees } => {
                let accepted = |slot: &Slot| matches!(slot, Slot::Filled(value) if filter.accepts(*value));
                let mut slot = monitor.enter_when(accepted);
                let taken = std::mem::replace(&mut *slot, if *sender_frees { Slot::Emptied } else { Slot::Free });
                monitor.notify_all();
                let Slot::Filled(value) = taken else { unreachable!("the thread waited until the slot was filled") };
                value
            }
        }
    }
}
