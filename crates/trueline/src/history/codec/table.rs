//! Tables: CSV as in RFC 4180, with any separator.

use std::io::{self, BufRead, Write};
use std::sync::Arc;

use super::super::{Outcome, RawHistory, Record, Value, visible};
use super::field::named_object;
use super::lines::{not_text, without_byte_order_mark};
use super::{CodecError, LONGEST_LINE, jsonl};

/// The separators that [`separator`] looks for.
const SEPARATORS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Returns the separator of a table: the one that occurs most often in the first line, outside of
/// quotation marks.
pub(super) fn separator(first_line: &str) -> u8 {
    let count = |separator: u8| {
        let mut quoted = false;
        first_line
            .bytes()
            .filter(|&byte| {
                quoted ^= byte == b'"';
                byte == separator && !quoted
            })
            .count()
    };
    // If several separators are equally frequent, the first of them in `SEPARATORS` is chosen.
    SEPARATORS.into_iter().rev().max_by_key(|&separator| count(separator)).unwrap_or(b',')
}

/// The rows of a table.
#[derive(Debug)]
pub(super) struct Rows<R> {
    input: R,
    separator: u8,
    /// The number of lines that have been read.
    line: u32,
    buffer: Vec<u8>,
}

impl<R: BufRead> Rows<R> {
    pub(super) fn new(input: R, separator: u8) -> Self {
        Self { input, separator, line: 0, buffer: Vec::new() }
    }

    /// Reads the next row that is not blank. Returns the line on which the row begins.
    pub(super) fn next(&mut self, cells: &mut Vec<String>) -> Result<Option<u32>, CodecError> {
        cells.clear();
        loop {
            self.buffer.clear();
            let start =
                self.line.checked_add(1).ok_or_else(|| CodecError::at(self.line, "too many lines; split the file"))?;
            // A line end inside of quotation marks belongs to the cell.
            let mut is_open = false;
            loop {
                let before = self.buffer.len();
                match self.more()? {
                    false if before == 0 => return Ok(None),
                    false => {
                        let message =
                            "a quotation mark is never closed; close it, or double the quotation marks inside a cell";
                        return Err(CodecError::at(start, message));
                    }
                    true => is_open ^= self.buffer[before..].iter().filter(|&&byte| byte == b'"').count() % 2 == 1,
                }
                if !is_open {
                    break;
                }
            }
            let row = if start == 1 { without_byte_order_mark(&self.buffer) } else { &self.buffer };
            let row = row.strip_suffix(b"\n").unwrap_or(row);
            let row = row.strip_suffix(b"\r").unwrap_or(row);
            if row.trim_ascii().is_empty() {
                continue;
            }
            let row = std::str::from_utf8(row).ok().filter(|row| !row.contains('\0'));
            let row = row.ok_or_else(|| CodecError::at(start, not_text("comma-separated values")))?;
            split(row, self.separator, cells).map_err(|message| CodecError::at(start, message))?;
            return Ok(Some(start));
        }
    }

    /// Adds a line to the buffer. Returns `false` if the input has no more lines.
    fn more(&mut self) -> Result<bool, CodecError> {
        let room = (LONGEST_LINE + 1).saturating_sub(self.buffer.len());
        let mut limited = io::Read::take(&mut self.input, room as u64);
        let length = limited.read_until(b'\n', &mut self.buffer).map_err(|error| CodecError::io(self.line, error))?;
        self.line = self.line.saturating_add(1);
        if self.buffer.len() > LONGEST_LINE {
            let message = format!(
                "the row is longer than {} MiB; close its quotation mark, or split the row",
                LONGEST_LINE >> 20
            );
            return Err(CodecError::at(self.line, message));
        }
        Ok(length > 0)
    }
}

/// Splits a row into its cells.
fn split(row: &str, separator: u8, cells: &mut Vec<String>) -> Result<(), String> {
    let separator = char::from(separator);
    let mut rest = row;
    loop {
        let Some(mut quoted) = rest.strip_prefix('"') else {
            let end = rest.find(separator).unwrap_or(rest.len());
            cells.push(rest[..end].trim().to_owned());
            match rest.get(end + 1..) {
                Some(behind) => rest = behind,
                None => return Ok(()),
            }
            continue;
        };
        let mut cell = String::new();
        loop {
            let (part, behind) = quoted.split_once('"').ok_or("a quotation mark is never closed; close it")?;
            cell.push_str(part);
            match behind.strip_prefix('"') {
                Some(behind) => {
                    cell.push('"');
                    quoted = behind;
                }
                None => {
                    rest = behind;
                    break;
                }
            }
        }
        cells.push(cell);
        match rest.strip_prefix(separator) {
            Some(behind) => rest = behind,
            None if rest.trim().is_empty() => return Ok(()),
            None => {
                return Err(
                    "there is text between a closing quotation mark and the next separator; double the quotation \
                     marks inside a cell"
                        .to_owned(),
                );
            }
        }
    }
}

/// Formats a cell, quoted if needed.
pub(super) fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Formats a value as a cell. Reading the cell returns the same value. A text is quoted only if this is necessary, for
/// example if the text looks like a number.
fn value_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Text(text) if !text.is_empty() && text.parse::<Value>().is_err() && visible(text) == **text => {
            cell(text)
        }
        value => cell(&value.to_string()),
    }
}

/// Writes a history as whole operations, one row for each; see [`jsonl::write_operations`].
pub(super) fn write_all(history: &RawHistory, mut output: impl Write) -> io::Result<()> {
    let times = jsonl::times(history);
    let has_objects = history.operations().iter().any(|operation| history.object_name(operation.object).is_some());
    let has_keys = history.operations().iter().any(|operation| operation.op.key.is_some());
    let has_versions = history.operations().iter().any(|operation| operation.version().is_some());
    let name = |there: bool, name| if there { name } else { "" };
    let (object, key) = (name(has_objects, "object,"), name(has_keys, "key,"));
    writeln!(output, "process,{object}f,{key}value,result,call,return{}", name(has_versions, ",version"))?;
    for operation in history.operations() {
        let Record { f, key, value } = &operation.op;
        write!(output, "{},", operation.process)?;
        if has_objects {
            let object = history.object_name(operation.object).map(named_object).unwrap_or_default();
            write!(output, "{},", value_cell(&object))?;
        }
        write!(output, "{},", value_cell(&Value::Text(Arc::clone(f))))?;
        if has_keys {
            write!(output, "{},", key.as_ref().map(value_cell).unwrap_or_default())?;
        }
        write!(output, "{},", value_cell(value))?;
        let call = times[operation.call_position() as usize];
        match (&operation.outcome, operation.return_position()) {
            (Outcome::Returned(result), Some(ret)) => {
                write!(output, "{},{call},{}", value_cell(result), times[ret as usize])?;
            }
            _ => write!(output, ",{call},")?,
        }
        match operation.version() {
            Some(version) => writeln!(output, ",{version}")?,
            None => writeln!(output, "{}", name(has_versions, ","))?,
        }
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, separator: u8) -> Result<Vec<(u32, Vec<String>)>, String> {
        let mut rows = Rows::new(text.as_bytes(), separator);
        let (mut all, mut cells) = (Vec::new(), Vec::new());
        while let Some(line) = rows.next(&mut cells).map_err(|fault| fault.to_string())? {
            all.push((line, cells.clone()));
        }
        Ok(all)
    }

    #[test]
    fn cells_are_split() {
        let text = "\u{feff}a,b , \"c\"\r\n\n1,\"x,\"\"y\"\"\nz\",\n\"\",,3";
        let expected = [(1, vec!["a", "b", "\"c\""]), (3, vec!["1", "x,\"y\"\nz", ""]), (5, vec!["", "", "3"])];
        let expected: Vec<(u32, Vec<String>)> =
            expected.into_iter().map(|(line, cells)| (line, cells.into_iter().map(str::to_owned).collect())).collect();
        assert_eq!(rows(text, b','), Ok(expected));
        assert_eq!(rows("a\tb,c\n", b'\t').map(|rows| rows[0].1.len()), Ok(2));
        for text in ["a,b", "x \"y\"", "line\nend", " space ", "plain", ""] {
            let row = format!("{},{}\n", cell(text), cell("end"));
            let read = rows(&row, b',').expect("the row is valid").remove(0).1;
            assert_eq!(read, [text, "end"]);
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, expected) in [
            ("a,b\n1,\"2\n3,4\n", "line 2: a quotation mark is never closed"),
            ("\"a\"b,c\n", "line 1: there is text between"),
        ] {
            let fault = rows(text, b',').expect_err(text);
            assert!(fault.contains(expected), "{fault}");
        }
        let mut binary = Rows::new(&b"a,\0\n"[..], b',');
        assert!(binary.next(&mut Vec::new()).expect_err("the row is not text").to_string().contains("not text"));
    }

    #[test]
    fn separators() {
        for (line, expected) in
            [("a,b;c,d", b','), ("a\tb", b'\t'), ("a;b;c,d", b';'), ("f", b','), ("\"a;;;b\",c", b',')]
        {
            assert_eq!(separator(line), expected, "{line}");
        }
    }
}
