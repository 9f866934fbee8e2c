//! The cells of a column in a record batch.

use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use lz4_flex::frame::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;

use super::flat::Flat;
use super::schema::{Field, Integer, Kind};
use super::{Broken, Dictionaries, broken};
use crate::history::Value;
use crate::history::codec::columns::{self, Cells, Item, Items, NO_PLACE};
use crate::history::codec::field::{Names, Unfit};
use crate::history::codec::json::{Node, Object};

type Buffer<'b> = Cow<'b, [u8]>;

/// The cells of a column.
#[derive(Debug)]
pub(super) struct Array<'b> {
    pub(super) length: usize,
    /// One bit for each cell, which is set if the cell is not null; `None` if no cell is null.
    there: Option<Buffer<'b>>,
    data: Data<'b>,
}

#[derive(Debug)]
enum Data<'b> {
    Null,
    Bools(Buffer<'b>),
    Ints(Numbers<'b>),
    /// Times, as multiples of a unit. The length of the unit is given in nanoseconds.
    Times(Numbers<'b>, i64),
    /// Floating-point numbers of this many bytes each.
    Floats(Buffer<'b>, usize),
    Texts {
        ends: Ends<'b>,
        bytes: Buffer<'b>,
        is_json: bool,
    },
    Views {
        views: Buffer<'b>,
        buffers: Vec<Buffer<'b>>,
        is_json: bool,
    },
    /// Indexes into a dictionary.
    Coded(Numbers<'b>, Arc<[Item]>),
    Lists {
        ends: Ends<'b>,
        items: Box<Array<'b>>,
        is_map: bool,
    },
    Groups(Vec<(Arc<str>, Array<'b>)>),
    Unfit(&'static str),
}

/// Integers of the same size.
#[derive(Debug)]
struct Numbers<'b> {
    bytes: Buffer<'b>,
    width: usize,
    is_signed: bool,
}

impl Numbers<'_> {
    /// Returns the number at `index`. An unsigned 64-bit number is returned as the signed number
    /// with the same bits.
    #[inline]
    fn get(&self, index: usize) -> i64 {
        let bytes = &self.bytes[index * self.width..(index + 1) * self.width];
        match (self.width, self.is_signed) {
            (8, _) => i64::from_le_bytes(bytes.try_into().unwrap_or_default()),
            (4, true) => i32::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
            (4, false) => u32::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
            (2, true) => i16::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
            (2, false) => u16::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
            (_, true) => i8::from_le_bytes([bytes[0]]).into(),
            (_, false) => bytes[0].into(),
        }
    }

    /// Returns whether some of the numbers may not fit in the result of [`get`](Self::get).
    fn is_large(&self) -> bool {
        self.width == 8 && !self.is_signed
    }
}

/// The positions at which texts or lists end. Each text or list begins where the previous one ends.
#[derive(Debug)]
enum Ends<'b> {
    Listed(Numbers<'b>),
    /// All texts or lists have this length.
    Every(usize),
}

impl Ends<'_> {
    #[inline]
    fn range(&self, index: usize) -> Range<usize> {
        match self {
            Self::Every(length) => index * length..(index + 1) * length,
            Self::Listed(ends) => {
                let end = |index| usize::try_from(ends.get(index)).unwrap_or_default();
                end(index)..end(index + 1)
            }
        }
    }
}

/// The maximum total number of items in the lists of a column of a batch, if the size of the file does not limit this
/// number: see [`Array::has_no_buffers`].
const MOST_WITHOUT_BUFFERS: usize = 1 << 16;

/// A record batch, whose arrays are read one after the other.
pub(super) struct Batch<'b> {
    pub(super) length: usize,
    nodes: std::vec::IntoIter<(i64, i64)>,
    buffers: std::vec::IntoIter<(i64, i64)>,
    /// For each column of views, the number of buffers that its texts are stored in.
    counts: std::vec::IntoIter<i64>,
    compression: Option<u8>,
    body: &'b [u8],
    dictionaries: &'b Dictionaries,
}

impl<'b> Batch<'b> {
    pub(super) fn new(batch: Flat<'_>, body: &'b [u8], dictionaries: &'b Dictionaries) -> Result<Self, Broken> {
        let list = |index| batch.list(index).ok_or(broken("a list of buffers"));
        let pairs = |index| {
            let pairs: Option<Vec<(i64, i64)>> = list(index)?.pairs().collect();
            Ok::<_, Broken>(pairs.ok_or(broken("a list of buffers"))?.into_iter())
        };
        let counts: Option<Vec<i64>> = list(4)?.longs().collect();
        Ok(Self {
            length: usize::try_from(batch.long(0)).map_err(|_| broken("the length of a batch"))?,
            nodes: pairs(1)?,
            buffers: pairs(2)?,
            counts: counts.ok_or(broken("the number of buffers"))?.into_iter(),
            compression: batch.table(3).map(|compression| compression.byte(0)),
            body,
            dictionaries,
        })
    }

    /// Reads the next array.
    pub(super) fn array(&mut self, field: &Field) -> Result<Array<'b>, Broken> {
        let (length, nulls) = self.node()?;
        let has_validity = field.dictionary.is_some() || !matches!(field.kind, Kind::Null | Kind::Other { .. });
        let mut there = None;
        if has_validity {
            let bits = self.buffer()?;
            if nulls != 0 && !bits.is_empty() {
                if bits.len() < length.div_ceil(8) {
                    return Err(broken("too few bits"));
                }
                there = Some(bits);
            }
        }
        let data = match (&field.dictionary, &field.kind) {
            (Some((id, places)), _) => {
                let places = self.numbers(*places, length)?;
                let dictionary = self.dictionaries.get(id).ok_or(broken("a column without its dictionary"))?;
                Data::Coded(places, Arc::clone(dictionary))
            }
            (None, Kind::Null) => Data::Null,
            (None, Kind::Bool) => Data::Bools(self.buffer_of(length.div_ceil(8))?),
            (None, Kind::Int(kind)) => Data::Ints(self.numbers(*kind, length)?),
            (None, Kind::Time(width, unit)) => Data::Times(self.numbers((*width, true), length)?, *unit),
            (None, Kind::Float(width)) => Data::Floats(self.buffer_of(length.saturating_mul(*width))?, *width),
            (None, Kind::Text { end, is_json }) => {
                let (ends, last) = self.ends(*end, length)?;
                Data::Texts { ends, bytes: self.buffer_of(last)?, is_json: *is_json }
            }
            (None, Kind::View { is_json }) => {
                let views = self.buffer_of(length.saturating_mul(16))?;
                let count = self.counts.next().ok_or(broken("the number of buffers"))?;
                let buffers = (0..count).map(|_| self.buffer()).collect::<Result<_, _>>()?;
                Data::Views { views, buffers, is_json: *is_json }
            }
            (None, Kind::List { end, item, is_map }) => {
                let (ends, last) = self.ends(*end, length)?;
                Data::Lists { ends, items: Box::new(self.items(item, last)?), is_map: *is_map }
            }
            (None, Kind::Fixed(every, item)) => {
                let items = self.items(item, length.saturating_mul(*every))?;
                Data::Lists { ends: Ends::Every(*every), items: Box::new(items), is_map: false }
            }
            (None, Kind::Group(fields)) => {
                let part = |field: &Field| Ok((Arc::clone(&field.name), self.part(field, length)?));
                Data::Groups(fields.iter().map(part).collect::<Result<_, Broken>>()?)
            }
            (None, Kind::Unfit(what)) => {
                self.buffer()?;
                Data::Unfit(what)
            }
            (None, Kind::Other { what, .. }) => return Err(Broken::Column(Arc::clone(&field.name), what)),
        };
        Ok(Array { length, there, data })
    }

    /// Skips the next array.
    pub(super) fn skip(&mut self, field: &Field) -> Result<(), Broken> {
        self.node()?;
        let (buffers, fields): (_, &[Field]) = match &field.kind {
            _ if field.dictionary.is_some() => (2, &[]),
            Kind::Null => (0, &[]),
            Kind::Text { .. } => (3, &[]),
            Kind::View { .. } => {
                let count = self.counts.next().and_then(|count| usize::try_from(count).ok());
                (count.and_then(|count| count.checked_add(2)).ok_or(broken("the number of buffers"))?, &[])
            }
            Kind::List { item, .. } => (2, std::slice::from_ref(item)),
            Kind::Fixed(_, item) => (1, std::slice::from_ref(item)),
            Kind::Group(fields) => (1, fields),
            Kind::Other { buffers, fields, .. } => (*buffers, fields),
            Kind::Bool | Kind::Int(_) | Kind::Time(..) | Kind::Float(_) | Kind::Unfit(_) => (2, &[]),
        };
        if buffers > 0 {
            self.buffers.nth(buffers - 1).ok_or(broken("too few buffers"))?;
        }
        fields.iter().try_for_each(|field| self.skip(field))
    }

    /// Returns the length and the number of nulls of the next array.
    fn node(&mut self) -> Result<(usize, i64), Broken> {
        let (length, nulls) = self.nodes.next().ok_or(broken("too few arrays"))?;
        Ok((usize::try_from(length).map_err(|_| broken("the length of an array"))?, nulls))
    }

    /// Reads a part of a column. Returns an error if the part has fewer than `length` values.
    fn part(&mut self, field: &Field, length: usize) -> Result<Array<'b>, Broken> {
        let array = self.array(field)?;
        if array.length < length { Err(broken("a list or a group with too few values")) } else { Ok(array) }
    }

    /// Reads the items of lists.
    fn items(&mut self, field: &Field, length: usize) -> Result<Array<'b>, Broken> {
        let items = self.part(field, length)?;
        if items.has_no_buffers() && length > MOST_WITHOUT_BUFFERS {
            return Err(Broken::Unsupported(format!("lists of more than {MOST_WITHOUT_BUFFERS} nulls")));
        }
        Ok(items)
    }

    /// Reads the next buffer.
    fn buffer(&mut self) -> Result<Buffer<'b>, Broken> {
        let (start, length) = self.buffers.next().ok_or(broken("too few buffers"))?;
        let (start, length) = (usize::try_from(start), usize::try_from(length));
        let range = start.ok().zip(length.ok()).and_then(|(start, length)| Some(start..start.checked_add(length)?));
        let bytes = range.and_then(|range| self.body.get(range)).ok_or(broken("a buffer outside of the file"))?;
        let Some(compression) = self.compression else { return Ok(Cow::Borrowed(bytes)) };
        if bytes.is_empty() {
            return Ok(Cow::Borrowed(bytes));
        }
        let (length, bytes) = bytes.split_first_chunk().ok_or(broken("a buffer that is too short"))?;
        let length = i64::from_le_bytes(*length);
        if length == -1 {
            return Ok(Cow::Borrowed(bytes));
        }
        let length = u64::try_from(length).map_err(|_| broken("the length of a buffer"))?;
        let mut buffer = Vec::new();
        let read = match compression {
            0 => FrameDecoder::new(bytes).take(length).read_to_end(&mut buffer),
            1 => {
                let decoder =
                    StreamingDecoder::new(bytes).map_err(|_| broken("a buffer that cannot be decompressed"))?;
                decoder.take(length).read_to_end(&mut buffer)
            }
            _ => return Err(Broken::Unsupported("a compression other than lz4 and zstd".to_owned())),
        };
        match read {
            Ok(read) if read as u64 == length => Ok(Cow::Owned(buffer)),
            _ => Err(broken("a buffer that cannot be decompressed")),
        }
    }

    /// Reads the next buffer. Returns an error if the buffer has fewer than `length` bytes.
    fn buffer_of(&mut self, length: usize) -> Result<Buffer<'b>, Broken> {
        let buffer = self.buffer()?;
        if buffer.len() < length { Err(broken("a buffer that is too short")) } else { Ok(buffer) }
    }

    fn numbers(&mut self, (width, is_signed): Integer, length: usize) -> Result<Numbers<'b>, Broken> {
        let bytes = self.buffer_of(length.saturating_mul(width))?;
        Ok(Numbers { bytes, width, is_signed })
    }

    /// Reads the offsets at which texts or lists end. Also returns the last offset.
    fn ends(&mut self, width: usize, length: usize) -> Result<(Ends<'b>, usize), Broken> {
        if length == 0 {
            self.buffer()?;
            return Ok((Ends::Every(0), 0));
        }
        let ends = self.numbers((width, true), length.saturating_add(1))?;
        let mut last = 0;
        for index in 0..=length {
            let end = ends.get(index);
            if end < last {
                return Err(broken("offsets of texts or lists that are not in order"));
            }
            last = end;
        }
        Ok((Ends::Listed(ends), usize::try_from(last).map_err(|_| broken("a text that is too long"))?))
    }
}

impl Array<'_> {
    /// Returns whether the size of the file does not limit the number of cells: nulls are stored without a buffer, and
    /// the length of the buffer of cells of kind `Unfit` is not checked.
    pub(super) fn has_no_buffers(&self) -> bool {
        match &self.data {
            Data::Null | Data::Unfit(_) => true,
            Data::Groups(parts) => parts.iter().all(|(_, part)| part.has_no_buffers()),
            _ => false,
        }
    }

    #[inline]
    fn is_null(&self, row: usize) -> bool {
        self.there.as_ref().is_some_and(|bits| bits[row / 8] >> (row % 8) & 1 == 0)
    }

    /// Returns the cell of a row.
    pub(super) fn node(&self, row: usize, column: &str, names: &mut Names) -> Item {
        if self.is_null(row) {
            return Ok(Node::Value(Ok(Value::Null)));
        }
        let text = |bytes: &[u8], is_json: bool, names: &mut Names| match std::str::from_utf8(bytes) {
            Ok(text) if is_json => columns::json(text, column, names),
            _ => Ok(columns::text(bytes, names)),
        };
        Ok(match &self.data {
            Data::Null => Node::Value(Ok(Value::Null)),
            Data::Bools(bits) => Node::Value(Ok(Value::Bool(bits[row / 8] >> (row % 8) & 1 == 1))),
            Data::Ints(ints) if ints.is_large() => columns::unsigned(u64::from_le_bytes(ints.get(row).to_le_bytes())),
            Data::Ints(ints) => Node::Value(Ok(Value::Int(ints.get(row)))),
            Data::Times(times, unit) => columns::time(times.get(row), *unit),
            Data::Floats(bytes, width) => {
                let bytes = &bytes[row * width..(row + 1) * width];
                let number = match width {
                    8 => f64::from_le_bytes(bytes.try_into().unwrap_or_default()),
                    4 => f32::from_le_bytes(bytes.try_into().unwrap_or_default()).into(),
                    _ => half(u16::from_le_bytes(bytes.try_into().unwrap_or_default())),
                };
                Node::Value(Err(Unfit::Fraction(number)))
            }
            Data::Texts { ends, bytes, is_json } => return text(&bytes[ends.range(row)], *is_json, names),
            Data::Views { views, buffers, is_json } => {
                let view = &views[row * 16..(row + 1) * 16];
                let bytes = viewed(view, buffers)
                    .ok_or("the text of this cell is outside of the file; write the file again")?;
                return text(bytes, *is_json, names);
            }
            Data::Coded(places, dictionary) => {
                let item = usize::try_from(places.get(row)).ok().and_then(|place| dictionary.get(place));
                return item
                    .ok_or("the index in this cell is outside of its dictionary; write the file again")?
                    .clone();
            }
            Data::Lists { ends, items, is_map } => {
                let mut nodes = Vec::new();
                for item in ends.range(row) {
                    nodes.push(match &items.data {
                        // An entry of a map becomes a pair.
                        Data::Groups(parts) if *is_map => {
                            let pair = parts.iter().map(|(_, part)| part.node(item, column, names));
                            columns::list(pair.collect::<Result<_, _>>()?)
                        }
                        _ => items.node(item, column, names)?,
                    });
                }
                columns::list(nodes)
            }
            Data::Groups(parts) => {
                let mut fields = Vec::with_capacity(parts.len());
                for (name, part) in parts {
                    fields.push((Arc::clone(name), part.node(row, column, names)?));
                }
                Node::Object(Object::of_row(fields))
            }
            Data::Unfit(what) => Node::Value(Err(Unfit::Other(what))),
        })
    }

    /// Replaces the content of `cells` by the cells of these rows.
    pub(super) fn cells(&self, rows: Range<usize>, column: &str, names: &mut Names, cells: &mut Cells) {
        cells.clear(0);
        let places = (0..).zip(rows.clone());
        let places = places.map(|(place, row)| if self.is_null(row) { NO_PLACE } else { place });
        match &self.data {
            Data::Null => return,
            Data::Ints(ints) if !ints.is_large() => {
                cells.items = Items::Ints(rows.clone().map(|row| ints.get(row)).collect());
            }
            Data::Coded(codes, dictionary) if self.is_within(codes, rows.clone(), dictionary.len()) => {
                let place =
                    |row| if self.is_null(row) { NO_PLACE } else { u32::try_from(codes.get(row)).unwrap_or(NO_PLACE) };
                cells.places.extend(rows.map(place));
                cells.items = Items::Shared(Arc::clone(dictionary));
                return;
            }
            _ => {
                let mut items = Vec::with_capacity(rows.len());
                items.extend(rows.clone().map(|row| self.node(row, column, names)));
                cells.items = Items::Others(items);
            }
        }
        cells.places.extend(places);
    }

    /// Returns whether each of these rows is null or has a value in `places` that is less than
    /// `items`, the number of items.
    fn is_within(&self, places: &Numbers<'_>, mut rows: Range<usize>, items: usize) -> bool {
        rows.all(|row| self.is_null(row) || usize::try_from(places.get(row)).is_ok_and(|place| place < items))
    }
}

/// Returns the bytes that a view refers to. A view begins with the number of these bytes. If there are at most 12
/// bytes, they follow in the view itself. Otherwise, the view contains the first four of these bytes, the index of the
/// buffer that contains all of them, and their position in that buffer.
fn viewed<'v>(view: &'v [u8], buffers: &'v [Buffer<'_>]) -> Option<&'v [u8]> {
    let number = |at: usize| Some(u32::from_le_bytes(view.get(at..at + 4)?.try_into().ok()?) as usize);
    let length = number(0)?;
    if length <= 12 {
        return view.get(4..4 + length);
    }
    let start = number(12)?;
    buffers.get(number(8)?)?.get(start..start.checked_add(length)?)
}

/// Converts a half-precision (16-bit) float to an `f64`, except that NaN becomes infinity.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff) / 1024.0);
    let size = match exponent {
        0 => fraction * 2_f64.powi(-14),
        31 => f64::INFINITY,
        exponent => (1.0 + fraction) * 2_f64.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}
