//! Checkers, which decide whether a history is linearizable.
//!
//! Each algorithm has its own file and its own `check` function. [`check`] takes a [`Config`] that selects any of the
//! algorithms; it first partitions the history, and can judge the partitions on several threads.
//!
//! | algorithm | good at | bad at |
//! |---|---|---|
//! | [`auto`] | choosing an algorithm for each history | |
//! | [`brute`] | being obviously correct | more than ten operations |
//! | [`wing_gong::tree`] | easy histories, in little memory | all other histories: exponential time |
//! | [`wing_gong::graph`] | short histories | long overlaps |
//! | [`just_in_time::tree`] | easy histories, in little memory | histories that need backtracking |
//! | [`just_in_time::graph`] | linearizable histories | rejected histories with many open operations |
//! | [`linear`] | rejected histories, operations that never return | long linearizable histories |
//! | [`bounded`] | little memory | time |
//! | [`monitor`] | near-linear time on every history that it supports | refuses all other histories |
//! | [`queue_lowe`] | complete histories of queues | refuses all other histories |
//! | [`compete`] | histories for which the best algorithm is not known | a single core |
//!
//! An algorithm of your own implements the trait [`Checker`], and can then be used like the built-in algorithms.
//!
//! [`shrink`] reduces a rejected history to a few operations that are enough to reject it. [`sync`]
//! judges objects whose operations wait for each other, [`interval`] judges objects whose
//! operations take effect in several steps, and [`quasi`] judges whether operations took effect at
//! most a given distance out of order.

// The basis: erased types, frames of histories, the choice of an algorithm, and the division of a
// history among searches.
mod erased;
mod frame;
mod interner;
#[cfg(feature = "named")]
mod history_interner;
mod partition;
mod algorithm;
mod checker;
pub mod auto;
mod worker;
mod turns;
mod versions;

// The code that searches share, and the algorithms of the papers.
mod search;
mod graph;
pub mod wing_gong;
pub mod just_in_time;
pub mod linear;
pub mod bounded;
pub mod queue_lowe;
pub mod compete;
pub mod brute;

// Algorithms that do not search.
pub mod monitor;

// Judging while a history is being recorded.
#[cfg(feature = "named")]
pub(crate) mod online;

// Evidence.
mod replay;
mod allowed;
pub mod shrink;
#[doc(hidden)]
pub mod argument;
mod states;

// Other criteria.
mod groups;
pub mod sync;
pub mod interval;
pub mod quasi;

// Judged histories without types.
mod judged;

use std::borrow::Cow;
use std::time::Instant;

pub use algorithm::{ALGORITHMS, Algorithm, UnknownAlgorithm};
#[doc(hidden)]
pub use checker::OwnChecker;
pub use checker::{Checker, CheckerInput};
#[cfg(feature = "named")]
pub(crate) use history_interner::HistoryInterner;
#[cfg(feature = "named")]
pub(crate) use interner::Interner;
pub use judged::Judged;
#[doc(hidden)]
pub use judged::{Argued, Specification};
#[cfg(feature = "named")]
pub(crate) use judged::{Criterion, Intervals, QuasiLinearizable};
pub(crate) use judged::{Linearizable, Show, Synchronizing, judged, judged_so};
#[cfg(feature = "named")]
#[doc(hidden)]
pub use online::Why;
#[cfg(feature = "named")]
pub(crate) use online::{Effect, Online, OnlineCall, OnlineLimits};
pub use replay::{NotALinearization, replay};
pub use search::budget::{Budget, CancelToken};
#[doc(hidden)]
pub use search::rules::{Rules, UnknownRule};
#[doc(hidden)]
pub use states::states;

use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgment;
use erased::{Case, Typed};
use search::Meter;
use search::automaton::ResultId;

/// Options for judging a history.
///
/// ```
/// use std::time::Duration;
/// use trueline::judge::{Algorithm, Budget, Config};
///
/// let config = Config::new()
///     .algorithm(Algorithm::JustInTimeGraph)
///     .partition(false)
///     .budget(Budget::unlimited().time(Duration::from_secs(1)));
/// # let _ = config;
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    algorithm: Algorithm,
    partition: bool,
    threads: usize,
    rules: Option<Rules>,
    seed: Option<u64>,
    restart_after: Option<u64>,
    budget: Budget,
    /// Whether to complete the evidence: find the first failing event of the whole history and the results that were
    /// allowed there.
    completes: bool,
    /// Whether versions are used as hints to the order of updates.
    versions: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// Returns the default options: the algorithm is chosen automatically, the history is partitioned if the
    /// specification has keys, and there is one thread and no limit.
    pub fn new() -> Self {
        Self {
            algorithm: Algorithm::Auto,
            partition: true,
            threads: 1,
            rules: None,
            seed: None,
            restart_after: None,
            budget: Budget::unlimited(),
            completes: true,
            versions: true,
        }
    }

    /// Turns off the completion of the evidence, for callers that need only the verdict.
    fn verdict_only(self) -> Self {
        Self { completes: false, ..self }
    }

    /// Returns the options for running one algorithm on the history as a whole.
    fn plain(algorithm: Algorithm, budget: &Budget) -> Self {
        Self::new().algorithm(algorithm).partition(false).budget(budget.clone())
    }

    /// Sets the algorithm. Defaults to [`Algorithm::Auto`].
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// Returns the algorithm.
    pub(crate) fn chosen(&self) -> &Algorithm {
        &self.algorithm
    }

    /// Sets whether [`Algorithm::Auto`] uses the versions that operations carry as hints to the order of updates.
    /// Defaults to `true`.
    ///
    /// Hints are verified, and change no verdict except *unknown*: a history that the order of versions explains is
    /// accepted without a search, and any other history is judged without versions.
    /// [`Stats::versions`](crate::verdict::Stats::versions) reports the result.
    #[must_use]
    pub fn versions(mut self, versions: bool) -> Self {
        self.versions = versions;
        self
    }

    /// Sets whether the operations on each key are judged separately, if the specification has keys. Defaults to
    /// `true`.
    ///
    /// Different objects are always judged separately.
    #[must_use]
    pub fn partition(mut self, partition: bool) -> Self {
        self.partition = partition;
        self
    }

    /// Judges partitions on this many threads if there are several partitions. Defaults to 1; 0 counts as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Uses these rules instead of the rules of the algorithm.
    #[must_use]
    #[doc(hidden)]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Makes depth-first searches try operations in an order that is shuffled with `seed`.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Makes tree searches start over, in another order, after a number of configurations. Attempt
    /// n may visit `configurations` times the nth number of Luby's sequence (1, 1, 2, 1, 1, 2, 4 and
    /// so on).
    ///
    /// A tree search usually either succeeds soon or takes a very long time, so several short
    /// attempts are usually faster than a long one. The search stays complete because the attempts
    /// grow. The order is shuffled with seed 1 unless [`seed`](Config::seed) sets another seed.
    #[must_use]
    pub fn restart_after(mut self, configurations: u64) -> Self {
        self.restart_after = Some(configurations.max(1));
        self.seed = self.seed.or(Some(1));
        self
    }

    /// Sets the limits of the search. Defaults to no limits.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }
}

/// Judges a history.
///
/// An accepted history comes with a linearization that has been replayed against the specification.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Config, check};
/// use trueline::spec::{Queue, QueueOp, QueueRet};
///
/// let mut builder = History::builder();
/// builder.call(0, QueueOp::Enqueue('a'))?;
/// builder.ret(0, QueueRet::Done)?;
/// builder.call(1, QueueOp::Dequeue)?;
/// builder.ret(1, QueueRet::Value(None))?; // reports an empty queue
/// let judgment = check(&Queue::new(), &builder.finish(), &Config::new());
///
/// let evidence = judgment.verdict.evidence().expect("the element is there");
/// assert_eq!(evidence.allowed, [QueueRet::Value(Some('a'))]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Panics
/// Panics if the specification contradicts itself, so that a linearization that was found cannot be replayed.
pub fn check<S: Spec + ?Sized>(spec: &S, history: &History<S::Op, S::Ret>, config: &Config) -> Judgment<S::Ret> {
    let started = Instant::now();
    let case = Typed::new(spec, Cow::Borrowed(history));
    check_case(&case, config, started).map(|result| case.result(*result))
}

/// Judges a history whose types have been erased.
fn check_case(case: &dyn Case, config: &Config, started: Instant) -> Judgment<ResultId> {
    let mut meter = Meter::start(&config.budget);
    let mut judgment = partition::judge(case, config, &mut meter);
    judgment.stats.peak_bytes = meter.peak_bytes;
    judgment.stats.elapsed = started.elapsed();
    judgment
}
