//! Checks a linearization against the definition, without using any of the code that found it.

use std::borrow::Cow;
use std::fmt;

use super::erased::{Case, Typed};
use super::frame::Frame;
use crate::history::{History, OpId};
use crate::spec::Spec;

/// The reason why a sequence of operations is not a linearization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotALinearization {
    /// The operation occurs twice.
    Twice(OpId),
    /// The operation returned, but is missing.
    Missing(OpId),
    /// The second operation returned before the first one was called, but comes after it in the
    /// sequence.
    OutOfOrder(OpId, OpId),
    /// The specification does not allow the operation to have its result at its place in the
    /// sequence.
    Illegal(OpId),
}

impl fmt::Display for NotALinearization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(op) => write!(f, "operation {} occurs twice", op.0),
            Self::Missing(op) => write!(f, "operation {} returned, but is missing from the order", op.0),
            Self::OutOfOrder(first, second) => {
                write!(
                    f,
                    "operation {} returned before the call of operation {}, but comes later in the order",
                    second.0, first.0
                )
            }
            Self::Illegal(op) => {
                write!(f, "the specification does not allow the result of operation {} at its place in the order", op.0)
            }
        }
    }
}

impl std::error::Error for NotALinearization {}

/// Checks that `order` is a linearization of the whole history: Lowe's definition 1, point by point.
///
/// The check uses only [`Spec::step`]. If there are several objects, each starts in its own initial
/// state.
///
/// # Errors
/// Returns the reason why `order` is not a linearization.
///
/// # Complexity
/// One step of the specification for each operation. If the specification leaves a choice, one step
/// for each operation and each state that the object may be in.
pub fn replay<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, order: &[OpId]) -> Result<(), NotALinearization> {
    replay_case(&Typed::new(spec, Cow::Borrowed(history)), order)
}

fn replay_case(case: &dyn Case, order: &[OpId]) -> Result<(), NotALinearization> {
    let frame = case.frame();
    keeps_order(frame, order)?;
    let mut objects: Vec<_> = (0..frame.objects).map(|_| case.replay()).collect();
    order.iter().try_for_each(|op| objects[frame.object(*op)].step(*op))
}

/// Checks that each operation that returned occurs in `order`, that no operation occurs twice, and
/// that `order` keeps the order of operations that do not overlap.
pub(super) fn keeps_order(frame: Frame<'_>, order: &[OpId]) -> Result<(), NotALinearization> {
    let mut placed = vec![false; frame.len()];
    // The latest call so far, and the operation that was called. An operation that returned before
    // this call must not follow.
    let mut latest: Option<(OpId, u32)> = None;
    let mut returned = 0;
    for &op in order {
        if std::mem::replace(&mut placed[op.index()], true) {
            return Err(NotALinearization::Twice(op));
        }
        let return_position = frame.ret(op);
        returned += usize::from(return_position.is_some());
        match latest {
            Some((latest, call)) if return_position.is_some_and(|position| position < call) => {
                return Err(NotALinearization::OutOfOrder(latest, op));
            }
            Some((_, call)) if call >= frame.call(op) => {}
            _ => latest = Some((op, frame.call(op))),
        }
    }
    // All operations that returned are present, and none occurs twice.
    if returned == frame.events.len() - frame.len() {
        return Ok(());
    }
    let missing = frame.operations().find(|op| frame.ret(*op).is_some() && !placed[op.index()]);
    missing.map_or(Ok(()), |op| Err(NotALinearization::Missing(op)))
}

#[cfg(test)]
mod tests {
    use super::super::erased::SPANS;
    use super::*;
    use crate::spec::{Queue, QueueOp, QueueRet};

    /// Returns a history of `length` queue operations, each encoded by one base-7 digit of `code`. They run one after
    /// the other, but an operation that never returns overlaps all later ones.
    fn sequence(mut code: u32, length: u32) -> History<QueueOp<u8>, QueueRet<u8>> {
        let mut builder = History::builder();
        for process in 0..length {
            let (op, result) = match code % 7 {
                0 => (QueueOp::Enqueue(1), Some(QueueRet::Done)),
                1 => (QueueOp::Enqueue(2), Some(QueueRet::Done)),
                2 => (QueueOp::Dequeue, Some(QueueRet::Value(Some(1)))),
                3 => (QueueOp::Dequeue, Some(QueueRet::Value(Some(2)))),
                4 => (QueueOp::Dequeue, Some(QueueRet::Value(None))),
                5 => (QueueOp::Dequeue, None),
                _ => (QueueOp::Peek, Some(QueueRet::Value(Some(1)))),
            };
            code /= 7;
            builder.call(process, op).expect("the process has no open call");
            if let Some(result) = result {
                builder.ret(process, result).expect("the process has an open call");
            }
        }
        builder.finish()
    }

    /// Replays all short sequences both on [objects](Spec::object) and on states: once as a single part, and once
    /// divided into two parts, with one operation that belongs to neither part and is skipped.
    #[test]
    fn objects_and_states_say_the_same() {
        let queue = Queue::new();
        // Counts sequences by two answers: whether the sequence was replayed on objects, and whether it was legal.
        let mut said = [[0; 2]; 2];
        for code in 0..7_u32.pow(5) {
            let history = sequence(code, 5);
            let order: Vec<OpId> = (0..5).map(OpId).collect();
            for parts in [1, 2] {
                let part = |op: &OpId| Some(op.index() % (2 * parts - 1)).filter(|part| *part < parts);
                let part_of: Vec<u32> =
                    order.iter().map(|op| part(op).map_or(SPANS, |part| u32::try_from(part).expect("few"))).collect();
                let case = Typed::new(&queue, Cow::Borrowed(&history));
                let mut states: Vec<_> = (0..parts).map(|_| case.replay()).collect();
                let by_states = order.iter().try_for_each(|op| part(op).map_or(Ok(()), |part| states[part].step(*op)));
                let in_place = case.replay_in_place(&order, parts, Some(&part_of));
                said[usize::from(in_place.is_some())][usize::from(by_states.is_ok())] += 1;
                assert_eq!(in_place.as_ref().unwrap_or(&by_states), &by_states, "{history:?}");
                assert_eq!(case.replay_parts(&order, parts, Some(&part_of)), by_states, "{history:?}");
            }
        }
        assert!(said.iter().flatten().all(|count| *count > 500), "{said:?}");
    }

    #[test]
    fn what_is_missing_is_found() {
        let history = sequence(5 * 7 + 7 * 7, 3);
        assert_eq!(history.pending(), 1);
        let (queue, history) = (Queue::new(), Cow::Borrowed(&history));
        let case = Typed::new(&queue, history);
        let keeps_order = |order: &[OpId]| keeps_order(case.frame(), order);
        assert_eq!(keeps_order(&[OpId(0), OpId(2)]), Ok(()));
        assert_eq!(keeps_order(&[OpId(0), OpId(1), OpId(2)]), Ok(()));
        assert_eq!(keeps_order(&[OpId(0), OpId(1)]), Err(NotALinearization::Missing(OpId(2))));
        assert_eq!(keeps_order(&[OpId(2), OpId(0)]), Err(NotALinearization::OutOfOrder(OpId(2), OpId(0))));
        assert_eq!(keeps_order(&[OpId(0), OpId(0)]), Err(NotALinearization::Twice(OpId(0))));
    }
}
