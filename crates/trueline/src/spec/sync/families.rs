//! Objects on which the members of one or two families synchronize in pairs, each pair at most once.

use std::collections::BTreeSet;

use super::{SyncSpec, Synchronized};

/// The pairs that have met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Met(BTreeSet<(u32, u32)>);

impl Met {
    /// Returns the outcome of a meeting of this pair; no outcome if the pair has met before.
    fn meet(&self, pair: (u32, u32), results: Vec<u32>) -> Synchronized<Self, u32> {
        if self.0.contains(&pair) {
            return Vec::new();
        }
        let mut met = self.clone();
        met.0.insert(pair);
        vec![(met, results)]
    }
}

/// An operation of [`TwoFamilies`], with the member that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TwoFamiliesOp {
    /// A member of the first family.
    A(u32),
    /// A member of the second family.
    B(u32),
}

/// Members of two families meet, each pair at most once; each learns the name of the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct TwoFamilies;

impl SyncSpec for TwoFamilies {
    type Op = TwoFamiliesOp;
    type Ret = u32;
    type State = Met;

    fn initial(&self) -> Met {
        Met::default()
    }

    fn arities(&self, _: &Met) -> Vec<usize> {
        vec![2]
    }

    fn place(&self, op: &TwoFamiliesOp) -> u32 {
        u32::from(matches!(op, TwoFamiliesOp::B(_)))
    }

    fn extends(&self, _: &Met, ops: &[&TwoFamiliesOp]) -> bool {
        matches!(ops, [TwoFamiliesOp::A(_)])
    }

    fn synchronize(&self, met: &Met, ops: &[&TwoFamiliesOp]) -> Synchronized<Met, u32> {
        match *ops {
            [&TwoFamiliesOp::A(a), &TwoFamiliesOp::B(b)] => met.meet((a, b), vec![b, a]),
            _ => Vec::new(),
        }
    }
}

/// Members of one family meet, each pair at most once; each learns the name of the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneFamily;

impl SyncSpec for OneFamily {
    type Op = u32;
    type Ret = u32;
    type State = Met;

    fn initial(&self) -> Met {
        Met::default()
    }

    fn arities(&self, _: &Met) -> Vec<usize> {
        vec![2]
    }

    fn synchronize(&self, met: &Met, ops: &[&u32]) -> Synchronized<Met, u32> {
        match *ops {
            [&one, &other] if one != other => met.meet((one.min(other), one.max(other)), vec![other, one]),
            _ => Vec::new(),
        }
    }
}
