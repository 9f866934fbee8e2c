//! Round-Up as a whole: judges the histories of a program, one at a time, by the paper's algorithm,
//! with or without the optimizations of section VI-C.
//!
//! Only the reproduction of the paper's experiments needs this module, so it is available only with
//! the feature `papers`.

use std::time::Instant;

use hashbrown::HashMap;

use super::super::Budget;
use super::super::search::hash;
use super::enumerate::Looked;
use super::semantics::Semantics;
use super::{By, judge_typed};
use crate::history::{EventKind, History};
use crate::spec::Spec;
use crate::verdict::{Judgment, Stats, Verdict};

/// Which of the paper's second and third optimizations are used. The first optimization is
/// [`SerialList::without_duplicates`](super::SerialList::without_duplicates).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Optimizations {
    /// (2) Do not judge the same history twice.
    pub histories: bool,
    /// (3) Skip sequentializations and permutations that were tried before and failed.
    pub sequences: bool,
}

impl Default for Optimizations {
    fn default() -> Self {
        Self::all()
    }
}

impl Optimizations {
    /// Returns the settings with both optimizations.
    pub const fn all() -> Self {
        Self { histories: true, sequences: true }
    }

    /// Returns the settings without optimizations.
    pub const fn none() -> Self {
        Self { histories: false, sequences: false }
    }
}

/// An operation with its result.
type Pair<S> = (<S as Spec>::Op, Option<<S as Spec>::Ret>);

/// Round-Up: judges the histories of a program, one at a time, by the paper's algorithm, and
/// remembers which sequences failed.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::Budget;
/// use trueline::judge::quasi::{Optimizations, RoundUp, Semantics};
/// use trueline::spec::{Queue, QueueOp, QueueRet};
///
/// let mut builder = History::builder();
/// for value in 1..=3 {
///     builder.call(0, QueueOp::Enqueue(value))?;
///     builder.ret(0, QueueRet::Done)?;
/// }
/// for value in [3, 2, 1] {
///     builder.call(0, QueueOp::Dequeue)?;
///     builder.ret(0, QueueRet::Value(Some(value)))?;
/// }
/// let history = builder.finish();
/// let semantics = Semantics::whole_domain(1);
/// let queue = Queue::new();
/// let mut round_up = RoundUp::new(&queue, &semantics, Optimizations::all());
/// let judgment = round_up.check(&history, &Budget::unlimited());
/// assert!(judgment.verdict.is_rejected());
/// assert_eq!((judgment.stats.sequentializations, judgment.stats.permutations), (1, 13));
/// // The second time, nothing is left to try.
/// let judgment = round_up.check(&history, &Budget::unlimited());
/// assert!(judgment.verdict.is_rejected());
/// assert_eq!((judgment.stats.sequentializations, judgment.stats.permutations), (0, 0));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub struct RoundUp<'a, S: Spec> {
    spec: &'a S,
    semantics: &'a Semantics<'a, S::Op, S::Ret>,
    optimizations: Optimizations,
    numbers: HashMap<Pair<S>, u32, hash::Builder>,
    looked: Looked,
    judged: HashMap<Vec<(u32, u32)>, Verdict<S::Ret>, hash::Builder>,
}

impl<S: Spec> std::fmt::Debug for RoundUp<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RoundUp").field("semantics", self.semantics).finish_non_exhaustive()
    }
}

impl<'a, S: Spec> RoundUp<'a, S> {
    /// Returns a checker that has not judged any history yet.
    pub fn new(spec: &'a S, semantics: &'a Semantics<'a, S::Op, S::Ret>, optimizations: Optimizations) -> Self {
        Self {
            spec,
            semantics,
            optimizations,
            numbers: HashMap::default(),
            looked: Looked::new(optimizations.sequences),
            judged: HashMap::default(),
        }
    }

    /// Judges one more history.
    ///
    /// # Panics
    /// Panics if a witness that was found cannot be replayed, because the specification contradicts
    /// itself.
    pub fn check(&mut self, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
        let started = Instant::now();
        let mut number = |pair: Pair<S>| {
            let next = u32::try_from(self.numbers.len()).expect("memory runs out before 2^32 operations with results");
            *self.numbers.entry(pair).or_insert(next)
        };
        let numbers: Vec<u32> = history
            .operations()
            .iter()
            .map(|operation| number((operation.op.clone(), operation.outcome.result().cloned())))
            .collect();
        let of_event = |event: &crate::history::Event| match event.kind() {
            EventKind::Call => (history[event.op()].process.0, numbers[event.op().index()]),
            EventKind::Return => (history[event.op()].process.0, u32::MAX),
        };
        let mut identity: Vec<(u32, u32)> = history.events().iter().map(of_event).collect();
        // Histories that differ only in the objects of their operations count as different.
        identity.extend(history.operations().iter().map(|operation| (operation.object.0, u32::MAX)));
        if let Some(verdict) = self.judged.get(&identity).filter(|_| self.optimizations.histories) {
            let stats = Stats {
                algorithm: "enumerate".to_owned(),
                criterion: Some(self.semantics.to_string()),
                partitions: history.object_count(),
                elapsed: started.elapsed(),
                ..Stats::default()
            };
            return Judgment { verdict: verdict.clone(), stats };
        }
        let looked = &mut self.looked;
        let judgment = judge_typed(self.spec, history, self.semantics, budget, &mut |mut judge| {
            let verdict = judge.judge(&mut By::Enumerate { numbers: &numbers, looked });
            judge.judgment(verdict, "enumerate", started)
        });
        if self.optimizations.histories && !matches!(judgment.verdict, Verdict::Unknown(_)) {
            self.judged.insert(identity, judgment.verdict.clone());
        }
        judgment
    }
}
