//! Barriers.

use super::{SyncSpec, Synchronised};

/// An operation of a [`Barrier`]: a party comes, with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierOp {
    /// Who comes.
    pub me: u32,
    /// What it brings; 0 if values are not combined.
    pub value: u64,
}

/// What becomes of the values of all parties. The order of the parties must not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// Nothing is returned.
    Nothing,
    /// Their sum, which may wrap around.
    Sum,
    /// The largest.
    Largest,
}

/// No party goes on before all have come; they may get back what their values amount to.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    parties: usize,
    combine: Combine,
}

impl Barrier {
    /// A barrier of so many parties.
    pub fn new(parties: usize) -> Self {
        Self { parties, combine: Combine::Nothing }
    }

    /// A combining barrier.
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

    /// In the order of the parties: one set of them is tried once.
    fn place(&self, op: &BarrierOp) -> u32 {
        op.me
    }

    fn extends(&self, (): &(), ops: &[&BarrierOp]) -> bool {
        ops.is_sorted_by(|one, other| one.me < other.me)
    }

    fn synchronise(&self, (): &(), ops: &[&BarrierOp]) -> Synchronised<(), Option<u64>> {
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
