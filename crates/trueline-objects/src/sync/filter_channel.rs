//! Synchronous channels whose receivers say what they accept.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 2.1 and 9. A `send(x)` and a
//! `receive(p)` synchronise if `p` accepts `x`.
//!
//! Who finds nobody to synchronise with queues up and sleeps; who does find somebody takes him out of his queue, leaves
//! him the value, and wakes him.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::NoFilter`] | nobody asks what the receiver accepts | `send(3)` and `receive(even)` → 3 |
//! | [`Fault::OneSlot`] | all senders share the slot of a [synchronous channel](super::channel): one whose value nobody wants is in the way of others | `send(1)`, `send(2)`, `receive(even)`; none returns |
//! | [`Fault::TwoStates`] | as `OneSlot`, and the receiver frees the slot, so that another sender may fill it before the first one has gone | as `OneSlot`; or `send(1)` and `receive(odd)` → 1 synchronise, `send(2)` comes, and `send(1)` does not return |

use std::collections::VecDeque;
use std::sync::Arc;

use trueline::primitives::AtomicU64;
use trueline::primitives::Mutex;
use trueline::primitives::Ordering::SeqCst;

use super::monitor::Monitor;
use super::semaphore::Semaphore;

/// What is wrong with a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A receiver gets what it does not accept.
    NoFilter,
    /// A sender whose value nobody wants is in the way of others.
    OneSlot,
    /// So it is, and the slot is free before its sender has gone.
    TwoStates,
}

/// What a receiver accepts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Filter {
    /// All values.
    Any,
    /// Even ones.
    Even,
    /// Odd ones.
    Odd,
}

impl Filter {
    /// Whether it accepts this value.
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

/// One that sleeps.
#[derive(Debug)]
struct Sender {
    value: u64,
    received: Arc<Semaphore>,
}

/// One that sleeps, and the value it is left.
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
    /// Whether receivers are asked what they accept.
    Queues { queues: Mutex<Queues>, filters: bool },
    /// Whether the sender frees the slot, and not the receiver.
    Slot { slot: Monitor<Slot>, sender_frees: bool },
}

/// The channel.
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
    /// A channel.
    pub fn new() -> Self {
        Self { means: Means::Queues { queues: Mutex::default(), filters: true } }
    }

    /// A channel that is wrong.
    pub fn faulty(fault: Fault) -> Self {
        let slot = |sender_frees| Means::Slot { slot: Monitor::default(), sender_frees };
        let means = match fault {
            Fault::NoFilter => Means::Queues { queues: Mutex::default(), filters: false },
            Fault::OneSlot => slot(true),
            Fault::TwoStates => slot(false),
        };
        Self { means }
    }

    /// Waits for a receiver that accepts the value, and gives it to it.
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

    /// Waits for a sender whose value is accepted, and returns it.
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
                let Slot::Filled(value) = taken else { unreachable!("that was waited for") };
                value
            }
        }
    }
}
