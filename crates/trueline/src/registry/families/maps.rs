//! Maps.

use super::notation::{
    ArgumentNotation, IGNORED, KEY, KEY_VALUE_TEXT, NOTHING_AT_ANY_KEY, OR_EMPTY, ResultNotation, SIZE, SUCCESS,
    SWAPPED, brief, element_or_empty, key_and_rest, old_and_new, operations, pair, without_pair,
};
use crate::history::{Record, Value};
use crate::spec::persistent::Text;
use crate::spec::{Kv, KvOp, KvRet, Map, MapOp, MapRet};

/// Returns an error if the value to store in a map is null, because null means that the key is
/// absent.
fn present(record: &Record, value: Value) -> Result<Value, String> {
    if value.is_null() {
        return Err(format!(
            "{record} stores null, which means absent in a map; call `delete` to remove the key, or store a string \
             instead of null"
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

/// A key and the value to store.
const KEY_VALUE: ArgumentNotation<(Value, Value)> = ArgumentNotation {
    text: KEY_VALUE_TEXT,
    read: |call| {
        let (key, value) = key_and_rest(call.record, false)?;
        Ok((key, present(call.record, value)?))
    },
    write: |(key, value)| (Some(key), value),
};

/// A key, the expected value (`None` if the key must be absent) and the new value.
const KEY_OLD_NEW: ArgumentNotation<(Value, Option<Value>, Value)> = ArgumentNotation {
    text: "[key [old new]] or [key old new], or [old new] with the field `key`; null as old means absent",
    read: |call| {
        let (key, expected, new) = match (&call.record.key, &call.record.value) {
            (None, Value::List(values)) if values.len() == 3 => {
                (values[0].clone(), values[1].clone(), values[2].clone())
            }
            _ => {
                let (key, rest) = key_and_rest(call.record, false)?;
                let (expected, new) = old_and_new(call.record, &rest)?;
                (key, expected, new)
            }
        };
        Ok((key, element_or_empty(&expected), present(call.record, new)?))
    },
    write: |(key, expected, new)| (Some(key), pair(expected.unwrap_or(Value::Null), new)),
};

/// The value of a key, as the result of a call whose argument is only the key.
const AT_KEY: ResultNotation<Option<Value>> = ResultNotation {
    text: "the value, or null if absent",
    read: |returned| Ok(element_or_empty(without_pair(returned, true))),
    ..OR_EMPTY
};

/// The value of a key, as the result of a call whose argument is the key and a value.
const AT_KEY_OF_PAIR: ResultNotation<Option<Value>> =
    ResultNotation { read: |returned| Ok(element_or_empty(without_pair(returned, false))), ..OR_EMPTY };

operations! {
    Map<Value, Value>: MapOp<Value, Value>, MapRet<Value>;
    "get" ["read", "lookup"] KEY(key) [MapOp::Get(key)] -> AT_KEY(value) [MapRet::Value(value)];
    "put" ["write", "set", "store"] KEY_VALUE(key, value) [MapOp::Put(key, value)] -> IGNORED() [MapRet::Done];
    "append" ["concat"]
        KEY_VALUE "[key value], or only the value if the field `key` gives the key; the value is a string to add to a string, or an element to add to a list"
        (key, value) [MapOp::Append(key, value)] -> IGNORED() [MapRet::Done];
    "delete" ["del"] KEY(key) [MapOp::Delete(key)] -> IGNORED() [MapRet::Done];
    "get-or-insert" ["get-or-put", "get-or-else-update"]
        KEY_VALUE(key, value) [MapOp::GetOrInsert(key, value)]
        -> AT_KEY_OF_PAIR "the resulting value" (value) [MapRet::Value(value)];
    "cas" ["compare-and-set", "compare-and-swap", "compare-exchange"]
        KEY_OLD_NEW(key, expected, new) [MapOp::Cas { key, expected, new }]
        -> SWAPPED "true or false; returning the argument means true" (swapped) [MapRet::Swapped(swapped)];
    "insert" ["replace"]
        KEY_VALUE(key, value) [MapOp::Insert(key, value)]
        -> AT_KEY_OF_PAIR "the previous value, or null" (value) [MapRet::Value(value)];
    "remove" ["take"]
        KEY(key) [MapOp::Remove(key)] -> AT_KEY "the previous value, or null" (value) [MapRet::Value(value)];
    "size" ["len", "count"]
        NOTHING_AT_ANY_KEY() [MapOp::Size] -> SIZE "the number of keys" (size) [MapRet::Size(size)];
    "clear" [] NOTHING_AT_ANY_KEY() [MapOp::Clear] -> IGNORED() [MapRet::Done];
}

/// Reads a string. In error messages, `role` says what the string is, such as the argument or the
/// result.
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

/// A key and the string to store.
const KEY_TEXT: ArgumentNotation<(Value, Text)> = ArgumentNotation {
    text: KEY_VALUE_TEXT,
    read: |call| {
        let (key, value) = key_and_rest(call.record, false)?;
        Ok((key, text(call.record, "argument", &value)?))
    },
    write: |(key, text)| (Some(key), Value::from(&*text.to_string())),
};

const TEXT: ResultNotation<Text> = ResultNotation {
    text: "the string",
    read: |returned| text(returned.record, "result", without_pair(returned, true)),
    show: |text| Value::from(&*text.to_string()).to_string(),
};

operations! {
    Kv<Value>: KvOp<Value>, KvRet;
    "get" ["read"] KEY(key) [KvOp::Get(key)] -> TEXT(text) [KvRet::Value(text)];
    "put" ["write", "set"] KEY_TEXT(key, text) [KvOp::Put(key, text)] -> SUCCESS() [KvRet::Done];
    "append" [] KEY_TEXT(key, text) [KvOp::Append(key, text)] -> SUCCESS() [KvRet::Done];
}
