//! Uses a buffer to sort whole operations that arrive roughly in the order of their returns.
//!
//! The line of a whole operation is written after the operation has returned. So the line reports
//! the call late: events that happened after the call may have arrived before it. The buffer holds
//! each event back until it is older than the newest event by more than the given duration. Events
//! with equal times are sorted as in `trueline::history::from_intervals`.

use std::collections::{BTreeMap, HashMap};

use trueline::history::{ProcessId, Record, Value};

use crate::input::Unreadable;

/// An event that has left the buffer, because its place in the order is known.
pub(super) enum Released {
    Call {
        id: u64,
        process: ProcessId,
        object: u32,
        record: Record,
        line: u32,
        /// Whether a return follows.
        returns: bool,
    },
    Return {
        id: u64,
        process: ProcessId,
        result: Value,
        line: u32,
    },
}

/// The sort key of an operation: the time of its call, whether it returns later than this time, and
/// its place in the order of arrival.
type At = (i64, bool, u64);

struct Waiting {
    at: At,
    process: ProcessId,
    line: u32,
    /// The time of the return.
    ret: Option<i64>,
    event: WaitingEvent,
}

enum WaitingEvent {
    Call { object: u32, record: Record },
    Return(Value),
}

/// The buffer. It holds operations back as long as operations with earlier calls may still arrive.
pub(super) struct Late {
    late: i64,
    waiting: BTreeMap<i64, Vec<Waiting>>,
    next: u64,
    /// The newest time.
    newest: i64,
    /// All events before this time have been released.
    frontier: i64,
    /// For each process, the time at which its latest operation returned; `None` if this operation
    /// never returned.
    busy_until: HashMap<ProcessId, Option<i64>>,
}

impl Late {
    pub(super) fn new(late: i64) -> Self {
        Self {
            late,
            waiting: BTreeMap::new(),
            next: 0,
            newest: i64::MIN,
            frontier: i64::MIN,
            busy_until: HashMap::new(),
        }
    }

    /// Adds an operation. If events after its call have already been released, returns an error
    /// with the operation, and with the time before which all events have been released.
    pub(super) fn add(
        &mut self,
        process: ProcessId,
        object: u32,
        record: Record,
        call: i64,
        ret: Option<(i64, Value)>,
        line: u32,
    ) -> Result<(), (Record, i64)> {
        if call < self.frontier {
            return Err((record, self.frontier));
        }
        let until = ret.as_ref().map(|(ret, _)| *ret);
        let at = (call, until.is_none_or(|ret| ret > call), self.next);
        self.next += 1;
        let waiting = |event| Waiting { at, process, line, ret: until, event };
        self.waiting.entry(call).or_default().push(waiting(WaitingEvent::Call { object, record }));
        if let Some((time, result)) = ret {
            self.waiting.entry(time).or_default().push(waiting(WaitingEvent::Return(result)));
        }
        self.newest = self.newest.max(until.unwrap_or(call));
        Ok(())
    }

    /// Returns the events whose place in the order is now known: they are older than every event
    /// that a later line can contain.
    pub(super) fn release(&mut self) -> Result<Vec<Released>, Unreadable> {
        self.release_before(self.newest.saturating_sub(self.late))
    }

    /// Returns all remaining events.
    pub(super) fn release_all(&mut self) -> Result<Vec<Released>, Unreadable> {
        let mut released = self.release_before(i64::MAX)?;
        // `release_before` does not release events whose time is `i64::MAX`, so release them here.
        if let Some(rest) = self.waiting.remove(&i64::MAX) {
            self.release_time(rest, &mut released)?;
        }
        Ok(released)
    }

    fn release_before(&mut self, frontier: i64) -> Result<Vec<Released>, Unreadable> {
        self.frontier = self.frontier.max(frontier);
        let mut released = Vec::new();
        while let Some(first) = self.waiting.first_entry().filter(|first| *first.key() < frontier) {
            let events = first.remove();
            self.release_time(events, &mut released)?;
        }
        Ok(released)
    }

    /// Sorts events that have the same time: calls come first, and returns come last. There is an
    /// exception if exactly one process both returns and calls again at this time: its events keep
    /// their order, and are placed between the calls and the returns of the other processes.
    fn release_time(&mut self, mut events: Vec<Waiting>, released: &mut Vec<Released>) -> Result<(), Unreadable> {
        events.sort_by_key(|event| event.at);
        // The processes that return and call again at this time.
        let mut own: Vec<ProcessId> = Vec::new();
        for event in events.iter().filter(|event| matches!(event.event, WaitingEvent::Call { .. })) {
            match self.busy_until.insert(event.process, event.ret) {
                Some(Some(earlier)) if earlier > event.at.0 => {
                    let message = format!(
                        "process {} has two operations that overlap in time; a process does one operation at a time, so \
                         give concurrent operations different processes",
                        event.process
                    );
                    return Err(Unreadable { line: Some(event.line as usize), ..message.into() });
                }
                Some(Some(earlier)) if earlier == event.at.0 => own.push(event.process),
                _ => {}
            }
        }
        own.sort_unstable();
        own.dedup();
        let alone = if let [process] = own.as_slice() { Some(*process) } else { None };
        events.sort_by_key(|event| {
            let is_return = matches!(event.event, WaitingEvent::Return(_));
            let rank = match is_return {
                _ if alone == Some(event.process) => 1,
                false => 0,
                true => 2,
            };
            (rank, event.at, is_return)
        });
        for Waiting { at: (.., id), process, line, ret, event } in events {
            released.push(match event {
                WaitingEvent::Call { object, record } => {
                    Released::Call { id, process, object, record, line, returns: ret.is_some() }
                }
                WaitingEvent::Return(result) => Released::Return { id, process, result, line },
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueline::drive::Random;
    use trueline::history::{EventKind, Interval, from_intervals};

    /// Returns random operations with many equal times. Each process runs its operations one after
    /// the other.
    fn intervals(random: &mut Random) -> Vec<Interval<Record, Value>> {
        let mut intervals = Vec::new();
        for process in 0..1 + random.below(4) {
            let mut time = i64::from(random.below(3));
            for op in 0..random.below(5) {
                let call = time;
                time += i64::from(random.below(3));
                let record = Record { f: "f".into(), key: None, value: Value::Int(i64::from(process * 10 + op)) };
                if random.chance(1, 10) {
                    intervals.push(Interval::pending(process, record, call));
                } else {
                    intervals.push(Interval::returned(process, record, call, time, Value::Null));
                }
                time += i64::from(random.below(2));
            }
        }
        intervals
    }

    fn names(released: Vec<Released>, arrived: &[Value], order: &mut Vec<(Value, bool)>) {
        for event in released {
            order.push(match event {
                Released::Call { record, .. } => (record.value, false),
                Released::Return { id, .. } => (arrived[usize::try_from(id).expect("few")].clone(), true),
            });
        }
    }

    #[test]
    fn the_order_is_that_of_the_whole_file() {
        let mut random = Random::new(5);
        let (mut compared, mut refused) = (0, 0);
        for _ in 0..2_000 {
            let mut intervals = intervals(&mut random);
            // Operations are written when they return, or a little later.
            let delay = random.below(4);
            intervals.sort_by_cached_key(|interval| {
                interval.ret.as_ref().map_or(interval.call, |(ret, _)| *ret) + i64::from(random.below(delay + 1))
            });
            let enough = random.chance(2, 3);
            let mut late = Late::new(if enough { 20 } else { i64::from(random.below(3)) });
            let (mut order, mut arrived) = (Vec::new(), Vec::new());
            let (mut is_late, mut overlaps) = (false, false);
            for (line, interval) in (1..).zip(&intervals) {
                let Interval { process, op, call, ret, .. } = interval.clone();
                let value = op.value.clone();
                if late.add(process, 0, op, call, ret, line).is_err() {
                    is_late = true;
                    break;
                }
                arrived.push(value);
                match late.release() {
                    Ok(released) => names(released, &arrived, &mut order),
                    Err(_) => overlaps = true,
                }
            }
            if is_late {
                assert!(!enough, "the buffer is long enough for every operation");
                refused += 1;
                continue;
            }
            match late.release_all() {
                Ok(released) => names(released, &arrived, &mut order),
                Err(_) => overlaps = true,
            }
            // Operations of a process that are called at the same time may arrive in the wrong order.
            let history = from_intervals(intervals);
            assert_eq!(history.is_err(), overlaps);
            let Ok(history) = history else { continue };
            let name = |event: &trueline::history::Event| {
                (history[event.op()].op.value.clone(), event.kind() == EventKind::Return)
            };
            assert_eq!(order, history.events().iter().map(name).collect::<Vec<_>>());
            compared += 1;
        }
        assert!(compared > 1_000 && refused > 50, "{compared} {refused}");
    }

    #[test]
    fn a_process_does_one_operation_at_a_time() {
        let mut late = Late::new(0);
        let record = || Record { f: "f".into(), key: None, value: Value::Null };
        for (line, times) in [(1, (0, 10)), (2, (5, 12))] {
            assert!(late.add(ProcessId(1), 0, record(), times.0, Some((times.1, Value::Null)), line).is_ok());
        }
        let fault = late.release_all().err().expect("the operations overlap");
        assert_eq!(fault.line, Some(2));
        assert!(fault.message.contains("process 1 has two operations that overlap in time"), "{}", fault.message);
    }
}
