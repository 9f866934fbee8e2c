//! Barriers.

use super::{SyncSpec, Synchronized};

/// An operation of a [`Barrier`]: a party arrives with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierOp {
    /// The party that arrives.
    pub me: u32,
    /// The value of the party; 0 if values are not combined.
    pub value: u64,
}

/// The function that combines the values of all parties. The order of the parties must not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Values are not combined, and nothing is returned.
    Nothing,
    /// The sum of the values, which may wrap around.
    Sum,
    /// The largest value.
    Largest,
}

/// A barrier: no party continues before all have arrived. A combining barrier also returns the
/// combination of their values.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    parties: usize,
    combine: Combine,
}

impl Barrier {
    /// Creates a barrier for this many parties.
    pub fn new(parties: usize) -> Self {
        Self { parties, combine: Combine::Nothing }
    }

    /// Creates a combining barrier for this many parties.
    #[doc(hidden)]
    pub fn combining(parties: usize, combine: Combine) -> Self {
        Self { parties, combine }
    }
}

impl SyncSpec for Barrier {
    type Op = BarrierOp;
    type Ret = Option<u64>;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![self.parties]
    }

    /// Returns the number of the party, so that operations are sorted by party and each set of
    /// parties is tried only once.
    fn place(&self, op: &BarrierOp) -> u32 {
        op.me
    }

    fn extends(&self, (): &(), ops: &[&BarrierOp]) -> bool {
        ops.is_sorted_by(|one, other| one.me < other.me)
    }

    fn synchronize(&self, (): &(), ops: &[&BarrierOp]) -> Synchronized<(), Option<u64>> {
        if ops.len() != self.parties || !self.extends(&(), ops) {
            return Vec::new();
        }
        let values = ops.iter().map(|op| op.value);
        let result = match self.combine {
            Combine::Nothing => None,
            Combine::Sum => Some(values.fold(0, u64::wrapping_add)),
            Combine::Largest => values.max(),
        };
        vec![((), vec![result; self.parties])]
    }
}
