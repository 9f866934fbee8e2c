//! Porcupine's files: its key-value histories, and its operations as JSON lines.
//!
//! **Key-value histories** ([`read_kv`]) have one EDN map on each line. Each map is an event as in [`jepsen_edn`], with
//! the key in `:key`:
//! ```edn
//! {:process 0, :type :invoke, :f :append, :key "7", :value "x"}
//! ```
//!
//! **Operations** ([`read_json`]) are Porcupine's `Operation` as Go serializes it, one JSON object on each line, in any
//! order:
//! ```json
//! {"ClientId":0,"Input":{"op":"put","key":"k","value":"v"},"Call":10,"Output":{"value":""},"Return":20}
//! ```
//! `ClientId` must be on every line or on none; without it, each operation gets its own process. If `Return` is null or
//! absent, the operation is pending. If an operation is called at the time at which another operation returns, the two
//! overlap. Names of fields are compared ignoring case, `_` and `-`, so that `client_id` and `return` are accepted;
//! other fields (`Metadata`) are ignored.
//!
//! `Input` is the call, in one of these forms:
//! - an object with the operation in `op` (or `f`, `operation`, `method`, `kind`, `type`), its key, if it has one, in
//!   `key`, and its argument in `value` (or `arg`, `args`, `val`); a compare-and-set may have `old` and `new` (or
//!   `expected` and `new`, `from` and `to`, `arg1` and `arg2`) instead;
//! - a list of operation and argument, or of operation, key and argument, such as `["put","k","v"]`; for a
//!   compare-and-set, a list of operation, old value and new value, or of operation, key, old value and new value;
//! - the name of an operation that has no argument, such as `"read"`.
//!
//! If the operation is a number, it is an operation of Porcupine's own models: with a key, 0 is
//! get, 1 is put and 2 is append; without a key, 0 is read, 1 is write and 2 is cas. If the
//! operation is a boolean, it is an operation of Porcupine's register: true is a read, false is a
//! write.
//!
//! The result is in `Output`: a value, or an object with the result in `value` (or `result`,
//! `ret`). In an object, `ok` is the result of a compare-and-set. If `exists` is false, the result
//! is null. If `unknown` is true, the operation never returned.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use super::super::interval::{CompactInterval, from_named_intervals, in_lanes};
use super::super::{Interval, ObjectId, Outcome, ProcessId, RawHistory, Record, Value};
use super::CodecError;
use super::document;
use super::edn::{Item, Reader, Shape};
use super::events::Events;
use super::field::{Names, Parsed, quoted, read_key, read_process, read_time, read_value, shorten, wrong};
use super::jepsen_edn::{self, Failed, Fields, add};
use super::json::{self, Node, Object};
use super::jsonl::{Key, Text, times};
use super::lines::Lines;
use super::survey::{Remarks, Trap};
use super::writing::for_each_event;

/// The expected contents of the files, for messages.
const KV: &str = "Porcupine's key-value events";
const JSON: &str = "Porcupine's operations as JSON lines";

/// Reads a key-value history, with one EDN map on each line.
///
/// ```
/// use trueline::history::codec::porcupine;
///
/// let history = porcupine::read_kv(&br#"
///     {:process 0, :type :invoke, :f :put, :key "7", :value "x"}
///     {:process 0, :type :ok, :f :put, :key "7", :value "x"}
/// "#[..])?;
/// assert_eq!(history.len(), 1);
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if a line does not have the form that the [module](self) describes, or if the events together do not form a
/// history.
pub fn read_kv(input: impl BufRead) -> Result<RawHistory, CodecError> {
    read_kv_with(input, None)
}

/// Reads as [`read_kv`] does, and collects remarks for a survey.
pub(super) fn read_kv_with(input: impl BufRead, remarks: Option<&mut Remarks>) -> Result<RawHistory, CodecError> {
    let mut names = Names::default();
    let mut lines = Lines::new(input, KV);
    let mut buffer = Vec::new();
    let mut events = Events::new(remarks);
    while let Some((number, line)) = lines.next(&mut buffer)? {
        if line.starts_with(';') {
            events.see(Trap::Comment, number, || "a comment".to_owned());
            continue;
        }
        let fields = read_map(line, number, &mut names)?;
        let is_process = !matches!(fields.process, Some(Ok(Value::Text(_))));
        if is_process && matches!(fields.key, None | Some(Ok(Value::Null))) {
            let message = "`:key` is missing; give the key on every line, or read the file as format `jepsen`";
            return Err(CodecError::at(number, message));
        }
        same_key(&events, &fields).map_err(|message| CodecError::at(number, message))?;
        add(&mut events, number, fields, Failed::Dropped).map_err(|fault| fault.at(number))?;
    }
    Ok(events.finish().1)
}

/// Writes a key-value history: an EDN map on each line. The caller must reject a history with named
/// objects, or with operations that have no key.
pub(super) fn write_all_kv(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    for_each_event(history, |operation, line| {
        jepsen_edn::write_map(&mut output, operation.process, &operation.op, line)?;
        output.write_all(b"\n")
    })?;
    output.flush()
}

/// Writes Porcupine's operations as JSON lines. The time of a call or a return is its position in the order of events,
/// as in [`jsonl::write_operations`](super::jsonl::write_operations). The caller must reject a history with named
/// objects.
pub(super) fn write_all_json(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    let times = times(history);
    for operation in history.operations() {
        let Record { f, key, value } = &operation.op;
        let (process, f, key) = (operation.process, Text(f), Key(key.as_ref()));
        let call = times[operation.call_position() as usize];
        write!(output, r#"{{"ClientId":{process},"Input":{{"op":{f}{key}"#)?;
        if !value.is_null() {
            write!(output, r#","value":{value}"#)?;
        }
        write!(output, r#"}},"Call":{call}"#)?;
        match (&operation.outcome, operation.return_position()) {
            (Outcome::Returned(result), Some(ret)) => {
                let ret = times[ret as usize];
                writeln!(output, r#","Output":{{"value":{result}}},"Return":{ret}}}"#)?;
            }
            _ => writeln!(output, r#","Return":null}}"#)?,
        }
    }
    output.flush()
}

/// Checks that a return has the same key as its call.
fn same_key(events: &Events<'_>, fields: &Fields) -> Result<(), String> {
    let (Some(Ok(Value::Int(process))), Some(Ok(key))) = (&fields.process, &fields.key) else { return Ok(()) };
    let open = u32::try_from(*process).ok().and_then(|process| events.open(process));
    match open.and_then(|open| open.key.as_ref()) {
        Some(called) if called != key && !is_invoke(&fields.kind) => Err(format!(
            "the key is {}, but the open call has the key {}; give the same key on both lines",
            shorten(key.to_string()),
            shorten(called.to_string())
        )),
        _ => Ok(()),
    }
}

fn is_invoke(kind: &Option<Parsed>) -> bool {
    matches!(kind, Some(Ok(Value::Text(name))) if &**name == "invoke")
}

/// Reads a line that consists of one map.
fn read_map(line: &str, number: u32, names: &mut Names) -> Result<Fields, CodecError> {
    let mut reader = Reader::of_line(line.as_bytes(), number, names);
    let Item::Open(Shape::Map) = reader.open()? else {
        let message = "this is not an EDN map; write one on each line, such as {:process 0, :type :invoke, :f :get, \
            :key \"k\", :value nil}";
        return Err(CodecError::at(number, message));
    };
    let fields = jepsen_edn::read_fields(&mut reader)?;
    match reader.open()? {
        Item::End => Ok(fields),
        _ => Err(CodecError::at(number, "there is more text after the map; write one map on each line")),
    }
}

/// Returns whether a line is an event of a key-value history.
pub(super) fn is_kv_event(line: &str) -> bool {
    read_map(line, 1, &mut Names::default())
        .is_ok_and(|fields| fields.process.is_some() && fields.kind.is_some() && fields.key.is_some())
}

/// Reads Porcupine's operations from JSON lines.
///
/// ```
/// use trueline::history::codec::porcupine;
///
/// let history = porcupine::read_json(&br#"
///     {"ClientId":0,"Input":{"op":1,"key":"k","value":"v"},"Call":10,"Output":{},"Return":20}
///     {"ClientId":1,"Input":{"op":"get","key":"k"},"Call":15,"Output":{"value":"v"},"Return":30}
/// "#[..])?;
/// assert_eq!(history.operations()[0].op.to_string(), r#"put("k", "v")"#);
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if a line does not have the form that the [module](self) describes, or if the operations together do not form
/// a history.
pub fn read_json(input: impl BufRead) -> Result<RawHistory, CodecError> {
    read_json_with(input, 0, None)
}

/// Reads as [`read_json`] does, with clocks that may differ by `skew` (see [`widen`](super::super::widen)), and collects
/// remarks for a survey.
pub(super) fn read_json_with(
    input: impl BufRead,
    skew: i64,
    remarks: Option<&mut Remarks>,
) -> Result<RawHistory, CodecError> {
    let mut intervals: Vec<CompactInterval<Record, Value>> = Vec::new();
    let mut clients: Option<bool> = None;
    document::each_object(input, JSON, json::object, &mut |number, object| {
        let next =
            u32::try_from(intervals.len()).map_err(|_| CodecError::at(number, "too many lines; split the file"))?;
        let interval =
            read_operation(object, number, next, &mut clients).map_err(|message| CodecError::at(number, message))?;
        intervals.push(interval.into());
        Ok(())
    })?;
    if let Some(remarks) = remarks {
        remarks.intervals(&mut intervals);
    }
    if skew > 0 {
        // Check the original times first, because widening may hide errors in them.
        from_named_intervals(intervals.clone(), Vec::new())?;
        intervals = in_lanes(intervals, skew);
    }
    Ok(from_named_intervals(intervals, Vec::new())?)
}

fn read_operation(
    mut object: Object,
    line: u32,
    next: u32,
    clients: &mut Option<bool>,
) -> Result<Interval<Record, Value>, String> {
    let client = object.take(&["clientid", "client", "process"])?;
    if *clients.get_or_insert(client.is_some()) != client.is_some() {
        return Err("only some lines have `ClientId`; give it on every line or on none".to_owned());
    }
    let process = match client {
        None => next,
        Some((name, client)) => read_process(&name, &client.into_value())?,
    };
    let (name, input) = object
        .take(&["input"])?
        .ok_or("`Input` is missing; name the operation, such as \"Input\":{\"op\":\"read\"}")?;
    let op = read_input(&name, input)?;
    let (name, call) = object
        .take(&["call", "calltime"])?
        .ok_or("`Call` is missing; give the time of the call as an integer, such as \"Call\":10")?;
    let call = read_time(&name, Some(call.into_value()))?
        .ok_or("`Call` is null; give the time of the call as an integer, such as \"Call\":10")?;
    let ret = match object.take(&["return", "returntime", "ret"])? {
        None => None,
        Some((name, ret)) => read_time(&name, Some(ret.into_value()))?,
    };
    let result = match object.take(&["output"])? {
        None => Some(Value::Null),
        Some((name, output)) => read_output(&name, output, &op)?,
    };
    let ret = match (ret, result) {
        (Some(ret), Some(result)) => Some((ret, result)),
        (_, None) | (None, Some(_)) => None,
    };
    Ok(Interval { process: ProcessId(process), object: ObjectId::default(), op, call, ret, line, version: None })
}

/// The accepted names of the field that contains the operation.
pub(super) const OP: &[&str] = &["op", "f", "operation", "method", "function", "kind", "type"];
const KEY: &[&str] = &["key", "k"];
const ARGUMENT: &[&str] = &["value", "arg", "args", "val", "v"];

/// Reads a call from the content of the field `field`.
pub(super) fn read_input(field: &str, input: Node) -> Result<Record, String> {
    match input {
        Node::Object(object) => read_call(field, object, OP),
        Node::Value(Ok(Value::Text(f))) => Ok(Record { f, key: None, value: Value::Null }),
        Node::Value(Ok(Value::List(values))) => {
            let Some(Value::Text(f)) = values.first() else {
                let found = Ok(Value::List(values));
                return Err(wrong(field, &found, "a list that begins with the operation", "write [\"write\",5]"));
            };
            let f = Arc::clone(f);
            match &values[1..] {
                [] => Ok(Record { f, key: None, value: Value::Null }),
                [value] => Ok(Record { f, key: None, value: value.clone() }),
                pair @ [_, _] if is_cas(&f) => Ok(Record { f, key: None, value: pair.iter().cloned().collect() }),
                [key, value] => Ok(Record { f, key: Some(key.clone()), value: value.clone() }),
                [key, pair @ ..] if is_cas(&f) && pair.len() == 2 => {
                    Ok(Record { f, key: Some(key.clone()), value: pair.iter().cloned().collect() })
                }
                _ => Err(format!(
                    "`{field}` is a list of {} items; write [operation, key, argument], and put several arguments into a \
                     list",
                    values.len()
                )),
            }
        }
        found => Err(wrong(
            field,
            &found.into_value(),
            "an object, a list or a name",
            "name the operation, such as {\"op\":\"write\",\"value\":5}",
        )),
    }
}

fn is_cas(f: &str) -> bool {
    matches!(f, "cas" | "compare-and-set" | "compare-and-swap" | "compareAndSet" | "compareAndSwap")
}

/// Reads a call from the fields of an object; `names` are the accepted names of the field that contains the operation.
pub(super) fn read_call(field: &str, mut object: Object, names: &[&str]) -> Result<Record, String> {
    let (name, op) = object.take(names)?.ok_or_else(|| {
        format!("`{field}` does not name the operation; give its name in `op`, such as \"op\":\"read\"")
    })?;
    let key = match object.take(KEY)? {
        None => None,
        Some((_, key)) => read_key(Some(key.into_value()))?,
    };
    let f = read_op(&name, op, key.is_some())?;
    let value = read_argument(&f, object)?;
    Ok(Record { f, key, value })
}

/// Reads the name of an operation. In Porcupine's own models, a number or a boolean stands for the name.
fn read_op(field: &str, op: Node, with_key: bool) -> Result<Arc<str>, String> {
    let op = op.into_value();
    let name = match &op {
        Ok(Value::Text(name)) => return Ok(Arc::clone(name)),
        Ok(Value::Int(number @ 0..=2)) => match (number, with_key) {
            (0, true) => "get",
            (1, true) => "put",
            (_, true) => "append",
            (0, false) => "read",
            (1, false) => "write",
            (_, false) => "cas",
        },
        Ok(Value::Bool(true)) => "read",
        Ok(Value::Bool(false)) => "write",
        found => {
            return Err(wrong(
                field,
                found,
                "the name of an operation, or 0, 1 or 2",
                "write a name, such as \"read\"",
            ));
        }
    };
    Ok(name.into())
}

fn read_argument(f: &str, mut object: Object) -> Result<Value, String> {
    if let Some((name, value)) = object.take(ARGUMENT)? {
        return read_value(&name, Some(value.into_value()));
    }
    for (old, new) in [(&["old", "expected", "from"][..], &["new", "to"][..]), (&["arg1"], &["arg2"])] {
        let old = object.take(old)?;
        let new = object.take(new)?;
        match (old, new) {
            (Some((old_name, old)), Some((new_name, new))) if is_cas(f) => {
                let old = read_value(&old_name, Some(old.into_value()))?;
                let new = read_value(&new_name, Some(new.into_value()))?;
                return Ok([old, new].into_iter().collect());
            }
            // Go also writes the fields that an operation does not use, with the value 0. So the `arg1` of a read is
            // ignored.
            (Some((name, _)), _) if &*name == "arg1" && matches!(f, "read" | "get") => {}
            (Some((name, value)), _) if &*name == "arg1" => return read_value(&name, Some(value.into_value())),
            (None, None) => {}
            (Some((name, _)), _) | (None, Some((name, _))) => {
                return Err(format!(
                    "`{name}` does not fit the operation `{}`; give `value`, or `old` and `new` for a cas",
                    quoted(f)
                ));
            }
        }
    }
    Ok(Value::Null)
}

/// Reads the result of `op` from the content of the field `field`; returns `None` if the operation never returned.
pub(super) fn read_output(field: &str, output: Node, op: &Record) -> Result<Option<Value>, String> {
    let mut object = match output {
        Node::Object(object) => object,
        value => return read_value(field, Some(value.into_value())).map(Some),
    };
    let flag = |object: &mut Object, names: &[&str]| -> Result<Option<bool>, String> {
        match object.take(names)?.map(|(name, node)| (name, node.into_value())) {
            None => Ok(None),
            Some((_, Ok(Value::Bool(flag)))) => Ok(Some(flag)),
            Some((name, found)) => Err(wrong(&name, &found, "true or false", "write one of these, or leave it out")),
        }
    };
    if flag(&mut object, &["unknown"])? == Some(true) {
        return Ok(None);
    }
    let ok = flag(&mut object, &["ok", "success", "swapped"])?;
    let exists = flag(&mut object, &["exists", "found"])?;
    if is_cas(&op.f) {
        if let Some(ok) = ok {
            return Ok(Some(Value::Bool(ok)));
        }
    }
    match object.take(&["value", "result", "ret", "val", "v"])? {
        _ if exists == Some(false) => Ok(Some(Value::Null)),
        Some((name, value)) => read_value(&name, Some(value.into_value())).map(Some),
        None if object.is_empty() => Ok(Some(ok.map_or(Value::Null, Value::Bool))),
        None => Err(format!("`{field}` has no `value`, only {}; give the result in `value`", object.names())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{OpId, Outcome};

    fn kv(text: &str) -> Result<RawHistory, CodecError> {
        read_kv(text.as_bytes())
    }

    fn operations(text: &str) -> Result<RawHistory, CodecError> {
        read_json(text.as_bytes())
    }

    #[test]
    fn key_value_histories() {
        let history = kv("; events
            {:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}
            {:process :nemesis, :type :info, :f :kill}
            {:process 1, :type :invoke, :f :get, :key \"0\", :value nil}
            {:process 0, :type :ok, :f :append, :key \"0\", :value \"x 0 0 y\"}
            {:process 1, :type :ok, :f :get, :key \"0\", :value \"\"}
            {:process 1, :type :invoke, :f :put, :key \"1\", :value \"z\"}")
        .expect("the history is well formed");
        assert_eq!((history.len(), history.pending()), (3, 1));
        assert_eq!(history[OpId(0)].op.to_string(), r#"append("0", "x 0 0 y")"#);
        assert_eq!(history[OpId(1)].outcome, Outcome::Returned("".into()));
    }

    #[test]
    fn faults_of_key_value_histories() {
        let ok = "{:process 0, :type :invoke, :f :get, :key \"0\", :value nil}";
        for (line, expected) in [
            ("{:process 1, :type :invoke, :f :get, :value nil}", "`:key` is missing; give the key on every line"),
            ("{:process 1, :type :invoke, :f :get, :key nil}", "`:key` is missing"),
            ("{:process 0, :type :ok, :f :get, :key \"1\"}", "the key is \"1\", but the open call has the key \"0\""),
            ("{:process 1, :type :invoke,", "the line ends inside the map that begins here"),
            ("[]", "this is not an EDN map; write one on each line"),
            ("5", "this is not an EDN map"),
            ("{:process 1, :type :invoke, :f :get, :key 1} {}", "write one map on each line"),
            ("{:process 1, :type :invoke, :f :get, :key 1.5}", "`key` holds 1.5"),
            ("{:process 1, :type :begin, :f :get, :key 1}", "invoke, ok, fail or info"),
            ("{:process x, :type", "the line ends inside the map"),
        ] {
            let error = kv(&format!("{ok}\n\n{line}")).expect_err(line).to_string();
            assert!(error.starts_with("line 3: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        assert!(kv("").expect("an empty file is a history").is_empty());
    }

    #[test]
    fn inputs_and_outputs() {
        for (input, output, shown, result) in [
            (r#"{"op":0,"key":"k","value":""}"#, r#"{"value":"v"}"#, r#"get("k", "")"#, Some("\"v\"")),
            (r#"{"Op":1,"Key":"k","Value":"v"}"#, "{}", r#"put("k", "v")"#, Some("null")),
            (r#"{"op":2,"key":"k","value":"v"}"#, r#"{"value":""}"#, r#"append("k", "v")"#, Some("\"\"")),
            (r#"{"op":"put","key":7,"value":8}"#, "null", "put(7, 8)", Some("null")),
            (r#"{"op":true}"#, "5", "read()", Some("5")),
            (r#"{"op":false,"value":5}"#, "0", "write(5)", Some("0")),
            (r#"{"op":0,"arg1":0,"arg2":0}"#, r#"{"ok":true,"exists":false,"value":0}"#, "read()", Some("null")),
            (r#"{"op":0,"arg1":0,"arg2":0}"#, r#"{"ok":true,"exists":true,"value":3}"#, "read()", Some("3")),
            (r#"{"op":1,"arg1":4,"arg2":0}"#, r#"{"ok":true,"unknown":false}"#, "write(4)", Some("true")),
            (r#"{"op":2,"arg1":4,"arg2":5}"#, r#"{"ok":false,"exists":false,"value":0}"#, "cas([4,5])", Some("false")),
            (r#"{"op":2,"arg1":4,"arg2":5}"#, r#"{"ok":false,"unknown":true}"#, "cas([4,5])", None),
            (r#"{"f":"cas","old":1,"new":2}"#, "true", "cas([1,2])", Some("true")),
            (r#"{"f":"cas","key":"a","from":1,"to":2}"#, "true", r#"cas("a", [1,2])"#, Some("true")),
            (r#"{"type":"cas","value":[1,2]}"#, "false", "cas([1,2])", Some("false")),
            (r#"["dequeue"]"#, "[1]", "dequeue()", Some("[1]")),
            (r#"["enqueue",5]"#, r#""ok""#, "enqueue(5)", Some("\"ok\"")),
            (r#"["put","k","v"]"#, "null", r#"put("k", "v")"#, Some("null")),
            (r#"["cas",1,2]"#, "true", "cas([1,2])", Some("true")),
            (r#"["cas","k",1,2]"#, "true", r#"cas("k", [1,2])"#, Some("true")),
            (r#""read""#, r#"{"result":2}"#, "read()", Some("2")),
        ] {
            let text =
                format!(r#"{{"ClientId":3,"Input":{input},"Call":1,"Output":{output},"Return":2,"Metadata":{{}}}}"#);
            let history = operations(&text).unwrap_or_else(|error| panic!("{error} in {text}"));
            assert_eq!(history[OpId(0)].op.to_string(), shown, "{text}");
            let found = history[OpId(0)].outcome.result().map(ToString::to_string);
            assert_eq!(found.as_deref(), result, "{text}");
        }
    }

    #[test]
    fn operations_in_any_order_and_without_clients() {
        let history = operations(
            r#"{"input":"read","output":7,"call":20,"return":30}
               {"input":["write",7],"output":null,"call":-5,"return":10}
               {"input":["write",8],"call":25}
               {"input":["write",9],"call":25,"return_time":null,"output":{"value":0}}"#,
        )
        .expect("the history is well formed");
        assert_eq!((history.len(), history.pending()), (4, 2));
        assert_eq!(history[OpId(0)].op.to_string(), "write(7)");
        assert!(history.precedes(OpId(0), OpId(1)));
        assert_eq!(history[OpId(0)].call_line(), Some(2));
    }

    #[test]
    fn faults_of_operations() {
        let ok = r#"{"ClientId":0,"Input":"read","Call":1,"Output":1,"Return":20}"#;
        for (line, expected) in [
            (r#"{"Input":"read","Call":1}"#, "only some lines have `ClientId`"),
            (r#"{"ClientId":"a","Input":"read","Call":1}"#, "`ClientId` must be an integer from 0"),
            (r#"{"ClientId":1,"Call":1}"#, "`Input` is missing; name the operation"),
            (r#"{"ClientId":1,"Input":"read"}"#, "`Call` is missing; give the time"),
            (r#"{"ClientId":1,"Input":"read","Call":null}"#, "`Call` is null; give the time"),
            (r#"{"ClientId":1,"Input":"read","Call":1.5}"#, "`Call` must be an integer"),
            (r#"{"ClientId":1,"Input":"read","Call":1,"Return":"x"}"#, "`Return` must be an integer"),
            (r#"{"ClientId":1,"Input":"read","Call":5,"Return":4}"#, "check the clock"),
            (r#"{"ClientId":0,"Input":"read","Call":10,"Return":30}"#, "different processes"),
            (r#"{"ClientId":1,"Input":5,"Call":1}"#, "`Input` must be an object, a list or a name, found 5"),
            (r#"{"ClientId":1,"Input":[5],"Call":1}"#, "a list that begins with the operation"),
            (r#"{"ClientId":1,"Input":["a",1,2,3,4],"Call":1}"#, "a list of 5"),
            (r#"{"ClientId":1,"Input":{"key":"k"},"Call":1}"#, "give its name in `op`"),
            (r#"{"ClientId":1,"Input":{"op":7},"Call":1}"#, "the name of an operation, or 0, 1 or 2, found 7"),
            (r#"{"ClientId":1,"Input":{"op":"write","old":1},"Call":1}"#, "`old` and `new` for a cas"),
            (r#"{"ClientId":1,"Input":{"op":"write","f":"w"},"Call":1}"#, "`op` and `f` mean the same; keep one"),
            (r#"{"ClientId":1,"Input":{"op":"w","value":{"a":1}},"Call":1}"#, "JSON object; write it as a list"),
            (r#"{"ClientId":1,"Input":{"op":"w","value":0.5},"Call":1}"#, "numbers must be integers"),
            (r#"{"ClientId":1,"Input":"read","Call":1,"Output":{"a":1},"Return":2}"#, "only `a`; give the result in"),
            (r#"{"ClientId":1,"Input":"read","Call":1,"Output":{"ok":1},"Return":2}"#, "`ok` must be true or false"),
            (r#"{"ClientId":1,"Input":"read","Call":1,"Output":1.5,"Return":2}"#, "`Output` holds 1.5"),
            (r#"{"ClientId":1,"Input":"read","Input":1}"#, "the key \"Input\" occurs twice"),
            (r#"{"ClientId":1,"#, "the file ends inside this line"),
            ("[]", "the line is a JSON list"),
            ("5", "write one on each line"),
            (r#"{"ClientId":1} {}"#, "write one object on each line"),
        ] {
            let error = operations(&format!("{ok}\n\n{line}")).expect_err(line).to_string();
            assert!(error.starts_with("line 3: "), "{error} of {line}");
            assert!(error.contains(expected), "{error} of {line}");
        }
        let deep = format!("{{\"Input\":{}1{}}}", "{\"a\":".repeat(200), "}".repeat(200));
        assert!(operations(&deep).is_err());
        assert!(operations(&format!("{{\"Input\":{}", "{\"a\":".repeat(100_000))).is_err());
    }
}
