//! Counters.

use super::{DONE, Written, brief, done, not_in_table, record, without_key};
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

impl Written for Counter {
    fn read_op(name: &str, _: ProcessId, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "add" => CounterOp::Add(addend(record)?),
            "read" => CounterOp::Read,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            CounterOp::Add(_) => {
                done(record, result)?;
                CounterRet::Done
            }
            CounterOp::Read => CounterRet::Value(number(record, result)?),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            CounterOp::Add(number) => record("add", Value::Int(*number)),
            CounterOp::Read => record("read", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            CounterRet::Done => DONE.to_owned(),
            CounterRet::Value(value) => value.to_string(),
        }
    }
}

impl Written for FetchAdd {
    fn read_op(name: &str, _: ProcessId, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "fetch-add" => FetchAddOp::FetchAdd(addend(record)?),
            "read" => FetchAddOp::Read,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, _: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        number(record, result)
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            FetchAddOp::FetchAdd(number) => record("fetch-add", Value::Int(*number)),
            FetchAddOp::Read => record("read", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        ret.to_string()
    }
}
