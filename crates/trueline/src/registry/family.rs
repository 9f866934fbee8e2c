//! Families: specifications with a notation for files. A family reads the operations of a history
//! in this notation, and judges the history.

use std::borrow::Cow;
use std::fmt::Debug;

use super::families::notation::Notation;
use super::live::{AnyLive, LiveFamily, LiveLimits};
use super::lookup::{NamedError, Unjudged};
use super::numbered::{AnyNumbered, Lend, LentValue, NumberedHistory, numbered, show};
use super::parts::{by_object, numbered_parts};
use super::quasi::{self, QuasiFactors};
use super::reading::{read, read_all, read_one, read_source};
use super::sequential::{AnyObject, OneAtATime};
use super::table::SpecInfo;
use crate::history::codec::Source;
use crate::history::{History, Operation, Outcome, RawHistory, Record, Shown, Value};
use crate::judge::{Config, Criterion, Judged, Linearizable, Show, judged};
use crate::spec::Spec;

/// The judged history, or the reason why it cannot be read.
pub(super) type IsJudged<'a> = Result<Box<dyn Judged + 'a>, NamedError>;

/// The history as it was read, or the reason why it cannot be read.
pub(super) type IsRead<'a> = Result<Box<dyn Unjudged<'a> + 'a>, NamedError>;

/// A specification, with the notation of its operations in files.
pub(super) trait Family: Debug + Send + Sync + 'static {
    type Spec: Typed;
    type Notation: Notation<Op = Op<Self>, Ret = Ret<Self>>;

    fn spec(&self) -> &Self::Spec;

    /// Returns whether it matters which process calls an operation.
    fn process_matters(&self) -> bool;

    /// Returns the function that decides, given the whole history, how results are read. Returns
    /// `None` if each result can be read on its own.
    fn settle(&self) -> Option<Settle<Self::Spec>>;

    /// For a counter, returns the initial number and the function that returns the number that an
    /// operation adds; otherwise `None`. The caller uses them to refuse a history whose sums might
    /// overflow.
    fn adds(&self) -> Option<(i64, Adds<Self::Spec>)>;

    /// Returns whether all operations except observers (see [`Spec::observes`]) are possible in every state, have one
    /// result, and commute.
    fn commutes(&self) -> bool;
}

/// A specification whose operations wait for each other, with the notation of its operations in files.
pub(super) trait SyncFamily: Debug + Send + Sync + 'static {
    type Op: Clone + Debug + Send + Sync + 'static;
    type Ret: Clone + Eq + Debug + Send + Sync + 'static;
    type Notation: Notation<Op = Self::Op, Ret = Self::Ret>;

    /// Returns the criterion that histories of this specification must satisfy.
    fn criterion(&self) -> impl Criterion<Op = Self::Op, Ret = Self::Ret>;

    /// Returns an object that executes operations, in its initial state; `None` if operations take
    /// several steps.
    fn object(&self) -> Option<Box<dyn AnyObject + '_>>;
}

/// A specification whose types [`Numbered`](super::numbered::Numbered) can hide.
pub(super) trait Typed: Spec<Op: 'static, Ret: 'static, State: 'static, Key: 'static, Value: Lend> {}

impl<S: Spec<Op: 'static, Ret: 'static, State: 'static, Key: 'static, Value: Lend>> Typed for S {}

pub(super) type Op<F> = <<F as Family>::Spec as Spec>::Op;
pub(super) type Ret<F> = <<F as Family>::Spec as Spec>::Ret;
/// The values of a family's standard operations, as [`Numbered`](super::numbered::Numbered) represents them.
pub(super) type Lent<F> = <<<F as Family>::Spec as Spec>::Value as Lend>::As;

/// Decides how the results of a history are read, given all its operations with their results.
pub(super) type Settle<S> = fn(&S, &[(&<S as Spec>::Op, Option<&<S as Spec>::Ret>)]) -> Settled<<S as Spec>::Ret>;

/// Returns the number that an operation adds.
pub(super) type Adds<S> = fn(&<S as Spec>::Op) -> i64;

/// The outcome of [`Settle`]. `Some` is a function that corrects each result after the result has
/// been read; `None` means that no correction is needed. An error means that the history cannot be
/// judged.
pub(super) type Settled<Ret> = Result<Option<fn(&Ret) -> Ret>, String>;

/// A [`Family`] without its types.
pub(super) trait AnyFamily: Debug + Send + Sync {
    fn process_matters(&self) -> bool;
    fn judge(&self, info: &'static SpecInfo, history: Cow<'_, RawHistory>, config: &Config) -> IsJudged<'_>;
    /// Reads a history without keeping its records. Returns `None` if that is not possible.
    fn read(&self, _info: &'static SpecInfo, _source: &mut Source<'_>) -> Option<IsRead<'_>> {
        None
    }
    /// Judges quasi linearizability. Returns `None` if operations wait for each other.
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
    /// Returns whether `judge` judges quasi linearizability instead of linearizability.
    fn is_quasi(&self) -> bool {
        false
    }
    /// Returns the reason why an operation cannot be read, or `None` if it can be read.
    fn fault(&self, info: &SpecInfo, operation: &Operation<Record, Value>) -> Option<NamedError>;
    fn parts(&self, info: &SpecInfo, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError>;
    fn object(&self) -> Option<Box<dyn AnyObject + '_>>;
    /// Returns a judge for histories that are still being recorded; `None` if operations wait for each other, or may be
    /// out of order.
    fn live(&self, _limits: LiveLimits) -> Option<Box<dyn AnyLive + '_>> {
        None
    }
}

/// Adapts a [`SyncFamily`] to [`AnyFamily`].
#[derive(Debug)]
pub(super) struct SyncErased<F>(pub(super) F);

impl<F: SyncFamily> SyncErased<F> {
    fn read(info: &SpecInfo, history: &RawHistory) -> Result<History<F::Op, F::Ret>, NamedError> {
        history.try_map(|operation| Self::read_one(info, operation))
    }

    fn read_one(info: &SpecInfo, operation: &Operation<Record, Value>) -> Result<(F::Op, Outcome<F::Ret>), NamedError> {
        let read_op = |name: &str, process, record: &Record| F::Notation::read_op(name, Some(process), record);
        read(info, operation, read_op, F::Notation::read_ret)
    }
}

impl<F: SyncFamily> AnyFamily for SyncErased<F> {
    fn judge(&self, info: &'static SpecInfo, history: Cow<'_, RawHistory>, config: &Config) -> IsJudged<'_> {
        let typed = Self::read(info, &history)?;
        drop(history);
        let show = Show::by(|op| Shown::Record(F::Notation::show_op(op)), F::Notation::show_ret);
        Ok(judged(self.0.criterion(), show, typed, config))
    }

    fn has_progress(&self) -> bool {
        true
    }

    fn process_matters(&self) -> bool {
        // If operations synchronize, each operation may contain the process that calls it.
        true
    }

    fn fault(&self, info: &SpecInfo, operation: &Operation<Record, Value>) -> Option<NamedError> {
        Self::read_one(info, operation).err()
    }

    fn parts(&self, info: &SpecInfo, history: &RawHistory) -> Result<(Vec<usize>, Vec<String>), NamedError> {
        Self::read(info, history)?;
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

    fn read(&self, info: &'static SpecInfo, source: &mut Source<'_>) -> Option<IsRead<'_>> {
        let read = read_source(self, info, source);
        Some(read.map(|(spec, history)| Box::new(ReadNumbers { spec, history }) as Box<dyn Unjudged<'_>>))
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
        Some(Box::new(OneAtATime::new(self)))
    }

    fn live(&self, limits: LiveLimits) -> Option<Box<dyn AnyLive + '_>> {
        Some(Box::new(LiveFamily::new(self, limits)))
    }
}

/// A history that has been converted to numbers, and has not been judged yet.
struct ReadNumbers<'f, V> {
    spec: AnyNumbered<'f, V>,
    history: NumberedHistory,
}

impl<'f, V: LentValue> Unjudged<'f> for ReadNumbers<'f, V> {
    fn extent(&self) -> (usize, usize, usize) {
        (self.history.len(), self.history.pending(), self.history.events().len())
    }

    fn judge(self: Box<Self>, config: &Config) -> IsJudged<'f> {
        Ok(judge_numbered(self.spec, self.history, config))
    }
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

/// Reads a history with the notation of the family, and judges whether it is quasi linearizable.
pub(super) fn judge_quasi<'f, F: Family>(
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
