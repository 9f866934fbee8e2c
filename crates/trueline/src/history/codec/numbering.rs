//! Numbers operations while they are read.
//!
//! A judge needs only numbers, one for each distinct operation and result. [`Numbering`] asks for the number as soon as
//! an operation has been read, so that its record is not kept: a history of numbers takes less than half of the memory
//! of a history of records.

use super::super::open::ByProcess;
use super::super::{History, Operation, Outcome, ProcessId, RawHistory, Record, Value};
use super::intake::Intake;

/// The number of an operation in a table of distinct operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OpNumber(pub(crate) u32);

/// The number of a result in a table of distinct results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RetNumber(pub(crate) u32);

/// A history whose operations and results are in a table.
pub(crate) type NumberedHistory = History<OpNumber, RetNumber>;

/// Numbers operations and results.
pub(crate) trait Numbers {
    /// Returns the number of an operation, or the reason why it is not an operation of the specification.
    fn op(&mut self, process: ProcessId, record: &Record) -> Result<OpNumber, String>;

    /// Returns the number of a result of `op`, which was read from `record`, or the reason why it is not one.
    fn ret(&mut self, record: &Record, op: OpNumber, result: &Value) -> Result<RetNumber, String>;
}

/// Numbers the operations and results of a history that was read before.
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
    /// 0 if the line is unknown.
    pub(crate) line: u32,
    pub(crate) message: String,
}

/// The number of operations and results that have no number.
const NONE: u32 = u32::MAX;

/// The maximum number of faults that are kept for one call time.
const MOST_TIES: usize = 100;

/// Keeps only the numbers of operations and results.
///
/// The rest of the file is read even if something has no number, because an error in the file itself is reported first.
/// Of several faults, the one of the first operation in the order of calls is reported, if the operation belongs to the
/// history.
pub(super) struct Numbering<'n> {
    numbers: &'n mut dyn Numbers,
    open: ByProcess<OpenCall>,
    /// The number of calls so far.
    calls: u64,
    /// The fault of the first operation so far, with the place of its call.
    first: Option<(u64, Unnumbered)>,
    /// For whole operations, the faults with the earliest call, and its time.
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

    /// Returns the fault of the first operation that has one, if there is any.
    pub(super) fn finish(mut self, history: &NumberedHistory) -> Option<Unnumbered> {
        for OpenCall { place, fault, .. } in std::mem::take(&mut self.open).into_values() {
            self.fault(place, fault);
        }
        if self.earliest.is_empty() {
            return self.first.map(|(_, fault)| fault);
        }
        // The order of operations that are called at the same time is known only now.
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
            // Only an operation that was called earlier can still be the first with a fault.
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
            // Only an operation with an earlier call can still be the first with a fault.
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
