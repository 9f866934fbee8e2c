//! Reads a file leniently, to report content that may surprise a user who judges the history in it.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, Read};

use super::super::interval::{CompactInterval, sort};
use super::super::{ProcessId, RawHistory, Record, Value};
use super::field::{Parsed, Unfit};
use super::mapping::Mapping;
use super::source::hinted;
use super::{CodecError, Format, LOOKED_AT, detect, jepsen_edn, jepsen_log, jsonl, porcupine, start_finish};

/// A property of a file that may surprise a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Trap {
    /// A return without a call, a call by a process with an open call, or a return that names a different operation
    /// than the call.
    Unpaired,
    /// A whole operation that returns before its call.
    ReturnBeforeCall,
    /// Whole operations of one process that overlap.
    Overlap,
    /// A time stamp that is earlier than the time stamp of the previous line.
    TimeBackward,
    /// A time stamp that equals the time stamp of the previous line, if the two lines belong to
    /// different processes; or two whole operations of one process that are both called and return
    /// at the same time. The order of the lines counts.
    TimeEqual,
    /// A whole operation that is called at exactly the time at which an operation of another process returns: the two
    /// overlap.
    Tie,
    /// Several processes that all return and call again at the same time. No order of these events both lets operations
    /// of different processes overlap and preserves the order within each process.
    OwnTies,
    /// All times are multiples of 1,000.
    CoarseClock,
    /// A process that calls again although the outcome of its last operation is unknown.
    ProcessGoesOn,
    /// An operation that failed: it is dropped.
    Failed,
    /// An operation whose outcome is unknown: it is pending.
    Info,
    /// An event of a process whose name is not a number, such as Jepsen's nemesis: it is an annotation.
    Nemesis,
    /// A vector or list around the events.
    Container,
    /// Comments.
    Comment,
    /// Fields that are ignored.
    OtherField,
    /// A result that is read as null because it was not found, although the mapping does not declare it null.
    NoResult,
}

/// The occurrences of a trap, which is a property of a file that may surprise a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrences {
    /// The number of occurrences.
    pub count: u64,
    /// The line of the first occurrence.
    pub line: Option<usize>,
    /// A description of the first occurrence.
    pub what: String,
}

/// The content of a file, and the traps in it. A trap is a property of the file that may surprise a
/// user.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The format of the file.
    pub format: Format,
    /// The history, without the events that would make it invalid.
    pub history: RawHistory,
    /// The traps that occur in the file.
    pub traps: BTreeMap<Trap, Occurrences>,
    /// The times of the calls and returns of whole operations, by line.
    pub times: HashMap<u32, (i64, Option<i64>)>,
    /// The operations that failed, each with the line of its failure.
    pub failed: Vec<(Record, usize)>,
}

/// Reads a history leniently: events that would make it invalid are left out and reported as traps.
///
/// ```
/// use trueline::history::codec::{self, Format, Trap};
///
/// let text = b"{\"process\":0,\"type\":\"ok\",\"f\":\"read\"}\n{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}";
/// let survey = codec::survey(&text[..], Format::Auto, None)?;
/// assert_eq!(survey.traps[&Trap::Unpaired].line, Some(1));
/// assert_eq!(survey.history.len(), 1);
/// # Ok::<(), codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if the file does not have the format at all.
pub fn survey(mut input: impl BufRead, format: Format, mapping: Option<&Mapping>) -> Result<Survey, CodecError> {
    let mut remarks = Remarks::default();
    if let Some(mapping) = mapping {
        let history = mapping.read_with(input, 0, Some(&mut remarks), &mut Vec::new());
        return remarks.finish(Format::Jsonl, history);
    }
    let mut start = Vec::new();
    let format = if format == Format::Auto {
        (&mut input).take(LOOKED_AT).read_to_end(&mut start).map_err(|error| CodecError::io(0, error))?;
        detect(&start).unwrap_or(Format::Jsonl)
    } else {
        format
    };
    let input = start.as_slice().chain(input);
    let told = Some(&mut remarks);
    let history = match format {
        Format::Jsonl | Format::Auto => jsonl::read_with(input, 0, told).map_err(|error| hinted(error, &start)),
        Format::PorcupineJson => porcupine::read_json_with(input, 0, told),
        Format::Jepsen => jepsen_edn::read_with(input, told),
        Format::JepsenLog => jepsen_log::read_with(input, told),
        Format::PorcupineKv => porcupine::read_kv_with(input, told),
        Format::Events => start_finish::read_with(input, told),
        Format::Csv => Mapping::csv().read_with(input, 0, told, &mut Vec::new()),
        Format::Parquet | Format::Arrow => Mapping::columns().read_with(input, 0, told, &mut Vec::new()),
    };
    remarks.finish(format, history)
}

/// The remarks collected so far.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    traps: BTreeMap<Trap, Occurrences>,
    times: HashMap<u32, (i64, Option<i64>)>,
    pub(super) failed: Vec<(Record, usize)>,
    /// The most recent time stamp, and the process of the event with this time stamp.
    last_time: Option<(i64, u32)>,
}

impl Remarks {
    pub(super) fn see(&mut self, trap: Trap, line: u32, what: impl FnOnce() -> String) {
        let line = (line > 0).then_some(line as usize);
        self.traps.entry(trap).or_insert_with(|| Occurrences { count: 0, line, what: what() }).count += 1;
    }

    /// Records the time stamp of an event.
    pub(super) fn time(&mut self, line: u32, process: u32, time: Option<&Parsed>) {
        let time = match time {
            Some(Ok(Value::Int(time))) => *time,
            // Times are only compared with each other, so a resolution of one millionth of a unit
            // is enough.
            #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
            Some(Err(Unfit::Fraction(time))) => (time * 1e6) as i64,
            _ => return,
        };
        match self.last_time.replace((time, process)) {
            Some((last, _)) if time < last => {
                self.see(Trap::TimeBackward, line, || format!("the time is {time}, but the previous one is {last}"));
            }
            Some((last, other)) if time == last && other != process => {
                self.see(Trap::TimeEqual, line, || {
                    format!("processes {other} and {process} both have the time {time}")
                });
            }
            _ => {}
        }
    }

    /// Records traps in whole operations, and removes the operations that would make the history invalid.
    pub(super) fn intervals<Op, Ret>(&mut self, intervals: &mut Vec<CompactInterval<Op, Ret>>) {
        intervals.retain(|interval| match interval.ret() {
            Some(ret) if ret < interval.call => {
                let call = interval.call;
                self.see(Trap::ReturnBeforeCall, interval.line, || {
                    format!("process {} returns at {ret}, before its call at {call}", interval.process)
                });
                false
            }
            _ => true,
        });
        sort(intervals);
        // For each time, the processes that return and call again at this time, with the lines of the two operations.
        let mut own_ties: BTreeMap<i64, BTreeMap<ProcessId, (u32, u32)>> = BTreeMap::new();
        // The call, the return and the line of the last operation of each process.
        let mut last: HashMap<ProcessId, (i64, Option<i64>, u32)> = HashMap::new();
        intervals.retain(|interval| {
            match last.get(&interval.process) {
                Some((_, Some(until), line)) if *until > interval.call => {
                    let process = interval.process;
                    self.see(Trap::Overlap, interval.line, || {
                        format!("process {process} makes a call while its operation on line {line} is open")
                    });
                    return false;
                }
                Some((_, None, line)) => {
                    let process = interval.process;
                    self.see(Trap::ProcessGoesOn, interval.line, || {
                        format!("process {process} makes a call, but its operation on line {line} never returned")
                    });
                }
                Some((call, Some(until), line)) if *until == interval.call => {
                    if *call == interval.call && Some(*call) == interval.ret() {
                        let process = interval.process;
                        self.see(Trap::TimeEqual, interval.line, || {
                            format!("process {process} calls and returns at {call} here and on line {line}")
                        });
                    }
                    own_ties.entry(*until).or_default().entry(interval.process).or_insert((*line, interval.line));
                }
                _ => {}
            }
            last.insert(interval.process, (interval.call, interval.ret(), interval.line));
            true
        });
        for (time, processes) in own_ties.iter().filter(|(_, processes)| processes.len() > 1) {
            let first = processes.values().map(|(_, call)| *call).min().unwrap_or_default();
            self.see(Trap::OwnTies, first, || {
                let name = |(process, (ret, call)): (&ProcessId, &(u32, u32))| {
                    format!("process {process} (lines {ret} and {call})")
                };
                format!(
                    "at {time}, {} return and call again",
                    processes.iter().map(name).collect::<Vec<_>>().join(" and ")
                )
            });
        }
        // The time, the process and the line of each return.
        let returns = intervals.iter().filter_map(|interval| Some((interval.ret()?, interval.process, interval.line)));
        let mut returns: Vec<(i64, ProcessId, u32)> = returns.collect();
        returns.sort_unstable();
        let mut coarse = intervals.len() > 9;
        for interval in &*intervals {
            let ret = interval.ret();
            self.times.insert(interval.line, (interval.call, ret));
            let call = interval.call;
            let tied =
                returns.partition_point(|(ret, ..)| *ret < call)..returns.partition_point(|(ret, ..)| *ret <= call);
            let tied = &returns[tied];
            // Returns at the same time are sorted by process. So if any of them belongs to another process, the first
            // or the last does.
            let mut ends = tied.first().into_iter().chain(tied.last());
            if let Some((_, _, other)) = ends.find(|(_, process, _)| *process != interval.process) {
                self.see(Trap::Tie, interval.line, || {
                    format!("the call is at {call}, when the operation on line {other} returns")
                });
            }
            coarse &= interval.call % 1000 == 0 && ret.is_none_or(|ret| ret % 1000 == 0);
        }
        if coarse {
            self.see(Trap::CoarseClock, 0, || "all times are multiples of 1000".to_owned());
        }
    }

    fn finish(self, format: Format, history: Result<RawHistory, CodecError>) -> Result<Survey, CodecError> {
        Ok(Survey { format, history: history?, traps: self.traps, times: self.times, failed: self.failed })
    }
}
