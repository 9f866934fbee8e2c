//! A stack that returns its height.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::persistent::Chain;
use super::{Spec, Steps, blocked, outcome};

/// An unbounded last-in-first-out stack of values `V`, initially empty. Each operation also returns the height that the
/// stack had before the operation.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Push(v)` | `Pushed`, the height before | never |
/// | `Pop` | `Popped`, the height before and the removed newest value; 0 and `None` if empty | if it was empty |
///
/// There are no keys. Horn and Kroening, *Faster linearizability checking via P-compositionality*
/// (2015), example 9, use the height as the key, and claim that the stack is linearizable if and
/// only if the operations at each height are. That is *not sound*. Consider `Push(a)` → 0,
/// `Push(b)` → 1 and `Pop` → (1, a), one after another. The push of `a` and the pop are legal
/// without the push of `b`, and the push of `b` is legal if the stack has one value. But all three
/// together are not legal, because `b` is on top and the height is 2. If the operations at some
/// height are illegal, so is the history; but if they are legal at each height, the history need
/// not be legal.
///
/// A new state allocates at most one list node; see [`Chain::heap_size`]. States are formatted from
/// the bottom to the top. Each step costs O(1).
///
/// ```
/// use trueline::spec::{Spec, StackHeights, StackHeightsOp, StackHeightsRet};
///
/// let stack = StackHeights::new();
/// let (result, state) = stack.step(&stack.initial(), &StackHeightsOp::Push('a'), None).remove(0);
/// assert_eq!(result, StackHeightsRet::Pushed(0));
/// let (result, state) = stack.step(&state, &StackHeightsOp::Pop, None).remove(0);
/// assert_eq!(result, StackHeightsRet::Popped { height: 1, value: Some('a') });
/// assert_eq!(stack.step(&state, &StackHeightsOp::Pop, None)[0].0, StackHeightsRet::Popped { height: 0, value: None });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StackHeights<V>(PhantomData<fn() -> V>);

without_parameters!(StackHeights<V>, "Creates the specification of a stack that is initially empty.");

/// An operation of a [`StackHeights`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum StackHeightsOp<V> {
    /// Adds a value on top.
    Push(V),
    /// Removes and returns the value on top.
    Pop,
}

/// A result of a [`StackHeightsOp`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum StackHeightsRet<V> {
    /// A push took place, on a stack of this height.
    Pushed(usize),
    /// A pop took place.
    Popped {
        /// The height before the pop. It includes the value that was popped.
        height: usize,
        /// The value that was on top; `None` if the stack was empty.
        value: Option<V>,
    },
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for StackHeights<V> {
    type Op = StackHeightsOp<V>;
    type Ret = StackHeightsRet<V>;
    type State = Chain<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Chain<V> {
        Chain::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        let height = state.len();
        let result = match op {
            StackHeightsOp::Push(_) => StackHeightsRet::Pushed(height),
            StackHeightsOp::Pop => StackHeightsRet::Popped { height, value: state.newest().cloned() },
        };
        if recorded.is_some_and(|recorded| *recorded != result) {
            return blocked();
        }
        let next = match op {
            StackHeightsOp::Push(value) => state.push_newest(value.clone()),
            StackHeightsOp::Pop => state.pop_newest().map_or_else(Chain::new, |(_, rest)| rest),
        };
        outcome(result, next)
    }

    fn leads_to(&self, op: &StackHeightsOp<V>, recorded: &StackHeightsRet<V>) -> Option<Chain<V>> {
        match (op, recorded) {
            (StackHeightsOp::Push(value), StackHeightsRet::Pushed(0)) => Some(Chain::new().push_newest(value.clone())),
            (StackHeightsOp::Pop, StackHeightsRet::Popped { height: 0 | 1, .. }) => Some(Chain::new()),
            _ => None,
        }
    }

    fn observes(&self, op: &StackHeightsOp<V>, recorded: Option<&StackHeightsRet<V>>) -> bool {
        match op {
            StackHeightsOp::Push(_) => false,
            StackHeightsOp::Pop => recorded == Some(&StackHeightsRet::Popped { height: 0, value: None }),
        }
    }

    fn heap_size(&self, state: &Chain<V>) -> usize {
        state.heap_size()
    }
}

#[cfg(test)]
mod tests {
    use super::StackHeightsOp::{Pop, Push};
    use super::StackHeightsRet::{Popped, Pushed};
    use super::*;
    use crate::spec::laws;

    fn popped(height: usize, value: impl Into<Option<char>>) -> (StackHeightsOp<char>, StackHeightsRet<char>) {
        (Pop, Popped { height, value: value.into() })
    }

    #[test]
    fn keeps_the_laws() {
        let operations = [Push('a'), Push('b'), Pop, Pop, Pop];
        let mut results = vec![Popped { height: 0, value: None }, Popped { height: 1, value: None }];
        for height in 0..=40 {
            results.push(Pushed(height));
            results.extend(['a', 'b'].map(|value| Popped { height, value: Some(value) }));
        }
        laws::check(&StackHeights::new(), &operations, &results, 1);
        laws::check_observers_are_known(&StackHeights::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn heights_count() {
        let stack = StackHeights::new();
        let pushes = vec![(Push('a'), Pushed(0)), (Push('b'), Pushed(1))];
        assert!(laws::is_legal(
            &stack,
            &[pushes.clone(), vec![popped(2, 'b'), popped(1, 'a'), popped(0, None)]].concat()
        ));
        assert!(!laws::is_legal(&stack, &[pushes.clone(), vec![popped(1, 'b')]].concat()));
        assert!(!laws::is_legal(&stack, &[(Push('a'), Pushed(1))]));
        assert!(!laws::is_legal(&stack, &[popped(0, 'a')]));
        // This history would be accepted if it were partitioned by height.
        assert!(!laws::is_legal(&stack, &[pushes, vec![popped(1, 'a')]].concat()));
        assert!(laws::is_legal(&stack, &[(Push('a'), Pushed(0)), popped(1, 'a')]));
    }
}
