//! Reads and writes histories as files.
//!
//! A codec reads a file into a [`RawHistory`], whose operations are names and values; a
//! specification interprets them. [`read`] takes a format or detects it; [`write()`] writes the
//! formats of [`Target`]. Every error in a file is a [`CodecError`] with the line and advice on
//! what to do. No input causes a panic, overflows the stack, or needs memory out of proportion to
//! its size.
//!
//! A file is read by one thread. When JSON lines are read, parsing takes less than half of the time. The rest of the
//! time is spent on numbering operations and ordering events. This work cannot be divided among threads. Handing parsed
//! lines from one thread to another would make parsing a third more expensive (measured with an earlier reader). So a
//! second thread would use more CPU time, and save less than half of the elapsed time.
//!
//! | format | codec | looks like |
//! |---|---|---|
//! | [`Jsonl`](Format::Jsonl) | [`jsonl`] | `{"process":0,"type":"invoke","f":"read"}` |
//! | [`Jepsen`](Format::Jepsen) | [`jepsen_edn`] | `[{:process 0, :type :invoke, :f :read} ..]` |
//! | [`JepsenLog`](Format::JepsenLog) | [`jepsen_log`] | `INFO jepsen.util - 0 :invoke :read nil` |
//! | [`PorcupineKv`](Format::PorcupineKv) | [`porcupine`] | `{:process 0, :type :invoke, :f :get, :key "k"}` |
//! | [`PorcupineJson`](Format::PorcupineJson) | [`porcupine`] | `{"ClientId":0,"Input":..,"Call":1,"Output":..,"Return":2}` |
//! | [`Events`](Format::Events) | [`start_finish`] | `{"client":0,"event":"start","op":"read"}` |
//! | [`Csv`](Format::Csv) | [`Mapping::preset`] | `process,f,value,result,call,return` |
//! | [`Parquet`](Format::Parquet) | [`Mapping::preset`] | columns with these names |
//! | [`Arrow`](Format::Arrow) | [`Mapping::preset`] | columns with these names |

#[cfg(feature = "arrow")]
mod arrow;
#[cfg(feature = "_columns")]
mod columns;
mod detect;
mod document;
mod edn;
mod events;
mod field;
mod fields;
mod intake;
pub mod jepsen_edn;
pub mod jepsen_log;
mod json;
pub mod jsonl;
mod lines;
mod live;
pub mod mapping;
mod notes;
#[cfg(feature = "named")]
mod numbering;
#[cfg(feature = "parquet")]
mod parquet;
pub mod porcupine;
mod quick;
mod source;
pub mod start_finish;
mod survey;
mod table;
#[cfg(feature = "named")]
mod templates;
mod tuples;
mod writing;

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use super::{HistoryError, RawHistory};

pub use detect::detect;
#[doc(hidden)]
pub use live::{LiveEnd, LiveLine, LiveReader};
pub use mapping::Mapping;
#[doc(hidden)]
pub use notes::{Note, notes};
#[cfg(feature = "named")]
pub(crate) use numbering::{NumberedHistory, Numbers, OpNumber, RetNumber};
#[doc(hidden)]
pub use source::Source;
#[doc(hidden)]
pub use survey::{Occurrences, Survey, Trap, survey};
pub use tuples::Tuples;
pub use writing::{Target, write};

/// The maximum length of a line, in bytes.
pub const LONGEST_LINE: usize = 16 << 20;

/// The maximum nesting depth of lists in values.
pub const DEEPEST_NESTING: usize = 64;

/// The number of bytes at the beginning of a file from which [`read`] detects its format.
const LOOKED_AT: u64 = 1 << 16;

/// The error messages for files with typed columns, in builds that do not support these files.
#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str =
    "Parquet is not supported by this build of trueline; build it with the feature `parquet`, or use another format";
#[cfg(all(feature = "parquet", not(feature = "arrow")))]
const NO_ARROW: &str =
    "Arrow is not supported by this build of trueline; build it with the feature `arrow`, or use another format";
#[cfg(not(feature = "_columns"))]
const NO_COLUMNS: &str = "Parquet and Arrow are not supported by this build of trueline; build it with the features `parquet` and `arrow`, or use another format";

/// A file format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// The format that [`detect`] recognizes at the beginning of the file, or JSON lines if it
    /// recognizes no format.
    #[default]
    Auto,
    /// JSON lines of events or of whole operations: [`jsonl`].
    Jsonl,
    /// Jepsen's histories in EDN: [`jepsen_edn`].
    Jepsen,
    /// Jepsen's log lines and `history.txt`: [`jepsen_log`].
    JepsenLog,
    /// Porcupine's key-value histories: [`porcupine::read_kv`].
    PorcupineKv,
    /// Porcupine's operations as JSON lines: [`porcupine::read_json`].
    PorcupineJson,
    /// Start and finish events as JSON lines: [`start_finish`].
    Events,
    /// Tables of comma- or tab-separated values, whose columns are named like the fields of JSON
    /// lines: [`Mapping::preset`].
    Csv,
    /// Parquet, whose columns are named like the fields of JSON lines: [`Mapping::preset`]. Reading
    /// it needs the feature `parquet`.
    Parquet,
    /// Arrow IPC files (Feather) and streams, whose columns are named like the fields of JSON
    /// lines: [`Mapping::preset`]. Reading them needs the feature `arrow`.
    Arrow,
}

/// Reads a history in the given format.
///
/// ```
/// use trueline::history::codec::{self, Format};
///
/// let text = b"({:process 0, :type :invoke, :f :read} {:process 0, :type :ok, :f :read, :value 5})";
/// let history = codec::read(&text[..], Format::Auto)?;
/// assert_eq!(history.len(), 1);
/// # Ok::<(), codec::CodecError>(())
/// ```
///
/// # Errors
/// Fails if the file does not have the format, or if its events or operations do not form a history.
pub fn read(input: impl BufRead, format: Format) -> Result<RawHistory, CodecError> {
    read_skewed(input, format, 0)
}

/// Reads a history of whole operations whose times come from several clocks, which may differ by up to `skew`. So an
/// operation precedes another only if it returned more than `skew` before the call of the other: see
/// [`widen`](super::widen).
///
/// # Errors
/// Fails for the same reasons as [`read`]. Also fails if `skew` is positive and the file has ordered events instead of
/// times.
pub fn read_skewed(mut input: impl BufRead, format: Format, skew: i64) -> Result<RawHistory, CodecError> {
    if format != Format::Auto {
        return read_as(input, format, skew);
    }
    let mut start = Vec::new();
    (&mut input).take(LOOKED_AT).read_to_end(&mut start).map_err(|error| CodecError::io(0, error))?;
    let format = detect(&start).unwrap_or(Format::Jsonl);
    read_as(start.as_slice().chain(input), format, skew)
}

fn read_as(input: impl BufRead, format: Format, skew: i64) -> Result<RawHistory, CodecError> {
    match format {
        Format::Jsonl | Format::Auto => jsonl::read_with(input, skew, None),
        Format::PorcupineJson => porcupine::read_json_with(input, skew, None),
        Format::Csv => Mapping::csv().read(input, skew),
        Format::Parquet | Format::Arrow => Mapping::columns().read(input, skew),
        _ if skew > 0 => Err(CodecError::no_times()),
        Format::Jepsen => jepsen_edn::read(input),
        Format::JepsenLog => jepsen_log::read(input),
        Format::PorcupineKv => porcupine::read_kv(input),
        Format::Events => start_finish::read(input),
    }
}

/// An error in a file, with its line, or the reason why a history cannot be written.
///
/// ```
/// use trueline::history::codec::jsonl;
///
/// let error = jsonl::read(&b"{\"process\":0,\"type\":\"ok\",\"f\":\"read\",\"value\":1}"[..]).unwrap_err();
/// assert_eq!(error.line(), Some(1));
/// assert_eq!(error.to_string(), "line 1: process 0 returns, but has no open call; log its call first");
/// ```
#[derive(Clone, Debug)]
pub struct CodecError {
    line: Option<usize>,
    message: String,
    source: Option<Arc<io::Error>>,
}

impl CodecError {
    fn at(line: u32, message: impl Into<String>) -> Self {
        Self { line: Some(line as usize), message: message.into(), source: None }
    }

    fn whole_file(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), source: None }
    }

    /// Returns the error for a file of events that is read with a clock skew. The order of events is already known, so
    /// there are no times to widen.
    fn no_times() -> Self {
        Self::whole_file(
            "a clock skew applies only to whole operations with call and return times (`call` and `return` in JSON lines, or Porcupine's JSON lines); events are ordered by line: leave the clock skew out, or write whole operations",
        )
    }

    fn io(line: u32, error: io::Error) -> Self {
        let line = (line > 0).then_some(line as usize);
        Self { line, message: format!("cannot read: {error}"), source: Some(Arc::new(error)) }
    }

    fn unwritten(error: io::Error) -> Self {
        Self { line: None, message: format!("cannot write: {error}"), source: Some(Arc::new(error)) }
    }

    /// Returns the line of the error, counted from 1, or `None` if the error does not belong to a line.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns the description of the error and what to do, without the line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl std::fmt::Display for CodecError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for CodecError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<HistoryError> for CodecError {
    fn from(error: HistoryError) -> Self {
        Self { line: error.line(), message: error.problem(), source: None }
    }
}
