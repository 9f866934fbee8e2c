//! Reads JSON files that do not have one record on each line: an array of records, or documents that contain lists of
//! records.
//!
//! The items of a list are read one at a time, so only one of them is in memory.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::field::Names;
use super::json::{Node, NodeSeed, Object, syntax_message};
use super::lines::{Lines, without_byte_order_mark};
use super::{CodecError, DEEPEST_NESTING};

/// Skips whitespace. Returns the first byte after it, and the number of lines that were skipped.
pub(super) fn first_byte(input: &mut impl BufRead) -> Result<(Option<u8>, u32), CodecError> {
    let mut lines = 0;
    let mut is_start = true;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CodecError::io(lines, error)),
        };
        let rest = if is_start { without_byte_order_mark(buffer) } else { buffer };
        let mark = buffer.len() - rest.len();
        let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let first = rest.get(space).copied();
        let newlines = rest[..space].iter().filter(|byte| **byte == b'\n').count();
        lines = u32::try_from(newlines).ok().and_then(|more| lines.checked_add(more)).ok_or_else(too_many)?;
        if buffer.is_empty() || first.is_some() {
            // Leave a byte order mark in the input here, because the reader of lines skips it.
            if mark > 0 && first != Some(b'[') {
                return Ok((first, 0));
            }
            input.consume(mark + space);
            return Ok((first, lines));
        }
        is_start = false;
        let length = buffer.len();
        input.consume(length);
    }
}

/// Calls `visit` for each object of a file. The file is an array of objects, or has one object on each line. In the
/// second case, `read` parses the lines.
pub(super) fn each_object(
    mut input: impl BufRead,
    what: &'static str,
    read: fn(&str, &mut Names) -> Result<Object, serde_json::Error>,
    visit: &mut dyn FnMut(u32, Object) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let mut names = Names::default();
    let (start, passed) = first_byte(&mut input)?;
    if start == Some(b'[') {
        let found = each_item(input, passed, &[], &mut names, &mut |line, node| match node {
            Node::Object(object) => visit(line, object),
            _ => Err(CodecError::at(line, "an item of the array is not an object; write objects only")),
        });
        return found.map(drop);
    }
    let mut lines = Lines::from_line(input, what, passed);
    let mut buffer = Vec::new();
    while let Some((number, line)) = lines.next(&mut buffer)? {
        let object = read(line, &mut names)
            .map_err(|error| CodecError::at(number, syntax_message(&error, line, lines.at_end())))?;
        visit(number, object)?;
    }
    Ok(())
}

fn too_many() -> CodecError {
    CodecError::whole_file("too many lines; split the file")
}

/// Reads every item of the list at the path `way` (the names of nested fields) in each document of
/// the file. Returns whether any document has this list. `passed` is the number of lines that have
/// already been read.
pub(super) fn each_item(
    input: impl BufRead,
    passed: u32,
    way: &[&str],
    names: &mut Names,
    visit: &mut dyn FnMut(u32, Node) -> Result<(), CodecError>,
) -> Result<bool, CodecError> {
    let line = Cell::new(passed + 1);
    let mut input = Counting { input, line: &line };
    let mut items = Items { names, line: &line, visit, fault: None, found: false };
    loop {
        let (first, more) = first_byte(&mut input.input)?;
        line.set(line.get().checked_add(more).ok_or_else(too_many)?);
        if first.is_none() {
            return Ok(items.found);
        }
        let start = line.get();
        let mut deserializer = serde_json::Deserializer::from_reader(&mut input);
        let read = Walk { way, items: &mut items }.deserialize(&mut deserializer);
        if let Some(fault) = items.fault.take() {
            return Err(fault);
        }
        if let Err(error) = read {
            // serde_json counts lines from the beginning of its input, which is not the beginning
            // of the file.
            let at = start.saturating_add(u32::try_from(error.line()).unwrap_or(1).saturating_sub(1));
            return Err(explained(error, at));
        }
    }
}

fn explained(error: serde_json::Error, line: u32) -> CodecError {
    let message = error.to_string();
    let message = message.rfind(" at line ").map_or(message.as_str(), |end| &message[..end]);
    let column = error.column();
    match error.classify() {
        serde_json::error::Category::Io => CodecError::io(line, error.into()),
        serde_json::error::Category::Eof => CodecError::at(
            line,
            format!("the file ends in the middle of a JSON value ({message}); it was cut off: record it again"),
        ),
        serde_json::error::Category::Data => CodecError::at(line, message),
        serde_json::error::Category::Syntax => CodecError::at(
            line,
            format!("this is not JSON ({message} at column {column}); correct it, or record it again"),
        ),
    }
}

/// A reader that counts the lines it has read.
struct Counting<'c, R> {
    input: R,
    line: &'c Cell<u32>,
}

impl<R: BufRead> Read for Counting<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        let lines = buffer[..length].iter().filter(|byte| **byte == b'\n').count();
        self.line.set(self.line.get().saturating_add(u32::try_from(lines).unwrap_or(u32::MAX)));
        Ok(length)
    }
}

struct Items<'i> {
    names: &'i mut Names,
    line: &'i Cell<u32>,
    visit: &'i mut dyn FnMut(u32, Node) -> Result<(), CodecError>,
    /// The error that `visit` returned, which ended the reading.
    fault: Option<CodecError>,
    found: bool,
}

/// A visitor that follows the path `way` to the list, and then visits the items of the list.
struct Walk<'w, 'i> {
    way: &'w [&'w str],
    items: &'w mut Items<'i>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.way.first() {
            Some(name) => write!(f, "an object with `{}`; correct the path to the records", super::field::quoted(name)),
            None => f.write_str("an array of records; correct the path to the records"),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((first, way)) = self.way.split_first() else {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self));
        };
        while let Some(name) = map.next_key::<String>()? {
            if name == **first {
                map.next_value_seed(Walk { way, items: &mut *self.items })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        if !self.way.is_empty() {
            return Err(A::Error::invalid_type(serde::de::Unexpected::Seq, &self));
        }
        self.items.found = true;
        while let Some((line, node)) = list.next_element_seed(Item(&mut *self.items))? {
            if let Err(fault) = (self.items.visit)(line, node) {
                self.items.fault = Some(fault);
                return Err(A::Error::custom("refused"));
            }
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        // A list without items may be written as null.
        Ok(())
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        // serde's message would repeat the whole string, which may be very long.
        Err(E::invalid_type(serde::de::Unexpected::Other("string"), &self))
    }
}

/// Deserializes one item, and returns the item and the line on which it begins.
struct Item<'w, 'i>(&'w mut Items<'i>);

impl<'de> DeserializeSeed<'de> for Item<'_, '_> {
    type Value = (u32, Node);

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(u32, Node), D::Error> {
        let line = self.0.line.get();
        let seed = NodeSeed { names: &mut *self.0.names, depth: DEEPEST_NESTING, lists: true, at: Some(self.0.line) };
        seed.deserialize(deserializer).map(|node| (line, node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str, way: &[&str]) -> Result<(bool, Vec<(u32, u32)>), String> {
        let mut seen = Vec::new();
        let found = each_item(text.as_bytes(), 0, way, &mut Names::default(), &mut |line, node| {
            let Node::Object(object) = node else { return Err(CodecError::at(line, "no object")) };
            seen.push((line, object.line()));
            Ok(())
        });
        found.map(|found| (found, seen)).map_err(|fault| fault.to_string())
    }

    #[test]
    fn items_know_their_lines() {
        assert_eq!(items("[{},\n{\"a\":\n1}\n,\n\n{}]", &[]), Ok((true, vec![(1, 1), (2, 2), (6, 6)])));
        assert_eq!(
            items("{\"x\":5,\"a\":{\"b\":[\n{}]}}\n{\"a\":{\"b\":[{}]}}\n", &["a", "b"]),
            Ok((true, vec![(2, 2), (3, 3)]))
        );
        assert_eq!(items("{\"x\":5}", &["a"]), Ok((false, vec![])));
        assert_eq!(items("", &[]), Ok((false, vec![])));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, way, expected) in [
            ("[{},\n{\"a\":}]", &[][..], "line 2: this is not JSON"),
            ("[{},\n{", &[], "line 2: the file ends in the middle of a JSON value"),
            ("{}\n{}\n{\"a\":5}", &["a"], "line 3: invalid type: integer `5`, expected an array of records"),
            ("{}\n[]", &["a"], "line 2: invalid type: sequence, expected an object with `a`"),
            ("[\n5]", &[], "line 2: no object"),
            (&format!("[{}", "[".repeat(100_000)), &[], "line 1: "),
        ] {
            let fault = items(text, way).expect_err(text);
            assert!(fault.contains(expected), "{fault}");
        }
    }
}
