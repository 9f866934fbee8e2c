//! Lines of JSON, read into values of histories.
//!
//! The parser is serde_json's, read straight into our types: a tree of generic JSON in between would cost more than
//! the reading, and would forget repeated keys and the difference of 1 and 1.0.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::super::Value;
use super::DEEPEST_NESTING;
use super::field::{Names, Parsed, Unfit};

/// What is wrong with a line that is no JSON object, and what to do about it.
pub(super) fn syntax_message(error: &serde_json::Error, line: &str, last: bool) -> String {
    let message = error.to_string();
    // serde_json counts lines within what it was given, which is always one line.
    let message = message.rfind(" at line ").map_or(message.as_str(), |end| &message[..end]);
    let column = error.column();
    match error.classify() {
        serde_json::error::Category::Eof if last => {
            format!("the file ends inside this line ({message}); it was cut off: record it again, or delete the line")
        }
        serde_json::error::Category::Eof => {
            format!("the line ends too early ({message}); write each JSON object on a single line")
        }
        serde_json::error::Category::Data => message.to_owned(),
        _ if message == "trailing characters" => {
            format!("there is more after the JSON object, at column {column}; write one object on each line")
        }
        _ if line.starts_with("{:") => {
            format!("this looks like EDN, not JSON ({message} at column {column}); read it as format `jepsen`")
        }
        _ => format!("this is not JSON ({message} at column {column}); write one JSON object on each line"),
    }
}

/// What to say of a line that is a list.
pub(super) const LIST: &str = "the line is a JSON list, not an object; write one object on each line, without a list around them (`jq -c '.[]'` does that)";

pub(super) fn twice<E: serde::de::Error>(name: &str) -> E {
    E::custom(format!("the key {name:?} is there twice; keep one of them"))
}

/// Reads a value, in lists no deeper than `depth`.
pub(super) struct ValueSeed<'n> {
    names: &'n mut Names,
    depth: usize,
}

impl<'n> ValueSeed<'n> {
    pub(super) fn new(names: &'n mut Names) -> Self {
        Self { names, depth: DEEPEST_NESTING }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Parsed;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Parsed, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Parsed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Parsed, E> {
        Ok(Ok(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Parsed, E> {
        Ok(Ok(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Parsed, E> {
        Ok(Ok(Value::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Parsed, E> {
        Ok(i64::try_from(value).map(Value::Int).map_err(|_| Unfit::Big(value as f64)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Parsed, E> {
        // serde_json gives integers beyond 64 bits as floats.
        let big = value.abs() >= 9_223_372_036_854_775_808.0;
        Ok(Err(if big { Unfit::Big(value) } else { Unfit::Fraction(value) }))
    }

    fn visit_str<E>(self, value: &str) -> Result<Parsed, E> {
        Ok(Ok(Value::Text(self.names.get(value))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parsed, A::Error> {
        let mut values = Vec::new();
        let mut unfit = if self.depth == 0 { Some(Unfit::Deep) } else { None };
        while unfit.is_none() {
            match list.next_element_seed(ValueSeed { names: &mut *self.names, depth: self.depth - 1 })? {
                Some(Ok(value)) => values.push(value),
                Some(Err(why)) => unfit = Some(why),
                None => return Ok(Ok(Value::List(values.into()))),
            }
        }
        // serde_json passes over what is ignored without recursion, however deep it is.
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Err(unfit.expect("the loop ends with it")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parsed, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Err(Unfit::Object))
    }
}
