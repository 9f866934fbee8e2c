//! Parquet: rows of typed columns, as data tools write them.
//!
//! A row is an event or a whole operation. Its columns have the names of [`jsonl`](super::jsonl)'s fields, or a
//! [`Mapping`](super::Mapping) says where the fields are. Integers, booleans, texts, lists and null are values. A group
//! is an object, and the paths of a mapping can select its fields. A map is a list of pairs. Time stamps are
//! nanoseconds since 1970. A column with the logical type JSON has values of any type, each written as JSON. Null means
//! that a field is absent. There are two exceptions: in the column for an argument, and in the column for the result of
//! a whole operation, null is a value.
//!
//! Rows are counted like lines, from 1.

mod content;
mod footer;
mod pages;

use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::reader::{ReaderIter, RowIter, TreeBuilder};
use parquet::record::{Field, Row};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{SchemaDescriptor, Type};

use super::super::{Outcome, RawHistory, Value};
use super::columns::{self, BATCH, Batch, Cells, Items, Table};
use super::field::{Names, Unfit, named_object};
use super::json::{Node, Object};
use super::{CodecError, DEEPEST_NESTING, jsonl};
use content::Content;
use pages::{Chunk, Kind as PageKind, Pages, as_item};

/// The rows of a file.
pub(super) struct Rows {
    reader: SerializedFileReader<Content>,
    content: Arc<Content>,
    columns: Vec<Column>,
}

struct Column {
    name: Arc<str>,
    /// The type of the values, or `None` if the module [`pages`] cannot decode them.
    kind: Option<PageKind>,
}

impl Rows {
    pub(super) fn open(input: &mut dyn BufRead) -> Result<Self, CodecError> {
        let content = Content::read(input).map_err(|error| CodecError::io(0, error))?;
        let reader = guarded(|| {
            if !footer::is_plausible(&content) {
                return Err(ParquetError::EOF("its description of the columns is cut off".to_owned()));
            }
            SerializedFileReader::new(content.clone())
        })?;
        let schema = reader.metadata().file_metadata().schema();
        let column = |field: &Arc<Type>| Column { name: field.name().into(), kind: PageKind::of(field) };
        let columns = schema.get_fields().iter().map(column).collect();
        Ok(Self { reader, content: Arc::new(content), columns })
    }

    /// For each group of rows, returns the first position in the file that this group or a later group needs.
    fn starts(&self) -> Vec<u64> {
        let groups = self.reader.metadata().row_groups().iter();
        let starts = groups.map(|group| group.columns().iter().map(|column| column.byte_range().0).min().unwrap_or(0));
        let mut starts: Vec<u64> = starts.collect();
        for index in (1..starts.len()).rev() {
            starts[index - 1] = starts[index - 1].min(starts[index]);
        }
        starts
    }
}

/// A row group that is being read.
struct Group {
    /// The columns that the module [`pages`] decodes.
    chunks: Vec<Option<Chunk>>,
    /// The cells of all other columns that are wanted. The crate `parquet` decodes these columns,
    /// and `rows` returns their values row by row.
    others: Vec<Option<Cells>>,
    rows: Option<ReaderIter>,
}

impl Group {
    fn open(table: &Rows, group: usize, wanted: &[bool], names: &mut Names) -> Result<Self, ParquetError> {
        let group = Compressed { group: table.reader.get_row_group(group)?, content: Arc::clone(&table.content) };
        let schema = table.reader.metadata().file_metadata().schema();
        let (mut chunks, mut others, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        // The index of the first column of the current field. A field that is a group consists of
        // several columns.
        let mut leaf = 0;
        for ((column, field), wanted) in table.columns.iter().zip(schema.get_fields()).zip(wanted) {
            let chunk = match column.kind {
                Some(kind) if *wanted => {
                    let open = || group.get_column_page_reader(leaf);
                    Chunk::open(&column.name, kind, group.metadata().column(leaf), open, names)?
                }
                _ => None,
            };
            let is_other = *wanted && chunk.is_none();
            others.push(is_other.then(|| Cells::new(Items::Others(Vec::new()))));
            if is_other {
                fields.push(Arc::clone(field));
            }
            chunks.push(chunk);
            leaf += leaves(field);
        }
        let rows = if fields.is_empty() {
            None
        } else {
            let projection = Type::group_type_builder(schema.name()).with_fields(fields).build()?;
            let projection = Arc::new(SchemaDescriptor::new(Arc::new(projection)));
            Some(TreeBuilder::new().as_iter(projection, &group)?)
        };
        Ok(Self { chunks, others, rows })
    }

    /// Decodes the next rows.
    fn next(&mut self, columns: &[Column], rows: usize, names: &mut Names) -> Result<(), ParquetError> {
        for chunk in self.chunks.iter_mut().flatten() {
            chunk.next(rows, names)?;
        }
        let Some(iterator) = &mut self.rows else { return Ok(()) };
        self.others.iter_mut().flatten().for_each(|cells| cells.clear(0));
        for place in 0..u32::try_from(rows).unwrap_or_default() {
            let row = iterator
                .next()
                .transpose()?
                .ok_or_else(|| ParquetError::EOF("a column with too few rows".to_owned()))?;
            let others =
                self.others.iter_mut().zip(columns).filter_map(|(cells, column)| Some((cells.as_mut()?, column)));
            for ((cells, column), (_, field)) in others.zip(row.into_columns()) {
                let Items::Others(items) = &mut cells.items else { continue };
                let node = node(field, names, DEEPEST_NESTING);
                items.push(as_item(node, column.kind, &column.name, names));
                cells.places.push(place);
            }
        }
        Ok(())
    }
}

/// Returns the number of columns that a field consists of.
fn leaves(field: &Type) -> usize {
    if field.is_group() { field.get_fields().iter().map(|field| leaves(field)).sum() } else { 1 }
}

/// A group of rows whose pages are decompressed by [`Pages`].
struct Compressed<'r> {
    group: Box<dyn RowGroupReader + 'r>,
    content: Arc<Content>,
}

impl RowGroupReader for Compressed<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.group.metadata()
    }

    fn num_columns(&self) -> usize {
        self.group.num_columns()
    }

    fn get_column_page_reader(&self, index: usize) -> Result<Box<dyn PageReader>, ParquetError> {
        let rows = usize::try_from(self.metadata().num_rows())?;
        Ok(Box::new(Pages::open(&self.content, self.metadata().column(index), rows)?))
    }

    fn get_column_bloom_filter(&self, index: usize) -> Option<&Sbbf> {
        self.group.get_column_bloom_filter(index)
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>, ParquetError> {
        RowIter::from_row_group(projection, self)
    }
}

impl Table for Rows {
    fn names(&self) -> Vec<Arc<str>> {
        self.columns.iter().map(|column| Arc::clone(&column.name)).collect()
    }

    fn each(
        &mut self,
        wanted: &[bool],
        visit: &mut dyn FnMut(&Batch<'_>) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let column_names = self.names();
        let nothing = Cells::new(Items::Others(Vec::new()));
        let mut names = Names::default();
        let mut first = 1_u32;
        for (index, start) in guarded(|| Ok(self.starts()))?.into_iter().enumerate() {
            self.content.forget(start);
            let mut left = guarded(|| Ok(usize::try_from(self.reader.metadata().row_group(index).num_rows())?))?;
            let mut group = guarded(|| Group::open(self, index, wanted, &mut names))?;
            while left > 0 {
                let rows = left.min(BATCH);
                left -= rows;
                guarded(|| group.next(&self.columns, rows, &mut names))?;
                let columns = group.chunks.iter().zip(&group.others);
                let columns = columns.map(|(chunk, other)| chunk.as_ref().map(Chunk::cells).or(other.as_ref()));
                let columns = columns.map(|cells| cells.unwrap_or(&nothing)).collect();
                visit(&Batch { names: &column_names, columns, first, rows })?;
                let count = u32::try_from(rows).ok();
                first = count
                    .and_then(|count| first.checked_add(count))
                    .ok_or_else(|| CodecError::at(first, "too many rows; split the file"))?;
            }
        }
        Ok(())
    }
}

/// Runs `work`, which reads a file. Some invalid files make the decoder panic; such a panic becomes
/// an error.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, CodecError> {
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    let message = match done {
        Ok(Ok(done)) => return Ok(done),
        // For an unsupported compression, the crate `parquet` returns the error `General`.
        Ok(Err(ParquetError::NYI(what) | ParquetError::General(what)))
            if what.contains("not implemented")
                || what.contains("not supported")
                || what.starts_with("Disabled feature") =>
        {
            format!(
                "this Parquet file uses a feature that is not supported ({what}); write it with the default encodings, and with the compression none, snappy, gzip, lz4 or zstd"
            )
        }
        Ok(Err(error)) => format!("this is not a complete Parquet file ({error}); write it again"),
        Err(_) => "this is not a valid Parquet file; write it again".to_owned(),
    };
    Err(CodecError::whole_file(message))
}

/// Converts a field, with groups and lists nested at most `depth` deep.
fn node(field: Field, names: &mut Names, depth: usize) -> Node {
    let int = |int: i64| Node::Value(Ok(Value::Int(int)));
    match field {
        Field::Null => Node::Value(Ok(Value::Null)),
        Field::Bool(bool) => Node::Value(Ok(Value::Bool(bool))),
        Field::Byte(number) => int(number.into()),
        Field::Short(number) => int(number.into()),
        Field::Int(number) | Field::Date(number) => int(number.into()),
        Field::Long(number) => int(number),
        Field::UByte(number) => int(number.into()),
        Field::UShort(number) => int(number.into()),
        Field::UInt(number) => int(number.into()),
        Field::ULong(number) => columns::unsigned(number),
        Field::Float16(number) => Node::Value(Err(Unfit::Fraction(number.to_f64()))),
        Field::Float(number) => Node::Value(Err(Unfit::Fraction(number.into()))),
        Field::Double(number) => Node::Value(Err(Unfit::Fraction(number))),
        Field::TimeMillis(time) => columns::time(time.into(), 1_000_000),
        Field::TimestampMillis(time) => columns::time(time, 1_000_000),
        Field::TimeMicros(time) | Field::TimestampMicros(time) => columns::time(time, 1_000),
        Field::Str(text) => Node::Value(Ok(Value::Text(names.get(&text)))),
        Field::Bytes(bytes) => columns::text(bytes.data(), names),
        Field::Decimal(_) => Node::Value(Err(Unfit::Other("a decimal number"))),
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) if depth == 0 => Node::Value(Err(Unfit::Deep)),
        Field::Group(row) => Node::Object(group(row, names, depth)),
        Field::ListInternal(list) => {
            let items = list.elements().iter().cloned().map(|item| node(item, names, depth - 1));
            columns::list(items.collect())
        }
        Field::MapInternal(map) => {
            let mut pairs = Vec::new();
            for (key, value) in map.entries() {
                let pair = [key.clone(), value.clone()].map(|item| node(item, names, depth - 1));
                pairs.push(columns::list(pair.into()));
            }
            columns::list(pairs)
        }
    }
}

fn group(row: Row, names: &mut Names, depth: usize) -> Object {
    let mut fields = Vec::new();
    for (name, field) in row.into_columns() {
        fields.push((names.get(&name), node(field, names, depth - 1)));
    }
    Object::of_row(fields)
}

/// The type of a column in a file that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    Bool,
    Text,
    /// JSON, for values of several types and for lists.
    Json,
}

impl Kind {
    /// Returns the type of a column that can hold all these values.
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
    let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
    // Equal values are rare in these columns, so a dictionary would only make the columns larger.
    for times in ["call", "return", "version"] {
        properties = properties.set_column_dictionary_enabled(times.into(), false);
    }
    let content = write_columns(&schema, &written, operations.len(), properties.build()).map_err(io::Error::other)?;
    output.write_all(&content)?;
    output.flush()
}

/// Writes the columns of a table with this many rows.
fn write_columns(
    schema: &str,
    columns: &[(&dyn Fn(usize) -> Value, Kind)],
    rows: usize,
    properties: WriterProperties,
) -> Result<Vec<u8>, ParquetError> {
    let schema = Arc::new(parse_message_type(schema)?);
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
                ColumnWriter::Int32ColumnWriter(writer) => {
                    let short = |value: &Value| i32::try_from(value.as_int()?).ok();
                    let ints: Vec<i32> = there.filter_map(short).collect();
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
    use std::path::Path;

    use parquet::basic::{Encoding, GzipLevel};
    use parquet::file::properties::WriterVersion;

    use super::*;
    use crate::drive::Random;
    use crate::history::codec::{self, Format, Mapping, Target};

    /// Writes a file with this schema and these rows, with the writer of the crate `parquet`.
    fn file(schema: &str, columns: &[(&dyn Fn(usize) -> Value, Kind)], rows: usize) -> Vec<u8> {
        write_columns(schema, columns, rows, WriterProperties::default()).expect("to memory")
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
        // The two columns of time stamps have different units, and the rows alternate between two clients.
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

    /// Reads all rows, with the decoder of the module `pages` or without it.
    fn shown(content: &[u8], is_decoded_here: bool) -> (Vec<String>, usize) {
        let mut rows = Rows::open(&mut &*content).expect("a file");
        if !is_decoded_here {
            rows.columns.iter_mut().for_each(|column| column.kind = None);
        }
        let here = rows.columns.iter().filter(|column| column.kind.is_some()).count();
        let mut shown = Vec::new();
        let wanted = vec![true; rows.columns.len()];
        let read = rows.each(&wanted, &mut |batch| {
            shown.extend((0..batch.rows).map(|row| format!("{} {:?}", batch.first + row as u32, batch.object(row))));
            Ok(())
        });
        read.unwrap_or_else(|error| panic!("{error}"));
        (shown, here)
    }

    #[test]
    fn both_decoders_agree() {
        let schema = "message m { REQUIRED INT64 a; OPTIONAL INT64 b; OPTIONAL INT32 c; OPTIONAL BYTE_ARRAY d (UTF8); \
                      REQUIRED BYTE_ARRAY e; OPTIONAL BOOLEAN f; OPTIONAL INT64 g (TIMESTAMP(MICROS,true)); \
                      REQUIRED INT64 h (INTEGER(64,false)); }";
        let gzip = Compression::GZIP(GzipLevel::default());
        let compressions =
            [Compression::UNCOMPRESSED, Compression::SNAPPY, gzip, Compression::LZ4, Compression::LZ4_RAW];
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let (range, nulls) = ([2, 30, 1_000_000][seed as usize % 3], random.below(3));
            let rows = random.below(6_000) as usize;
            let numbers: Vec<Value> = (0..rows * 8).map(|_| Value::Int(random.below(range).into())).collect();
            let there: Vec<bool> = (0..rows * 8).map(|_| nulls == 0 || random.below(nulls + 1) > 0).collect();
            let number = |column: usize, row: usize| numbers[column * rows + row].clone();
            let optional = |column: usize, row: usize| {
                if there[column * rows + row] { number(column, row) } else { Value::Null }
            };
            let text = |value: Value| if value.is_null() { value } else { Value::from(&*format!("v{value}\u{e9}")) };
            let bit = |value: Value| if value.is_null() { value } else { Value::Bool(value.as_int() > Some(0)) };
            let columns: [(&dyn Fn(usize) -> Value, Kind); 8] = [
                (&|row| number(0, row), Kind::Int),
                (&|row| optional(1, row), Kind::Int),
                (&|row| optional(2, row), Kind::Int),
                (&|row| text(optional(3, row)), Kind::Text),
                (&|row| text(number(4, row)), Kind::Text),
                (&|row| bit(optional(5, row)), Kind::Bool),
                (&|row| optional(6, row), Kind::Int),
                (&|row| number(7, row), Kind::Int),
            ];
            let properties = WriterProperties::builder()
                .set_dictionary_enabled(seed % 4 > 0)
                .set_dictionary_page_size_limit([1 << 20, 500][seed as usize / 4 % 2])
                .set_data_page_row_count_limit([1 << 20, 700][seed as usize / 8 % 2])
                .set_write_batch_size(100)
                .set_writer_version([WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][seed as usize / 16 % 2])
                .set_compression(compressions[seed as usize % compressions.len()])
                .set_column_encoding("a".into(), Encoding::PLAIN)
                .build();
            let content = write_columns(schema, &columns, rows, properties).expect("to memory");
            let (here, there) = (shown(&content, true), shown(&content, false));
            assert_eq!((here.1, there.1), (8, 0));
            assert_eq!(here.0, there.0, "seed {seed}");
            assert_eq!(here.0.len(), rows);
        }
    }

    /// Changes bytes of a valid file at random: the result must be a history or an error.
    #[test]
    fn no_input_panics() {
        let history = codec::read(EVENTS.as_bytes(), Format::Jsonl).expect("a history");
        let mut written = Vec::new();
        codec::write(&history, Target::Parquet, &mut written).expect("it can hold it");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign");
        let samples = ["pyarrow-zstd", "pyarrow-lists", "polars", "duckdb"];
        let read = |name| std::fs::read(folder.join(format!("{name}.parquet"))).expect("it is part of the project");
        for (written, worst) in std::iter::once((written, 100)).chain(samples.map(|name| (read(name), 20))) {
            changed(&written, worst);
        }
        let error = codec::read(&b"{}"[..], Format::Parquet).expect_err("it is JSON");
        assert!(error.to_string().contains("not a Parquet or Arrow file"), "{error}");
    }

    /// Changes bytes of a file at random, and expects that reading fails more than `worst` times.
    fn changed(written: &[u8], worst: u32) {
        codec::read(written, Format::Auto).expect("it is a history");
        let mut random = Random::new(3);
        let length = u32::try_from(written.len()).expect("short");
        let mut bad = 0;
        for _ in 0..500 {
            let mut bytes = written.to_vec();
            for _ in 0..=random.below(2) {
                let at = random.below(length) as usize;
                bytes[at] = u8::try_from(random.below(256)).expect("a byte");
            }
            if random.below(4) == 0 {
                bytes.truncate(random.below(length) as usize);
            }
            bad += u32::from(codec::read(bytes.as_slice(), Format::Parquet).is_err());
        }
        assert!(bad > worst, "{bad}");
    }
}
