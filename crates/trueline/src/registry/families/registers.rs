//! Single registers, registers by key or index, and cells that can be set once.

use super::notation::{
    ANY, ArgumentNotation, DONE, ELEMENT, IGNORED, NOTHING, OR_EMPTY, ResultNotation, SWAPPED, VALUE, WHETHER, brief,
    key_and_rest, old_and_new, operations, pair, without_key, without_pair,
};
use crate::history::{Record, Value};
use crate::spec::{
    Array, ArrayOp, ArrayRet, CasRegister, CasRegisterOp, CasRegisterRet, MicroOp, MultiRegister, MultiRegisterOp,
    MultiRegisterRet, OnceCell, OnceCellOp, OnceCellRet, Register, RegisterOp, RegisterRet,
};

operations! {
    Register<Value>: RegisterOp<Value>, RegisterRet<Value>;
    "read" ["r", "get", "load"] NOTHING() [RegisterOp::Read] -> VALUE(value) [RegisterRet::Value(value)];
    "write" ["w", "put", "set", "store"]
        ANY "the new value" (value) [RegisterOp::Write(value)] -> IGNORED() [RegisterRet::Done];
}

/// The expected value and the new value.
const OLD_NEW: ArgumentNotation<(Value, Value)> = ArgumentNotation {
    text: "[old new]",
    read: |call| old_and_new(call.record, without_key(call.record)?),
    write: |(expected, new)| (None, pair(expected, new)),
};

operations! {
    CasRegister<Value>: CasRegisterOp<Value>, CasRegisterRet<Value>;
    "read" ["r", "get", "load"] NOTHING() [CasRegisterOp::Read] -> VALUE(value) [CasRegisterRet::Value(value)];
    "write" ["w", "put", "set", "store"]
        ANY "the new value" (value) [CasRegisterOp::Write(value)] -> IGNORED() [CasRegisterRet::Done];
    "cas" ["compare-and-set", "compare-and-swap", "compare-exchange"]
        OLD_NEW(expected, new) [CasRegisterOp::Cas { expected, new }]
        -> SWAPPED(swapped) [CasRegisterRet::Swapped(swapped)];
}

/// A read or a write, with the value in its list entry. In the list that a transaction returned,
/// this is the value that was read or written.
type Access = (MicroOp<Value, Value>, Value);

/// Reads `[[f key value]..]`.
fn micro_ops(record: &Record, list: &Value) -> Result<Vec<Access>, String> {
    let fault = |what: &Value| {
        format!(
            "`{}` has {}, but needs a list of reads and writes; write \"value\":[[\"read\",\"x\",null],[\"write\",\"y\",1]]",
            record.f,
            brief(what)
        )
    };
    let Value::List(accesses) = list else { return Err(fault(list)) };
    let read = |access: &Value| {
        let Value::List(parts) = access else { return Err(fault(access)) };
        let (f, key, value) = match &parts[..] {
            [Value::Text(f), key] => (f, key, &Value::Null),
            [Value::Text(f), key, value] => (f, key, value),
            _ => return Err(fault(access)),
        };
        match f.strip_prefix(':').unwrap_or(f) {
            "read" | "r" => Ok((MicroOp::Read(key.clone()), value.clone())),
            "write" | "w" if parts.len() == 3 => Ok((MicroOp::Write(key.clone(), value.clone()), value.clone())),
            _ => Err(fault(access)),
        }
    };
    accesses.iter().map(read).collect()
}

const TRANSACTION: ArgumentNotation<MultiRegisterOp<Value, Value>> = ArgumentNotation {
    text: "[[f key value]..], where f is read (r) or write (w)",
    read: |call| {
        let accesses = micro_ops(call.record, without_key(call.record)?)?;
        Ok(accesses.into_iter().map(|(access, _)| access).collect())
    },
    write: |op| {
        let shown = |access: &MicroOp<Value, Value>| {
            let (f, key, value) = match access {
                MicroOp::Read(key) => ("read", key, &Value::Null),
                MicroOp::Write(key, value) => ("write", key, value),
            };
            [Value::from(f), key.clone(), value.clone()].into_iter().collect()
        };
        (None, op.0.iter().map(shown).collect())
    },
};

const VALUES_READ: ResultNotation<MultiRegisterRet<Value>> = ResultNotation {
    text: "the same list with the values that were read",
    read: |returned| {
        let (record, result) = (returned.record, returned.result);
        let is_read = |access: &MicroOp<Value, Value>| matches!(access, MicroOp::Read(_));
        let called = micro_ops(record, &record.value)?;
        let called = called.iter().map(|(access, _)| access);
        if result.is_null() && !called.clone().any(is_read) {
            return Ok([].into_iter().collect());
        }
        let accesses = micro_ops(record, result)?;
        if !accesses.iter().map(|(access, _)| access).eq(called) {
            return Err(format!(
                "`{}` returned {}, but must return its own list {} with the values that it read filled in; log that list as the `result` of the return",
                record.f,
                brief(result),
                brief(&record.value)
            ));
        }
        Ok(accesses.into_iter().filter(|(access, _)| is_read(access)).map(|(_, value)| value).collect())
    },
    show: |ret| if ret.0.is_empty() { DONE.to_owned() } else { Value::List(ret.0).to_string() },
};

/// Returns the argument of a transaction, with each null replaced by the value that the transaction
/// read.
fn filled_in(record: &Record, ret: &MultiRegisterRet<Value>) -> Value {
    let mut read = ret.0.iter();
    let Value::List(accesses) = &record.value else { return Value::Null };
    let filled = accesses.iter().map(|access| match access {
        Value::List(parts) => match parts.as_ref() {
            [f, key, Value::Null] => {
                [f.clone(), key.clone(), read.next().cloned().unwrap_or_default()].into_iter().collect()
            }
            _ => access.clone(),
        },
        _ => access.clone(),
    });
    filled.collect()
}

operations! {
    MultiRegister<Value, Value>: MultiRegisterOp<Value, Value>, MultiRegisterRet<Value>, write_ret: filled_in;
    "txn" ["transaction"] TRANSACTION(op) [op] -> VALUES_READ(ret) [ret];
}

fn index(record: &Record, key: &Value) -> Result<usize, String> {
    key.as_int().and_then(|index| usize::try_from(index).ok()).ok_or_else(|| {
        format!(
            "`{}` has the index {}, which must be a number that is not negative; give it in the field `key` or in `value`, or use the spec `map`",
            record.f,
            brief(key)
        )
    })
}

const INDEX: ArgumentNotation<usize> = ArgumentNotation {
    text: "the index, unless the field `key` has it",
    read: |call| index(call.record, &key_and_rest(call.record, true)?.0),
    write: |index| (INDEX_VALUE.write)((index, Value::Null)),
};

const INDEX_VALUE: ArgumentNotation<(usize, Value)> = ArgumentNotation {
    text: "[index value], or the value if the field `key` has the index",
    read: |call| {
        let (key, value) = key_and_rest(call.record, false)?;
        Ok((index(call.record, &key)?, value))
    },
    // The index was read from an `i64`, so it fits in an `i64`.
    write: |(index, value)| (Some(Value::Int(i64::try_from(index).unwrap_or(i64::MAX))), value),
};

/// The value at an index.
const AT_INDEX: ResultNotation<Value> =
    ResultNotation { read: |returned| Ok(without_pair(returned, true).clone()), ..VALUE };

operations! {
    Array<Value>: ArrayOp<Value>, ArrayRet<Value>;
    "read" ["r", "get", "load"] INDEX(index) [ArrayOp::Read(index)] -> AT_INDEX(value) [ArrayRet::Value(value)];
    "write" ["w", "put", "set", "store"]
        INDEX_VALUE(index, value) [ArrayOp::Write(index, value)] -> IGNORED() [ArrayRet::Done];
}

operations! {
    OnceCell<Value>: OnceCellOp<Value>, OnceCellRet<Value>;
    "set" ["init", "write", "put", "store"]
        ELEMENT "the value" (value) [OnceCellOp::Set(value)]
        -> WHETHER "true if it was stored" (stored) [OnceCellRet::Stored(stored)];
    "get" ["read", "load"]
        NOTHING() [OnceCellOp::Get]
        -> OR_EMPTY "the value, or null if the cell is empty" (value) [OnceCellRet::Value(value)];
    "get-or-init" ["get-or-set", "get-or-insert"]
        ELEMENT "the value" (value) [OnceCellOp::GetOrInit(value)]
        -> OR_EMPTY "the resulting value" (value) [OnceCellRet::Value(value)];
}
