//! Building a history from whole operations with the times of call and return.

use std::collections::HashMap;

use super::builder::{HistoryError, Problem};
use super::{Event, EventKind, History, ObjectId, OpId, Operation, Outcome, ProcessId};

/// A whole operation: who called what, when, and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval<Op, Ret> {
    /// Who called it.
    pub process: ProcessId,
    /// On which object.
    pub object: ObjectId,
    /// What was called.
    pub op: Op,
    /// The time of the call.
    pub call: i64,
    /// The time and the result of the return; `None` if it never returned.
    pub ret: Option<(i64, Ret)>,
    /// The line of a file that it came from; 0 for none.
    pub line: u32,
}

impl<Op, Ret> Interval<Op, Ret> {
    /// An operation that returned.
    pub fn returned(process: impl Into<ProcessId>, op: Op, call: i64, ret: i64, result: Ret) -> Self {
        Self { process: process.into(), object: ObjectId::default(), op, call, ret: Some((ret, result)), line: 0 }
    }

    /// An operation that never returned.
    pub fn pending(process: impl Into<ProcessId>, op: Op, call: i64) -> Self {
        Self { process: process.into(), object: ObjectId::default(), op, call, ret: None, line: 0 }
    }
}

/// The history of whole operations, ordered by their times.
///
/// Ties are overlaps: an operation that is called at the very time at which another returns is concurrent with it,
/// because a clock that shows both at once does not tell which was first. That holds within a process too.
///
/// ```
/// use trueline::history::{Interval, OpId, from_intervals};
///
/// let history = from_intervals([
///     Interval::returned(0, "write", 0, 10, ()),
///     Interval::returned(1, "read", 10, 20, ()),
///     Interval::returned(1, "read", 21, 30, ()),
/// ])?;
/// assert!(!history.precedes(OpId(0), OpId(1)));
/// assert!(history.precedes(OpId(0), OpId(2)));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Errors
/// If an operation returns before its call, or operations of one process overlap by more than a tie.
///
/// # Complexity
/// O(n log n) in the number of operations.
pub fn from_intervals<Op, Ret>(
    intervals: impl IntoIterator<Item = Interval<Op, Ret>>,
) -> Result<History<Op, Ret>, HistoryError> {
    from_named_intervals(intervals, Vec::new())
}

pub(crate) fn from_named_intervals<Op, Ret>(
    intervals: impl IntoIterator<Item = Interval<Op, Ret>>,
    objects: Vec<std::sync::Arc<str>>,
) -> Result<History<Op, Ret>, HistoryError> {
    let mut intervals: Vec<Interval<Op, Ret>> = intervals.into_iter().collect();
    let error = |index: usize, line: u32, problem| Err(HistoryError::at_operation(index, line, problem));
    if intervals.len() > Event::MOST_OPERATIONS {
        return error(Event::MOST_OPERATIONS, 0, Problem::TooMany);
    }
    for (index, interval) in intervals.iter().enumerate() {
        if let Some((ret, _)) = interval.ret {
            if ret < interval.call {
                return error(index, interval.line, Problem::ReturnBeforeCall { call: interval.call, ret });
            }
        }
    }
    // Operations are numbered by their calls; the sort is stable, so that equal times keep the given order.
    intervals.sort_by_key(|interval| interval.call);
    let mut busy_until: HashMap<ProcessId, Option<i64>> = HashMap::new();
    for (index, interval) in intervals.iter().enumerate() {
        let until = interval.ret.as_ref().map(|(ret, _)| *ret);
        match busy_until.insert(interval.process, until) {
            // A pending operation ends with its process, or its process went on without it: both are to be had.
            None | Some(None) => {}
            Some(Some(earlier)) if earlier <= interval.call => {}
            Some(Some(_)) => return error(index, interval.line, Problem::OverlapInProcess(interval.process)),
        }
    }
    // (time, returns behind calls, operation)
    let mut order: Vec<(i64, bool, u32)> = Vec::with_capacity(intervals.len() * 2);
    for (id, interval) in (0u32..).zip(&intervals) {
        order.push((interval.call, false, id));
        if let Some((ret, _)) = interval.ret {
            order.push((ret, true, id));
        }
    }
    order.sort_unstable();
    let events: Vec<Event> = order
        .iter()
        .map(|&(_, is_return, id)| if is_return { Event::ret(OpId(id)) } else { Event::call(OpId(id)) })
        .collect();
    let mut operations: Vec<Operation<Op, Ret>> = intervals
        .into_iter()
        .map(|interval| {
            let outcome = interval.ret.map_or(Outcome::Pending, |(_, result)| Outcome::Returned(result));
            Operation::new(interval.op, outcome, interval.process, interval.object, 0, interval.line)
        })
        .collect();
    for (position, event) in (0u32..).zip(&events) {
        let operation = &mut operations[event.op().index()];
        match event.kind() {
            EventKind::Call => operation.set_call(position),
            EventKind::Return => operation.set_return(position),
        }
    }
    Ok(History { operations, events, objects })
}
