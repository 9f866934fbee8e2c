//! Builds a history from events in their order. This module does not depend on the syntax of the
//! file.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::open::ByProcess;
use super::super::{Builder, History, HistoryError, ObjectId, Record, Value};
use super::CodecError;
use super::field::{Names, Parsed, quoted};
use super::intake::{Intake, Plain};
use super::quick::QuickCall;
use super::survey::{Remarks, Trap};

/// The reason for rejecting a line.
#[derive(Debug)]
pub(super) enum Fault {
    Message(String),
    History(HistoryError),
}

impl Fault {
    /// Converts the fault to an error on this line, unless the fault already has a line.
    pub(super) fn at(self, line: u32) -> CodecError {
        match self {
            Self::Message(message) => CodecError::at(line, message),
            Self::History(error) => error.into(),
        }
    }
}

impl From<String> for Fault {
    fn from(message: String) -> Self {
        Self::Message(message)
    }
}

impl From<&str> for Fault {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

impl From<HistoryError> for Fault {
    fn from(error: HistoryError) -> Self {
        Self::History(error)
    }
}

/// The end of an operation.
#[derive(Debug)]
pub(super) enum End {
    /// The operation returned this result. An error is the reason why the result cannot be read.
    Ok(Result<Value, String>),
    /// The operation did not happen.
    Fail,
    /// The outcome of the operation is unknown.
    Info,
}

/// The events that have been read so far.
pub(super) struct Events<'r, I: Intake = Plain> {
    builder: Builder<I::Op, I::Ret>,
    intake: I,
    /// The object of each process's open operation, if objects have names.
    objects: ByProcess<ObjectId>,
    /// Remarks for a survey, if one is requested. In a survey, events that would make the history
    /// invalid are left out.
    remarks: Option<&'r mut Remarks>,
    /// The processes whose last operation has an unknown outcome, with the line of the event that reported it.
    unknown: HashMap<u32, u32>,
}

impl<'r> Events<'r> {
    pub(super) fn new(remarks: Option<&'r mut Remarks>) -> Self {
        Self::with(Plain, remarks)
    }
}

impl Events<'_> {
    /// Returns the open operation of `process`.
    pub(super) fn open(&self, process: u32) -> Option<&Record> {
        self.builder.open(process)
    }
}

impl Default for Events<'_> {
    fn default() -> Self {
        Self::new(None)
    }
}

impl<'r, I: Intake> Events<'r, I> {
    /// Creates an empty list of events. `intake` converts the operations that are added.
    pub(super) fn with(intake: I, remarks: Option<&'r mut Remarks>) -> Self {
        Self { builder: Builder::new(), intake, objects: ByProcess::default(), remarks, unknown: HashMap::new() }
    }

    /// Returns whether remarks are collected for a survey.
    pub(super) fn is_surveyed(&self) -> bool {
        self.remarks.is_some()
    }

    /// Records a remark.
    pub(super) fn see(&mut self, trap: Trap, line: u32, what: impl FnOnce() -> String) {
        if let Some(remarks) = &mut self.remarks {
            remarks.see(trap, line, what);
        }
    }

    /// Records an annotation about something other than an operation, such as a failover.
    pub(super) fn annotate(&mut self, line: u32, text: String) {
        self.builder.line(line);
        self.builder.annotate(text);
    }

    /// Records the time stamp of an event.
    pub(super) fn time(&mut self, line: u32, process: u32, time: Option<&Parsed>) {
        if let Some(remarks) = &mut self.remarks {
            remarks.time(line, process, time);
        }
    }

    /// If a survey is requested, records a remark about `fault`, an event that would make the history invalid.
    /// Otherwise, returns `fault` as an error.
    fn forgive(&mut self, line: u32, fault: Fault) -> Result<(), Fault> {
        if self.remarks.is_none() {
            return Err(fault);
        }
        self.see(Trap::Unpaired, line, || match fault {
            Fault::Message(message) => message,
            Fault::History(error) => error.problem(),
        });
        Ok(())
    }

    /// Adds a call, which is on line `line` of the file.
    pub(super) fn call(&mut self, line: u32, process: u32, object: Option<&str>, record: Record) -> Result<(), Fault> {
        self.builder.line(line);
        let object = object.map(|name| self.builder.object(name));
        if self.remarks.is_some() {
            if let Some(earlier) = self.unknown.remove(&process) {
                self.see(Trap::ProcessGoesOn, line, || {
                    format!(
                        "process {process} makes a call, but the outcome of its last operation is unknown (line {earlier})"
                    )
                });
            }
            if self.builder.open(process).is_some() {
                let op = self.intake.call(line, process, record.clone());
                let again = self.builder.call_on(object.unwrap_or_default(), process, op);
                again.map(drop).or_else(|fault| self.forgive(line, fault.into()))?;
                self.intake.end(process, true);
                self.builder.info(process)?;
            }
        }
        let op = self.intake.call(line, process, record);
        self.add_call(object, process, op)
    }

    /// Adds a call as [`call`](Self::call) does. There must be no survey.
    pub(super) fn quick_call(
        &mut self,
        line: u32,
        process: u32,
        object: Option<&str>,
        call: QuickCall<'_>,
        names: &mut Names,
    ) -> Result<(), Fault> {
        self.builder.line(line);
        let object = object.map(|name| self.builder.object(name));
        let op = self.intake.quick_call(line, process, call, names);
        self.add_call(object, process, op)
    }

    fn add_call(&mut self, object: Option<ObjectId>, process: u32, op: I::Op) -> Result<(), Fault> {
        self.builder.call_on(object.unwrap_or_default(), process, op)?;
        if let Some(object) = object {
            self.objects.insert(process, object);
        }
        Ok(())
    }

    /// Returns the name of the open operation of `process`.
    pub(super) fn name(&self, process: u32) -> Option<&Arc<str>> {
        self.builder.open(process).and_then(|op| self.intake.name(process, op))
    }

    /// Ends the open operation of `process`. The end is on line `line` of the file. If `f` or
    /// `object` is given, it must be the same as in the call.
    pub(super) fn end(
        &mut self,
        line: u32,
        process: u32,
        object: Option<&str>,
        f: Option<&str>,
        end: End,
        version: Option<i64>,
    ) -> Result<(), Fault> {
        self.builder.line(line);
        if let (Some(f), Some(open)) = (f, self.name(process)) {
            if *f != **open {
                let message = format!(
                    "process {process} returns from `{}`, but its open call is `{}`; a process must return from its \
                     last call",
                    quoted(f),
                    quoted(open)
                );
                return self.forgive(line, message.into());
            }
        }
        let object = object.map(|name| self.builder.object(name));
        if object.is_some() && self.objects.get(process).is_some_and(|&called| Some(called) != object) {
            let message = format!(
                "process {process} returns from a different `object` than the one it called; name the same object on both lines"
            );
            return self.forgive(line, message.into());
        }
        if let (Some(version), End::Ok(_), Some(_)) = (version, &end, self.builder.open(process)) {
            self.builder.version(process, version)?;
        }
        let ended = match end {
            End::Ok(result) => {
                let result = result?;
                match self.builder.open(process) {
                    Some(op) => {
                        let result = self.intake.ret(line, process, op, result);
                        self.builder.ret(process, result).map(drop)
                    }
                    // The process has no open call, so the builder returns an error.
                    None => self.builder.info(process),
                }
            }
            End::Fail => {
                self.see(Trap::Failed, line, || format!("an operation of process {process} failed"));
                if let (Some(remarks), Some(op)) = (&mut self.remarks, self.builder.open(process)) {
                    remarks.failed.extend(I::record(op).map(|record| (record.clone(), line as usize)));
                }
                self.intake.end(process, false);
                self.builder.fail(process)
            }
            End::Info => {
                self.see(Trap::Info, line, || format!("the outcome of an operation of process {process} is unknown"));
                if self.remarks.is_some() {
                    self.unknown.insert(process, line);
                }
                self.intake.end(process, true);
                self.builder.info(process)
            }
        };
        ended.or_else(|fault| self.forgive(line, fault.into()))
    }

    pub(super) fn finish(self) -> (I, History<I::Op, I::Ret>) {
        (self.intake, self.builder.finish())
    }
}
