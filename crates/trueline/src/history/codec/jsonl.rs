//! JSON lines: trueline's own format, whose field names mostly follow Jepsen's.
//!
//! A file has one JSON object on each line, in one of two forms.
//!
//! **Events**, ordered by line:
//! ```json
//! {"process":0,"type":"invoke","f":"enqueue","value":5,"time":123}
//! {"process":0,"type":"ok","f":"enqueue","value":5,"time":130}
//! ```
//! `ok` ends an operation with the result in `result`, or in `value` if there is no `result`. `fail` means that the
//! operation did not happen: it is dropped. `info` means that its outcome is unknown: it stays pending, as do
//! operations that are open at the end. `time` does not affect the history.
//!
//! A line of type `note` is not an operation: its `value` describes some other event during the
//! test, such as a failover. An `info` of a process whose name is not a number is read as a note,
//! too. See [`History::annotations`].
//! ```json
//! {"type":"note","value":"n2 is the leader","time":127}
//! ```
//!
//! **Whole operations**, in any order, with the times of call and return:
//! ```json
//! {"process":0,"f":"dequeue","value":null,"result":5,"call":10,"return":20}
//! ```
//! If `return` is null or absent, the operation is pending. If an operation is called at the time at which another
//! operation returns, the two overlap. An optional integer `id` must be unique. In this form, a note needs a `time`.
//!
//! Instead of lines, a file of either form may contain a JSON array of such objects, as Jepsen's and Elle's tools write
//! it.
//!
//! A line of type `ok`, or of a whole operation, may have a `version` that the object returned with
//! the result. The version is a hint about the order of updates: see [`Builder::version`].
//!
//! In both forms, `key` is optional. If there are several objects, `object` (a string or an integer) names the object
//! of an operation. `object` must be on every line or on none. Other fields are ignored. Values are null, booleans,
//! 64-bit integers, strings, and lists of these.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};

#[expect(unused_imports, reason = "only the documentation uses this import")]
use super::super::Builder;
use super::super::interval::{CompactInterval, from_named_intervals, in_lanes};
use super::super::{Annotation, EventKind, History, Interval, ObjectId, Outcome, ProcessId, RawHistory, Value};
use super::CodecError;
use super::document;
use super::events::{End, Events, Fault};
use super::field::{
    Kind, Names, Parsed, Unfit, annotation, named_object, quoted, read_kind, read_name, read_object, read_process,
    read_record, read_time, read_value, wrong,
};
use super::fields::Fields;
use super::intake::{Intake, Plain, Taken};
use super::json::{LIST, Node, ValueSeed, syntax_message, twice};
use super::lines::Lines;
use super::notes::Note;
use super::quick::{FieldOrder, Name as QuickName, Quick};
use super::survey::{Remarks, Trap};

/// The expected content of the file, for messages.
const WHAT: &str = "JSON lines";

/// Reads a history from JSON lines of events or of whole operations.
///
/// ```
/// use trueline::history::codec::jsonl;
///
/// let history = jsonl::read(&br#"
///     {"process":0,"type":"invoke","f":"write","value":1}
///     {"process":1,"type":"invoke","f":"read"}
///     {"process":0,"type":"ok","f":"write","value":1}
///     {"process":1,"type":"ok","f":"read","value":1}
/// "#[..])?;
/// assert_eq!(history.len(), 2);
/// # Ok::<(), trueline::history::codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if a line does not have the form that the [module](self) describes, or if the lines together do not form a
/// history.
pub fn read(input: impl BufRead) -> Result<RawHistory, CodecError> {
    read_with(input, 0, None)
}

/// Reads as [`read`] does, with clocks that may differ by `skew` (see [`widen`](super::super::widen)), and collects
/// remarks for a survey.
pub(super) fn read_with(
    input: impl BufRead,
    skew: i64,
    remarks: Option<&mut Remarks>,
) -> Result<RawHistory, CodecError> {
    read_into(input, skew, File::new(remarks)).map(|(_, history)| history)
}

/// Reads all lines into `file`, which must be empty.
pub(super) fn read_into<I: Intake>(
    mut input: impl BufRead,
    skew: i64,
    mut file: File<'_, I>,
) -> Result<Taken<I>, CodecError> {
    let (start, blank_lines) = document::first_byte(&mut input)?;
    if start == Some(b'[') {
        file.see(Trap::Container, blank_lines + 1, || "an array around the objects".to_owned());
        document::each_item(input, blank_lines, &[], &mut Names::default(), &mut |line, node| {
            let Node::Object(object) = node else {
                return Err(CodecError::at(line, "an item of the array is not an object; write objects only"));
            };
            file.add(line, Fields::of(object)).map_err(|fault| fault.at(line))
        })?;
        return file.finish(skew);
    }
    let mut lines = Lines::from_line(input, WHAT, blank_lines);
    let mut buffer = Vec::new();
    loop {
        // Almost all lines of a long file have the usual form. The first line, and lines of any other form,
        // are read by `parse`.
        if file.takes_quick_lines() {
            lines.each_usual(&mut |number, bytes| file.add_quickly(number, bytes))?;
        }
        let Some((number, line)) = lines.next(&mut buffer)? else { break };
        match parse(line, &mut file.names) {
            Ok(fields) => file.add(number, fields).map_err(|fault| fault.at(number))?,
            Err(error) => return Err(CodecError::at(number, syntax_message(&error, line, lines.at_end()))),
        }
    }
    file.finish(skew)
}

/// Writes the events of a history, one on each line.
///
/// Operations that never returned stay open, except that an `info` is written before their process calls again. An
/// optional operation (see [`Outcome::Optional`]) is written as one that never returned, so its result is lost.
///
/// # Errors
/// Fails if writing fails. Also fails, with [`io::ErrorKind::InvalidInput`], if a process calls an
/// operation at the time at which its previous one returns. Events cannot express such operations;
/// [`write_operations`] can.
pub fn write_events(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    let mut open: HashMap<ProcessId, bool> = HashMap::new();
    let mut annotations = history.annotations().iter().peekable();
    for (position, event) in (0..).zip(history.events()) {
        while let Some(annotation) = annotations.next_if(|annotation| annotation.position <= position) {
            writeln!(output, r#"{{"type":"note","value":{}}}"#, Text(&annotation.text))?;
        }
        let operation = &history[event.op()];
        let process = operation.process;
        let record = &operation.op;
        let object = ObjectField(history.object_name(operation.object));
        let f = Text(&record.f);
        match event.kind() {
            EventKind::Call => {
                let returns = operation.return_position().is_some();
                match open.insert(process, returns) {
                    None => {}
                    Some(false) => {
                        writeln!(output, r#"{{"process":{process},"type":"info"{object}}}"#)?;
                    }
                    Some(true) => {
                        let message = format!(
                            "process {process} calls an operation at the same time as its previous one returns, \
                             which events cannot express; write whole \
                             operations"
                        );
                        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
                    }
                }
                let key = Key(record.key.as_ref());
                let value = &record.value;
                writeln!(output, r#"{{"process":{process},"type":"invoke","f":{f}{key},"value":{value}{object}}}"#)?;
            }
            EventKind::Return => {
                open.remove(&process);
                let result = operation.outcome.result().unwrap_or(&Value::Null);
                let version = Version(operation.version());
                writeln!(output, r#"{{"process":{process},"type":"ok","f":{f},"value":{result}{object}{version}}}"#)?;
            }
        }
    }
    for annotation in annotations {
        writeln!(output, r#"{{"type":"note","value":{}}}"#, Text(&annotation.text))?;
    }
    output.flush()
}

/// Writes a history as whole operations, one on each line. The time of a call or a return is its position in the order
/// of events. The only exception: if a process calls an operation at the time at which its previous one returns, this
/// call, this return and all events between them are written with equal times.
///
/// An optional operation (see [`Outcome::Optional`]) is written as one that never returned, so its result is lost.
///
/// # Errors
/// Fails if writing fails.
pub fn write_operations(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    let times = times(history);
    for operation in history.operations() {
        let record = &operation.op;
        let process = operation.process;
        let f = Text(&record.f);
        let key = Key(record.key.as_ref());
        let value = &record.value;
        let object = ObjectField(history.object_name(operation.object));
        let call = times[operation.call_position() as usize];
        write!(output, r#"{{"process":{process},"f":{f}{key},"value":{value}{object}"#)?;
        match (&operation.outcome, operation.return_position()) {
            (Outcome::Returned(result), Some(ret)) => {
                let ret = times[ret as usize];
                let version = Version(operation.version());
                writeln!(output, r#","result":{result},"call":{call},"return":{ret}{version}}}"#)?;
            }
            _ => writeln!(output, r#","call":{call},"return":null}}"#)?,
        }
    }
    for annotation in history.annotations() {
        // If a note has the same time as an event, the reader of the file places the note after the
        // event.
        let time = annotation.position.checked_sub(1).map(|before| times[before as usize]);
        let time = time.map_or_else(|| "-1".to_owned(), |time| time.to_string());
        writeln!(output, r#"{{"type":"note","value":{},"time":{time}}}"#, Text(&annotation.text))?;
    }
    output.flush()
}

/// Returns a time for each event. Reading the operations with these times gives the same history.
///
/// If a process makes a call before its previous operation has returned, the call and that return
/// have equal times (see [`from_intervals`](super::super::from_intervals)). So this call, that
/// return and all events between them get the same time.
pub(super) fn times(history: &RawHistory) -> Vec<usize> {
    let mut returned: HashMap<ProcessId, usize> = HashMap::new();
    // A stretch is a range of events, from a call to a return, that get equal times. The entry of each event is the
    // number of stretches that begin at the previous event, minus the number of stretches that end at the previous
    // event.
    let mut stretches = vec![0i32; history.events().len() + 1];
    for operation in history.operations() {
        let call = operation.call_position() as usize;
        if let Some(&ret) = returned.get(&operation.process).filter(|&&ret| ret > call) {
            stretches[call + 1] += 1;
            stretches[ret + 1] -= 1;
        }
        if let Some(ret) = operation.return_position() {
            let latest = returned.entry(operation.process).or_default();
            *latest = (*latest).max(ret as usize);
        }
    }
    let mut open = 0;
    let mut time = 0;
    let mut times = Vec::with_capacity(history.events().len());
    for (position, change) in stretches.iter().take(history.events().len()).enumerate() {
        open += change;
        if open == 0 {
            time = position;
        }
        times.push(time);
    }
    times
}

/// Formats a text as a JSON string.
pub(super) struct Text<'a>(pub(super) &'a Arc<str>);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::Text(Arc::clone(self.0)).fmt(f)
    }
}

/// Formats the field `key`, if there is a key.
pub(super) struct Key<'a>(pub(super) Option<&'a Value>);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |key| write!(f, r#","key":{key}"#))
    }
}

/// Formats the field `object`, if the object has a name.
struct ObjectField<'a>(Option<&'a str>);

impl fmt::Display for ObjectField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |name| write!(f, r#","object":{}"#, named_object(name)))
    }
}

/// Formats the field `version`, if there is a version.
struct Version(Option<i64>);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |version| write!(f, r#","version":{version}"#))
    }
}

fn parse(line: &str, names: &mut Names) -> Result<Fields, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(line);
    let fields = FieldsSeed(names).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(fields)
}

struct FieldsSeed<'n>(&'n mut Names);

impl<'de> DeserializeSeed<'de> for FieldsSeed<'_> {
    type Value = Fields;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldsSeed<'_> {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object such as {\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}; write one on each line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        // Names of ignored fields; usually there are none.
        let mut others: HashSet<Box<str>> = HashSet::new();
        while let Some(Name { slot, other }) = map.next_key_seed(NameSeed(&mut fields))? {
            match slot {
                Some(slot) => {
                    if slot.is_some() {
                        return Err(twice(&other));
                    }
                    *slot = Some(map.next_value_seed(ValueSeed::new(self.0))?);
                }
                None => {
                    if fields.other.is_none() {
                        fields.other = Some(other.clone());
                    }
                    if let Some(name) = others.replace(other) {
                        return Err(twice(&name));
                    }
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Fields, A::Error> {
        Err(A::Error::custom(LIST))
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Fields, E> {
        // serde's message would repeat the whole string, which may be very long.
        Err(E::invalid_type(Unexpected::Other("string"), &self))
    }
}

/// The slot for the value of a field. If the field has no slot, or if its slot is already filled,
/// `other` is the name of the field.
struct Name<'f> {
    slot: Option<&'f mut Option<Parsed>>,
    other: Box<str>,
}

struct NameSeed<'f>(&'f mut Fields);

impl<'de, 'f> DeserializeSeed<'de> for NameSeed<'f> {
    type Value = Name<'f>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name<'f>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'f> Visitor<'_> for NameSeed<'f> {
    type Value = Name<'f>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name<'f>, E> {
        let slot = self.0.slot(name);
        let known = matches!(slot, Some(None));
        Ok(Name { slot, other: if known { Box::default() } else { name.into() } })
    }
}

/// The lines that have been read so far.
pub(super) struct File<'r, I: Intake = Plain> {
    names: Names,
    /// The order of the fields in lines of the usual form.
    order: FieldOrder,
    content: Content<'r, I>,
    /// Remarks for a survey, if one is requested. They are passed on to `Events` once the first
    /// event has been read.
    remarks: Option<&'r mut Remarks>,
    /// Whether lines name an object, as determined by the first line.
    named: Option<bool>,
    /// Annotations with their lines and times, which are stored here until the positions of events
    /// are known.
    annotations: Vec<(u32, Option<i64>, String)>,
    /// Whether operations may lack a process. Operations without a process are assigned to
    /// different processes if they overlap.
    without_processes: bool,
    /// The notes of another file that have not been added yet, sorted by time.
    notes: VecDeque<Note>,
    /// Whether any event has a time. This is recorded only if there are notes of another file.
    has_times: bool,
}

enum Content<'r, I: Intake> {
    /// No line has been read, so it is unknown whether the file has events or whole operations.
    Nothing(I),
    Events(Box<Events<'r, I>>),
    Operations(Operations<I>),
    /// A placeholder while the content is being replaced.
    Replaced,
}

struct Operations<I: Intake> {
    intake: I,
    intervals: Vec<CompactInterval<I::Op, I::Ret>>,
    objects: Vec<Arc<str>>,
    object_ids: HashMap<Arc<str>, ObjectId>,
    /// The line of each `id`.
    ids: HashMap<i64, u32>,
}

impl<'r> File<'r> {
    pub(super) fn new(remarks: Option<&'r mut Remarks>) -> Self {
        Self::with(Plain, remarks)
    }
}

impl<'r, I: Intake> File<'r, I> {
    /// Creates a file whose operations are converted by `intake`.
    pub(super) fn with(intake: I, remarks: Option<&'r mut Remarks>) -> Self {
        Self {
            names: Names::default(),
            order: FieldOrder::default(),
            content: Content::Nothing(intake),
            remarks,
            named: None,
            annotations: Vec::new(),
            without_processes: false,
            notes: VecDeque::new(),
            has_times: false,
        }
    }

    /// Sets the notes of another file, which must be sorted by time.
    pub(super) fn with_notes(self, notes: &[Note]) -> Self {
        Self { notes: notes.iter().cloned().collect(), ..self }
    }

    /// Adds the notes of another file that are earlier than `time`, the time of the next event.
    fn pass_notes(&mut self, time: i64) {
        self.has_times = true;
        while self.notes.front().is_some_and(|note| note.time < time) {
            let Some(note) = self.notes.pop_front() else { break };
            self.annotate(0, Some(note.time), note.text);
        }
    }

    /// Returns whether remarks are collected for a survey.
    pub(super) fn is_surveyed(&self) -> bool {
        match &self.content {
            Content::Events(events) => events.is_surveyed(),
            _ => self.remarks.is_some(),
        }
    }

    /// Returns a file that also accepts whole operations without a process. Events must always have a process.
    pub(super) fn without_processes(self) -> Self {
        Self { without_processes: true, ..self }
    }

    /// Records a remark.
    pub(super) fn see(&mut self, trap: Trap, line: u32, what: impl FnOnce() -> String) {
        match (&mut self.content, &mut self.remarks) {
            (Content::Events(events), _) => events.see(trap, line, what),
            (_, Some(remarks)) => remarks.see(trap, line, what),
            _ => {}
        }
    }

    /// Records an annotation about something other than an operation, such as a failover.
    fn annotate(&mut self, line: u32, time: Option<i64>, text: String) {
        match &mut self.content {
            Content::Events(events) => events.annotate(line, text),
            _ => self.annotations.push((line, time, text)),
        }
    }

    pub(super) fn add(&mut self, number: u32, mut fields: Fields) -> Result<(), Fault> {
        if matches!(&fields.kind, Some(Ok(Value::Text(kind))) if &**kind == "note") {
            let text = annotation(None, fields.f.as_ref(), fields.value.as_ref());
            let time = read_time("time", fields.time.take())?;
            if time.is_none() && matches!(self.content, Content::Operations(_)) {
                return Err("the note has no `time`, so its place among whole operations is unknown; add `time`".into());
            }
            self.annotate(number, time, text);
            return Ok(());
        }
        let is_event = match (&fields.kind, &fields.call) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(_), Some(_)) => {
                return Err("the line has both `type` and `call`; give `type` for an event, or `call` and `return` for a whole operation".into());
            }
            (None, None) => {
                return Err("the line has neither `type` nor `call`; give `type` (invoke, ok, fail, info) for an event, or `call` and `return` for a whole operation".into());
            }
        };
        match &fields.time {
            None | Some(Ok(Value::Null | Value::Int(_)) | Err(Unfit::Fraction(_) | Unfit::Big(_))) => {}
            Some(time) => {
                return Err(wrong("time", time, "a number or null", "leave it out if the time is unknown").into());
            }
        }
        if let (true, Some(Ok(Value::Int(time))), false) = (is_event, &fields.time, self.notes.is_empty()) {
            self.pass_notes(*time);
        }
        let kind = fields.kind.take().map(|kind| read_kind(&kind)).transpose()?;
        let process = fields.process.as_ref().map_or_else(
            || Err("`process` is missing; name the process that called, such as \"process\":0".to_owned()),
            |process| read_process("process", process),
        );
        let process = match (process, kind) {
            (Ok(process), _) => process,
            (Err(_), None) if self.without_processes && fields.process.is_none() => NO_PROCESS,
            // Jepsen logs the actions of its nemesis, which injects faults, between the operations.
            (Err(_), Some(Kind::Info)) if matches!(fields.process, Some(Ok(Value::Text(_)))) => {
                self.see(Trap::Nemesis, number, || "the process has a name".to_owned());
                let name = match &fields.process {
                    Some(Ok(Value::Text(name))) => Some(&**name),
                    _ => None,
                };
                let text = annotation(name, fields.f.as_ref(), fields.value.as_ref());
                self.annotate(number, read_time("time", fields.time.take()).unwrap_or_default(), text);
                return Ok(());
            }
            (Err(message), _) => return Err(message.into()),
        };
        let object = read_object(fields.object.as_ref())?;
        match (object.is_some(), self.named.get_or_insert(object.is_some())) {
            (true, false) => {
                return Err(
                    "this line names an `object`, but earlier lines do not; name it on every line or on none".into()
                );
            }
            (false, true) => {
                return Err(
                    "this line names no `object`, but earlier lines do; name it on every line or on none".into()
                );
            }
            _ => {}
        }
        let object = object.as_deref();
        self.content = match std::mem::replace(&mut self.content, Content::Replaced) {
            Content::Nothing(intake) if is_event => {
                let mut events = Events::with(intake, self.remarks.take());
                for (line, _, text) in std::mem::take(&mut self.annotations) {
                    events.annotate(line, text);
                }
                Content::Events(Box::new(events))
            }
            Content::Nothing(intake) => Content::Operations(Operations::new(intake)),
            content => content,
        };
        if let Some(other) = fields.other.take() {
            self.see(Trap::OtherField, number, || format!("`{}`", quoted(&other)));
        }
        if let Content::Events(events) = &mut self.content {
            events.time(number, process, fields.time.as_ref());
        }
        match (&mut self.content, kind) {
            (Content::Events(events), Some(kind)) => add_event(events, number, kind, process, object, fields),
            (Content::Operations(operations), None) => operations.add(number, process, object, fields),
            (Content::Events(_), None) => Err("this line is a whole operation (it has `call`), but earlier lines are events (they have `type`); use only one of the two forms in a file".into()),
            _ => Err("this line is an event (it has `type`), but earlier lines are whole operations (they have `call`); use only one of the two forms in a file".into()),
        }
    }

    /// Returns whether [`add_quickly`](Self::add_quickly) may be called. It may be called once the
    /// first line has been read, unless a survey is requested.
    fn takes_quick_lines(&self) -> bool {
        !self.is_surveyed() && matches!(self.content, Content::Events(_) | Content::Operations(_))
    }

    /// If the line at the beginning of `bytes` has the usual form, adds the line, and returns its length, including the
    /// line end. Otherwise, returns `None`, and the caller must use [`parse`] and [`add`](Self::add) instead, which
    /// have the same effect.
    fn add_quickly(&mut self, number: u32, bytes: &[u8]) -> Result<Option<usize>, CodecError> {
        let mut line = Quick::default();
        let Some(length) = Quick::read(bytes, &mut line, &mut self.names, &mut self.order) else { return Ok(None) };
        Ok(self.add_quick(number, &mut line)?.then_some(length))
    }

    /// Adds a line of the usual form. Returns `false` if the line was not added. In this case, the caller must read the
    /// line in another way.
    pub(super) fn add_quick(&mut self, number: u32, line: &mut Quick<'_>) -> Result<bool, CodecError> {
        if self.named != Some(line.object.is_some()) {
            return Ok(false);
        }
        if let (Some(_), Some(time), false) = (line.kind, line.time, self.notes.is_empty()) {
            self.pass_notes(time);
        }
        let names = &mut self.names;
        let added = match &mut self.content {
            Content::Events(events) => line.add_event(events, number, names),
            Content::Operations(operations) => line.add_operation(operations, number, names),
            Content::Nothing(_) | Content::Replaced => None,
        };
        added.transpose().map(|added| added.is_some()).map_err(|fault| fault.at(number))
    }

    pub(super) fn finish(mut self, skew: i64) -> Result<Taken<I>, CodecError> {
        if let (Content::Events(_), false, false) = (&self.content, self.has_times, self.notes.is_empty()) {
            return Err(CodecError::whole_file(
                "the events have no `time`, so the places of the notes among them are unknown; log a `time` with each event, or leave the notes out",
            ));
        }
        for note in std::mem::take(&mut self.notes) {
            self.annotate(0, Some(note.time), note.text);
        }
        // The table of repeated strings is no longer needed, because the history shares these
        // strings now.
        drop(self.names);
        let history = match self.content {
            Content::Nothing(intake) => (intake, History::builder().finish()),
            Content::Replaced => unreachable!("the placeholder is replaced immediately"),
            Content::Events(_) if skew > 0 => return Err(CodecError::no_times()),
            Content::Events(events) => events.finish(),
            Content::Operations(operations) => {
                let Operations { intake, mut intervals, objects, .. } = operations;
                if self.without_processes {
                    intervals = with_processes(intervals);
                }
                if let Some(remarks) = self.remarks {
                    remarks.intervals(&mut intervals);
                }
                if skew > 0 {
                    // Check the original times first, because widening may hide errors in them.
                    from_named_intervals(intervals.clone(), objects.clone())?;
                    intervals = in_lanes(intervals, skew);
                }
                let places = places(&intervals, self.annotations);
                let mut history = from_named_intervals(intervals, objects)?;
                history.annotations = places;
                (intake, history)
            }
        };
        Ok(history)
    }
}

/// Places annotations among whole operations, each at the position that follows from its time. Annotations without a
/// time are left out. An annotation at the time of an event comes after this event.
fn places<Op, Ret>(
    intervals: &[CompactInterval<Op, Ret>],
    annotations: Vec<(u32, Option<i64>, String)>,
) -> Vec<Annotation> {
    let mut timed: Vec<(i64, u32, String)> =
        annotations.into_iter().filter_map(|(line, time, text)| Some((time?, line, text))).collect();
    if timed.is_empty() {
        return Vec::new();
    }
    timed.sort();
    let returns = intervals.iter().filter_map(CompactInterval::ret);
    let mut times: Vec<i64> = intervals.iter().map(|interval| interval.call).chain(returns).collect();
    times.sort_unstable();
    let place = |(time, line, text): (i64, u32, String)| {
        let before = times.partition_point(|event| *event <= time);
        Annotation { position: u32::try_from(before).unwrap_or(u32::MAX), line, text: text.into() }
    };
    timed.into_iter().map(place).collect()
}

/// A placeholder for the process of operations that do not name a process, until all operations are
/// known.
const NO_PROCESS: u32 = u32::MAX;

/// Assigns processes to operations that do not name one. Operations that overlap get different processes.
fn with_processes<Op, Ret>(intervals: Vec<CompactInterval<Op, Ret>>) -> Vec<CompactInterval<Op, Ret>> {
    let (mut unnamed, mut named): (Vec<_>, Vec<_>) =
        intervals.into_iter().partition(|interval| interval.process == ProcessId(NO_PROCESS));
    let next = named.iter().map(|interval| interval.process.0.saturating_add(1)).max().unwrap_or(0);
    for interval in &mut unnamed {
        interval.process = ProcessId(next);
    }
    named.extend(in_lanes(unnamed, 0));
    named
}

/// Adds a line with an event.
fn add_event<I: Intake>(
    events: &mut Events<'_, I>,
    number: u32,
    kind: Kind,
    process: u32,
    object: Option<&str>,
    fields: Fields,
) -> Result<(), Fault> {
    let end = match kind {
        Kind::Invoke => {
            let record = read_record(fields.f, fields.key, fields.value)?;
            return events.call(number, process, object, record);
        }
        Kind::Ok => {
            let (field, result) = match fields.result {
                Some(result) => ("result", Some(result)),
                None => ("value", fields.value),
            };
            End::Ok(read_value(field, result))
        }
        Kind::Fail => End::Fail,
        Kind::Info => End::Info,
    };
    let f = fields.f.map(|f| read_name(Some(f))).transpose()?;
    let version = read_time("version", fields.version)?;
    events.end(number, process, object, f.as_deref(), end, version)
}

impl<I: Intake> Operations<I> {
    fn new(intake: I) -> Self {
        Self { intake, intervals: Vec::new(), objects: Vec::new(), object_ids: HashMap::new(), ids: HashMap::new() }
    }

    fn add(&mut self, number: u32, process: u32, object: Option<&str>, fields: Fields) -> Result<(), Fault> {
        if let Some(id) = fields.id {
            let Ok(Value::Int(int)) = id else {
                return Err(wrong("id", &id, "an integer", "number the operations, or leave it out").into());
            };
            self.identify(number, int)?;
        }
        let call = read_time("call", fields.call)?
            .ok_or_else(|| "`call` is null; give the time of the call as an integer".to_owned())?;
        let result = read_value("result", fields.result)?;
        let ret = match read_time("return", fields.ret)? {
            Some(ret) => Some((ret, result)),
            None if result.is_null() => None,
            None => {
                return Err(
                    "the operation has a `result`, but no `return` time; add the time, or leave out the result if the \
                     operation never returned"
                        .into(),
                );
            }
        };
        let version = read_time("version", fields.version)?;
        let record = read_record(fields.f, fields.key, fields.value)?;
        let object = object.map(|name| self.object(name)).unwrap_or_default();
        let (ret, result) = ret.unzip();
        let (op, result) = self.intake.whole(number, process, call, record, result);
        self.push(number, process, object, op, (call, ret.zip(result)), version);
        Ok(())
    }

    /// Records the `id` of an operation, which must be unique.
    fn identify(&mut self, number: u32, id: i64) -> Result<(), String> {
        match self.ids.insert(id, number) {
            None => Ok(()),
            Some(earlier) => Err(format!(
                "the id {id} was used on line {earlier}; give each operation an id of its own, or leave out all ids"
            )),
        }
    }

    /// Adds an operation with the times of its call and its return.
    fn push(
        &mut self,
        line: u32,
        process: u32,
        object: ObjectId,
        op: I::Op,
        (call, ret): (i64, Option<(i64, I::Ret)>),
        version: Option<i64>,
    ) {
        let process = ProcessId(process);
        self.intervals.push(Interval { process, object, op, call, ret, line, version }.into());
    }

    fn object(&mut self, name: &str) -> ObjectId {
        if let Some(&id) = self.object_ids.get(name) {
            return id;
        }
        let id = ObjectId(u32::try_from(self.objects.len()).expect("there are fewer objects than lines"));
        let name: Arc<str> = name.into();
        self.objects.push(Arc::clone(&name));
        self.object_ids.insert(name, id);
        id
    }
}

impl Quick<'_> {
    /// Adds the event and returns the result of adding it. Returns `None`, and adds nothing, if the line is not a usual
    /// event.
    fn add_event<I: Intake>(
        &mut self,
        events: &mut Events<'_, I>,
        number: u32,
        names: &mut Names,
    ) -> Option<Result<(), Fault>> {
        let (Some(kind), Some(process), None) = (self.kind, self.process, self.call) else { return None };
        let end = match kind {
            Kind::Invoke => {
                return Some(events.quick_call(number, process, self.object, self.call()?, names));
            }
            Kind::Ok => {
                let result = self.result.take().or_else(|| self.value.take());
                End::Ok(Ok(result.map(|result| result.value(names)).unwrap_or_default()))
            }
            Kind::Fail => End::Fail,
            Kind::Info => End::Info,
        };
        // Almost always, a return has the same name as the open operation. In this case, the name
        // is not converted to a string.
        let is_open = |f: &QuickName<'_>| events.name(process).is_none_or(|open| open.as_bytes() == f.bytes());
        let f = self.f.filter(|f| !is_open(f));
        let f = f.as_ref().map(|f| std::str::from_utf8(f.bytes())).transpose().ok()?;
        Some(events.end(number, process, self.object, f, end, self.version))
    }

    /// Adds the whole operation and returns the result of adding it. Returns `None`, and adds nothing, if the line is
    /// not a usual whole operation.
    fn add_operation<I: Intake>(
        &mut self,
        operations: &mut Operations<I>,
        number: u32,
        names: &mut Names,
    ) -> Option<Result<(), Fault>> {
        let (None, Some(process), Some(call)) = (self.kind, self.process, self.call) else { return None };
        let result = self.result.take().map(|result| result.value(names)).unwrap_or_default();
        if self.ret.is_none() && !result.is_null() {
            return None;
        }
        let operation = self.call()?;
        let Self { object, ret, id, version, .. } = *self;
        if let Some(Err(fault)) = id.map(|id| operations.identify(number, id)) {
            return Some(Err(fault.into()));
        }
        let object = object.map(|name| operations.object(name)).unwrap_or_default();
        let result = ret.map(|_| result);
        let (op, result) = operations.intake.quick_whole(number, process, call, (operation, result), names);
        operations.push(number, process, object, op, (call, ret.zip(result)), version);
        Some(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::history::OpId;
    use crate::history::codec::{DEEPEST_NESTING, LONGEST_LINE};

    fn error_of(text: &str) -> String {
        read(text.as_bytes()).expect_err(text).to_string()
    }

    fn history_of(text: &str) -> RawHistory {
        read(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"))
    }

    const EVENTS: &str = r#"
{"process":0,"type":"invoke","f":"write","value":1,"time":1.5}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":2,"type":"invoke","f":"write","value":[1,["two",true]],"key":"k\n"}
{"process":0,"type":"ok","f":"write","value":1}
{"process":"nemesis","type":"info","f":"kill","value":{"n1":0.5}}
{"process":2,"type":"info","f":"write","value":"timed out","error":{"code":5}}
{"process":1,"type":"ok","f":"read","value":0,"result":1}
{"process":2,"type":"invoke","f":"read"}
{"process":2,"type":"fail","f":"read"}
"#;

    #[test]
    fn events() {
        let history = history_of(EVENTS);
        assert_eq!(history.len(), 3);
        assert_eq!(history.pending(), 1);
        let write = &history[OpId(0)];
        assert_eq!(
            (&*write.op.f, &write.op.value, &write.outcome),
            ("write", &Value::Int(1), &Outcome::Returned(Value::Int(1)))
        );
        assert_eq!((write.call_line(), write.return_line()), (Some(2), Some(5)));
        assert_eq!(history[OpId(1)].outcome, Outcome::Returned(Value::Int(1)), "`result` is used before `value`");
        let pending = &history[OpId(2)];
        assert_eq!(pending.op.to_string(), r#"write("k\n", [1,["two",true]])"#);
        assert_eq!(pending.outcome, Outcome::Pending);
        assert!(!history.precedes(OpId(0), OpId(1)));
    }

    #[test]
    fn whole_operations() {
        let history = history_of(
            r#"{"process":1,"f":"read","result":7,"call":20,"return":30,"id":1}
               {"process":0,"f":"write","value":7,"call":-5,"return":10,"id":2}
               {"process":2,"f":"write","value":8,"call":25}
               {"process":3,"f":"write","value":9,"call":25,"return":null}"#,
        );
        assert_eq!(history.len(), 4);
        assert_eq!(history.pending(), 2);
        assert_eq!(&*history[OpId(0)].op.f, "write", "operations are ordered by their calls");
        assert!(history.precedes(OpId(0), OpId(1)));
        assert_eq!(history[OpId(0)].call_line(), Some(2));
    }

    #[test]
    fn objects() {
        let history = history_of(
            r#"{"process":0,"type":"invoke","f":"read","object":"a"}
               {"process":1,"type":"invoke","f":"read","object":7}
               {"process":0,"type":"ok","f":"read","object":"a"}"#,
        );
        assert_eq!(history.object_count(), 2);
        assert_eq!(history.object_name(history[OpId(1)].object), Some("7"));
        // Each of these names stands for a different object, even after writing and reading: a number, a text with the
        // same digits, a text that looks like a quoted text, and so on.
        let names = [r#"7"#, r#""7""#, r#""\"7\"""#, r#""true""#, r#""-""#, r#""""#];
        let line = |(process, name): (usize, &&str)| {
            format!(r#"{{"process":{process},"f":"read","object":{name},"call":1,"return":2}}"#) + "\n"
        };
        let history = history_of(&names.iter().enumerate().map(line).collect::<String>());
        assert_eq!(history.object_count(), names.len());
        let mut written = Vec::new();
        write_operations(&history, &mut written).expect("JSON lines can represent the history");
        let again = history_of(std::str::from_utf8(&written).expect("text"));
        assert!(again.operations().iter().zip(history.operations()).all(|(one, other)| one.object == other.object));
        assert_eq!(again.objects, history.objects);
        let history = history_of(
            r#"{"process":0,"f":"read","object":"a","call":1,"return":2}
               {"process":1,"f":"read","object":"b","call":1,"return":2}"#,
        );
        assert_eq!(history.object_name(history[OpId(1)].object), Some("b"));
    }

    #[test]
    fn byte_order_mark_and_carriage_returns() {
        let text =
            "\u{feff}{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\r\n\r\n{\"process\":0,\"type\":\"ok\"}\r\n";
        assert_eq!(history_of(text).pending(), 0);
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in [EVENTS, r#"{"process":0,"type":"invoke","f":"read","object":"\"x"}"#] {
            let history = history_of(text);
            let mut events = Vec::new();
            write_events(&history, &mut events).expect("writing to memory succeeds");
            let mut operations = Vec::new();
            write_operations(&history, &mut operations).expect("writing to memory succeeds");
            for written in [events, operations] {
                let again = read(written.as_slice()).expect("the written file is valid");
                assert_eq!(again.events(), history.events());
                for (again, operation) in again.operations().iter().zip(history.operations()) {
                    assert_eq!(
                        (&again.op, &again.outcome, again.process),
                        (&operation.op, &operation.outcome, operation.process)
                    );
                    assert_eq!(again.object, operation.object);
                }
            }
        }
    }

    #[test]
    fn a_process_that_goes_on_after_info_is_written_with_info() {
        let text = r#"{"process":0,"type":"invoke","f":"write","value":1}
                      {"process":0,"type":"info"}
                      {"process":0,"type":"invoke","f":"read"}
                      {"process":0,"type":"ok","f":"read","value":null}"#;
        let history = history_of(text);
        let mut written = Vec::new();
        write_events(&history, &mut written).expect("writing to memory succeeds");
        assert_eq!(read(written.as_slice()).expect("the written file is valid").events(), history.events());
    }

    #[test]
    fn ties_within_a_process_cannot_be_written_as_events() {
        let history = history_of(
            r#"{"process":0,"f":"read","call":1,"return":2}
               {"process":0,"f":"read","call":2,"return":3}
               {"process":1,"f":"read","call":1,"return":2}
               {"process":1,"f":"read","call":2,"return":3}"#,
        );
        let error = write_events(&history, io::sink()).expect_err("events cannot express operations that touch");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        for text in [
            "",
            r#"{"process":0,"f":"write","value":1,"call":2}
               {"process":1,"f":"write","value":2,"call":2,"return":2}
               {"process":1,"f":"read","result":1,"call":2,"return":5}
               {"process":0,"f":"read","call":4}"#,
            r#"{"process":0,"f":"read","call":1,"return":2}
               {"process":0,"f":"read","call":2,"return":3}
               {"process":1,"f":"read","call":1,"return":2}"#,
        ] {
            let history = if text.is_empty() { history.clone() } else { history_of(text) };
            let mut written = Vec::new();
            write_operations(&history, &mut written).expect("whole operations can express ties");
            let again = read(written.as_slice()).expect("the written file is valid");
            assert_eq!(again.events(), history.events());
        }
    }

    #[test]
    fn nesting_is_limited_without_recursion_beyond_it() {
        let nested = |depth: usize| {
            format!(r#"{{"process":0,"type":"invoke","f":"w","value":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
        };
        history_of(&nested(DEEPEST_NESTING));
        assert!(error_of(&nested(DEEPEST_NESTING + 1)).contains("nested deeper than 64"));
        assert!(error_of(&nested(1_000_000)).contains("nested deeper than 64"));
        assert!(error_of(&"[".repeat(1_000_000)).contains("the file ends in the middle of a JSON value"));
        // Ignored fields may be nested to any depth.
        let depth = 1_000_000;
        history_of(&format!(
            r#"{{"process":0,"type":"invoke","f":"w","other":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        ));
    }

    #[test]
    fn arrays_are_read_as_if_they_were_lines() {
        let lines = r#"{"process":0,"type":"invoke","f":"write","value":[1,[2]],"index":0}
{"process":"nemesis","type":"info","f":"kill","value":{"n1":"killed"}}
{"process":0,"type":"ok","f":"write","value":[1,[2]]}"#;
        let array = format!("\u{feff}\n[{}\n]\n", lines.replace("\n", ",\n"));
        let (lines, array) = (history_of(lines), history_of(&array));
        assert_eq!(array.events(), lines.events());
        assert_eq!(array.operations()[0].op, lines.operations()[0].op);
        assert_eq!(array.operations()[0].call_line(), Some(2));
        assert_eq!(history_of("[]").len(), 0);
        for (text, expected) in [
            ("[{\"process\":0,\"type\":\"invoke\",\"f\":\"w\"},\n 5]", "line 2: an item of the array is not an object"),
            ("[{\"process\":0,\n\"type\":\"ok\",\"f\":\"w\"}]", "line 1: process 0 returns, but has no open call"),
            ("[{\"process\":0},\n{\"a\":1,\"a\":2}]", "line 1: the line has neither `type` nor `call`"),
            ("[{\"a\":1,\n\"a\":2}]", "line 2: the key \"a\" occurs twice"),
            ("[\n\n{\"process\":", "line 3: the file ends in the middle of a JSON value"),
        ] {
            let error = error_of(text);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn errors_name_the_line_and_the_remedy() {
        let ok = r#"{"process":0,"type":"invoke","f":"read"}"#;
        for (line, expected) in [
            (r#"{"process":1,"type":"invoke","f":"w","value":1.5}"#, "numbers must be integers"),
            (r#"{"process":1,"type":"invoke","f":"w","value":99999999999999999999}"#, "write it as a string"),
            (r#"{"process":1,"type":"invoke","f":"w","value":9223372036854775808}"#, "write it as a string"),
            (r#"{"process":1,"type":"invoke","f":"w","value":{"a":1}}"#, "write it as a list or a string"),
            (r#"{"process":1,"type":"invoke","f":"w","value":[1,[{}],2]}"#, "write it as a list or a string"),
            (r#"{"process":1,"type":"invoke","f":"w","f":"r"}"#, "the key \"f\" occurs twice; keep one"),
            (r#"{"process":1,"type":"invoke","f":"w","x":1,"x":2}"#, "the key \"x\" occurs twice; keep one"),
            (r#"{"process":0,"type":"invoke","f":"read"}"#, "give concurrent operations different processes"),
            (r#"{"process":0,"type":"ok","f":"write"}"#, "returns from `write`, but its open call is `read`"),
            (r#"{"process":0,"type":"ok","f":"read","object":"a"}"#, "name it on every line or on none"),
            (r#"{"process":0,"type":"ok"} {}"#, "write one object on each line"),
            (r#"{"process":0,"type":"o"#, "the file ends inside this line"),
            (r#"{"process":0,"type":"ok","time":"noon"}"#, "`time` must be a number or null, found \"noon\""),
        ] {
            let error = error_of(&format!("{ok}\n\n{line}"));
            assert!(error.starts_with("line 3: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
        assert!(history_of("").is_empty());
        assert!(history_of("\n \r\n").is_empty());
        let failed = format!("{ok}\n{}", r#"{"process":0,"type":"fail"}"#);
        assert!(history_of(&failed).is_empty());
    }

    /// Changes bytes of a valid file at random: the result must be a history or an error.
    #[test]
    fn no_input_panics() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % below as u64).expect("the remainder fits into `usize`")
        };
        let spice = b"{}[]\",:0123456789eE+-.ntf\\u\0\xff\n ";
        let (mut good, mut bad) = (0, 0);
        for _ in 0..20_000 {
            let mut bytes = EVENTS.as_bytes().to_vec();
            for _ in 0..=next(3) {
                let at = next(bytes.len());
                match next(3) {
                    0 => bytes[at] = spice[next(spice.len())],
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, spice[next(spice.len())]),
                }
            }
            match read(bytes.as_slice()) {
                Ok(_) => good += 1,
                Err(error) => {
                    bad += 1;
                    assert!(!error.message().is_empty());
                }
            }
        }
        assert!(good > 100 && bad > 100, "{good} good, {bad} bad");
    }

    /// Lines of the usual form, of events and of whole operations, with all kinds of fields and values.
    const USUAL: [&str; 4] = [
        r#"{"process":0,"type":"invoke","f":"write","key":"k1","value":-5,"time":12}
{"process":1,"type":"invoke","f":"cas","key":7,"value":[1,["two",true,null],[]],"index":3}
{"process":0,"type":"ok","f":"write","value":null,"version":4}
{"process":1,"type":"ok","result":false,"value":[1],"error":"none","node":"n1","time":null}
{"process":4294967295,"type":"invoke","f":"read","value":null,"id":5}
{"process":2,"type":"invoke","f":"read"}
{"process":2,"type":"fail","f":"read","error":[]}
{"process":4294967295,"type":"info","f":"read","value":"timeout"}
"#,
        r#"{"process":0,"type":"invoke","f":"add","object":"a-1","value":9223372036854775807}
{"process":1,"type":"invoke","f":"read","object":"b.c"}
{"process":0,"type":"ok","object":"a-1","f":"add"}
{"object":"b.c","process":1,"type":"ok","f":"read","value":"a value of more than sixteen letters"}
"#,
        r#"{"process":0,"f":"put","key":"k","value":"v1","result":null,"call":10,"return":20,"id":1}
{"process":1,"f":"get","key":"k","result":"v1","call":-15,"return":1700000000000000000,"version":7}
{"process":2,"f":"get","key":null,"call":30,"return":null,"id":-3}
{ "process": 3, "f": "get", "value": [3, 4], "call": 12 }
"#,
        r#"{"process":0,"f":"put","object":"x","value":true,"call":0,"return":1}
{"process":1,"f":"put","object":"y","value":"","call":0,"return":1,"time":99,"other":1}
{"process":0,"f":"put","object":"x","value":false,"call":2,"return":3}
"#,
    ];

    #[test]
    fn usual_lines_are_read_quickly() {
        for text in USUAL {
            for line in text.split_inclusive('\n') {
                let length = |line: &[u8]| {
                    Quick::read(line, &mut Quick::default(), &mut Names::default(), &mut FieldOrder::default())
                };
                assert_eq!(length(line.as_bytes()), Some(line.len()), "{line}");
                assert_eq!(length(&line.as_bytes()[..line.len() - 1]), None, "{line}");
            }
        }
    }

    /// Compares the two readers of lines on this many mutated files.
    fn compare_readers(files: usize, seed: u64) {
        let mut random = seed;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % below as u64).expect("the remainder fits into `usize`")
        };
        let spice = b"{}[]\",:0123456789eE+-.ntf\\u\0\xff\n \r\tvkop";
        let (mut good, mut bad) = (0, 0);
        for _ in 0..files {
            let mut bytes = USUAL[next(USUAL.len())].as_bytes().to_vec();
            for _ in 0..next(4) {
                let at = next(bytes.len());
                match next(5) {
                    0 => bytes[at] = spice[next(spice.len())],
                    1 => bytes.truncate(at.max(1)),
                    2 => drop(bytes.remove(at)),
                    3 => {
                        // Repeat a part of the file.
                        let end = at + next(bytes.len() - at) / 2;
                        let part = bytes[at..end].to_vec();
                        let to = next(bytes.len());
                        bytes.splice(to..to, part);
                    }
                    _ => bytes.insert(at, spice[next(spice.len())]),
                }
                if bytes.is_empty() {
                    bytes.push(b'{');
                }
            }
            // Skip arrays, because their items are not read line by line.
            if bytes.trim_ascii_start().starts_with(b"[") {
                continue;
            }
            // Begin each line with a tab, because such a line does not have the usual form.
            let mut slow = Vec::new();
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                slow.push(b'\t');
                slow.extend(line);
            }
            let summary = |bytes: &[u8]| {
                let history = read(bytes).map_err(|error| error.to_string())?;
                Ok::<_, String>((format!("{:?}", history.operations()), history.events().to_vec(), history.objects))
            };
            let (quick, slow) = (summary(&bytes), summary(&slow));
            assert_eq!(quick, slow, "{}", String::from_utf8_lossy(&bytes));
            *(if quick.is_ok() { &mut good } else { &mut bad }) += 1;
        }
        assert!(good > files / 10 && bad > files / 10, "{good} good, {bad} bad");
    }

    #[test]
    fn quick_and_thorough_readers_agree() {
        compare_readers(20_000, 0x9e37_79b9_7f4a_7c15);
    }

    /// `TRUELINE_SOAK` sets the number of files.
    #[test]
    #[ignore = "soak test"]
    fn soak_quick_and_thorough_readers_agree() {
        let files = std::env::var("TRUELINE_SOAK").ok().and_then(|files| files.parse().ok());
        compare_readers(files.unwrap_or(2_000_000), 7);
    }

    #[test]
    fn a_long_line_is_not_read_to_its_end() {
        struct Counted(u64);
        impl Read for Counted {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer.fill(b'a');
                self.0 += buffer.len() as u64;
                assert!(self.0 < 2 * LONGEST_LINE as u64, "reading stops soon after the limit");
                Ok(buffer.len())
            }
        }
        let error = read(io::BufReader::new(Counted(0))).expect_err("the line never ends");
        assert!(error.to_string().contains("longer than 16 MiB"), "{error}");
    }

    #[test]
    fn notes_of_another_file_have_places_by_time() {
        let notes: Vec<Note> =
            [(5, "a"), (12, "b"), (20, "c")].map(|(time, text)| Note { time, text: text.to_owned() }).into();
        let read = |text: &str| {
            read_into(text.as_bytes(), 0, File::new(None).with_notes(&notes)).map(|(_, history)| {
                history.annotations().iter().map(|note| (note.position, note.text.to_string())).collect::<Vec<_>>()
            })
        };
        let expected = [(0, "a".to_owned()), (1, "b".to_owned()), (2, "c".to_owned())];
        let events = r#"{"process":0,"type":"invoke","f":"read","time":10}
{"process":0,"type":"ok","time":20}
"#;
        assert_eq!(read(events).expect("a history"), expected);
        assert_eq!(read(&events.replace('{', "\t{")).expect("a history"), expected, "unusual lines");
        assert_eq!(read(r#"{"process":0,"f":"read","call":10,"return":20}"#).expect("a history"), expected);
        let error = read(&events.replace("time", "at")).expect_err("the events have no times");
        assert!(error.to_string().contains("the events have no `time`"), "{error}");
    }

    #[test]
    fn notes_have_places_between_events() {
        let places = |text: &str| -> Vec<(u32, u32, String)> {
            let history = read(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"));
            let of = |annotation: &Annotation| (annotation.position, annotation.line, annotation.text.to_string());
            history.annotations().iter().map(of).collect()
        };
        let note = |position, line, text: &str| (position, line, text.to_owned());
        // The failed operation and its events are dropped.
        let events = r#"{"type":"note","value":"begin"}
{"process":0,"type":"invoke","f":"read"}
{"process":1,"type":"invoke","f":"write","value":1}
{"process":"nemesis","type":"info","f":"kill","value":["n1"]}
{"process":1,"type":"fail","f":"write"}
{"process":0,"type":"ok","value":null}
{"type":"note","f":"end"}"#;
        let expected = [note(0, 1, "begin"), note(1, 4, r#"nemesis kill ["n1"]"#), note(2, 7, "end")];
        assert_eq!(places(events), expected);
        // Whole operations and notes may be in any order.
        let whole = r#"{"type":"note","value":"late","time":25}
{"process":0,"f":"read","call":20,"return":30}
{"type":"note","value":"with an event","time":20}
{"process":1,"f":"read","call":0,"return":10}
{"process":"nemesis","type":"info","f":"heal","value":{"n1":1}}"#;
        assert_eq!(places(whole), [note(3, 3, "with an event"), note(3, 1, "late")]);
        for text in [events, whole] {
            let texts = |text| places(text).into_iter().map(|(position, _, text)| (position, text)).collect::<Vec<_>>();
            let history = read(text.as_bytes()).expect("the text was read before");
            let (mut as_events, mut as_operations) = (Vec::new(), Vec::new());
            write_events(&history, &mut as_events).expect("writing to memory succeeds");
            write_operations(&history, &mut as_operations).expect("writing to memory succeeds");
            for written in [&as_events, &as_operations] {
                assert_eq!(texts(std::str::from_utf8(written).expect("JSON lines are text")), texts(text));
            }
        }
        let without_time = "{\"process\":0,\"f\":\"read\",\"call\":20}\n{\"type\":\"note\",\"value\":1}";
        let error = read(without_time.as_bytes()).expect_err("the note has no place");
        assert!(error.to_string().contains("`time`"), "{error}");
    }
}
