//! Finds specifications by name, and judges histories with them.

use std::borrow::Cow;
use std::fmt;

use super::families;
use super::family::{AnyFamily, IsJudged};
use super::quasi::QuasiFactors;
use super::table::{SPECS, SpecInfo, nearest};
use crate::history::codec::{CodecError, Source};
use crate::history::{RawHistory, Record, Value};
use crate::judge::{Config, Judged, Specification};

/// Options for reading histories with a named specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub(super) nil_wildcard: bool,
}

impl Options {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether a read of null matches any value of a register. Null then means that the result was not logged.
    #[must_use]
    pub fn nil_wildcard(mut self, yes: bool) -> Self {
        self.nil_wildcard = yes;
        self
    }
}

/// The error that is returned if no specification has the given name, or if the specification
/// cannot read the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedError {
    line: Option<usize>,
    message: String,
}

impl NamedError {
    pub(super) fn new(message: String) -> Self {
        Self::at(None, message)
    }

    pub(super) fn at(line: Option<u32>, message: String) -> Self {
        Self { line: line.map(|line| line as usize), message }
    }

    /// Returns the line of the file that is invalid, if the history came from a file.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns a description of the problem and of how to solve it, without the number of the line.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for NamedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for NamedError {}

impl From<CodecError> for NamedError {
    fn from(error: CodecError) -> Self {
        Self { line: error.line(), message: error.message().to_owned() }
    }
}

/// A history that was read for a specification but has not been judged yet.
#[doc(hidden)]
pub trait Unjudged<'a> {
    /// Returns the number of operations, the number of operations that never returned, and the
    /// number of events.
    fn extent(&self) -> (usize, usize, usize);

    /// Judges the history.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or has an argument or a result of the wrong type.
    fn judge(self: Box<Self>, config: &Config) -> Result<Box<dyn Judged + 'a>, NamedError>;
}

/// A history that has not yet been converted to operations of its specification.
struct Raw<'a> {
    spec: &'a NamedSpec,
    history: RawHistory,
}

impl<'a> Unjudged<'a> for Raw<'a> {
    fn extent(&self) -> (usize, usize, usize) {
        (self.history.len(), self.history.pending(), self.history.events().len())
    }

    fn judge(self: Box<Self>, config: &Config) -> IsJudged<'a> {
        self.spec.judge(self.history, config)
    }
}

/// Returns the specification with this name and parameter, such as `queue` or `register:0`.
///
/// The initial value of a register is an integer, `true`, `false`, `null`, or text. Text such as
/// `5` or `true` must be in double quotes, because it would otherwise be read as a number or a
/// boolean. `bounded-queue:3` has a capacity of 3, and `semaphore:2` has 2 permits.
///
/// # Errors
/// Returns an error if no specification has this name, or if the specification does not accept the
/// parameter or an option.
pub fn spec(name: &str, options: Options) -> Result<NamedSpec, NamedError> {
    let (base, parameter) = match name.split_once(':') {
        Some((base, parameter)) => (base, Some(parameter)),
        None => (name, None),
    };
    let Some(info) = SPECS.iter().find(|info| info.name == base) else {
        let names = || SPECS.iter().map(|info| info.name);
        let hint = match nearest(base, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(NamedError::new(format!(
            "no specification is called `{base}`; {hint} (`trueline specs` lists them)"
        )));
    };
    if options.nil_wildcard && !matches!(info.name, "register" | "cas-register" | "multi-register") {
        return Err(NamedError::new(format!(
            "the nil wildcard applies only to register, cas-register and multi-register, not to `{}`; leave it out",
            info.name
        )));
    }
    let family = families::family(info, parameter, options).map_err(NamedError::new)?;
    Ok(NamedSpec { name: name.to_owned(), info, family, nil_wildcard: options.nil_wildcard })
}

/// A specification that was chosen by its name.
#[derive(Debug)]
pub struct NamedSpec {
    name: String,
    pub(super) info: &'static SpecInfo,
    pub(super) family: Box<dyn AnyFamily>,
    pub(super) nil_wildcard: bool,
}

impl NamedSpec {
    /// Returns the name, with its parameter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the entry of the specification in [`SPECS`].
    pub fn info(&self) -> &'static SpecInfo {
        self.info
    }

    /// Returns whether it matters which process calls an operation. If it does,
    /// [`widen`](crate::history::widen) must not be used, because it moves operations to other
    /// processes.
    #[doc(hidden)]
    pub fn process_matters(&self) -> bool {
        self.family.process_matters()
    }

    /// Reads `history` as a history of this specification, and judges it.
    ///
    /// Takes ownership of the history, so that only one copy of it is in memory while it is judged.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or has an argument or a result of the wrong type.
    pub fn judge(&self, history: RawHistory, config: &Config) -> Result<Box<dyn Judged + '_>, NamedError> {
        Specification::judge(self, Cow::Owned(history), config)
    }

    /// Reads `history` as a history of this specification, and judges whether it is quasi
    /// linearizable with these factors. Returns `None` if the operations of the specification wait
    /// for each other.
    ///
    /// ```
    /// use trueline::history::codec::jsonl;
    /// use trueline::judge::Config;
    /// use trueline::registry::{self, Options};
    ///
    /// let history = jsonl::read(&br#"
    ///     {"process":0,"f":"enqueue","value":1,"call":0,"return":10}
    ///     {"process":0,"f":"enqueue","value":2,"call":20,"return":30}
    ///     {"process":1,"f":"dequeue","result":2,"call":40,"return":50}
    ///     {"process":1,"f":"dequeue","result":1,"call":60,"return":70}
    /// "#[..])?;
    /// let spec = registry::spec("queue", Options::new())?;
    /// let factors = "enqueue=0,dequeue=1".parse()?;
    /// let judged = spec.judge_quasi(history, &factors, &Config::new()).expect("a queue may be out of order")?;
    /// assert!(judged.judgment().verdict.is_accepted());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, has an argument or a result of the wrong type, or has no factor.
    pub fn judge_quasi(
        &self,
        history: RawHistory,
        factors: &QuasiFactors,
        config: &Config,
    ) -> Option<Result<Box<dyn Judged + '_>, NamedError>> {
        self.family.judge_quasi(self.info, history, factors, config)
    }

    /// Reads a file as a history of this specification. This takes less memory than reading a [`RawHistory`] first,
    /// because records are not kept.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if an operation is unknown, or has an argument or a result of the
    /// wrong type.
    #[doc(hidden)]
    pub fn read(&self, mut source: Source<'_>) -> Result<Box<dyn Unjudged<'_> + '_>, NamedError> {
        if let Some(read) = self.family.read(self.info, &mut source) {
            return read;
        }
        Ok(Box::new(Raw { spec: self, history: source.read()? }))
    }

    /// Returns whether [`judge`](Self::judge) judges quasi linearizability instead of
    /// linearizability.
    #[doc(hidden)]
    pub fn is_quasi(&self) -> bool {
        self.family.is_quasi()
    }

    /// Returns all errors in `history`, in the order of the calls. [`judge`](Self::judge) returns only the first one.
    #[doc(hidden)]
    pub fn faults(&self, history: &RawHistory) -> Vec<NamedError> {
        let one_by_one = history.operations().iter().filter_map(|operation| self.family.fault(self.info, operation));
        let faults: Vec<NamedError> = one_by_one.collect();
        // Errors that concern all operations together can be found only if each operation can be read.
        if faults.is_empty() { self.parts(history).err().into_iter().collect() } else { faults }
    }

    /// Divides the history into parts that can be judged separately. Returns the number of each
    /// operation's part, and the name of each part: its object, its key, or both. The name is empty
    /// for an unnamed object that is not divided by key.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or has an argument or a result of the wrong type.
    #[doc(hidden)]
    pub fn parts(&self, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError> {
        self.family.parts(self.info, history)
    }

    /// Returns whether operations wait for each other. If they do, [`Judged::progress`] returns a
    /// verdict.
    #[doc(hidden)]
    pub fn has_progress(&self) -> bool {
        self.family.has_progress()
    }
}

impl Specification<Record, Value> for NamedSpec {
    type Error = NamedError;

    fn judge<'a>(&'a self, history: Cow<'a, RawHistory>, config: &Config) -> IsJudged<'a> {
        self.family.judge(self.info, history, config)
    }

    fn has_progress(&self) -> bool {
        self.family.has_progress()
    }
}
