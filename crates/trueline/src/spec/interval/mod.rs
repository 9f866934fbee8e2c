//! Objects whose operations take effect in several steps. An operation begins in the first of its
//! steps, and ends in the last.
//!
//! This is interval linearizability (Castañeda, Rajsbaum & Raynal, *Unifying concurrent objects and
//! distributed tasks: interval-linearizability*). The interface follows Lawrence & Lowe,
//! *Synchronisation: Specification and Testing*; section 10 of that paper asks for a criterion of
//! this kind. An operation that [synchronizes](super::sync) takes part in one synchronization.
//! Here, an operation takes part in one or more *steps*: it begins in the first, and gets its
//! result in the last. Given several open executions (calls of operations), an [`IntervalSpec`]
//! returns whether they may take a step in the current state, which executions end with that step
//! and with which results, and the next state.
//!
//! | specification | steps |
//! |---|---|
//! | `Signal` | a child meets its parent twice |
//! | `WriteSnapshot` | each operation writes a value, and later takes a snapshot of all values |
//! | [`OneStep`] | the synchronizations of a [`SyncSpec`](super::sync::SyncSpec): all operations begin and end in one step |
//!
//! The specifications without a link are examples, which are available by [name](crate::registry).

mod one_step;
mod signal;
mod write_snapshot;

use std::fmt::Debug;
use std::hash::Hash;

pub use one_step::OneStep;
#[doc(hidden)]
pub use signal::{Signal, SignalOp};
#[doc(hidden)]
pub use write_snapshot::WriteSnapshot;

/// The role of an execution (one call of an operation) in a step.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Part<'a, Op> {
    /// The execution took part in an earlier step, and has not ended.
    GoesOn(&'a Op),
    /// The execution takes part for the first time.
    Begins(&'a Op),
}

impl<Op> Clone for Part<'_, Op> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Op> Copy for Part<'_, Op> {}

impl<'a, Op> Part<'a, Op> {
    /// Returns the operation that was called.
    pub fn op(self) -> &'a Op {
        match self {
            Self::Begins(op) | Self::GoesOn(op) => op,
        }
    }

    /// Returns whether the execution begins with this step.
    pub fn begins(self) -> bool {
        matches!(self, Self::Begins(_))
    }
}

/// The possible outcomes of a step. Each outcome is a possible next state and a list with one entry
/// for each execution, in the order of the executions. The entry is the result of the execution if
/// the execution ends with the step, and `None` if it continues.
pub type Stepped<State, Ret> = Vec<(State, Vec<Option<Ret>>)>;

/// An object whose operations take effect in one or more steps.
///
/// This example is the signal of the paper, whose `signalUpAndWait` meets two calls of the parent:
///
/// ```
/// use trueline::spec::interval::Part::{self, Begins, GoesOn};
/// use trueline::spec::interval::{IntervalSpec, Stepped};
///
/// #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
/// enum Op {
///     SignalUpAndWait,
///     WaitForSignalUp,
///     SignalDown,
/// }
/// use Op::*;
///
/// struct Signal;
///
/// impl IntervalSpec for Signal {
///     type Op = Op;
///     type Ret = ();
///     type State = bool;
///
///     fn initial(&self) -> bool {
///         false
///     }
///
///     fn place(&self, op: &Op) -> u32 {
///         u32::from(*op != SignalUpAndWait)
///     }
///
///     fn step(&self, is_up: &bool, parts: &[Part<'_, Op>]) -> Stepped<bool, ()> {
///         match (is_up, parts) {
///             (false, [Begins(SignalUpAndWait), Begins(WaitForSignalUp)]) => vec![(true, vec![None, Some(())])],
///             (true, [GoesOn(SignalUpAndWait), Begins(SignalDown)]) => vec![(false, vec![Some(()), Some(())])],
///             _ => vec![],
///         }
///     }
/// }
/// ```
///
/// The documentation of each method states what its implementation must guarantee. If a
/// specification violates a guarantee, verdicts can be wrong.
pub trait IntervalSpec: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// The state that is kept from one step to the next.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Returns the initial state.
    fn initial(&self) -> Self::State;

    /// Returns the place of an operation in the list of operations that take a step together. The
    /// executions are passed to [`step`](Self::step) sorted by place. Executions with equal places
    /// are sorted further: those that continue come before those that begin, and otherwise the
    /// order is that of their calls. The outcomes must not depend on the order of executions with
    /// equal places.
    fn place(&self, op: &Self::Op) -> u32 {
        let _ = op;
        0
    }

    /// Returns whether these executions, in the order of their places, can be the first members of
    /// a larger group that takes a step in this state. By default, returns `true`, so all sets of
    /// open executions are tried; returning `false` saves time.
    fn extends(&self, state: &Self::State, parts: &[Part<'_, Self::Op>]) -> bool {
        let _ = (state, parts);
        true
    }

    /// Returns the outcomes if exactly these executions take a step: none if they cannot, several if the step is
    /// nondeterministic.
    ///
    /// In each step, some execution must begin or end, so that the number of steps is finite. An outcome in which no
    /// execution begins or ends is not a step, and is ignored.
    fn step(&self, state: &Self::State, parts: &[Part<'_, Self::Op>]) -> Stepped<Self::State, Self::Ret>;
}
