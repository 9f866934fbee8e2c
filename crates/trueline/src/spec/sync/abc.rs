//! An object at which three kinds of parties meet.

use super::{SyncSpec, Synchronized};

/// An operation of [`Abc`], with the name of the party that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AbcOp {
    /// A party of the first kind.
    A(u64),
    /// A party of the second kind.
    B(u64),
    /// A party of the third kind.
    C(u64),
}

/// An object at which three parties, one of each kind, meet. Each party learns the names of the two
/// others, in the order of their kinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abc;

impl SyncSpec for Abc {
    type Op = AbcOp;
    type Ret = (u64, u64);
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![3]
    }

    fn place(&self, op: &AbcOp) -> u32 {
        match op {
            AbcOp::A(_) => 0,
            AbcOp::B(_) => 1,
            AbcOp::C(_) => 2,
        }
    }

    fn extends(&self, (): &(), ops: &[&AbcOp]) -> bool {
        matches!(ops, [AbcOp::A(_)] | [AbcOp::A(_), AbcOp::B(_)])
    }

    fn synchronize(&self, (): &(), ops: &[&AbcOp]) -> Synchronized<(), (u64, u64)> {
        match *ops {
            [&AbcOp::A(a), &AbcOp::B(b), &AbcOp::C(c)] => vec![((), vec![(b, c), (a, c), (a, b)])],
            _ => Vec::new(),
        }
    }
}
