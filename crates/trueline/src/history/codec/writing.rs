//! Code that the writers of all formats share: it checks which histories a format can hold, and
//! iterates over the events of a history.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};

use super::super::{EventKind, Operation, ProcessId, RawHistory, Record, Value};
use super::field::{quoted, shorten};
#[cfg(feature = "parquet")]
use super::parquet;
use super::{CodecError, jepsen_edn, jepsen_log, jsonl, porcupine, start_finish, table};

/// The format in which a history is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// JSON lines of events: [`jsonl::write_events`].
    Jsonl,
    /// JSON lines of whole operations: [`jsonl::write_operations`].
    Operations,
    /// Jepsen's EDN: [`jepsen_edn`].
    Jepsen,
    /// Jepsen's `history.txt`: [`jepsen_log`].
    JepsenLog,
    /// Porcupine's key-value histories: [`porcupine`].
    PorcupineKv,
    /// Porcupine's operations as JSON lines: [`porcupine`].
    PorcupineJson,
    /// Start and finish events as JSON lines: [`start_finish`].
    Events,
    /// Comma-separated values: a row for each operation.
    Csv,
    /// Parquet: a row for each operation. Writing it needs the feature `parquet`.
    Parquet,
}

/// Writes a history in a format. Reading the output returns the same history.
///
/// Operations, processes, keys and objects stay the same, and so does the order of calls and returns. Operations that
/// failed, times and other fields are not part of a history, so they are not written. Jepsen's and Porcupine's EDN
/// repeat the argument as the value of a successful write, enqueue or compare-and-set, because their tools expect that;
/// all specifications interpret it as success.
///
/// ```
/// use trueline::history::codec::{self, Format, Target};
///
/// let text = br#"{"process":0,"f":"write","value":1,"call":0,"return":9}"#;
/// let history = codec::read(&text[..], Format::Auto)?;
/// let mut written = Vec::new();
/// codec::write(&history, Target::JepsenLog, &mut written)?;
/// assert_eq!(written, b"0\t:invoke\t:write\t1\n0\t:ok\t:write\t1\n");
/// # Ok::<(), codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if the format cannot hold an operation of the history. In this case, nothing is written,
/// and the error has the line of the operation. Also fails if writing fails. In this case, the
/// error has a source.
pub fn write(history: &RawHistory, target: Target, output: impl Write) -> Result<(), CodecError> {
    target.holds(history)?;
    let written = match target {
        Target::Jsonl => jsonl::write_events(history, output),
        Target::Operations => jsonl::write_operations(history, output),
        Target::Jepsen => jepsen_edn::write_all(history, output),
        Target::JepsenLog => jepsen_log::write_all(history, output),
        Target::PorcupineKv => porcupine::write_all_kv(history, output),
        Target::PorcupineJson => porcupine::write_all_json(history, output),
        Target::Events => start_finish::write_all(history, output),
        Target::Csv => table::write_all(history, output),
        #[cfg(feature = "parquet")]
        Target::Parquet => parquet::write_all(history, output),
        #[cfg(not(feature = "parquet"))]
        Target::Parquet => {
            return Err(CodecError::whole_file(super::NO_PARQUET));
        }
    };
    written.map_err(CodecError::unwritten)
}

impl Target {
    /// Returns the name of the format, for messages.
    fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "JSON lines of events",
            Self::Operations => "JSON lines of operations",
            Self::Jepsen => "Jepsen's EDN",
            Self::JepsenLog => "Jepsen's log",
            Self::PorcupineKv => "Porcupine's key-value format",
            Self::PorcupineJson => "Porcupine's JSON",
            Self::Events => "start and finish events",
            Self::Csv => "comma-separated values",
            Self::Parquet => "Parquet",
        }
    }

    /// Returns whether the format consists of ordered events, rather than whole operations.
    fn has_events(self) -> bool {
        !matches!(self, Self::Operations | Self::PorcupineJson | Self::Csv | Self::Parquet)
    }

    fn has_objects(self) -> bool {
        matches!(self, Self::Jsonl | Self::Operations | Self::Csv | Self::Parquet)
    }

    /// Returns whether, in this format, an `:ok` without a value means that a compare-and-set succeeded.
    fn is_edn(self) -> bool {
        matches!(self, Self::Jepsen | Self::JepsenLog | Self::PorcupineKv)
    }

    /// Checks that the format can hold the history.
    fn holds(self, history: &RawHistory) -> Result<(), CodecError> {
        let refused = |line: Option<u32>, what: String| {
            Err(CodecError { line: line.map(|line| line as usize), message: what, source: None })
        };
        let name = self.name();
        for operation in history.operations() {
            let Record { f, key, value } = &operation.op;
            let (line, f) = (operation.call_line(), quoted(f));
            if let (false, Some(object)) = (self.has_objects(), history.object_name(operation.object)) {
                let object = quoted(object);
                let message = format!(
                    "`{f}` is an operation on the object `{object}`, but {name} cannot name objects; write JSON lines"
                );
                return refused(line, message);
            }
            match key {
                None if self == Self::PorcupineKv => {
                    let remedy = "write another format, or read pairs as a key and a value (--tuples keys)";
                    return refused(
                        line,
                        format!("`{f}` has no key, but {name} needs one in every operation; {remedy}"),
                    );
                }
                Some(key) if self == Self::JepsenLog => {
                    let key = shorten(key.to_string());
                    return refused(
                        line,
                        format!("`{f}` has the key {key}, but {name} has no keys; write another format"),
                    );
                }
                Some(Value::Null) => {
                    return refused(
                        line,
                        format!("`{f}` has the key null, which no format can express; use a key that is not null"),
                    );
                }
                _ => {}
            }
            let result = operation.outcome.result();
            if self.is_edn() && jepsen_edn::is_cas(&operation.op.f) && result == Some(&Value::Null) {
                let message = format!(
                    "`{f}` returned null, which in {name} means that it succeeded; give true or false, or write JSON lines"
                );
                return refused(operation.return_line(), message);
            }
            let says = |text: &str| {
                let in_value = |value: &Value| mentions(value, text);
                operation.op.f.contains(text) || [Some(value), key.as_ref(), result].into_iter().flatten().any(in_value)
            };
            if self.is_edn() && says("\0") {
                let message =
                    format!("`{f}` has a string with a NUL character, which {name} cannot express; write JSON lines");
                return refused(line, message);
            }
            if self == Self::JepsenLog && says(jepsen_log::LOGGER) {
                let message = format!(
                    "`{f}` contains `{}`, which marks a line of a Jepsen log, so the output could not be read back; \
                     write another format",
                    jepsen_log::LOGGER
                );
                return refused(line, message);
            }
        }
        if self.has_events() {
            if let Some(operation) = touching(history) {
                let process = operation.process;
                let message = format!(
                    "process {process} makes a call at the same time as its last operation returns, which {name} \
                     cannot express; write whole operations (jsonl-operations or porcupine-json)"
                );
                return refused(operation.call_line(), message);
            }
        }
        Ok(())
    }
}

/// Returns whether `value` is a text that contains `text`, or a list in which any text, at any depth, contains `text`.
fn mentions(value: &Value, text: &str) -> bool {
    match value {
        Value::Text(whole) => whole.contains(text),
        Value::List(values) => values.iter().any(|value| mentions(value, text)),
        Value::Null | Value::Bool(_) | Value::Int(_) => false,
    }
}

/// Returns the first operation that is called before the previous operation of its process has
/// returned. A history contains such an operation only if the call of this operation and the
/// previous return have the same time.
fn touching(history: &RawHistory) -> Option<&Operation<Record, Value>> {
    let mut busy_until: HashMap<ProcessId, u32> = HashMap::new();
    history.operations().iter().find(|operation| {
        let touches = busy_until.get(&operation.process).is_some_and(|&ret| ret > operation.call_position());
        if let Some(ret) = operation.return_position() {
            busy_until.insert(operation.process, ret);
        }
        touches
    })
}

/// A line in a file of events.
#[derive(Clone, Copy, Debug)]
pub(super) enum Line<'h> {
    Call,
    Return(&'h Value),
    /// The outcome of the operation is unknown, and its process continues.
    Info,
}

/// Calls `write` for each event in order, with its operation. An operation that never returned stays open. However, if
/// its process calls again, `write` is called with [`Line::Info`] before this call.
pub(super) fn for_each_event<'h>(
    history: &'h RawHistory,
    mut write: impl FnMut(&'h Operation<Record, Value>, Line<'h>) -> io::Result<()>,
) -> io::Result<()> {
    let mut open: HashMap<ProcessId, &Operation<Record, Value>> = HashMap::new();
    for event in history.events() {
        let operation = &history[event.op()];
        match event.kind() {
            EventKind::Call => {
                if let Some(earlier) = open.insert(operation.process, operation) {
                    write(earlier, Line::Info)?;
                }
                write(operation, Line::Call)?;
            }
            EventKind::Return => {
                open.remove(&operation.process);
                write(operation, Line::Return(operation.outcome.result().unwrap_or(&Value::Null)))?;
            }
        }
    }
    Ok(())
}

/// Displays a value as EDN.
pub(super) struct Edn<'v>(pub(super) &'v Value);

impl fmt::Display for Edn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("nil"),
            Value::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        f.write_str(" ")?;
                    }
                    Edn(value).fmt(f)?;
                }
                f.write_str("]")
            }
            // Numbers, booleans and escapes in strings are the same as in JSON.
            value => value.fmt(f),
        }
    }
}

/// Displays a name as a keyword, or as a string if it is not a valid keyword.
pub(super) struct Keyword<'n>(pub(super) &'n str);

impl fmt::Display for Keyword<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.*+!?<>=".contains(&byte);
        if !self.0.is_empty() && self.0.bytes().all(fits) {
            write!(f, ":{}", self.0)
        } else {
            Value::from(self.0).fmt(f)
        }
    }
}

/// Returns the value to write for an `:ok` in EDN. If the result only means success, this is the argument, because
/// tools that read EDN expect the argument as the value. Otherwise, it is the result. The only exception is an append
/// of a number: its value stays `nil`, because a repeated number could be read as an index.
pub(super) fn said_again<'v>(record: &'v Record, result: &'v Value) -> &'v Value {
    let succeeded = match result {
        Value::Null if &*record.f == "append" => !matches!(record.value, Value::Int(_)),
        Value::Null => matches!(&*record.f, "write" | "w" | "put" | "enqueue" | "enq"),
        Value::Bool(true) => jepsen_edn::is_cas(&record.f) && matches!(record.value, Value::List(_)),
        _ => false,
    };
    if succeeded { &record.value } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::codec::{Format, read};

    /// Accepts this many bytes and then fails, like a full disk.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let length = bytes.len().min(self.0);
            self.0 -= length;
            if length == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(length) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_history_without_operations_can_be_read_again() {
        let empty = RawHistory::builder().finish();
        for (target, format) in [
            (Target::Jsonl, Format::Jsonl),
            (Target::Operations, Format::Jsonl),
            (Target::Jepsen, Format::Jepsen),
            (Target::JepsenLog, Format::JepsenLog),
            (Target::PorcupineKv, Format::PorcupineKv),
            (Target::PorcupineJson, Format::PorcupineJson),
            (Target::Events, Format::Events),
        ] {
            let mut written = Vec::new();
            write(&empty, target, &mut written).expect("writing to memory succeeds");
            assert_eq!(read(&written[..], format).expect("the output is a history").len(), 0, "{target:?}");
        }
    }

    #[test]
    fn a_disk_that_is_full_at_any_byte_is_an_error() {
        let text = br#"{"process":0,"type":"invoke","f":"put","key":"k","value":1}
{"process":1,"type":"invoke","f":"get","key":"k"}
{"process":0,"type":"ok","f":"put"}
{"process":1,"type":"ok","f":"get","value":[1,"two"]}"#;
        let history = read(&text[..], Format::Jsonl).expect("the text is a history");
        for target in [Target::Jsonl, Target::Operations, Target::Jepsen, Target::PorcupineKv, Target::PorcupineJson] {
            let mut whole = Vec::new();
            write(&history, target, &mut whole).expect("writing to memory succeeds");
            for room in 0..whole.len() {
                let fault = write(&history, target, Full(room)).expect_err("the output does not fit");
                assert!(fault.message().starts_with("cannot write: "), "{target:?}: {fault}");
            }
            write(&history, target, Full(whole.len())).expect("the output fits");
        }
    }
}
