//! Arrow IPC: files (Feather V2) and streams of record batches, as data tools write them.
//!
//! Columns have the same meaning as in [Parquet](super::Format::Parquet) files. This module reads the format without
//! the crate `arrow-ipc`, because the format is small, whereas the crate needs six more crates, and a C library for
//! zstd. Every access to a file is checked.
//!
//! Files and streams consist of messages: dictionaries, and batches of rows. A stream begins with a
//! description of the columns. A file ends with this description and the positions of the messages.
//! See <https://arrow.apache.org/docs/format/Columnar.html>.

mod arrays;
mod flat;
mod schema;

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::sync::Arc;

use super::CodecError;
use super::columns::{BATCH, Batch, Cells, Item, Items, Table};
use super::detect;
use super::field::{Names, quoted};
use arrays::Array;
use flat::Flat;
use schema::Field;

/// The maximum size of the description of a message, in bytes. Most descriptions have a few hundred bytes for each
/// column.
const LARGEST_HEADER: u32 = 64 << 20;

/// The reason why a file cannot be read.
#[derive(Debug)]
enum Broken {
    Read(std::io::Error),
    /// This part of the file is not valid, or contradicts another part.
    Invalid(&'static str),
    /// The file is cut off.
    Short,
    /// The file uses this feature, which is not supported.
    Unsupported(String),
    /// A column has a type that is not supported.
    Column(Arc<str>, &'static str),
}

fn broken(what: &'static str) -> Broken {
    Broken::Invalid(what)
}

impl From<Broken> for CodecError {
    fn from(broken: Broken) -> Self {
        Self::whole_file(match broken {
            Broken::Read(error) => return Self::io(0, error),
            Broken::Invalid(what) => {
                format!("this is not a valid Arrow file (problem: {what}); write it again")
            }
            Broken::Short => "the Arrow file is cut off; write or copy it again".to_owned(),
            Broken::Unsupported(what) => {
                format!("this Arrow file has {what}, which is not supported; write it as Parquet or JSON lines")
            }
            Broken::Column(name, what) => format!(
                "the column `{}` has an Arrow type that is not supported ({what}); convert the column to text or numbers, or leave it out",
                quoted(&name)
            ),
        })
    }
}

/// The values of each dictionary.
type Dictionaries = HashMap<i64, Arc<[Item]>>;

/// The rows of a file.
pub(super) struct Rows<'i> {
    messages: Messages<'i>,
    columns: Vec<Field>,
}

impl<'i> Rows<'i> {
    pub(super) fn open(input: &'i mut dyn BufRead) -> Result<Self, CodecError> {
        let (messages, columns) = Messages::open(input)?;
        Ok(Self { messages, columns })
    }
}

impl Table for Rows<'_> {
    fn names(&self) -> Vec<Arc<str>> {
        self.columns.iter().map(|column| Arc::clone(&column.name)).collect()
    }

    fn each(
        &mut self,
        wanted: &[bool],
        visit: &mut dyn FnMut(&Batch<'_>) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let column_names = self.names();
        let mut dictionaries = Dictionaries::new();
        let mut names = Names::default();
        let mut cells: Vec<Cells> = self.columns.iter().map(|_| Cells::new(Items::Others(Vec::new()))).collect();
        let mut first = 1_u32;
        while let Some(Message { kind, detail, body }) = self.messages.next()? {
            if kind == DICTIONARY {
                add_dictionary(detail, body, &self.columns, &mut dictionaries, &mut names)?;
                continue;
            }
            if kind != BATCH_OF_ROWS {
                return Err(broken("a message that is not a batch of rows").into());
            }
            let mut batch = arrays::Batch::new(detail, body, &dictionaries)?;
            let length = batch.length;
            let mut arrays: Vec<Option<Array<'_>>> = Vec::new();
            for (column, wanted) in self.columns.iter().zip(wanted) {
                arrays.push(if *wanted { Some(batch.array(column)?) } else { batch.skip(column).map(|()| None)? });
            }
            if arrays.iter().flatten().any(|array| array.length != length) {
                return Err(broken("columns with different lengths").into());
            }
            for start in (0..length).step_by(BATCH) {
                let rows = BATCH.min(length - start);
                for ((array, column), cells) in arrays.iter().zip(&self.columns).zip(&mut cells) {
                    if let Some(array) = array {
                        array.cells(start..start + rows, &column.name, &mut names, cells);
                    }
                }
                visit(&Batch { names: &column_names, columns: cells.iter().collect(), first, rows })?;
                let next = u32::try_from(rows).ok().and_then(|rows| first.checked_add(rows));
                first = next.ok_or_else(|| CodecError::at(first, "too many rows; split the file"))?;
            }
        }
        Ok(())
    }
}

/// Reads the values of a dictionary, if a column uses this dictionary.
fn add_dictionary(
    header: Flat<'_>,
    body: &[u8],
    columns: &[Field],
    dictionaries: &mut Dictionaries,
    names: &mut Names,
) -> Result<(), Broken> {
    let (id, is_more) = (header.long(0), header.bool(2));
    let Some(field) = columns.iter().find_map(|column| column.with_dictionary(id)) else { return Ok(()) };
    let values = Field { dictionary: None, ..field.clone() };
    let batch = header.table(1).ok_or(broken("a dictionary"))?;
    let array = arrays::Batch::new(batch, body, &*dictionaries)?.array(&values)?;
    if array.has_no_buffers() && array.length > BATCH {
        return Err(broken("a dictionary of nulls"));
    }
    let before = dictionaries.get(&id).filter(|_| is_more).map(|items| items.to_vec());
    let mut items = before.unwrap_or_default();
    items.extend((0..array.length).map(|row| array.node(row, &field.name, names)));
    dictionaries.insert(id, items.into());
    Ok(())
}

/// The first and the last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";

/// The messages of a file or a stream.
struct Messages<'i> {
    input: &'i mut dyn BufRead,
    /// The whole content of a file, or the most recent message of a stream.
    bytes: Vec<u8>,
    /// The range of `bytes` that contains the description of the message.
    header: Range<usize>,
    /// The range of `bytes` that contains the body of the message.
    body: Range<usize>,
    /// For a file, the positions of the messages that have not been read.
    blocks: Option<std::vec::IntoIter<(usize, usize)>>,
}

struct Message<'m> {
    kind: u8,
    detail: Flat<'m>,
    body: &'m [u8],
}

// The types of messages.
const SCHEMA: u8 = 1;
const DICTIONARY: u8 = 2;
const BATCH_OF_ROWS: u8 = 3;

impl<'i> Messages<'i> {
    /// Opens a file or a stream, and reads its columns.
    fn open(input: &'i mut dyn BufRead) -> Result<(Self, Vec<Field>), Broken> {
        let is_file = input.fill_buf().map_err(Broken::Read)?.starts_with(detect::ARROW);
        let mut messages = Self { input, bytes: Vec::new(), header: 0..0, body: 0..0, blocks: None };
        let columns = if is_file { messages.open_file()? } else { messages.open_stream()? };
        Ok((messages, columns))
    }

    /// Opens a file. The end of the file contains the description of the columns, and the positions of the dictionaries
    /// and batches.
    fn open_file(&mut self) -> Result<Vec<Field>, Broken> {
        self.input.read_to_end(&mut self.bytes).map_err(Broken::Read)?;
        if !self.bytes.starts_with(MAGIC) {
            return Err(broken("its first bytes"));
        }
        let content = self.bytes.strip_suffix(MAGIC).ok_or(Broken::Short)?;
        let (content, length) = content.split_last_chunk().ok_or(Broken::Short)?;
        let start = content.len().checked_sub(u32::from_le_bytes(*length) as usize).ok_or(broken("its footer"))?;
        let end = Flat::root(&content[start..]).ok_or(broken("its footer"))?;
        let mut blocks = Vec::new();
        for list in [2, 3] {
            for block in end.list(list).ok_or(broken("its footer"))?.blocks() {
                let (offset, length) = block.ok_or(broken("its footer"))?;
                let place = usize::try_from(offset).ok().zip(usize::try_from(length).ok());
                blocks.push(place.ok_or(broken("the place of a message"))?);
            }
        }
        self.blocks = Some(blocks.into_iter());
        schema::columns(end.table(1).ok_or(broken("its schema, which has no columns"))?)
    }

    fn open_stream(&mut self) -> Result<Vec<Field>, Broken> {
        match self.next()? {
            Some(Message { kind: SCHEMA, detail, .. }) => schema::columns(detail),
            _ => Err(broken("its beginning, which is not a schema")),
        }
    }

    /// Returns the next message; `None` at the end.
    fn next(&mut self) -> Result<Option<Message<'_>>, Broken> {
        let is_one = match &mut self.blocks {
            Some(blocks) => match blocks.next() {
                Some((offset, length)) => self.find(offset, length).map(|()| true)?,
                None => false,
            },
            None => self.read()?,
        };
        if !is_one {
            return Ok(None);
        }
        let message = Flat::root(&self.bytes[self.header.clone()]).ok_or(broken("a message"))?;
        let detail = message.table(2).ok_or(broken("a message"))?;
        Ok(Some(Message { kind: message.byte(1), detail, body: &self.bytes[self.body.clone()] }))
    }

    /// Finds the message whose description is at this offset in the file.
    fn find(&mut self, offset: usize, length: usize) -> Result<(), Broken> {
        let end = offset.checked_add(length).filter(|end| *end <= self.bytes.len()).ok_or(Broken::Short)?;
        let block = &self.bytes[offset..end];
        // A message begins with a marker and the length of its description. In old files, the
        // marker is absent.
        let start = if block.starts_with(detect::ARROW_STREAM) { 8 } else { 4 };
        let header = block.get(start..).ok_or(broken("a message"))?;
        let length = body_length(header)?;
        let body = end.checked_add(length).filter(|body| *body <= self.bytes.len()).ok_or(Broken::Short)?;
        (self.header, self.body) = (offset + start..end, end..body);
        Ok(())
    }

    /// Reads the next message of a stream. Returns `false` if the stream has ended.
    fn read(&mut self) -> Result<bool, Broken> {
        self.bytes.clear();
        if self.read_more(4)? == 0 {
            // A stream may end without an end marker.
            return Ok(false);
        }
        if self.bytes == detect::ARROW_STREAM {
            self.bytes.clear();
            self.read_more(4)?;
        }
        let length = u32::from_le_bytes(self.bytes[..].try_into().map_err(|_| Broken::Short)?);
        if length == 0 {
            return Ok(false);
        }
        if length > LARGEST_HEADER {
            return Err(broken("the length of a message"));
        }
        self.bytes.clear();
        let header = self.read_more(length as usize)?;
        if header < length as usize {
            return Err(Broken::Short);
        }
        let length = body_length(&self.bytes)?;
        if self.read_more(length)? < length {
            return Err(Broken::Short);
        }
        (self.header, self.body) = (0..header, header..self.bytes.len());
        Ok(true)
    }

    /// Reads this many bytes, or fewer at the end of the input. Returns the number of bytes that
    /// were read.
    fn read_more(&mut self, length: usize) -> Result<usize, Broken> {
        (&mut *self.input).take(length as u64).read_to_end(&mut self.bytes).map_err(Broken::Read)
    }
}

/// Returns the length of the body of a message.
fn body_length(header: &[u8]) -> Result<usize, Broken> {
    let message = Flat::root(header).ok_or(broken("a message"))?;
    usize::try_from(message.long(3)).map_err(|_| broken("the length of a message"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::drive::Random;
    use crate::history::codec::{self, Format};

    fn samples() -> Vec<(String, Vec<u8>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/foreign");
        let files = std::fs::read_dir(folder).expect("the folder is part of the project");
        let files = files.map(|file| file.expect("a file").path());
        let mut samples: Vec<(String, Vec<u8>)> = files
            .filter(|path| path.extension().is_some_and(|kind| kind == "arrow" || kind == "feather"))
            .map(|path| (path.display().to_string(), std::fs::read(&path).expect("a file")))
            .collect();
        samples.sort();
        samples
    }

    /// Changes bytes of files at random: the result must be a history or an error.
    #[test]
    fn no_input_panics() {
        let mut random = Random::new(7);
        let (mut good, mut bad) = (0, 0);
        for (name, content) in samples() {
            let length = u32::try_from(content.len()).expect("short");
            let result = codec::read(content.as_slice(), Format::Auto);
            let is_strange = name.contains("structs") || name.contains("union-value");
            assert_eq!(result.is_ok(), !is_strange, "{name}: {result:?}");
            for _ in 0..400 {
                let mut bytes = content.clone();
                for _ in 0..=random.below(2) {
                    let at = random.below(length) as usize;
                    bytes[at] = u8::try_from(random.below(256)).expect("a byte");
                }
                match codec::read(bytes.as_slice(), Format::Arrow) {
                    Ok(_) => good += 1,
                    Err(_) => bad += 1,
                }
                // These two functions read all columns.
                let _ = codec::survey(bytes.as_slice(), Format::Arrow, None);
                let _ = codec::mapping::guess(&bytes);
            }
        }
        assert!(good > 100 && bad > 500, "{good} histories and {bad} errors");
    }

    #[test]
    fn other_files_are_refused() {
        for (content, expected) in [
            (&b"ARROW2\0\0"[..], "not a valid Arrow file"),
            (b"ARROW1\0\0", "cut off"),
            (b"ARROW1\0\0\xff\xff\xff\x7fARROW1", "not a valid Arrow file"),
            (b"\xff\xff\xff\xff", "cut off"),
            (b"\xff\xff\xff\xff\0\0\0\0", "its beginning, which is not a schema"),
            (b"\xff\xff\xff\xff\x10\0\0\0", "cut off"),
            (b"\xff\xff\xff\xff\xff\xff\xff\x7f", "the length of a message"),
            (b"FEA1", "Feather version 1"),
            (b"{}", "not a Parquet or Arrow file"),
        ] {
            let error = codec::read(content, Format::Arrow).expect_err("the file is not Arrow").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
