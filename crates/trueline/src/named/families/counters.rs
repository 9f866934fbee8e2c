//! Counters.

use super::{DONE, Family, brief, done, not_in_table, record, without_key};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{Counter, CounterOp, CounterRet, FetchAdd, FetchAddOp};

/// The number to add: an operation that is called after increments or decrements may leave out that it is 1, and the
/// latter takes away.
fn addend(record: &Record) -> Result<i64, String> {
    let f = record.f.to_ascii_lowercase();
    let (increments, decrements) = (f.contains("inc"), f.contains("dec"));
    let number = match without_key(record)? {
        Value::Int(number) => *number,
        Value::Null if increments || decrements => 1,
        other => {
            return Err(format!(
                "`{}` has the argument {}, but needs a number to add; write \"value\":1, or call it `inc`",
                record.f,
                brief(other)
            ));
        }
    };
    Ok(if decrements { number.wrapping_neg() } else { number })
}

/// The number that an operation returned.
fn number(record: &Record, result: &Value) -> Result<i64, String> {
    result.as_int().ok_or_else(|| {
        format!(
            "{record} returned {}, but must return a number; give that as the `result` of the return",
            brief(result)
        )
    })
}

#[derive(Debug)]
pub(super) struct CounterFamily(pub(super) Counter);

impl Family for CounterFamily {
    type Spec = Counter;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<CounterOp, String> {
        without_key(record)?;
        Ok(match name {
            "add" => CounterOp::Add(addend(record)?),
            "read" => CounterOp::Read,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &CounterOp, result: &Value) -> Result<CounterRet, String> {
        Ok(match op {
            CounterOp::Add(_) => {
                done(record, result)?;
                CounterRet::Done
            }
            CounterOp::Read => CounterRet::Value(number(record, result)?),
        })
    }

    fn show_op(op: &CounterOp) -> Record {
        match op {
            CounterOp::Add(number) => record("add", Value::Int(*number)),
            CounterOp::Read => record("read", Value::Null),
        }
    }

    fn show_ret(ret: &CounterRet) -> String {
        match ret {
            CounterRet::Done => DONE.to_owned(),
            CounterRet::Value(value) => value.to_string(),
        }
    }
}

#[derive(Debug)]
pub(super) struct FetchAddFamily(pub(super) FetchAdd);

impl Family for FetchAddFamily {
    type Spec = FetchAdd;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<FetchAddOp, String> {
        without_key(record)?;
        Ok(match name {
            "fetch-add" => FetchAddOp::FetchAdd(addend(record)?),
            "read" => FetchAddOp::Read,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, _: &FetchAddOp, result: &Value) -> Result<i64, String> {
        number(record, result)
    }

    fn show_op(op: &FetchAddOp) -> Record {
        match op {
            FetchAddOp::FetchAdd(number) => record("fetch-add", Value::Int(*number)),
            FetchAddOp::Read => record("read", Value::Null),
        }
    }

    fn show_ret(ret: &i64) -> String {
        ret.to_string()
    }
}
