//! Signals between a child and its parent.

use super::Part::{self, Begins, GoesOn};
use super::{IntervalSpec, Stepped};

/// An operation of a [`Signal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignalOp {
    /// The child raises the signal, and waits until it is lowered.
    SignalUpAndWait,
    /// The parent waits until the signal is up.
    WaitForSignalUp,
    /// The parent lowers the signal.
    SignalDown,
}

/// A signal between a child and its parent, from which barriers are built (Lawrence & Lowe, section 10 and figure 16).
///
/// The child's call meets two calls of the parent: with the first, the parent learns of the child;
/// with the second, it releases the child. The parent makes these two calls alternately. Other
/// calls of the parent never take part in a step: the parent must not lower a signal that it has
/// not seen, or wait for a second signal before it has lowered the first. A history in which such a
/// call returns is rejected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signal;

impl IntervalSpec for Signal {
    type Op = SignalOp;
    type Ret = ();
    /// Whether the parent has learned of a child that it has not released yet.
    type State = bool;

    fn initial(&self) -> bool {
        false
    }

    /// Places the child before the parent.
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
