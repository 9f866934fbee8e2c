//! Assigns numbers to operations while they are read.
//!
//! A judge needs only a number for each distinct operation and each distinct result. As soon as an operation has been
//! read, [`Numbering`] asks [`Numbers`] for the number of the operation, and drops the record of the operation. A
//! history of numbers takes less than half of the memory of a history of records.

use super::super::open::ByProcess;
use super::super::{History, Operation, Outcome, ProcessId, RawHistory, Record, Value};
use super::intake::Intake;

/// The number of an operation in a table of distinct operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpNumber(pub(crate) u32);

/// The number of a result in a table of distinct results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RetNumber(pub(crate) u32);

/// A history in which each operation and each result is a number, which refers to a table.
pub(crate) type NumberedHistory = History<OpNumber, RetNumber>;

/// Assigns numbers to operations and results.
pub(crate) trait Numbers {
    /// Returns the number of an operation, or the reason why it is not an operation of the specification.
    fn op(&mut self, process: ProcessId, record: &Record) -> Result<OpNumber, String>;

    /// Returns the number of a result of `op`, or the reason why `op` cannot have this result.
    /// `record` is the record that `op` was read from.
    fn ret(&mut self, record: &Record, op: OpNumber, result: &Value) -> Result<RetNumber, String>;
}

/// Assigns numbers to the operations and results of a history that has already been read.
pub(super) fn numbered(history: &RawHistory, numbers: &mut dyn Numbers) -> Result<NumberedHistory, Unnumbered> {
    history.try_map(|operation| {
        let at = |line: Option<u32>| move |message| Unnumbered { line: line.unwrap_or(0), message };
        let op = numbers.op(operation.process, &operation.op).map_err(at(operation.call_line()))?;
        let line = operation.return_line().or(operation.call_line());
        let mut ret = |result| numbers.ret(&operation.op, op, result).map_err(at(line));
        let outcome = match &operation.outcome {
            Outcome::Pending => Outcome::Pending,
            Outcome::Returned(result) => Outcome::Returned(ret(result)?),
            Outcome::Optional(result) => Outcome::Optional(ret(result)?),
        };
        Ok((op, outcome))
    })
}

/// An operation or a result that has no number, with its line and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unnumbered {
    /// The line, or 0 if it is unknown.
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// The placeholder for the number of an operation or a result that has no number.
const NONE: u32 = u32::MAX;

/// If several operations that were called at the same time have faults, at most this many of these faults are kept.
const MOST_TIES: usize = 100;

/// An intake that keeps only the numbers of operations and results.
///
/// An operation has a fault if the operation or its result has no number. The rest of the file is still read, because
/// an error in the file itself takes precedence. If several operations have faults, the fault of the operation that was
/// called first is reported. The faults of operations that turn out not to belong to the history are ignored.
pub(super) struct Numbering<'n> {
    numbers: &'n mut dyn Numbers,
    open: ByProcess<OpenCall>,
    /// The number of calls that have been read.
    calls: u64,
    /// For events: the fault of the operation that was called first among those with a fault so far, and the position
    /// of its call among all calls.
    first: Option<(u64, Unnumbered)>,
    /// For whole operations: the faults of the operations that were called at the time `call`, the earliest time so far
    /// at which an operation with a fault was called.
    earliest: Vec<Unnumbered>,
    call: i64,
}

struct OpenCall {
    record: Record,
    place: u64,
    fault: Option<Unnumbered>,
}

impl<'n> Numbering<'n> {
    pub(super) fn new(numbers: &'n mut dyn Numbers) -> Self {
        Self { numbers, open: ByProcess::default(), calls: 0, first: None, earliest: Vec::new(), call: i64::MAX }
    }

    fn fault(&mut self, place: u64, fault: Option<Unnumbered>) {
        let Some(fault) = fault else { return };
        if self.first.as_ref().is_none_or(|(first, _)| place < *first) {
            self.first = Some((place, fault));
        }
    }

    /// Returns the fault of the first operation that has a fault, or `None` if no operation has a fault.
    pub(super) fn finish(mut self, history: &NumberedHistory) -> Option<Unnumbered> {
        for OpenCall { place, fault, .. } in std::mem::take(&mut self.open).into_values() {
            self.fault(place, fault);
        }
        if self.earliest.is_empty() {
            return self.first.map(|(_, fault)| fault);
        }
        // Several operations with faults may have been called at the same time. Only the complete
        // history shows which of them comes first.
        let is_none = |operation: &&Operation<OpNumber, RetNumber>| {
            operation.op.0 == NONE || operation.outcome.result().is_some_and(|ret| ret.0 == NONE)
        };
        let first = history.operations().iter().find(is_none).and_then(|operation| operation.call_line());
        let at = self.earliest.iter().position(|fault| Some(fault.line) == first).unwrap_or(0);
        Some(self.earliest.swap_remove(at))
    }
}

impl Intake for Numbering<'_> {
    type Op = OpNumber;
    type Ret = RetNumber;

    fn call(&mut self, line: u32, process: u32, record: Record) -> OpNumber {
        let (op, fault) = match self.first {
            // An operation that was called earlier has a fault, so a fault of this operation would not be reported.
            Some(_) => (OpNumber(NONE), None),
            None => match self.numbers.op(ProcessId(process), &record) {
                Ok(op) => (op, None),
                Err(message) => (OpNumber(NONE), Some(Unnumbered { line, message })),
            },
        };
        self.open.insert(process, OpenCall { record, place: self.calls, fault });
        self.calls += 1;
        op
    }

    fn open<'a>(&'a self, process: u32, _: &'a OpNumber) -> Option<&'a Record> {
        self.open.get(process).map(|open| &open.record)
    }

    fn ret(&mut self, line: u32, process: u32, op: &OpNumber, result: Value) -> RetNumber {
        let Some(open) = self.open.remove(process) else { return RetNumber(NONE) };
        if open.fault.is_some() {
            self.fault(open.place, open.fault);
            return RetNumber(NONE);
        }
        if self.first.as_ref().is_some_and(|(first, _)| *first < open.place) {
            return RetNumber(NONE);
        }
        self.numbers.ret(&open.record, *op, &result).unwrap_or_else(|message| {
            self.fault(open.place, Some(Unnumbered { line, message }));
            RetNumber(NONE)
        })
    }

    fn end(&mut self, process: u32, happened: bool) {
        if let Some(open) = self.open.remove(process).filter(|_| happened) {
            self.fault(open.place, open.fault);
        }
    }

    fn whole(
        &mut self,
        line: u32,
        process: u32,
        call: i64,
        record: Record,
        result: Option<Value>,
    ) -> (OpNumber, Option<RetNumber>) {
        if call > self.call {
            // An operation that was called earlier has a fault, so a fault of this operation would not be reported.
            return (OpNumber(NONE), result.map(|_| RetNumber(NONE)));
        }
        let numbers = &mut *self.numbers;
        let op = numbers.op(ProcessId(process), &record);
        let read = op.and_then(|op| {
            let ret = result.as_ref().map(|result| numbers.ret(&record, op, result)).transpose()?;
            Ok((op, ret))
        });
        read.unwrap_or_else(|message| {
            if call < self.call {
                self.call = call;
                self.earliest.clear();
            }
            if call == self.call && self.earliest.len() < MOST_TIES {
                self.earliest.push(Unnumbered { line, message });
            }
            (OpNumber(NONE), result.map(|_| RetNumber(NONE)))
        })
    }
}
