//! A stack: last in, first out.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::container::Does;
use super::persistent::Chain;
use super::{Object, Spec, Standard, Steps, Subject, blocked, outcome};

pub use super::container::ContainerRet as StackRet;

/// An unbounded last-in-first-out stack of values `V`, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Push(v)` | `Done` | never |
/// | `Pop` | `Value`, the newest value, which is removed; `Value(None)` if the stack was empty | if it was empty |
/// | `Top` | `Value`, the newest value; `Value(None)` if the stack is empty | always |
///
/// The result of a pop depends on all values, so there are no keys. A new state allocates at most
/// one list node; see [`Chain::heap_size`]. States are formatted from the bottom to the top. Each
/// step costs O(1).
///
/// ```
/// use trueline::spec::{Spec, Stack, StackOp, StackRet};
///
/// let stack = Stack::new();
/// let state = stack.step(&stack.initial(), &StackOp::Push(1), None).remove(0).1;
/// let state = stack.step(&state, &StackOp::Push(2), None).remove(0).1;
/// assert!(stack.step(&state, &StackOp::Pop, Some(&StackRet::Value(Some(1)))).is_empty());
/// let (result, state) = stack.step(&state, &StackOp::Pop, None).remove(0);
/// assert_eq!(result, StackRet::Value(Some(2)));
/// assert_eq!(stack.describe_state(&state), "[1]");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stack<V>(PhantomData<fn() -> V>);

without_parameters!(Stack<V>, "Creates the specification of a stack that is initially empty.");

/// An operation of a [`Stack`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum StackOp<V> {
    /// Adds a value on top.
    Push(V),
    /// Removes and returns the value on top.
    Pop,
    /// Returns the value on top.
    Top,
}

impl<V> StackOp<V> {
    pub(super) fn does(&self) -> Does<'_, V> {
        match self {
            Self::Push(value) => Does::Puts(value),
            Self::Pop => Does::Takes,
            Self::Top => Does::Looks,
        }
    }
}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Stack<V> {
    type Op = StackOp<V>;
    type Ret = StackRet<V>;
    type State = Chain<V>;
    type Key = ();
    type Value = V;

    fn initial(&self) -> Chain<V> {
        Chain::new()
    }

    fn step(&self, state: &Self::State, op: &Self::Op, recorded: Option<&Self::Ret>) -> Steps<Self> {
        if let StackOp::Push(value) = op {
            return match recorded {
                None | Some(StackRet::Done) => outcome(StackRet::Done, state.push_newest(value.clone())),
                Some(StackRet::Value(_)) => blocked(),
            };
        }
        let top = state.newest();
        match recorded {
            Some(StackRet::Done) => return blocked(),
            Some(StackRet::Value(value)) if value.as_ref() != top => return blocked(),
            Some(StackRet::Value(_)) | None => {}
        }
        let result = StackRet::Value(top.cloned());
        let rest = if *op == StackOp::Pop { state.pop_newest().map(|(_, rest)| rest) } else { None };
        outcome(result, rest.unwrap_or_else(|| state.clone()))
    }

    fn object<'a>(&'a self) -> Option<Object<'a, StackOp<V>, StackRet<V>>> {
        let mut values: Vec<&V> = Vec::new();
        Some(Box::new(move |op, result| match (op, result) {
            (StackOp::Push(value), StackRet::Done) => {
                values.push(value);
                true
            }
            (StackOp::Pop, StackRet::Value(value)) => values.pop() == value.as_ref(),
            (StackOp::Top, StackRet::Value(value)) => values.last().copied() == value.as_ref(),
            _ => false,
        }))
    }

    fn subject(&self, op: &StackOp<V>, recorded: Option<&StackRet<V>>) -> Subject {
        // Removing values does not change the order of the others: if the value on top is kept, it is still on top.
        op.does().subject(recorded)
    }

    fn leads_to(&self, _op: &StackOp<V>, recorded: &StackRet<V>) -> Option<Chain<V>> {
        // An operation that found the stack empty leaves the stack empty.
        recorded.is_empty().then(Chain::new)
    }

    fn observes(&self, op: &StackOp<V>, recorded: Option<&StackRet<V>>) -> bool {
        op.does().observes(recorded)
    }

    fn heap_size(&self, state: &Chain<V>) -> usize {
        state.heap_size()
    }

    fn standard<'a>(&'a self, op: &'a StackOp<V>, recorded: Option<&'a StackRet<V>>) -> Option<Standard<&'a V>> {
        op.does().standard(recorded, Standard::Push, Standard::Pop, Standard::Top)
    }
}

#[cfg(test)]
mod tests {
    use super::StackOp::{Pop, Push, Top};
    use super::StackRet::{Done, Value};
    use super::*;
    use crate::spec::laws;

    #[test]
    fn keeps_the_laws() {
        let operations = [Push(0), Push(1), Push(2), Pop, Top];
        let results = [Done, Value(None), Value(Some(0)), Value(Some(1)), Value(Some(2))];
        laws::check(&Stack::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Stack::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn the_last_in_is_the_first_out() {
        let values = [(Push(1), Done), (Push(2), Done), (Top, Value(Some(2))), (Pop, Value(Some(2)))];
        let mut sequence = values.to_vec();
        assert!(laws::is_legal(&Stack::new(), &sequence));
        sequence.extend([(Pop, Value(Some(1))), (Pop, Value(None)), (Top, Value(None))]);
        assert!(laws::is_legal(&Stack::new(), &sequence));
        sequence.push((Pop, Value(Some(1))));
        assert!(!laws::is_legal(&Stack::new(), &sequence));
    }
}
