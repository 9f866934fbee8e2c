//! Reads JSON lines one by one, while they are being written. Lines have the form that [`jsonl`](super::jsonl)
//! describes.
//!
//! Most lines have the same simple form, which this module parses itself. All other lines,
//! including invalid ones, are parsed by [`json`](super::json).

use std::collections::HashMap;
use std::sync::Arc;

use super::super::{ProcessId, Record, Value};
use super::field::{
    Kind, Names, Unfit, read_kind, read_name, read_object, read_process, read_record, read_time, read_value, wrong,
};
use super::fields::Fields;
use super::json::{self, syntax_message};
use super::tuples::{split_call, split_result};
use super::{CodecError, LONGEST_LINE, Tuples};

/// A line of a history that is still being written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum LiveLine {
    /// A line that is ignored: a blank line, a note, or an event of a nemesis.
    Nothing,
    /// A call.
    Call {
        /// The process that makes the call.
        process: ProcessId,
        /// The number of the object, in the order in which objects are first named.
        object: u32,
        /// The operation.
        record: Record,
    },
    /// The end of the open operation of a process.
    End {
        /// The process.
        process: ProcessId,
        /// How the operation ended.
        end: LiveEnd,
    },
    /// A whole operation.
    Operation {
        /// The process that called the operation.
        process: ProcessId,
        /// The number of the object.
        object: u32,
        /// The operation.
        record: Record,
        /// The time of the call.
        call: i64,
        /// The time and the result of the return; `None` if the operation never returned.
        ret: Option<(i64, Value)>,
    },
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum LiveEnd {
    /// The operation returned this result.
    Ok(Value),
    /// The operation did not take effect.
    Fail,
    /// The outcome of the operation is unknown.
    Info,
}

/// The open operation of a process. Contains only the fields that must be compared with later lines.
#[derive(Debug)]
struct OpenLine {
    f: Arc<str>,
    object: u32,
    /// The key, if values are pairs of key and value.
    key: Option<Value>,
}

/// Reads JSON lines of events or of whole operations, one by one.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct LiveReader {
    tuples: Option<Tuples>,
    names: Names,
    /// The first few distinct names of operations.
    fs: Vec<Arc<str>>,
    lines: u32,
    /// Whether lines name an object, as determined by the first line.
    named: Option<bool>,
    /// Whether lines are events, as determined by the first line.
    is_events: Option<bool>,
    objects: Vec<Arc<str>>,
    object_ids: HashMap<Arc<str>, u32>,
    open: HashMap<u32, OpenLine>,
}

impl LiveReader {
    /// Creates a reader. If `tuples` is given, the values in the lines are pairs of key and value.
    pub fn new(tuples: Option<Tuples>) -> Self {
        Self { tuples, ..Self::default() }
    }

    /// Returns the number of lines that have been read.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// Returns the name of an object; `None` if objects have no names.
    pub fn object_name(&self, object: u32) -> Option<&str> {
        self.objects.get(object as usize).map(|name| &**name)
    }

    /// Reads the next line. `is_last` is true if the input ends with this line.
    ///
    /// # Errors
    /// Returns an error if the line is not valid, or contradicts an earlier line.
    pub fn line(&mut self, line: &[u8], is_last: bool) -> Result<LiveLine, CodecError> {
        let number = self
            .lines
            .checked_add(1)
            .ok_or_else(|| CodecError::at(u32::MAX, "too many lines; continue in a new file"))?;
        self.lines = number;
        let line = if number == 1 { super::lines::without_byte_order_mark(line) } else { line };
        let at = |message: String| CodecError::at(number, message);
        if line.len() > LONGEST_LINE {
            return Err(at(too_long()));
        }
        let text = std::str::from_utf8(line).ok().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| at(super::lines::not_text("JSON lines")))?.trim_ascii();
        if text.is_empty() {
            return Ok(LiveLine::Nothing);
        }
        let fields = match self.simple(text) {
            Some(fields) => fields,
            None => {
                let object = json::object(text, &mut self.names);
                let object = object.map_err(|error| at(syntax_message(&error, text, is_last)))?;
                Fields::of(object)
            }
        };
        self.read(fields).map_err(at)
    }

    /// Reads the fields of a line.
    fn read(&mut self, mut fields: Fields) -> Result<LiveLine, String> {
        if matches!(&fields.kind, Some(Ok(Value::Text(kind))) if &**kind == "note") {
            return Ok(LiveLine::Nothing);
        }
        let is_event = match (&fields.kind, &fields.call) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(_), Some(_)) => {
                return Err("the line has both `type` and `call`; give `type` for an event, or `call` and `return` for a whole operation".to_owned());
            }
            (None, None) => {
                return Err("the line has neither `type` nor `call`; give `type` (invoke, ok, fail, info) for an event, or `call` and `return` for a whole operation".to_owned());
            }
        };
        match &fields.time {
            None | Some(Ok(Value::Null | Value::Int(_)) | Err(Unfit::Fraction(_) | Unfit::Big(_))) => {}
            Some(time) => return Err(wrong("time", time, "a number or null", "leave it out if the time is unknown")),
        }
        let kind = fields.kind.take().map(|kind| read_kind(&kind)).transpose()?;
        let process = match &fields.process {
            // The actions of Jepsen's nemesis are not operations.
            Some(Ok(Value::Text(_))) if kind == Some(Kind::Info) => return Ok(LiveLine::Nothing),
            Some(process) => read_process("process", process)?,
            None => {
                return Err("`process` is missing; name the process that called, such as \"process\":0".to_owned());
            }
        };
        let object = read_object(fields.object.as_ref())?;
        match (object.is_some(), *self.named.get_or_insert(object.is_some())) {
            (true, false) => {
                return Err("this line names an `object`, but earlier lines do not; name it on every line or on none"
                    .to_owned());
            }
            (false, true) => {
                return Err(
                    "this line names no `object`, but earlier lines do; name it on every line or on none".to_owned()
                );
            }
            _ => {}
        }
        if *self.is_events.get_or_insert(is_event) != is_event {
            return Err(if is_event {
                "this line is an event (it has `type`), but earlier lines are whole operations (they have `call`); use only one of the two forms in a file".to_owned()
            } else {
                "this line is a whole operation (it has `call`), but earlier lines are events (they have `type`); use only one of the two forms in a file".to_owned()
            });
        }
        let object = object.map(|name| self.object(name));
        match kind {
            Some(kind) => self.event(process, kind, object, fields),
            None => self.operation(process, object, fields),
        }
    }

    fn event(&mut self, process: u32, kind: Kind, object: Option<u32>, fields: Fields) -> Result<LiveLine, String> {
        if kind == Kind::Invoke {
            if self.open.contains_key(&process) {
                return Err(format!(
                    "process {process} makes a call while its earlier call is open; a process does one operation at a time, \
                     so give concurrent operations different processes"
                ));
            }
            let mut record = read_record(fields.f, fields.key, fields.value)?;
            let (object, key) = self.split(&mut record, object)?;
            self.open.insert(process, OpenLine { f: Arc::clone(&record.f), object, key });
            return Ok(LiveLine::Call { process: ProcessId(process), object, record });
        }
        let Some(open) = self.open.get(&process) else {
            return Err(format!("process {process} returns, but has no open call; log its call first"));
        };
        let f = fields.f.map(|f| read_name(Some(f))).transpose()?;
        if let Some(f) = f.filter(|f| *f != open.f) {
            return Err(format!(
                "process {process} returns from `{}`, but its open call is `{}`; a process must return from its last \
                 call",
                super::field::quoted(&f),
                super::field::quoted(&open.f)
            ));
        }
        if object.is_some_and(|object| object != open.object) {
            return Err(format!(
                "process {process} returns from a different `object` than the one it called; name the same object on both lines"
            ));
        }
        read_time("version", fields.version)?;
        let end = match kind {
            Kind::Fail => LiveEnd::Fail,
            Kind::Info => LiveEnd::Info,
            Kind::Ok | Kind::Invoke => {
                let mut result = match fields.result {
                    Some(result) => read_value("result", Some(result))?,
                    None => read_value("value", fields.value)?,
                };
                if let Some(key) = &open.key {
                    split_result(key, &mut result)?;
                }
                LiveEnd::Ok(result)
            }
        };
        self.open.remove(&process);
        Ok(LiveLine::End { process: ProcessId(process), end })
    }

    fn operation(&mut self, process: u32, object: Option<u32>, fields: Fields) -> Result<LiveLine, String> {
        if let Some(id) = &fields.id {
            if !matches!(id, Ok(Value::Int(_))) {
                return Err(wrong("id", id, "an integer", "number the operations, or leave it out"));
            }
        }
        let call = read_time("call", fields.call)?
            .ok_or_else(|| "`call` is null; give the time of the call as an integer".to_owned())?;
        let mut result = read_value("result", fields.result)?;
        let ret = read_time("return", fields.ret)?;
        if ret.is_none() && !result.is_null() {
            return Err(
                "the operation has a `result`, but no `return` time; add the time, or leave out the result if the \
                        operation never returned"
                    .to_owned(),
            );
        }
        if let Some(ret) = ret.filter(|ret| *ret < call) {
            return Err(format!(
                "the operation returns at {ret}, before its call at {call}; check the clock, or swap the two"
            ));
        }
        read_time("version", fields.version)?;
        let mut record = read_record(fields.f, fields.key, fields.value)?;
        let (object, key) = self.split(&mut record, object)?;
        if let (Some(key), Some(_)) = (&key, ret) {
            split_result(key, &mut result)?;
        }
        let ret = ret.map(|ret| (ret, result));
        Ok(LiveLine::Operation { process: ProcessId(process), object, record, call, ret })
    }

    /// If values are pairs of key and value, removes the key from the value of a call. Returns the number of the object
    /// that the operation is called on, and the key if it was removed.
    fn split(&mut self, record: &mut Record, object: Option<u32>) -> Result<(u32, Option<Value>), String> {
        let Some(tuples) = self.tuples else { return Ok((object.unwrap_or(0), None)) };
        let key = split_call(record, object.is_some())?;
        let object = match tuples {
            Tuples::Keys => {
                record.key = Some(key.clone());
                0
            }
            Tuples::Objects => self.object(super::field::object_name(&key)),
        };
        Ok((object, Some(key)))
    }

    /// Returns the number of an object.
    fn object(&mut self, name: Arc<str>) -> u32 {
        if let Some(&object) = self.object_ids.get(&name) {
            return object;
        }
        let object = u32::try_from(self.objects.len()).expect("there are no more objects than lines");
        self.objects.push(Arc::clone(&name));
        self.object_ids.insert(name, object);
        object
    }

    /// Parses a line in which all fields are known and simple. Returns `None` for any other line.
    fn simple(&mut self, line: &str) -> Option<Fields> {
        let mut text = Text { text: line, at: 0 };
        let mut fields = Fields::default();
        text.expect(b'{')?;
        loop {
            text.skip_spaces();
            let name = text.string()?;
            let slot = fields.slot(name).filter(|slot| slot.is_none())?;
            text.skip_spaces();
            text.expect(b':')?;
            text.skip_spaces();
            let value = if name == "f" && text.next()? == b'"' {
                let f = text.string()?;
                Value::Text(recent(&mut self.fs, &mut self.names, f))
            } else {
                text.value(&mut self.names, 4)?
            };
            *slot = Some(Ok(value));
            text.skip_spaces();
            match text.take()? {
                b',' => {}
                b'}' => break,
                _ => return None,
            }
        }
        (text.at == line.len()).then_some(fields)
    }
}

/// The message for a line that is too long.
fn too_long() -> String {
    format!("the line is longer than {} MiB; write one event or operation on each line", LONGEST_LINE >> 20)
}

/// Returns the shared copy of the name of an operation. `fs` contains the first few names, because finding a name there
/// is faster.
fn recent(fs: &mut Vec<Arc<str>>, names: &mut Names, f: &str) -> Arc<str> {
    if let Some(known) = fs.iter().find(|known| ***known == *f) {
        return Arc::clone(known);
    }
    let name = names.get(f);
    if fs.len() < 16 {
        fs.push(Arc::clone(&name));
    }
    name
}

/// A line and the position up to which it is parsed.
struct Text<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Text<'t> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self) -> Option<u8> {
        let byte = self.next()?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.take()? == byte).then_some(())
    }

    fn skip_spaces(&mut self) {
        while self.next().is_some_and(|byte| byte == b' ' || byte == b'\t') {
            self.at += 1;
        }
    }

    /// Reads a string without escapes.
    fn string(&mut self) -> Option<&'t str> {
        self.expect(b'"')?;
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
        if rest[length] != b'"' {
            return None;
        }
        let string = &self.text[self.at..self.at + length];
        self.at += length + 1;
        Some(string)
    }

    /// Reads a value with lists nested at most `depth` deep.
    fn value(&mut self, names: &mut Names, depth: usize) -> Option<Value> {
        match self.next()? {
            b'"' => self.string().map(|string| Value::Text(names.get(string))),
            b'[' if depth > 0 => {
                self.at += 1;
                let mut values = Vec::new();
                self.skip_spaces();
                if self.next()? == b']' {
                    self.at += 1;
                    return Some(Value::List(values.into()));
                }
                loop {
                    self.skip_spaces();
                    values.push(self.value(names, depth - 1)?);
                    self.skip_spaces();
                    match self.take()? {
                        b',' => {}
                        b']' => return Some(Value::List(values.into())),
                        _ => return None,
                    }
                }
            }
            b'-' | b'0'..=b'9' => self.int().map(Value::Int),
            b'n' => self.word("null").then_some(Value::Null),
            b't' => self.word("true").then_some(Value::Bool(true)),
            b'f' => self.word("false").then_some(Value::Bool(false)),
            _ => None,
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let is_it = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        is_it
    }

    /// Reads an integer of at most 18 digits.
    fn int(&mut self) -> Option<i64> {
        let is_negative = self.next()? == b'-';
        self.at += usize::from(is_negative);
        let start = self.at;
        let mut number = 0i64;
        while let Some(byte) = self.next().filter(u8::is_ascii_digit) {
            if self.at - start >= 18 {
                return None;
            }
            number = number * 10 + i64::from(byte - b'0');
            self.at += 1;
        }
        let digits = self.at - start;
        let has_leading_zero = digits > 1 && self.text.as_bytes()[start] == b'0';
        let goes_on = self.next().is_some_and(|byte| matches!(byte, b'.' | b'e' | b'E'));
        // Leave -0 to the module `json`, which reads it as a floating-point number.
        let is_minus_zero = is_negative && number == 0;
        if digits == 0 || has_leading_zero || goes_on || is_minus_zero {
            return None;
        }
        Some(if is_negative { -number } else { number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: [&str; 9] = [
        r#"{"process":0,"type":"invoke","f":"write","key":"x","value":1}"#,
        r#"{ "process" : 1, "type":"invoke","f":"cas","value":[1,[2,null],"a"],"time":12}"#,
        r#"{"process":0,"type":"ok","f":"write","value":-17,"object":5}"#,
        r#"{"process":1,"type":"info","value":true,"result":false,"version":3}"#,
        r#"{"process":2,"f":"read","result":[],"call":10,"return":20,"id":4}"#,
        r#"{"process":2,"f":"écrire","value":123456789012345678,"call":-0,"return":1.5}"#,
        r#"{"process":2,"f":"a\n","value":1234567890123456789,"call":01}"#,
        r#"{"process":2,"process":2,"other":{"a":[1]}}"#,
        r#"{"process":2,"value":[[[[[[1]]]]]],"key":nul}"#,
    ];

    /// Changes random bytes of lines. For each line that the fast parser accepts, both parsers must return the same
    /// fields.
    #[test]
    fn both_parsers_agree() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % below as u64).expect("the number is less than `below`, a `usize`")
        };
        let spice = b"{}[]\",:0123456789eE+-.ntf\\u \t";
        let mut agreed = 0;
        for _ in 0..30_000 {
            let mut bytes = LINES[next(LINES.len())].as_bytes().to_vec();
            for _ in 0..next(4) {
                let at = next(bytes.len());
                match next(3) {
                    0 => bytes[at] = spice[next(spice.len())],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, spice[next(spice.len())]),
                }
            }
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            let mut reader = LiveReader::default();
            let Some(fields) = reader.simple(text.trim_ascii()) else { continue };
            let object = json::object(text, &mut Names::default()).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(fields, Fields::of(object), "{text}");
            agreed += 1;
        }
        assert!(agreed > 5_000, "{agreed}");
        let is_simple = |line: &&&str| LiveReader::default().simple(line).is_some();
        assert_eq!(LINES.iter().filter(is_simple).count(), 5, "the first lines are simple");
    }

    #[test]
    fn lines_are_read_as_the_whole_file_would_be() {
        let mut differences = Vec::new();
        for text in [
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}",
            "{\"process\":0,\"type\":\"ok\",\"f\":\"read\"}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n{\"process\":0,\"type\":\"ok\",\"f\":\"write\"}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\",\"object\":1}\n{\"process\":0,\"type\":\"ok\"}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\",\"object\":1}\n{\"process\":0,\"type\":\"ok\",\"object\":\"1\"}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n{\"process\":1,\"f\":\"read\",\"call\":1}",
            "{\"process\":0,\"f\":\"read\",\"call\":1}\n{\"process\":1,\"type\":\"invoke\",\"f\":\"read\"}",
            "{\"process\":0,\"f\":\"read\",\"call\":2,\"return\":1}",
            "{\"process\":0,\"f\":\"read\",\"call\":2,\"result\":1}",
            "{\"process\":0,\"f\":\"read\",\"call\":2,\"id\":\"a\"}",
            "{\"process\":0,\"type\":\"invoke\"}",
            "{\"process\":0}",
            "{\"process\":0,\"type\":\"invoke\",\"call\":1}",
            "{\"process\":-1,\"type\":\"invoke\"}",
            "{\"type\":\"invoke\",\"f\":\"read\"}",
            "{\"process\":0,\"type\":\"done\",\"f\":\"read\"}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\",\"time\":\"noon\"}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"w\",\"value\":1.5}",
            "{\"process\":0,\"type\":\"invoke\",\"f\":\"w\",\"f\":\"w\"}",
            "{:process 0}",
            "{\"process\":0",
            "\0",
        ] {
            let whole = super::super::jsonl::read(text.as_bytes()).expect_err(text).to_string();
            let mut reader = LiveReader::default();
            let count = text.lines().count();
            let found =
                text.lines().enumerate().find_map(|(at, line)| reader.line(line.as_bytes(), at + 1 == count).err());
            let found = found.map(|error| error.to_string());
            if found.as_ref() != Some(&whole) {
                differences.push(format!("{text}: {found:?} instead of {whole}"));
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}
