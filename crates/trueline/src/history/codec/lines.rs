//! Reads text line by line, with a limit on the length of a line.

use std::io::{BufRead, ErrorKind, Read};

use super::{CodecError, LONGEST_LINE};

/// The lines of a text. Each line is read into a buffer that the caller owns. So the caller can call methods of this
/// reader while still using the line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    number: u32,
    /// The expected content of the file, for messages.
    what: &'static str,
}

/// The length of the line that was added; `None` if no line was added.
type Added = Result<Option<usize>, CodecError>;

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R, what: &'static str) -> Self {
        Self::from_line(input, what, 0)
    }

    /// Creates a reader of lines that are numbered from `number + 1`.
    pub(super) fn from_line(input: R, what: &'static str, number: u32) -> Self {
        Self { input, number, what }
    }

    /// Returns the next line that is not blank, without leading and trailing white space. Also
    /// returns the number of the line, counted from 1.
    pub(super) fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<Option<(u32, &'b str)>, CodecError> {
        loop {
            buffer.clear();
            let mut limited = (&mut self.input).take(LONGEST_LINE as u64 + 1);
            let length = limited.read_until(b'\n', buffer).map_err(|error| CodecError::io(self.number, error))?;
            if length == 0 {
                return Ok(None);
            }
            let too_many = || CodecError::at(self.number, "too many lines; split the file");
            self.number = self.number.checked_add(1).ok_or_else(too_many)?;
            if !is_blank(self.number, buffer) {
                break;
            }
        }
        let number = self.number;
        let mut line = buffer.as_slice();
        if number == 1 {
            line = without_byte_order_mark(line);
        }
        let too_long = buffer.len() > LONGEST_LINE;
        let line = text_of(line, too_long).ok_or_else(|| CodecError::at(number, not_text(self.what)))?;
        if too_long {
            let message = format!(
                "the line is longer than {} MiB; write one event or operation on each line",
                LONGEST_LINE >> 20
            );
            return Err(CodecError::at(number, message));
        }
        Ok(Some((number, line.trim_ascii())))
    }

    /// Calls `add` once for each line, until `add` returns `None` or the input ends. The arguments of `add` are the
    /// number of the line, and all buffered bytes from the beginning of the line on. `add` returns the length of the
    /// line that it has added, including the line feed. `add` returns `None` if the line is unusual or not completely
    /// in the buffer. Lines are not copied.
    pub(super) fn each_usual(&mut self, add: &mut dyn FnMut(u32, &[u8]) -> Added) -> Result<(), CodecError> {
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(CodecError::io(self.number, error)),
            };
            let mut used = 0;
            while let (Some(number), false) = (self.number.checked_add(1), used == buffer.len()) {
                let rest = &buffer[used..];
                let Some(length) = add(number, &rest[..rest.len().min(LONGEST_LINE)])? else { break };
                used += length;
                self.number = number;
            }
            let is_whole = used == buffer.len();
            self.input.consume(used);
            // The next line is unusual or not completely in the buffer, or the input has ended.
            if !is_whole || used == 0 {
                return Ok(());
            }
        }
    }

    /// Returns whether the input ends after the line that was read most recently.
    pub(super) fn at_end(&mut self) -> bool {
        self.input.fill_buf().map_or(true, <[u8]>::is_empty)
    }
}

fn is_blank(number: u32, line: &[u8]) -> bool {
    let line = if number == 1 { without_byte_order_mark(line) } else { line };
    line.len() <= LONGEST_LINE && line.trim_ascii().is_empty()
}

/// Returns the message for a file that is not text.
pub(super) fn not_text(what: &str) -> String {
    format!("this is not text; give an uncompressed UTF-8 file of {what}")
}

pub(super) fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Returns the line as a string, if it is valid text.
fn text_of(line: &[u8], cut_off: bool) -> Option<&str> {
    if line.contains(&0) {
        return None;
    }
    match std::str::from_utf8(line) {
        Ok(text) => Some(text),
        // If the line is cut off, it may end inside a character.
        Err(error) if cut_off && error.error_len().is_none() => Some(""),
        Err(_) => None,
    }
}
