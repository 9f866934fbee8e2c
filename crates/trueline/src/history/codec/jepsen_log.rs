//! Jepsen's logs: `history.txt`, and the lines about operations in `jepsen.log`.
//!
//! A line consists of process, type, function and value, separated by tabs or other white space;
//! any text after the value is ignored. In `jepsen.log`, the level, the name of the logger and
//! usually the time come before the process, in a format that depends on Jepsen's version. Lines
//! that are not about operations are skipped:
//! ```text
//! INFO  jepsen.util - 0  :invoke  :write  5
//! 2024-01-01 12:00:00,000{GMT}  INFO  [jepsen worker 0] jepsen.util: 0  :ok  :write  5
//! ```
//! In `history.txt` nothing comes before the process, and there are no other lines:
//! ```text
//! 0  :invoke  :cas  [1 2]
//! 0  :fail  :cas  [1 2]
//! ```
//! Values are EDN. Events have the same meaning as in [`jepsen_edn`](super::jepsen_edn), with one difference: if a
//! `:cas` ends with `:fail`, and the value is `nil` or a list (which repeats the argument), the operation returned
//! false, because the client saw that the value was different. With any other value (`:timed-out`), the operation did
//! not happen. A read of `nil` returns null, which the specification interprets.

use std::io::{self, BufRead, Write};

use super::super::{RawHistory, Value};
use super::CodecError;
use super::edn::{Item, Reader};
use super::events::Events;
use super::field::{Names, Parsed, shorten};
use super::jepsen_edn::{Failed, Fields, add, is_cas};
use super::lines::Lines;
use super::survey::Remarks;
use super::writing::{Edn, Keyword, Line, for_each_event, said_again};

/// The expected content of the file, for messages.
const WHAT: &str = "Jepsen's log lines";

/// The logger whose lines are about operations.
pub(super) const LOGGER: &str = "jepsen.util";

/// Reads a history from the lines of a log, or from `history.txt`.
///
/// ```
/// use trueline::history::codec::jepsen_log;
///
/// let history = jepsen_log::read(&b"
///     INFO  jepsen.core - starting
///     INFO  jepsen.util - 0\t:invoke\t:cas\t[0 1]
///     INFO  jepsen.util - 1\t:invoke\t:read\tnil
///     INFO  jepsen.util - 0\t:fail\t:cas\t[0 1]
///     INFO  jepsen.util - 1\t:ok\t:read\tnil
/// "[..])?;
/// assert_eq!(history.len(), 2);
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if a line does not have the form that the [module](self) describes, or if the events together do not form a
/// history.
pub fn read(input: impl BufRead) -> Result<RawHistory, CodecError> {
    read_with(input, None)
}

/// Reads as [`read`] does, and collects remarks for a survey.
pub(super) fn read_with(input: impl BufRead, remarks: Option<&mut Remarks>) -> Result<RawHistory, CodecError> {
    let mut names = Names::default();
    let mut lines = Lines::new(input, WHAT);
    let mut buffer = Vec::new();
    let mut events = Events::new(remarks);
    // Whether the name of a logger comes before each event, as determined by the first event.
    let mut logged: Option<bool> = None;
    let mut passed_over: Option<u32> = None;
    while let Some((number, line)) = lines.next(&mut buffer)? {
        let event = match (behind_logger(line), logged) {
            (Some(event), None | Some(true)) => {
                logged = Some(true);
                event
            }
            (None, None) if is_bare_event(line) => {
                logged = Some(false);
                line
            }
            (_, Some(false)) if begins_with_process(line) => line,
            (_, Some(false)) => return Err(CodecError::at(number, NO_EVENT)),
            (None, None | Some(true)) => {
                passed_over = passed_over.or(Some(number));
                continue;
            }
        };
        if logged == Some(false) {
            if let Some(number) = passed_over {
                return Err(CodecError::at(number, NO_EVENT));
            }
        }
        let mut reader = Reader::of_line(event.as_bytes(), number, &mut names);
        let fields = read_fields(&mut reader, number)?;
        add(&mut events, number, fields, Failed::CasReturnedFalse).map_err(|fault| fault.at(number))?;
    }
    Ok(events.finish().1)
}

/// Writes a history as `history.txt`: process, type, function and value on each line.
///
/// A compare-and-set that returned false is written as `:fail`.
/// Operations with keys or objects cannot be written.
pub(super) fn write_all(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    for_each_event(history, |operation, line| {
        let (process, record) = (operation.process, &operation.op);
        let (kind, value) = match line {
            Line::Call => ("invoke", &record.value),
            Line::Return(Value::Bool(false)) if is_cas(&record.f) && matches!(record.value, Value::List(_)) => {
                ("fail", &record.value)
            }
            Line::Return(result) => ("ok", said_again(record, result)),
            Line::Info => ("info", &record.value),
        };
        writeln!(output, "{process}\t:{kind}\t{}\t{}", Keyword(&record.f), Edn(value))
    })?;
    output.flush()
}

const NO_EVENT: &str = "this is not an event; write process, type, function and value, such as `0 :invoke :read nil`, \
    with tabs between them, or remove the line";

/// Returns the part of a line after the name of the logger, if the line is about an operation.
pub(super) fn behind_logger(line: &str) -> Option<&str> {
    line.match_indices(LOGGER).find_map(|(at, _)| {
        let rest = &line[at + LOGGER.len()..];
        let rest = rest.strip_prefix(" - ").or_else(|| rest.strip_prefix(": "))?.trim_ascii_start();
        // A line may be cut off after its process. Such a line still counts as an event, so that an
        // error is reported.
        let kind = rest.split_ascii_whitespace().nth(1);
        (begins_with_process(rest) && kind.is_none_or(|word| word.starts_with(':'))).then_some(rest)
    })
}

/// Returns whether a line is an event without the name of a logger.
pub(super) fn is_bare_event(line: &str) -> bool {
    let kind = line.split_ascii_whitespace().nth(1);
    begins_with_process(line) && kind.is_some_and(|word| matches!(word, ":invoke" | ":ok" | ":fail" | ":info"))
}

/// Returns whether the first word of a line is a number, or a keyword such as `:nemesis`.
fn begins_with_process(line: &str) -> bool {
    let process = line.split_ascii_whitespace().next();
    process.is_some_and(|word| word.parse::<i64>().is_ok() || word.starts_with(':'))
}

fn read_fields(reader: &mut Reader<'_, &[u8]>, number: u32) -> Result<Fields, CodecError> {
    let process = word(reader, number)?;
    let kind = word(reader, number)?;
    let f = word(reader, number)?;
    // Some values need not be EDN: the value of an event of a nemesis, and the reason for an
    // `:info` or a `:fail`.
    let is_kind = |name: &str| matches!(&kind, Ok(Value::Text(kind)) if **kind == *name);
    let value = if is_kind("info") || matches!(process, Ok(Value::Text(_))) {
        None
    } else if is_kind("fail") {
        let reason = || Some(Ok(Value::Bool(false)));
        match reader.form() {
            Ok(Item::Value(value)) => Some(value),
            Ok(_) | Err(_) => reason(),
        }
    } else {
        Some(word(reader, number)?)
    };
    Ok(Fields { process: Some(process), kind: Some(kind), f: Some(f), key: None, value, time: None, other: None })
}

fn word(reader: &mut Reader<'_, &[u8]>, number: u32) -> Result<Parsed, CodecError> {
    match reader.form()? {
        Item::Value(value) => Ok(value),
        Item::End => Err(CodecError::at(
            number,
            "the line ends too early: it must contain process, type, function and value; if it was cut off, record it again, or delete the line",
        )),
        Item::Close(closer) => Err(unexpected(number, char::from(closer))),
        Item::Open(shape) => Err(unexpected(number, shape.name())),
    }
}

fn unexpected(number: u32, found: impl ToString) -> CodecError {
    let found = shorten(found.to_string());
    CodecError::at(number, format!("`{found}` closes nothing on this line; remove it"))
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

    const EVENTS: &str = "0\t:invoke\t:write\t1
1\t:invoke\t:read\tnil
2\t:invoke\t:cas\t[1 2]
3\t:invoke\t:cas\t[5 6]
:nemesis\t:info\t:start\t#<Unreadable {[>
0\t:ok\t:write\t1
2\t:info\t:cas\t:timed-out
3\t:fail\t:cas\t[5 6]
1\t:ok\t:read\tnil
4\t:invoke\t:read\tnil
4\t:fail\t:read\t:timed-out
5\t:invoke\t:cas\t[3 4]
5\t:fail\t:cas\t:connection-refused\tjava.net.ConnectException: {:refused
6\t:invoke\t:cas\t[3 4]
6\t:fail\t:cas\t#<Timeout>
7\t:invoke\t:cas\t[3 4]
7\t:ok\t:cas\t[3 4]
";

    fn as_log(prefix: &str) -> String {
        let mut text = String::from("INFO  jepsen.core - Node up\n\n");
        for line in EVENTS.lines() {
            text += &format!("{prefix}{line}\nWARN  jepsen.util - 3 nodes are slow\n");
        }
        text
    }

    #[test]
    fn events() {
        let modern = "2024-01-01 12:00:00,000{GMT}\tINFO\t[jepsen worker 0] jepsen.util: ";
        for text in [EVENTS.to_owned(), EVENTS.replace('\t', "  "), as_log("INFO  jepsen.util - "), as_log(modern)] {
            let history = history_of(&text);
            assert_eq!((history.len(), history.pending()), (5, 1), "{text}");
            let shown: Vec<String> = history.operations().iter().map(|operation| operation.op.to_string()).collect();
            assert_eq!(shown, ["write(1)", "read()", "cas([1,2])", "cas([5,6])", "cas([3,4])"]);
            assert_eq!(history[OpId(1)].outcome, Outcome::Returned(Value::Null));
            assert_eq!(history[OpId(2)].outcome, Outcome::Pending);
            assert_eq!(history[OpId(3)].outcome, Outcome::Returned(Value::Bool(false)));
            assert_eq!(history[OpId(4)].outcome, Outcome::Returned([3i64, 4].map(Value::Int).into_iter().collect()));
        }
        let history = history_of(&as_log("INFO  jepsen.util - "));
        assert_eq!((history[OpId(0)].call_line(), history[OpId(0)].return_line()), (Some(3), Some(13)));
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        for (line, expected) in [
            ("1\t:invoke", "the line ends too early"),
            ("1", "the line ends too early"),
            ("1\t:invoke\t:read", "the line ends too early"),
            ("1\t:ok\t:read", "if it was cut off, record it again, or delete the line"),
            ("1\t:begin\t:read\tnil", "`type` must be invoke, ok, fail or info"),
            ("1\t:invoke\t5\tnil", "`:f` must be the name of an operation, found 5"),
            ("1\t:invoke\t:cas\t[1 2", "the line ends inside the vector"),
            ("1\t:invoke\t:write\t]", "`]` closes nothing on this line"),
            ("1\t:invoke\t:write\t1.5", "numbers must be integers"),
            ("-1\t:invoke\t:write\t1", "number the processes"),
            ("1\t:ok\t:write\t1", "log its call first"),
            ("0\t:invoke\t:write\t1", "different processes"),
            ("0\t:ok\t:write\t1", "its open call is `read`"),
        ] {
            for prefix in ["", "INFO  jepsen.util - "] {
                let error = error_of(&format!("{prefix}0\t:invoke\t:read\tnil\n\n{prefix}{line}\n"));
                assert!(error.starts_with("line 3: "), "{error} of {line}");
                assert!(error.contains(expected), "{error} of {line}");
            }
        }
        let error = error_of("0\t:invoke\t:read\tnil\nWell, it is :ok now\n");
        assert!(error.starts_with("line 2: this is not an event"), "{error}: `history.txt` has only events");
        assert!(error_of("Well,\n0\t:invoke\t:read\tnil\n").starts_with("line 1: this is not an event"));
        assert!(history_of("INFO jepsen.core - 5\n").is_empty() && history_of("").is_empty());
    }
}
