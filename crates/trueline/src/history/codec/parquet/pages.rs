//! Decodes the pages of columns without groups and lists, in the encodings that most files have.
//!
//! The reader of the crate `parquet` returns every value of a column separately. This module
//! instead decodes the dictionary of a column once, and rows refer to the dictionary. So a value
//! that occurs a million times is decoded only once.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use lz4_flex::block::{self, DecompressError};
use lz4_flex::frame::FrameDecoder;
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::Type;
use ruzstd::decoding::StreamingDecoder;

use super::super::columns::{self, Cells, Item, Items, NO_PLACE};
use super::super::field::Names;
use super::super::json::Node;
use super::content::Content;

type Result<T> = std::result::Result<T, ParquetError>;

/// The error for a file that contradicts itself or ends too early.
fn broken(what: &str) -> ParquetError {
    ParquetError::EOF(what.to_owned())
}

/// The error for an encoding that this module does not implement.
fn unusual(what: impl std::fmt::Display) -> ParquetError {
    ParquetError::NYI(format!("{what} not implemented"))
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int32,
    Unsigned32,
    Int64,
    Unsigned64,
    /// A time as a multiple of a unit, which is given in nanoseconds.
    Time(i64),
    Text,
    Json,
}

impl Kind {
    /// Returns the type of a column; `None` for types that this module does not decode.
    pub(super) fn of(field: &Type) -> Option<Self> {
        let info = field.get_basic_info();
        if !field.is_primitive() || (info.has_repetition() && info.repetition() == Repetition::REPEATED) {
            return None;
        }
        let is_signed = !matches!(info.logical_type_ref(), Some(LogicalType::Integer(kind)) if !kind.is_signed);
        use ConvertedType as Converted;
        Some(match (field.get_physical_type(), info.converted_type()) {
            (Physical::BOOLEAN, Converted::NONE) => Self::Bool,
            (
                Physical::INT32,
                Converted::NONE | Converted::INT_8 | Converted::INT_16 | Converted::INT_32 | Converted::DATE,
            ) if is_signed => Self::Int32,
            (Physical::INT32, Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32) => Self::Unsigned32,
            (Physical::INT64, Converted::TIMESTAMP_MILLIS) => Self::Time(1_000_000),
            (Physical::INT64, Converted::TIMESTAMP_MICROS) => Self::Time(1_000),
            (Physical::INT64, Converted::NONE) => match info.logical_type_ref() {
                Some(LogicalType::Timestamp(stamp)) if stamp.unit == TimeUnit::MILLIS => Self::Time(1_000_000),
                Some(LogicalType::Timestamp(stamp)) if stamp.unit == TimeUnit::MICROS => Self::Time(1_000),
                _ if is_signed => Self::Int64,
                _ => Self::Unsigned64,
            },
            (Physical::INT64, Converted::INT_64) => Self::Int64,
            (Physical::INT64, Converted::UINT_64) => Self::Unsigned64,
            (Physical::BYTE_ARRAY, Converted::JSON) => Self::Json,
            (Physical::BYTE_ARRAY, Converted::NONE) if matches!(info.logical_type_ref(), Some(LogicalType::Json)) => {
                Self::Json
            }
            (Physical::BYTE_ARRAY, Converted::NONE)
                if !matches!(info.logical_type_ref(), None | Some(LogicalType::String | LogicalType::Enum)) =>
            {
                return None;
            }
            (Physical::BYTE_ARRAY, Converted::NONE | Converted::UTF8 | Converted::ENUM) => Self::Text,
            _ => return None,
        })
    }

    fn items(self) -> Items {
        match self {
            Self::Bool => Items::Bools(Vec::new()),
            Self::Int32 | Self::Unsigned32 | Self::Int64 => Items::Ints(Vec::new()),
            Self::Unsigned64 | Self::Time(_) | Self::Text | Self::Json => Items::Others(Vec::new()),
        }
    }
}

/// A column in a group of rows.
pub(super) struct Chunk {
    name: Arc<str>,
    kind: Kind,
    is_optional: bool,
    pages: Box<dyn PageReader>,
    /// The page that is being decoded.
    page: Option<DataPage>,
    /// The number of items at the beginning of `cells` that belong to the dictionary.
    dictionary: usize,
    cells: Cells,
    levels: Vec<u32>,
    codes: Vec<u32>,
}

/// A page. Some rows at its beginning may already have been decoded.
struct DataPage {
    /// The number of rows that have not been decoded.
    rows: usize,
    /// For each row, whether the row has a value; `None` if all rows have values.
    levels: Option<Runs>,
    values: Values,
}

enum Values {
    /// Values that are stored one after the other.
    Plain(Bytes),
    /// Booleans, one bit each, and the number of bits that have been read.
    Bits(Bytes, usize),
    /// Booleans, or indexes into the dictionary, encoded as runs of equal numbers.
    Runs(Runs),
}

impl Chunk {
    /// Opens a column. Returns `None` if this module cannot decode the column. The caller must then
    /// decode it with the crate `parquet`.
    pub(super) fn open(
        name: &Arc<str>,
        kind: Kind,
        meta: &ColumnChunkMetaData,
        pages: impl FnOnce() -> Result<Box<dyn PageReader>>,
        names: &mut Names,
    ) -> Result<Option<Self>> {
        let is_usual = |encoding: Encoding| {
            #[expect(deprecated, reason = "old files have it")]
            let is_old = encoding == Encoding::BIT_PACKED;
            is_old
                || matches!(
                    encoding,
                    Encoding::PLAIN | Encoding::RLE | Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY
                )
        };
        let levels = (meta.column_descr().max_def_level(), meta.column_descr().max_rep_level());
        if !meta.encodings().all(is_usual) || levels.0 > 1 || levels.1 > 0 {
            return Ok(None);
        }
        let mut chunk = Self {
            name: Arc::clone(name),
            kind,
            is_optional: levels.0 == 1,
            pages: pages()?,
            page: None,
            dictionary: 0,
            cells: Cells::new(kind.items()),
            levels: Vec::new(),
            codes: Vec::new(),
        };
        match chunk.turn(names) {
            // The first page uses an encoding that this module does not implement, for example the obsolete encoding of
            // the levels (the marks of rows without a value).
            Err(ParquetError::NYI(_)) => Ok(None),
            turned => turned.map(|()| Some(chunk)),
        }
    }

    pub(super) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Unless the current page still has rows, goes to the next page that has rows, if there is one.
    fn turn(&mut self, names: &mut Names) -> Result<()> {
        while self.page.as_ref().is_none_or(|page| page.rows == 0) {
            match self.pages.get_next_page()? {
                None => {
                    self.page = None;
                    break;
                }
                Some(Page::DictionaryPage { buf, num_values, encoding, .. }) => {
                    if self.page.is_some() || self.dictionary > 0 {
                        return Err(broken("a second dictionary"));
                    }
                    if !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                        return Err(unusual(format_args!("the encoding {encoding} of a dictionary is")));
                    }
                    self.plain(&mut buf.clone(), num_values as usize, names)?;
                    self.dictionary = self.cells.items.len();
                }
                Some(page) => self.page = Some(self.open_page(page)?),
            }
        }
        Ok(())
    }

    fn open_page(&self, page: Page) -> Result<DataPage> {
        let (mut bytes, rows, encoding, levels) = match page {
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let mut bytes = buf;
                let levels = if self.is_optional {
                    if def_level_encoding != Encoding::RLE {
                        return Err(unusual(format_args!("the encoding {def_level_encoding} of levels is")));
                    }
                    Some(with_length(&mut bytes)?)
                } else {
                    None
                };
                (bytes, num_values, encoding, levels)
            }
            Page::DataPageV2 { buf, num_values, encoding, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let mut bytes = buf;
                front(&mut bytes, rep_levels_byte_len as usize)?;
                let levels = front(&mut bytes, def_levels_byte_len as usize)?;
                (bytes, num_values, encoding, self.is_optional.then_some(levels))
            }
            Page::DictionaryPage { .. } => return Err(broken("a second dictionary")),
        };
        let values = match encoding {
            Encoding::PLAIN if self.kind == Kind::Bool => Values::Bits(bytes, 0),
            Encoding::PLAIN => Values::Plain(bytes),
            Encoding::RLE if self.kind == Kind::Bool => Values::Runs(Runs::new(with_length(&mut bytes)?, 1)),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if self.kind != Kind::Bool => {
                // The first byte is the number of bits of each index. A page without values may be
                // empty.
                let width = if bytes.is_empty() { 0 } else { u32::from(front(&mut bytes, 1)?[0]) };
                if width > 32 {
                    return Err(broken("a dictionary with too many values"));
                }
                Values::Runs(Runs::new(bytes, width))
            }
            encoding => return Err(unusual(format_args!("the encoding {encoding} is"))),
        };
        let levels = levels.map(|levels| Runs::new(levels, 1));
        Ok(DataPage { rows: rows as usize, levels, values })
    }

    /// Decodes the next rows.
    pub(super) fn next(&mut self, rows: usize, names: &mut Names) -> Result<()> {
        self.cells.clear(self.dictionary);
        let mut left = rows;
        while left > 0 {
            self.turn(names)?;
            let Some(mut page) = self.page.take() else { return Err(broken("a column with too few rows")) };
            let some = left.min(page.rows);
            self.take(&mut page, some, names)?;
            page.rows -= some;
            left -= some;
            self.page = Some(page);
        }
        Ok(())
    }

    /// Decodes the next rows of a page.
    fn take(&mut self, page: &mut DataPage, rows: usize, names: &mut Names) -> Result<()> {
        let mut there = rows;
        self.levels.clear();
        if let Some(levels) = &mut page.levels {
            levels.read(rows, &mut self.levels)?;
            there = self.levels.iter().filter(|level| **level != 0).count();
        }
        let start = self.cells.items.len();
        self.codes.clear();
        match &mut page.values {
            Values::Plain(bytes) => self.plain(bytes, there, names)?,
            Values::Bits(bytes, read) => {
                let Items::Bools(bools) = &mut self.cells.items else {
                    return Err(broken("Boolean values in a column of another type"));
                };
                if (*read + there).div_ceil(8) > bytes.len() {
                    return Err(broken("a page with too few values"));
                }
                bools.extend((*read..*read + there).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1));
                *read += there;
            }
            Values::Runs(runs) => {
                runs.read(there, &mut self.codes)?;
                if let Items::Bools(bools) = &mut self.cells.items {
                    bools.extend(self.codes.iter().map(|bit| *bit != 0));
                    self.codes.clear();
                } else if self.codes.iter().any(|code| *code as usize >= self.dictionary) {
                    return Err(broken("an index outside of the dictionary"));
                }
            }
        }
        if self.codes.is_empty() {
            let start = u32::try_from(start).map_err(|_| broken("a page that is too large"))?;
            self.codes.extend((start..).take(there));
        }
        let places = &mut self.cells.places;
        if there == rows {
            places.extend_from_slice(&self.codes);
            return Ok(());
        }
        let mut codes = self.codes.iter().copied();
        places.extend(self.levels.iter().map(|level| match level {
            0 => NO_PLACE,
            _ => codes.next().unwrap_or(NO_PLACE),
        }));
        Ok(())
    }

    /// Decodes the next `count` values of a page or of a dictionary. The values are stored one
    /// after another.
    fn plain(&mut self, bytes: &mut Bytes, count: usize, names: &mut Names) -> Result<()> {
        let fixed = |bytes: &mut Bytes, length: usize| front(bytes, count.saturating_mul(length));
        let long = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap_or_default());
        match (&mut self.cells.items, self.kind) {
            (Items::Ints(ints), Kind::Int32) => {
                let int = |bytes: &[u8]| i64::from(i32::from_le_bytes(bytes.try_into().unwrap_or_default()));
                ints.extend(fixed(bytes, 4)?.chunks_exact(4).map(int));
            }
            (Items::Ints(ints), Kind::Unsigned32) => {
                let int = |bytes: &[u8]| i64::from(u32::from_le_bytes(bytes.try_into().unwrap_or_default()));
                ints.extend(fixed(bytes, 4)?.chunks_exact(4).map(int));
            }
            (Items::Ints(ints), _) => ints.extend(fixed(bytes, 8)?.chunks_exact(8).map(long)),
            (Items::Others(items), Kind::Unsigned64) => {
                let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                items.extend(fixed(bytes, 8)?.chunks_exact(8).map(|bytes| Ok(columns::unsigned(number(bytes)))));
            }
            (Items::Others(items), Kind::Time(unit)) => {
                items.extend(fixed(bytes, 8)?.chunks_exact(8).map(|bytes| Ok(columns::time(long(bytes), unit))));
            }
            (Items::Others(items), kind) => {
                let mut rest: &[u8] = bytes;
                for _ in 0..count {
                    let (length, behind) =
                        rest.split_first_chunk().ok_or_else(|| broken("a page with too few values"))?;
                    let text = behind.get(..u32::from_le_bytes(*length) as usize);
                    let text = text.ok_or_else(|| broken("a text that is cut off"))?;
                    items.push(item(text, kind, &self.name, names));
                    rest = &behind[text.len()..];
                }
                *bytes = bytes.slice(bytes.len() - rest.len()..);
            }
            (Items::Bools(_) | Items::Shared(_), _) => return Err(broken("a dictionary of bits")),
        }
        Ok(())
    }
}

/// Returns the item for the bytes of a cell in a text column.
fn item(bytes: &[u8], kind: Kind, column: &str, names: &mut Names) -> Item {
    match std::str::from_utf8(bytes) {
        Ok(text) if kind == Kind::Json => columns::json(text, column, names),
        _ => Ok(columns::text(bytes, names)),
    }
}

/// Removes the first bytes and returns them.
fn front(bytes: &mut Bytes, length: usize) -> Result<Bytes> {
    if length > bytes.len() {
        return Err(broken("a page with too few values"));
    }
    Ok(bytes.split_to(length))
}

/// Removes a length and that many bytes after it, and returns the bytes.
fn with_length(bytes: &mut Bytes) -> Result<Bytes> {
    let length = front(bytes, 4)?;
    let length = u32::from_le_bytes(length[..].try_into().unwrap_or_default());
    front(bytes, length as usize)
}

/// Small numbers in Parquet's hybrid encoding, which has runs of equal numbers and groups of
/// bit-packed numbers.
struct Runs {
    bytes: Bytes,
    /// The number of bits of each number.
    width: u32,
    /// The number of repetitions of `number` that have not been read.
    repeats: usize,
    number: u32,
    /// The number of bit-packed numbers that have not been read. The next of them begins at the bit
    /// `bit`.
    packed: usize,
    bit: usize,
}

impl Runs {
    fn new(bytes: Bytes, width: u32) -> Self {
        Self { bytes, width, repeats: 0, number: 0, packed: 0, bit: 0 }
    }

    /// Appends the next `count` numbers to `numbers`.
    fn read(&mut self, count: usize, numbers: &mut Vec<u32>) -> Result<()> {
        let mut left = count;
        while left > 0 {
            if self.repeats > 0 {
                let some = left.min(self.repeats);
                numbers.resize(numbers.len() + some, self.number);
                self.repeats -= some;
                left -= some;
            } else if self.packed > 0 {
                let some = left.min(self.packed);
                self.unpack(some, numbers)?;
                self.packed -= some;
                left -= some;
                if self.packed == 0 {
                    // The last group may be incomplete: it may end directly after its last number.
                    let length = self.bit.div_ceil(8).min(self.bytes.len());
                    front(&mut self.bytes, length)?;
                }
            } else {
                self.next_run()?;
            }
        }
        Ok(())
    }

    fn next_run(&mut self) -> Result<()> {
        let mut header = 0_u64;
        for shift in (0..).step_by(7) {
            let byte = front(&mut self.bytes, 1)?[0];
            if shift > 28 {
                return Err(broken("a run that is too long"));
            }
            header |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        let count = usize::try_from(header >> 1).unwrap_or(usize::MAX);
        if header & 1 == 1 {
            self.packed = count.saturating_mul(8);
            self.bit = 0;
        } else {
            let bytes = front(&mut self.bytes, self.width.div_ceil(8) as usize)?;
            self.number = bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
            self.repeats = count;
        }
        Ok(())
    }

    fn unpack(&mut self, count: usize, numbers: &mut Vec<u32>) -> Result<()> {
        let width = self.width as usize;
        let end = self.bit + count * width;
        if end.div_ceil(8) > self.bytes.len() {
            return Err(broken("a page with too few values"));
        }
        let mask = (1_u64 << width) - 1;
        let bytes = &self.bytes[..];
        let mut bit = self.bit;
        for _ in 0..count {
            let at = bit / 8;
            // A number has at most 32 bits, and it begins in the first of these eight bytes. So the
            // eight bytes contain the whole number.
            let word = match bytes.get(at..at + 8) {
                Some(word) => u64::from_le_bytes(word.try_into().unwrap_or_default()),
                None => bytes[at.min(bytes.len())..].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
            };
            numbers.push(u32::try_from(word >> (bit % 8) & mask).unwrap_or_default());
            bit += width;
        }
        self.bit = end;
        Ok(())
    }
}

/// If the pages of a column are compressed with gzip or zstd, their total decompressed size is limited to the size that
/// the file declares, or to this number of bytes if the declared size is smaller.
const LEAST_PAGES: u64 = 1 << 20;

/// The maximum number of decompressed bytes for each byte of a page, rounded up. The shortest encoding in snappy takes
/// 3 bytes for a copy of 64 bytes. In LZ4, a byte can make a copy 255 bytes longer.
const MOST_BY_SNAPPY: usize = 22;
const MOST_BY_LZ4: usize = 255;

/// The first bytes of an LZ4 frame.
const LZ4_FRAME: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

/// The pages of a column.
///
/// The crate `parquet` returns pages as they are stored, and this module decompresses them. There are two reasons: for
/// zstd, the crate needs a C library; and before the crate decompresses a page, it allocates and fills as much memory
/// as the page declares.
pub(super) struct Pages {
    pages: SerializedPageReader<Content>,
    compression: Compression,
    /// For gzip and zstd, the maximum total size of the remaining pages after decompression.
    left: u64,
}

impl Pages {
    pub(super) fn open(content: &Arc<Content>, meta: &ColumnChunkMetaData, rows: usize) -> Result<Self> {
        let compression = meta.compression();
        if matches!(compression, Compression::BROTLI(_) | Compression::LZO) {
            return Err(unusual(format_args!("the compression {compression} is")));
        }
        let left = u64::try_from(meta.uncompressed_size())?.max(LEAST_PAGES);
        let meta = meta.clone().into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        Ok(Self { pages: SerializedPageReader::new(Arc::clone(content), &meta, rows, None)?, compression, left })
    }

    /// Returns the decompressed bytes of a page. The first `plain` bytes of the page are not
    /// compressed.
    fn decompress(&mut self, bytes: &Bytes, plain: usize) -> Result<Bytes> {
        let Some((plain, compressed)) = bytes.split_at_checked(plain) else { return Err(broken("a page header")) };
        if compressed.is_empty() || self.compression == Compression::UNCOMPRESSED {
            return Ok(bytes.clone());
        }
        let mut page = plain.to_vec();
        match self.compression {
            Compression::SNAPPY => snappy(compressed, &mut page)?,
            Compression::LZ4_RAW => lz4(compressed, &mut page)?,
            Compression::LZ4 => old_lz4(compressed, &mut page)?,
            Compression::GZIP(_) => self.read(MultiGzDecoder::new(compressed), &mut page)?,
            _ => self.read(StreamingDecoder::new(compressed).map_err(undecoded)?, &mut page)?,
        }
        Ok(page.into())
    }

    /// Appends the decompressed `content` to `page`. This function is for formats in which a few bytes can represent
    /// any number of bytes, so it limits the size of the content.
    fn read(&mut self, content: impl Read, page: &mut Vec<u8>) -> Result<()> {
        let length = content.take(self.left + 1).read_to_end(page).map_err(undecoded)?;
        self.left = self.left.checked_sub(length as u64).ok_or_else(|| broken("a page that is too long"))?;
        Ok(())
    }
}

/// The error for a page that cannot be decompressed.
fn undecoded(error: impl std::fmt::Display) -> ParquetError {
    ParquetError::EOF(error.to_string())
}

/// Decompresses a snappy block, which begins with the length of its decompressed content.
fn snappy(compressed: &[u8], page: &mut Vec<u8>) -> Result<()> {
    let length = snap::raw::decompress_len(compressed).map_err(undecoded)?;
    if length > compressed.len().saturating_mul(MOST_BY_SNAPPY) {
        return Err(broken("a page that is cut off"));
    }
    let start = page.len();
    page.resize(start + length, 0);
    snap::raw::Decoder::new().decompress(compressed, &mut page[start..]).map_err(undecoded)?;
    Ok(())
}

/// Decompresses an LZ4 block, which does not contain the length of its decompressed content.
fn lz4(compressed: &[u8], page: &mut Vec<u8>) -> Result<()> {
    let start = page.len();
    let most = compressed.len().saturating_mul(MOST_BY_LZ4);
    let mut room = compressed.len().saturating_mul(4);
    loop {
        page.resize(start + room, 0);
        match block::decompress_into(compressed, &mut page[start..]) {
            Ok(length) => {
                page.truncate(start + length);
                return Ok(());
            }
            Err(DecompressError::OutputTooSmall { .. }) if room < most => room = most.min(room.saturating_mul(4)),
            Err(error) => return Err(undecoded(error)),
        }
    }
}

/// Decompresses a page whose compression is declared as `LZ4`, not as `LZ4_RAW`. Depending on the program that wrote
/// the file, the page consists of blocks in the Hadoop format, or is an LZ4 frame or a single LZ4 block.
fn old_lz4(compressed: &[u8], page: &mut Vec<u8>) -> Result<()> {
    let start = page.len();
    if hadoop(compressed, page).is_some() {
        return Ok(());
    }
    page.truncate(start);
    if compressed.starts_with(&LZ4_FRAME) {
        FrameDecoder::new(compressed).read_to_end(page).map_err(undecoded)?;
        return Ok(());
    }
    lz4(compressed, page)
}

/// Decompresses blocks in the Hadoop format: before each block are its decompressed length and its compressed length.
fn hadoop(mut blocks: &[u8], page: &mut Vec<u8>) -> Option<()> {
    while !blocks.is_empty() {
        let (length, rest) = blocks.split_first_chunk()?;
        let (compressed, rest) = rest.split_first_chunk()?;
        let (block, rest) = rest.split_at_checked(u32::from_be_bytes(*compressed) as usize)?;
        let end = page.len() + u32::from_be_bytes(*length) as usize;
        lz4(block, page).ok()?;
        if page.len() != end {
            return None;
        }
        blocks = rest;
    }
    Some(())
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.pages.get_next_page()? else { return Ok(None) };
        match &mut page {
            Page::DataPage { buf, .. } | Page::DictionaryPage { buf, .. } => *buf = self.decompress(buf, 0)?,
            Page::DataPageV2 { buf, is_compressed: true, def_levels_byte_len, rep_levels_byte_len, .. } => {
                *buf = self.decompress(buf, *def_levels_byte_len as usize + *rep_levels_byte_len as usize)?;
            }
            Page::DataPageV2 { .. } => {}
        }
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}

/// Converts the node of a field that the crate `parquet` has read to an item. If the column has the type JSON, parses
/// the text of the field.
pub(super) fn as_item(node: Node, kind: Option<Kind>, column: &str, names: &mut Names) -> Item {
    match node {
        Node::Value(Ok(super::Value::Text(text))) if kind == Some(Kind::Json) => columns::json(&text, column, names),
        node => Ok(node),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_blocks_need_little_memory() {
        // For snappy: a declared length of 2^32 - 1, although only one literal follows. For LZ4: lengths that end with
        // bytes of the maximum value, after which more bytes must follow.
        let (length, block) = ([0xff, 0xff, 0xff, 0xff, 0x0f], [0, b'a']);
        let mut page = Vec::new();
        snappy(&[&length[..], &block].concat(), &mut page).expect_err("the block is too short");
        for bytes in [&[0x1f, b'a', 1, 0, 0xff, 0xff, 0xff, 0xff][..], &[0xf0, 0xff, 0xff, 0xff]] {
            lz4(bytes, &mut page).expect_err("the block is cut off");
            old_lz4(bytes, &mut page).expect_err("the block is cut off");
        }
        assert!(page.capacity() < 1 << 14, "{}", page.capacity());
    }

    #[test]
    fn blocks_that_become_much_longer() {
        let text = vec![b'a'; 1 << 20];
        let block = block::compress(&text);
        assert!(block.len() < text.len() / 200);
        let mut page = b"levels".to_vec();
        lz4(&block, &mut page).expect("a block");
        assert_eq!(&page[6..], text);
        page.clear();
        let compressed = snap::raw::Encoder::new().compress_vec(&text).expect("short");
        snappy(&compressed, &mut page).expect("a block");
        assert_eq!(page, text);
    }
}
