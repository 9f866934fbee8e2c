//! The columns of an Arrow file and their types.

use std::sync::Arc;

use super::flat::Flat;
use super::{Broken, broken};
use crate::history::codec::DEEPEST_NESTING;

/// The maximum number of fields in a schema, including the fields of groups and lists.
const MOST_FIELDS: usize = 10_000;

/// A column, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Arc<str>,
    pub(super) kind: Kind,
    /// The id of the dictionary that contains the values, and the type of the indexes into the
    /// dictionary.
    pub(super) dictionary: Option<(i64, Integer)>,
}

impl Field {
    /// Searches this field and its parts for the field whose values are in the dictionary `id`.
    pub(super) fn with_dictionary(&self, id: i64) -> Option<&Self> {
        if self.dictionary.as_ref().is_some_and(|(own, _)| *own == id) {
            return Some(self);
        }
        let parts = match &self.kind {
            Kind::List { item, .. } | Kind::Fixed(_, item) => std::slice::from_ref(&**item),
            Kind::Group(fields) | Kind::Other { fields, .. } => fields,
            _ => &[],
        };
        parts.iter().find_map(|part| part.with_dictionary(id))
    }
}

/// The type of integers: their size in bytes, and whether they are signed.
pub(super) type Integer = (usize, bool);

/// The type of a column.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool,
    Int(Integer),
    /// A time or a duration: its size in bytes, and its unit in nanoseconds.
    Time(usize, i64),
    /// Floating-point numbers of this many bytes each.
    Float(usize),
    /// Text or bytes. For each text, an offset of `end` bytes gives the position at which the text
    /// ends.
    Text {
        end: usize,
        is_json: bool,
    },
    /// Text or bytes that are stored in separate buffers, to which views refer.
    View {
        is_json: bool,
    },
    List {
        /// The size of an offset in bytes. For each list, an offset gives the position at which the
        /// list ends.
        end: usize,
        item: Box<Field>,
        /// Whether the items are the pairs of a map.
        is_map: bool,
    },
    /// Lists of this length.
    Fixed(usize, Box<Field>),
    Group(Vec<Field>),
    /// Cells that are stored in a single buffer, and that cannot be converted to values.
    Unfit(&'static str),
    /// A type that is not supported.
    Other {
        what: &'static str,
        buffers: usize,
        fields: Vec<Field>,
    },
}

/// Reads the columns of a schema.
pub(super) fn columns(schema: Flat<'_>) -> Result<Vec<Field>, Broken> {
    if schema.short(0, 0) != 0 {
        return Err(Broken::Unsupported("numbers in big-endian byte order".to_owned()));
    }
    fields(schema, 1, DEEPEST_NESTING, &mut 0)
}

fn fields(table: Flat<'_>, index: usize, depth: usize, count: &mut usize) -> Result<Vec<Field>, Broken> {
    let list = table.list(index).ok_or(broken("a list of columns"))?;
    *count = count.saturating_add(list.len);
    if *count > MOST_FIELDS {
        return Err(Broken::Unsupported(format!("more than {MOST_FIELDS} columns")));
    }
    list.tables().map(|table| field(table.ok_or(broken("a column"))?, depth, count)).collect()
}

fn field(table: Flat<'_>, depth: usize, count: &mut usize) -> Result<Field, Broken> {
    let name: Arc<str> = table.text(0).ok_or(broken("the name of a column"))?.into();
    let depth = depth
        .checked_sub(1)
        .ok_or_else(|| Broken::Unsupported(format!("columns nested deeper than {DEEPEST_NESTING} levels")))?;
    let mut children = fields(table, 5, depth, count)?;
    let Some(detail) = table.table(3) else { return Err(broken("the type of a column")) };
    // The extension type for JSON: https://arrow.apache.org/docs/format/CanonicalExtensions.html#json
    let metadata = table.list(6).ok_or(broken("the metadata of a column"))?;
    let is_json = metadata
        .tables()
        .flatten()
        .any(|pair| pair.text(0) == Some("ARROW:extension:name") && pair.text(1) == Some("arrow.json"));
    let mut child = || if children.len() == 1 { children.pop().map(Box::new) } else { None };
    let size = |bytes: i32| usize::try_from(bytes).ok().filter(|size| *size > 0);
    // The types and their fields: https://github.com/apache/arrow/blob/main/format/Schema.fbs
    let kind = match table.byte(2) {
        1 => Some(Kind::Null),
        2 => integer(detail).map(Kind::Int),
        3 => [2, 4, 8].get(usize::try_from(detail.short(0, 0)).unwrap_or(3)).copied().map(Kind::Float),
        4 | 5 => Some(Kind::Text { end: 4, is_json }),
        6 => Some(Kind::Bool),
        7 => Some(Kind::Unfit("a decimal number")),
        8 => match detail.short(0, 1) {
            0 => Some(Kind::Int((4, true))),
            _ => Some(Kind::Time(8, 1_000_000)),
        },
        9 => unit(detail.short(0, 1)).map(|unit| Kind::Time(if detail.int(1) == 64 { 8 } else { 4 }, unit)),
        10 => unit(detail.short(0, 0)).map(|unit| Kind::Time(8, unit)),
        11 => Some(Kind::Unfit("an interval")),
        12 => child().map(|item| Kind::List { end: 4, item, is_map: false }),
        13 => Some(Kind::Group(std::mem::take(&mut children))),
        14 => {
            let buffers = if detail.short(0, 0) == 0 { 1 } else { 2 };
            Some(Kind::Other { what: "union", buffers, fields: std::mem::take(&mut children) })
        }
        15 => Some(Kind::Unfit("bytes")),
        16 => child().and_then(|item| Some(Kind::Fixed(size(detail.int(0))?, item))),
        17 => child().map(|item| Kind::List { end: 4, item, is_map: true }),
        18 => unit(detail.short(0, 1)).map(|unit| Kind::Time(8, unit)),
        19 | 20 => Some(Kind::Text { end: 8, is_json }),
        21 => child().map(|item| Kind::List { end: 8, item, is_map: false }),
        22 => Some(Kind::Other { what: "run-end encoded", buffers: 0, fields: std::mem::take(&mut children) }),
        23 | 24 => Some(Kind::View { is_json }),
        25 | 26 => Some(Kind::Other { what: "list view", buffers: 3, fields: std::mem::take(&mut children) }),
        _ => return Err(Broken::Column(name, "an unknown type")),
    };
    let kind = kind.ok_or(broken("the type of a column"))?;
    let dictionary = match table.table(4) {
        None => None,
        Some(encoding) => {
            let places = encoding.table(1).map_or(Some((4, true)), integer).ok_or(broken("a dictionary"))?;
            Some((encoding.long(0), places))
        }
    };
    Ok(Field { name, kind, dictionary })
}

fn integer(detail: Flat<'_>) -> Option<Integer> {
    let width = match detail.int(0) {
        8 => 1,
        16 => 2,
        32 => 4,
        64 => 8,
        _ => return None,
    };
    Some((width, detail.bool(1)))
}

/// Returns the length of a unit of time in nanoseconds.
fn unit(unit: i16) -> Option<i64> {
    [1_000_000_000, 1_000_000, 1_000, 1].get(usize::try_from(unit).ok()?).copied()
}
