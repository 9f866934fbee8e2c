//! Start and finish events as JSON lines, with the field names that other recorders use.
//!
//! Each line reports that an operation starts or finishes; the lines are in the order of these events:
//! ```json
//! {"client":0,"event":"start","op":"put","key":"k","value":"v"}
//! {"client":0,"event":"finish","op":"put","result":null}
//! ```
//! - `event` (or `kind`, `phase`, `type`) is `start`, `call`, `begin`, `invoke` or `request` for
//!   the start of an operation, and `finish`, `return`, `end`, `ok`, `response` or `complete` for
//!   its end. `fail` means that the operation did not happen. `info`, `timeout` or `unknown` mean
//!   that its outcome is unknown: it stays pending, as do operations that are open at the end. If
//!   the field is a boolean, as in Porcupine's events, false is a call and true is a return.
//! - `client` (or `process`, `thread`, `worker`, `ClientId`) is the number of the caller. If a client has several
//!   operations open at once, leave out `client` on all lines, and give `id` instead: an integer that is the same on
//!   the two lines of an operation. If lines have both `client` and `id`, the two lines of an operation must agree in
//!   both.
//! - The call is in `op` (or `f`, `operation`, `method`, `function`), `key` and `value`; or the whole call is in
//!   `input` or `value`, as in Porcupine's `Input`. See [`porcupine`](super::porcupine) for both forms.
//! - The result is in `result` (or `output`, `return`, `ret`, `value`), as in Porcupine's `Output`.
//!
//! Names of fields are compared ignoring case, `_` and `-`; other fields (`time`) are ignored.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use super::super::{RawHistory, Record, Value};
use super::CodecError;
use super::document;
use super::events::{End, Events, Fault};
use super::field::{Kind, Parsed, read_process, wrong};
use super::json::{self, Node, Object};
use super::jsonl::{Key, Text};
use super::porcupine::{read_call, read_input, read_output};
use super::survey::Remarks;
use super::writing::{Line, for_each_event};

/// The expected content of the file, for messages.
const WHAT: &str = "start and finish events as JSON lines";

/// The fields that contain the kind of the event. The fields of [`EVENT_OR`] are used only if the
/// fields of `EVENT` are missing, because `kind` and `type` may describe the operation instead.
const EVENT: &[&str] = &["event", "phase"];
const EVENT_OR: &[&str] = &["kind", "type"];
const CLIENT: &[&str] = &["client", "process", "thread", "worker", "clientid", "processid", "threadid"];
const OP: &[&str] = &["op", "f", "operation", "method", "function"];

/// Reads a history from start and finish events as JSON lines.
///
/// ```
/// use trueline::history::codec::start_finish;
///
/// let history = start_finish::read(&br#"
///     {"client":0,"event":"start","op":"write","value":1}
///     {"client":1,"event":"start","op":"read"}
///     {"client":1,"event":"finish","result":1}
///     {"client":0,"event":"finish"}
/// "#[..])?;
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
    let mut pairs = Pairs { events: Events::new(remarks), ..Pairs::default() };
    document::each_object(input, WHAT, json::object, &mut |number, object| {
        pairs.add(number, object).map_err(|fault| fault.at(number))
    })?;
    Ok(pairs.events.finish().1)
}

/// Writes a history as start and finish events. The format has no objects, so the caller must
/// reject a history with named objects.
pub(super) fn write_all(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    for_each_event(history, |operation, line| {
        let Record { f, key, value } = &operation.op;
        let (client, f, key) = (operation.process, Text(f), Key(key.as_ref()));
        match line {
            Line::Call => writeln!(output, r#"{{"client":{client},"event":"start","op":{f}{key},"value":{value}}}"#),
            Line::Return(result) => {
                writeln!(output, r#"{{"client":{client},"event":"finish","op":{f},"result":{result}}}"#)
            }
            Line::Info => writeln!(output, r#"{{"client":{client},"event":"info","op":{f}}}"#),
        }
    })?;
    output.flush()
}

/// Returns whether a line is an event of this format, rather than one of trueline's own format.
pub(super) fn is_event(object: &mut Object) -> bool {
    let event = match object.take(EVENT) {
        Ok(None) => object.take(EVENT_OR),
        found => found,
    };
    match event {
        Ok(Some((name, node))) => {
            let our_own = &*name == "type"
                && matches!(&node, Node::Value(Ok(Value::Text(kind))) if matches!(&**kind, "invoke" | "ok" | "fail" | "info"));
            !our_own && read_event(&name, &node.into_value()).is_ok()
        }
        _ => false,
    }
}

fn read_event(field: &str, event: &Parsed) -> Result<Kind, String> {
    let kind = match event {
        Ok(Value::Bool(false)) => Some(Kind::Invoke),
        Ok(Value::Bool(true)) => Some(Kind::Ok),
        Ok(Value::Text(word)) => match word.to_ascii_lowercase().as_str() {
            "start" | "started" | "call" | "begin" | "invoke" | "invocation" | "request" => Some(Kind::Invoke),
            "finish" | "finished" | "return" | "ret" | "end" | "ok" | "response" | "complete" | "completed"
            | "done" => Some(Kind::Ok),
            "fail" | "failed" => Some(Kind::Fail),
            "info" | "timeout" | "unknown" => Some(Kind::Info),
            _ => None,
        },
        _ => None,
    };
    kind.ok_or_else(|| wrong(field, event, "start or finish (or call, return, fail, info)", "write one of these"))
}

/// The events that have been read so far.
#[derive(Default)]
struct Pairs<'r> {
    events: Events<'r>,
    /// The process of each open operation that has an id.
    by_id: HashMap<i64, u32>,
    /// The id of each open operation that has one, by process.
    ids: HashMap<u32, i64>,
    /// Whether lines name a client, as determined by the first line.
    clients: Option<bool>,
    /// The process number of the next operation, if lines do not name a client.
    next: u32,
}

impl Pairs<'_> {
    fn add(&mut self, line: u32, mut object: Object) -> Result<(), Fault> {
        let (name, event) = match object.take(EVENT)? {
            Some(found) => found,
            None => object.take(EVENT_OR)?.ok_or("`event` is missing; give start or finish")?,
        };
        let kind = read_event(&name, &event.into_value())?;
        let process = self.process(kind, &mut object)?;
        if let Ok(Some((_, time))) = object.take(&["time", "timestamp", "ts"]) {
            self.events.time(line, process, Some(&time.into_value()));
        }
        if kind == Kind::Invoke {
            let record = read_start(object)?;
            return self.events.call(line, process, None, record);
        }
        let f = match object.take(OP)? {
            Some((_, Node::Value(Ok(Value::Text(f))))) => Some(f),
            _ => None,
        };
        let end = match kind {
            Kind::Fail => End::Fail,
            Kind::Info => End::Info,
            Kind::Ok | Kind::Invoke => read_finish(object, self.events.open(process))?,
        };
        self.events.end(line, process, None, f.as_deref(), end, None)
    }

    /// Returns the process of a line. If the line names a client, the client is the process. Otherwise, each operation
    /// has a process of its own, and the id of the operation determines the process.
    fn process(&mut self, kind: Kind, object: &mut Object) -> Result<u32, String> {
        let client = match object.take(CLIENT)? {
            None => None,
            Some((name, client)) => Some(read_process(&name, &client.into_value())?),
        };
        let id = match object.take(&["id", "opid"])? {
            None => None,
            Some((name, id)) => match id.into_value() {
                Ok(Value::Int(id)) => Some(id),
                Ok(Value::Null) => None,
                found => return Err(wrong(&name, &found, "an integer", "number the operations, or leave it out")),
            },
        };
        if *self.clients.get_or_insert(client.is_some()) != client.is_some() {
            return Err(
                "only some lines have `client`; give it on every line, or leave it out everywhere and give `id` on \
                 every line"
                    .to_owned(),
            );
        }
        match (client, id, kind) {
            (None, None, _) => Err("`client` is missing; name the client that called, such as \"client\":0".to_owned()),
            (Some(client), None, _) => {
                // Unless this line is rejected later, it ends the client's open operation. If that operation has an id,
                // other operations may use the id from now on.
                if let Some(id) = self.ids.remove(&client) {
                    self.by_id.remove(&id);
                }
                Ok(client)
            }
            (client, Some(id), Kind::Invoke) => {
                if self.by_id.contains_key(&id) {
                    return Err(format!(
                        "the id {id} already belongs to an open operation; give each operation an id of its own"
                    ));
                }
                let process = client.unwrap_or(self.next);
                // If the client already has an open call, building the history rejects this call.
                if client.is_none() {
                    self.next = self.next.checked_add(1).ok_or("too many operations; split the file")?;
                }
                self.by_id.insert(id, process);
                self.ids.insert(process, id);
                Ok(process)
            }
            (client, Some(id), _) => {
                let process = self
                    .by_id
                    .remove(&id)
                    .ok_or_else(|| format!("no open operation has the id {id}; log its start first"))?;
                self.ids.remove(&process);
                if client.is_some_and(|client| client != process) {
                    return Err(format!(
                        "the operation with the id {id} was started by client {process}; give the same client on both \
                         lines"
                    ));
                }
                Ok(process)
            }
        }
    }
}

/// Reads the call of a start event.
fn read_start(mut object: Object) -> Result<Record, String> {
    if let Some((name, op)) = object.take(&["input"])? {
        return read_input(&name, op);
    }
    match object.take(OP)? {
        Some((name, op @ (Node::Object(_) | Node::Value(Ok(Value::List(_)))))) => read_input(&name, op),
        Some((name, op)) => {
            object.put(name, op);
            read_call("line", object, OP)
        }
        None => match object.take(&["value"])? {
            Some((name, op @ Node::Object(_))) => read_input(&name, op),
            Some((name, op @ Node::Value(Ok(Value::List(_) | Value::Text(_))))) => read_input(&name, op),
            _ => Err("the line does not name the operation; give its name in `op`, such as \"op\":\"read\"".to_owned()),
        },
    }
}

/// Reads how an operation ended.
fn read_finish(mut object: Object, open: Option<&Record>) -> Result<End, String> {
    // If no call is open, this result is not used, because adding the event reports an error.
    let Some(open) = open else { return Ok(End::Ok(Ok(Value::Null))) };
    let result = match object.take(&["result", "output", "return", "ret", "response"])? {
        None => object.take(&["value"])?,
        found => found,
    };
    let Some((name, result)) = result else { return Ok(End::Ok(Ok(Value::Null))) };
    Ok(match read_output(&name, result, open) {
        Ok(Some(result)) => End::Ok(Ok(result)),
        Ok(None) => End::Info,
        Err(message) => End::Ok(Err(message)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OpId, Outcome};

    fn history_of(text: &str) -> RawHistory {
        read(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    #[test]
    fn pairs() {
        let history = history_of(
            r#"{"client":0,"event":"start","op":"put","key":"k","value":"v","time":1.5}
               {"client":1,"event":"call","op":"get","key":"k"}
               {"client":2,"event":"begin","op":{"f":"cas","old":1,"new":2}}
               {"client":3,"event":"start","op":["push",5]}
               {"client":0,"event":"finish","op":"put"}
               {"client":1,"event":"return","result":"v"}
               {"client":2,"event":"end","output":{"ok":false}}
               {"client":3,"event":"timeout"}
               {"client":0,"event":"start","op":1,"value":5}
               {"client":0,"event":"fail"}
               {"client":0,"event":"start","op":1,"value":6}"#,
        );
        let shown: Vec<String> = history.operations().iter().map(|operation| operation.op.to_string()).collect();
        assert_eq!(shown, [r#"put("k", "v")"#, r#"get("k")"#, "cas([1,2])", "push(5)", "write(6)"]);
        assert_eq!(history.pending(), 2);
        assert_eq!(history[OpId(0)].outcome, Outcome::Returned(Value::Null));
        assert_eq!(history[OpId(1)].outcome, Outcome::Returned("v".into()));
        assert_eq!(history[OpId(2)].outcome, Outcome::Returned(Value::Bool(false)));
    }

    #[test]
    fn porcupine_events() {
        let history = history_of(
            r#"{"ClientId":0,"Kind":false,"Value":{"op":1,"key":"k","value":"v"},"Id":0}
               {"ClientId":1,"Kind":false,"Value":{"op":0,"key":"k"},"Id":1}
               {"ClientId":0,"Kind":true,"Value":{},"Id":0}
               {"ClientId":1,"Kind":true,"Value":{"value":"v"},"Id":1}"#,
        );
        assert_eq!(history[OpId(0)].op.to_string(), r#"put("k", "v")"#);
        assert_eq!(history[OpId(1)].outcome, Outcome::Returned("v".into()));
    }

    #[test]
    fn ids_instead_of_clients() {
        let history = history_of(
            r#"{"id":7,"type":"start","op":"write","value":1}
               {"id":9,"type":"start","op":"read"}
               {"id":9,"type":"finish","value":1}
               {"id":7,"type":"finish","value":null}
               {"id":7,"type":"start","op":"read"}"#,
        );
        assert_eq!((history.len(), history.pending()), (3, 1));
        assert_eq!(history[OpId(1)].outcome, Outcome::Returned(Value::Int(1)));
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        let ok = r#"{"client":0,"id":5,"event":"start","op":"read"}"#;
        for (line, expected) in [
            (r#"{"client":1,"op":"read"}"#, "`event` is missing; give start or finish"),
            (r#"{"client":1,"event":"pause","op":"read"}"#, "`event` must be start or finish"),
            (r#"{"client":1,"event":7,"op":"read"}"#, "`event` must be start or finish"),
            (r#"{"event":"start","op":"read"}"#, "only some lines have `client`"),
            (r#"{"client":"x","event":"start","op":"read"}"#, "`client` must be an integer from 0"),
            (r#"{"client":1,"process":1,"event":"start","op":"read"}"#, "mean the same; keep one"),
            (r#"{"client":1,"event":"start"}"#, "give its name in `op`"),
            (r#"{"client":1,"event":"start","op":1.5}"#, "the name of an operation, or 0, 1 or 2, found 1.5"),
            (r#"{"client":1,"event":"start","op":"w","value":0.5}"#, "numbers must be integers"),
            (r#"{"client":1,"event":"start","op":"read","id":5}"#, "the id 5 already belongs to an open operation"),
            (r#"{"client":1,"event":"start","op":"read","id":"a"}"#, "`id` must be an integer"),
            (r#"{"client":0,"event":"start","op":"read"}"#, "different processes"),
            (r#"{"client":1,"event":"finish","result":1}"#, "log its call first"),
            (r#"{"client":0,"event":"finish","id":6}"#, "no open operation has the id 6; log its start first"),
            (r#"{"client":1,"event":"finish","id":5}"#, "was started by client 0; give the same client on both lines"),
            (r#"{"client":0,"event":"finish","op":"write"}"#, "its open call is `read`"),
            (r#"{"client":0,"event":"finish","result":{"x":1}}"#, "give the result in `value`"),
            (r#"{"client":0,"event":"finish","result":0.5}"#, "numbers must be integers"),
            (r#"{"client":0,"event":"fin"#, "the file ends inside this line"),
            ("{:client 0}", "looks like EDN"),
        ] {
            let error = read(format!("{ok}\n\n{line}").as_bytes()).expect_err(line).to_string();
            assert!(error.starts_with("line 3: "), "{error} of {line}");
            assert!(error.contains(expected), "{error} of {line}");
        }
        let error = read(&br#"{"event":"start","op":"read"}"#[..]).expect_err("the line names no client").to_string();
        assert!(error.contains("`client` is missing; name the client"), "{error}");
        assert!(read(&b""[..]).expect("an empty file is a history").is_empty());
    }
}
