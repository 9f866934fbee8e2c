//! Reads the fields of a file, and writes messages about errors in them. This module does not
//! depend on the syntax of the file.

use std::sync::Arc;

use super::super::{Record, Value};
use super::DEEPEST_NESTING;

/// The maximum length of strings that are shared, in bytes.
const LONGEST_SHARED: usize = 64;

/// The initial and the maximum number of places in the table of strings.
const REMEMBERED: (usize, usize) = (1 << 6, 1 << 14);

/// A table that shares short strings that occur repeatedly: names of functions, keys, and values that are written and
/// then read.
///
/// Each string has exactly one possible place in the table, which its hash determines. If another
/// string already occupies this place, the new string replaces it. So a lookup takes constant time,
/// and a long file does not fill memory with strings that never occur again.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The places of the table. Their number is a power of two.
    shared: Vec<Option<Arc<str>>>,
    /// The number of strings that were added, or that replaced others, since the table last grew.
    new: usize,
}

impl Names {
    pub(super) fn get(&mut self, text: &str) -> Arc<str> {
        self.share(text.as_bytes(), || text.into())
    }

    /// Returns the shared copy of a text that has only ASCII characters.
    pub(super) fn get_ascii(&mut self, text: &[u8]) -> Arc<str> {
        self.share(text, || String::from_utf8_lossy(text).into())
    }

    #[inline]
    fn share(&mut self, text: &[u8], make: impl FnOnce() -> Arc<str>) -> Arc<str> {
        if text.len() > LONGEST_SHARED {
            return make();
        }
        if self.new >= self.shared.len() {
            self.grow();
        }
        let places = self.shared.len();
        match &mut self.shared[hash(text) % places] {
            Some(name) if is_same(name.as_bytes(), text) => Arc::clone(name),
            other => {
                let name = make();
                *other = Some(Arc::clone(&name));
                self.new += 1;
                name
            }
        }
    }

    /// Makes room for more strings, up to a limit.
    fn grow(&mut self) {
        let (first, most) = REMEMBERED;
        self.new = 0;
        let places = (self.shared.len() * 4).clamp(first, most);
        if places > self.shared.len() {
            let old = std::mem::replace(&mut self.shared, vec![None; places]);
            for name in old.into_iter().flatten() {
                let place = hash(name.as_bytes()) % places;
                self.shared[place] = Some(name);
            }
        }
    }
}

#[inline]
pub(super) fn hash(text: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, (first, last): (u64, u64)| {
        (((hash ^ first).wrapping_mul(FACTOR)).rotate_left(29) ^ last).wrapping_mul(FACTOR).rotate_left(29)
    };
    let length = text.len() as u64;
    let hash = if text.len() <= 16 { mix(length, ends(text)) } else { text.chunks(16).map(ends).fold(length, mix) };
    usize::try_from(hash.wrapping_mul(FACTOR) >> 32).unwrap_or_default()
}

/// Returns whether two strings are equal. Most strings are short. For a short string, this takes less time than calling
/// the comparison function of the standard library.
#[inline]
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    if one.len() <= 16 { ends(one) == ends(other) } else { one == other }
}

/// Returns two numbers: the first bytes and the last bytes of a string. If the string has at most 16 bytes, the two
/// numbers contain all its bytes.
#[inline]
fn ends(text: &[u8]) -> (u64, u64) {
    let four = |bytes: &[u8]| u64::from(u32::from_le_bytes(bytes.try_into().unwrap_or_default()));
    let eight = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    match text {
        [] => (0, 0),
        text if text.len() >= 8 => (eight(&text[..8]), eight(&text[text.len() - 8..])),
        text if text.len() >= 4 => (four(&text[..4]), four(&text[text.len() - 4..])),
        text => {
            let at = |index: usize| u64::from(text[index]);
            (at(0), at(text.len() / 2) << 8 | at(text.len() - 1))
        }
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
    /// Content that only some formats can have, such as bytes that are not text.
    #[cfg(feature = "_columns")]
    Other(&'static str),
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
                format!("`{field}` holds {number}, which does not fit in a 64-bit integer; write it as a string")
            }
            Self::Object => format!("`{field}` holds a JSON object; write it as a list or a string"),
            #[cfg(feature = "_columns")]
            Self::Other(what) => format!("`{field}` holds {what}; write it as a string"),
            Self::Deep => {
                format!("`{field}` is nested deeper than {DEEPEST_NESTING} lists; flatten it, or write it as a string")
            }
        }
    }
}

/// A value, or the reason why the content of a field is not a value. Such content is not always an error: the value of
/// an `info`, or of an event of a nemesis (which injects faults), may be anything. So the caller reads the whole line
/// before it decides whether the content is an error.
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
        #[cfg(feature = "_columns")]
        Err(Unfit::Other(what)) => (*what).to_owned(),
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

/// Returns the text of an annotation: the process name, `f` and `value`. Any of these that is
/// absent is omitted.
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
        Ok(Value::Int(process)) if u32::try_from(*process).is_ok() => {
            Ok(u32::try_from(*process).expect("the pattern guard checks the conversion"))
        }
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

/// Returns the name of an object. If the value is a text, the name is this text. However, a text that looks like a
/// value of another type is quoted, so that `1` and `"1"` are two objects.
pub(super) fn object_name(value: &Value) -> Arc<str> {
    match value {
        Value::Text(name) if !name.starts_with('"') && name.parse::<Value>().is_err() => Arc::clone(name),
        value => value.to_string().into(),
    }
}

/// Returns the value for which [`object_name`] returns `name`. If `name` is neither an integer nor a quoted text, this
/// value is the text `name` itself.
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

/// Reads the field `key`. Null means that there is no key.
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
            "an integer that fits in 64 bits",
            "write the time in whole units, such as nanoseconds",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_memory_and_different_ones_never_do() {
        let mut names = Names::default();
        let mut seen = 0;
        for length in 0..70 {
            for changed in 0..length.max(1) {
                let mut text = vec![b'a'; length];
                if let Some(byte) = text.get_mut(changed) {
                    *byte = b'b';
                }
                let text = String::from_utf8(text).expect("ASCII");
                let (one, other) = (names.get(&text), names.get_ascii(text.as_bytes()));
                assert_eq!((&*one, &*other), (&*text, &*text));
                seen += u32::from(Arc::ptr_eq(&one, &other));
                assert_eq!(is_same(text.as_bytes(), &vec![b'a'; length]), length == 0, "{text}");
            }
        }
        assert!(seen > 2000, "{seen}");
    }
}
