//! A file to read, and the options for reading it.

use std::fmt;
use std::io::{BufRead, Read};

use super::super::RawHistory;
use super::intake::{Intake, Plain, Taken};
use super::jsonl::{self, File};
#[cfg(feature = "named")]
use super::numbering::{NumberedHistory, Numbering, Numbers, Unnumbered, numbered};
use super::{
    CodecError, Format, LOOKED_AT, Mapping, Note, Tuples,
    detect::{self, detect},
    read_as,
};

/// A file, and the options for reading it.
pub struct Source<'s> {
    /// The content of the file.
    pub input: &'s mut dyn BufRead,
    /// The format of the file. If `mapping` is given, the format is ignored.
    pub format: Format,
    /// Describes the fields of a foreign log.
    pub mapping: Option<&'s Mapping>,
    /// The meaning of values that are pairs; `None` if values are not pairs.
    pub tuples: Option<Tuples>,
    /// The maximum difference between clocks.
    pub skew: i64,
    /// Notes from another file, about events such as injected faults.
    pub notes: &'s [Note],
    /// Receives warnings about likely mistakes.
    pub warnings: &'s mut Vec<String>,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, mapping, tuples, skew, .. } = self;
        f.debug_struct("Source")
            .field("format", format)
            .field("mapping", mapping)
            .field("tuples", tuples)
            .field("skew", skew)
            .finish_non_exhaustive()
    }
}

impl Source<'_> {
    /// Reads the history.
    ///
    /// # Errors
    /// Fails if the file does not have the format, or if its events or operations do not form a history.
    pub fn read(mut self) -> Result<RawHistory, CodecError> {
        let start = self.detect()?;
        self.read_from(&start).map_err(|error| hinted(error, &start))
    }

    /// Reads the history. Instead of operations and results, keeps only the numbers that `numbers`
    /// assigns to them. The outer error means that the file cannot be read; the inner error is the
    /// fault of the first operation that has no number.
    #[cfg(feature = "named")]
    pub(crate) fn numbered(
        &mut self,
        numbers: &mut dyn Numbers,
    ) -> Result<Result<NumberedHistory, Unnumbered>, CodecError> {
        let start = self.detect()?;
        if self.tuples.is_none() && self.has_lines() {
            let read = self.read_lines(&start, Numbering::new(numbers));
            let (numbering, history) = read.map_err(|error| hinted(error, &start))?;
            return Ok(numbering.finish(&history).map_or(Ok(history), Err));
        }
        Ok(numbered(&self.read_from(&start)?, numbers))
    }

    /// Detects the format if it is not known yet. Returns the part of the file that was read for
    /// this purpose.
    fn detect(&mut self) -> Result<Vec<u8>, CodecError> {
        let mut start = Vec::new();
        if self.mapping.is_none() && self.format == Format::Auto {
            let read = (&mut *self.input).take(LOOKED_AT).read_to_end(&mut start);
            read.map_err(|error| CodecError::io(0, error))?;
            self.format = detect(&start).unwrap_or(Format::Jsonl);
        }
        Ok(start)
    }

    /// Returns whether each record has the fields of JSON lines, so that [`read_lines`](Self::read_lines) can read it.
    fn has_lines(&self) -> bool {
        self.mapping.is_some() || matches!(self.format, Format::Jsonl | Format::Csv | Format::Parquet | Format::Arrow)
    }

    /// Reads the history. `start` is the part of the file that has already been read.
    fn read_from(&mut self, start: &[u8]) -> Result<RawHistory, CodecError> {
        let history = if self.has_lines() {
            self.read_lines(start, Plain)?.1
        } else if self.notes.is_empty() {
            read_as(start.chain(&mut *self.input), self.format, self.skew)?
        } else {
            return Err(CodecError::whole_file(
                "notes from another file need a format whose records have times (JSON lines, CSV, Parquet, Arrow or a mapping); convert the history first, or leave the notes out",
            ));
        };
        match self.tuples {
            Some(tuples) => tuples.take_apart(history),
            None => Ok(history),
        }
    }

    fn read_lines<I: Intake>(&mut self, start: &[u8], intake: I) -> Result<Taken<I>, CodecError> {
        let input = start.chain(&mut *self.input);
        let file = File::with(intake, None).with_notes(self.notes);
        let preset = match self.format {
            Format::Csv => Mapping::csv(),
            _ => Mapping::columns(),
        };
        match (self.mapping, self.format) {
            (Some(mapping), _) => mapping.read_into(input, self.skew, file, self.warnings),
            (None, Format::Csv | Format::Parquet | Format::Arrow) => {
                preset.read_into(input, self.skew, file, &mut Vec::new())
            }
            (None, _) => jsonl::read_into(input, self.skew, file),
        }
    }
}

/// Replaces an error with the advice to use a preset, if the file begins like a file for this preset. Errors after the
/// first line stay unchanged. `start` is the beginning of the file, from which its format was detected.
pub(super) fn hinted(error: CodecError, start: &[u8]) -> CodecError {
    if error.source.is_some() || error.line.is_some_and(|line| line > 1) {
        return error;
    }
    let name = match detect::preset(start) {
        Some("otlp") => "OpenTelemetry spans; read them with the mapping `otlp` (--map otlp)",
        Some(_) => "Jaeger spans; read them with the mapping `jaeger` (--map jaeger)",
        None => return error,
    };
    CodecError { message: format!("the file contains {name}"), ..error }
}
