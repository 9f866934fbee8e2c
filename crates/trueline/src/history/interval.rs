//! Builds a history from whole operations with the times of their calls and returns.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

use super::builder::{HistoryError, Problem};
use super::open::ByProcess;
use super::operation::NO_VERSION;
use super::{Event, History, ObjectId, OpId, Operation, Outcome, ProcessId};

/// A whole operation: its process and object, the call, and the return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval<Op, Ret> {
    /// The process that called the operation.
    pub process: ProcessId,
    /// The object that the operation was called on.
    pub object: ObjectId,
    /// The operation and its arguments.
    pub op: Op,
    /// The time of the call.
    pub call: i64,
    /// The time and the result of the return; `None` if the operation never returned.
    pub ret: Option<(i64, Ret)>,
    /// The line of the file that the operation came from; 0 if the line is unknown.
    pub line: u32,
    /// The version that the object returned with the result: see
    /// [`Builder::version`](super::Builder::version).
    pub version: Option<i64>,
}

impl<Op, Ret> Interval<Op, Ret> {
    /// Creates an operation that returned.
    pub fn returned(process: impl Into<ProcessId>, op: Op, call: i64, ret: i64, result: Ret) -> Self {
        Self {
            process: process.into(),
            object: ObjectId::default(),
            op,
            call,
            ret: Some((ret, result)),
            line: 0,
            version: None,
        }
    }

    /// Creates an operation that never returned.
    pub fn pending(process: impl Into<ProcessId>, op: Op, call: i64) -> Self {
        Self { process: process.into(), object: ObjectId::default(), op, call, ret: None, line: 0, version: None }
    }
}

/// An [`Interval`] that takes less memory: 48 instead of 64 bytes if the operation and the result are numbers. While a
/// file of whole operations is read, its intervals take most of the memory.
#[derive(Clone, Debug)]
pub(super) struct CompactInterval<Op, Ret> {
    pub(super) process: ProcessId,
    object: ObjectId,
    op: Op,
    pub(super) call: i64,
    /// The time of the return. This field is meaningful only if `outcome` has a result.
    ret: i64,
    outcome: Outcome<Ret>,
    pub(super) line: u32,
    /// The version, or [`NO_VERSION`].
    version: i64,
}

impl<Op, Ret> CompactInterval<Op, Ret> {
    /// Returns the time of the return; `None` if the operation never returned.
    #[inline]
    pub(super) fn ret(&self) -> Option<i64> {
        self.outcome.result().map(|_| self.ret)
    }
}

impl<Op, Ret> From<Interval<Op, Ret>> for CompactInterval<Op, Ret> {
    fn from(interval: Interval<Op, Ret>) -> Self {
        let Interval { process, object, op, call, ret, line, version } = interval;
        let (ret, outcome) = ret.map_or((call, Outcome::Pending), |(ret, result)| (ret, Outcome::Returned(result)));
        Self { process, object, op, call, ret, outcome, line, version: version.unwrap_or(NO_VERSION) }
    }
}

impl<Op, Ret> From<CompactInterval<Op, Ret>> for Interval<Op, Ret> {
    fn from(interval: CompactInterval<Op, Ret>) -> Self {
        let CompactInterval { process, object, op, call, ret, outcome, line, version } = interval;
        let ret = match outcome {
            Outcome::Returned(result) | Outcome::Optional(result) => Some((ret, result)),
            Outcome::Pending => None,
        };
        Self { process, object, op, call, ret, line, version: Some(version).filter(|version| *version != NO_VERSION) }
    }
}

/// Builds a history from whole operations, ordered by their times.
///
/// Ties are overlaps: an operation that is called at exactly the time at which another returns is concurrent with it,
/// because a clock that gives both events the same time does not show which event was first. Within one process the
/// order is known, however: a return comes before the process's next call, even at the same time. Among operations that
/// are called at the same time, those that also return at that time come first; otherwise the given order is kept.
///
/// If *several* processes return and call again at the same time, no order of events preserves the order within each
/// process and makes all other ties overlaps. At such a time all ties are overlaps, even within a process. This can
/// hide a violation, but never introduces one. `trueline lint` reports these times.
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
///
/// let own = from_intervals([Interval::returned(0, "write", 0, 10, ()), Interval::returned(0, "read", 10, 20, ())])?;
/// assert!(own.precedes(OpId(0), OpId(1)));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Errors
/// Fails if an operation returns before its call, if operations of one process overlap by more than a tie, or if there
/// are too many operations.
///
/// # Complexity
/// O(n log n) in the number of operations.
pub fn from_intervals<Op, Ret>(
    intervals: impl IntoIterator<Item = Interval<Op, Ret>>,
) -> Result<History<Op, Ret>, HistoryError> {
    from_named_intervals(intervals.into_iter().map(CompactInterval::from).collect(), Vec::new())
}

/// Builds a history from logs of sequential operations, one log for each process.
///
/// Operations with equal times overlap, except those of one process, as in [`from_intervals`].
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
/// Fails if operations in a log are not sequential, if one of them returns before its call, if two logs have operations
/// of the same process, or if there are too many operations.
///
/// # Complexity
/// O(n log n) in the number of operations.
pub fn from_logs<Op, Ret>(logs: Vec<Vec<Interval<Op, Ret>>>) -> Result<History<Op, Ret>, HistoryError> {
    let error = |index: usize, line: u32, problem| Err(HistoryError::at_operation(index, line, problem));
    if logs.iter().map(Vec::len).sum::<usize>() > Event::MOST_OPERATIONS {
        return error(Event::MOST_OPERATIONS, 0, Problem::TooMany);
    }
    let mut processes = HashSet::new();
    let mut own_ties = Vec::new();
    for log in &logs {
        let mut busy_until = i64::MIN;
        for (index, interval) in log.iter().enumerate() {
            let is_own = index > 0 && interval.process == log[index - 1].process;
            if interval.call < busy_until || !(is_own || processes.insert(interval.process)) {
                return error(index, interval.line, Problem::OverlapInProcess(interval.process));
            }
            if is_own && interval.call == busy_until {
                own_ties.push((interval.call, interval.process));
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
    let mut intervals = Vec::with_capacity(logs.iter().map(Vec::len).sum());
    intervals.extend(logs.into_iter().flatten().map(CompactInterval::from));
    sort(&mut intervals);
    Ok(in_order(intervals, own_ties, Vec::new()))
}

/// Widens operations whose times come from clocks that differ by up to `skew`: moves each return
/// `skew` later.
///
/// After this, an operation precedes another only if, by the original times, it returned more than `skew` before the
/// call of the other. The order within a process is not preserved: operations of one process that follow each other
/// within `skew` overlap, and some of them are moved to additional processes, which are numbered after all others. This
/// can hide a violation, but never introduces one. A `skew` of 0 changes nothing.
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
pub fn widen<Op, Ret>(intervals: Vec<Interval<Op, Ret>>, skew: i64) -> Vec<Interval<Op, Ret>> {
    if skew <= 0 {
        return intervals;
    }
    let intervals = intervals.into_iter().map(CompactInterval::from).collect();
    in_lanes(intervals, skew).into_iter().map(Interval::from).collect()
}

/// Adds `skew` to the returns of the intervals. If intervals of the same process overlap or touch after this change,
/// some of them are moved to additional processes.
pub(super) fn in_lanes<Op, Ret>(
    mut intervals: Vec<CompactInterval<Op, Ret>>,
    skew: i64,
) -> Vec<CompactInterval<Op, Ret>> {
    intervals.sort_by_key(|interval| interval.call);
    let mut next = intervals.iter().map(|interval| interval.process.0).max().map_or(0, |last| last.saturating_add(1));
    // For each process, its lanes: the process itself and the processes that were added for it.
    // Each lane is stored with the time until which it is busy.
    let mut lanes: HashMap<ProcessId, Vec<(ProcessId, i64)>> = HashMap::new();
    for interval in &mut intervals {
        interval.ret = interval.ret.saturating_add(skew);
        let until = interval.ret().unwrap_or(i64::MAX);
        let lanes = lanes.entry(interval.process).or_insert_with(|| vec![(interval.process, i64::MIN)]);
        let free = lanes.iter_mut().find(|(_, busy_until)| *busy_until < interval.call || *busy_until == i64::MIN);
        let (process, busy_until) = match free {
            Some(lane) => lane,
            None => {
                lanes.push((ProcessId(next), i64::MIN));
                next = next.saturating_add(1);
                lanes.last_mut().expect("the lane was pushed above")
            }
        };
        *busy_until = until;
        interval.process = *process;
    }
    intervals
}

pub(super) fn from_named_intervals<Op, Ret>(
    mut intervals: Vec<CompactInterval<Op, Ret>>,
    objects: Vec<Arc<str>>,
) -> Result<History<Op, Ret>, HistoryError> {
    let error = |index: usize, line: u32, problem| Err(HistoryError::at_operation(index, line, problem));
    if intervals.len() > Event::MOST_OPERATIONS {
        return error(Event::MOST_OPERATIONS, 0, Problem::TooMany);
    }
    for (index, interval) in intervals.iter().enumerate() {
        if let Some(ret) = interval.ret().filter(|ret| *ret < interval.call) {
            return error(index, interval.line, Problem::ReturnBeforeCall { call: interval.call, ret });
        }
    }
    sort(&mut intervals);
    let mut busy_until: ByProcess<Option<i64>> = ByProcess::default();
    let mut own_ties = Vec::new();
    for (index, interval) in intervals.iter().enumerate() {
        match busy_until.insert(interval.process.0, interval.ret()) {
            // After a pending operation, its process either ended or continued without waiting for it. Both are
            // accepted.
            None | Some(None) => {}
            Some(Some(earlier)) if earlier < interval.call => {}
            Some(Some(earlier)) if earlier == interval.call => own_ties.push((earlier, interval.process)),
            Some(Some(_)) => return error(index, interval.line, Problem::OverlapInProcess(interval.process)),
        }
    }
    Ok(in_order(intervals, own_ties, objects))
}

/// Sorts by the time of the call. Among operations called at the same time, those that also return at that time come
/// first; otherwise the given order is kept.
pub(super) fn sort<Op, Ret>(intervals: &mut [CompactInterval<Op, Ret>]) {
    let key =
        |interval: &CompactInterval<Op, Ret>| (interval.call, interval.ret().is_none_or(|ret| ret > interval.call));
    if intervals.is_sorted_by_key(key) {
        return;
    }
    // Intervals are large, so their sort keys are sorted first. Then each interval is moved once,
    // to its place.
    let mut order: Vec<(i64, bool, u32)> = Vec::with_capacity(intervals.len());
    for (at, interval) in (0..).zip(&*intervals) {
        let (call, returns_later) = key(interval);
        order.push((call, returns_later, at));
    }
    order.sort_unstable();
    for start in 0..order.len() {
        // Follow a cycle of the permutation, and move to each place of the cycle the interval that belongs there.
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut order[place].2, u32::try_from(place).unwrap_or(u32::MAX)) as usize;
            if from == start || from == place {
                break;
            }
            intervals.swap(place, from);
            place = from;
        }
    }
}

/// Builds the history of operations that are sorted by call. `own_ties` contains a pair for each time at which a
/// process returned and called again: the time and the process.
fn in_order<Op, Ret>(
    mut intervals: Vec<CompactInterval<Op, Ret>>,
    mut own_ties: Vec<(i64, ProcessId)>,
    objects: Vec<Arc<str>>,
) -> History<Op, Ret> {
    own_ties.sort_unstable();
    own_ties.dedup();
    // For each time at which exactly one process returned and called again, the map contains this
    // process. If several processes did so at the same time, no order of events preserves the order
    // within each process. The reason is a cycle: each process must return before its next call,
    // and this call must come before the returns of the other processes, because ties are overlaps.
    let alone: HashMap<i64, ProcessId> =
        own_ties.chunk_by(|one, other| one.0 == other.0).filter(|ties| ties.len() == 1).map(|ties| ties[0]).collect();
    let is_own = |time: i64, process: ProcessId| !alone.is_empty() && alone.get(&time) == Some(&process);
    // The returns of the open operations, with the earliest return on top. Few operations are open
    // at once, so this heap takes less time and memory than sorting all returns.
    let mut returns: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    let returned = intervals.iter().filter(|interval| interval.ret().is_some()).count();
    // The events; their operations are indices of `intervals`. At each time, the calls of other processes come first,
    // then the events of the process whose own order is preserved, then the returns of other processes.
    let mut events: Vec<Event> = Vec::with_capacity(intervals.len() + returned);
    let mut same_time: Vec<(u8, u32, bool)> = Vec::new();
    // The next operation to call, and whether the calls so far are in the order of the operations.
    let (mut next, mut last, mut is_in_order) = (0, 0, true);
    loop {
        let ret = returns.peek().map(|Reverse((time, _))| *time);
        let call = intervals.get(next as usize).map(|interval| interval.call);
        let Some(time) = call.into_iter().chain(ret).min() else { break };
        same_time.clear();
        while let Some(interval) = intervals.get(next as usize).filter(|interval| interval.call == time) {
            same_time.push((u8::from(is_own(time, interval.process)), next, false));
            returns.extend(interval.ret().map(|ret| Reverse((ret, next))));
            next += 1;
        }
        while let Some(&Reverse((_, at))) = returns.peek().filter(|Reverse((ret, _))| *ret == time) {
            returns.pop();
            same_time.push((if is_own(time, intervals[at as usize].process) { 1 } else { 2 }, at, true));
        }
        if same_time.len() > 1 {
            same_time.sort_unstable();
        }
        // The times of these events are not needed anymore. Replace each time with the position of the event.
        for &(_, at, is_return) in &same_time {
            let position = i64::try_from(events.len()).unwrap_or(i64::MAX);
            let interval = &mut intervals[at as usize];
            if is_return {
                interval.ret = position;
                events.push(Event::ret(OpId(at)));
            } else {
                interval.call = position;
                events.push(Event::call(OpId(at)));
                is_in_order &= last <= at;
                last = at;
            }
        }
    }
    let mut operations: Vec<Operation<Op, Ret>> = intervals
        .into_iter()
        .map(|interval| {
            let CompactInterval { process, object, op, call, ret, outcome, line, version } = interval;
            let position = |position: i64| u32::try_from(position).expect("the number of events fits in 32 bits");
            let has_returned = outcome.result().is_some();
            let version = Some(version).filter(|version| *version != NO_VERSION && has_returned);
            let mut operation = Operation::new(op, outcome, process, object, position(call), line);
            operation.set_version(version);
            if has_returned {
                operation.set_return(position(ret));
            }
            operation
        })
        .collect();
    // Operations that are called at the same time may be out of order; all others are in order.
    if !is_in_order {
        operations.sort_by_key(Operation::call_position);
        for (id, operation) in (0..).map(OpId).zip(&operations) {
            events[operation.call_position() as usize] = Event::call(id);
            if let Some(ret) = operation.return_position() {
                events[ret as usize] = Event::ret(id);
            }
        }
    }
    History { operations, events, objects, process_names: Arc::default(), annotations: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Random;

    /// Returns logs of random operations, with many ties.
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
            // The two histories may number operations that are called at the same time differently, so compare
            // processes and operations instead of numbers.
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
        assert_eq!(text(before(2)), "ac ad bd cd", "the order within a process is lost, too");
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

    /// Computes from the definition which operations precede which; `None` if no order of events exists.
    fn required(intervals: &[Interval<u32, u32>]) -> Option<HashSet<(u32, u32)>> {
        // Event 2n is the call of operation n, and event 2n + 1 is its return. The operations of each process are in
        // the order in which the process called them.
        let time = |event: usize| match &intervals[event / 2].ret {
            Some((ret, _)) if event % 2 == 1 => *ret,
            _ => intervals[event / 2].call,
        };
        let exists = |event: usize| event % 2 == 0 || intervals[event / 2].ret.is_some();
        let events: Vec<usize> = (0..intervals.len() * 2).filter(|event| exists(*event)).collect();
        let is_before = |one: usize, other: usize| {
            let own = intervals[one / 2].process == intervals[other / 2].process;
            match time(one).cmp(&time(other)) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Greater => false,
                std::cmp::Ordering::Equal if own => one < other,
                std::cmp::Ordering::Equal => one % 2 == 0 && other % 2 == 1,
            }
        };
        // Repeatedly remove an event that no remaining event must precede.
        let mut left = events.clone();
        while !left.is_empty() {
            let free = |event: &&usize| !left.iter().any(|other| other != *event && is_before(*other, **event));
            let next = *left.iter().find(free)?;
            left.retain(|event| *event != next);
        }
        let ids = || 0..intervals.len();
        let pairs = ids().flat_map(|one| ids().map(move |other| (one, other)));
        let precedes = |(one, other): &(usize, usize)| exists(one * 2 + 1) && is_before(one * 2 + 1, other * 2);
        let number = |at: usize| intervals[at].op;
        Some(pairs.filter(precedes).map(|(one, other)| (number(one), number(other))).collect())
    }

    #[test]
    fn own_order_is_kept_where_an_order_of_events_exists() {
        let mut random = Random::new(2);
        let (mut kept, mut dropped) = (0, 0);
        for _ in 0..5000 {
            let mut logs = logs(|bound| random.below(bound));
            for (op, interval) in (0..).zip(logs.iter_mut().flatten()) {
                interval.op = op;
            }
            let intervals: Vec<_> = logs.iter().flatten().cloned().collect();
            let history = from_logs(logs).expect("well formed");
            let ids = || (0..).take(history.len()).map(OpId);
            assert!(
                ids()
                    .zip(ids().skip(1))
                    .all(|(one, next)| history[one].call_position() < history[next].call_position())
            );
            let pairs = ids().flat_map(|one| ids().map(move |other| (one, other)));
            let pairs = pairs.filter(|(one, other)| history.precedes(*one, *other));
            let found: HashSet<(u32, u32)> = pairs.map(|(one, other)| (history[one].op, history[other].op)).collect();
            match required(&intervals) {
                Some(required) => {
                    assert_eq!(found, required, "{intervals:?}");
                    kept += 1;
                }
                None => {
                    let is_sound = |(one, other): &(u32, u32)| {
                        let (one, other) = (&intervals[*one as usize], &intervals[*other as usize]);
                        let ret = one.ret.as_ref().map_or(i64::MAX, |(ret, _)| *ret);
                        ret < other.call || (ret == other.call && one.process == other.process)
                    };
                    assert!(found.iter().all(is_sound), "{intervals:?}");
                    dropped += 1;
                }
            }
        }
        assert!(kept > 1000 && dropped > 100, "{kept} {dropped}");
    }

    #[test]
    fn an_operation_without_duration_comes_before_one_that_begins_at_the_same_time() {
        let long = Interval::returned(0, 'a', 5, 10, ());
        let history = from_intervals([long, Interval::returned(0, 'b', 5, 5, ())]).expect("no overlap");
        assert_eq!(history.operations().iter().map(|operation| operation.op).collect::<String>(), "ba");
        assert!(history.precedes(OpId(0), OpId(1)));
    }
}
