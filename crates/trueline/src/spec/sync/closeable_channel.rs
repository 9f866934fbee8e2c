//! Channels that can be closed.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{SyncSpec, Synchronized};

/// An operation of a [`CloseableChannel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseableChannelOp<V> {
    /// Sends a value, and waits until it is received or the channel is closed.
    Send(V),
    /// Waits for a value, or until the channel is closed.
    Receive,
    /// Closes the channel, which may already be closed.
    Close,
}

/// The result of an operation of a [`CloseableChannel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseableChannelRet<V> {
    /// Whether the value was sent; if not, the channel is closed.
    Sent(bool),
    /// The value that was received; `None` if the channel is closed.
    Received(Option<V>),
    /// The channel is closed.
    Closed,
}

/// A synchronous channel that can be closed. When it is closed, sends and receives fail without
/// waiting for a partner.
#[derive(Clone, Copy, Debug)]
pub struct CloseableChannel<V>(PhantomData<fn(V)>);

without_parameters!(CloseableChannel<V>, "Creates the specification of a channel that is open.");

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for CloseableChannel<V> {
    type Op = CloseableChannelOp<V>;
    type Ret = CloseableChannelRet<V>;
    /// Whether the channel is closed.
    type State = bool;

    fn initial(&self) -> bool {
        false
    }

    fn arities(&self, is_closed: &bool) -> Vec<usize> {
        if *is_closed { vec![1] } else { vec![1, 2] }
    }

    fn place(&self, op: &CloseableChannelOp<V>) -> u32 {
        match op {
            CloseableChannelOp::Send(_) => 0,
            CloseableChannelOp::Receive => 1,
            CloseableChannelOp::Close => 2,
        }
    }

    fn extends(&self, is_closed: &bool, ops: &[&CloseableChannelOp<V>]) -> bool {
        !is_closed && matches!(ops, [CloseableChannelOp::Send(_)])
    }

    fn synchronize(&self, is_closed: &Self::State, ops: &[&Self::Op]) -> Synchronized<Self::State, Self::Ret> {
        let results = match (is_closed, ops) {
            (_, [CloseableChannelOp::Close]) => return vec![(true, vec![CloseableChannelRet::Closed])],
            (true, [CloseableChannelOp::Send(_)]) => vec![CloseableChannelRet::Sent(false)],
            (true, [CloseableChannelOp::Receive]) => vec![CloseableChannelRet::Received(None)],
            (false, [CloseableChannelOp::Send(value), CloseableChannelOp::Receive]) => {
                vec![CloseableChannelRet::Sent(true), CloseableChannelRet::Received(Some(value.clone()))]
            }
            _ => return Vec::new(),
        };
        vec![(*is_closed, results)]
    }
}
