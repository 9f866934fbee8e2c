//! Files with everything that says how to read them.

use std::fmt;
use std::io::{BufRead, Read};

use super::super::RawHistory;
#[cfg(feature = "named")]
use super::intake::{self, NumberedHistory, Numbering, Numbers, Unnumbered};
#[cfg(feature = "named")]
use super::jsonl;
use super::{CodecError, Format, LOOKED_AT, Mapping, Tuples, detect, read_as};

/// A file, and how it is read.
pub struct Source<'s> {
    /// The content of the file.
    pub input: &'s mut dyn BufRead,
    /// The format, unless there is a mapping.
    pub format: Format,
    /// Describes the fields of a foreign log.
    pub mapping: Option<&'s Mapping>,
    /// Whether values are pairs.
    pub tuples: Option<Tuples>,
    /// By how much clocks may differ.
    pub skew: i64,
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
    pub fn read(self) -> Result<RawHistory, CodecError> {
        let history = match self.mapping {
            Some(mapping) => mapping.read_warned(self.input, self.skew, self.warnings)?,
            None => super::read_skewed(self.input, self.format, self.skew)?,
        };
        match self.tuples {
            Some(tuples) => tuples.take_apart(history),
            None => Ok(history),
        }
    }

    /// Reads the history, and keeps only the numbers of its operations and results. Returns the fault of the first
    /// operation that has no number if there is one, and an error if the file cannot be read.
    #[cfg(feature = "named")]
    pub(crate) fn numbered(
        &mut self,
        numbers: &mut dyn Numbers,
    ) -> Result<Result<NumberedHistory, Unnumbered>, CodecError> {
        let Self { input, format, mapping, tuples, skew, warnings } = self;
        let tuples = *tuples;
        let raw = match (mapping, tuples) {
            (Some(mapping), None) => {
                let (numbering, history) = mapping.read_into(input, *skew, Numbering::new(numbers), None, warnings)?;
                return Ok(numbering.finish(&history).map_or(Ok(history), Err));
            }
            (Some(mapping), Some(_)) => mapping.read_warned(input, *skew, warnings)?,
            (None, _) => {
                let mut start = Vec::new();
                if *format == Format::Auto {
                    let read = (&mut *input).take(LOOKED_AT).read_to_end(&mut start);
                    read.map_err(|error| CodecError::io(0, error))?;
                    *format = detect(&start).unwrap_or(Format::Jsonl);
                }
                let mut input = start.as_slice().chain(input);
                if *format == Format::Jsonl && tuples.is_none() {
                    let file = jsonl::File::with(Numbering::new(numbers), None);
                    let (numbering, history) = jsonl::read_into(&mut input, *skew, file)?;
                    return Ok(numbering.finish(&history).map_or(Ok(history), Err));
                }
                read_as(input, *format, *skew)?
            }
        };
        let raw = match tuples {
            Some(tuples) => tuples.take_apart(raw)?,
            None => raw,
        };
        Ok(intake::numbered(&raw, numbers))
    }
}
