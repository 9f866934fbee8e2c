//! Histories as files.
//!
//! A codec reads a file into a [`RawHistory`](super::RawHistory), whose operations are names and values; a
//! specification reads those. Every fault of a file is a [`CodecError`] that names the line and says what to do: no
//! input may panic, overflow the stack, or take memory that its size does not justify.

mod edn;
mod events;
mod field;
pub mod jepsen_edn;
pub mod jepsen_log;
mod json;
pub mod jsonl;
mod lines;
pub mod porcupine;
pub mod start_finish;

use std::io;
use std::sync::Arc;

use super::HistoryError;

/// The longest line that is read, in bytes.
pub const LONGEST_LINE: usize = 16 << 20;

/// How deep lists in values may be nested.
pub const DEEPEST_NESTING: usize = 64;

/// What is wrong with a file, and on which line.
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

    fn io(line: u32, error: io::Error) -> Self {
        let line = (line > 0).then_some(line as usize);
        Self { line, message: format!("cannot read: {error}"), source: Some(Arc::new(error)) }
    }

    /// The line that is wrong, counted from 1; `None` if the fault belongs to no line.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// What is wrong and what to do, without the line.
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
