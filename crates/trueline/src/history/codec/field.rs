//! Reads the fields of a file, independent of its syntax, and writes messages about errors in them.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::{Record, Value};
use super::DEEPEST_NESTING;

/// Strings up to this length are interned.
const LONGEST_INTERNED: usize = 64;

/// The maximum number of interned strings; further strings are allocated each time they occur.
const MOST_INTERNED: usize = 1 << 16;

/// Interned short strings: names of functions and values from a small domain occur again and again.
#[derive(Debug, Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    pub(super) fn get(&mut self, text: &str) -> Arc<str> {
        if text.len() > LONGEST_INTERNED {
            return text.into();
        }
        if let Some(name) = self.0.get(text) {
            return Arc::clone(name);
        }
        let name: Arc<str> = text.into();
        if self.0.len() < MOST_INTERNED {
            self.0.insert(Arc::clone(&name));
        }
        name
    }
}

/// Content of a field that cannot be a [`Value`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Unfit {
    Fraction(f64),
    /// An integer of more than 64 bits, with all its digits if they are known.
    Big(Option<Arc<str>>),
    Object,
    Deep,
}

impl Unfit {
    /// Returns a message about the error in `field` and what to do about it.
    pub(super) fn message(self, field: &str) -> String {
        match self {
            Self::Fraction(number) => format!(
                "`{field}` holds {number:?}, but numbers must be integers, so that results compare exactly; write it as a string"
            ),
            Self::Big(digits) => {
                let number = digits.map_or_else(|| "a number".to_owned(), |digits| shorten(digits.to_string()));
                format!("`{field}` holds {number}, which does not fit a 64-bit integer; write it as a string")
            }
            Self::Object => format!("`{field}` holds a JSON object; write it as a list or a string"),
            Self::Deep => {
                format!("`{field}` is nested deeper than {DEEPEST_NESTING} lists; flatten it, or write it as a string")
            }
        }
    }
}

/// A value, or the reason why it is not one. Whether that matters is decided when the whole line is known: the value of
/// an `info` or of a nemesis may be anything.
pub(super) type Parsed = Result<Value, Unfit>;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// Formats the message "`field` must be ..., found ...; do this".
pub(super) fn wrong(field: &str, found: &Parsed, expected: &str, remedy: &str) -> String {
    let found = match found {
        Ok(value) => shorten(value.to_string()),
        Err(Unfit::Fraction(number)) => format!("{number:?}"),
        Err(Unfit::Big(Some(digits))) => shorten(digits.to_string()),
        Err(Unfit::Big(None)) => "a number of more than 64 bits".to_owned(),
        Err(Unfit::Object) => "a JSON object".to_owned(),
        Err(Unfit::Deep) => "deeply nested lists".to_owned(),
    };
    format!("`{field}` must be {expected}, found {found}; {remedy}")
}

/// Shortens text to 40 characters, so that it fits on a line of a terminal.
pub(super) fn shorten(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(40) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Prepares a name from a file for a message: short, and with line breaks and other special characters escaped.
pub(super) fn quoted(name: &str) -> String {
    let brief: String = name.chars().take(41).collect();
    shorten(brief.escape_debug().to_string())
}

pub(super) fn read_kind(kind: &Parsed) -> Result<Kind, String> {
    if let Ok(Value::Text(name)) = kind {
        match name.strip_prefix(':').unwrap_or(name) {
            "invoke" => return Ok(Kind::Invoke),
            "ok" => return Ok(Kind::Ok),
            "fail" => return Ok(Kind::Fail),
            "info" => return Ok(Kind::Info),
            _ => {}
        }
    }
    Err(wrong("type", kind, "invoke, ok, fail or info", "write one of these"))
}

/// Returns the text of an annotation, from the name of its process, its `f` and its `value`, as far as there are any.
pub(super) fn annotation(process: Option<&str>, f: Option<&Parsed>, value: Option<&Parsed>) -> String {
    let plain = |value: &Value| match value {
        Value::Null => None,
        Value::Text(text) => Some(text.to_string()),
        other => Some(other.to_string()),
    };
    let of = |field: Option<&Parsed>| field.and_then(|field| field.as_ref().ok()).and_then(plain);
    let parts: Vec<String> = process.map(str::to_owned).into_iter().chain(of(f)).chain(of(value)).collect();
    parts.join(" ")
}

pub(super) fn read_process(field: &str, process: &Parsed) -> Result<u32, String> {
    match process {
        Ok(Value::Int(process)) if u32::try_from(*process).is_ok() => Ok(u32::try_from(*process).expect("just tried")),
        found => Err(wrong(field, found, &format!("an integer from 0 to {}", u32::MAX), "number the processes")),
    }
}

pub(super) fn read_object(object: Option<&Parsed>) -> Result<Option<Arc<str>>, String> {
    match object {
        None => Ok(None),
        Some(Ok(value @ (Value::Text(_) | Value::Int(_)))) => Ok(Some(object_name(value))),
        Some(found) => Err(wrong("object", found, "a string or an integer", "name the object, or leave it out")),
    }
}

/// Returns the name of an object: a text itself, or in quotes if it could be mistaken for another value. So `1` and
/// `"1"` are two objects.
pub(super) fn object_name(value: &Value) -> Arc<str> {
    match value {
        Value::Text(name) if !name.starts_with('"') && name.parse::<Value>().is_err() => Arc::clone(name),
        value => value.to_string().into(),
    }
}

/// Inverts [`object_name`] for the values that files can have: a name that is neither an integer nor a quoted text
/// represents itself.
pub(super) fn named_object(name: &str) -> Value {
    name.parse().ok().filter(|value| matches!(value, Value::Int(_) | Value::Text(_))).unwrap_or_else(|| name.into())
}

pub(super) fn read_name(f: Option<Parsed>) -> Result<Arc<str>, String> {
    match f {
        Some(Ok(Value::Text(name))) => Ok(name),
        Some(found) => Err(wrong("f", &found, "the name of an operation", "write it as a string, such as \"read\"")),
        None => Err("`f` is missing; name the operation, such as \"f\":\"read\"".to_owned()),
    }
}

pub(super) fn read_value(field: &str, value: Option<Parsed>) -> Result<Value, String> {
    value.unwrap_or(Ok(Value::Null)).map_err(|unfit| unfit.message(field))
}

/// Reads the key. Null means that there is no key.
pub(super) fn read_key(key: Option<Parsed>) -> Result<Option<Value>, String> {
    Ok(key.map(|key| read_value("key", Some(key))).transpose()?.filter(|key| !key.is_null()))
}

pub(super) fn read_record(f: Option<Parsed>, key: Option<Parsed>, value: Option<Parsed>) -> Result<Record, String> {
    let key = read_key(key)?;
    Ok(Record { f: read_name(f)?, key, value: read_value("value", value)? })
}

pub(super) fn read_time(field: &str, time: Option<Parsed>) -> Result<Option<i64>, String> {
    match time {
        None | Some(Ok(Value::Null)) => Ok(None),
        Some(Ok(Value::Int(time))) => Ok(Some(time)),
        Some(found) => Err(wrong(
            field,
            &found,
            "an integer that fits 64 bits",
            "write the time in whole units, such as nanoseconds",
        )),
    }
}
