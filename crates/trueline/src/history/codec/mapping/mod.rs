//! Reads logs in foreign formats, given a mapping of their fields.
//!
//! A [`Mapping`] describes where each record of a log contains the fields that [`jsonl`](super::jsonl) needs. Records
//! are JSON lines, the items of JSON arrays and documents, or rows of a table. For this log
//! ```json
//! {"who":"c1","ev":"begin","what":{"name":"deposit","args":[5]},"account":"a"}
//! {"who":"c1","ev":"end","what":{"name":"deposit"},"answer":null}
//! ```
//! the mapping is as follows, in TOML (in JSON, it has the same structure):
//! ```toml
//! process = "who"              # numbers or names
//! type = "ev"                  # for events; or `call` and `return`, the times of whole operations
//! f = "what.name"              # a dot selects a field of an object
//! value = "what.args[0]"       # a number selects an item of a list; a list of paths, ["from", "to"], makes a list
//! object = "account"           # or `key`; both may be left out
//! result = "answer"
//!
//! [types]                      # what the words for `type` mean: invoke, ok, fail, info, note, or skip
//! begin = "invoke"
//! end = "ok"
//!
//! [functions]                  # other names for operations
//! deposit = "add"
//! ```
//!
//! A path can also select an item of a list by one of its fields, `attributes[key=db.statement].value`. `^` selects the
//! item that contains the record. Names with dots are quoted, `"db.statement".value`. Instead of a path, a field may be
//! a table:
//!
//! | entry | meaning |
//! |---|---|
//! | `from = "path"` | the value at this path; with a list of paths, the list of their values |
//! | `join = "-"` | joins the values of a list of paths into one text |
//! | `first = ["a", "b"]` | the value at the first of these paths whose value exists and is not null |
//! | `const = 5` | a constant; an empty table stands for null |
//! | `default = 5` | the value to use if the value is absent or null |
//! | `as = "int"` | converts the value to `text`, `int` or `bool`; `json` parses a text as JSON |
//! | `word = 1` | one word of a text, counted from 0 |
//! | `unit = "ms"` | the unit of a time: s, ms, us or ns |
//! | `plus = "path"` | a duration that is added to a time |
//!
//! Times are integers, texts that contain integers, or ISO 8601 dates. With `unit` (which can also be set for the whole
//! mapping), times may be fractions. Instead of `unit`, `scale = 1000000` multiplies all times by a number.
//!
//! Rules change the mapping for some records. For each record, every rule whose condition holds is
//! applied, in the order of the rules:
//! ```toml
//! [[rules]]
//! when = 'f == "cas"'          # `f` is the operation; any other name is a path
//! value = ["old", "new"]
//!
//! [[rules]]
//! when = 'status.code == 2 and not status.retried'
//! outcome = "info"             # ok, fail, info, note, or skip
//! ```
//! A record of type `note`, or with the outcome `note`, is not an operation: its `f` and `value` describe some other
//! event. The time of this event is `time`, or `call` if no `time` is mapped.
//!
//! Conditions compare with `==`, `!=`, `<`, `<=`, `>`, `>=` and `in [..]`, and are combined with
//! `and`, `or`, `not` and parentheses. A condition that is only a path holds if its value exists
//! and is neither null nor false.
//!
//! `records = "data[].spans[]"` is the path to the records of JSON documents. `format = "csv"` is for tables, whose
//! columns are fields; set `separator` and `header` if they cannot be read from the first row. Parquet and Arrow files
//! are recognized by their first bytes; with `format = "parquet"` or `format = "arrow"`, all other files are rejected.
//! `values = "otlp"` is for OpenTelemetry's values, which are objects, and `values = "text"` for values that are all
//! texts. `extends = "otlp"` starts from a [preset](Mapping::preset).
//!
//! If no `process` is mapped, whole operations that overlap are assigned to different processes.

mod condition;
mod guess;
mod path;
mod presets;
mod source;
mod time;

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, ErrorKind, Read};
use std::sync::Arc;

use serde_json::Value as Json;

use super::super::{RawHistory, Value};
#[cfg(feature = "arrow")]
use super::arrow;
#[cfg(feature = "_columns")]
use super::columns::{Batch, Cell, Table as ColumnTable};
use super::field::{Names, Parsed, Unfit, quoted, shorten, wrong};
use super::fields::Fields;
use super::intake::{Intake, Taken};
use super::json::{self, Node, Object, syntax_message};
use super::jsonl::File;
use super::lines::Lines;
#[cfg(feature = "parquet")]
use super::parquet;
#[cfg(feature = "_columns")]
use super::quick::{Quick, Scalar};
use super::survey::{Remarks, Trap};
use super::{CodecError, LONGEST_LINE, detect, document, table};

pub use guess::{Guess, guess};

use condition::{Condition, Operand};
use path::{Place, Segment};
use source::{Source, Values};
use time::Unit;

/// The expected content of the file, for messages.
const WHAT: &str = "records that the mapping describes";

/// A mapping of the fields of foreign records: see the [module](self).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// The source of each field, by its name in trueline's format.
    fields: Vec<(&'static str, Source)>,
    rules: Vec<Rule>,
    types: Vec<(String, RecordType)>,
    functions: HashMap<String, Arc<str>>,
    scale: Option<f64>,
    unit: Option<Unit>,
    values: Values,
    /// The path to the records of JSON documents.
    records: Vec<Segment>,
    table: Option<Table>,
    /// Whether a field that is not mapped is read from the column that has the same name as the
    /// field in trueline's format.
    same_names: bool,
    /// Whether the file must have typed columns, as Parquet and Arrow have.
    has_columns: bool,
}

/// The syntax of a table.
#[derive(Clone, Debug, Default, PartialEq)]
struct Table {
    separator: Option<u8>,
    /// The names of the columns, if the first row does not contain them.
    header: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    when: Condition,
    fields: Vec<(&'static str, Source)>,
    outcome: Option<RecordType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordType {
    Is(&'static str),
    Skip,
}

impl RecordType {
    /// Returns trueline's word for the type; `None` if the record is skipped.
    fn name(self) -> Option<&'static str> {
        if let Self::Is(name) = self { Some(name) } else { None }
    }

    fn new(word: &str) -> Option<Self> {
        match word {
            "skip" => Some(Self::Skip),
            word => ["invoke", "ok", "fail", "info", "note"].into_iter().find(|kind| *kind == word).map(Self::Is),
        }
    }
}

const FIELDS: [&str; 12] =
    ["process", "type", "f", "key", "value", "result", "object", "call", "return", "time", "id", "version"];

/// Results that were read as null because they were not found, although the mapping does not declare that they are
/// null. For each operation name: the number of these results, and the line of the first of them.
#[derive(Debug, Default)]
struct Missing(BTreeMap<String, (u64, u32)>);

impl Missing {
    fn add(&mut self, f: Option<&Parsed>, line: u32) {
        let f = match f {
            Some(Ok(Value::Text(f))) => quoted(f),
            _ => String::new(),
        };
        self.0.entry(f).or_insert((0, line)).0 += 1;
    }

    fn describe(&self, source: Option<&Source>) -> Vec<String> {
        let what = match source {
            Some(source) if source.is_first() => format!("`{}`, the `result`, is null or missing in", source.name()),
            Some(source) => format!("`{}`, the `result`, is missing from", source.name()),
            None => "the mapping has no `result` for".to_owned(),
        };
        let describe = |(f, (count, line)): (&String, &(u64, u32))| {
            let of = if f.is_empty() { String::new() } else { format!(" of `{f}`") };
            let returns = if *count == 1 { "return" } else { "returns" };
            format!(
                "{what} {count} {returns}{of}, first on line {line}: the result is read as null; map `result`, or declare it \
                 null with a rule that has result = {{ const = {{}} }}"
            )
        };
        self.0.iter().map(describe).collect()
    }
}

impl Mapping {
    /// Creates the mapping that a JSON object describes.
    ///
    /// ```
    /// use trueline::history::codec::Mapping;
    ///
    /// let mapping = Mapping::from_json(&serde_json::json!({"process": "who", "f": "what", "call": "t0", "return": "t1"}))?;
    /// let history = mapping.read(&br#"{"who":"alice","what":"read","t0":1,"t1":2}"#[..], 0)?;
    /// assert_eq!(history.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns a message if the description is invalid. The message says what is wrong, and what to do.
    pub fn from_json(description: &Json) -> Result<Self, String> {
        let mut mapping = Self::default();
        mapping.add(description)?;
        if mapping.same_names { Ok(mapping) } else { mapping.complete() }
    }

    /// Returns the mapping of a format that many tools write: `csv`, `parquet`, `arrow`, `otlp` or `jaeger`.
    ///
    /// - `csv`: a table, separated by commas, tabs, semicolons or vertical bars, whose columns have the names of
    ///   [`jsonl`](super::jsonl)'s fields.
    /// - `parquet` and `arrow`: a Parquet or Arrow file whose columns have these names.
    /// - `otlp`: OpenTelemetry's spans. A file contains one or more JSON objects of type `ExportTraceServiceRequest`. A
    ///   span is an operation. The name of the operation is the attribute `f` of the span or, if this attribute is
    ///   absent, the name of the span. The attributes `key`, `value`, `result`, `object` and `process` of the span are
    ///   the other fields. A span with an error has an unknown outcome.
    /// - `jaeger`: Jaeger's spans in JSON, with tags in place of these attributes.
    ///
    /// ```
    /// use trueline::history::codec::Mapping;
    ///
    /// let mapping = Mapping::preset("csv").unwrap();
    /// let history = mapping.read(&b"process,f,value,call,return\n0,write,5,1,2\n"[..], 0)?;
    /// assert_eq!(history.operations()[0].op.to_string(), "write(5)");
    /// # Ok::<(), trueline::history::codec::CodecError>(())
    /// ```
    #[expect(clippy::missing_panics_doc, reason = "every preset is a valid mapping, as a test checks")]
    pub fn preset(name: &str) -> Option<Self> {
        presets::description(name)
            .map(|description| Self::from_json(&description).expect("every preset is a valid mapping"))
    }

    /// Returns the names of the presets, each with a description.
    pub fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
        presets::PRESETS.into_iter()
    }

    /// Returns the preset for tables.
    pub(super) fn csv() -> Self {
        Self { table: Some(Table::default()), values: Values::Text, same_names: true, ..Self::default() }
    }

    /// Returns the preset for Parquet and Arrow.
    pub(super) fn columns() -> Self {
        Self { same_names: true, has_columns: true, ..Self::default() }
    }

    fn add(&mut self, description: &Json) -> Result<(), String> {
        let Json::Object(entries) = description else {
            return Err("a mapping is a table of fields; write process = \"who\" and so on".to_owned());
        };
        let text = |name: &str, entry: &Json| {
            entry.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` must be a string"))
        };
        if let Some(name) = entries.get("extends") {
            let name = text("extends", name)?;
            let preset = presets::description(&name).ok_or_else(|| {
                let names: Vec<&str> = Self::presets().map(|(name, _)| name).collect();
                format!("`{}` is not a preset; the presets are {}", quoted(&name), names.join(", "))
            })?;
            self.add(&preset)?;
        }
        for (name, entry) in entries {
            match name.as_str() {
                "extends" => {}
                "types" => {
                    for (word, kind) in words(name, entry)? {
                        let kind = RecordType::new(&kind).ok_or_else(|| {
                            format!(
                                "`{}` is not a type of an event; write invoke, ok, fail, info, note or skip",
                                quoted(&kind)
                            )
                        })?;
                        self.types.push((word, kind));
                    }
                }
                "functions" => {
                    for (theirs, ours) in words(name, entry)? {
                        self.functions.insert(theirs, ours.into());
                    }
                }
                "scale" => {
                    let scale = entry.as_f64().filter(|scale| scale.is_finite() && *scale > 0.0);
                    self.scale = Some(scale.ok_or("`scale` must be a number above 0, such as 1000000")?);
                }
                "unit" => self.unit = Some(Unit::new(&text(name, entry)?)?),
                "values" => self.values = Values::new(&text(name, entry)?)?,
                "records" => {
                    let path = text(name, entry)?;
                    let wrong = |fault| format!("`records` is not a path to a list: {fault}");
                    self.records = path::steps(&path).map_err(wrong)?;
                    let is_way = |step: &Segment| !matches!(step, Segment::Where(..));
                    if !self.records.contains(&Segment::Each) || !self.records.iter().all(is_way) {
                        return Err(wrong("write names with dots between them, and `[]` after the name of each list, such as data[].spans[]".to_owned()));
                    }
                }
                "format" => match text(name, entry)?.as_str() {
                    "json" => self.table = None,
                    "csv" => {
                        self.table.get_or_insert_default();
                        self.values = Values::Text;
                    }
                    "parquet" | "arrow" => self.has_columns = true,
                    other => {
                        return Err(format!(
                            "`{}` is not a format of records; write json, csv, parquet or arrow",
                            quoted(other)
                        ));
                    }
                },
                "separator" => {
                    let separator = text(name, entry)?;
                    let [byte] = separator.as_bytes() else {
                        return Err("`separator` must be one character, such as \";\" or \"\\t\"".to_owned());
                    };
                    self.table.get_or_insert_default().separator = Some(*byte);
                    self.values = Values::Text;
                }
                "header" => {
                    let names = entry
                        .as_array()
                        .map(|names| names.iter().map(|name| name.as_str().map(str::to_owned)).collect());
                    let names: Option<Vec<String>> = names.unwrap_or_default();
                    self.table.get_or_insert_default().header =
                        Some(names.ok_or("`header` must be a list of names, such as [\"f\", \"value\"]")?);
                    self.values = Values::Text;
                }
                "same_names" => self.same_names = entry.as_bool().ok_or("`same_names` must be true or false")?,
                "rules" => {
                    let rules =
                        entry.as_array().ok_or("`rules` must be a list of tables, such as [[rules]] in TOML")?;
                    for rule in rules {
                        self.rules.push(Rule::new(rule)?);
                    }
                }
                name => {
                    let ours = our_field(name).ok_or_else(|| {
                        format!(
                            "`{}` is neither a field of an operation nor a setting; the fields are {}; the settings are \
                             `types`, `functions`, `rules`, `scale`, `unit`, `records`, `values`, `format`, \
                             `separator`, `header` and `extends`",
                            quoted(name),
                            FIELDS.join(", ")
                        )
                    })?;
                    let source = Source::new(ours, entry)?;
                    self.fields.retain(|(other, _)| *other != ours);
                    self.fields.push((ours, source));
                }
            }
        }
        Ok(())
    }

    /// Returns the mapping, or an error if a required field is missing.
    fn complete(self) -> Result<Self, String> {
        let has = |name: &str| {
            self.has(name) || self.rules.iter().any(|rule| rule.fields.iter().any(|(ours, _)| *ours == name))
        };
        if !has("f") {
            return Err("`f` is missing; name the field that has it, such as f = \"what\"".to_owned());
        }
        match (self.has("type"), self.has("call")) {
            (true, false) if !has("process") => {
                Err("`process` is missing; name the field that has it, such as process = \"who\"".to_owned())
            }
            (true, false) | (false, true) => Ok(self),
            (true, true) => Err("the mapping has both `type` and `call`; keep `type` for events, or `call` and `return` for whole operations".to_owned()),
            (false, false) => Err("the mapping has neither `type` nor `call`; give `type` for events, or `call` and `return` for whole operations".to_owned()),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.source(name).is_some()
    }

    fn source(&self, name: &str) -> Option<&Source> {
        self.fields.iter().find(|(ours, _)| *ours == name).map(|(_, source)| source)
    }

    /// Returns whether the process of each operation comes from the record of the operation. If
    /// not, trueline assigns operations to processes, and operations that overlap get different
    /// processes.
    #[doc(hidden)]
    pub fn names_processes(&self) -> bool {
        self.same_names || self.has("process")
    }

    /// Reads a history from records that this mapping describes. Clocks may differ by `skew`, as in
    /// [`read_skewed`](super::read_skewed).
    ///
    /// # Errors
    /// Returns an error if a record lacks a field of the mapping, or the records do not form a history.
    pub fn read(&self, input: impl BufRead, skew: i64) -> Result<RawHistory, CodecError> {
        self.read_with(input, skew, None, &mut Vec::new())
    }

    /// Reads a history as [`read`](Self::read) does. Also appends warnings about likely mistakes to `warnings`. A
    /// likely mistake is a result that was read as null because it was not found, although the mapping does not declare
    /// it null.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`read`](Self::read).
    pub fn read_warned(
        &self,
        input: impl BufRead,
        skew: i64,
        warnings: &mut Vec<String>,
    ) -> Result<RawHistory, CodecError> {
        self.read_with(input, skew, None, warnings)
    }

    pub(super) fn read_with(
        &self,
        input: impl BufRead,
        skew: i64,
        remarks: Option<&mut Remarks>,
        warnings: &mut Vec<String>,
    ) -> Result<RawHistory, CodecError> {
        self.read_into(input, skew, File::new(remarks), warnings).map(|(_, history)| history)
    }

    /// Reads records into `file`, which must be empty.
    pub(super) fn read_into<I: Intake>(
        &self,
        mut input: impl BufRead,
        skew: i64,
        file: File<'_, I>,
        warnings: &mut Vec<String>,
    ) -> Result<Taken<I>, CodecError> {
        let start = loop {
            match input.fill_buf() {
                Ok(start) => break start,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(CodecError::io(0, error)),
            }
        };
        if detect::has_columns(start) {
            #[cfg(feature = "_columns")]
            return self.read_columns(column_table(&mut input)?, skew, file, warnings);
            #[cfg(not(feature = "_columns"))]
            return Err(CodecError::whole_file(super::NO_COLUMNS));
        }
        if start.starts_with(detect::FEATHER_1) {
            return Err(CodecError::whole_file(
                "this is a file of Feather version 1, which is not supported; write it as version 2, which is Arrow IPC, or as Parquet",
            ));
        }
        if self.has_columns {
            return Err(CodecError::whole_file(
                "this is not a Parquet or Arrow file; give a Parquet or Arrow file, or choose another format",
            ));
        }
        if let Some(table) = &self.table {
            return self.read_table(table, input, skew, file, warnings);
        }
        let mut reader = Reader::new(self, file);
        let mut names = Names::default();
        let (start, passed) = document::first_byte(&mut input)?;
        if self.records.is_empty() && start != Some(b'[') {
            let mut lines = Lines::from_line(input, WHAT, passed);
            let mut buffer = Vec::new();
            while let Some((number, line)) = lines.next(&mut buffer)? {
                let object = json::record(line, &mut names)
                    .map_err(|error| CodecError::at(number, syntax_message(&error, line, lines.at_end())))?;
                reader.add(number, Place { record: &object, around: &[] })?;
            }
            return reader.finish(skew, warnings);
        }
        let first_list = self.records.iter().position(|step| *step == Segment::Each);
        let (way, rest) = self.records.split_at(first_list.unwrap_or(0));
        let rest = rest.get(1..).unwrap_or_default();
        let way: Vec<&str> =
            way.iter().filter_map(|step| if let Segment::Name(name) = step { Some(&**name) } else { None }).collect();
        let (mut found, mut items) = (false, false);
        let there = document::each_item(input, passed, &way, &mut names, &mut |line, node| {
            items = true;
            let mut holders = Vec::new();
            found |= path::walk(&node, rest, &mut holders, &mut |record: &Object, around: &[&Node]| {
                let line = if record.line() > 0 { record.line() } else { line };
                reader.add(line, Place { record, around })
            })?;
            Ok(())
        })?;
        if !there || (items && !found) {
            return Err(CodecError::whole_file(
                "there are no records at the path that the mapping gives; correct `records`",
            ));
        }
        reader.finish(skew, warnings)
    }

    /// Reads the rows of a table whose columns have types.
    #[cfg(feature = "_columns")]
    fn read_columns<I: Intake>(
        &self,
        mut table: Box<dyn ColumnTable + '_>,
        skew: i64,
        file: File<'_, I>,
        warnings: &mut Vec<String>,
    ) -> Result<Taken<I>, CodecError> {
        let columns = table.names();
        let mut named = self.with_columns(&columns)?;
        named.values = Values::Typed;
        // Rows of the usual form are added directly, without building an object for each row.
        let has_same_names = named.has_only_same_names();
        let is_plain = has_same_names && !file.is_surveyed();
        let mut reader = Reader::new(&named, file);
        let slots: Vec<Option<u16>> = columns.iter().map(|name| Quick::field(name)).collect();
        let wanted: Vec<bool> = slots.iter().map(|slot| !has_same_names || slot.is_some()).collect();
        let slots: Vec<(u16, usize)> = slots.into_iter().zip(0..).filter_map(|(slot, at)| Some((slot?, at))).collect();
        table.each(&wanted, &mut |batch| {
            let mut lines = Vec::new();
            for (row, number) in (0..batch.rows).zip(batch.first..) {
                if is_plain && row % QUICK_ROWS == 0 {
                    read_quickly(batch, row, &slots, &mut lines);
                }
                if is_plain && reader.add_quickly(number, &mut lines[row % QUICK_ROWS])? {
                    continue;
                }
                let record = batch.object(row).map_err(|message| CodecError::at(number, message))?;
                reader.add(number, Place { record: &record, around: &[] })?;
            }
            Ok(())
        })?;
        // Drop the table, which is no longer needed, before `finish`, which takes the most memory.
        drop(table);
        reader.finish(skew, warnings)
    }

    /// Returns whether every field is read unchanged from the column of the same name.
    #[cfg(feature = "_columns")]
    fn has_only_same_names(&self) -> bool {
        let Self { fields, rules, types, functions, scale, unit, same_names, .. } = self;
        let is_same = |(ours, source): &(&'static str, Source)| *source == Source::same_name(ours);
        *same_names
            && fields.iter().all(is_same)
            && (rules.is_empty() && types.is_empty() && functions.is_empty() && scale.is_none() && unit.is_none())
    }

    /// Returns this mapping for a table with the columns `header`. If `same_names` is set, the returned mapping also
    /// reads each unmapped field from the column of the same name, if there is such a column.
    fn with_columns(&self, header: &[Arc<str>]) -> Result<Self, CodecError> {
        for (index, name) in header.iter().enumerate() {
            if header[..index].contains(name) && !name.is_empty() {
                let message = format!("the column `{}` occurs twice; rename one of them", quoted(name));
                return Err(CodecError::at(1, message));
            }
        }
        let mut named = self.clone();
        if self.same_names && !header.is_empty() {
            for ours in FIELDS.into_iter().filter(|ours| header.iter().any(|name| **name == **ours)) {
                if !named.has(ours) {
                    named.fields.push((ours, Source::same_name(ours)));
                }
            }
            named = named.complete().map_err(|message| {
                let names: Vec<String> = header.iter().take(20).map(|name| format!("`{}`", quoted(name))).collect();
                CodecError::at(
                    1,
                    format!(
                        "the columns are {}: {message}; or describe them with a mapping (`trueline map --guess` \
                         proposes one)",
                        names.join(", ")
                    ),
                )
            })?;
        }
        Ok(named)
    }

    fn read_table<I: Intake>(
        &self,
        table: &Table,
        mut input: impl BufRead,
        skew: i64,
        file: File<'_, I>,
        warnings: &mut Vec<String>,
    ) -> Result<Taken<I>, CodecError> {
        let mut first = Vec::new();
        (&mut input)
            .take(LONGEST_LINE as u64)
            .read_until(b'\n', &mut first)
            .map_err(|error| CodecError::io(0, error))?;
        let separator = table.separator.unwrap_or_else(|| table::separator(&String::from_utf8_lossy(&first)));
        let mut rows = table::Rows::new(first.as_slice().chain(input), separator);
        let mut cells = Vec::new();
        let header = match &table.header {
            Some(header) => header.clone(),
            None => match rows.next(&mut cells)? {
                Some(_) => cells.clone(),
                None => Vec::new(),
            },
        };
        let header: Vec<Arc<str>> = header.iter().map(|name| name.trim().into()).collect();
        let named = self.with_columns(&header)?;
        let mut reader = Reader::new(&named, file);
        let mut names = Names::default();
        while let Some(line) = rows.next(&mut cells)? {
            if cells.len() != header.len() {
                let message = format!(
                    "the row has {} cells, but there are {} columns; write one cell for each column, or put cells \
                     that contain separators in quotation marks",
                    cells.len(),
                    header.len()
                );
                return Err(CodecError::at(line, message));
            }
            let cells = header.iter().zip(&cells);
            let fields = cells.map(|(name, cell)| (Arc::clone(name), Node::Value(Ok(Value::Text(names.get(cell))))));
            let record = Object::of_row(fields.collect());
            reader.add(line, Place { record: &record, around: &[] })?;
        }
        reader.finish(skew, warnings)
    }
}

/// Opens a Parquet or Arrow file.
#[cfg(feature = "_columns")]
fn column_table<'i>(input: &'i mut dyn BufRead) -> Result<Box<dyn ColumnTable + 'i>, CodecError> {
    let start = input.fill_buf().map_err(|error| CodecError::io(0, error))?;
    if start.starts_with(detect::PARQUET) {
        #[cfg(not(feature = "parquet"))]
        return Err(CodecError::whole_file(super::NO_PARQUET));
        #[cfg(feature = "parquet")]
        return Ok(Box::new(parquet::Rows::open(input)?));
    }
    #[cfg(not(feature = "arrow"))]
    return Err(CodecError::whole_file(super::NO_ARROW));
    #[cfg(feature = "arrow")]
    Ok(Box::new(arrow::Rows::open(input)?))
}

/// The number of rows that [`read_quickly`] reads at once, column by column. They fit into the fastest cache.
#[cfg(feature = "_columns")]
const QUICK_ROWS: usize = 64;

/// Reads the cells of some rows from the row `start` on. `slots` lists the fields, each with its column. A row with an
/// unusual cell becomes `None`.
#[cfg(feature = "_columns")]
fn read_quickly<'b>(batch: &Batch<'b>, start: usize, slots: &[(u16, usize)], lines: &mut Vec<Option<Quick<'b>>>) {
    lines.clear();
    lines.resize_with(QUICK_ROWS.min(batch.rows - start), || Some(Quick::default()));
    for (field, column) in slots {
        for (line, row) in lines.iter_mut().zip(start..) {
            let Some(quick) = line else { continue };
            let is_usual = match batch.cell(*column, row) {
                Cell::Null => {
                    quick.set_null(*field);
                    true
                }
                Cell::Int(int) => quick.set_int(*field, int),
                Cell::Other(Ok(Node::Value(Ok(value)))) => quick.set(*field, value),
                Cell::Bool(bool) => quick.set_bool(*field, bool),
                Cell::Other(_) => false,
            };
            if !is_usual {
                *line = None;
            }
        }
    }
}

/// Reads records one by one.
struct Reader<'m, 'r, I: Intake> {
    mapping: &'m Mapping,
    file: File<'r, I>,
    /// The number of each named process.
    processes: HashMap<Value, i64>,
    /// Whether any process number so far was taken from the file unchanged.
    has_numbers: bool,
    missing: Missing,
}

/// Returns the name of a process as text.
fn process_name(name: &Value) -> Arc<str> {
    match name {
        Value::Text(name) => Arc::clone(name),
        name => name.to_string().into(),
    }
}

impl<'m, 'r, I: Intake> Reader<'m, 'r, I> {
    fn new(mapping: &'m Mapping, file: File<'r, I>) -> Self {
        let file = if mapping.has("process") { file } else { file.without_processes() };
        Self { mapping, file, processes: HashMap::new(), has_numbers: false, missing: Missing::default() }
    }

    fn add(&mut self, line: u32, place: Place<'_>) -> Result<(), CodecError> {
        let fields = self.fields(line, place).map_err(|message| CodecError::at(line, message))?;
        match fields {
            Some(fields) => self.file.add(line, fields).map_err(|fault| fault.at(line)),
            None => Ok(()),
        }
    }

    /// Adds a row whose columns have trueline's names, if [`read_quickly`] could read it. Returns whether the row was
    /// added. For a row that was added, the effect is the same as that of [`add`](Self::add).
    #[cfg(feature = "_columns")]
    fn add_quickly(&mut self, line: u32, quick: &mut Option<Quick<'_>>) -> Result<bool, CodecError> {
        let Some(quick) = quick.as_mut().filter(|_| self.processes.is_empty()) else { return Ok(false) };
        let is_event = quick.kind.is_some();
        // In an event, a null result means that the result is absent.
        if is_event && matches!(quick.result, Some(Scalar::Null)) {
            quick.result = None;
        }
        let has_result = quick.result.is_some() || (is_event && quick.value.is_some());
        if !has_result {
            return Ok(false);
        }
        self.has_numbers = true;
        self.file.add_quick(line, quick)
    }

    fn finish(mut self, skew: i64, warnings: &mut Vec<String>) -> Result<Taken<I>, CodecError> {
        let missing = self.missing.describe(self.mapping.source("result"));
        for warning in &missing {
            self.file.see(Trap::NoResult, 0, || warning.clone());
        }
        warnings.extend(missing);
        let (intake, mut history) = self.file.finish(skew)?;
        // With a skew, operations of one process may be assigned to several processes, which have
        // other numbers.
        if skew == 0 {
            let mut names: Vec<(i64, Value)> =
                self.processes.into_iter().map(|(name, number)| (number, name)).collect();
            names.sort_unstable_by_key(|(number, _)| *number);
            history.process_names = names.into_iter().map(|(_, name)| process_name(&name)).collect();
        }
        Ok((intake, history))
    }

    /// Returns the fields of a record in trueline's format; `None` for a record that is skipped.
    fn fields(&mut self, line: u32, place: Place<'_>) -> Result<Option<Fields>, String> {
        let mapping = self.mapping;
        let mut sources: [Option<&Source>; FIELDS.len()] = [None; FIELDS.len()];
        for (ours, source) in &mapping.fields {
            sources[index_of(ours)] = Some(source);
        }
        let mut outcome = None;
        for rule in &mapping.rules {
            let look = |operand: &Operand| match operand {
                Operand::Path(path) => path.find(place).map(|found| mapping.values.read(found)),
                Operand::Function => mapping.function(sources[index_of("f")]?, place).ok().flatten(),
            };
            if rule.when.holds(&look) {
                for (ours, source) in &rule.fields {
                    sources[index_of(ours)] = Some(source);
                }
                outcome = rule.outcome.or(outcome);
            }
        }
        if outcome == Some(RecordType::Skip) {
            return Ok(None);
        }
        let mut kind = None;
        if let Some(source) = sources[index_of("type")] {
            let found = source.find(place, mapping.values)?.ok_or_else(|| {
                format!(
                    "the record has no `{}`, which should give the type of the event; correct the mapping",
                    source.name()
                )
            })?;
            kind = Some(match (mapping.kind(source, &found)?, outcome) {
                (RecordType::Skip, _) => return Ok(None),
                (_, Some(RecordType::Is("note"))) => "note",
                (RecordType::Is(kind), Some(RecordType::Is(outcome))) if kind != "invoke" => outcome,
                (RecordType::Is(kind), _) => kind,
            });
        } else if outcome == Some(RecordType::Is("fail")) {
            // The record describes a whole operation that failed. The operation did not happen, so
            // it is not part of the history.
            self.file.see(Trap::Failed, line, || "an operation failed".to_owned());
            return Ok(None);
        }
        let mut fields = Fields::default();
        if kind.or(outcome.and_then(RecordType::name)) == Some("note") {
            let time = sources[index_of("time")].or(sources[index_of("call")]);
            let f = sources[index_of("f")].map(|source| mapping.function(source, place)).transpose()?.flatten();
            let value =
                sources[index_of("value")].map(|source| source.find(place, mapping.values)).transpose()?.flatten();
            let time = time.map(|source| mapping.time(source, place)).transpose()?.flatten();
            for (ours, found) in [("type", Some(Ok("note".into()))), ("f", f), ("value", value), ("time", time)] {
                if let Some(slot) = fields.slot(ours) {
                    *slot = found;
                }
            }
            return Ok(Some(fields));
        }
        for (ours, source) in FIELDS.into_iter().zip(sources) {
            let Some(source) = source else { continue };
            let mut found = match ours {
                "type" => kind.map(|kind| Ok(Value::from(kind))),
                "call" | "return" | "time" => mapping.time(source, place)?,
                "f" => mapping.function(source, place)?,
                _ => source.find(place, mapping.values)?,
            };
            if mapping.values.has_cells() && found == Some(Ok(Value::Null)) {
                // An empty cell means that the field is absent. There are two exceptions: for an
                // argument, and for the result of a whole operation, an empty cell means null.
                found = found.filter(|_| ours == "value" || (ours == "result" && kind.is_none()));
            }
            if ours == "process" {
                found = Some(self.process(source, found)?);
            }
            if let (Some(slot), Some(found)) = (fields.slot(ours), found) {
                *slot = Some(found);
            }
        }
        self.outcome(line, kind, outcome, &mut fields);
        Ok(Some(fields))
    }

    /// Returns the number of a process that has a number or a name.
    fn process(&mut self, source: &Source, found: Option<Parsed>) -> Result<Parsed, String> {
        match found {
            // A file with the column names of trueline's format also has process numbers of this format. These numbers
            // are kept.
            Some(Ok(Value::Int(process))) if self.mapping.same_names && self.processes.is_empty() => {
                self.has_numbers = true;
                Ok(Ok(Value::Int(process)))
            }
            Some(Ok(Value::Text(_) | Value::List(_))) if self.has_numbers => {
                Err(format!("`{}` is a number on an earlier line; use only numbers or only names", source.name()))
            }
            Some(Ok(process @ (Value::Int(_) | Value::Text(_) | Value::List(_)))) => {
                let next = i64::try_from(self.processes.len()).unwrap_or(i64::MAX);
                Ok(Ok(Value::Int(*self.processes.entry(process).or_insert(next))))
            }
            None | Some(Ok(Value::Null)) => Err(format!(
                "the record has no `{}`, which should name the process; correct the mapping",
                source.name()
            )),
            Some(found) => Ok(found),
        }
    }

    /// Turns a whole operation with an unknown outcome into one that never returned. If an operation returned but its
    /// result is missing, records the missing result.
    fn outcome(&mut self, line: u32, kind: Option<&str>, outcome: Option<RecordType>, fields: &mut Fields) {
        let is_null = |field: Option<&mut Option<Parsed>>| {
            field.is_none_or(|field| matches!(field, None | Some(Ok(Value::Null))))
        };
        let is_absent = |field: Option<&mut Option<Parsed>>| field.is_none_or(|field| field.is_none());
        let returned = match kind {
            Some(kind) => kind == "ok",
            None if outcome == Some(RecordType::Is("info")) => {
                for name in ["return", "result"] {
                    if let Some(slot) = fields.slot(name) {
                        *slot = None;
                    }
                }
                false
            }
            None => !is_null(fields.slot("return")),
        };
        let has_value = kind.is_some() && !is_absent(fields.slot("value"));
        if returned && is_absent(fields.slot("result")) && !has_value {
            let f = fields.slot("f").and_then(|f| f.clone());
            self.missing.add(f.as_ref(), line);
        }
    }
}

impl Mapping {
    /// Returns the name of the operation, translated by the mapping.
    fn function(&self, source: &Source, place: Place<'_>) -> Result<Option<Parsed>, String> {
        let found = source.find(place, self.values)?;
        Ok(match found {
            Some(Ok(Value::Text(f))) => Some(Ok(Value::Text(self.functions.get(&*f).map_or(f, Arc::clone)))),
            found => found,
        })
    }

    fn kind(&self, source: &Source, found: &Parsed) -> Result<RecordType, String> {
        let word = match found {
            Ok(Value::Text(word)) => word.to_string(),
            Ok(value @ (Value::Bool(_) | Value::Int(_))) => value.to_string(),
            found => return Err(wrong(&source.name(), found, "a word", "correct the mapping")),
        };
        if let Some((_, kind)) = self.types.iter().find(|(theirs, _)| *theirs == word) {
            return Ok(*kind);
        }
        RecordType::new(&word).filter(|kind| *kind != RecordType::Skip).ok_or_else(|| {
            format!(
                "the mapping does not say what `{}` means; add it to the table `types` as invoke, ok, fail, info, note or skip",
                shorten(quoted(&word))
            )
        })
    }

    fn time(&self, source: &Source, place: Place<'_>) -> Result<Option<Parsed>, String> {
        if self.scale.is_none() {
            return source.find_time(place, self.values, self.unit);
        }
        Ok(source.find(place, self.values)?.map(|time| self.scaled(&time)))
    }

    fn scaled(&self, time: &Parsed) -> Parsed {
        let Some(scale) = self.scale else { return time.clone() };
        #[expect(clippy::cast_precision_loss, reason = "the rounding error is smaller than the error of clocks")]
        let number = match time {
            Ok(Value::Int(time)) => *time as f64,
            Err(Unfit::Fraction(time)) => *time,
            other => return other.clone(),
        };
        let scaled = (number * scale).round();
        if scaled.abs() >= 9.2e18 {
            return Err(Unfit::Big(None));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
        Ok(Value::Int(scaled as i64))
    }
}

impl Rule {
    fn new(entry: &Json) -> Result<Self, String> {
        let table = entry.as_object().ok_or("a rule must be a table; write [[rules]], and `when` below it")?;
        let when = table.get("when").and_then(Json::as_str);
        let when = Condition::new(when.ok_or("a rule needs a condition; write when = 'f == \"read\"'")?)?;
        let mut rule = Self { when, fields: Vec::new(), outcome: None };
        for (name, entry) in table.iter().filter(|(name, _)| *name != "when") {
            if name == "outcome" {
                let outcome = entry.as_str().and_then(RecordType::new).filter(|kind| *kind != RecordType::Is("invoke"));
                rule.outcome = Some(outcome.ok_or("`outcome` must be ok, fail, info, note or skip")?);
                continue;
            }
            let ours = our_field(name).ok_or_else(|| {
                format!(
                    "`{}` in a rule is not a field of an operation; the fields are {}, and `outcome`",
                    quoted(name),
                    FIELDS.join(", ")
                )
            })?;
            rule.fields.push((ours, Source::new(ours, entry)?));
        }
        Ok(rule)
    }
}

fn our_field(name: &str) -> Option<&'static str> {
    FIELDS.into_iter().find(|ours| *ours == name)
}

fn index_of(name: &str) -> usize {
    FIELDS.iter().position(|ours| *ours == name).expect("`name` is one of `FIELDS`")
}

/// Converts a time without a unit to an integer.
pub(super) fn plain_time(found: &Parsed) -> Result<Parsed, String> {
    time::read(found, None)
}

/// Reads a table that maps words to words.
fn words(name: &str, entry: &Json) -> Result<Vec<(String, String)>, String> {
    let wrong = || format!("`{name}` must be a table of words, such as begin = \"invoke\"");
    let table = entry.as_object().ok_or_else(wrong)?;
    table.iter().map(|(key, value)| Ok((key.clone(), value.as_str().ok_or_else(wrong)?.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(description: Json) -> Mapping {
        Mapping::from_json(&description).expect("a mapping")
    }

    #[test]
    fn notes() {
        let texts = |history: &RawHistory| -> Vec<(u32, String)> {
            history.annotations().iter().map(|note| (note.position, note.text.to_string())).collect()
        };
        let events = mapping(serde_json::json!({
            "process": "who", "type": "ev", "f": "what", "value": "arg", "types": {"fault": "note"},
        }));
        let text = r#"{"who":"c1","ev":"invoke","what":"read"}
            {"ev":"fault","what":"kill","arg":"n1"}
            {"who":"c1","ev":"ok","what":"read","arg":1}"#;
        let history = events.read(text.as_bytes(), 0).expect("a history");
        assert_eq!((history.len(), texts(&history)), (1, vec![(1, "kill n1".to_owned())]));
        let rule = mapping(serde_json::json!({
            "f": "what", "call": "t0", "return": "t1", "rules": [{"when": "node", "outcome": "note", "value": "node"}],
        }));
        let text = r#"{"what":"heal","node":"n2","t0":15}
            {"what":"read","t0":10,"t1":20}
            {"what":"read","t0":30,"t1":40}"#;
        let history = rule.read(text.as_bytes(), 0).expect("a history");
        assert_eq!((history.len(), texts(&history)), (2, vec![(1, "heal n2".to_owned())]));
    }

    #[test]
    fn events() {
        let mapping = mapping(serde_json::json!({
            "process": "who", "type": "ev", "f": "what.name", "value": "what.args.0", "object": "account", "result": "answer",
            "types": {"begin": "invoke", "end": "ok", "beat": "skip", "1": "info"}, "functions": {"deposit": "add"}
        }));
        let text = r#"{"who":"c1","ev":"begin","what":{"name":"deposit","args":[5]},"account":"a"}
            {"ev":"beat","who":"c9"}
            {"who":"c2","ev":"begin","what":{"name":"read"},"account":"a"}
            {"who":"c1","ev":"end","what":{"name":"deposit"},"answer":true,"account":"a"}
            {"who":"c2","ev":1,"account":"a"}"#;
        let history = mapping.read(text.as_bytes(), 0).expect("a history");
        assert_eq!((history.len(), history.pending()), (2, 1));
        let add = &history.operations()[0];
        assert_eq!((add.op.to_string(), add.outcome.result()), ("add(5)".to_owned(), Some(&Value::Bool(true))));
        // The `beat` of `c9` is skipped, so the second operation is the read of `c2`.
        assert_eq!(history.operations()[1].op.to_string(), "read()");
        assert_eq!(history.object_name(add.object), Some("a"));
        let error = |text: &str| mapping.read(text.as_bytes(), 0).expect_err(text).to_string();
        assert!(error(r#"{"who":1,"ev":"stop"}"#).contains("line 1: the mapping does not say what `stop` means"));
        assert!(error(r#"{"ev":"begin"}"#).contains("no `who`"));
        assert!(error(r#"{"who":1}"#).contains("no `ev`"));
    }

    #[test]
    fn operations_with_scaled_times() {
        let mapping = mapping(serde_json::json!({
            "process": "p", "f": "op", "value": ["from", "to"], "call": "t0", "return": "t1", "scale": 1000
        }));
        let history = mapping.read(&br#"{"p":7,"op":"cas","from":1,"to":2,"t0":1.5,"t1":2}"#[..], 0).expect("valid");
        assert_eq!(history.operations()[0].op.to_string(), "cas([1,2])");
        assert_eq!(history.operations()[0].process, crate::history::ProcessId(0));
    }

    /// Returns the operations with their processes and results, one on each line.
    fn shown(mapping: &Mapping, text: &str) -> Vec<String> {
        let history = mapping.read(text.as_bytes(), 0).unwrap_or_else(|fault| panic!("{fault} in {text}"));
        let shown = history.operations().iter().map(|operation| {
            let result = operation.outcome.result().map_or_else(|| "?".to_owned(), ToString::to_string);
            format!("{} {} {result}", operation.process, operation.op)
        });
        shown.collect()
    }

    #[test]
    fn rules_and_tables_reach_everything() {
        let mapping = mapping(serde_json::json!({
            "process": ["host", "thread"],
            "f": "op.kind",
            "key": {"from": ["db", "table"], "join": "/"},
            "value": "args[0]",
            "result": {"from": "out", "as": "json"},
            "call": {"from": "at", "unit": "ms"},
            "return": {"from": "at", "plus": "took", "unit": "ms"},
            "rules": [
                {"when": "f == \"cas\"", "value": ["args[name=old].v", {"from": "args[name=new].v", "default": 0}], "result": {"from": "done", "as": "bool"}},
                {"when": "f == \"write\"", "result": {"const": {}}, "value": {"first": ["text", "args[0]"], "as": "int"}},
                {"when": "error", "outcome": "info"},
                {"when": "error.code in [404, 409]", "outcome": "fail"},
                {"when": "op.kind == \"ping\"", "outcome": "skip"},
            ],
        }));
        let text = r#"{"host":"a","thread":1,"op":{"kind":"write"},"db":"d","table":"t","text":"7","at":1.5,"took":1}
            {"host":"a","thread":2,"op":{"kind":"read"},"db":"d","table":"t","out":"[7,null]","at":"1970-01-01T00:00:00.004Z","took":0.25}
            {"op":{"kind":"ping"}}
            {"host":"a","thread":1,"op":{"kind":"cas"},"db":"d","table":"t","args":[{"name":"old","v":7}],"done":"TRUE","at":5,"took":1}
            {"host":"a","thread":1,"op":{"kind":"write"},"db":"d","table":"t","args":[8],"at":7,"took":1,"error":{"code":409}}
            {"host":"a","thread":1,"op":{"kind":"write"},"db":"d","table":"t","args":[9],"at":9,"took":1,"error":{"code":500}}"#;
        assert_eq!(
            shown(&mapping, text),
            [
                "0 write(\"d/t\", 7) null",
                "1 read(\"d/t\") [7,null]",
                "0 cas(\"d/t\", [7,0]) true",
                "0 write(\"d/t\", 9) ?"
            ]
        );
        let history = mapping.read(text.as_bytes(), 0).expect("a history");
        assert!(history.precedes(crate::history::OpId(0), crate::history::OpId(1)), "2.5 ms is before 4 ms");
    }

    #[test]
    fn results_are_never_null_in_silence() {
        let warnings = |description: Json, text: &str| {
            let mut warnings = Vec::new();
            mapping(description).read_warned(text.as_bytes(), 0, &mut warnings).expect("a history");
            warnings
        };
        let text = r#"{"f":"read","c":1,"r":2,"out":5}
            {"f":"read","c":3,"r":4}
            {"f":"write","c":5,"r":6}
            {"f":"read","c":7}"#;
        let with = |result: Json| serde_json::json!({"f": "f", "call": "c", "return": "r", "result": result});
        let told = warnings(with(serde_json::json!("out")), text);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("`out`, the `result`, is missing from 1 return of `read`, first on line 2"),
            "{told:?}"
        );
        let told = warnings(serde_json::json!({"f": "f", "call": "c", "return": "r"}), text);
        assert!(told[0].contains("the mapping has no `result` for 2 returns of `read`, first on line 1"), "{told:?}");
        assert!(warnings(with(serde_json::json!({"from": "out", "default": {}})), text).is_empty());
        // The value of an `ok` is its result.
        let events = serde_json::json!({"process": "p", "type": "t", "f": "f", "value": "v"});
        let text = "{\"p\":0,\"t\":\"invoke\",\"f\":\"read\"}\n{\"p\":0,\"t\":\"ok\",\"v\":5}";
        assert!(warnings(events.clone(), text).is_empty());
        assert_eq!(warnings(events, &text.replace("\"v\"", "\"w\"")).len(), 1);
    }

    /// Based on the example of OpenTelemetry's protocol (examples/trace.json), with attributes for operations.
    #[test]
    fn spans() {
        let span = |name: &str, start: u64, end: u64, attributes: &str, more: &str| {
            format!(
                r#"{{"traceId":"5b8e","spanId":"eee1","name":"{name}","startTimeUnixNano":"{start}","endTimeUnixNano":"{end}","kind":3,"attributes":[{attributes}]{more}}}"#
            )
        };
        let int = |key: &str, value: &str| format!(r#"{{"key":"{key}","value":{{"intValue":"{value}"}}}}"#);
        let spans = [
            span("write", 10, 20, &int("value", "5"), ""),
            span("write", 15, 25, &int("value", "6"), r#","status":{"code":2}"#),
            span(
                "get",
                30,
                40,
                &[int("result", "5"), r#"{"key":"f","value":{"stringValue":"read"}}"#.to_owned()].join(","),
                r#","status":{}"#,
            ),
            span(
                "cas",
                50,
                60,
                r#"{"key":"value","value":{"arrayValue":{"values":[{"intValue":5},{"stringValue":"x"}]}}},{"key":"result","value":{"boolValue":true}},{"key":"process","value":{"stringValue":"c9"}}"#,
                "",
            ),
        ];
        let request = |spans: &[String]| {
            format!(
                r#"{{"resourceSpans":[{{"resource":{{"attributes":[]}},"scopeSpans":[{{"scope":{{"name":"l"}},"spans":[{}]}}]}}]}}"#,
                spans.join(",")
            )
        };
        let otlp = Mapping::preset("otlp").expect("a preset");
        let expected = ["1 write(5) null", "2 write(6) ?", "1 read() 5", "0 cas([5,\"x\"]) true"];
        assert_eq!(shown(&otlp, &request(&spans)), expected);
        // A collector writes a line for each batch.
        assert_eq!(shown(&otlp, &format!("{}\n{}\n", request(&spans[..2]), request(&spans[2..]))), expected);
        let error = otlp.read(&b"{\"resourceLogs\":[]}"[..], 0).expect_err("no spans").to_string();
        assert!(error.contains("no records at the path that the mapping gives"), "{error}");

        let jaeger = Mapping::preset("jaeger").expect("a preset");
        let text = r#"{"data":[{"traceID":"83a9","spans":[
            {"spanID":"e1","operationName":"write","startTime":1706678909209712,"duration":123,"tags":[{"key":"value","type":"int64","value":5}],"processID":"p1"},
            {"spanID":"e2","operationName":"read","startTime":1706678909209900,"duration":10,"tags":[{"key":"result","type":"int64","value":5}],"processID":"p1"},
            {"spanID":"e3","operationName":"write","startTime":1706678909209905,"duration":10,"tags":[{"key":"value","type":"int64","value":6},{"key":"error","type":"bool","value":true}],"processID":"p1"}],
            "processes":{"p1":{"serviceName":"s"}}}],"total":0}"#;
        assert_eq!(shown(&jaeger, text), ["0 write(5) null", "0 read() 5", "1 write(6) ?"]);
        let line = jaeger.read(text.as_bytes(), 0).expect("a history").operations()[1].call_line();
        assert_eq!(line, Some(3));
        // `^` selects the items that contain a record.
        let named = mapping(
            serde_json::json!({"extends": "jaeger", "process": "^.processes.p1.serviceName", "object": "^.traceID", "rules": [{"when": "spanID == \"e3\"", "outcome": "skip"}]}),
        );
        assert_eq!(shown(&named, text), ["0 write(5) null", "0 read() 5"]);
    }

    #[test]
    fn tables() {
        let csv = Mapping::preset("csv").expect("a preset");
        let text = "process,f,key,value,result,call,return\nc1,write,k,\"[1,\"\"a\"\"]\",,1,2\nc2,read,k,,\"a, b\",3,4\nc2,cas,k,\"[1,2]\",true,5,\n";
        let error = csv.read(text.as_bytes(), 0).expect_err("a result without a return").to_string();
        assert!(error.contains("line 4: the operation has a `result`, but no `return` time"), "{error}");
        let text = text.replace("true,5,", ",5,");
        assert_eq!(
            shown(&csv, &text),
            ["0 write(\"k\", [1,\"a\"]) null", "1 read(\"k\") \"a, b\"", "1 cas(\"k\", [1,2]) ?"]
        );
        // In events, an empty cell is not a result.
        let events = "process\ttype\tf\tvalue\tresult\n0\tinvoke\tread\t\t\n0\tok\tread\t5\t\n";
        assert_eq!(shown(&csv, events), ["0 read() 5"]);
        let own = mapping(
            serde_json::json!({"format": "csv", "separator": ";", "header": ["t", "op", "", "t2"], "f": "op", "call": "t", "return": "t2", "unit": "s"}),
        );
        assert_eq!(shown(&own, "1.5;read;;2\n1;write;x;2\n"), ["0 write() null", "1 read() null"]);
        for (text, expected) in [
            ("f,call\nread,1,2\n", "line 2: the row has 3 cells, but there are 2 columns"),
            ("f,f,call\n", "line 1: the column `f` occurs twice"),
            ("a,b\n", "line 1: the columns are `a`, `b`: `f` is missing"),
            ("f,call\nread,soon\n", "line 2: `soon` is neither a number nor an ISO 8601 time"),
        ] {
            let error = csv.read(text.as_bytes(), 0).expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn guesses() {
        for (text, expected) in [
            (
                "client,op,old,new,out,start,end\nc1,write,,5,,1.5,2\nc2,compare-and-set,5,6,true,3,4\n",
                &["0 write(5) null", "1 compare-and-set([5,6]) true"][..],
            ),
            (
                "{\"who\":1,\"ev\":\"begin\",\"what\":{\"name\":\"add\",\"arg\":5}}\n{\"who\":1,\"ev\":\"end\",\"answer\":true}\n{\"who\":1,\"ev\":\"beat\"}\n",
                &["0 add(5) true"],
            ),
            (
                "{\"meta\":1,\n\"log\":{\"entries\":[{\"op\":\"read\",\"result\":5,\"start\":\"2026-01-01T00:00:00Z\",\"duration\":5}]}}",
                &["0 read() 5"],
            ),
            ("[{\"op\":\"read\",\"result\":5,\"t0\":1,\"t1\":2}]", &["0 read() 5"]),
            (
                "{\"ts\":\"2026-01-01T00:00:01Z\",\"acked\":\"2026-01-01T00:00:02Z\",\"req\":{\"op\":\"get\",\"k\":\"a\"},\"res\":{\"v\":5}}\n\
                 {\"ts\":\"2026-01-01T00:00:03Z\",\"acked\":null,\"req\":{\"op\":\"set\",\"k\":\"a\",\"v\":6},\"res\":null}\n",
                &["0 get(\"a\") 5", "0 set(\"a\", 6) ?"],
            ),
            (
                "{\"rpc\":\"put\",\"client_id\":\"a\",\"key\":\"x\",\"payload\":5,\"started_ms\":1,\"finished_at_ms\":2,\"resp\":true}\n",
                &["0 put(\"x\", 5) true"],
            ),
            // `response` is the result, because only the names with a unit or `ts` are times.
            (
                "request_ts,response_ts,caller,api,k,v,response\n10,20,a,set,x,1,9\n30,40,b,get,x,,1\n",
                &["0 set(\"x\", 1) 9", "1 get(\"x\") 1"],
            ),
            ("t_start;t_end;tid;cmd;res\n1;2;7;read;5\n", &["0 read() 5"]),
            ("{\"resourceSpans\":[]}", &[]),
            ("{\"data\":[{\"spans\":[]}]}", &[]),
        ] {
            let guess = guess(text.as_bytes()).unwrap_or_else(|fault| panic!("{fault} in {text}"));
            assert_eq!(shown(&mapping(guess.description), text), expected, "{text}");
        }
        for text in ["", "Dear reader", "{\"a\":", "a,b\n"] {
            assert!(guess(text.as_bytes()).is_err(), "{text}");
        }
        let guess = guess(b"{\"x\":1,\"y\":{\"z\":[1,{\"a.b\":2}]}}").expect("there are records");
        assert_eq!(guess.fields, ["x", "y.z[0]", "y.z[1].\"a.b\""]);
        assert!(Mapping::from_json(&guess.description).is_err());
    }

    #[test]
    fn each_of_several_times_may_have_a_duration() {
        let mapping = Mapping::from_json(&serde_json::json!({
            "f": "f", "call": "at", "return": {"first": ["end", {"from": "at", "plus": "took", "unit": "ms"}], "default": 99},
        }));
        let text = "{\"f\":\"a\",\"at\":1,\"took\":10}\n{\"f\":\"b\",\"at\":2,\"end\":3}\n{\"f\":\"c\",\"at\":4}\n";
        let history = mapping.expect("a mapping").read(text.as_bytes(), 0).expect("a history");
        // In `return`, the unit applies to both `at` and `took`: `a` returns at 11 ms, after the other operations.
        let ends: Vec<&str> = history
            .events()
            .iter()
            .filter(|event| event.kind() == crate::history::EventKind::Return)
            .map(|event| &*history[event.op()].op.f)
            .collect();
        assert_eq!(ends, ["b", "c", "a"]);
    }

    #[test]
    fn what_is_wrong_with_a_mapping_is_told() {
        for (description, expected) in [
            (serde_json::json!([]), "a mapping is a table"),
            (serde_json::json!({"f": "f", "type": "t"}), "`process` is missing"),
            (serde_json::json!({"process": "p", "call": "c"}), "`f` is missing"),
            (serde_json::json!({"f": "f", "call": {"from": "c", "unit": "h"}}), "not a unit of time"),
            (serde_json::json!({"f": "f", "call": "c", "value": {"from": "v", "unit": "s"}}), "are for times"),
            (
                serde_json::json!({"f": "f", "call": "c", "value": {"from": "v", "als": "int"}}),
                "`als` in `value` is not an option",
            ),
            (serde_json::json!({"f": "f", "call": "c", "value": {"from": "v", "const": 5}}), "keep one of them"),
            (serde_json::json!({"f": "f", "call": "c", "value": {"from": "v", "join": "-"}}), "needs a list"),
            (serde_json::json!({"f": "f", "call": "c", "value": {"const": 1.5}}), "an integer"),
            (serde_json::json!({"f": "f", "call": "c", "rules": [{"value": "v"}]}), "needs a condition"),
            (
                serde_json::json!({"f": "f", "call": "c", "rules": [{"when": "a", "outcome": "invoke"}]}),
                "must be ok, fail, info, note or skip",
            ),
            (
                serde_json::json!({"f": "f", "call": "c", "rules": [{"when": "a", "of": "b"}]}),
                "`of` in a rule is not a field",
            ),
            (serde_json::json!({"f": "f", "call": "c", "records": "spans"}), "data[].spans[]"),
            (serde_json::json!({"f": "f", "call": "c", "format": "xml"}), "write json, csv, parquet or arrow"),
            (
                serde_json::json!({"extends": "zipkin"}),
                "not a preset; the presets are csv, parquet, arrow, otlp, jaeger",
            ),
            (serde_json::json!({"process": "p", "f": "f"}), "neither `type` nor `call`"),
            (serde_json::json!({"process": "p", "f": "f", "type": "t", "call": "c"}), "both `type` and `call`"),
            (serde_json::json!({"process": "p", "f": "f", "typ": "t"}), "`typ` is neither a field"),
            (serde_json::json!({"process": 5, "f": "f", "type": "t"}), "must be the name of a field"),
            (serde_json::json!({"process": "p", "f": "f", "type": "t", "types": {"a": "b"}}), "`b` is not a type"),
            (serde_json::json!({"process": "p", "f": "f", "type": "t", "types": 5}), "must be a table of words"),
            (serde_json::json!({"process": "p", "f": "f", "call": "t", "scale": 0}), "number above 0"),
        ] {
            let error = Mapping::from_json(&description).expect_err("the mapping is invalid");
            assert!(error.contains(expected), "{error}");
        }
    }
}
