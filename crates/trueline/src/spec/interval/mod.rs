//! Objects whose operations take effect in several steps: an operation begins in the first and ends in the last.
//!
//! This is interval linearizability (Castañeda, Rajsbaum & Raynal, *Unifying concurrent objects and distributed tasks:
//! interval-linearizability*), in the manner of Lawrence & Lowe, *Synchronisation: Specification and Testing*, whose
//! section 10 asks for it. Where operations [synchronize](super::sync), each takes part in one synchronization. Here it
//! takes part in one or more *steps*: it begins in the first and ends, with its result, in the last. Given executions
//! that are all open, an [`IntervalSpec`] returns whether they may take a step in the current state, which of them end
//! with it, the results of these, and the next state.
//!
//! | specification | steps |
//! |---|---|
//! | `Signal` | a child meets its parent twice |
//! | `WriteSnapshot` | each operation writes a value, and later takes a snapshot of all values |
//! | [`OneStep`] | those of a [`SyncSpec`](super::sync::SyncSpec): all operations begin and end in one step |
//!
//! Those without a link are examples, which are available by [name](crate::registry).

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

/// The role of an execution in a step.
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

/// The possible outcomes of a step: each possible next state, with the result of each execution that ends with the
/// step, and `None` for each that continues, in the order of the executions.
pub type Stepped<State, Ret> = Vec<(State, Vec<Option<Ret>>)>;

/// An object whose operations take effect in one or more steps.
///
/// As an example, the signal of the paper, whose `signalUpAndWait` meets two calls of the parent:
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
/// Each method states what it promises. If a specification breaks a promise, verdicts can be wrong.
pub trait IntervalSpec: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// The state that is kept from one step to the next.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Returns the initial state.
    fn initial(&self) -> Self::State;

    /// Returns the place of an operation among those that take a step with it. The executions are passed to
    /// [`step`](Self::step) sorted by place. Of those with equal places, the ones that continue come first, and
    /// otherwise they are in the order of their calls, which must not matter.
    fn place(&self, op: &Self::Op) -> u32 {
        let _ = op;
        0
    }

    /// Returns whether these parts, in the order of their places, may be the first of a larger group that takes a step
    /// in this state. The default is `true`, so that all sets of open executions are tried; returning `false` saves
    /// time.
    fn extends(&self, state: &Self::State, parts: &[Part<'_, Self::Op>]) -> bool {
        let _ = (state, parts);
        true
    }

    /// Returns the outcomes if exactly these executions take a step: none if they cannot, several if the step is
    /// nondeterministic.
    ///
    /// In each step, some execution must begin or end, so that the number of steps is finite. An outcome in which none
    /// does is not a step, and is ignored.
    fn step(&self, state: &Self::State, parts: &[Part<'_, Self::Op>]) -> Stepped<Self::State, Self::Ret>;
}
