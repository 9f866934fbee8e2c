//! The states that a linearization passes through, for display.

use std::borrow::Cow;
use std::sync::Arc;

use super::erased::{Case, Typed};
use crate::history::{History, OpId};
use crate::spec::Spec;
use crate::verdict::Passed;

/// The maximum number of operations whose states are described.
const MOST_OPERATIONS: usize = 2_000;
/// The approximate maximum size of all descriptions, in bytes. If the states are large, fewer
/// operations are described.
const MOST_BYTES: usize = 1 << 20;

/// Returns the states before and after each of the last operations of `order`, which is a
/// linearization of the history or of a part of it.
///
/// If `order` is the prefix in the [evidence](crate::verdict::Evidence), these are the operations
/// just before the failing event. The longer the descriptions of states are, the fewer operations
/// are described, so that the result never takes more than a few megabytes.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge;
/// use trueline::spec::{Queue, QueueOp, QueueRet};
///
/// let mut builder = History::builder();
/// builder.call(0, QueueOp::Enqueue(1))?;
/// builder.ret(0, QueueRet::Done)?;
/// builder.call(0, QueueOp::Enqueue(2))?;
/// builder.ret(0, QueueRet::Done)?;
/// let states = judge::states(&Queue::new(), &builder.finish(), &[OpId(0), OpId(1)]);
/// assert_eq!((&*states[1].before, &*states[1].after), ("[1]", "[1, 2]"));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Complexity
/// Two steps of the specification for each operation.
pub fn states<S: Spec + ?Sized>(spec: &S, history: &History<S::Op, S::Ret>, order: &[OpId]) -> Vec<Passed> {
    of_case(&Typed::new(spec, Cow::Borrowed(history)), order)
}

fn of_case(case: &dyn Case, order: &[OpId]) -> Vec<Passed> {
    let frame = case.frame();
    let objects = || (0..frame.objects).map(|_| case.replay()).collect::<Vec<_>>();
    let mut at_the_end = objects();
    let legal = order.iter().take_while(|op| at_the_end[frame.object(**op)].step(**op).is_ok()).count();
    let order = &order[..legal];
    let Some(last) = order.last() else { return Vec::new() };
    let length = at_the_end[frame.object(*last)].describe().len().max(1);
    drop(at_the_end);
    let described = (MOST_BYTES / length).clamp(1, MOST_OPERATIONS).min(order.len());
    let (skipped, order) = order.split_at(order.len() - described);
    let mut replays = objects();
    for op in skipped {
        if replays[frame.object(*op)].step(*op).is_err() {
            return Vec::new();
        }
    }
    let mut now: Vec<Option<Arc<str>>> = vec![None; replays.len()];
    let mut passed = Vec::with_capacity(order.len());
    for &op in order {
        let object = frame.object(op);
        let before = now[object].take().unwrap_or_else(|| replays[object].describe().into());
        if replays[object].step(op).is_err() {
            break;
        }
        let mut after: Arc<str> = replays[object].describe().into();
        if after == before {
            after = Arc::clone(&before);
        }
        now[object] = Some(Arc::clone(&after));
        passed.push(Passed { op, before, after });
    }
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Register, RegisterOp, RegisterRet};

    #[test]
    fn only_the_last_states_are_described() {
        let mut builder = History::builder();
        let length = 3 * u32::try_from(MOST_OPERATIONS).expect("the length fits in 32 bits");
        for value in 0..length {
            builder.call(0, RegisterOp::Write(value)).expect("the process has no open call");
            builder.ret(0, RegisterRet::Done).expect("the process has an open call");
        }
        let order: Vec<OpId> = (0..length).map(OpId).collect();
        let passed = states(&Register::new(0), &builder.finish(), &order);
        assert_eq!(passed.len(), MOST_OPERATIONS);
        assert_eq!(
            passed.last().map(|passed| (passed.op, &*passed.before)),
            Some((OpId(length - 1), &*(length - 2).to_string()))
        );
        assert!(passed.windows(2).all(|pair| Arc::ptr_eq(&pair[0].after, &pair[1].before)));
    }
}
