//! Channels whose receivers say what they want.

use super::{ChannelRet, SyncSpec, Synchronised};

/// Which values are wanted: those that leave `remainder` when divided by `modulus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filter {
    /// 1 for all values.
    pub modulus: u64,
    /// What must be left.
    pub remainder: u64,
}

impl Filter {
    /// The even values.
    pub const EVEN: Self = Self { modulus: 2, remainder: 0 };
    /// The odd values.
    pub const ODD: Self = Self { modulus: 2, remainder: 1 };

    /// Whether a value is wanted.
    pub fn wants(&self, value: u64) -> bool {
        value % self.modulus.max(1) == self.remainder
    }
}

/// An operation of a [`FilterChannel`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilterChannelOp {
    /// Sends a value, and waits until it is received.
    Send(u64),
    /// Waits for a value that is wanted.
    Receive(Filter),
}

/// A synchronous channel whose receivers take only what they want.
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

    fn synchronise(&self, (): &(), ops: &[&FilterChannelOp]) -> Synchronised<(), ChannelRet<u64>> {
        match *ops {
            [&FilterChannelOp::Send(value), FilterChannelOp::Receive(filter)] if filter.wants(value) => {
                vec![((), vec![ChannelRet::Done, ChannelRet::Value(value)])]
            }
            _ => Vec::new(),
        }
    }

    /// What was received tells which sends fit, and these are alike. A receive that has not returned may fit one send and
    /// not another that fits the same receives.
    fn is_interchangeable(&self, op: &FilterChannelOp, result: Option<&ChannelRet<u64>>) -> bool {
        matches!(op, FilterChannelOp::Send(_)) || result.is_some()
    }
}
