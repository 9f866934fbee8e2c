//! The conversion of operations while a file is read.
//!
//! Most callers need a [`RawHistory`](crate::history::RawHistory), for which [`Plain`] keeps records and values as they
//! are. To save memory, the module `numbering` converts records and values to numbers instead.

use super::super::{History, Record, Value};

/// Converts operations and results while a history is read.
pub(super) trait Intake {
    type Op: Clone;
    type Ret: Clone;

    /// Converts the call of an operation. The call is on line `line` of the file.
    fn call(&mut self, line: u32, process: u32, record: Record) -> Self::Op;

    /// Returns the record of `op`, the open operation of `process`, if the record is still known.
    fn open<'a>(&'a self, process: u32, op: &'a Self::Op) -> Option<&'a Record>;

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

    fn open<'a>(&'a self, _: u32, op: &'a Record) -> Option<&'a Record> {
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
