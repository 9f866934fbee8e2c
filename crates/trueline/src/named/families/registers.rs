//! Registers, alone and by key or index, and cells.

use super::{
    DONE, Written, brief, element, element_or_empty, key_and_rest, not_in_table, old_and_new, pair, record,
    show_option, swapped, untupled, whether, without_key,
};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{
    Array, ArrayOp, ArrayRet, CasRegister, CasRegisterOp, CasRegisterRet, MicroOp, MultiRegister, OnceCell, OnceCellOp,
    OnceCellRet, Register, RegisterOp, RegisterRet,
};

impl Written for Register<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let value = without_key(record)?;
        Ok(match name {
            "read" => RegisterOp::Read,
            "write" => RegisterOp::Write(value.clone()),
            name => not_in_table(name),
        })
    }

    fn read_ret(_: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            RegisterOp::Read => RegisterRet::Value(result.clone()),
            RegisterOp::Write(_) => RegisterRet::Done,
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            RegisterOp::Read => record("read", Value::Null),
            RegisterOp::Write(value) => record("write", value.clone()),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            RegisterRet::Value(value) => value.to_string(),
            RegisterRet::Done => DONE.to_owned(),
        }
    }
}

impl Written for CasRegister<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let value = without_key(record)?;
        Ok(match name {
            "read" => CasRegisterOp::Read,
            "write" => CasRegisterOp::Write(value.clone()),
            "cas" => {
                let (expected, new) = old_and_new(record, value)?;
                CasRegisterOp::Cas { expected, new }
            }
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            CasRegisterOp::Read => CasRegisterRet::Value(result.clone()),
            CasRegisterOp::Write(_) => CasRegisterRet::Done,
            CasRegisterOp::Cas { .. } => CasRegisterRet::Swapped(swapped(record, result)?),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            CasRegisterOp::Read => record("read", Value::Null),
            CasRegisterOp::Write(value) => record("write", value.clone()),
            CasRegisterOp::Cas { expected, new } => record("cas", pair(expected, new)),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            CasRegisterRet::Value(value) => value.to_string(),
            CasRegisterRet::Done => DONE.to_owned(),
            CasRegisterRet::Swapped(swapped) => swapped.to_string(),
        }
    }
}

/// A read or a write, and the value of its list entry: for a read, the value that it returned.
type Access = (MicroOp<Value, Value>, Value);

/// Reads `[[f key value]..]`.
fn micro_ops(record: &Record, list: &Value) -> Result<Vec<Access>, String> {
    let fault = |what: &Value| {
        format!(
            "`{}` has {} where a list of reads and writes must be; write \"value\":[[\"read\",\"x\",null],[\"write\",\"y\",1]]",
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

impl Written for MultiRegister<Value, Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let value = without_key(record)?;
        match name {
            "txn" => Ok(micro_ops(record, value)?.into_iter().map(|(access, _)| access).collect()),
            name => not_in_table(name),
        }
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        let is_read = |access: &MicroOp<Value, Value>| matches!(access, MicroOp::Read(_));
        if result.is_null() && !op.0.iter().any(is_read) {
            return Ok([].into_iter().collect());
        }
        let accesses = micro_ops(record, result)?;
        if !accesses.iter().map(|(access, _)| access).eq(op.0.iter()) {
            return Err(format!(
                "`{}` returned {}, but must return its own list {} with the values that it read filled in; give that as the `result` of the return",
                record.f,
                brief(result),
                brief(&record.value)
            ));
        }
        Ok(accesses.into_iter().filter(|(access, _)| is_read(access)).map(|(_, value)| value).collect())
    }

    fn show_op(op: &Self::Op) -> Record {
        let shown = |access: &MicroOp<Value, Value>| {
            let (f, key, value) = match access {
                MicroOp::Read(key) => ("read", key, &Value::Null),
                MicroOp::Write(key, value) => ("write", key, value),
            };
            [Value::from(f), key.clone(), value.clone()].into_iter().collect()
        };
        record("txn", op.0.iter().map(shown).collect())
    }

    fn show_ret(ret: &Self::Ret) -> String {
        if ret.0.is_empty() { DONE.to_owned() } else { Value::List(ret.0.clone()).to_string() }
    }

    fn write_ret(record: &Record, ret: &Self::Ret) -> Value {
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

impl Written for Array<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        Ok(match name {
            "read" => ArrayOp::Read(index(record, &key_and_rest(record, true)?.0)?),
            "write" => {
                let (key, value) = key_and_rest(record, false)?;
                ArrayOp::Write(index(record, &key)?, value)
            }
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            ArrayOp::Read(_) => ArrayRet::Value(untupled(record, &key_and_rest(record, true)?.0, result).clone()),
            ArrayOp::Write(..) => ArrayRet::Done,
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        let (f, index, value) = match op {
            ArrayOp::Read(index) => ("read", *index, Value::Null),
            ArrayOp::Write(index, value) => ("write", *index, value.clone()),
        };
        // The index was read from an integer that fits.
        Record { f: f.into(), key: Some(Value::Int(i64::try_from(index).unwrap_or(i64::MAX))), value }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            ArrayRet::Value(value) => value.to_string(),
            ArrayRet::Done => DONE.to_owned(),
        }
    }
}

impl Written for OnceCell<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        without_key(record)?;
        Ok(match name {
            "set" => OnceCellOp::Set(element(record)?),
            "get" => OnceCellOp::Get,
            "get-or-init" => OnceCellOp::GetOrInit(element(record)?),
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            OnceCellOp::Set(_) => OnceCellRet::Stored(whether(record, result)?),
            OnceCellOp::Get | OnceCellOp::GetOrInit(_) => OnceCellRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            OnceCellOp::Set(value) => record("set", value.clone()),
            OnceCellOp::Get => record("get", Value::Null),
            OnceCellOp::GetOrInit(value) => record("get-or-init", value.clone()),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            OnceCellRet::Stored(stored) => stored.to_string(),
            OnceCellRet::Value(value) => show_option(value.as_ref()),
        }
    }
}
