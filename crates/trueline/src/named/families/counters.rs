//! Counters.

use super::{DONE, Settled, Written, brief, done, not_in_table, record, without_key};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{Counter, CounterOp, CounterRet, FetchAdd, FetchAddOp, Spec};

/// Reads the number to add. It may be omitted if the name of the operation contains `inc` or `dec`, and is then 1;
/// `dec` subtracts it.
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
    if !decrements {
        return Ok(number);
    }
    number
        .checked_neg()
        .ok_or_else(|| format!("`{}` subtracts {number}, which does not fit 64 bits; subtract less", record.f))
}

/// Rejects numbers whose sum may exceed 64 bits: the specification would then wrap around, as atomic integers do, but
/// the counter of a database does not.
fn fits(initial: i64, added: impl Iterator<Item = i64> + Clone) -> Result<(), String> {
    let sum = |sign: i64| {
        i128::from(initial) + added.clone().filter(|number| number.signum() == sign).map(i128::from).sum::<i128>()
    };
    if sum(1) <= i64::MAX.into() && sum(-1) >= i64::MIN.into() {
        return Ok(());
    }
    let [more, less] = [sum(1), sum(-1)].map(|sum| sum - i128::from(initial));
    Err(format!(
        "the counter may exceed 64 bits: it begins with {initial}, and {more} and {less} are added in all; add less, or judge it in parts"
    ))
}

/// Reads the number that an operation returned.
fn number(record: &Record, result: &Value) -> Result<i64, String> {
    result.as_int().ok_or_else(|| {
        format!(
            "{record} returned {}, but must return a number; give that as the `result` of the return",
            brief(result)
        )
    })
}

impl Written for Counter {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
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
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
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

/// Rejects histories whose sums may exceed 64 bits.
pub(super) fn settle_counter(spec: &Counter, operations: &[(&CounterOp, Option<&CounterRet>)]) -> Settled<CounterRet> {
    let added = operations.iter().map(|(op, _)| if let CounterOp::Add(number) = op { *number } else { 0 });
    fits(spec.initial(), added)?;
    Ok(None)
}

/// Rejects histories whose sums may exceed 64 bits.
pub(super) fn settle_fetch_add(spec: &FetchAdd, operations: &[(&FetchAddOp, Option<&i64>)]) -> Settled<i64> {
    let added = operations.iter().map(|(op, _)| if let FetchAddOp::FetchAdd(number) = op { *number } else { 0 });
    fits(spec.initial(), added)?;
    Ok(None)
}
