//! Synchronous channels.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{SyncSpec, Synchronized};

/// An operation of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelOp<V> {
    /// Sends a value, and waits until it is received.
    Send(V),
    /// Waits for a value.
    Receive,
}

/// The result of an operation of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChannelRet<V> {
    /// The value was sent.
    Done,
    /// This value was received.
    Value(V),
}

/// A synchronous channel: a send and a receive meet, and the receive returns the value that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Channel<V>(PhantomData<fn(V)>);

without_parameters!(Channel<V>, "Creates the specification of a channel.");

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for Channel<V> {
    type Op = ChannelOp<V>;
    type Ret = ChannelRet<V>;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![2]
    }

    fn place(&self, op: &ChannelOp<V>) -> u32 {
        u32::from(matches!(op, ChannelOp::Receive))
    }

    fn extends(&self, (): &(), ops: &[&ChannelOp<V>]) -> bool {
        matches!(ops, [ChannelOp::Send(_)])
    }

    fn synchronize(&self, (): &(), ops: &[&ChannelOp<V>]) -> Synchronized<(), ChannelRet<V>> {
        match ops {
            [ChannelOp::Send(value), ChannelOp::Receive] => {
                vec![((), vec![ChannelRet::Done, ChannelRet::Value(value.clone())])]
            }
            _ => Vec::new(),
        }
    }

    /// All sends that fit a receive with a result send the same value, so they fit the same receives. A receive without
    /// a result fits every send.
    fn is_interchangeable(&self, _: &ChannelOp<V>, _: Option<&ChannelRet<V>>) -> bool {
        true
    }
}

/// The result of an operation of a [`CounterChannel`], with the number of the synchronization, starting at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CounterChannelRet<V> {
    /// A value was sent in the synchronization with this number.
    Sent(u64),
    /// This value was received in the synchronization with this number.
    Received(V, u64),
}

/// A synchronous channel that numbers its synchronizations; both sides get the number.
#[derive(Clone, Copy, Debug)]
pub struct CounterChannel<V>(PhantomData<fn(V)>);

without_parameters!(
    CounterChannel<V>,
    "Creates the specification of a counter channel, whose first synchronization has the number 1."
);

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for CounterChannel<V> {
    type Op = ChannelOp<V>;
    type Ret = CounterChannelRet<V>;
    type State = u64;

    fn initial(&self) -> u64 {
        0
    }

    fn arities(&self, _: &u64) -> Vec<usize> {
        vec![2]
    }

    fn place(&self, op: &ChannelOp<V>) -> u32 {
        u32::from(matches!(op, ChannelOp::Receive))
    }

    fn extends(&self, _: &u64, ops: &[&ChannelOp<V>]) -> bool {
        matches!(ops, [ChannelOp::Send(_)])
    }

    fn synchronize(&self, count: &u64, ops: &[&ChannelOp<V>]) -> Synchronized<u64, CounterChannelRet<V>> {
        match ops {
            [ChannelOp::Send(value), ChannelOp::Receive] => {
                let number = count + 1;
                let received = CounterChannelRet::Received(value.clone(), number);
                vec![(number, vec![CounterChannelRet::Sent(number), received])]
            }
            _ => Vec::new(),
        }
    }
}
