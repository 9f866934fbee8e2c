//! The conversion of operations while a file is read.
//!
//! Most callers need a [`RawHistory`](crate::history::RawHistory), for which [`Plain`] keeps records and values as they
//! are. To save memory, the module `numbering` converts records and values to numbers instead.

use std::sync::Arc;

use super::super::{History, Record, Value};
use super::field::Names;
use super::quick::QuickCall;

/// Converts operations and results while a history is read.
pub(super) trait Intake {
    type Op: Clone;
    type Ret: Clone;

    /// Converts the call of an operation. The call is on line `line` of the file.
    fn call(&mut self, line: u32, process: u32, record: Record) -> Self::Op;

    /// Converts a call as [`call`](Self::call) does.
    #[inline]
    fn quick_call(&mut self, line: u32, process: u32, call: QuickCall<'_>, names: &mut Names) -> Self::Op {
        self.call(line, process, call.record(names))
    }

    /// Returns the name of `op`, the open operation of `process`, if the name is still known.
    fn name<'a>(&'a self, process: u32, op: &'a Self::Op) -> Option<&'a Arc<str>>;

    /// Returns the record that `op` was converted from, if `op` contains it.
    fn record(_op: &Self::Op) -> Option<&Record> {
        None
    }

    /// Converts the result of `op`, the open operation of `process`.
    fn ret(&mut self, line: u32, process: u32, op: &Self::Op, result: Value) -> Self::Ret;

    /// Ends the open operation of `process` without a result. If `happened` is false, the operation is not part of the
    /// history.
    fn end(&mut self, process: u32, happened: bool);

    /// Converts a whole operation that was called at the time `call`, and the result of the operation if it returned.
    fn whole(
        &mut self,
        line: u32,
        process: u32,
        call: i64,
        record: Record,
        result: Option<Value>,
    ) -> (Self::Op, Option<Self::Ret>);

    /// Converts a whole operation as [`whole`](Self::whole) does. `time` is the time of the call.
    #[inline]
    fn quick_whole(
        &mut self,
        line: u32,
        process: u32,
        time: i64,
        (call, result): (QuickCall<'_>, Option<Value>),
        names: &mut Names,
    ) -> (Self::Op, Option<Self::Ret>) {
        self.whole(line, process, time, call.record(names), result)
    }
}

/// A history that was read, with the intake that converted its operations.
pub(super) type Taken<I> = (I, History<<I as Intake>::Op, <I as Intake>::Ret>);

/// Keeps operations and results as they are in the file.
#[derive(Debug, Default)]
pub(super) struct Plain;

impl Intake for Plain {
    type Op = Record;
    type Ret = Value;

    fn call(&mut self, _: u32, _: u32, record: Record) -> Record {
        record
    }

    fn name<'a>(&'a self, _: u32, op: &'a Record) -> Option<&'a Arc<str>> {
        Some(&op.f)
    }

    fn record(op: &Record) -> Option<&Record> {
        Some(op)
    }

    fn ret(&mut self, _: u32, _: u32, _: &Record, result: Value) -> Value {
        result
    }

    fn end(&mut self, _: u32, _: bool) {}

    fn whole(&mut self, _: u32, _: u32, _: i64, record: Record, result: Option<Value>) -> (Record, Option<Value>) {
        (record, result)
    }
}
