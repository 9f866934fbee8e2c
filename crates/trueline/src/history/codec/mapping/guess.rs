//! Proposes a mapping for a log, based on its first records.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::super::super::Value;
use super::super::field::{Names, Unfit, quoted};
use super::super::json::{self, Node, Object};
use super::super::lines::without_byte_order_mark;
use super::super::{CodecError, detect, document, table};
use super::path::Reached;
use super::source::Values;

/// Maximum number of records that are examined.
const MOST_RECORDS: usize = 500;

/// Maximum depth to which objects are examined.
const DEEPEST: usize = 4;

/// Maximum number of items of a list that are examined.
const MOST_ITEMS: usize = 16;

/// Maximum number of different texts of a field that are stored.
const MOST_TEXTS: usize = 64;

/// A proposal for a mapping.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Guess {
    /// The description of the mapping, which [`Mapping::from_json`](super::Mapping::from_json) can
    /// read. It may be incomplete.
    pub description: Json,
    /// Messages about fields that were not found or are doubtful. Each message also says what to do.
    pub doubts: Vec<String>,
    /// The fields of the records, by their paths.
    pub fields: Vec<String>,
}

/// The properties of a field.
#[derive(Debug, Default)]
struct Column {
    path: String,
    records: usize,
    numbers: usize,
    fractions: usize,
    /// The different texts in the examined records, at most [`MOST_TEXTS`] of them. If the set has
    /// this size, the records may contain more texts.
    texts: BTreeSet<String>,
    text_count: usize,
    times: usize,
}

impl Column {
    /// Returns the last name of the path, in lower case and without separators.
    fn name(&self) -> String {
        let path = match self.path.split_once("[key=") {
            Some((_, rest)) => rest.split(']').next().unwrap_or_default(),
            None => self
                .path
                .trim_end_matches(|c: char| c == ']' || c == '[' || c.is_ascii_digit() && self.path.ends_with(']')),
        };
        let last = path.rsplit('.').find(|part| !part.is_empty()).unwrap_or(path);
        last.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
    }

    /// Returns the name without a unit and without words that say only that the field is a time:
    /// `started_at_ms` has the stem `started`, and `t_start` has the stem `start`.
    fn stem(&self) -> String {
        let name = self.name();
        let mut stem = name.as_str();
        while let Some(rest) =
            TIME_SUFFIXES.iter().find_map(|suffix| stem.strip_suffix(suffix)).filter(|s| !s.is_empty())
        {
            stem = rest;
        }
        let is_known = |stem: &&str| [CALL, RETURN, DURATION].iter().any(|names| names.contains(stem));
        let mut rests = ["timestamp", "time", "ts", "t"].iter().filter_map(|prefix| stem.strip_prefix(prefix));
        let rest = if is_known(&stem) { None } else { rests.find(is_known) };
        rest.unwrap_or(stem).to_owned()
    }

    fn is_named(&self, name: &str) -> bool {
        self.name() == name
    }

    /// Returns whether `name` is the name of the field, possibly with a unit or another word for a
    /// time.
    fn is_time_of(&self, name: &str) -> bool {
        self.is_named(name) || self.stem() == name
    }

    /// Returns whether `name` is the name of the field without a unit or another word for a time,
    /// of which the field has at least one.
    fn is_marked_time_of(&self, name: &str) -> bool {
        self.stem() == name && !self.is_named(name)
    }

    fn is_time(&self) -> bool {
        self.numbers + self.fractions + self.times > 0 && self.text_count == self.times
    }

    /// Returns whether all values are texts that contain times.
    fn is_written_time(&self) -> bool {
        self.times > 0 && self.text_count == self.times && self.numbers + self.fractions == 0
    }

    /// Returns whether the field has one of the usual names for a value, and is inside an object
    /// that describes a response, as in `response.value`.
    fn is_in_answer(&self) -> bool {
        let mut parts = self.path.split('.').map(str::to_ascii_lowercase);
        VALUE.contains(&self.name().as_str()) && parts.any(|part| ANSWER.contains(&part.as_str()))
    }

    fn is_word(&self) -> bool {
        self.text_count > 0 && self.numbers + self.fractions == 0 && self.texts.len() < MOST_TEXTS
    }
}

const PROCESS: &[&str] = &[
    "process",
    "client",
    "clientid",
    "thread",
    "threadid",
    "worker",
    "workerid",
    "session",
    "sessionid",
    "who",
    "pid",
    "actor",
    "conn",
    "connection",
    "user",
    "goroutine",
    "proc",
    "tid",
    "task",
    "caller",
];
const FUNCTION: &[&str] = &[
    "f",
    "op",
    "operation",
    "operationname",
    "opname",
    "method",
    "cmd",
    "command",
    "function",
    "fn",
    "verb",
    "action",
    "call",
    "name",
    "what",
    "rpc",
    "api",
    "endpoint",
    "request",
    "query",
];
const KIND: &[&str] = &["type", "event", "ev", "kind", "phase", "stage", "status", "state", "what"];
/// Names of the times of calls; with a unit or another word for a time, as in `started_at_ms`, they
/// are recognized by their stems.
const CALL: &[&str] =
    &["call", "start", "begin", "invoke", "invoked", "t0", "called", "started", "began", "issued", "submitted", "sent"];
const RETURN: &[&str] = &[
    "return",
    "ret",
    "end",
    "finish",
    "complete",
    "completed",
    "t1",
    "stop",
    "te",
    "returned",
    "ended",
    "finished",
    "stopped",
    "done",
    "received",
];
/// Stems that name times only together with a unit or a word for a time, as in `request_ts`. On
/// their own, they name other things.
const CALL_STEMS: &[&str] = &["request", "req", "send", "submit", "issue"];
const RETURN_STEMS: &[&str] = &["response", "resp", "reply", "receive", "answer", "result", "res"];
const DURATION: &[&str] = &["duration", "elapsed", "latency", "took", "dur"];
const KEY: &[&str] = &["key", "k"];
const VALUE: &[&str] = &[
    "value",
    "val",
    "v",
    "arg",
    "args",
    "argument",
    "arguments",
    "input",
    "new",
    "newvalue",
    "param",
    "params",
    "payload",
];
const RESULT: &[&str] = &[
    "result", "output", "out", "ret", "returned", "answer", "response", "reply", "got", "res", "resp", "rv", "retval",
];
/// Names of objects that describe the response to a request.
const ANSWER: &[&str] = &["res", "resp", "response", "reply", "answer", "result", "output", "out", "ret"];
const OBJECT: &[&str] = &["object", "register", "account"];
const VERSION: &[&str] = &["version", "revision", "modrevision", "rev", "logindex"];
/// Ends of the names of times: units, and words for a time.
const TIME_SUFFIXES: &[&str] = &[
    "unixnano",
    "nanoseconds",
    "microseconds",
    "milliseconds",
    "seconds",
    "nanos",
    "micros",
    "millis",
    "secs",
    "sec",
    "ns",
    "us",
    "ms",
    "timestamp",
    "time",
    "ts",
    "at",
];
const TIME: &[&str] = &["time", "ts", "timestamp"];
const OLD: &[&str] = &["old", "expected", "oldvalue", "from"];
const NEW: &[&str] = &["new", "newvalue", "to"];

/// Returns the event type that a word usually stands for, by its name in trueline's format.
fn kind_of(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().trim_start_matches(':') {
        "invoke" | "start" | "begin" | "call" | "called" | "request" | "req" | "send" | "started" => "invoke",
        "ok" | "end" | "finish" | "return" | "returned" | "complete" | "completed" | "done" | "success"
        | "response" | "resp" | "reply" | "finished" | "ret" => "ok",
        "fail" | "failed" | "rejected" | "aborted" => "fail",
        "info" | "timeout" | "timedout" | "unknown" | "indeterminate" | "error" | "crash" => "info",
        _ => return None,
    })
}

/// Proposes a mapping for a file that begins with `start`. `start` is the whole file or its first megabyte.
///
/// ```
/// use trueline::history::codec::mapping::guess;
///
/// let guess = guess(b"client,op,arg,out,t0,t1\n1,write,5,,10,20\n")?;
/// assert_eq!(guess.description["process"], "client");
/// assert_eq!(guess.description["return"], "t1");
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Returns an error if there are no records, because the file is empty, or because it is neither JSON nor a table.
pub fn guess(start: &[u8]) -> Result<Guess, CodecError> {
    let text = match std::str::from_utf8(without_byte_order_mark(start)) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or(""),
    };
    let mut description = Map::new();
    let records = match text.trim_start().bytes().next() {
        _ if detect::has_columns(start) => of_columns(start)?,
        Some(b'{' | b'[') => match of_json(text, &mut description)? {
            Some(records) => records,
            None => return Ok(Guess { description: description.into(), doubts: Vec::new(), fields: Vec::new() }),
        },
        Some(_) => of_table(text, &mut description)?,
        None => return Err(CodecError::whole_file("the file is empty; give one with records")),
    };
    if records.is_empty() {
        let message = "there are no records at the beginning of the file; give JSON, or a table with column names in its first row";
        return Err(CodecError::whole_file(message));
    }
    let values = if description.contains_key("format") { Values::Text } else { Values::Plain };
    let mut columns = Vec::new();
    for record in &records {
        look_at_object(record, "", DEEPEST, values, &mut columns);
    }
    let fields = columns.iter().map(|column| column.path.clone()).collect();
    let doubts = choose(&columns, records.len(), &mut description);
    Ok(Guess { description: description.into(), doubts, fields })
}

/// Returns the first records of a JSON file. Returns `None` if there is a preset for this kind of
/// file.
fn of_json(text: &str, description: &mut Map<String, Json>) -> Result<Option<Vec<Object>>, CodecError> {
    let mut names = Names::default();
    if let Some(preset) = detect::preset(text.as_bytes()) {
        description.insert("extends".to_owned(), json!(preset));
        return Ok(None);
    }
    let mut records = Vec::new();
    if text.trim_start().starts_with('[') {
        let read = document::each_item(text.as_bytes(), 0, &[], &mut names, &mut |_, node| {
            if let (Node::Object(object), true) = (node, records.len() < MOST_RECORDS) {
                records.push(object);
            }
            Ok(())
        });
        // The text may be only the beginning of the file, so an error after the first record is ignored.
        return if records.is_empty() { read.map(|_| Some(records)) } else { Ok(Some(records)) };
    }
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).take(MOST_RECORDS) {
        match json::record(line, &mut names) {
            Ok(record) => records.push(record),
            Err(_) => break,
        }
    }
    if records.is_empty() {
        // In a document on several lines, the first list of objects contains the records.
        if let Ok(document) = json::record(text, &mut names) {
            if let Some(path) = list_of_objects(&document, "", DEEPEST) {
                description.insert("records".to_owned(), json!(format!("{path}[]")));
                let way: Vec<&str> = path.split('.').collect();
                document::each_item(text.as_bytes(), 0, &way, &mut names, &mut |_, node| {
                    if let (Node::Object(object), true) = (node, records.len() < MOST_RECORDS) {
                        records.push(object);
                    }
                    Ok(())
                })?;
            }
        }
    }
    Ok(Some(records))
}

fn list_of_objects(object: &Object, path: &str, depth: usize) -> Option<String> {
    object.fields().iter().find_map(|(name, node)| {
        let path = below(path, name)?;
        match node {
            Node::List(nodes) if nodes.iter().any(|node| matches!(node, Node::Object(_))) => Some(path),
            Node::Object(object) if depth > 0 => list_of_objects(object, &path, depth - 1),
            _ => None,
        }
    })
}

/// Returns the first rows of a file with typed columns.
#[cfg(feature = "_columns")]
fn of_columns(mut content: &[u8]) -> Result<Vec<Object>, CodecError> {
    let mut table = super::column_table(&mut content)?;
    let wanted = vec![true; table.names().len()];
    let mut records = Vec::new();
    let mut is_enough = false;
    let read = table.each(&wanted, &mut |batch| {
        for (row, number) in (0..batch.rows.min(MOST_RECORDS)).zip(batch.first..) {
            records.push(batch.object(row).map_err(|message| CodecError::at(number, message))?);
        }
        // The first batch is enough, so return an error to end the iteration.
        is_enough = true;
        Err(CodecError::whole_file(""))
    });
    if is_enough { Ok(records) } else { read.map(|()| records) }
}

#[cfg(not(feature = "_columns"))]
fn of_columns(_: &[u8]) -> Result<Vec<Object>, CodecError> {
    Err(CodecError::whole_file(super::super::NO_COLUMNS))
}

fn of_table(text: &str, description: &mut Map<String, Json>) -> Result<Vec<Object>, CodecError> {
    let first = text.lines().next().unwrap_or_default();
    let separator = table::separator(first);
    let mut rows = table::Rows::new(text.as_bytes(), separator);
    let (mut header, mut cells) = (Vec::new(), Vec::new());
    rows.next(&mut header)?;
    if header.len() < 2 {
        return Ok(Vec::new());
    }
    description.insert("format".to_owned(), json!("csv"));
    let mut records = Vec::new();
    while records.len() < MOST_RECORDS {
        // The last row may be incomplete.
        match rows.next(&mut cells) {
            Ok(Some(_)) if cells.len() == header.len() => {}
            _ => break,
        }
        let cells = header.iter().zip(&cells);
        let fields = cells.map(|(name, cell)| (name.as_str().into(), Node::Value(Ok(cell.as_str().into()))));
        records.push(Object::of_row(fields.collect()));
    }
    Ok(records)
}

/// Returns the path to a field; `None` for a name that cannot be part of a path.
fn below(path: &str, name: &str) -> Option<String> {
    if name.is_empty() || name.contains('"') {
        return None;
    }
    let name = if name.contains(['.', '[', ']', '^']) { format!("\"{name}\"") } else { name.to_owned() };
    Some(if path.is_empty() { name } else { format!("{path}.{name}") })
}

fn look_at_object(object: &Object, path: &str, depth: usize, values: Values, columns: &mut Vec<Column>) {
    for (name, node) in object.fields() {
        if let Some(path) = below(path, name) {
            look_at(node, path, depth, values, columns);
        }
    }
}

fn look_at(node: &Node, path: String, depth: usize, values: Values, columns: &mut Vec<Column>) {
    match node {
        Node::Object(object) if depth > 0 => look_at_object(object, &path, depth - 1, values, columns),
        Node::List(nodes) if depth > 0 => {
            for (index, node) in nodes.iter().enumerate().take(MOST_ITEMS) {
                let Node::Object(object) = node else {
                    look_at(node, format!("{path}[{index}]"), depth - 1, values, columns);
                    continue;
                };
                match (object.get("key"), object.get("value")) {
                    (Some(Node::Value(Ok(Value::Text(key)))), Some(value)) if !key.contains([']', '"']) => {
                        look_at(value, format!("{path}[key={key}].value"), depth - 1, values, columns);
                    }
                    _ => look_at_object(object, &format!("{path}[{index}]"), depth - 1, values, columns),
                }
            }
        }
        Node::Object(_) | Node::List(_) => {}
        Node::Value(_) => {
            let index = columns.iter().position(|column| column.path == path).unwrap_or_else(|| {
                columns.push(Column { path, ..Column::default() });
                columns.len() - 1
            });
            let column = &mut columns[index];
            column.records += 1;
            match values.read(Reached::Node(node)) {
                Ok(Value::Int(_)) => column.numbers += 1,
                Err(Unfit::Fraction(_)) => column.fractions += 1,
                Ok(Value::Text(text)) => {
                    column.text_count += 1;
                    column.times += usize::from(super::time::read(&Ok(Value::Text(text.clone())), None).is_ok());
                    if text.parse::<f64>().is_ok() && text.contains('.') {
                        column.fractions += 1;
                        column.text_count -= 1;
                    }
                    if column.texts.len() < MOST_TEXTS {
                        column.texts.insert(text.chars().take(100).collect());
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the column other than `call` that contains times as texts. Returns `None` if there is no such column, or if
/// there are several.
fn only_other<'c>(columns: &'c [Column], call: &str) -> Option<&'c Column> {
    let mut others = columns.iter().filter(|column| column.path != call && column.is_written_time());
    others.next().filter(|_| others.next().is_none())
}

/// Chooses columns for trueline's fields. Returns messages about doubtful choices.
fn choose(columns: &[Column], records: usize, description: &mut Map<String, Json>) -> Vec<String> {
    let mut doubts = Vec::new();
    let mut used: Vec<&str> = Vec::new();
    let mut find = |named: fn(&Column, &str) -> bool, names: &[&str], fits: &dyn Fn(&Column) -> bool| {
        let found: &Column = names.iter().find_map(|name| {
            columns.iter().find(|column| !used.contains(&&*column.path) && named(column, name) && fits(column))
        })?;
        used.push(&found.path);
        Some(found)
    };
    let is_kind = |column: &Column| {
        let kinds: BTreeSet<&str> = column.texts.iter().filter_map(|word| kind_of(word)).collect();
        column.is_word() && kinds.contains("invoke") && kinds.len() > 1
    };
    if let Some(kind) = find(Column::is_named, KIND, &is_kind) {
        description.insert("type".to_owned(), json!(kind.path));
        let mut types = Map::new();
        for word in &kind.texts {
            match kind_of(word) {
                Some(meaning) if meaning == word => {}
                Some(meaning) => {
                    types.insert(word.clone(), json!(meaning));
                    if meaning == "info" && word != "info" {
                        doubts.push(format!(
                            "`{}` is read as an unknown outcome; if it means that the operation did not happen, set it to fail",
                            quoted(word)
                        ));
                    }
                }
                None => {
                    types.insert(word.clone(), json!("skip"));
                    doubts.push(format!("records of the type `{}` are skipped, because the meaning of this type is unknown; correct `types` if they are events", quoted(word)));
                }
            }
        }
        if !types.is_empty() {
            description.insert("types".to_owned(), types.into());
        }
        if let Some(time) = find(Column::is_time_of, TIME, &Column::is_time) {
            description.insert("time".to_owned(), json!(time.path));
        }
    } else {
        let call = find(Column::is_time_of, CALL, &Column::is_time)
            .or_else(|| find(Column::is_marked_time_of, CALL_STEMS, &Column::is_time))
            .or_else(|| find(Column::is_time_of, TIME, &Column::is_time));
        match call {
            Some(call) => {
                let is_fraction = call.fractions > 0;
                if is_fraction {
                    description.insert("unit".to_owned(), json!("s"));
                    doubts.push("times are read as seconds, because they have fractions; correct `unit` if they are \
                        not".to_owned());
                }
                description.insert("call".to_owned(), json!(call.path));
                let ret = find(Column::is_time_of, RETURN, &Column::is_time)
                    .or_else(|| find(Column::is_marked_time_of, RETURN_STEMS, &Column::is_time));
                if let Some(ret) = ret {
                    description.insert("return".to_owned(), json!(ret.path));
                } else if let Some(duration) = find(Column::is_time_of, DURATION, &Column::is_time) {
                    description.insert("return".to_owned(), json!({"from": call.path, "plus": duration.path}));
                    doubts.push(format!("`{}` is read as the duration, in the unit of `{}`", quoted(&duration.path), quoted(&call.path)));
                } else if let Some(ret) = only_other(columns, &call.path) {
                    description.insert("return".to_owned(), json!(ret.path));
                    doubts.push(format!("`{}` is read as the time of the return", quoted(&ret.path)));
                } else {
                    doubts.push("no field looks like the time of the return; without it, all operations are read as pending".to_owned());
                }
            }
            None => doubts.push("no field looks like the type of an event (invoke, ok, ..) or the time of a call; add `type`, or `call` and `return`".to_owned()),
        }
    }
    match find(Column::is_named, FUNCTION, &Column::is_word) {
        Some(f) => {
            description.insert("f".to_owned(), json!(f.path));
            let is_cas = |word: &&String| {
                let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
                matches!(word.to_ascii_lowercase().as_str(), "cas" | "compareandset" | "compareandswap")
            };
            if let Some(cas) = f.texts.iter().find(is_cas) {
                let old = columns.iter().find(|column| OLD.contains(&column.name().as_str()));
                let new = columns.iter().find(|column| NEW.contains(&column.name().as_str()));
                if let (Some(old), Some(new)) = (old, new) {
                    let rule = json!({"when": format!("f == {}", json!(cas)), "value": [old.path, new.path]});
                    description.insert("rules".to_owned(), json!([rule]));
                }
            }
        }
        None => doubts.push("no field looks like the name of an operation; add `f`".to_owned()),
    }
    let is_any = |_: &Column| true;
    let is_argument = |column: &Column| !column.is_in_answer();
    for (ours, names) in [
        ("process", PROCESS),
        ("key", KEY),
        ("value", VALUE),
        ("result", RESULT),
        ("object", OBJECT),
        ("version", VERSION),
    ] {
        let found = match ours {
            "value" => find(Column::is_named, names, &is_argument),
            "result" => {
                find(Column::is_named, VALUE, &Column::is_in_answer).or_else(|| find(Column::is_named, names, &is_any))
            }
            _ => find(Column::is_named, names, &is_any),
        };
        match found {
            Some(column) => {
                if ours == "object" && column.records < records {
                    continue;
                }
                description.insert(ours.to_owned(), json!(column.path));
            }
            None if ours == "process" && description.contains_key("type") => {
                doubts.push("no field looks like the name of a process; add `process`".to_owned());
            }
            None if ours == "process" => {
                doubts.push(
                    "no field looks like the name of a process: operations that overlap are assigned to different processes"
                        .to_owned(),
                );
            }
            None if ours == "result" && !description.contains_key("type") => {
                doubts.push("no field looks like a result; add `result`".to_owned());
            }
            None => {}
        }
    }
    doubts
}
