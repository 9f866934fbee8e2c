//! Barriers whose parties enroll and resign.

use std::collections::BTreeSet;

use super::{SyncSpec, Synchronized};

/// An operation of an [`EnrollableBarrier`], with the party that calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnrollableBarrierOp {
    /// Waits for all parties that are enrolled.
    Meet(u32),
    /// Enrolls the party.
    Enrol(u32),
    /// Withdraws the party.
    Resign(u32),
}

/// A barrier at which all enrolled parties wait for each other. Initially, no party is enrolled.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnrollableBarrier;

impl SyncSpec for EnrollableBarrier {
    type Op = EnrollableBarrierOp;
    type Ret = ();
    /// The parties that are enrolled.
    type State = BTreeSet<u32>;

    fn initial(&self) -> BTreeSet<u32> {
        BTreeSet::new()
    }

    fn arities(&self, enrolled: &BTreeSet<u32>) -> Vec<usize> {
        if enrolled.len() > 1 { vec![1, enrolled.len()] } else { vec![1] }
    }

    /// Sorts the operations that meet by the numbers of their parties, so that each set of parties
    /// is tried only once.
    fn place(&self, op: &EnrollableBarrierOp) -> u32 {
        match op {
            EnrollableBarrierOp::Meet(me) => *me,
            EnrollableBarrierOp::Enrol(_) | EnrollableBarrierOp::Resign(_) => u32::MAX,
        }
    }

    fn extends(&self, enrolled: &BTreeSet<u32>, ops: &[&EnrollableBarrierOp]) -> bool {
        let mut parties = enrolled.iter();
        ops.iter().all(|op| matches!(op, EnrollableBarrierOp::Meet(me) if parties.next() == Some(me)))
    }

    fn synchronize(&self, enrolled: &BTreeSet<u32>, ops: &[&EnrollableBarrierOp]) -> Synchronized<BTreeSet<u32>, ()> {
        let mut next = enrolled.clone();
        let happens = match ops {
            [EnrollableBarrierOp::Enrol(me)] => next.insert(*me),
            [EnrollableBarrierOp::Resign(me)] => next.remove(me),
            ops => ops.len() == enrolled.len() && self.extends(enrolled, ops),
        };
        if happens { vec![(next, vec![(); ops.len()])] } else { Vec::new() }
    }
}
