//! Checks the description of columns and groups of rows at the end of a file.
//!
//! Before the crate `parquet` reads the descriptions of groups and columns, it reserves memory for all groups and
//! columns that a file declares. If a file declares billions of them, this aborts the process. So this module compares
//! the declared numbers with the length of the description.

use parquet::file::reader::{ChunkReader as _, Length as _};

use super::super::detect::PARQUET;
use super::content::Content;

/// Returns false if the description of a file is cut off, or declares more groups or columns than the description has
/// bytes.
pub(super) fn is_plausible(content: &Content) -> bool {
    let description = || {
        // The file must end with the length of the description and four letters. If it does not, the crate `parquet`
        // reports the error.
        let length = content.get_bytes(content.len().checked_sub(8)?, 8).ok()?;
        let length = u32::from_le_bytes(*length.strip_suffix(PARQUET)?.first_chunk()?);
        content.get_bytes(content.len().checked_sub(u64::from(length) + 8)?, length as usize).ok()
    };
    description().is_none_or(|bytes| Thrift { bytes: &bytes, length: bytes.len() }.skip(STRUCT, 0).is_some())
}

/// The maximum nesting depth of a description. The descriptions of real files have a depth of 6.
const DEEPEST: usize = 32;

// Types of Thrift's compact protocol.
const BYTE: u8 = 3;
const SHORT: u8 = 4;
const INT: u8 = 5;
const LONG: u8 = 6;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// The nesting depth of the description of a column: the description of the file has depth 0, its list of columns has
/// depth 1, and the items of this list have depth 2. In the description of a group of columns, field `CHILDREN` is the
/// number of columns in the group.
const COLUMN: usize = 2;
const CHILDREN: u64 = 5;

/// Data in Thrift's compact protocol. See <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.
struct Thrift<'d> {
    bytes: &'d [u8],
    /// The length of the whole description in bytes; `bytes` are its unread bytes.
    length: usize,
}

impl Thrift<'_> {
    /// Skips a value of this type. Returns `None` if the value is not plausible.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            BYTE => self.pass(1),
            SHORT..=LONG => self.number().map(drop),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.number()?;
                self.pass(usize::try_from(length).ok()?)
            }
            LIST | SET => {
                let header = self.byte()?;
                let count = if header >> 4 == 15 { self.number()? } else { u64::from(header >> 4) };
                // Each item has at least one byte.
                if usize::try_from(count).ok()? > self.bytes.len() {
                    return None;
                }
                let kind = header & 15;
                (0..count).try_for_each(|_| if kind < BYTE { self.pass(1) } else { self.skip(kind, depth + 1) })
            }
            STRUCT => self.skip_fields(depth),
            _ => None,
        }
    }

    fn skip_fields(&mut self, depth: usize) -> Option<()> {
        let mut field = 0;
        loop {
            let header = self.byte()?;
            let kind = header & 15;
            if kind == 0 {
                return Some(());
            }
            field = match header >> 4 {
                // The number of the field follows, as a zigzag-encoded signed integer.
                0 => self.number()? >> 1,
                step => field + u64::from(step),
            };
            if (depth, field, kind) == (COLUMN, CHILDREN, INT) {
                let children = self.number()? >> 1;
                if usize::try_from(children).ok()? > self.length {
                    return None;
                }
            } else if kind >= BYTE {
                // Types less than `BYTE` are booleans, whose value is part of the header.
                self.skip(kind, depth + 1)?;
            }
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*byte)
    }

    fn pass(&mut self, count: usize) -> Option<()> {
        self.bytes = self.bytes.get(count..)?;
        Some(())
    }

    /// Reads an integer. Each of its bytes contains seven of its bits.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_compared_with_the_length() {
        let is_plausible = |description: &[u8]| {
            let length = u32::try_from(description.len()).expect("short").to_le_bytes();
            let file = [PARQUET, description, &length, PARQUET].concat();
            super::is_plausible(&Content::read(&mut &*file).expect("reading from memory does not fail"))
        };
        // Field 4 is a list of one empty struct, or declares 2^31 - 1 items.
        assert!(is_plausible(&[0x49, 0x1c, 0, 0]));
        assert!(!is_plausible(&[0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0]));
        // Field 2 is a list of one column, which declares that 0 or 2^31 - 1 columns are in it.
        assert!(is_plausible(&[0x29, 0x1c, 0x55, 0, 0, 0]));
        assert!(!is_plausible(&[0x29, 0x1c, 0x55, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0]));
        // Reject a description that is cut off, one that is nested too deep, and one with a number that has too many
        // bytes.
        assert!(!is_plausible(&[0x49, 0x1c, 0]));
        assert!(!is_plausible(&[0x1c; 100]));
        assert!(!is_plausible(&[[0x15].as_slice(), &[0xff; 20]].concat()));
    }
}
