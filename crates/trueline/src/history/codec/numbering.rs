//! Assigns numbers to operations while they are read.
//!
//! A judge needs only a number for each distinct operation and each distinct result. As soon as an operation has been
//! read, [`Numbering`] asks [`Numbers`] for the number of the operation, and drops the record of the operation. A
//! history of numbers takes less than half of the memory of a history of records.

use std::sync::Arc;

use super::super::open::ByProcess;
use super::super::{History, Operation, Outcome, ProcessId, RawHistory, Record, Value};
use super::field::Names;
use super::intake::Intake;
use super::quick::QuickCall;
use super::templates::Templates;

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
    /// Returns whether the number of an operation depends on its process.
    fn process_matters(&self) -> bool;

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
    process_matters: bool,
    templates: Templates,
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
    called: Called,
    place: u64,
    fault: Option<Box<Unnumbered>>,
}

/// An operation.
enum Called {
    /// The number of its template, and its argument.
    Usual(u32, Value),
    Other(Box<Record>),
}

impl<'n> Numbering<'n> {
    pub(super) fn new(numbers: &'n mut dyn Numbers) -> Self {
        Self {
            process_matters: numbers.process_matters(),
            numbers,
            templates: Templates::default(),
            open: ByProcess::default(),
            calls: 0,
            first: None,
            earliest: Vec::new(),
            call: i64::MAX,
        }
    }

    fn fault(&mut self, place: u64, fault: Option<Box<Unnumbered>>) {
        let Some(fault) = fault else { return };
        if self.first.as_ref().is_none_or(|(first, _)| place < *first) {
            self.first = Some((place, *fault));
        }
    }

    #[inline]
    fn called(&mut self, call: QuickCall<'_>, names: &mut Names) -> Called {
        match self.templates.number(&call, names) {
            Some(template) => Called::Usual(template, call.value.value(names)),
            None => Called::Other(Box::new(call.record(names))),
        }
    }

    /// Returns the number of an operation.
    #[inline]
    fn number(&mut self, process: u32, called: &mut Called) -> Result<OpNumber, String> {
        let Self { numbers, templates, process_matters, .. } = self;
        let process = ProcessId(process);
        match called {
            Called::Usual(template, Value::Null) => {
                let template = templates.get_mut(*template);
                if let Some(known) = template.number {
                    return Ok(known);
                }
                let op = numbers.op(process, template.record())?;
                template.number = Some(op).filter(|_| !*process_matters);
                Ok(op)
            }
            Called::Usual(template, value) => {
                templates.get_mut(*template).with(value, |record| numbers.op(process, record))
            }
            Called::Other(record) => numbers.op(process, record),
        }
    }

    /// Returns the number of a result of `op`.
    #[inline]
    fn number_result(&mut self, called: &mut Called, op: OpNumber, result: &Value) -> Result<RetNumber, String> {
        let Self { numbers, templates, .. } = self;
        match called {
            Called::Usual(template, value) => {
                templates.get_mut(*template).with(value, |record| numbers.ret(record, op, result))
            }
            Called::Other(record) => numbers.ret(record, op, result),
        }
    }

    fn add(&mut self, line: u32, process: u32, mut called: Called) -> OpNumber {
        let (op, fault) = match self.first {
            // An operation that was called earlier has a fault, so a fault of this operation would not be reported.
            Some(_) => (OpNumber(NONE), None),
            None => match self.number(process, &mut called) {
                Ok(op) => (op, None),
                Err(message) => (OpNumber(NONE), Some(Box::new(Unnumbered { line, message }))),
            },
        };
        self.open.insert(process, OpenCall { called, place: self.calls, fault });
        self.calls += 1;
        op
    }

    fn add_whole(
        &mut self,
        line: u32,
        process: u32,
        call: i64,
        mut called: Called,
        result: Option<&Value>,
    ) -> (OpNumber, Option<RetNumber>) {
        if call > self.call {
            // An operation that was called earlier has a fault, so a fault of this operation would not be reported.
            return (OpNumber(NONE), result.map(|_| RetNumber(NONE)));
        }
        let read = self.number(process, &mut called).and_then(|op| {
            let ret = result.map(|result| self.number_result(&mut called, op, result)).transpose()?;
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
        self.add(line, process, Called::Other(Box::new(record)))
    }

    fn quick_call(&mut self, line: u32, process: u32, call: QuickCall<'_>, names: &mut Names) -> OpNumber {
        let called = self.called(call, names);
        self.add(line, process, called)
    }

    fn name<'a>(&'a self, process: u32, _: &'a OpNumber) -> Option<&'a Arc<str>> {
        Some(match &self.open.get(process)?.called {
            Called::Usual(template, _) => &self.templates.get(*template).record().f,
            Called::Other(record) => &record.f,
        })
    }

    fn ret(&mut self, line: u32, process: u32, op: &OpNumber, result: Value) -> RetNumber {
        let Some(OpenCall { mut called, place, fault }) = self.open.remove(process) else { return RetNumber(NONE) };
        if fault.is_some() {
            self.fault(place, fault);
            return RetNumber(NONE);
        }
        if self.first.as_ref().is_some_and(|(first, _)| *first < place) {
            return RetNumber(NONE);
        }
        self.number_result(&mut called, *op, &result).unwrap_or_else(|message| {
            self.fault(place, Some(Box::new(Unnumbered { line, message })));
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
        self.add_whole(line, process, call, Called::Other(Box::new(record)), result.as_ref())
    }

    fn quick_whole(
        &mut self,
        line: u32,
        process: u32,
        time: i64,
        (call, result): (QuickCall<'_>, Option<Value>),
        names: &mut Names,
    ) -> (OpNumber, Option<RetNumber>) {
        let called = self.called(call, names);
        self.add_whole(line, process, time, called, result.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::super::CodecError;
    use super::super::jsonl::{self, File};
    #[cfg(feature = "parquet")]
    use super::super::{Format, Source, Target, read, write};
    use super::*;
    use crate::drive::Random;
    use crate::history::Event;

    /// Numbers operations and results in the simplest way. Operations and results that contain the text `bad` have no
    /// number.
    #[derive(Debug, Default)]
    struct InOrder {
        process_matters: bool,
        ops: Vec<(Option<ProcessId>, Record)>,
        rets: Vec<(Record, OpNumber, Value)>,
        /// The number of times that an operation was looked up.
        looked_up: usize,
    }

    fn number_in<T: PartialEq>(items: &mut Vec<T>, item: T) -> u32 {
        let known = items.iter().position(|other| *other == item);
        let number = known.unwrap_or_else(|| {
            items.push(item);
            items.len() - 1
        });
        u32::try_from(number).expect("few items")
    }

    impl Numbers for InOrder {
        fn process_matters(&self) -> bool {
            self.process_matters
        }

        fn op(&mut self, process: ProcessId, record: &Record) -> Result<OpNumber, String> {
            self.looked_up += 1;
            if record.to_string().contains("bad") {
                return Err(format!("no operation: {record}"));
            }
            let process = self.process_matters.then_some(process);
            Ok(OpNumber(number_in(&mut self.ops, (process, record.clone()))))
        }

        fn ret(&mut self, record: &Record, op: OpNumber, result: &Value) -> Result<RetNumber, String> {
            if result.to_string().contains("bad") {
                return Err(format!("{record} cannot return {result}"));
            }
            Ok(RetNumber(number_in(&mut self.rets, (record.clone(), op, result.clone()))))
        }
    }

    type Outcomes = (Vec<Operation<OpNumber, RetNumber>>, Vec<Event>, Vec<(Option<ProcessId>, Record)>, Vec<Value>);

    /// Returns the history that was read, and the operations and results that the numbers stand for.
    fn summary(
        read: Result<Result<NumberedHistory, Unnumbered>, CodecError>,
        numbers: InOrder,
    ) -> Result<Outcomes, String> {
        let history = read.map_err(|error| error.to_string())?.map_err(|fault| format!("{fault:?}"))?;
        let rets = numbers.rets.into_iter().map(|(_, _, ret)| ret).collect();
        Ok((history.operations().to_vec(), history.events().to_vec(), numbers.ops, rets))
    }

    fn random_value(random: &mut Random, at: usize) -> String {
        match random.below(12) {
            0..=2 => "null".to_owned(),
            3..=5 => at.to_string(),
            6 => format!("\"{at}\""),
            7 => i64::from(random.below(3)).to_string(),
            8 => "true".to_owned(),
            9 => "\"k\"".to_owned(),
            10 => "[1,\"x\"]".to_owned(),
            _ => (if random.chance(1, 20) { "\"bad\"" } else { "-1" }).to_owned(),
        }
    }

    /// Returns the fields of an operation, with a comma before each.
    fn random_call(random: &mut Random, at: usize) -> String {
        let names = if random.chance(3, 4) { 2 } else { 6 };
        let f =
            ["put", "get", "g", "pu\\u0074", "", "a name of more than sixteen letters"][random.below(names) as usize];
        let f = if random.chance(1, 100) { "bad" } else { f };
        let most = if random.chance(2, 3) { 3 } else { 200 };
        let many = random.below(most);
        let keys = ["1", "\"1\"", "true", "\"true\"", "null", "\"\"", "[1]", "\"\u{e9}\"", "-1", "9223372036854775807"];
        let key = match random.below(20) {
            0..10 => keys[random.below(10) as usize].to_owned(),
            10..16 => format!("\"k{many}\""),
            16 => format!("{many}"),
            17 => format!("\"{}\"", "k".repeat(60 + many as usize % 10)),
            _ => return format!(",\"f\":\"{f}\",\"value\":{}", random_value(random, at)),
        };
        let value = random_value(random, at);
        match random.below(8) {
            0 => format!(",\"f\":\"{f}\",\"key\":{key}"),
            1 => format!(", \"value\": {value}, \"key\": {key}, \"f\": \"{f}\""),
            _ => format!(",\"f\":\"{f}\",\"key\":{key},\"value\":{value}"),
        }
    }

    fn random_file(random: &mut Random) -> String {
        let (is_whole, is_named, processes) = (random.chance(1, 3), random.chance(1, 4), 1 + random.below(8));
        let mut open = vec![false; processes as usize];
        let mut text = String::new();
        let most = if random.chance(1, 5) { 800 } else { 60 };
        for at in 0..=random.below(most) as usize {
            let process = random.below(processes);
            let object = if is_named { format!(",\"object\":\"o{}\"", process % 2) } else { String::new() };
            let is_open = &mut open[process as usize];
            text += &format!("{{\"process\":{process}{object}");
            if is_whole {
                let (from, to) = (at / 2 * 10, at / 2 * 10 + random.below(4) as usize);
                let call = random_call(random, at);
                match random.below(6) {
                    0 => text += &format!("{call},\"call\":{from},\"return\":null"),
                    1 => text += &format!("{call},\"call\":{from},\"return\":{to}"),
                    _ => {
                        let result = random_value(random, at);
                        text += &format!("{call},\"result\":{result},\"call\":{from},\"return\":{to}");
                    }
                }
            } else if *is_open != random.chance(1, 500) {
                *is_open = false;
                match random.below(10) {
                    0 => text += ",\"type\":\"info\"",
                    1 => text += ",\"type\":\"fail\"",
                    _ => text += &format!(",\"type\":\"ok\",\"value\":{}", random_value(random, at)),
                }
            } else {
                *is_open = true;
                text += &format!(",\"type\":\"invoke\"{}", random_call(random, at));
            }
            text += "}\n";
        }
        // After a fault, most operations are not numbered, so half of the files have no faults.
        if random.chance(1, 2) { text } else { text.replace("bad", "good") }
    }

    #[test]
    fn quick_and_thorough_readers_assign_the_same_numbers() {
        let (mut good, mut bad) = (0, 0);
        let (mut quick_look_ups, mut slow_look_ups) = (0, 0);
        for seed in 0..3_000 {
            let text = random_file(&mut Random::new(seed));
            let read = |text: &str| {
                let mut numbers = InOrder { process_matters: seed % 5 == 0, ..InOrder::default() };
                let read = jsonl::read_into(text.as_bytes(), 0, File::with(Numbering::new(&mut numbers), None));
                let read = read.map(|(numbering, history)| numbering.finish(&history).map_or(Ok(history), Err));
                let looked_up = numbers.looked_up;
                (summary(read, numbers), looked_up)
            };
            let (quick, looked_up) = read(&text);
            quick_look_ups += looked_up;
            // A line that begins with a tab is not read quickly.
            let (slow, looked_up) = read(&format!("\t{}", text.trim_end().replace('\n', "\n\t")));
            slow_look_ups += looked_up;
            assert_eq!(quick, slow, "{text}");
            *(if quick.is_ok() { &mut good } else { &mut bad }) += 1;
        }
        assert!(good > 500 && bad > 500, "{good} good, {bad} bad");
        assert!(quick_look_ups < slow_look_ups * 19 / 20, "{quick_look_ups} of {slow_look_ups}");
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn rows_have_the_same_numbers_as_records() {
        let mut rows = 0;
        for seed in 0..600 {
            let text = random_file(&mut Random::new(seed));
            let Ok(history) = jsonl::read(text.as_bytes()) else { continue };
            rows += history.len();
            let mut file = Vec::new();
            write(&history, Target::Parquet, &mut file).expect("the history can be written");
            let new = || InOrder { process_matters: seed % 5 == 0, ..InOrder::default() };
            let (mut direct, mut kept) = (new(), new());
            let rows_read = Source {
                input: &mut &*file,
                format: Format::Parquet,
                mapping: None,
                tuples: None,
                skew: 0,
                notes: &[],
                warnings: &mut Vec::new(),
            }
            .numbered(&mut direct);
            let history = read(&*file, Format::Parquet).expect("the file was just written");
            let expected = numbered(&history, &mut kept);
            assert_eq!(summary(rows_read, direct), summary(Ok(expected), kept), "{text}");
        }
        assert!(rows > 5_000, "{rows} rows");
    }
}
