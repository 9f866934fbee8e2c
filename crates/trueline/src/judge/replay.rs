//! Checking a linearization against the definition, without any of the code that found it.

use std::fmt;

use smallvec::{SmallVec, smallvec};

use crate::history::{History, OpId, Outcome};
use crate::spec::{Object, Spec};

/// Why a sequence of operations is not a linearization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotALinearization {
    /// The operation occurs twice.
    Twice(OpId),
    /// The operation returned, but is missing.
    Missing(OpId),
    /// The second returned before the first was called, but comes behind it.
    OutOfOrder(OpId, OpId),
    /// The specification does not allow the operation to have its result where it is.
    Illegal(OpId),
}

impl fmt::Display for NotALinearization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(op) => write!(f, "operation {} occurs twice", op.0),
            Self::Missing(op) => write!(f, "operation {} returned, but is missing", op.0),
            Self::OutOfOrder(first, second) => {
                write!(f, "operation {} returned before {} was called, but comes behind it", second.0, first.0)
            }
            Self::Illegal(op) => {
                write!(f, "the specification does not allow operation {} to have its result there", op.0)
            }
        }
    }
}

impl std::error::Error for NotALinearization {}

/// Checks that `order` is a linearization of the whole history: Lowe's definition 1, point by point.
///
/// This goes by [`Spec::step`] alone. For several objects, each starts in its own initial state.
///
/// # Errors
/// What is wrong with it.
///
/// # Complexity
/// One step of the specification for each operation (for each state it may be in, if the specification leaves a
/// choice).
pub fn replay<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, order: &[OpId]) -> Result<(), NotALinearization> {
    keeps_order(history, order)?;
    let mut objects: Vec<_> = (0..history.object_count()).map(|_| Replay::new(spec, history)).collect();
    order.iter().try_for_each(|op| objects[history[*op].object.index()].step(*op))
}

/// Checks that the operations of one part are legal in this order, from the initial state on.
pub(crate) fn replay_part<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    order: &[OpId],
) -> Result<(), NotALinearization> {
    replay_parts(spec, history, order, 1, |_| Some(0))
}

/// Checks that the operations of each part are legal in this order, from the initial state on. `part` says which part an
/// operation belongs to, numbered `0..parts`; `None` if it is not to be looked at.
///
/// The parts are carried out by the specification's [objects](Spec::object), if it has such and all results are known.
pub(crate) fn replay_parts<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    order: &[OpId],
    parts: usize,
    part: impl Fn(OpId) -> Option<usize>,
) -> Result<(), NotALinearization> {
    if let Some(answer) = replay_in_place(spec, history, order, parts, &part) {
        return answer;
    }
    let mut states: Vec<Replay<'_, S>> = (0..parts).map(|_| Replay::new(spec, history)).collect();
    order.iter().try_for_each(|op| part(*op).map_or(Ok(()), |part| states[part].step(*op)))
}

/// The same by objects; `None` if that cannot be.
fn replay_in_place<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    order: &[OpId],
    parts: usize,
    part: impl Fn(OpId) -> Option<usize>,
) -> Option<Result<(), NotALinearization>> {
    let mut objects: SmallVec<[Object<'_, S::Op, S::Ret>; 1]> = SmallVec::new();
    for _ in 0..parts {
        objects.push(spec.object()?);
    }
    for &op in order {
        let Some(part) = part(op) else { continue };
        let operation = &history[op];
        if !objects[part](&operation.op, operation.outcome.result()?) {
            return Some(Err(NotALinearization::Illegal(op)));
        }
    }
    Some(Ok(()))
}

/// Operations of one part that are carried out one by one.
pub(crate) struct Replay<'a, S: Spec> {
    spec: &'a S,
    history: &'a History<S::Op, S::Ret>,
    /// The states that the object may be in: one, if the specification leaves no choice.
    states: SmallVec<[S::State; 1]>,
}

impl<'a, S: Spec> Replay<'a, S> {
    /// The object at the start.
    pub(crate) fn new(spec: &'a S, history: &'a History<S::Op, S::Ret>) -> Self {
        Self { spec, history, states: smallvec![spec.initial()] }
    }

    /// Carries out one operation, if it can have its result then.
    pub(crate) fn step(&mut self, op: OpId) -> Result<(), NotALinearization> {
        step(self.spec, self.history, op, &mut self.states)
    }

    /// The states that the object may be in.
    pub(crate) fn states(&self) -> &[S::State] {
        &self.states
    }
}

/// Checks that each operation that returned occurs, none twice, and that `order` keeps the order of operations that do
/// not overlap.
pub(crate) fn keeps_order<Op, Ret>(history: &History<Op, Ret>, order: &[OpId]) -> Result<(), NotALinearization> {
    let mut placed = vec![false; history.len()];
    // The latest call so far, and whose it is: nothing may follow that returned before it.
    let mut latest: Option<(OpId, u32)> = None;
    let mut returned = 0;
    for &op in order {
        if std::mem::replace(&mut placed[op.index()], true) {
            return Err(NotALinearization::Twice(op));
        }
        let operation = &history[op];
        let return_position = operation.return_position();
        returned += usize::from(return_position.is_some());
        match latest {
            Some((latest, call)) if return_position.is_some_and(|position| position < call) => {
                return Err(NotALinearization::OutOfOrder(latest, op));
            }
            Some((_, call)) if call >= operation.call_position() => {}
            _ => latest = Some((op, operation.call_position())),
        }
    }
    // All that returned are there, and no operation is there twice.
    if returned == history.events().len() - history.len() {
        return Ok(());
    }
    let missing = (0..)
        .map(OpId)
        .zip(history.operations())
        .find(|(op, operation)| matches!(operation.outcome, Outcome::Returned(_)) && !placed[op.index()]);
    missing.map_or(Ok(()), |(op, _)| Err(NotALinearization::Missing(op)))
}

/// Replaces the states the object may be in by those it may be in after `op`.
fn step<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    op: OpId,
    states: &mut SmallVec<[S::State; 1]>,
) -> Result<(), NotALinearization> {
    let operation = &history[op];
    let recorded = operation.outcome.result();
    let matches = |result: &S::Ret| recorded.is_none_or(|recorded| recorded == result);
    if let [state] = states.as_mut_slice() {
        // The common case: one state, one outcome.
        let mut outcomes = spec.step(state, &operation.op, recorded).into_iter().filter(|(result, _)| matches(result));
        let (_, next) = outcomes.next().ok_or(NotALinearization::Illegal(op))?;
        *state = next;
        for (_, next) in outcomes {
            if !states.contains(&next) {
                states.push(next);
            }
        }
        return Ok(());
    }
    let mut after = std::collections::HashSet::new();
    let mut next = SmallVec::new();
    for state in states.drain(..) {
        for (result, successor) in spec.step(&state, &operation.op, recorded) {
            if matches(&result) && after.insert(successor.clone()) {
                next.push(successor);
            }
        }
    }
    *states = next;
    if states.is_empty() { Err(NotALinearization::Illegal(op)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Queue, QueueOp, QueueRet};

    /// Operations of queues one after the other, by a code for each; what never returns overlaps all that comes behind.
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
            builder.call(process, op).expect("a new process");
            if let Some(result) = result {
                builder.ret(process, result).expect("it has called");
            }
        }
        builder.finish()
    }

    /// All short sequences, by objects and by states, as one part and as two between operations that are not looked at.
    #[test]
    fn objects_and_states_say_the_same() {
        let queue = Queue::new();
        // Whether it was done by objects, and what they said.
        let mut said = [[0; 2]; 2];
        for code in 0..7_u32.pow(5) {
            let history = sequence(code, 5);
            let order: Vec<OpId> = (0..5).map(OpId).collect();
            for parts in [1, 2] {
                let part = |op: OpId| Some(op.index() % (2 * parts - 1)).filter(|part| *part < parts);
                let mut states: Vec<_> = (0..parts).map(|_| Replay::new(&queue, &history)).collect();
                let by_states = order.iter().try_for_each(|op| part(*op).map_or(Ok(()), |part| states[part].step(*op)));
                let in_place = replay_in_place(&queue, &history, &order, parts, part);
                said[usize::from(in_place.is_some())][usize::from(by_states.is_ok())] += 1;
                assert_eq!(in_place.as_ref().unwrap_or(&by_states), &by_states, "{history:?}");
                assert_eq!(replay_parts(&queue, &history, &order, parts, part), by_states, "{history:?}");
            }
        }
        assert!(said.iter().flatten().all(|count| *count > 500), "{said:?}");
    }

    #[test]
    fn what_is_missing_is_found() {
        let history = sequence(5 * 7 + 7 * 7, 3);
        assert_eq!(history.pending(), 1);
        assert_eq!(keeps_order(&history, &[OpId(0), OpId(2)]), Ok(()));
        assert_eq!(keeps_order(&history, &[OpId(0), OpId(1), OpId(2)]), Ok(()));
        assert_eq!(keeps_order(&history, &[OpId(0), OpId(1)]), Err(NotALinearization::Missing(OpId(2))));
        assert_eq!(keeps_order(&history, &[OpId(2), OpId(0)]), Err(NotALinearization::OutOfOrder(OpId(2), OpId(0))));
        assert_eq!(keeps_order(&history, &[OpId(0), OpId(0)]), Err(NotALinearization::Twice(OpId(0))));
    }
}
