//! Counters.

use super::Settled;
use super::notation::{
    ArgumentNotation, NOTHING, ResultNotation, SUCCESS, brief, must_return, operations, without_key,
};
use crate::history::{Record, Value};
use crate::spec::{Counter, CounterOp, CounterRet, FetchAdd, FetchAddOp, Spec};

/// Reads the number to add. If the name of the operation contains `inc` or `dec`, the number may be
/// omitted and defaults to 1. If the name contains `dec`, the operation subtracts the number.
fn addend(record: &Record) -> Result<i64, String> {
    let f = record.f.to_ascii_lowercase();
    let (increments, decrements) = (f.contains("inc"), f.contains("dec"));
    let number = match without_key(record)? {
        Value::Int(number) => *number,
        Value::Null if increments || decrements => 1,
        other => {
            return Err(format!(
                "`{}` has the argument {}, but needs a number to add; write \"value\":1, or name the operation `inc`",
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
        .ok_or_else(|| format!("`{}` subtracts {number}, which does not fit in 64 bits; subtract less", record.f))
}

/// Returns an error if adding the numbers in `added`, in some order, might take the counter beyond
/// 64 bits. The counter of the specification would then wrap around, as atomic integers do, but the
/// counter of a database would not.
fn fits(initial: i64, added: impl Iterator<Item = i64> + Clone) -> Result<(), String> {
    let sum = |sign: i64| added.clone().filter(|number| number.signum() == sign).map(i128::from).sum::<i128>();
    check_sums(initial, (sum(1), sum(-1)))
}

/// Returns an error if the counter might not fit into 64 bits. `more` is the sum of all positive
/// numbers that are added, and `less` the sum of all negative ones.
pub(in crate::registry) fn check_sums(initial: i64, (more, less): (i128, i128)) -> Result<(), String> {
    let from = i128::from(initial);
    if from + more <= i64::MAX.into() && from + less >= i64::MIN.into() {
        return Ok(());
    }
    Err(format!(
        "the counter may exceed 64 bits: it starts at {initial}, all positive numbers that are added sum to {more}, and all negative numbers to {less}; add less, or split the history"
    ))
}

/// The number that an operation returned.
const NUMBER: ResultNotation<i64> = ResultNotation {
    text: "the number",
    read: |returned| returned.result.as_int().ok_or_else(|| must_return(returned, "a number")),
    show: |number| number.to_string(),
};

const ADDEND: ArgumentNotation<i64> = ArgumentNotation {
    text: "the number; defaults to 1 for inc and dec",
    read: |call| addend(call.record),
    write: |number| (None, Value::Int(number)),
};

operations! {
    Counter: CounterOp, CounterRet;
    "add" ["inc", "incr", "increment", "dec", "decr", "decrement"]
        ADDEND(number) [CounterOp::Add(number)] -> SUCCESS() [CounterRet::Done];
    "read" ["r", "get", "load", "value"]
        NOTHING() [CounterOp::Read] -> NUMBER(number) [CounterRet::Value(number)];
}

operations! {
    FetchAdd: FetchAddOp, i64;
    "fetch-add" ["faa", "fetch-and-add", "get-and-add", "fetch-inc", "get-and-inc", "fetch-dec", "get-and-dec"]
        ADDEND(number) [FetchAddOp::FetchAdd(number)] -> NUMBER "the previous number" (number) [number];
    "read" ["r", "get", "load"] NOTHING() [FetchAddOp::Read] -> NUMBER(number) [number];
}

/// Returns the number that an operation adds.
pub(super) fn counter_adds(op: &CounterOp) -> i64 {
    if let CounterOp::Add(number) = op { *number } else { 0 }
}

/// Returns the number that an operation adds.
pub(super) fn fetch_add_adds(op: &FetchAddOp) -> i64 {
    if let FetchAddOp::FetchAdd(number) = op { *number } else { 0 }
}

/// Returns an error for a history in which the counter might not fit into 64 bits.
pub(super) fn settle_counter(spec: &Counter, operations: &[(&CounterOp, Option<&CounterRet>)]) -> Settled<CounterRet> {
    let added = operations.iter().map(|(op, _)| counter_adds(op));
    fits(spec.initial(), added)?;
    Ok(None)
}

/// Returns an error for a history in which the counter might not fit into 64 bits.
pub(super) fn settle_fetch_add(spec: &FetchAdd, operations: &[(&FetchAddOp, Option<&i64>)]) -> Settled<i64> {
    let added = operations.iter().map(|(op, _)| fetch_add_adds(op));
    fits(spec.initial(), added)?;
    Ok(None)
}
