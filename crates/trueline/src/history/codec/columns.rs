//! Tables of typed columns, in batches of rows: code that the readers of Parquet and Arrow share.

use std::sync::Arc;

use super::super::Value;
use super::CodecError;
use super::field::{Names, Unfit, quoted};
use super::json::{self, Node, Object};

/// The maximum number of rows in a batch. The cells of this many rows fit into the cache of a processor.
pub(super) const BATCH: usize = 1 << 10;

/// The entry of [`Cells::places`] that stands for null.
pub(super) const NO_PLACE: u32 = u32::MAX;

/// A table whose columns have types.
pub(super) trait Table {
    /// Returns the names of the columns.
    fn names(&self) -> Vec<Arc<str>>;

    /// Calls `visit` with batches of rows, in the order of the rows. `wanted` contains a flag for
    /// each column: if the flag is false, the reader may return null for all cells of the column.
    fn each(
        &mut self,
        wanted: &[bool],
        visit: &mut dyn FnMut(&Batch<'_>) -> Result<(), CodecError>,
    ) -> Result<(), CodecError>;
}

/// Some rows of a table.
#[derive(Debug)]
pub(super) struct Batch<'t> {
    pub(super) names: &'t [Arc<str>],
    /// The cells of each column.
    pub(super) columns: Vec<&'t Cells>,
    /// The number of the first row, counted from 1.
    pub(super) first: u32,
    pub(super) rows: usize,
}

impl<'t> Batch<'t> {
    #[inline]
    pub(super) fn cell(&self, column: usize, row: usize) -> Cell<'t> {
        self.columns[column].cell(row)
    }

    /// Returns the cells of a row, or an error if one of them cannot be read.
    pub(super) fn object(&self, row: usize) -> Result<Object, String> {
        let mut fields = Vec::with_capacity(self.columns.len());
        for (name, column) in self.names.iter().zip(&self.columns) {
            let node = match column.cell(row) {
                Cell::Null => Node::Value(Ok(Value::Null)),
                Cell::Bool(bool) => Node::Value(Ok(Value::Bool(bool))),
                Cell::Int(int) => Node::Value(Ok(Value::Int(int))),
                Cell::Other(item) => item.clone()?,
            };
            fields.push((Arc::clone(name), node));
        }
        Ok(Object::of_row(fields))
    }
}

/// A cell of a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Other(&'a Item),
}

/// The content of a cell, or the reason why it cannot be read.
pub(super) type Item = Result<Node, String>;

/// The cells of a column in a batch. Several rows may share an item.
#[derive(Debug)]
pub(super) struct Cells {
    /// For each row, the index of its item in `items`, or [`NO_PLACE`] for null.
    pub(super) places: Vec<u32>,
    pub(super) items: Items,
}

#[derive(Debug)]
pub(super) enum Items {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Others(Vec<Item>),
    /// The items of a dictionary.
    Shared(Arc<[Item]>),
}

impl Cells {
    pub(super) fn new(items: Items) -> Self {
        Self { places: Vec::new(), items }
    }

    /// Removes all rows, and all items after the first `kept` ones. Items that are shared with a
    /// dictionary are not removed.
    pub(super) fn clear(&mut self, kept: usize) {
        self.places.clear();
        match &mut self.items {
            Items::Bools(bools) => bools.truncate(kept),
            Items::Ints(ints) => ints.truncate(kept),
            Items::Others(items) => items.truncate(kept),
            Items::Shared(_) => {}
        }
    }

    #[inline]
    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
        let place = match self.places.get(row) {
            None | Some(&NO_PLACE) => return Cell::Null,
            Some(&place) => place as usize,
        };
        match &self.items {
            Items::Ints(ints) => Cell::Int(ints[place]),
            Items::Others(items) => Cell::Other(&items[place]),
            Items::Shared(items) => Cell::Other(&items[place]),
            Items::Bools(bools) => Cell::Bool(bools[place]),
        }
    }
}

impl Items {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bools(bools) => bools.len(),
            Self::Ints(ints) => ints.len(),
            Self::Others(items) => items.len(),
            Self::Shared(items) => items.len(),
        }
    }
}

/// Returns the node for the bytes of a text. If the bytes are not valid UTF-8, the node contains an error.
pub(super) fn text(bytes: &[u8], names: &mut Names) -> Node {
    Node::Value(match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Value::Text(names.get(text))),
        Err(_) => Err(Unfit::Other("bytes that are not text")),
    })
}

/// Parses a text as JSON, and returns the item for its value.
pub(super) fn json(text: &str, column: &str, names: &mut Names) -> Item {
    json::value(text, names).map(Node::Value).map_err(|error| {
        format!(
            "the column `{}` has the type JSON, but this is not JSON ({error}); correct it, or store it as text",
            quoted(column)
        )
    })
}

/// Returns the node of a list.
pub(super) fn list(items: Vec<Node>) -> Node {
    if items.iter().all(|item| matches!(item, Node::Value(Ok(_)))) {
        return Node::Value(items.into_iter().map(Node::into_value).collect());
    }
    Node::List(items)
}

/// Returns the node of a time in nanoseconds. `time` is a number of units, and each unit is `unit`
/// nanoseconds long.
pub(super) fn time(time: i64, unit: i64) -> Node {
    Node::Value(time.checked_mul(unit).map(Value::Int).ok_or(Unfit::Big(None)))
}

/// Returns the node of an unsigned number.
pub(super) fn unsigned(number: u64) -> Node {
    Node::Value(i64::try_from(number).map(Value::Int).map_err(|_| Unfit::Big(Some(number.to_string().into()))))
}
