//! Maps.

use super::{
    DONE, Written, brief, done, element_or_empty, key_and_rest, keyed, not_in_table, old_and_new, pair, record,
    show_option, size, swapped, untupled,
};
use crate::history::{ProcessId, Record, Value};
use crate::spec::persistent::Text;
use crate::spec::{Kv, KvOp, KvRet, Map, MapOp, MapRet};

/// Checks a value that is stored in a map, in which null means absent.
fn present(record: &Record, value: Value) -> Result<Value, String> {
    if value.is_null() {
        return Err(format!(
            "{record} stores null, which means absent in a map; use `delete`, or write a string for it"
        ));
    }
    Ok(value)
}

/// Appends a string to a string, or a value to a list. An absent value counts as "" if a string is appended, and as an
/// empty list otherwise.
pub(super) fn append(old: Option<&Value>, end: &Value) -> Option<Value> {
    match (old, end) {
        (None, Value::Text(_)) => Some(end.clone()),
        (Some(Value::Text(old)), Value::Text(end)) => Some(Value::from(&*[&**old, &**end].concat())),
        (None, _) => Some([end.clone()].into_iter().collect()),
        (Some(Value::List(old)), _) => Some(old.iter().chain([end]).cloned().collect()),
        (Some(_), _) => None,
    }
}

impl Written for Map<Value, Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let only_key = || key_and_rest(record, true).map(|(key, _)| key);
        let key_and_value = || {
            let (key, value) = key_and_rest(record, false)?;
            Ok::<_, String>((key, present(record, value)?))
        };
        Ok(match name {
            "get" => MapOp::Get(only_key()?),
            "put" => {
                let (key, value) = key_and_value()?;
                MapOp::Put(key, value)
            }
            "append" => {
                let (key, value) = key_and_value()?;
                MapOp::Append(key, value)
            }
            "delete" => MapOp::Delete(only_key()?),
            "get-or-insert" => {
                let (key, value) = key_and_value()?;
                MapOp::GetOrInsert(key, value)
            }
            "cas" => {
                let (key, expected, new) = match (&record.key, &record.value) {
                    (None, Value::List(values)) if values.len() == 3 => {
                        (values[0].clone(), values[1].clone(), values[2].clone())
                    }
                    _ => {
                        let (key, rest) = key_and_rest(record, false)?;
                        let (expected, new) = old_and_new(record, &rest)?;
                        (key, expected, new)
                    }
                };
                MapOp::Cas { key, expected: element_or_empty(&expected), new: present(record, new)? }
            }
            "insert" => {
                let (key, value) = key_and_value()?;
                MapOp::Insert(key, value)
            }
            "remove" => MapOp::Remove(only_key()?),
            "size" => MapOp::Size,
            "clear" => MapOp::Clear,
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            MapOp::Get(key) | MapOp::GetOrInsert(key, _) | MapOp::Insert(key, _) | MapOp::Remove(key) => {
                MapRet::Value(element_or_empty(untupled(record, key, result)))
            }
            MapOp::Put(..) | MapOp::Append(..) | MapOp::Delete(_) | MapOp::Clear => MapRet::Done,
            MapOp::Cas { .. } => MapRet::Swapped(swapped(record, result)?),
            MapOp::Size => MapRet::Size(size(record, result)?),
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            MapOp::Get(key) => keyed("get", key, Value::Null),
            MapOp::Put(key, value) => keyed("put", key, value.clone()),
            MapOp::Append(key, value) => keyed("append", key, value.clone()),
            MapOp::Delete(key) => keyed("delete", key, Value::Null),
            MapOp::GetOrInsert(key, value) => keyed("get-or-insert", key, value.clone()),
            MapOp::Cas { key, expected, new } => {
                keyed("cas", key, pair(expected.as_ref().unwrap_or(&Value::Null), new))
            }
            MapOp::Insert(key, value) => keyed("insert", key, value.clone()),
            MapOp::Remove(key) => keyed("remove", key, Value::Null),
            MapOp::Size => record("size", Value::Null),
            MapOp::Clear => record("clear", Value::Null),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            MapRet::Value(value) => show_option(value.as_ref()),
            MapRet::Done => DONE.to_owned(),
            MapRet::Swapped(swapped) => swapped.to_string(),
            MapRet::Size(size) => size.to_string(),
        }
    }
}

/// Reads a string; `role` names it in errors.
fn text(record: &Record, role: &str, value: &Value) -> Result<Text, String> {
    match value {
        Value::Text(text) => Ok(Text::from(text.clone())),
        other => Err(format!(
            "`{}` has {} for its {role}, but `kv` holds strings, initially \"\"; write a string, or use the spec `map`",
            record.f,
            brief(other)
        )),
    }
}

impl Written for Kv<Value> {
    fn read_op(name: &str, _: Option<ProcessId>, record: &Record) -> Result<Self::Op, String> {
        let key_and_text = || {
            let (key, value) = key_and_rest(record, false)?;
            let text = text(record, "argument", &value)?;
            Ok::<_, String>((key, text))
        };
        Ok(match name {
            "get" => KvOp::Get(key_and_rest(record, true)?.0),
            "put" => {
                let (key, text) = key_and_text()?;
                KvOp::Put(key, text)
            }
            "append" => {
                let (key, text) = key_and_text()?;
                KvOp::Append(key, text)
            }
            name => not_in_table(name),
        })
    }

    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String> {
        Ok(match op {
            KvOp::Get(key) => KvRet::Value(text(record, "result", untupled(record, key, result))?),
            KvOp::Put(..) | KvOp::Append(..) => {
                done(record, result)?;
                KvRet::Done
            }
        })
    }

    fn show_op(op: &Self::Op) -> Record {
        match op {
            KvOp::Get(key) => keyed("get", key, Value::Null),
            KvOp::Put(key, text) => keyed("put", key, Value::from(&*text.to_string())),
            KvOp::Append(key, text) => keyed("append", key, Value::from(&*text.to_string())),
        }
    }

    fn show_ret(ret: &Self::Ret) -> String {
        match ret {
            KvRet::Value(text) => Value::from(&*text.to_string()).to_string(),
            KvRet::Done => DONE.to_owned(),
        }
    }
}
