//! Atomic broadcast.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::{ChannelOp, ChannelRet, SyncSpec, Synchronized};

/// An atomic broadcast: a sender sends a value to n receivers at once, and neither the sender nor any receiver
/// continues before all of them have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast<V> {
    receivers: usize,
    values: PhantomData<fn(V)>,
}

impl<V> Broadcast<V> {
    /// Creates a broadcast to this many receivers.
    pub fn new(receivers: usize) -> Self {
        Self { receivers, values: PhantomData }
    }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> SyncSpec for Broadcast<V> {
    type Op = ChannelOp<V>;
    type Ret = ChannelRet<V>;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![self.receivers + 1]
    }

    fn place(&self, op: &ChannelOp<V>) -> u32 {
        u32::from(matches!(op, ChannelOp::Receive))
    }

    fn extends(&self, (): &(), ops: &[&ChannelOp<V>]) -> bool {
        matches!(ops, [ChannelOp::Send(_), receives @ ..] if receives.iter().all(|op| matches!(op, ChannelOp::Receive)))
    }

    fn synchronize(&self, (): &(), ops: &[&ChannelOp<V>]) -> Synchronized<(), ChannelRet<V>> {
        match ops {
            [ChannelOp::Send(value), receives @ ..] if receives.len() == self.receivers && self.extends(&(), ops) => {
                let mut results = vec![ChannelRet::Done];
                results.extend(receives.iter().map(|_| ChannelRet::Value(value.clone())));
                vec![((), results)]
            }
            _ => Vec::new(),
        }
    }
}
