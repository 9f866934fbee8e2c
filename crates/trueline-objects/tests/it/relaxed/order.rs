//! What order values may leave a collection in, by definition.

use crate::sync::judge::{Done, synchronises};

/// A call with its result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Op {
    Insert(u64),
    Remove(Option<u64>),
}

/// What is to be removed next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    /// What came first.
    First,
    /// What came last.
    Last,
    /// The least.
    Least,
}

/// An order that may be out by so many steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relaxed {
    pub(super) order: Order,
    pub(super) factor: usize,
}

/// The values of a collection, next first, each with how often it was overtaken.
pub(super) type State = Vec<(u64, usize)>;

impl Relaxed {
    /// The state after an operation, if it is allowed: what is removed is at most `factor` steps from the front, and what
    /// is overtaken is so at most `factor` times; but a stack may bury a value for ever.
    pub(super) fn step(self, state: &State, op: Op) -> Option<State> {
        let mut after = state.clone();
        match op {
            Op::Insert(value) => {
                let at = match self.order {
                    Order::First => after.len(),
                    Order::Last => 0,
                    Order::Least => after.partition_point(|(other, _)| *other <= value),
                };
                after.insert(at, (value, 0));
            }
            Op::Remove(None) => return state.is_empty().then_some(after),
            Op::Remove(Some(value)) => {
                let at = after.iter().position(|(other, _)| *other == value).filter(|at| *at <= self.factor)?;
                after.remove(at);
                if self.order != Order::Last {
                    after[..at].iter_mut().for_each(|(_, overtaken)| *overtaken += 1);
                    if after[..at].iter().any(|(_, overtaken)| *overtaken > self.factor) {
                        return None;
                    }
                }
            }
        }
        Some(after)
    }

    /// Whether a history is allowed, by trying all.
    pub(super) fn allows(self, history: &[Done<Op>]) -> bool {
        synchronises(history, State::new(), 1, |state, operations| self.step(state, operations[0]))
    }
}

#[test]
fn the_histories_of_the_paper() {
    let fifo = Relaxed { order: Order::First, factor: 1 };
    let removes = |values: [u64; 3]| {
        let state = vec![(1, 0), (2, 0), (3, 0)];
        values.into_iter().try_fold(state, |state, value| fifo.step(&state, Op::Remove(Some(value)))).is_some()
    };
    // Section V: histories 0 to 2 are in order by one step, 3 to 5 are not.
    let good = [[1, 2, 3], [2, 1, 3], [1, 3, 2]];
    let bad = [[3, 1, 2], [2, 3, 1], [3, 2, 1]];
    assert!(good.into_iter().all(removes) && !bad.into_iter().any(removes));
}
