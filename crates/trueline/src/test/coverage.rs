//! Measures how much a test has exercised the object. A test that exercises the object too little
//! may pass although the object is faulty.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::plan::Plan;
use crate::drive::Call;
use crate::history::{EventKind, History, Value, visible};

/// The reason why a test without failures has tested too little to pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TooLittle {
    /// The test gave up, because threads never returned from operations that block.
    GaveUp {
        /// The number of threads that never returned from operations that block.
        #[doc(hidden)]
        lost: u32,
    },
    /// The test judged too few runs.
    FewRuns {
        /// The number of runs that were judged.
        #[doc(hidden)]
        judged: u64,
        /// The [minimum](super::Test::min_runs) number of runs that must be judged.
        #[doc(hidden)]
        least: u64,
        /// The number of runs that were executed, but could not be judged in time.
        #[doc(hidden)]
        undecided: u64,
    },
    /// In no run did two operations overlap.
    NoOverlap {
        /// The number of runs.
        #[doc(hidden)]
        runs: u64,
    },
    /// An operation was never called.
    NeverCalled {
        /// The name of the operation.
        #[doc(hidden)]
        operation: String,
        /// The number of calls of all operations.
        #[doc(hidden)]
        calls: u64,
    },
    /// Schedules were explored, but no operation reached a schedule point, so no operation could be
    /// interrupted.
    NoSchedulePoint,
}

impl TooLittle {
    /// Returns advice on how to change the test.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::GaveUp { .. } => {
                "release such threads with `.release(..)`, or build the object on `trueline::primitives`, which \
                 releases them"
            }
            Self::FewRuns { undecided: 0, .. } => {
                "give the test more time with `.time(..)`, or accept fewer runs with `.min_runs(..)`"
            }
            Self::FewRuns { .. } => {
                "make runs smaller with `.calls(..)`, or allow more time for each with `.timeout(..)`"
            }
            Self::NoOverlap { .. } => {
                "use at least two threads that call operations (`.threads(..)`), or make them yield (`.chaos(4)`)"
            }
            Self::NeverCalled { .. } => {
                "check that its `.when(..)` can return `true`, or leave the operation out with `.weight(0)`"
            }
            Self::NoSchedulePoint => {
                "build the object on `trueline::primitives`, whose atomics and locks are those of `std` outside of an \
                 exploration, or test it with real threads, without `.explore(..)`"
            }
        }
    }
}

impl fmt::Display for TooLittle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GaveUp { lost } => {
                write!(f, "the test gave up, because {lost} threads never returned from operations that block")
            }
            Self::FewRuns { judged, least, undecided: 0 } => {
                write!(f, "only {judged} runs were made, but at least {least} are needed")
            }
            Self::FewRuns { judged, least, undecided } => {
                write!(
                    f,
                    "only {judged} runs were judged, {undecided} were not judged in time, and at least {least} are \
                     needed"
                )
            }
            Self::NoOverlap { runs } => write!(f, "no two operations overlapped in any of {runs} runs"),
            Self::NeverCalled { operation, calls } => {
                write!(f, "`{}` was never called, although there were {calls} calls", visible(operation))
            }
            Self::NoSchedulePoint => {
                f.write_str("no operation reached a schedule point, so none was ever interrupted; ")?;
                f.write_str(super::how_to_instrument())
            }
        }
    }
}

/// The calls of one operation, and whether its results differ.
#[derive(Clone, Debug, Default)]
struct Called {
    calls: u64,
    /// The first result that the operation returned.
    first: Option<Value>,
    has_returned_others: bool,
}

/// The calls in all runs of a test.
#[derive(Debug, Default)]
pub(super) struct Coverage(Mutex<Covered>);

#[derive(Debug, Default)]
struct Covered {
    runs: u64,
    calls: u64,
    operations: Vec<Called>,
    has_overlap: bool,
}

/// An operation that was never called is reported if at least this many of its calls were expected:
/// chance cannot explain that none took place. An operation that always returned the same result is
/// reported if it was called at least this many times.
const EXPECTED_CALLS: u64 = 100;
/// A test in which no operations overlapped is reported if it had at least this many runs, because
/// chance cannot explain the missing overlap.
const RUNS_WITHOUT_OVERLAP: u64 = 100;
/// If only threads with certain roles call an operation, the expected number of its calls is
/// divided by this number.
const THREADS_PER_ROLE: u64 = 8;

impl Coverage {
    /// Adds a run.
    pub(super) fn add(&self, history: &History<Call, Value>) {
        let covered = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        covered.runs += 1;
        covered.calls += history.len() as u64;
        for operation in history.operations() {
            let number = operation.op.operation as usize;
            if covered.operations.len() <= number {
                covered.operations.resize(number + 1, Called::default());
            }
            let called = &mut covered.operations[number];
            called.calls += 1;
            match (operation.outcome.result(), &called.first) {
                (Some(result), None) => called.first = Some(result.clone()),
                (Some(result), Some(first)) => called.has_returned_others |= result != first,
                (None, _) => called.has_returned_others = true,
            }
        }
        if !covered.has_overlap {
            let mut open = 0;
            covered.has_overlap = history.events().iter().any(|event| {
                open += if event.kind() == EventKind::Call { 1 } else { -1 };
                open > 1
            });
        }
    }

    /// Returns the reasons why too little was tested.
    pub(super) fn too_little(&self, plan: &Plan) -> Vec<TooLittle> {
        let covered = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If the user asked for one particular program, its calls are intended, so no operation or
        // overlap is reported as missing.
        if plan.options.replay.is_some() || plan.options.only.is_some() {
            return Vec::new();
        }
        let mut found = Vec::new();
        // In a test with one thread, operations never overlap. If the user asked for one thread,
        // this is intended.
        if !covered.has_overlap && covered.runs >= RUNS_WITHOUT_OVERLAP && plan.options.threads != Some(1) {
            found.push(TooLittle::NoOverlap { runs: covered.runs });
        }
        let kinds = &plan.workload.kinds;
        let weights: u64 = kinds.iter().map(|kind| u64::from(kind.weight)).sum();
        for (number, kind) in kinds.iter().enumerate() {
            let is_called = covered.operations.get(number).is_some_and(|called| called.calls > 0);
            let per_role = if kind.roles.is_empty() { 1 } else { THREADS_PER_ROLE };
            let expected = covered.calls.saturating_mul(u64::from(kind.weight)) / weights.max(1) / per_role;
            if !is_called && expected >= EXPECTED_CALLS && !plan.has_given_programs() {
                found.push(TooLittle::NeverCalled { operation: kind.name.to_string(), calls: covered.calls });
            }
        }
        found
    }

    /// Returns a warning for each operation that always returned the same result, although it was called often.
    pub(super) fn warnings(&self, plan: &Plan) -> Vec<String> {
        let covered = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if plan.options.replay.is_some() || plan.options.only.is_some() || plan.has_given_programs() {
            return Vec::new();
        }
        let operations = plan.workload.kinds.iter().zip(&covered.operations).zip(&*plan.signatures);
        operations
            .filter(|((_, called), signature)| {
                called.calls >= EXPECTED_CALLS && !called.has_returned_others && signature.returns
            })
            .map(|((kind, called), _)| {
                let result = called.first.as_ref().map_or_else(String::new, kind.show_result);
                format!(
                    "`{}` returned {} in all of its {} calls, so it was hardly tested",
                    visible(&kind.name),
                    visible(&result),
                    called.calls
                )
            })
            .collect()
    }

    /// Returns the names of the operations that were called and are not in `reached`.
    #[cfg(feature = "systematic")]
    pub(super) fn called_except<'p>(&self, plan: &'p Plan, reached: &[bool]) -> Vec<&'p str> {
        let covered = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let numbered = plan.workload.kinds.iter().zip(&covered.operations).enumerate();
        numbered
            .filter(|(number, (_, called))| called.calls > 0 && !reached.get(*number).copied().unwrap_or(false))
            .map(|(_, (kind, _))| &*kind.name)
            .collect()
    }

    /// Returns the number of runs whose calls have been recorded.
    #[cfg(feature = "systematic")]
    pub(super) fn runs(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).runs
    }
}
