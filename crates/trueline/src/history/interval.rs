//! Building a history from whole operations with the times of call and return.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

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

/// The history of operations that processes have logged, each in a log of its own, one behind the other.
///
/// Times that are equal overlap, as in [`from_intervals`].
///
/// ```
/// use trueline::history::{Interval, from_logs};
///
/// let zero = vec![Interval::returned(0, "a", 10, 20, ()), Interval::returned(0, "b", 30, 60, ())];
/// let one = vec![Interval::returned(1, "c", 15, 40, ()), Interval::pending(1, "d", 50)];
/// let history = from_logs(vec![zero, one])?;
/// assert_eq!(history.operations().iter().map(|operation| operation.op).collect::<String>(), "acbd");
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Errors
/// If a log is not one of operations one behind the other, or two are of one process.
///
/// # Complexity
/// O(n log p) for n operations of p processes.
#[expect(clippy::missing_panics_doc, reason = "the number of operations is checked first")]
pub fn from_logs<Op, Ret>(logs: Vec<Vec<Interval<Op, Ret>>>) -> Result<History<Op, Ret>, HistoryError> {
    let total = logs.iter().map(Vec::len).sum();
    let error = |index: usize, line: u32, problem| Err(HistoryError::at_operation(index, line, problem));
    if total > Event::MOST_OPERATIONS {
        return error(Event::MOST_OPERATIONS, 0, Problem::TooMany);
    }
    let mut processes = HashSet::new();
    for log in &logs {
        let mut busy_until = i64::MIN;
        for (index, interval) in log.iter().enumerate() {
            let is_own = index > 0 && interval.process == log[index - 1].process;
            if interval.call < busy_until || !(is_own || processes.insert(interval.process)) {
                return error(index, interval.line, Problem::OverlapInProcess(interval.process));
            }
            match interval.ret {
                Some((ret, _)) if ret < interval.call => {
                    return error(index, interval.line, Problem::ReturnBeforeCall { call: interval.call, ret });
                }
                Some((ret, _)) => busy_until = ret,
                None => busy_until = i64::MAX,
            }
        }
    }
    // The next call and the next return of each log, and where they are. Calls go before returns of the same time, also
    // before that of the operation before them: which was first is not known, even to their process.
    let mut next: BinaryHeap<Reverse<(i64, bool, usize, usize)>> = BinaryHeap::with_capacity(logs.len() * 2);
    let return_behind = |log: usize, from: usize| {
        let (ret, _) = logs[log].get(from)?.ret.as_ref()?;
        Some(Reverse((*ret, true, log, from)))
    };
    for (log, intervals) in logs.iter().enumerate() {
        next.extend(intervals.first().map(|first| Reverse((first.call, false, log, 0))));
        next.extend(return_behind(log, 0));
    }
    let mut events = Vec::with_capacity(total * 2);
    // By log and place: the operation. Those of a log are numbered in its order.
    let mut numbers: Vec<Vec<u32>> = logs.iter().map(|log| Vec::with_capacity(log.len())).collect();
    let mut calls: Vec<(usize, u32)> = Vec::with_capacity(total);
    while let Some(Reverse((_, is_return, log, at))) = next.pop() {
        let position = u32::try_from(events.len()).expect("two events for each operation fit");
        if is_return {
            events.push(Event::ret(OpId(numbers[log][at])));
            next.extend(return_behind(log, at + 1));
        } else {
            let id = u32::try_from(calls.len()).expect("the number was checked");
            numbers[log].push(id);
            calls.push((log, position));
            events.push(Event::call(OpId(id)));
            next.extend(logs[log].get(at + 1).map(|interval| Reverse((interval.call, false, log, at + 1))));
        }
    }
    let mut logs: Vec<_> = logs.into_iter().map(Vec::into_iter).collect();
    let mut operations: Vec<Operation<Op, Ret>> = calls
        .into_iter()
        .map(|(log, position)| {
            let interval = logs[log].next().expect("each call is of an operation");
            let outcome = interval.ret.map_or(Outcome::Pending, |(_, result)| Outcome::Returned(result));
            Operation::new(interval.op, outcome, interval.process, interval.object, position, interval.line)
        })
        .collect();
    for (position, event) in (0u32..).zip(&events).filter(|(_, event)| event.kind() == EventKind::Return) {
        operations[event.op().index()].set_return(position);
    }
    Ok(History { operations, events, objects: Vec::new() })
}

/// The operations as far as clocks can be trusted that differ by up to `skew`: each returns so much later.
///
/// Then an operation is before another only if it was on all clocks. Operations of one process may overlap then, though
/// that process knows which was first; such operations get processes of their own, numbered behind all others. What is
/// known less can only hide a violation, and never make one up.
///
/// ```
/// use trueline::history::{Interval, OpId, from_intervals, widen};
///
/// let write = Interval::returned(0, "write 1", 100, 110, None);
/// let read = Interval::returned(1, "read", 115, 120, Some(0)); // by another clock
/// let history = from_intervals(widen(vec![write, read], 10))?;
/// assert!(!history.precedes(OpId(0), OpId(1)));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
#[expect(clippy::missing_panics_doc, reason = "what was pushed is there")]
pub fn widen<Op, Ret>(mut intervals: Vec<Interval<Op, Ret>>, skew: i64) -> Vec<Interval<Op, Ret>> {
    intervals.sort_by_key(|interval| interval.call);
    let mut next = intervals.iter().map(|interval| interval.process.0).max().map_or(0, |last| last.saturating_add(1));
    // By process: itself and those that were added for it, and until when each is busy.
    let mut lanes: HashMap<ProcessId, Vec<(ProcessId, i64)>> = HashMap::new();
    for interval in &mut intervals {
        let until = match &mut interval.ret {
            Some((ret, _)) => {
                *ret = ret.saturating_add(skew.max(0));
                *ret
            }
            None => i64::MAX,
        };
        let lanes = lanes.entry(interval.process).or_insert_with(|| vec![(interval.process, i64::MIN)]);
        let free = lanes.iter_mut().find(|(_, busy_until)| *busy_until < interval.call || *busy_until == i64::MIN);
        let (process, busy_until) = match free {
            Some(lane) => lane,
            None => {
                lanes.push((ProcessId(next), i64::MIN));
                next = next.saturating_add(1);
                lanes.last_mut().expect("it was pushed")
            }
        };
        *busy_until = until;
        interval.process = *process;
    }
    intervals
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Random;

    /// Logs of random operations, with many ties.
    fn logs(mut random: impl FnMut(u32) -> u32) -> Vec<Vec<Interval<u32, u32>>> {
        let processes = random(4);
        let mut log = |process| {
            let mut time = i64::from(random(3));
            let mut intervals = Vec::new();
            for op in 0..random(5) {
                let call = time;
                time += i64::from(random(3));
                if random(10) == 0 {
                    intervals.push(Interval::pending(process, op, call));
                    break;
                }
                intervals.push(Interval::returned(process, op, call, time, op));
                time += i64::from(random(2));
            }
            intervals
        };
        (0..processes).map(&mut log).collect()
    }

    #[test]
    fn merged_logs_are_sorted_intervals() {
        let mut random = Random::new(1);
        let mut pending = 0;
        for _ in 0..2000 {
            let logs = logs(|bound| random.below(bound));
            let merged = from_logs(logs.clone()).expect("well formed");
            let sorted = from_intervals(logs.into_iter().flatten()).expect("well formed");
            // Operations that are called at one time may have other numbers.
            let precedence = |history: &History<u32, u32>| {
                let name = |operation: &Operation<u32, u32>| (operation.process, operation.op);
                let mut pairs = Vec::new();
                for (first, one) in (0..).zip(history.operations()) {
                    for (second, other) in (0..).zip(history.operations()) {
                        if history.precedes(OpId(first), OpId(second)) {
                            pairs.push((name(one), name(other)));
                        }
                    }
                }
                pairs.sort_unstable();
                pairs
            };
            assert_eq!(precedence(&merged), precedence(&sorted));
            assert_eq!((merged.len(), merged.pending()), (sorted.len(), sorted.pending()));
            pending += merged.pending();
        }
        assert!(pending > 100);
    }

    #[test]
    fn clocks_that_differ_order_less() {
        let returned = |process, op, call, ret| Interval::returned(process, op, call, ret, ());
        let intervals = || {
            vec![returned(0, 'a', 0, 10), returned(0, 'b', 12, 14), returned(1, 'c', 13, 20), returned(1, 'd', 40, 50)]
        };
        let before = |skew| {
            let history = from_intervals(widen(intervals(), skew)).expect("well formed");
            let ids = || (0..4).map(OpId);
            let name = |id: OpId| history[id].op;
            let pairs = ids().flat_map(|first| ids().map(move |second| (first, second)));
            pairs.filter(|(first, second)| history.precedes(*first, *second)).map(|(a, b)| [name(a), name(b)]).collect()
        };
        let text = |pairs: Vec<[char; 2]>| pairs.iter().map(String::from_iter).collect::<Vec<_>>().join(" ");
        assert_eq!(text(before(0)), "ab ac ad bd cd");
        assert_eq!(text(before(2)), "ac ad bd cd", "what its process knows is lost too");
        assert_eq!(text(before(3)), "ad bd cd");
        assert_eq!(text(before(1000)), "");
    }

    #[test]
    fn logs_are_one_behind_the_other() {
        let returned = |process, call, ret| Interval::returned(process, (), call, ret, ());
        for bad in [
            vec![vec![returned(0, 0, 5), returned(0, 4, 6)]],
            vec![vec![returned(0, 5, 4)]],
            vec![vec![returned(0, 0, 1)], vec![returned(0, 2, 3)]],
            vec![vec![Interval::pending(0, (), 0), returned(0, 2, 3)]],
            vec![vec![returned(0, 0, 1), returned(1, 2, 3)], vec![returned(1, 2, 3)]],
        ] {
            assert!(from_logs(bad).is_err());
        }
    }
}
