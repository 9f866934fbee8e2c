//! Specifications that are chosen by name. They convert operations from the form that files contain to operations of a
//! specification, and back.
//!
//! [`SPECS`] lists the names, and describes the operations of each, with their arguments and results. [`spec`] finds
//! one by its name, and [`NamedSpec::judge`] reads a [`RawHistory`] with it and judges it.
//!
//! ```
//! use trueline::history::codec::jsonl;
//! use trueline::judge::Config;
//! use trueline::named::{self, Options};
//!
//! let history = jsonl::read(&br#"
//!     {"process":0,"f":"enqueue","value":1,"call":0,"return":10}
//!     {"process":0,"f":"enqueue","value":2,"call":20,"return":30}
//!     {"process":1,"f":"dequeue","result":2,"call":40,"return":50}
//! "#[..])?;
//! let spec = named::spec("queue", Options::new())?;
//! let judged = spec.judge(history, &Config::new())?;
//! let evidence = judged.judgement().verdict.evidence().expect("2 was not first");
//! assert_eq!(evidence.allowed, ["1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod families;
mod numbered;
mod quasi;
mod sequential;
mod table;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::{self, Debug};
use std::sync::Arc;

use self::numbered::{AnyNumbered, Lend, LentValue, Numbered, NumberedHistory, OpNumber, RetNumber, numbered, show};
use self::sequential::AnyObject;
use crate::history::{History, Operation, Outcome, ProcessId, RawHistory, Record, Shown, Value};
use crate::judge::{Config, Criterion, Judged, Linearizable, Show, Specification, judged};
use crate::spec::Spec;

pub use quasi::{NoFactors, QuasiFactors};
#[doc(hidden)]
pub use sequential::{Choose, NamedObject};
#[doc(hidden)]
pub use table::nearest;
pub use table::{OperationInfo, SPECS, SpecInfo};

/// Options for reading histories with a named specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    nil_wildcard: bool,
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

/// The error if there is no specification with a name, or if it cannot read a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedError {
    line: Option<usize>,
    message: String,
}

impl NamedError {
    fn new(message: String) -> Self {
        Self { line: None, message }
    }

    /// Returns the line of the file that is invalid, if the history came from a file.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Returns what is wrong and what to do about it, without the line.
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

/// Returns the specification with this name and parameter, such as `queue` or `register:0`.
///
/// The initial value of a register is an integer, `true`, `false`, `null`, or text. Text is in double quotes if it
/// would be read as one of the others without them. `bounded-queue:3` has a capacity of 3, and `semaphore:2` has 2
/// permits.
///
/// # Errors
/// Returns an error if there is no specification with this name, or it does not accept the parameter or an option.
pub fn spec(name: &str, options: Options) -> Result<NamedSpec, NamedError> {
    let (base, parameter) = match name.split_once(':') {
        Some((base, parameter)) => (base, Some(parameter)),
        None => (name, None),
    };
    let Some(info) = SPECS.iter().find(|info| info.name == base) else {
        let names = || SPECS.iter().map(|info| info.name);
        let hint = match table::nearest(base, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        return Err(NamedError::new(format!(
            "no specification is called `{base}`; {hint} (`trueline specs` lists them)"
        )));
    };
    if options.nil_wildcard && !matches!(info.name, "register" | "cas-register" | "multi-register") {
        return Err(NamedError::new(format!(
            "the nil wildcard is for reads of register, cas-register and multi-register, and `{}` has none; leave it out",
            info.name
        )));
    }
    let family = families::family(info, parameter, options).map_err(NamedError::new)?;
    Ok(NamedSpec { name: name.to_owned(), info, family })
}

/// A specification that was chosen by its name.
#[derive(Debug)]
pub struct NamedSpec {
    name: String,
    info: &'static SpecInfo,
    family: Box<dyn AnyFamily>,
}

impl NamedSpec {
    /// Returns the name, with its parameter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its entry in the table.
    pub fn info(&self) -> &'static SpecInfo {
        self.info
    }

    /// Returns whether it matters which process calls an operation. Operations must then not be moved to other
    /// processes, as [`widen`](crate::history::widen) does.
    #[doc(hidden)]
    pub fn process_matters(&self) -> bool {
        self.family.process_matters()
    }

    /// Reads `history` as a history of this specification, and judges it.
    ///
    /// It takes ownership of the history, so that only one copy of it is in memory while it is judged.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or has an argument or a result of the wrong type.
    pub fn judge(&self, history: RawHistory, config: &Config) -> Result<Box<dyn Judged + '_>, NamedError> {
        Specification::judge(self, Cow::Owned(history), config)
    }

    /// Reads `history` as a history of this specification, and judges whether it is quasi linearizable with these
    /// factors; `None` if the operations of the specification wait for each other.
    ///
    /// ```
    /// use trueline::history::codec::jsonl;
    /// use trueline::judge::Config;
    /// use trueline::named::{self, Options};
    ///
    /// let history = jsonl::read(&br#"
    ///     {"process":0,"f":"enqueue","value":1,"call":0,"return":10}
    ///     {"process":0,"f":"enqueue","value":2,"call":20,"return":30}
    ///     {"process":1,"f":"dequeue","result":2,"call":40,"return":50}
    ///     {"process":1,"f":"dequeue","result":1,"call":60,"return":70}
    /// "#[..])?;
    /// let spec = named::spec("queue", Options::new())?;
    /// let factors = "enqueue=0,dequeue=1".parse()?;
    /// let judged = spec.judge_quasi(history, &factors, &Config::new()).expect("a queue may be out of order")?;
    /// assert!(judged.judgement().verdict.is_accepted());
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

    /// Returns whether [`judge`](Self::judge) judges quasi linearizability.
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

    /// Divides the history into parts that can be judged separately. Returns the number of each operation's part, and
    /// the name of each part, which is empty if there is only one.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or has an argument or a result of the wrong type.
    #[doc(hidden)]
    pub fn parts(&self, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError> {
        self.family.parts(self.info, history)
    }

    /// Returns whether operations wait for each other, so that [`Judged::progress`] has an answer.
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

/// The judged history, or the reason why it cannot be read.
type IsJudged<'a> = Result<Box<dyn Judged + 'a>, NamedError>;

/// A specification, with the notation of its operations in files.
trait Family: Debug + Send + Sync + 'static {
    type Spec: Typed;
    type Written: Written<Op = Op<Self>, Ret = Ret<Self>>;

    fn spec(&self) -> &Self::Spec;

    /// Returns whether the process that calls an operation matters.
    fn process_matters(&self) -> bool;

    /// Returns the function that decides questions that depend on the whole history, once it has been read, if there
    /// are any.
    fn settle(&self) -> Option<Settle<Self::Spec>>;
}

/// The notation of a specification's operations and results in files.
trait Written: Spec {
    /// Reads an operation. `process` is the process that calls it, if that matters; `name` is its name in the table.
    fn read_op(name: &str, process: Option<ProcessId>, record: &Record) -> Result<Self::Op, String>;

    /// Reads the result of `op`; the operation itself was read from `record`.
    fn read_ret(record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String>;

    /// Formats the operation for reports.
    fn show_op(op: &Self::Op) -> Record;

    /// Formats the result for reports.
    fn show_ret(ret: &Self::Ret) -> String;

    /// Returns the result of `record` as files give it.
    fn write_ret(_record: &Record, ret: &Self::Ret) -> Value {
        sequential::value_of(&Self::show_ret(ret))
    }
}

/// The notation in files of a specification whose operations wait for each other, as [`Family`] is for other
/// specifications.
trait SyncFamily: Debug + Send + Sync + 'static {
    type Op: Clone + Debug + Send + Sync + 'static;
    type Ret: Clone + Eq + Debug + Send + Sync + 'static;

    /// Returns the criterion that its histories must satisfy.
    fn criterion(&self) -> impl Criterion<Op = Self::Op, Ret = Self::Ret>;

    fn read_op(&self, name: &str, process: ProcessId, record: &Record) -> Result<Self::Op, String>;

    fn read_ret(&self, record: &Record, op: &Self::Op, result: &Value) -> Result<Self::Ret, String>;

    fn show_op(op: &Self::Op) -> Record;

    fn show_ret(ret: &Self::Ret) -> String;

    /// Returns the object, if each operation takes effect in one step.
    fn object(&self) -> Option<Box<dyn AnyObject + '_>>;
}

/// A specification whose types [`Numbered`] can hide.
trait Typed: Spec<Op: 'static, Ret: 'static, State: 'static, Key: 'static, Value: Lend> {}

impl<S: Spec<Op: 'static, Ret: 'static, State: 'static, Key: 'static, Value: Lend>> Typed for S {}

type Op<F> = <<F as Family>::Spec as Spec>::Op;
type Ret<F> = <<F as Family>::Spec as Spec>::Ret;
/// The values of a family's standard operations, as [`Numbered`] represents them.
type Lent<F> = <<<F as Family>::Spec as Spec>::Value as Lend>::As;

/// Decides how the results of a history are read, from all its operations with their results.
type Settle<S> = fn(&S, &[(&<S as Spec>::Op, Option<&<S as Spec>::Ret>)]) -> Settled<<S as Spec>::Ret>;

/// The function that corrects each result as it was read first; `None` if the results are correct already. An error if
/// the history cannot be judged.
type Settled<Ret> = Result<Option<fn(&Ret) -> Ret>, String>;

/// A [`Family`] without its types.
trait AnyFamily: Debug + Send + Sync {
    fn process_matters(&self) -> bool;
    fn judge(&self, info: &'static SpecInfo, history: Cow<'_, RawHistory>, config: &Config) -> IsJudged<'_>;
    /// Judges quasi linearizability; `None` if operations wait for each other.
    fn judge_quasi(
        &self,
        _info: &'static SpecInfo,
        _history: RawHistory,
        _factors: &QuasiFactors,
        _config: &Config,
    ) -> Option<IsJudged<'_>> {
        None
    }
    fn has_progress(&self) -> bool {
        false
    }
    /// Returns whether `judge` judges quasi linearizability.
    fn is_quasi(&self) -> bool {
        false
    }
    /// Returns the reason why an operation cannot be read, if it cannot.
    fn fault(&self, info: &SpecInfo, operation: &Operation<Record, Value>) -> Option<NamedError>;
    fn parts(&self, info: &SpecInfo, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError>;
    fn object(&self) -> Option<Box<dyn AnyObject + '_>>;
}

/// Adapts a [`SyncFamily`] to [`AnyFamily`].
#[derive(Debug)]
struct Synchronising<F>(F);

impl<F: SyncFamily> Synchronising<F> {
    fn read(&self, info: &SpecInfo, history: &RawHistory) -> Result<History<F::Op, F::Ret>, NamedError> {
        history.try_map(|operation| self.read_one(info, operation))
    }

    fn read_one(
        &self,
        info: &SpecInfo,
        operation: &Operation<Record, Value>,
    ) -> Result<(F::Op, Outcome<F::Ret>), NamedError> {
        let Self(family) = self;
        let read_op = |name: &str, process, record: &Record| family.read_op(name, process, record);
        read(info, operation, read_op, |record, op, result| family.read_ret(record, op, result))
    }
}

impl<F: SyncFamily> AnyFamily for Synchronising<F> {
    fn judge(&self, info: &'static SpecInfo, history: Cow<'_, RawHistory>, config: &Config) -> IsJudged<'_> {
        let typed = self.read(info, &history)?;
        drop(history);
        let show = Show::by(|op| Shown::Record(F::show_op(op)), F::show_ret);
        Ok(judged(self.0.criterion(), show, typed, config))
    }

    fn has_progress(&self) -> bool {
        true
    }

    fn process_matters(&self) -> bool {
        // Executions that synchronize may be distinguished by their process.
        true
    }

    fn fault(&self, info: &SpecInfo, operation: &Operation<Record, Value>) -> Option<NamedError> {
        self.read_one(info, operation).err()
    }

    fn parts(&self, info: &SpecInfo, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError> {
        self.read(info, history)?;
        Ok(by_object(history))
    }

    fn object(&self) -> Option<Box<dyn AnyObject + '_>> {
        self.0.object()
    }
}

impl<F: Family> AnyFamily for F {
    fn judge(&self, info: &'static SpecInfo, history: Cow<'_, RawHistory>, config: &Config) -> IsJudged<'_> {
        let (spec, numbered) = read_all(self, info, &history)?;
        drop(history);
        Ok(judge_numbered(spec, numbered, config))
    }

    fn process_matters(&self) -> bool {
        Family::process_matters(self)
    }

    fn judge_quasi(
        &self,
        info: &'static SpecInfo,
        history: RawHistory,
        factors: &QuasiFactors,
        config: &Config,
    ) -> Option<IsJudged<'_>> {
        Some(judge_quasi(self, info, Cow::Owned(history), factors, config))
    }

    fn fault(&self, info: &SpecInfo, operation: &Operation<Record, Value>) -> Option<NamedError> {
        read_one(&mut *numbered(self), info, operation).err()
    }

    fn parts(&self, info: &SpecInfo, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError> {
        let (spec, numbered) = read_all(self, info, history)?;
        Ok(numbered_parts(&*spec, history, &numbered))
    }

    fn object(&self) -> Option<Box<dyn AnyObject + '_>> {
        Some(Box::new(sequential::OneAtATime::new(self)))
    }
}

/// Reads a history as the family does.
fn read_all<'f, F: Family>(
    family: &'f F,
    info: &SpecInfo,
    history: &RawHistory,
) -> Result<(AnyNumbered<'f, Lent<F>>, NumberedHistory), NamedError> {
    let mut spec = numbered(family);
    let history = read_numbered(&mut *spec, info, history)?;
    Ok((Arc::from(spec), history))
}

fn read_numbered<V: LentValue>(
    spec: &mut dyn Numbered<V>,
    info: &SpecInfo,
    history: &RawHistory,
) -> Result<NumberedHistory, NamedError> {
    let numbered = history.try_map(|operation| read_one(spec, info, operation))?;
    spec.settle(numbered).map_err(NamedError::new)
}

/// Reads an operation as the family does.
fn read_one<V: LentValue>(
    spec: &mut dyn Numbered<V>,
    info: &SpecInfo,
    operation: &Operation<Record, Value>,
) -> Result<(OpNumber, Outcome<RetNumber>), NamedError> {
    let spec = RefCell::new(spec);
    let read_op = |name: &str, process, record: &Record| spec.borrow_mut().read_op(name, process, record);
    read(info, operation, read_op, |record, op, result| spec.borrow_mut().read_ret(record, *op, result))
}

/// Judges linearizability.
fn judge_numbered<'f, V: LentValue>(
    spec: AnyNumbered<'f, V>,
    history: NumberedHistory,
    config: &Config,
) -> Box<dyn Judged + 'f> {
    let show = show(&spec);
    judged(Linearizable(spec), show, history, config)
}

/// Reads a history as the family does, and judges whether it is quasi linearizable.
fn judge_quasi<'f, F: Family>(
    family: &'f F,
    info: &'static SpecInfo,
    history: Cow<'_, RawHistory>,
    factors: &QuasiFactors,
    config: &Config,
) -> IsJudged<'f> {
    let (spec, numbered) = read_all(family, info, &history)?;
    drop(history);
    quasi::judge_numbered(spec, info, numbered, factors, config)
}

/// Numbers the parts of a history by object and key.
fn numbered_parts<V: LentValue>(
    spec: &dyn Numbered<V>,
    history: &RawHistory,
    numbered: &NumberedHistory,
) -> (Vec<usize>, Vec<String>) {
    let operations = numbered.operations();
    let key = |operation: &Operation<OpNumber, RetNumber>| {
        spec.key(&operation.op, operation.outcome.result()).map(|key| key as usize)
    };
    parts(history, operations.iter().map(key).collect(), &|index| {
        let Record { key, value, .. } = spec.show_op(operations[index].op);
        key.unwrap_or(value).to_string()
    })
}

/// Numbers the parts of a history in which each object is one part.
fn by_object(history: &RawHistory) -> (Vec<usize>, Vec<String>) {
    parts(history, vec![None; history.len()], &|_| String::new())
}

/// Numbers the parts of a history: by object, and also by key if all operations of the object have one. `name` returns
/// the name of an operation's key.
fn parts(history: &RawHistory, keys: Vec<Option<usize>>, name: &dyn Fn(usize) -> String) -> (Vec<usize>, Vec<String>) {
    let mut is_whole = vec![false; history.object_count()];
    for (operation, key) in history.operations().iter().zip(&keys) {
        is_whole[operation.object.index()] |= key.is_none();
    }
    let mut numbers = HashMap::new();
    let mut names = Vec::new();
    let numbered = history.operations().iter().zip(keys).enumerate().map(|(index, (operation, key))| {
        let object = operation.object;
        let key = key.filter(|_| !is_whole[object.index()]);
        let has_key = key.is_some();
        *numbers.entry((object, key)).or_insert_with(|| {
            let object = history.object_name(object).unwrap_or_default();
            names.push(match (object, has_key) {
                (object, false) => object.to_owned(),
                ("", true) => name(index),
                (object, true) => format!("{object} {}", name(index)),
            });
            names.len() - 1
        })
    });
    (numbered.collect(), names)
}

/// Reads an operation and its outcome, or returns the line and the error.
fn read<Op, Ret>(
    info: &SpecInfo,
    operation: &Operation<Record, Value>,
    read_op: impl FnOnce(&str, ProcessId, &Record) -> Result<Op, String>,
    read_ret: impl FnOnce(&Record, &Op, &Value) -> Result<Ret, String>,
) -> Result<(Op, Outcome<Ret>), NamedError> {
    let record = &operation.op;
    let fault = |line: Option<u32>, message: String| NamedError { line: line.map(|line| line as usize), message };
    let at_call = |message| fault(operation.call_line(), message);
    let Some(known) = info.operation(&record.f) else { return Err(at_call(unknown_operation(info, &record.f))) };
    let op = read_op(known.name, operation.process, record).map_err(at_call)?;
    let read_ret = |result: &Value| {
        read_ret(record, &op, result)
            .map_err(|message| fault(operation.return_line().or(operation.call_line()), message))
    };
    let outcome = match &operation.outcome {
        Outcome::Pending => Outcome::Pending,
        Outcome::Returned(result) => Outcome::Returned(read_ret(result)?),
        Outcome::Optional(result) => Outcome::Optional(read_ret(result)?),
    };
    Ok((op, outcome))
}

fn unknown_operation(info: &SpecInfo, f: &str) -> String {
    let names = info.operations.iter().map(|operation| operation.name);
    let aliases = info.operations.iter().flat_map(|operation| operation.aliases.iter().copied());
    let hint = match table::nearest(f, names.clone().chain(aliases)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => match SPECS.iter().find(|other| other.operation(f).is_some()) {
            Some(other) => format!("`{}` has it: is that the spec?", other.name),
            None => "correct the name, or give another spec (`trueline specs` lists them)".to_owned(),
        },
    };
    let f: String = f.chars().take(40).collect();
    format!("`{}` has no operation {f:?}, only {}; {hint}", info.name, names.collect::<Vec<_>>().join(", "))
}

#[cfg(all(test, feature = "json"))]
mod tests {
    use super::*;
    use crate::history::codec::jsonl;
    use crate::verdict::{Judgement, Verdict};

    fn judge(name: &str, text: &str) -> Result<Judgement<String>, NamedError> {
        let history = jsonl::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error} in {text}"));
        Ok(spec(name, Options::new())?.judge(history, &Config::new())?.judgement().clone())
    }

    /// Writes operations that are called one after another. Each is given by its function and argument (as fields of a
    /// JSON object) and its result.
    fn sequential(operations: &[(&str, &str)]) -> String {
        let mut text = String::new();
        for (index, (call, result)) in operations.iter().enumerate() {
            let (from, to) = (index * 10, index * 10 + 5);
            text += &format!("{{\"process\":0,{call},\"result\":{result},\"call\":{from},\"return\":{to}}}\n");
        }
        text
    }

    /// Returns whether the operations are legal one after another.
    fn legal(name: &str, operations: &[(&str, &str)]) -> bool {
        let judged = judge(name, &sequential(operations)).unwrap_or_else(|error| panic!("{error} in {operations:?}"));
        match &judged.verdict {
            Verdict::Accepted(_) => true,
            Verdict::Rejected(_) => false,
            Verdict::Unknown(limit) => panic!("{limit}"),
        }
    }

    fn fault(name: &str, operations: &[(&str, &str)]) -> String {
        judge(name, &sequential(operations)).expect_err("it is wrong").to_string()
    }

    #[test]
    fn every_operation_of_the_table_is_read() {
        let values = ["[1,[1,2]]", "1", "[1,2]", r#"["k","v"]"#, r#"[["w",1,2]]"#];
        for info in SPECS {
            let parameter = if info.parameter.starts_with(':') { ":2" } else { "" };
            let spec = spec(&format!("{}{parameter}", info.name), Options::new()).expect("it is in the table");
            for operation in info.operations {
                for name in operation.aliases.iter().chain([&operation.name]) {
                    for name in [(*name).to_owned(), format!(":{name}"), name.replace('-', "_")] {
                        let read = values.iter().find_map(|value| {
                            let text = format!(r#"{{"process":0,"type":"invoke","f":"{name}","value":{value}}}"#);
                            let history = jsonl::read(text.as_bytes()).expect("it is well formed");
                            spec.judge(history, &Config::new()).ok()
                        });
                        let shown = read.unwrap_or_else(|| panic!("{name} of {} takes no value", info.name)).history();
                        let Shown::Record(record) = &shown.operations()[0].op else { panic!("files have records") };
                        assert_eq!(&*record.f, operation.name);
                    }
                }
            }
        }
    }

    #[test]
    fn registers() {
        let read = r#""f":"read""#;
        assert!(legal("register", &[(read, "null"), (r#""f":":w","value":7"#, "\"whatever\""), (read, "7")]));
        assert!(legal("register:0", &[(read, "0")]));
        assert!(!legal("register:0", &[(read, "\"0\"")]));
        assert!(legal("register:\"0\"", &[(read, "\"0\"")]));
        assert!(legal("register:foo", &[(read, "\"foo\"")]));
        assert!(legal("cas-register:true", &[(read, "true")]));
        let cas = r#""f":"cas","value":[1,2]"#;
        assert!(legal("cas-register:1", &[(cas, "true"), (cas, "false"), (read, "2")]));
        assert!(legal("cas-register:1", &[(cas, "[1,2]"), (read, "2")]));
        assert!(!legal("cas-register:3", &[(cas, "[1,2]")]));
        assert!(fault("cas-register", &[(cas, "null")]).contains("line 1: cas([1,2]) returned null"));
        assert!(fault("cas-register", &[(r#""f":"cas","value":1"#, "true")]).contains("needs a list of two"));
    }

    #[test]
    fn multi_registers() {
        let both = r#""f":"txn","value":[["read","x",null],[":r","y"]]"#;
        let write = r#""f":"txn","value":[["w","x",1],["write","y",2]]"#;
        let found = |x, y| format!(r#"[["read","x",{x}],["r","y",{y}]]"#);
        assert!(legal("multi-register:0", &[(both, &found(0, 0)), (write, "null"), (both, &found(1, 2))]));
        assert!(legal("multi-register:0", &[(write, r#"[["w","x",1],["w","y",2]]"#), (both, &found(1, 2))]));
        assert!(!legal("multi-register:0", &[(write, "null"), (both, &found(1, 0))]));
        assert!(legal("multi-register", &[(both, r#"[["read","x",null],["r","y",null]]"#)]));
        assert!(fault("multi-register", &[(both, "null")]).contains("list of reads and writes"));
        assert!(fault("multi-register", &[(both, r#"[["r","x",1]]"#)]).contains("its own list"));
        assert!(fault("multi-register", &[(write, r#"[["w","x",1],["w","y",3]]"#)]).contains("its own list"));
        for bad in ["1", r#"["r","x",null]"#, r#"[["r"]]"#, r#"[["w","x"]]"#, r#"[["append","x",1]]"#, r#"[[1,2,3]]"#] {
            let call = format!(r#""f":"txn","value":{bad}"#);
            assert!(fault("multi-register", &[(&call, "null")]).contains("list of reads and writes"), "{bad}");
        }
        let history = jsonl::read(sequential(&[(both, &found(1, 1))]).as_bytes()).expect("well formed");
        let spec = spec("multi-register:0", Options::new()).expect("it is in the table");
        let judged = spec.judge(history, &Config::new()).expect("well typed");
        assert_eq!(judged.history().operations()[0].op.to_string(), r#"txn([["read","x",null],["read","y",null]])"#);
        assert_eq!(judged.judgement().verdict.evidence().expect("0 and 0").allowed, ["[0,0]"]);
    }

    #[test]
    fn arrays_and_cells() {
        let write = r#""f":"write","value":[2,7]"#;
        assert!(legal("array:0", &[(write, "null"), (r#""f":"read","value":2"#, "7"), (r#""f":"r","key":1"#, "0")]));
        assert!(legal("array", &[(write, "null"), (r#""f":"read","value":[2,null]"#, "[2,7]")]));
        assert!(!legal("array", &[(r#""f":"read","value":2"#, "7")]));
        assert!(fault("array", &[(r#""f":"read","value":-1"#, "7")]).contains("not negative"));
        assert!(fault("array", &[(r#""f":"write","value":["a",1]"#, "7")]).contains("use the spec `map`"));
        assert!(fault("array", &[(r#""f":"write","value":1"#, "7")]).contains("needs a key too"));
        let (set, get, init) = (r#""f":"set","value":1"#, r#""f":"get""#, r#""f":"get-or-init","value":2"#);
        assert!(legal("once-cell", &[(get, "null"), (set, "true"), (set, "false"), (init, "1"), (get, "1")]));
        assert!(!legal("once-cell", &[(init, "2"), (set, "true")]));
        assert!(fault("once-cell", &[(set, "1")]).contains("true or false"));
        assert!(fault("once-cell", &[(r#""f":"set""#, "true")]).contains("give the element"));
    }

    #[test]
    fn counters() {
        let (add, inc, dec, read) =
            (r#""f":"add","value":5"#, r#""f":"inc""#, r#""f":":decrement","value":2"#, r#""f":"read""#);
        assert!(legal("counter", &[(add, "5"), (inc, "null"), (dec, "null"), (read, "4")]));
        assert!(legal("counter:-3", &[(read, "-3")]));
        assert!(!legal("counter", &[(add, "null"), (read, "0")]));
        assert!(fault("counter", &[(r#""f":"add""#, "null")]).contains("needs a number to add"));
        assert!(fault("counter", &[(read, "null")]).contains("must return a number"));
        let (add, inc) = (r#""f":"faa","value":5"#, r#""f":"get-and-inc""#);
        assert!(legal("fetch-add:2", &[(add, "2"), (inc, "7"), (read, "8")]));
        assert!(!legal("fetch-add", &[(inc, "0"), (inc, "0")]));
    }

    #[test]
    fn strings_by_key() {
        let (put, append, get) =
            (r#""f":"put","key":"k","value":"a""#, r#""f":"append","value":["k","b"]"#, r#""f":"get","key":"k""#);
        assert!(legal("kv", &[(get, r#""""#), (put, "null"), (append, "\"b\""), (get, r#""ab""#)]));
        assert!(legal("kv", &[(put, "null"), (r#""f":"get","value":["k",null]"#, r#"["k","a"]"#)]));
        assert!(!legal("kv", &[(append, "null"), (put, "null"), (get, r#""ba""#)]));
        assert!(fault("kv", &[(r#""f":"put","value":["k",1]"#, "null")]).contains("holds strings"));
        assert!(fault("kv", &[(get, "null")]).contains("use the spec `map`"));
    }

    #[test]
    fn nil_wildcard() {
        let read = r#""f":"read""#;
        let txn = r#""f":"txn","value":[["r","x",null],["r","y",null]]"#;
        let wild_txn = r#"[["r","x",5],["r","y",null]]"#;
        for (name, call, unknown, known) in [
            ("register:5", read, "null", "5"),
            ("cas-register:5", read, "null", "5"),
            ("multi-register:5", txn, wild_txn, r#"[["r","x",5],["r","y",5]]"#),
        ] {
            let spec = spec(name, Options::new().nil_wildcard(true)).expect("they have it");
            let text = sequential(&[(call, unknown), (call, known)]);
            let judged = spec.judge(jsonl::read(text.as_bytes()).expect("well formed"), &Config::new());
            assert!(judged.expect("well typed").judgement().verdict.is_accepted(), "{name}");
            assert!(!legal(name, &[(call, unknown)]));
        }
        assert!(spec("queue", Options::new().nil_wildcard(true)).is_err());
    }

    #[test]
    fn sets() {
        let (add, remove, contains) =
            (r#""f":"add","value":1"#, r#""f":"remove","value":1"#, r#""f":"contains","value":1"#);
        assert!(legal("set", &[(add, "true"), (add, "false"), (contains, "true"), (remove, "true")]));
        assert!(legal(
            "set",
            &[(add, "true"), (r#""f":"size""#, "1"), (r#""f":"clear""#, "null"), (contains, "false")]
        ));
        assert!(!legal("set", &[(add, "false")]));
        assert!(fault("set", &[(add, "1")]).contains("must return true or false"));
        assert!(fault("set", &[(r#""f":"size""#, "-1")]).contains("not negative"));
    }

    #[test]
    fn containers() {
        let (enqueue, dequeue, peek) = (r#""f":"enq","value":1"#, r#""f":"deq""#, r#""f":"peek""#);
        assert!(legal("queue", &[(enqueue, "1"), (peek, "1"), (dequeue, "1"), (dequeue, "null")]));
        assert!(!legal("queue", &[(dequeue, "1")]));
        assert!(fault("queue", &[(enqueue, "false")]).contains("returned false"));
        assert!(fault("queue", &[(r#""f":"enq""#, "null")]).contains("give the element"));
        let (push, pop, top) = (r#""f":"push","value":1"#, r#""f":"pop""#, r#""f":"top""#);
        assert!(legal("stack", &[(push, "null"), (top, "1"), (pop, "1"), (pop, "null")]));
        let (add, remove) = (r#""f":"add","value":1"#, r#""f":"remove-any""#);
        assert!(legal("bag", &[(add, "null"), (remove, "1"), (remove, "null")]));
    }

    #[test]
    fn containers_that_tell_more() {
        let (enqueue, dequeue) = (r#""f":"enqueue","value":1"#, r#""f":"dequeue""#);
        assert!(legal("bounded-queue:2", &[(enqueue, "true"), (enqueue, "1"), (enqueue, "false"), (dequeue, "1")]));
        assert!(!legal("bounded-queue:1", &[(enqueue, "null"), (enqueue, "true")]));
        assert!(!legal("bounded-queue:1", &[(enqueue, "false")]));
        assert!(fault("bounded-queue:1", &[(enqueue, "7")]).contains("true or false"));
        assert!(fault("bounded-queue:1", &[(r#""f":"enqueue","value":false"#, "false")]).contains("other values"));
        let (push, pop) = (r#""f":"push","value":7"#, r#""f":"pop""#);
        assert!(legal("stack-heights", &[(push, "0"), (push, "1"), (pop, "[2,7]"), (pop, "[1,7]"), (pop, "0")]));
        assert!(legal("stack-heights", &[(pop, "null"), (pop, "[0,null]")]));
        assert!(!legal("stack-heights", &[(push, "0"), (push, "1"), (pop, "[1,7]")]));
        assert!(fault("stack-heights", &[(push, "null")]).contains("not negative"));
        assert!(fault("stack-heights", &[(pop, "7")]).contains("[height value]"));
        let (add, remove, count) = (r#""f":"add","value":1"#, r#""f":"remove","value":1"#, r#""f":"count","value":1"#);
        assert!(legal("multiset", &[(add, "null"), (add, "1"), (count, "2"), (remove, "true"), (count, "1")]));
        assert!(!legal("multiset", &[(remove, "true")]));
        assert!(!legal("multiset", &[(count, "99999999999")]));
    }

    #[test]
    fn containers_with_ends() {
        let (front, back) = (r#""f":"push-front","value":1"#, r#""f":"push_back","value":2"#);
        let pops = [(r#""f":"peek-back""#, "2"), (r#""f":"pop-front""#, "1"), (r#""f":"pop-front""#, "2")];
        assert!(legal("deque", &[&[(back, "null"), (front, "null")], &pops[..]].concat()));
        assert!(!legal("deque", &[(back, "null"), (front, "null"), (r#""f":"pop-back""#, "1")]));
        let insert = |value| format!(r#""f":"insert","value":{value}"#);
        let (nine, ten, delete) = (insert("[9,\"b\"]"), insert("[10,\"a\"]"), r#""f":"delete-min""#);
        let inserts = [(&*ten, "null"), (&*nine, "null")];
        assert!(legal("priority-queue", &[&inserts, &[(delete, "[9,\"b\"]")][..]].concat()));
        assert!(!legal("priority-queue", &[&inserts, &[(delete, "[10,\"a\"]")][..]].concat()));
        let (append, read) = (|value| format!(r#""f":"append","value":{value}"#), r#""f":"read""#);
        let (a, b, c) = (append("\"a\""), append("5"), append("6"));
        let appends = [(&*a, "0"), (&*b, "1"), (&*c, "2")];
        assert!(legal("log", &[&appends, &[(read, "[\"a\",5,6]"), (r#""f":"size""#, "3")][..]].concat()));
        assert!(!legal("log", &[&appends, &[(read, "[\"a\",6,5]")][..]].concat()));
        assert!(!legal("log", &[(&a, "1")]));
        assert!(legal("log", &[(&b, "5"), (&c, "null"), (&a, "\"a\"")]));
        assert!(!legal("log", &[(&a, "0"), (&append("0"), "0")]));
        assert!(legal("log", &[(&a, "0"), (&c, "null"), (&b, "2")]));
        assert!(fault("log", &[(read, "null")]).contains("[] for none"));
        assert!(fault("log", &[(&a, "\"b\"")]).contains("not negative"));
        assert!(fault("log", &[(&a, "false")]).contains("always succeeds"));
        let judged = judge("log", &sequential(&[(&a, "0"), (read, "[]")])).expect("well typed");
        assert_eq!(judged.verdict.evidence().expect("it is not empty").allowed, ["[\"a\"]"]);
    }

    #[test]
    fn locks() {
        let (read, write) = (r#""f":"read-lock""#, r#""f":"write-lock""#);
        let (try_read, try_write) = (r#""f":"try-read-lock""#, r#""f":"try_write_lock""#);
        let (end_read, end_write) = (r#""f":"read-unlock""#, r#""f":"write-unlock""#);
        let readers = [(read, "null"), (try_read, "true"), (try_write, "false"), (end_read, "null")];
        assert!(legal("rwlock", &[&readers, &[(end_read, "true"), (write, "true"), (end_write, "null")][..]].concat()));
        assert!(!legal("rwlock", &[&readers, &[(write, "null")][..]].concat()));
        assert!(fault("rwlock", &[(write, "false")]).contains("call one that may fail `try-write-lock`"));
        let (acquire, attempt, release) = (r#""f":"acquire""#, r#""f":"try-acquire""#, r#""f":"release""#);
        assert!(legal("semaphore:2", &[(acquire, "null"), (attempt, "true"), (attempt, "false"), (release, "null")]));
        assert!(!legal("semaphore:1", &[(acquire, "null"), (acquire, "null")]));
        assert!(legal("semaphore:0", &[(release, "null"), (acquire, "null")]));
        assert!(fault("semaphore:1", &[(attempt, "null")]).contains("true or false"));
        assert!(legal("mutex", &[(attempt, "true"), (attempt, "false"), (release, "null"), (acquire, "null")]));
        assert!(!legal("mutex:owned", &[(attempt, "false")]));
    }

    #[test]
    fn mutexes() {
        let (acquire, release) = (r#""f":"lock""#, r#""f":"unlock""#);
        assert!(legal("mutex", &[(acquire, "null"), (release, "null"), (acquire, "true")]));
        assert!(!legal("mutex", &[(acquire, "null"), (acquire, "null")]));
        assert!(fault("mutex", &[(acquire, "false")]).contains("log what did not happen as `fail`"));
        let other_releases = r#"{"process":0,"f":"acquire","call":1,"return":2}
                                {"process":1,"f":"release","call":3,"return":4}"#;
        let accepts = |name| judge(name, other_releases).expect("well typed").verdict.is_accepted();
        assert!(accepts("mutex"));
        assert!(!accepts("mutex:owned"));
    }

    #[test]
    fn maps() {
        let get = r#""f":"get","key":"k""#;
        assert!(legal("map", &[(get, "null"), (r#""f":"put","key":"k","value":1"#, "null"), (get, "1")]));
        assert!(legal("map", &[(r#""f":"put","value":["k",1]"#, "[\"k\",1]"), (r#""f":"get","value":"k""#, "1")]));
        assert!(legal(
            "map",
            &[(r#""f":"put","value":["k",1]"#, "null"), (r#""f":"read","value":["k",null]"#, "[\"k\",1]")]
        ));
        // The call did not give its key in a pair, so a pair as its result is a value.
        assert!(!legal("map", &[(r#""f":"put","value":["k",1]"#, "null"), (get, "[\"k\",1]")]));
        assert!(legal("map", &[(r#""f":"put","key":"k","value":["k",1]"#, "null"), (get, "[\"k\",1]")]));
        let absent = r#""f":"cas","key":"k","value":[null,1]"#;
        assert!(legal(
            "map",
            &[(absent, "true"), (absent, "false"), (r#""f":"cas","value":["k",1,2]"#, "true"), (get, "2")]
        ));
        assert!(legal("map", &[(absent, "true"), (r#""f":"cas","value":["k",[1,2]]"#, "[\"k\",[1,2]]"), (get, "2")]));
        assert!(legal(
            "map",
            &[(r#""f":"insert","key":"k","value":1"#, "null"), (r#""f":"remove","value":"k""#, "1"), (get, "null")]
        ));
        assert!(legal(
            "map",
            &[
                (r#""f":"get-or-insert","key":"k","value":1"#, "1"),
                (r#""f":"size""#, "1"),
                (r#""f":"delete","key":"k""#, "false"),
                (get, "null")
            ]
        ));
        assert!(fault("map", &[(r#""f":"put","value":1"#, "null")]).contains("needs a key too"));
        assert!(fault("map", &[(r#""f":"get""#, "null")]).contains("has no key"));
        assert!(fault("map", &[(r#""f":"put","key":1"#, "null")]).contains("stores null"));
    }

    #[test]
    fn names_that_are_wrong_get_a_hint() {
        let error = |name| spec(name, Options::new()).expect_err("there is no such thing").to_string();
        assert!(error("quee").contains("did you mean `queue`?"));
        assert!(error("flux-capacitor").contains("there are register, cas-register,"));
        assert!(error("queue:3").contains("takes no parameter"));
        assert!(error("mutex:mine").contains("write mutex or mutex:owned"));
        assert!(error("register:").contains("initial value is missing"));
        assert!(error("queue:3").contains("bounded-queue:N"));
        assert!(error("bounded-queue").contains("needs its capacity; write bounded-queue:3"));
        assert!(error("bounded-queue:0").contains("number that is at least 1"));
        assert!(error("semaphore").contains("needs its number of permits; write semaphore:3"));
        assert!(error("semaphore:-1").contains("number that is at least 0, not `-1`"));
        assert!(error("counter:many").contains("write counter or counter:5"));
        assert!(error("deque:3").contains("takes no parameter"));
        assert!(error("register:\"a").contains("close the quote"));
        assert!(error("register:[1]").contains("neither a number nor text"));
        assert!(fault("queue", &[(r#""f":"enqeue","value":1"#, "null")]).contains("did you mean `enqueue`?"));
        assert!(fault("queue", &[(r#""f":"compare-and-set""#, "null")]).contains("`cas-register` has it"));
        assert!(fault("queue", &[(r#""f":"dance""#, "null")]).contains("line 1: `queue` has no operation \"dance\""));
        assert!(fault("queue", &[(r#""f":"deq","key":1"#, "null")]).contains("this spec has no keys"));
    }

    #[test]
    fn a_fault_of_a_result_names_the_line_of_the_return() {
        let text = r#"{"process":0,"type":"invoke","f":"add","value":1}
                      {"process":1,"type":"invoke","f":"add","value":1}
                      {"process":0,"type":"ok","f":"add","value":5}"#;
        assert_eq!(judge("set", text).expect_err("5 is no boolean").line(), Some(3));
    }

    #[test]
    fn named_things_can_be_sent_to_other_threads() {
        fn check<T: Send + Sync>() {}
        check::<NamedSpec>();
        check::<Box<dyn Judged>>();
        check::<NamedError>();
    }
}
