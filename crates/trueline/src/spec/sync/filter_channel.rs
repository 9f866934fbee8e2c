//! Channels whose receivers choose which values they accept.

use super::{ChannelRet, SyncSpec, Synchronized};

/// The values that a receiver accepts: those that leave `remainder` when divided by `modulus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    /// The modulus; 1 to accept all values (with remainder 0).
    pub modulus: u64,
    /// The required remainder.
    pub remainder: u64,
}

impl Filter {
    /// Accepts even values.
    pub const EVEN: Self = Self { modulus: 2, remainder: 0 };
    /// Accepts odd values.
    pub const ODD: Self = Self { modulus: 2, remainder: 1 };

    /// Returns whether the filter accepts a value.
    pub fn wants(&self, value: u64) -> bool {
        value % self.modulus.max(1) == self.remainder
    }
}

/// An operation of a [`FilterChannel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterChannelOp {
    /// Sends a value, and waits until it is received.
    Send(u64),
    /// Waits for a value that the filter accepts.
    Receive(Filter),
}

/// A synchronous channel whose receivers accept only some values.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilterChannel;

impl SyncSpec for FilterChannel {
    type Op = FilterChannelOp;
    type Ret = ChannelRet<u64>;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![2]
    }

    fn place(&self, op: &FilterChannelOp) -> u32 {
        u32::from(matches!(op, FilterChannelOp::Receive(_)))
    }

    fn extends(&self, (): &(), ops: &[&FilterChannelOp]) -> bool {
        matches!(ops, [FilterChannelOp::Send(_)])
    }

    fn synchronize(&self, (): &(), ops: &[&FilterChannelOp]) -> Synchronized<(), ChannelRet<u64>> {
        match *ops {
            [&FilterChannelOp::Send(value), FilterChannelOp::Receive(filter)] if filter.wants(value) => {
                vec![((), vec![ChannelRet::Done, ChannelRet::Value(value)])]
            }
            _ => Vec::new(),
        }
    }

    /// All sends that fit a receive with a result send the same value, so they fit the same receives. Sends that fit a
    /// receive without a result may send different values, and the filter of another receive may accept only some of
    /// them.
    fn is_interchangeable(&self, op: &FilterChannelOp, result: Option<&ChannelRet<u64>>) -> bool {
        matches!(op, FilterChannelOp::Send(_)) || result.is_some()
    }
}
