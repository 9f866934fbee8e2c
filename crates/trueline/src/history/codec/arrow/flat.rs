//! Reads FlatBuffers, in which Arrow stores its metadata. Every access is checked.
//!
//! A table begins with the signed distance from its *vtable* to the table. For each field, the
//! vtable contains the offset of the field in the table, or 0 if the field is absent. A field whose
//! value is a table, a vector or a string contains the distance from the field to that value.

/// A table in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flat<'b> {
    bytes: &'b [u8],
    at: usize,
}

/// A vector in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct List<'b> {
    bytes: &'b [u8],
    at: usize,
    pub(super) len: usize,
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// Reads the offset at position `at`, and returns the position that the offset refers to.
fn follow(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(u32::from_le_bytes(array(bytes, at)?) as usize)
}

impl<'b> Flat<'b> {
    /// Returns the table that a buffer contains.
    pub(super) fn root(bytes: &'b [u8]) -> Option<Self> {
        Some(Self { bytes, at: follow(bytes, 0)? })
    }

    /// Returns the position of a field, or `None` if it is absent.
    fn field(self, index: usize) -> Option<usize> {
        let back = i32::from_le_bytes(array(self.bytes, self.at)?);
        let vtable = usize::try_from(i64::try_from(self.at).ok()? - i64::from(back)).ok()?;
        let length = u16::from_le_bytes(array(self.bytes, vtable)?);
        let entry = 4 + 2 * index;
        if entry + 2 > usize::from(length) {
            return None;
        }
        let offset = u16::from_le_bytes(array(self.bytes, vtable + entry)?);
        (offset > 0).then_some(self.at + usize::from(offset))
    }

    fn scalar<const N: usize>(self, index: usize) -> Option<[u8; N]> {
        array(self.bytes, self.field(index)?)
    }

    pub(super) fn bool(self, index: usize) -> bool {
        self.byte(index) != 0
    }

    /// Returns the number in a field; 0 if the field is absent.
    pub(super) fn byte(self, index: usize) -> u8 {
        self.scalar(index).map_or(0, u8::from_le_bytes)
    }

    pub(super) fn short(self, index: usize, default: i16) -> i16 {
        self.scalar(index).map_or(default, i16::from_le_bytes)
    }

    pub(super) fn int(self, index: usize) -> i32 {
        self.scalar(index).map_or(0, i32::from_le_bytes)
    }

    pub(super) fn long(self, index: usize) -> i64 {
        self.scalar(index).map_or(0, i64::from_le_bytes)
    }

    pub(super) fn table(self, index: usize) -> Option<Self> {
        Some(Self { bytes: self.bytes, at: follow(self.bytes, self.field(index)?)? })
    }

    /// Returns the vector in a field; an empty one if the field is absent.
    pub(super) fn list(self, index: usize) -> Option<List<'b>> {
        let Some(field) = self.field(index) else { return Some(List { bytes: self.bytes, at: 0, len: 0 }) };
        let at = follow(self.bytes, field)?;
        let len = u32::from_le_bytes(array(self.bytes, at)?) as usize;
        Some(List { bytes: self.bytes, at: at + 4, len })
    }

    pub(super) fn text(self, index: usize) -> Option<&'b str> {
        let list = self.list(index)?;
        std::str::from_utf8(self.bytes.get(list.at..list.at.checked_add(list.len)?)?).ok()
    }
}

impl<'b> List<'b> {
    /// Returns the tables of a vector of tables.
    pub(super) fn tables(self) -> impl Iterator<Item = Option<Flat<'b>>> {
        (0..self.len).map(move |index| Some(Flat { bytes: self.bytes, at: follow(self.bytes, self.at + 4 * index)? }))
    }

    /// Returns the pairs of a vector of pairs of numbers.
    pub(super) fn pairs(self) -> impl Iterator<Item = Option<(i64, i64)>> {
        let long = move |at| array(self.bytes, at).map(i64::from_le_bytes);
        (0..self.len).map(move |index| Some((long(self.at + 16 * index)?, long(self.at + 16 * index + 8)?)))
    }

    /// Returns the blocks of a vector of blocks, each as the offset of a message and the length of its description.
    pub(super) fn blocks(self) -> impl Iterator<Item = Option<(i64, i32)>> {
        (0..self.len).map(move |index| {
            let at = self.at + 24 * index;
            Some((i64::from_le_bytes(array(self.bytes, at)?), i32::from_le_bytes(array(self.bytes, at + 8)?)))
        })
    }

    /// Returns the numbers of a vector of numbers.
    pub(super) fn longs(self) -> impl Iterator<Item = Option<i64>> {
        (0..self.len).map(move |index| array(self.bytes, self.at + 8 * index).map(i64::from_le_bytes))
    }
}
