//! Channels and exchangers whose operations may time out.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{ChannelOp, SyncSpec, Synchronized};

/// The result of an operation of a [`TimeoutChannel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeoutChannelRet<V> {
    /// Whether the value was sent.
    Sent(bool),
    /// The value that was received; `None` if the receive timed out.
    Received(Option<V>),
}

/// A synchronous channel whose operations may time out.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutChannel<V>(PhantomData<fn(V)>);

without_parameters!(TimeoutChannel<V>, "Creates the specification of a channel.");

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for TimeoutChannel<V> {
    type Op = ChannelOp<V>;
    type Ret = TimeoutChannelRet<V>;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![1, 2]
    }

    fn place(&self, op: &ChannelOp<V>) -> u32 {
        u32::from(matches!(op, ChannelOp::Receive))
    }

    fn extends(&self, (): &(), ops: &[&ChannelOp<V>]) -> bool {
        matches!(ops, [ChannelOp::Send(_)])
    }

    fn synchronize(&self, (): &(), ops: &[&ChannelOp<V>]) -> Synchronized<(), TimeoutChannelRet<V>> {
        let results = match ops {
            [ChannelOp::Send(_)] => vec![TimeoutChannelRet::Sent(false)],
            [ChannelOp::Receive] => vec![TimeoutChannelRet::Received(None)],
            [ChannelOp::Send(value), ChannelOp::Receive] => {
                vec![TimeoutChannelRet::Sent(true), TimeoutChannelRet::Received(Some(value.clone()))]
            }
            _ => return Vec::new(),
        };
        vec![((), results)]
    }

    /// Partners are interchangeable for the same reason as in `Channel`. An operation that timed
    /// out has no partner.
    fn is_interchangeable(&self, _: &ChannelOp<V>, _: Option<&TimeoutChannelRet<V>>) -> bool {
        true
    }
}

/// An exchanger: two operations that meet exchange values, and an operation without a partner may time out.
#[derive(Clone, Copy, Debug)]
pub struct TimeoutExchanger<V>(PhantomData<fn(V)>);

without_parameters!(TimeoutExchanger<V>, "Creates the specification of an exchanger.");

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for TimeoutExchanger<V> {
    type Op = V;
    type Ret = Option<V>;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![1, 2]
    }

    fn synchronize(&self, (): &(), ops: &[&V]) -> Synchronized<(), Option<V>> {
        match *ops {
            [_] => vec![((), vec![None])],
            [one, other] => vec![((), vec![Some(other.clone()), Some(one.clone())])],
            _ => Vec::new(),
        }
    }

    /// Partners are interchangeable for the same reason as in `Exchanger`. An operation that timed
    /// out has no partner.
    fn is_interchangeable(&self, _: &V, _: Option<&Option<V>>) -> bool {
        true
    }
}
