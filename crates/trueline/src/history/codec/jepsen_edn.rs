//! Jepsen's histories in EDN: `history.edn`, and the example files of Knossos.
//!
//! A file has one map for each event, in the order of the events. The maps are in a vector, in a list, or follow each
//! other without brackets. Line breaks do not matter; comments, commas, tags and discarded forms are skipped.
//! ```edn
//! [{:process 0, :type :invoke, :f :write, :value 5, :time 123}   ; more fields are ignored
//!  {:process 0, :type :ok,     :f :write, :value 5, :time 130}]
//! ```
//! - `:ok` ends an operation with the result in `:value`; for a read, that is the value read. An
//!   `:ok` of a `:cas` without a value means true: the compare-and-set succeeded.
//! - `:fail` means that the operation did not happen: it is dropped. (For a failed `:cas`, this loses the fact that the
//!   value was different, as in Knossos; [`jepsen_log`](super::jepsen_log) keeps it.)
//! - `:info` means that the outcome is unknown: the operation stays pending, as do operations that are open at the end.
//! - Events of processes whose names are not numbers (`:nemesis`) become
//!   [annotations](crate::history::History::annotations).
//! - `:key` is the key that an operation concerns, if the file gives the key separately from the value. For pairs of
//!   key and value in `:value`, see [`Tuples`](super::Tuples).
//!
//! Keywords and symbols become text without the colon, sets become lists ordered by value, and maps
//! become lists of pairs ordered by key. Numbers in arguments and results must be 64-bit integers.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use super::super::{ProcessId, RawHistory, Record, Value};
use super::CodecError;
use super::edn::{Item, Reader, Shape, mismatch};
use super::events::{End, Events, Fault};
use super::field::{
    Kind, Names, Parsed, annotation, quoted, read_key, read_kind, read_process, read_value, shorten, wrong,
};
use super::survey::{Remarks, Trap};
use super::writing::{Edn, Keyword, Line, for_each_event, said_again};

/// Reads a history from Jepsen's EDN.
///
/// ```
/// use trueline::history::codec::jepsen_edn;
///
/// let history = jepsen_edn::read(&b"
///     [{:process 0, :type :invoke, :f :write, :value 1}
///      {:process 1, :type :invoke, :f :read,  :value nil}
///      {:process 0, :type :ok,     :f :write, :value 1}
///      {:process :nemesis, :type :info, :f :kill}
///      {:process 1, :type :ok,     :f :read,  :value 1}]
/// "[..])?;
/// assert_eq!(history.len(), 2);
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if the text is not EDN, if it does not have the form that the [module](self) describes, or if the events
/// together do not form a history.
pub fn read(input: impl BufRead) -> Result<RawHistory, CodecError> {
    read_with(input, None)
}

/// Reads as [`read`] does, and collects remarks for a survey.
pub(super) fn read_with(input: impl BufRead, remarks: Option<&mut Remarks>) -> Result<RawHistory, CodecError> {
    let mut names = Names::default();
    let mut reader = Reader::new(input, &mut names);
    let mut events = Events::new(remarks);
    // The vector or list that contains the events, and the line where it begins.
    let mut around: Option<(Shape, u32)> = None;
    let mut bare = false;
    let mut closed = false;
    loop {
        reader.begin();
        let item = reader.open()?;
        let line = reader.token_line();
        if closed && !matches!(item, Item::End) {
            let message = "there is more text after the end of the history; keep one history in a file, or put all events \
                into one vector";
            return Err(CodecError::at(line, message));
        }
        match item {
            Item::End => match around {
                Some((shape, line)) => return Err(reader.cut_off(shape.name(), line)),
                None => break,
            },
            Item::Close(closer) => match around.take() {
                Some((shape, _)) if shape.closer() == closer => closed = true,
                Some((shape, opened)) => return Err(mismatch(line, closer, shape, opened)),
                None => {
                    let message = format!("`{}` closes nothing; remove it", char::from(closer));
                    return Err(CodecError::at(line, message));
                }
            },
            Item::Open(Shape::Map) => {
                bare |= around.is_none();
                let fields = read_fields(&mut reader)?;
                add(&mut events, line, fields, Failed::Dropped).map_err(|fault| fault.at(line))?;
            }
            Item::Open(shape @ (Shape::List | Shape::Vector)) if around.is_none() && !bare => {
                around = Some((shape, line));
                events.see(Trap::Container, line, || format!("a {} around the events", shape.name()));
            }
            Item::Open(shape) => return Err(no_event(line, &format!("a {}", shape.name()))),
            Item::Value(Ok(value)) => return Err(no_event(line, &shorten(value.to_string()))),
            Item::Value(Err(_)) => return Err(no_event(line, "a number")),
        }
    }
    if let Some(line) = reader.first_comment() {
        events.see(Trap::Comment, line, || "a comment".to_owned());
    }
    Ok(events.finish().1)
}

/// Writes a history as a vector of maps, one on each line.
pub(super) fn write_all(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    output.write_all(b"[")?;
    let mut before = "";
    for_each_event(history, |operation, line| {
        output.write_all(before.as_bytes())?;
        before = "\n ";
        write_map(&mut output, operation.process, &operation.op, line)
    })?;
    output.write_all(b"]\n")?;
    output.flush()
}

/// Writes the map of an event.
pub(super) fn write_map(
    output: &mut impl Write,
    process: ProcessId,
    record: &Record,
    line: Line<'_>,
) -> io::Result<()> {
    let (kind, value) = match line {
        Line::Call => ("invoke", Some(&record.value)),
        Line::Return(result) => ("ok", Some(said_again(record, result))),
        Line::Info => ("info", None),
    };
    write!(output, "{{:process {process}, :type :{kind}, :f {}", Keyword(&record.f))?;
    if let Some(key) = &record.key {
        write!(output, ", :key {}", Edn(key))?;
    }
    if let Some(value) = value {
        write!(output, ", :value {}", Edn(value))?;
    }
    output.write_all(b"}")
}

fn no_event(line: u32, found: &str) -> CodecError {
    let message = format!(
        "{found} was found instead of an event; write a map such as {{:process 0, :type :invoke, :f :read, :value nil}}"
    );
    CodecError::at(line, message)
}

/// The fields of an event.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) process: Option<Parsed>,
    pub(super) kind: Option<Parsed>,
    pub(super) f: Option<Parsed>,
    pub(super) key: Option<Parsed>,
    pub(super) value: Option<Parsed>,
    pub(super) time: Option<Parsed>,
    /// The name of the first field that is ignored.
    pub(super) other: Option<Arc<str>>,
}

impl Fields {
    fn slot(&mut self, name: &str) -> Option<&mut Option<Parsed>> {
        Some(match name {
            "process" => &mut self.process,
            "type" => &mut self.kind,
            "f" => &mut self.f,
            "key" => &mut self.key,
            "value" => &mut self.value,
            "time" => &mut self.time,
            _ => return None,
        })
    }
}

/// Reads the fields of a map, after its opening bracket.
pub(super) fn read_fields<R: BufRead>(reader: &mut Reader<'_, R>) -> Result<Fields, CodecError> {
    let opened = reader.token_line();
    let mut fields = Fields::default();
    // The names of ignored fields. There are rarely more than two.
    let mut others: HashSet<Arc<str>> = HashSet::new();
    loop {
        let name = match reader.form()? {
            Item::Value(Ok(Value::Text(name))) => name,
            Item::Value(found) => {
                let message = wrong("field", &found, "a keyword", "name the fields of an event, such as :process");
                return Err(CodecError::at(reader.token_line(), message));
            }
            Item::Close(b'}') => return Ok(fields),
            Item::Close(closer) => return Err(mismatch(reader.token_line(), closer, Shape::Map, opened)),
            Item::Open(_) | Item::End => return Err(reader.cut_off("map", opened)),
        };
        let line = reader.token_line();
        let value = match reader.form()? {
            Item::Value(value) => value,
            Item::Close(b'}') => {
                let name = quoted(&name);
                return Err(CodecError::at(line, format!("`:{name}` has no value; give it one, or remove it")));
            }
            Item::Close(closer) => return Err(mismatch(reader.token_line(), closer, Shape::Map, opened)),
            Item::Open(_) | Item::End => return Err(reader.cut_off("map", opened)),
        };
        let known = fields.slot(&name).map(|slot| slot.replace(value).is_some());
        if known.is_none() && fields.other.is_none() {
            fields.other = Some(Arc::clone(&name));
        }
        if known.unwrap_or_else(|| !others.insert(Arc::clone(&name))) {
            let name = quoted(&name);
            return Err(CodecError::at(line, format!("`:{name}` occurs twice; keep one of them")));
        }
    }
}

/// The treatment of operations that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    /// Failed operations did not happen.
    Dropped,
    /// Failed operations did not happen, except that a failed compare-and-set happened and returned
    /// false.
    CasReturnedFalse,
}

/// Returns whether this is the name of a compare-and-set, whose failure gives information about the state.
pub(super) fn is_cas(name: &str) -> bool {
    matches!(name, "cas" | "compare-and-set" | "compare-and-swap")
}

/// Adds one of Jepsen's events.
pub(super) fn add(events: &mut Events<'_>, line: u32, fields: Fields, failed: Failed) -> Result<(), Fault> {
    let Fields { process, kind, f, key, value, time, other } = fields;
    if let Some(other) = other {
        events.see(Trap::OtherField, line, || format!("`:{}`", quoted(&other)));
    }
    let process = match process {
        None => return Err("`:process` is missing; name the process that called, such as :process 0".into()),
        // Jepsen logs the actions of its nemesis, which injects faults, between the operations.
        Some(Ok(Value::Text(name))) => {
            events.see(Trap::Nemesis, line, || format!("the process is `{}`", quoted(&name)));
            events.annotate(line, annotation(Some(&name), f.as_ref(), value.as_ref()));
            return Ok(());
        }
        Some(process) => read_process(":process", &process)?,
    };
    events.time(line, process, time.as_ref());
    let kind = match kind {
        None => return Err("`:type` is missing; give :invoke, :ok, :fail or :info".into()),
        Some(kind) => read_kind(&kind)?,
    };
    let f = match f {
        None => None,
        Some(Ok(Value::Text(name))) => Some(name),
        Some(found) => {
            let remedy = "write it as a keyword, such as :read";
            return Err(wrong(":f", &found, "the name of an operation", remedy).into());
        }
    };
    let end = match kind {
        Kind::Invoke => {
            let f = f.ok_or("`:f` is missing; name the operation, such as :f :read")?;
            let record = Record { f, key: read_key(key)?, value: read_value(":value", value)? };
            return events.call(line, process, None, record);
        }
        Kind::Ok => End::Ok(match read_value(":value", value) {
            Ok(Value::Null) if events.open(process).is_some_and(|open| is_cas(&open.f)) => Ok(Value::Bool(true)),
            result => result,
        }),
        // A failed compare-and-set returned false if the value of the event is absent, null or a list (which repeats
        // the argument). Any other value is the reason for the failure: the client did not compare anything.
        Kind::Fail
            if failed == Failed::CasReturnedFalse
                && matches!(value, None | Some(Ok(Value::List(_) | Value::Null)))
                && events.open(process).is_some_and(|open| is_cas(&open.f)) =>
        {
            End::Ok(Ok(Value::Bool(false)))
        }
        Kind::Fail => End::Fail,
        Kind::Info => End::Info,
    };
    events.end(line, process, None, f.as_deref(), end, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OpId, Outcome};

    fn history_of(text: &str) -> RawHistory {
        read(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    fn error_of(text: &str) -> String {
        read(text.as_bytes()).expect_err(text).to_string()
    }

    const EVENTS: &str = r#"; a register
 {:process 0, :type :invoke, :f :write, :value 1, :time 1.5}
 {:type :invoke :value nil :f :read :process 1 :index 1}
 {:process 2, :type :invoke, :f :cas, :value [1 2]}
 {:process 3, :type :invoke, :f :cas, :value [5 6]}
 {:process 4, :type :invoke, :f :cas,
  :value [7 8]}
 #jepsen.history.Op{:process 0, :type :ok, :f :write, :value 1}
 {:process :nemesis, :type :info, :f :kill, :value {"n1" 0.5}}
 #_{:process 9 :type :nonsense}
 {:process 2, :type :info, :f :cas, :value :timed-out, :error ["x" {:code 5}]}
 {:process 1, :type :ok, :f :read, :value 1}
 {:process 3, :type :fail, :f :cas, :value [5 6]}
 {:process 4, :type :ok, :f :cas, :value nil}
 {:process 5, :type :invoke, :f :txn, :value [[:r :x nil] [:w "y" #{2 1}]]}
"#;

    #[test]
    fn events() {
        for text in [EVENTS.to_owned(), format!("[{EVENTS}]"), format!("({EVENTS})"), format!("#tag [{EVENTS}] ; end")]
        {
            let history = history_of(&text);
            assert_eq!((history.len(), history.pending()), (5, 2), "{text}");
            let write = &history[OpId(0)];
            assert_eq!(write.op.to_string(), "write(1)");
            assert_eq!((write.call_line(), write.return_line()), (Some(2), Some(8)));
            assert_eq!(history[OpId(1)].op.to_string(), "read()");
            assert_eq!(history[OpId(1)].outcome, Outcome::Returned(Value::Int(1)));
            assert_eq!(history[OpId(2)].outcome, Outcome::Pending);
            assert_eq!(history[OpId(3)].op.to_string(), "cas([7,8])");
            assert_eq!(history[OpId(3)].outcome, Outcome::Returned(Value::Bool(true)));
            assert_eq!(history[OpId(4)].op.to_string(), r#"txn([["r","x",null],["w","y",[1,2]]])"#);
        }
    }

    #[test]
    fn one_line_is_enough() {
        let history = history_of(&format!("[{}]", EVENTS.replace("; a register", "").replace('\n', " ")));
        assert_eq!(history.len(), 5);
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        let ok = "{:process 0 :type :invoke :f :read}";
        for (line, expected) in [
            ("{:type :invoke :f :read}", "`:process` is missing; name the process that called, such as :process 0"),
            ("{:process 1.5 :type :invoke :f :read}", "`:process` must be an integer from 0 to 4294967295, found 1.5"),
            ("{:process -1 :type :invoke :f :read}", "number the processes"),
            ("{:process nil :type :invoke :f :read}", "number the processes"),
            ("{:process 1 :f :read}", "`:type` is missing; give :invoke, :ok, :fail or :info"),
            ("{:process 1 :type :begin :f :read}", "`type` must be invoke, ok, fail or info, found \"begin\""),
            ("{:process 1 :type :invoke}", "`:f` is missing; name the operation"),
            ("{:process 1 :type :invoke :f 3}", "write it as a keyword, such as :read"),
            ("{:process 1 :type :invoke :f :w :value 1.5}", "numbers must be integers"),
            ("{:process 1 :type :invoke :f :w :value 99999999999999999999}", "write it as a string"),
            ("{:process 1 :type :invoke :f :w :f :w}", "`:f` occurs twice; keep one"),
            ("{:process 1 :type :invoke :f :w :x 1 :x 1}", "`:x` occurs twice; keep one"),
            ("{:process 1 :type :invoke :f}", "`:f` has no value; give it one, or remove it"),
            ("{:process 1 :type :invoke 5 6}", "`field` must be a keyword, found 5"),
            ("{:process 1 :type]", "`]` cannot close the map that begins on line 3"),
            ("{:process 1 :type", "the file ends inside the map that begins here"),
            ("{:process 0 :type :ok :f :write}", "returns from `write`, but its open call is `read`"),
            ("{:process 1 :type :ok :f :read}", "log its call first"),
            (ok, "give concurrent operations different processes"),
            ("5", "5 was found instead of an event; write a map such as"),
            ("0.5", "a number was found instead of"),
            ("[]", "a vector was found instead of"),
            ("#{}", "a set was found instead of"),
            (")", "`)` closes nothing; remove it"),
        ] {
            let error = error_of(&format!("{ok}\n\n{line}"));
            assert!(error.starts_with("line 3: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        assert!(
            error_of("[{:process 0 :type :invoke :f :read}").starts_with("line 1: the file ends inside the vector")
        );
        assert!(error_of(&format!("[{ok})")).contains("`)` cannot close the vector"));
        assert!(error_of(&format!("[{ok}]\n[{ok}]")).starts_with("line 2: there is more text after the end"));
        assert!(error_of(&format!("[{ok} []]")).contains("a vector was found instead of"));
        for nothing in ["", "[]", "; nothing\n()", "[{:process :nemesis :type :info}]"] {
            assert!(history_of(nothing).is_empty(), "{nothing}");
        }
        assert!(error_of("{\"process\":0,\"type\":\"invoke\"}").contains("if this is JSON"));
    }
}
