//! Values and operations as files give them.

use std::fmt;
use std::str::{Chars, FromStr};
use std::sync::Arc;

use super::visible::is_hostile;

/// A value in a recorded history. Both JSON and EDN can represent these values.
///
/// Numbers are integers, because the comparison of results must be exact.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// `null` in JSON, `nil` in EDN.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Value]>),
}

impl Value {
    /// Returns whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns the integer, if the value is an integer.
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(int) = self { Some(*int) } else { None }
    }

    /// Returns the kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.into())
    }
}

impl<V: Into<Value>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Self::List(values.into_iter().collect())
    }
}

/// Formats the value as JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Int(value) => value.fmt(f),
            Self::Text(value) => write_string(f, value),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        f.write_str(",")?;
                    }
                    value.fmt(f)?;
                }
                f.write_str("]")
            }
        }
    }
}

/// Also formats the value as JSON, because reports print states in their `Debug` format, and states
/// may contain values.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn write_string(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    let mut before = None;
    for (at, c) in text.char_indices() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if is_hostile(before, &text[at..]) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(f, "\\u{unit:04x}")?;
                }
            }
            c => write!(f, "{c}")?,
        }
        before = Some(c);
    }
    f.write_str("\"")
}

/// Parses the format that [`Display`](fmt::Display) writes.
///
/// ```
/// use trueline::history::Value;
///
/// let value: Value = r#"[1, "two", null]"#.parse().unwrap();
/// assert_eq!(value.to_string(), r#"[1,"two",null]"#);
/// ```
impl FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text.chars();
        let value = read_value(&mut rest, MOST_NESTED);
        value
            .filter(|_| rest.as_str().trim().is_empty())
            .ok_or_else(|| format!("`{text}` is not a value; write it as in JSON, without fractions"))
    }
}

/// The maximum nesting depth of lists in parsed values.
const MOST_NESTED: u32 = 64;

fn read_value(rest: &mut Chars<'_>, depth: u32) -> Option<Value> {
    *rest = rest.as_str().trim_start().chars();
    let text = rest.as_str();
    match text.chars().next()? {
        '"' => {
            rest.next();
            read_string(rest).map(|text| Value::Text(text.into()))
        }
        '[' => {
            rest.next();
            let mut values = Vec::new();
            loop {
                *rest = rest.as_str().trim_start().chars();
                if values.is_empty() && rest.as_str().starts_with(']') {
                    rest.next();
                    break;
                }
                values.push(read_value(rest, depth.checked_sub(1)?)?);
                *rest = rest.as_str().trim_start().chars();
                match rest.next()? {
                    ',' => {}
                    ']' => break,
                    _ => return None,
                }
            }
            Some(Value::List(values.into()))
        }
        _ => {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(text.len());
            *rest = text[end..].chars();
            match &text[..end] {
                "null" => Some(Value::Null),
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                number => number.parse().ok().map(Value::Int),
            }
        }
    }
}

/// Reads the rest of a string, after its opening quotation mark.
fn read_string(rest: &mut Chars<'_>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(match rest.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let mut units = vec![read_unit(rest)?];
                    if matches!(units[0], 0xd800..0xdc00) {
                        *rest = rest.as_str().strip_prefix("\\u")?.chars();
                        units.push(read_unit(rest)?);
                    }
                    char::decode_utf16(units).next()?.ok()?
                }
                c @ ('"' | '\\' | '/') => c,
                _ => return None,
            }),
            c => text.push(c),
        }
    }
}

/// Reads the four hexadecimal digits of an escape.
fn read_unit(rest: &mut Chars<'_>) -> Option<u16> {
    let (digits, behind) = rest.as_str().split_at_checked(4)?;
    *rest = behind.chars();
    u16::from_str_radix(digits, 16).ok()
}

/// An operation as a file gives it: the name of a function, an optional key, and an argument.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// The name of the function, such as `enqueue`.
    pub f: Arc<str>,
    /// The key that the operation concerns, if the file gives it separately from the argument.
    pub key: Option<Value>,
    /// The argument.
    pub value: Value,
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.f)?;
        if let Some(key) = &self.key {
            write!(f, "{key}")?;
            if !self.value.is_null() {
                f.write_str(", ")?;
            }
        }
        if !self.value.is_null() {
            write!(f, "{}", self.value)?;
        }
        f.write_str(")")
    }
}

/// An operation as reports display it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// The operation as a file gives it, or as a test calls it.
    Record(Record),
    /// The description of the operation by the specification.
    Text(String),
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(record) => record.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let text = Value::from("quo\"te \\ line\n tab\t bell\u{7} \u{1f980} \u{202e}\u{e0041}");
        let list: Value = [Value::Null, true.into(), (-7).into(), text, Value::List([].into())].into_iter().collect();
        for value in [Value::List([list.clone(), list].into()), i64::MIN.into(), "".into()] {
            assert_eq!(value.to_string().parse(), Ok(value));
        }
        for bad in ["", "[", "[1", "[1,]", "1 2", "nul", "1.5", "\"open", "\"\\u12", "\"\\x\"", "--1"] {
            assert!(bad.parse::<Value>().is_err(), "{bad}");
        }
        assert!("[".repeat(100_000).parse::<Value>().is_err(), "parsing does not overflow the stack");
    }
}
