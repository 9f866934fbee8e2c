//! Signals between a child and its parent.

use super::Part::{self, Begins, GoesOn};
use super::{IntervalSpec, Stepped};

/// An operation of a [`Signal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalOp {
    /// The child puts it up, and waits until it is put down.
    SignalUpAndWait,
    /// The parent waits until it is up.
    WaitForSignalUp,
    /// The parent puts it down.
    SignalDown,
}

/// A signal between a child and its parent, from which barriers are made (Lawrence & Lowe, section 10 and figure 16).
///
/// The child's call meets two calls of the parent: with the first, the parent learns of the child; with the second, it lets
/// the child go. The parent makes these in turn. What is called otherwise is told of by no step: a signal that is put down
/// before it was seen, or seen twice, is rejected if the call returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signal;

impl IntervalSpec for Signal {
    type Op = SignalOp;
    type Ret = ();
    /// Whether the parent has learned of a child that it has not let go.
    type State = bool;

    fn initial(&self) -> bool {
        false
    }

    /// The child first.
    fn place(&self, op: &SignalOp) -> u32 {
        u32::from(*op != SignalOp::SignalUpAndWait)
    }

    fn extends(&self, _: &bool, parts: &[Part<'_, SignalOp>]) -> bool {
        matches!(parts, [Begins(SignalOp::SignalUpAndWait) | GoesOn(SignalOp::SignalUpAndWait)])
    }

    fn step(&self, is_up: &bool, parts: &[Part<'_, SignalOp>]) -> Stepped<bool, ()> {
        use SignalOp::{SignalDown, SignalUpAndWait, WaitForSignalUp};
        match (is_up, parts) {
            (false, [Begins(SignalUpAndWait), Begins(WaitForSignalUp)]) => vec![(true, vec![None, Some(())])],
            (true, [GoesOn(SignalUpAndWait), Begins(SignalDown)]) => vec![(false, vec![Some(()), Some(())])],
            _ => Vec::new(),
        }
    }
}
