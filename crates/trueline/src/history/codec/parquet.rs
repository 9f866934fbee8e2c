//! Parquet: rows of typed columns, as data tools write them.
//!
//! A row is an event or a whole operation. Its columns have the names of [`jsonl`](super::jsonl)'s fields, or a
//! [`Mapping`](super::Mapping) says where the fields are. Integers, booleans, texts, lists and null are values; a group is an
//! object, into which paths of mappings go, and a map is a list of pairs. Time stamps are nanoseconds since 1970. A column with
//! the logical type JSON has values of any kind, each as JSON. Null means that a field is absent, except for an argument
//! and for the result of a whole operation, which are null.
//!
//! Rows are counted like lines, from 1.

use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::{Field, Row};
use parquet::schema::parser::parse_message_type;

use super::super::{Outcome, RawHistory, Value};
use super::field::{Names, Parsed, Unfit, named_object, quoted};
use super::json::{self, Node, Object};
use super::{CodecError, DEEPEST_NESTING, jsonl};

/// The rows of a file.
pub(super) struct Rows {
    reader: SerializedFileReader<Bytes>,
    columns: Vec<Column>,
}

struct Column {
    name: Arc<str>,
    /// Whether the values are JSON.
    is_json: bool,
}

impl Rows {
    pub(super) fn open(content: Vec<u8>) -> Result<Self, CodecError> {
        let reader = guarded(|| SerializedFileReader::new(Bytes::from(content)))?;
        let schema = reader.metadata().file_metadata().schema();
        let column = |field: &Arc<parquet::schema::types::Type>| {
            let info = field.get_basic_info();
            let is_json = field.is_primitive()
                && (info.converted_type() == ConvertedType::JSON
                    || matches!(info.logical_type_ref(), Some(LogicalType::Json)));
            Column { name: info.name().into(), is_json }
        };
        let columns = schema.get_fields().iter().map(column).collect();
        Ok(Self { reader, columns })
    }

    /// Returns the names of the columns.
    pub(super) fn columns(&self) -> Vec<Arc<str>> {
        self.columns.iter().map(|column| Arc::clone(&column.name)).collect()
    }

    /// Calls `visit` with each row and its number.
    pub(super) fn each(&self, visit: &mut dyn FnMut(u32, Object) -> Result<(), CodecError>) -> Result<(), CodecError> {
        let mut names = Names::default();
        let mut rows = guarded(|| self.reader.get_row_iter(None))?;
        let mut number = 0_u32;
        while let Some(row) = guarded(|| rows.next().transpose())? {
            number = number.checked_add(1).ok_or_else(|| CodecError::at(number, "too many rows; split the file"))?;
            let mut fields = Vec::with_capacity(self.columns.len());
            for (column, (_, field)) in self.columns.iter().zip(row.into_columns()) {
                let node = column.node(field, &mut names).map_err(|message| CodecError::at(number, message))?;
                fields.push((Arc::clone(&column.name), node));
            }
            visit(number, Object::of_row(fields))?;
        }
        Ok(())
    }
}

/// A cell of a column without groups and lists.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Text(&'a [u8]),
    Json(&'a [u8]),
}

/// The number of rows that are decoded at once.
const BATCH: usize = 1 << 12;

/// The place of a cell that is null.
const NO_PLACE: u32 = u32::MAX;

/// A batch of a column.
struct Batch {
    reader: ColumnReader,
    is_json: bool,
    /// The level of a value that is not null.
    there: i16,
    levels: Vec<i16>,
    /// For each row, the place of its value.
    places: Vec<u32>,
    bools: Vec<bool>,
    shorts: Vec<i32>,
    ints: Vec<i64>,
    texts: Vec<ByteArray>,
}

impl Batch {
    fn new(reader: ColumnReader, is_json: bool, there: i16) -> Self {
        Self {
            reader,
            is_json,
            there,
            levels: Vec::new(),
            places: Vec::new(),
            bools: Vec::new(),
            shorts: Vec::new(),
            ints: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Decodes the next rows, and returns their number.
    fn next(&mut self) -> Result<usize, ParquetError> {
        let Self { reader, levels, places, there, bools, shorts, ints, texts, .. } = self;
        levels.clear();
        places.clear();
        bools.clear();
        shorts.clear();
        ints.clear();
        texts.clear();
        let defined = Some(&mut *levels);
        let (rows, values, _) = match reader {
            ColumnReader::BoolColumnReader(reader) => reader.read_records(BATCH, defined, None, bools)?,
            ColumnReader::Int32ColumnReader(reader) => reader.read_records(BATCH, defined, None, shorts)?,
            ColumnReader::Int64ColumnReader(reader) => reader.read_records(BATCH, defined, None, ints)?,
            ColumnReader::ByteArrayColumnReader(reader) => reader.read_records(BATCH, defined, None, texts)?,
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        };
        let mut next = 0;
        if *there == 0 {
            places.extend(0..u32::try_from(rows).unwrap_or(0));
        }
        places.extend(levels.iter().map(|level| if level == there { (next, next += 1).0 } else { NO_PLACE }));
        if places.len() != rows || (next > 0 && next as usize != values) {
            return Err(ParquetError::General("the levels of a column do not fit its values".to_owned()));
        }
        Ok(rows)
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        let place = match self.places[row] {
            NO_PLACE => return Cell::Null,
            place => place as usize,
        };
        match &self.reader {
            ColumnReader::BoolColumnReader(_) => Cell::Bool(self.bools[place]),
            ColumnReader::Int32ColumnReader(_) => Cell::Int(self.shorts[place].into()),
            ColumnReader::Int64ColumnReader(_) => Cell::Int(self.ints[place]),
            _ if self.is_json => Cell::Json(self.texts[place].data()),
            _ => Cell::Text(self.texts[place].data()),
        }
    }
}

/// A row of columns without groups and lists.
pub(super) struct FlatRow<'r> {
    columns: &'r [Column],
    batches: &'r [Batch],
    row: usize,
}

impl FlatRow<'_> {
    pub(super) fn cell(&self, column: usize) -> Cell<'_> {
        self.batches[column].cell(self.row)
    }

    /// Returns all cells, or a message.
    pub(super) fn object(&self, names: &mut Names) -> Result<Object, String> {
        let mut fields = Vec::with_capacity(self.columns.len());
        for (index, column) in self.columns.iter().enumerate() {
            let field = match self.cell(index) {
                Cell::Null => Field::Null,
                Cell::Bool(bool) => Field::Bool(bool),
                Cell::Int(int) => Field::Long(int),
                Cell::Text(text) | Cell::Json(text) => Field::Bytes(ByteArray::from(text.to_vec())),
            };
            fields.push((Arc::clone(&column.name), column.node(field, names)?));
        }
        Ok(Object::of_row(fields))
    }
}

impl Column {
    /// Converts a cell, or returns a message.
    fn node(&self, field: Field, names: &mut Names) -> Result<Node, String> {
        let name = || quoted(&self.name);
        match node(field, names, DEEPEST_NESTING) {
            Node::Value(Ok(Value::Text(text))) if self.is_json => json::value(&text).map(Node::Value).map_err(|error| {
                format!(
                    "the column `{}` has the type JSON, but this is not JSON ({error}); correct it, or store it as text",
                    name()
                )
            }),
            field => Ok(field),
        }
    }
}

impl Rows {
    /// Returns whether all columns have simple types, so that [`each_flat`](Self::each_flat) can read them.
    pub(super) fn is_flat(&self) -> bool {
        let schema = self.reader.metadata().file_metadata().schema();
        schema.get_fields().iter().all(|field| {
            let info = field.get_basic_info();
            let is_plain = match info.converted_type() {
                ConvertedType::NONE => {
                    matches!(info.logical_type_ref(), None | Some(LogicalType::String | LogicalType::Json))
                }
                ConvertedType::UTF8 | ConvertedType::JSON | ConvertedType::ENUM => true,
                ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64 => true,
                _ => false,
            };
            let has_simple_type = |physical| {
                matches!(physical, Physical::BOOLEAN | Physical::INT32 | Physical::INT64 | Physical::BYTE_ARRAY)
            };
            field.is_primitive()
                && is_plain
                && has_simple_type(field.get_physical_type())
                && (!info.has_repetition() || info.repetition() != Repetition::REPEATED)
        })
    }

    /// Calls `visit` with each row and its number, if the file [is flat](Self::is_flat).
    pub(super) fn each_flat(
        &self,
        visit: &mut dyn FnMut(u32, &FlatRow<'_>) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let mut number = 0_u32;
        for group in 0..self.reader.num_row_groups() {
            let group = guarded(|| self.reader.get_row_group(group))?;
            let mut batches = Vec::new();
            for (index, column) in self.columns.iter().enumerate() {
                let there = group.metadata().column(index).column_descr().max_def_level();
                let reader = guarded(|| group.get_column_reader(index))?;
                batches.push(Batch::new(reader, column.is_json, there));
            }
            loop {
                let mut rows = None;
                for batch in &mut batches {
                    let decoded = guarded(|| batch.next())?;
                    if *rows.get_or_insert(decoded) != decoded {
                        return Err(CodecError::whole_file(
                            "this is not a valid Parquet file, because its columns have different lengths; write it again",
                        ));
                    }
                }
                let rows = rows.unwrap_or(0);
                for row in 0..rows {
                    number =
                        number.checked_add(1).ok_or_else(|| CodecError::at(number, "too many rows; split the file"))?;
                    visit(number, &FlatRow { columns: &self.columns, batches: &batches, row })?;
                }
                if rows < BATCH {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// Runs `work` on a file, which may be invalid in ways that make the decoder panic.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, CodecError> {
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let message = match done {
        Ok(Ok(done)) => return Ok(done),
        // A compression that is not supported is an error of the general kind.
        Ok(Err(ParquetError::NYI(what) | ParquetError::General(what)))
            if what.contains("not implemented") || what.starts_with("Disabled feature") =>
        {
            format!(
                "this Parquet file has something that is not supported ({what}); write it with the compression none, snappy, gzip or lz4"
            )
        }
        Ok(Err(error)) => format!("this is not a complete Parquet file ({error}); write it again"),
        Err(_) => "this is not a valid Parquet file; write it again".to_owned(),
    };
    Err(CodecError::whole_file(message))
}

/// Converts a field, with groups and lists nested at most `depth` deep.
fn node(field: Field, names: &mut Names, depth: usize) -> Node {
    let int = |int: i64| Ok(Value::Int(int));
    let value: Parsed = match field {
        Field::Null => Ok(Value::Null),
        Field::Bool(bool) => Ok(Value::Bool(bool)),
        Field::Byte(number) => int(number.into()),
        Field::Short(number) => int(number.into()),
        Field::Int(number) | Field::Date(number) => int(number.into()),
        Field::Long(number) => int(number),
        Field::UByte(number) => int(number.into()),
        Field::UShort(number) => int(number.into()),
        Field::UInt(number) => int(number.into()),
        Field::ULong(number) => {
            i64::try_from(number).map(Value::Int).map_err(|_| Unfit::Big(Some(number.to_string().into())))
        }
        Field::Float16(number) => Err(Unfit::Fraction(number.to_f64())),
        Field::Float(number) => Err(Unfit::Fraction(number.into())),
        Field::Double(number) => Err(Unfit::Fraction(number)),
        Field::TimeMillis(time) => nanoseconds(time.into(), 1_000_000),
        Field::TimestampMillis(time) => nanoseconds(time, 1_000_000),
        Field::TimeMicros(time) | Field::TimestampMicros(time) => nanoseconds(time, 1_000),
        Field::Str(text) => Ok(Value::Text(names.get(&text))),
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => Ok(Value::Text(names.get(text))),
            Err(_) => Err(Unfit::Other("bytes that are not text")),
        },
        Field::Decimal(_) => Err(Unfit::Other("a decimal number")),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) if depth == 0 => Err(Unfit::Deep),
        Field::Group(row) => return Node::Object(group(row, names, depth)),
        Field::ListInternal(list) => {
            let items = list.elements().iter().cloned().map(|item| node(item, names, depth - 1));
            return listed(items.collect());
        }
        Field::MapInternal(map) => {
            let mut pairs = Vec::new();
            for (key, value) in map.entries() {
                let pair = [key.clone(), value.clone()].map(|item| node(item, names, depth - 1));
                pairs.push(listed(pair.into()));
            }
            return listed(pairs);
        }
    };
    Node::Value(value)
}

/// Returns the node of a list.
fn listed(items: Vec<Node>) -> Node {
    if items.iter().all(|item| matches!(item, Node::Value(Ok(_)))) {
        return Node::Value(items.into_iter().map(Node::into_value).collect());
    }
    Node::List(items)
}

fn group(row: Row, names: &mut Names, depth: usize) -> Object {
    let mut fields = Vec::new();
    for (name, field) in row.into_columns() {
        fields.push((names.get(&name), node(field, names, depth - 1)));
    }
    Object::of_row(fields)
}

fn nanoseconds(time: i64, unit: i64) -> Parsed {
    time.checked_mul(unit).map(Value::Int).ok_or(Unfit::Big(None))
}

/// The type of a column that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Bool,
    Text,
    /// Values of several types, or lists.
    Json,
}

impl Kind {
    /// Returns the type that holds all these values.
    fn of<'v>(values: impl Iterator<Item = &'v Value>) -> Self {
        let mut kinds = values.filter_map(|value| match value {
            Value::Null => None,
            Value::Bool(_) => Some(Self::Bool),
            Value::Int(_) => Some(Self::Int),
            Value::Text(_) => Some(Self::Text),
            Value::List(_) => Some(Self::Json),
        });
        let Some(first) = kinds.next() else { return Self::Int };
        if kinds.all(|kind| kind == first) { first } else { Self::Json }
    }

    fn type_name(self) -> (&'static str, &'static str) {
        match self {
            Self::Int => ("INT64", ""),
            Self::Bool => ("BOOLEAN", ""),
            Self::Text => ("BYTE_ARRAY", " (UTF8)"),
            Self::Json => ("BYTE_ARRAY", " (JSON)"),
        }
    }
}

/// The maximum number of rows in a row group.
const ROW_GROUP: usize = 1 << 18;

/// Writes a history as whole operations, one row for each; see [`jsonl::write_operations`].
pub(super) fn write_all(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    let times = jsonl::times(history);
    let time = |position: u32| Value::Int(i64::try_from(times[position as usize]).unwrap_or(i64::MAX));
    let operations = history.operations();
    let result = |at: usize| match (&operations[at].outcome, operations[at].return_position()) {
        (Outcome::Returned(result), Some(_)) => result.clone(),
        _ => Value::Null,
    };
    let object = |at: usize| history.object_name(operations[at].object).map(named_object).unwrap_or_default();
    let columns: [(&str, &dyn Fn(usize) -> Value); 9] = [
        ("process", &|at| Value::Int(operations[at].process.0.into())),
        ("object", &object),
        ("f", &|at| Value::Text(Arc::clone(&operations[at].op.f))),
        ("key", &|at| operations[at].op.key.clone().unwrap_or_default()),
        ("value", &|at| operations[at].op.value.clone()),
        ("result", &result),
        ("call", &|at| time(operations[at].call_position())),
        ("return", &|at| operations[at].return_position().map(time).unwrap_or_default()),
        ("version", &|at| operations[at].version().into()),
    ];
    let all = 0..operations.len();
    let kinds = columns.map(|(_, value)| {
        let values: Vec<Value> = all.clone().map(value).filter(|value| !value.is_null()).collect();
        (!values.is_empty(), Kind::of(values.iter()))
    });
    let mut schema = "message history {\n".to_owned();
    let mut written = Vec::new();
    for ((name, value), (is_used, kind)) in columns.iter().zip(kinds) {
        let kind = if *name == "f" { Kind::Text } else { kind };
        let is_optional = matches!(*name, "object" | "key" | "version");
        if is_used || !is_optional {
            let (physical, logical) = kind.type_name();
            schema += &format!("  OPTIONAL {physical} {name}{logical};\n");
            written.push((*value, kind));
        }
    }
    schema += "}";
    let content = write_columns(&schema, &written, operations.len()).map_err(io::Error::other)?;
    output.write_all(&content)?;
    output.flush()
}

/// Writes the columns of this many rows.
fn write_columns(
    schema: &str,
    columns: &[(&dyn Fn(usize) -> Value, Kind)],
    rows: usize,
) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(schema)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut content = Vec::new();
    let mut file = SerializedFileWriter::new(&mut content, schema, Arc::new(properties))?;
    let mut start = 0;
    while start < rows || (rows == 0 && start == 0) {
        let end = rows.min(start + ROW_GROUP);
        let mut group = file.next_row_group()?;
        for (value, kind) in columns {
            let Some(mut column) = group.next_column()? else { break };
            let values: Vec<Value> = (start..end).map(value).collect();
            let levels: Vec<i16> = values.iter().map(|value| i16::from(!value.is_null())).collect();
            let there = values.iter().filter(|value| !value.is_null());
            match column.untyped() {
                ColumnWriter::Int64ColumnWriter(writer) => {
                    let ints: Vec<i64> = there.filter_map(Value::as_int).collect();
                    writer.write_batch(&ints, Some(&levels), None)?;
                }
                ColumnWriter::BoolColumnWriter(writer) => {
                    let bools: Vec<bool> = there.map(|value| *value == Value::Bool(true)).collect();
                    writer.write_batch(&bools, Some(&levels), None)?;
                }
                ColumnWriter::ByteArrayColumnWriter(writer) => {
                    let text = |value: &Value| match value {
                        Value::Text(text) if *kind == Kind::Text => ByteArray::from(&**text),
                        value => ByteArray::from(value.to_string().as_str()),
                    };
                    let texts: Vec<ByteArray> = there.map(text).collect();
                    writer.write_batch(&texts, Some(&levels), None)?;
                }
                _ => return Err(ParquetError::General("a column of another type".to_owned())),
            }
            column.close()?;
        }
        group.close()?;
        start = end.max(start + 1);
    }
    file.close()?;
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Random;
    use crate::history::codec::{self, Format, Mapping, Target};

    /// Writes rows with this schema, by the writer of the same crate that reads them.
    fn file(schema: &str, columns: &[(&dyn Fn(usize) -> Value, Kind)], rows: usize) -> Vec<u8> {
        write_columns(schema, columns, rows).expect("to memory")
    }

    const EVENTS: &str = r#"{"process":0,"type":"invoke","f":"write","value":[1,["two",true,null]],"key":"k"}
{"process":1,"type":"invoke","f":"read","value":null,"key":7}
{"process":0,"type":"ok","f":"write","value":null,"version":3}
{"process":2,"type":"invoke","f":"write","value":false}
{"process":1,"type":"ok","f":"read","value":"5"}
"#;

    #[test]
    fn what_is_written_is_read_again() {
        let objects = "{\"process\":0,\"f\":\"a\",\"object\":\"7\",\"value\":1,\"call\":1,\"return\":2}\n\
                       {\"process\":1,\"f\":\"b\",\"object\":7,\"value\":-2,\"call\":1}";
        let plain: String = (0..10_000)
            .map(|at| {
                let (f, value, result) = if at % 3 == 0 { ("put", at.to_string(), "null") } else { ("get", "null".to_owned(), "5") };
                let (process, key, ret) = (at % 7, at % 11, at * 10 + 69);
                format!(
                    "{{\"process\":{process},\"f\":\"{f}\",\"key\":\"k\u{e9}{key}\",\"value\":{value},\"result\":{result},\"call\":{},\"return\":{ret}}}\n",
                    at * 10
                )
            })
            .collect();
        for text in [EVENTS, objects, &plain, &plain.replace('\u{e9}', ""), ""] {
            let history = codec::read(text.as_bytes(), Format::Jsonl).expect("a history");
            let mut written = Vec::new();
            codec::write(&history, Target::Parquet, &mut written).expect("it can hold it");
            assert_eq!(codec::detect(&written), Some(Format::Parquet));
            let again = codec::read(written.as_slice(), Format::Auto).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again.events(), history.events());
            for (again, operation) in again.operations().iter().zip(history.operations()) {
                assert_eq!((&again.op, &again.outcome), (&operation.op, &operation.outcome));
                assert_eq!((again.process, again.version()), (operation.process, operation.version()));
                assert_eq!(again.object, operation.object);
            }
            assert_eq!(again.objects, history.objects);
            // A survey reads every row as an object.
            let surveyed = codec::survey(written.as_slice(), Format::Parquet, None).expect("it was read before");
            assert_eq!(surveyed.history, again);
        }
    }

    #[test]
    fn columns_are_mapped_and_typed() {
        // Time stamps have units, and every other row is an event of another client.
        let schema = "message m { REQUIRED BYTE_ARRAY who (UTF8); REQUIRED INT64 at (TIMESTAMP(MILLIS,true)); \
                      REQUIRED INT64 until (TIMESTAMP(MICROS,true)); OPTIONAL BYTE_ARRAY what; OPTIONAL INT64 arg; }";
        let columns: [(&dyn Fn(usize) -> Value, Kind); 5] = [
            (&|row| Value::from(["ann", "bob"][row % 2]), Kind::Text),
            (&|row| Value::Int(row as i64 * 10), Kind::Int),
            (&|row| Value::Int(row as i64 * 10_000 + 5), Kind::Int),
            (&|row| Value::from(if row == 0 { "write" } else { "read" }), Kind::Text),
            (&|row| if row == 0 { Value::Int(5) } else { Value::Null }, Kind::Int),
        ];
        let content = file(schema, &columns, 3);
        let mapping = Mapping::from_json(&serde_json::json!({
            "process": "who", "call": "at", "return": "until", "f": "what", "value": "arg",
            "rules": [{"when": "f == \"read\"", "result": {"const": 5}}],
        }));
        let mut warnings = Vec::new();
        let history = mapping.expect("a mapping").read_warned(content.as_slice(), 0, &mut warnings).expect("a history");
        let shown: Vec<String> = history.operations().iter().map(|operation| operation.op.to_string()).collect();
        assert_eq!(shown, ["write(5)", "read()", "read()"]);
        assert!(history.precedes(crate::history::OpId(0), crate::history::OpId(1)));
        assert_eq!(history.operations()[2].process, crate::history::ProcessId(0));
        assert_eq!(warnings.len(), 1, "the result of the write: {warnings:?}");
    }

    #[test]
    fn groups_lists_and_maps() {
        let group = Row::new(vec![("a".to_owned(), Field::Long(1)), ("b".to_owned(), Field::Null)]);
        let Node::Object(object) = node(Field::Group(group), &mut Names::default(), 4) else {
            panic!("a group is an object");
        };
        assert!(matches!(object.get("a"), Some(Node::Value(Ok(Value::Int(1))))));
        for (field, expected) in [
            (Field::Bool(true), "Value(Ok(true))"),
            (Field::ULong(u64::MAX), "Value(Err(Big(Some(\"18446744073709551615\"))))"),
            (Field::Double(1.0), "Value(Err(Fraction(1.0)))"),
            (Field::Bytes(ByteArray::from("text")), "Value(Ok(\"text\"))"),
            (Field::TimestampMillis(-2), "Value(Ok(-2000000))"),
            (Field::TimestampMicros(i64::MAX), "Value(Err(Big(None)))"),
        ] {
            let node = node(field, &mut Names::default(), 4);
            assert_eq!(format!("{node:?}"), expected);
        }
        let bytes = node(Field::Bytes(ByteArray::from(vec![0xff])), &mut Names::default(), 4).into_value();
        assert_eq!(bytes, Err(Unfit::Other("bytes that are not text")));
    }

    /// Changes bytes of a valid file at random: the result must be a history or an error.
    #[test]
    fn no_input_panics() {
        let history = codec::read(EVENTS.as_bytes(), Format::Jsonl).expect("a history");
        let mut written = Vec::new();
        codec::write(&history, Target::Parquet, &mut written).expect("it can hold it");
        let mut random = Random::new(3);
        let length = u32::try_from(written.len()).expect("short");
        let mut bad = 0;
        for _ in 0..500 {
            let mut bytes = written.clone();
            for _ in 0..=random.below(2) {
                let at = random.below(length) as usize;
                bytes[at] = u8::try_from(random.below(256)).expect("a byte");
            }
            if random.below(4) == 0 {
                bytes.truncate(random.below(length) as usize);
            }
            bad += u32::from(codec::read(bytes.as_slice(), Format::Parquet).is_err());
        }
        assert!(bad > 100, "{bad}");
        let error = codec::read(&b"{}"[..], Format::Parquet).expect_err("it is JSON");
        assert!(error.to_string().contains("not a Parquet file"), "{error}");
    }
}
