//! An object at which men and women meet.

use super::{SyncSpec, Synchronized};

/// An operation of [`MenWomen`], with the name of the person who arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MenWomenOp {
    /// A man with this name.
    Man(u64),
    /// A woman with this name.
    Woman(u64),
}

/// Men wait for women and women for men; each learns the name of the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct MenWomen;

impl SyncSpec for MenWomen {
    type Op = MenWomenOp;
    type Ret = u64;
    type State = ();

    fn initial(&self) {}

    fn arities(&self, (): &()) -> Vec<usize> {
        vec![2]
    }

    fn place(&self, op: &MenWomenOp) -> u32 {
        u32::from(matches!(op, MenWomenOp::Woman(_)))
    }

    fn extends(&self, (): &(), ops: &[&MenWomenOp]) -> bool {
        matches!(ops, [MenWomenOp::Man(_)])
    }

    fn synchronize(&self, (): &(), ops: &[&MenWomenOp]) -> Synchronized<(), u64> {
        match *ops {
            [&MenWomenOp::Man(him), &MenWomenOp::Woman(her)] => vec![((), vec![her, him])],
            _ => Vec::new(),
        }
    }

    /// The result of an execution is the name of its partner, and the result of the partner must be
    /// the name of the execution. So all possible partners of an execution have the same name, and
    /// those with a result have the same result.
    fn is_interchangeable(&self, _: &MenWomenOp, _: Option<&u64>) -> bool {
        true
    }
}
