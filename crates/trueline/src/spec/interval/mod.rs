//! Objects whose operations take effect in several steps: in which they begin, go on and end.
//!
//! Castañeda, Rajsbaum & Raynal, *Unifying concurrent objects and distributed tasks: interval-linearizability*, in the
//! manner of Lawrence & Lowe, *Synchronisation: Specification and Testing*, whose section 10 asks for it. Where operations
//! [synchronise](super::sync), each takes part in one synchronisation. Here it takes part in one *step* or more: it begins in
//! the first and ends, with its result, in the last. Asked for some executions that are all open, an [`IntervalSpec`] says
//! whether they may take a step in the present state, which of them end with it and what these return, and what the
//! state is then.
//!
//! | specification | steps |
//! |---|---|
//! | [`Signal`] | a child meets its parent twice |
//! | [`WriteSnapshot`] | each writes a value, and later takes a snapshot of all |
//! | [`OneStep`] | those of a [`SyncSpec`](super::sync::SyncSpec), in which all begin and end |

mod one_step;
mod signal;
mod write_snapshot;

use std::fmt::Debug;
use std::hash::Hash;

pub use one_step::OneStep;
pub use signal::{Signal, SignalOp};
pub use write_snapshot::WriteSnapshot;

/// The part of an execution in a step.
#[derive(Debug, PartialEq, Eq, Hash)]
pub enum Part<'a, Op> {
    /// It has taken part in an earlier step, and not ended.
    GoesOn(&'a Op),
    /// It takes part for the first time.
    Begins(&'a Op),
}

impl<Op> Clone for Part<'_, Op> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Op> Copy for Part<'_, Op> {}

impl<'a, Op> Part<'a, Op> {
    /// What was called.
    pub fn op(self) -> &'a Op {
        match self {
            Self::Begins(op) | Self::GoesOn(op) => op,
        }
    }

    /// Whether it begins.
    pub fn begins(self) -> bool {
        matches!(self, Self::Begins(_))
    }
}

/// What a step may lead to: each possible state, with the result of each execution that ends with the step, and `None` for
/// each that goes on, in their order.
pub type Stepped<State, Ret> = Vec<(State, Vec<Option<Ret>>)>;

/// An object whose operations take effect in one step or more.
///
/// The signal of the paper, whose `signalUpAndWait` meets two calls of the parent:
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
/// What the methods promise is stated with each; a specification that lies gets wrong verdicts.
pub trait IntervalSpec: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// What is kept from one step to the next.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// The state in the beginning.
    fn initial(&self) -> Self::State;

    /// The place of an operation among those that take a step with it. [`step`](Self::step) is given executions by place;
    /// those of one place with those that go on first, and then in the order of their calls, which must not matter.
    fn place(&self, op: &Self::Op) -> u32 {
        let _ = op;
        0
    }

    /// Whether some parts, in the order of their places, may be the first of more that take a step in this state. The
    /// default says yes, so that all sets of open executions are tried; to say no saves time.
    fn extends(&self, state: &Self::State, parts: &[Part<'_, Self::Op>]) -> bool {
        let _ = (state, parts);
        true
    }

    /// What may come of it if exactly these executions take a step: nothing if they may not, several if there is a choice.
    ///
    /// With each step somebody begins or ends, so that there are not endlessly many. An outcome in which nobody does is no
    /// step, and is left out.
    fn step(&self, state: &Self::State, parts: &[Part<'_, Self::Op>]) -> Stepped<Self::State, Self::Ret>;
}
