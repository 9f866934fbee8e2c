//! Specifications and judged histories without their types.
//!
//! A [`Specification`] reads a recorded history and judges it. The result is a [`Judged`], which
//! contains everything that a report needs. Two parts have types: a [`Criterion`] is a
//! specification with the requirements on its histories, and [`Show`] formats operations and
//! results. `Typed` combines the two into a [`Judged`].

use std::borrow::{Borrow, Cow};
use std::fmt::{self, Debug};
use std::ops::Deref;

#[cfg(feature = "named")]
use super::interval;
#[cfg(feature = "named")]
use super::quasi::{self, Semantics};
use super::shrink::{self, Limits};
use super::{Budget, Config, argument, check, states, sync};
use crate::history::{History, Named, OpId, Operation, Outcome, Shown};
use crate::spec::Spec;
#[cfg(feature = "named")]
use crate::spec::interval::IntervalSpec;
use crate::spec::sync::SyncSpec;
use crate::verdict::{Argument, Core, Evidence, Judgment, Partners, Passed, ProgressVerdict, Witness};

/// A specification without its types, for histories with operations recorded as `Op` and results recorded as `Ret`.
pub trait Specification<Op, Ret>: Debug + Send + Sync
where
    History<Op, Ret>: Clone,
{
    /// The error for a history that cannot be read.
    type Error;

    /// Reads `history` as a history of this specification, and judges it. An owned history is dropped as soon as it has
    /// been read, so that only one copy of it is in memory while it is judged.
    ///
    /// # Errors
    /// Returns an error if an operation is unknown, or if it has an argument or a result of a wrong type.
    fn judge<'a>(
        &'a self,
        history: Cow<'a, History<Op, Ret>>,
        config: &Config,
    ) -> Result<Box<dyn Judged + 'a>, Self::Error>;

    /// Returns whether operations of this specification can wait for each other. If so,
    /// [`Judged::progress`] returns a verdict.
    fn has_progress(&self) -> bool {
        false
    }
}

/// The core of a rejection and, if the core is small enough, an argument for why its operations
/// have no legal order.
pub type Argued<Op = Shown, Ret = String> = (Core<Op, Ret>, Option<Argument<Ret>>);

/// A history that was read and judged, without the types of its specification.
pub trait Judged: Debug + Send + Sync {
    /// Returns the verdict and the statistics. Results have the same form as in
    /// [`history`](Self::history).
    fn judgment(&self) -> &Judgment<String>;

    /// Returns the number of operations.
    fn operations(&self) -> usize;

    /// Returns the number of operations that never returned.
    fn pending(&self) -> usize;

    /// Returns the history as it was read, with operations and results as reports show them.
    ///
    /// # Complexity
    /// O(n) for each call, because nothing is cached.
    #[doc(hidden)]
    fn history(&self) -> History<Shown, String>;

    /// Returns one operation of [`history`](Self::history), with the names of its object and of its process, without
    /// building the whole history.
    #[doc(hidden)]
    fn operation(&self, id: OpId) -> Named<Shown, String>;

    /// Returns the core of a rejection, that is, a few operations that are enough to reject the
    /// history ([`shrink`]), and an argument for why these operations have no legal order
    /// ([`argument`]). Returns `None` if the history was not rejected, or if its criterion has no
    /// cores.
    ///
    /// ```
    /// # #[cfg(feature = "named")] {
    /// use trueline::history::{OpId, codec::jsonl};
    /// use trueline::judge::{Config, shrink::Limits};
    /// use trueline::registry::{self, Options};
    ///
    /// let history = jsonl::read(&br#"
    ///     {"process":0,"f":"write","value":1,"call":0,"return":10}
    ///     {"process":1,"f":"read","result":1,"call":5,"return":15}
    ///     {"process":0,"f":"write","value":2,"call":20,"return":30}
    ///     {"process":1,"f":"read","result":1,"call":40,"return":50}
    /// "#[..])?;
    /// let spec = registry::spec("register", Options::new())?;
    /// let judged = spec.judge(history, &Config::new())?;
    /// let (core, _) = judged.core(&Limits::new()).expect("1 was overwritten");
    /// assert_eq!(core.told().count(), 1); // only the result of the second read matters
    /// assert_eq!(core.begins_behind, Some(OpId(2))); // earlier operations do not matter
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn core(&self, limits: &Limits) -> Option<Argued>;

    /// Returns the states that the last operations of a linearization pass through (`judge::states`,
    /// `judge::sync::states`). The linearization defaults to that of the verdict.
    #[doc(hidden)]
    fn states(&self, linearization: Option<&Witness>) -> Vec<Passed>;

    /// Returns whether operations that are stuck at the end of the history should have returned ([`sync::progress`],
    /// [`interval::progress`](super::interval::progress)), or `None` if operations never wait for each other.
    fn progress(&self, budget: &Budget) -> Option<ProgressVerdict<String>>;

    /// Returns the reason why executions that synchronize in pairs cannot all have had partners
    /// ([`sync::partners`]). Returns `None` if executions do not synchronize in pairs, or if the
    /// history was rejected for another reason or not rejected at all.
    #[doc(hidden)]
    fn partners(&self) -> Option<Partners>;
}

/// A typed specification, and the requirements on its histories.
pub(crate) trait Criterion: Send + Sync {
    type Op: Send + Sync;
    type Ret: Clone + Send + Sync;

    fn judge(&self, history: &History<Self::Op, Self::Ret>, config: &Config) -> Judgment<Self::Ret>;

    /// Returns the core of a rejected history, and an argument for why the core has no legal order.
    fn core(
        &self,
        _history: &History<Self::Op, Self::Ret>,
        _evidence: &Evidence<Self::Ret>,
        _limits: &Limits,
    ) -> Option<Argued<Self::Op, Self::Ret>> {
        None
    }

    /// Returns the states that a linearization passes through. Events at or after `until` are
    /// ignored.
    fn states(
        &self,
        _history: &History<Self::Op, Self::Ret>,
        _linearization: &Witness,
        _until: Option<u32>,
    ) -> Vec<Passed> {
        Vec::new()
    }

    fn progress(
        &self,
        _history: &History<Self::Op, Self::Ret>,
        _budget: &Budget,
    ) -> Option<ProgressVerdict<Self::Ret>> {
        None
    }

    fn partners(&self, _history: &History<Self::Op, Self::Ret>, _evidence: &Evidence<Self::Ret>) -> Option<Partners> {
        None
    }
}

/// Functions that format operations and results.
pub(crate) struct Show<'a, Op, Ret> {
    op: Box<dyn Fn(&Op) -> Shown + Send + Sync + 'a>,
    ret: Box<dyn Fn(&Ret) -> String + Send + Sync + 'a>,
}

impl<'a, Op, Ret> Show<'a, Op, Ret> {
    /// Returns a `Show` that formats operations and results with these functions.
    pub(crate) fn by(
        op: impl Fn(&Op) -> Shown + Send + Sync + 'a,
        ret: impl Fn(&Ret) -> String + Send + Sync + 'a,
    ) -> Self {
        Self { op: Box::new(op), ret: Box::new(ret) }
    }

    /// Returns a `Show` that formats operations and results as the specification describes them.
    pub(crate) fn described<S: Spec<Op = Op, Ret = Ret>>(spec: &'a S) -> Self {
        Self::by(|op| Shown::Text(spec.describe_operation(op)), |ret| spec.describe_result(ret))
    }

    fn history(&self, history: &History<Op, Ret>) -> History<Shown, String> {
        history.map(|operation| self.show(operation))
    }

    fn show(&self, operation: &Operation<Op, Ret>) -> (Shown, Outcome<String>) {
        ((self.op)(&operation.op), operation.outcome.map(&self.ret))
    }
}

/// Judges a history.
pub(crate) fn judged<'a, C, H>(
    criterion: C,
    show: Show<'a, C::Op, C::Ret>,
    history: H,
    config: &Config,
) -> Box<dyn Judged + 'a>
where
    C: Criterion + 'a,
    H: Borrow<History<C::Op, C::Ret>> + Send + Sync + 'a,
{
    let judgment = criterion.judge(history.borrow(), config);
    judged_so(criterion, show, history, judgment)
}

/// Wraps a history that has been judged already.
pub(crate) fn judged_so<'a, C, H>(
    criterion: C,
    show: Show<'a, C::Op, C::Ret>,
    history: H,
    judgment: Judgment<C::Ret>,
) -> Box<dyn Judged + 'a>
where
    C: Criterion + 'a,
    H: Borrow<History<C::Op, C::Ret>> + Send + Sync + 'a,
{
    let evidence = judgment.verdict.evidence().cloned();
    let judgment = judgment.map(&show.ret);
    Box::new(Typed { criterion, show, history, judgment, evidence })
}

/// A judged history with its types.
struct Typed<'a, C: Criterion, H> {
    criterion: C,
    show: Show<'a, C::Op, C::Ret>,
    history: H,
    judgment: Judgment<String>,
    /// The evidence, if the history was rejected.
    evidence: Option<Evidence<C::Ret>>,
}

impl<C: Criterion, H> Debug for Typed<'_, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judged").field("judgment", &self.judgment).finish_non_exhaustive()
    }
}

impl<C: Criterion, H: Borrow<History<C::Op, C::Ret>> + Send + Sync> Judged for Typed<'_, C, H> {
    fn judgment(&self) -> &Judgment<String> {
        &self.judgment
    }

    fn operations(&self) -> usize {
        self.history.borrow().len()
    }

    fn pending(&self) -> usize {
        self.history.borrow().pending()
    }

    fn history(&self) -> History<Shown, String> {
        self.show.history(self.history.borrow())
    }

    fn operation(&self, id: OpId) -> Named<Shown, String> {
        let history = self.history.borrow();
        let (op, outcome) = self.show.show(&history[id]);
        history.named_as(id, history[id].with(op, outcome))
    }

    fn core(&self, limits: &Limits) -> Option<Argued> {
        let (core, argument) = self.criterion.core(self.history.borrow(), self.evidence.as_ref()?, limits)?;
        let argument = argument.map(|argument| argument.map(&self.show.ret));
        Some((core.map(|history| self.show.history(history)), argument))
    }

    fn states(&self, linearization: Option<&Witness>) -> Vec<Passed> {
        let verdict = &self.judgment.verdict;
        let Some(linearization) = linearization.cloned().or_else(|| verdict.linearization()) else { return Vec::new() };
        let until = verdict.evidence().map(|evidence| evidence.event);
        self.criterion.states(self.history.borrow(), &linearization, until)
    }

    fn progress(&self, budget: &Budget) -> Option<ProgressVerdict<String>> {
        let verdict = self.criterion.progress(self.history.borrow(), budget)?;
        Some(verdict.map(&self.show.ret))
    }

    fn partners(&self) -> Option<Partners> {
        self.criterion.partners(self.history.borrow(), self.evidence.as_ref()?)
    }
}

/// The criterion that operations take effect one at a time, each between its call and its return.
pub(crate) struct Linearizable<P>(pub(crate) P);

impl<S: Spec + ?Sized, P: Deref<Target = S> + Send + Sync> Criterion for Linearizable<P> {
    type Op = S::Op;
    type Ret = S::Ret;

    fn judge(&self, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
        check(&*self.0, history, config)
    }

    fn core(
        &self,
        history: &History<S::Op, S::Ret>,
        evidence: &Evidence<S::Ret>,
        limits: &Limits,
    ) -> Option<Argued<S::Op, S::Ret>> {
        let mut core = shrink::core(&*self.0, history, evidence, limits);
        let argument = argument::of_core_until(&*self.0, &core, limits.token());
        let named = argument.iter().flat_map(|argument| &argument.named).copied().chain(core.begins_behind);
        core.named = named.filter(|id| !core.calls.contains(id)).collect();
        core.named.sort_unstable();
        core.named.dedup();
        Some((core, argument))
    }

    fn states(&self, history: &History<S::Op, S::Ret>, linearization: &Witness, _: Option<u32>) -> Vec<Passed> {
        states(&*self.0, history, &linearization.order)
    }
}

/// The criterion that operations take effect one at a time, at most a given distance out of order.
/// A rejection has no core, because an accepted history may be rejected after some of its
/// operations are removed.
#[cfg(feature = "named")]
pub(crate) struct QuasiLinearizable<'s, S: Spec + ?Sized, P>(pub(crate) P, pub(crate) Semantics<'s, S::Op, S::Ret>);

#[cfg(feature = "named")]
impl<S: Spec + ?Sized, P: Deref<Target = S> + Send + Sync> Criterion for QuasiLinearizable<'_, S, P> {
    type Op = S::Op;
    type Ret = S::Ret;

    fn judge(&self, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
        quasi::judge(&*self.0, history, &self.1, config)
    }

    /// Returns the states that the operations pass through in the order that the specification
    /// allows ([`Witness::permuted`]). Returns no states if the witness has no such order.
    fn states(&self, history: &History<S::Op, S::Ret>, linearization: &Witness, _: Option<u32>) -> Vec<Passed> {
        states(&*self.0, history, &linearization.permuted)
    }
}

/// The criterion that executions synchronize: operations that overlap can take effect together.
pub(crate) struct Synchronizing<'s, S>(pub(crate) &'s S);

impl<S: SyncSpec> Criterion for Synchronizing<'_, S> {
    type Op = S::Op;
    type Ret = S::Ret;

    fn judge(&self, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
        sync::judge(self.0, history, config)
    }

    fn states(&self, history: &History<S::Op, S::Ret>, linearization: &Witness, until: Option<u32>) -> Vec<Passed> {
        sync::states(self.0, history, linearization, until)
    }

    fn progress(&self, history: &History<S::Op, S::Ret>, budget: &Budget) -> Option<ProgressVerdict<S::Ret>> {
        Some(sync::progress(self.0, history, sync::SyncAlgorithm::Auto, budget))
    }

    fn partners(&self, history: &History<S::Op, S::Ret>, evidence: &Evidence<S::Ret>) -> Option<Partners> {
        sync::partners(self.0, history, evidence)
    }
}

/// The criterion that each operation takes effect in several steps, which other operations may take
/// part in. The steps of a witness do not record which operations end in them, so there are no
/// states to show.
#[cfg(feature = "named")]
pub(crate) struct Intervals<'s, S>(pub(crate) &'s S);

#[cfg(feature = "named")]
impl<S: IntervalSpec> Criterion for Intervals<'_, S> {
    type Op = S::Op;
    type Ret = S::Ret;

    fn judge(&self, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
        interval::judge(self.0, history, config)
    }

    fn progress(&self, history: &History<S::Op, S::Ret>, budget: &Budget) -> Option<ProgressVerdict<S::Ret>> {
        Some(interval::progress(self.0, history, interval::IntervalAlgorithm::Search, budget))
    }
}
