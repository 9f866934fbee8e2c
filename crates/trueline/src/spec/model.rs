//! A plain sequential Rust type as a specification.

use std::fmt::Debug;
use std::hash::Hash;

use super::{Outcomes, Spec, outcome};

/// A plain, deterministic sequential object: the simplest way to write a [`Spec`].
///
/// ```
/// use std::collections::VecDeque;
/// use trueline::spec::{FromModel, Model};
///
/// #[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
/// struct Fifo(VecDeque<u32>);
///
/// #[derive(Clone, PartialEq, Eq, Hash, Debug)]
/// enum Op { Push(u32), Pop }
///
/// impl Model for Fifo {
///     type Op = Op;
///     type Ret = Option<u32>;
///     fn apply(&mut self, op: &Op) -> Option<u32> {
///         match op {
///             Op::Push(value) => { self.0.push_back(*value); None }
///             Op::Pop => self.0.pop_front(),
///         }
///     }
/// }
///
/// let spec = FromModel::new(Fifo::default());
/// # let _ = spec;
/// ```
pub trait Model: Clone + Eq + Hash + Debug + Send + Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;

    /// Executes `op`.
    fn apply(&mut self, op: &Self::Op) -> Self::Ret;

    /// Returns whether `op` with this result never changes the state: see [`Spec::observes`].
    fn observes(op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
        let _ = (op, recorded);
        false
    }

    /// Returns the approximate number of bytes that the object holds on the heap. Checkers count it against their
    /// memory limit.
    fn heap_size(&self) -> usize {
        0
    }
}

/// The [`Spec`] of a [`Model`]. Each new state costs one clone of the model.
#[derive(Clone, Debug)]
pub struct FromModel<M> {
    initial: M,
}

impl<M: Model> FromModel<M> {
    /// Creates the specification of an object with this initial state.
    pub fn new(initial: M) -> Self {
        Self { initial }
    }
}

impl<M: Model> Spec for FromModel<M> {
    type Op = M::Op;
    type Ret = M::Ret;
    type State = M;
    type Key = ();
    type Value = ();

    fn initial(&self) -> M {
        self.initial.clone()
    }

    fn step(&self, state: &M, op: &M::Op, _recorded: Option<&M::Ret>) -> Outcomes<M::Ret, M> {
        let mut next = state.clone();
        let result = next.apply(op);
        outcome(result, next)
    }

    fn observes(&self, op: &M::Op, recorded: Option<&M::Ret>) -> bool {
        M::observes(op, recorded)
    }

    fn heap_size(&self, state: &M) -> usize {
        state.heap_size()
    }
}
