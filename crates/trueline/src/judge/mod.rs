//! Checkers: is this history linearizable?
//!
//! One algorithm, one file. Each has a `check` of its own for whoever wants just that algorithm; [`check`] with a
//! [`Config`] reaches all of them, partitions the history first, and runs partitions on several threads.
//!
//! | algorithm | good at | bad at |
//! |---|---|---|
//! | [`auto`] | choosing | |
//! | [`brute`] | being obviously right | more than ten operations |
//! | [`wing_gong::tree`] | easy histories: no memory | anything else: exponential |
//! | [`wing_gong::graph`] | short histories | long overlaps |
//! | [`just_in_time::tree`] | easy histories: no memory | histories that need backtracking |
//! | [`just_in_time::graph`] | linearizable histories | rejected ones with many open operations |
//! | [`linear`] | rejected histories, never-returning operations | long linearizable ones |
//! | [`bounded`] | little memory | time |
//! | [`monitor`] | everything it can judge: near-linear | refuses the rest |
//! | [`queue_lowe`] | complete histories of queues | refuses the rest |
//! | [`compete`] | not knowing which | a single core |
//!
//! [`shrink`] reduces a history that was rejected to the few operations that this rests on, and [`argument`] says why these
//! have no order. [`sync`] judges objects whose
//! operations wait for each other, [`interval`] those whose operations take effect in several steps, and [`quasi`] whether
//! operations are not far out of order.

mod algorithm;
mod allowed;
pub mod argument;
pub mod auto;
pub mod bounded;
pub mod brute;
pub mod compete;
mod erased;
mod explain;
mod frame;
mod graph;
mod interner;
pub mod interval;
mod judged;
pub mod just_in_time;
pub mod linear;
pub mod monitor;
mod partition;
pub mod quasi;
pub mod queue_lowe;
mod replay;
mod search;
pub mod shrink;
mod states;
pub mod sync;
mod turns;
pub mod wing_gong;
mod worker;

use std::borrow::Cow;
use std::time::Instant;

pub use algorithm::{ALGORITHMS, Algorithm, UnknownAlgorithm};
#[cfg(feature = "named")]
pub(crate) use interner::Interner;
pub use judged::{Argued, Judged, Specification};
#[cfg(feature = "named")]
pub(crate) use judged::{Criterion, Intervals, QuasiLinearizable};
pub(crate) use judged::{Linearizable, Show, Synchronizing, judged, judged_so};
pub use replay::{NotALinearization, replay};
pub use search::budget::{Budget, CancelToken};
pub use search::rules::{Rules, UnknownRule};
pub use states::states;

use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgement;
use erased::{Case, Typed};
use search::Meter;
use search::automaton::ResultId;

/// How to judge.
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
    /// Whether evidence is completed: by the first bad event of the whole history, and by what was allowed there.
    completes: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// The automatic choice, by partition where the specification has keys, on one thread, without limits.
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
        }
    }

    /// Where only the verdict counts.
    fn verdict_only(self) -> Self {
        Self { completes: false, ..self }
    }

    /// One algorithm on the history as a whole.
    fn plain(algorithm: Algorithm, budget: &Budget) -> Self {
        Self::new().algorithm(algorithm).partition(false).budget(budget.clone())
    }

    /// By this algorithm.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// The algorithm.
    pub(crate) fn chosen(&self) -> &Algorithm {
        &self.algorithm
    }

    /// Whether to judge the operations on each key alone, where the specification gives keys.
    ///
    /// Different objects are always judged alone.
    #[must_use]
    pub fn partition(mut self, partition: bool) -> Self {
        self.partition = partition;
        self
    }

    /// On so many threads, if there are several partitions; 0 is taken as 1.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// With these rules instead of those that the algorithm has of itself.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = Some(rules);
        self
    }

    /// Tries operations in an order shuffled by `seed`, in depth-first searches.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Lets tree searches start anew, in another order, after so many configurations times Luby's sequence.
    ///
    /// A tree search is mostly lucky at once or never: several short tries beat a long one. It stays complete, as the
    /// tries grow. Shuffles with seed 1 if no other is given.
    #[must_use]
    pub fn restart_after(mut self, configurations: u64) -> Self {
        self.restart_after = Some(configurations.max(1));
        self.seed = self.seed.or(Some(1));
        self
    }

    /// Within these limits.
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
/// builder.ret(1, QueueRet::Value(None))?; // empty, it says
/// let judgement = check(&Queue::new(), &builder.finish(), &Config::new());
///
/// let evidence = judgement.verdict.evidence().expect("the element is there");
/// assert_eq!(evidence.allowed, [QueueRet::Value(Some('a'))]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Panics
/// If the specification contradicts itself, so that a linearization that was found cannot be replayed.
pub fn check<S: Spec + ?Sized>(spec: &S, history: &History<S::Op, S::Ret>, config: &Config) -> Judgement<S::Ret> {
    let started = Instant::now();
    let case = Typed::new(spec, Cow::Borrowed(history));
    check_case(&case, config, started).map(|result| case.result(*result))
}

/// Judges a history without its types.
fn check_case(case: &dyn Case, config: &Config, started: Instant) -> Judgement<ResultId> {
    let mut meter = Meter::start(&config.budget);
    let mut judgement = partition::judge(case, config, &mut meter);
    judgement.stats.peak_bytes = meter.peak_bytes;
    judgement.stats.elapsed = started.elapsed();
    judgement
}
