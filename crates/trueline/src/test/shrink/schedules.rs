//! Explores candidates for shrinking: within the bound of the search, an exploration shows with
//! certainty whether a candidate can fail.

use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::super::failure::FailureKind;
use super::super::listing::Listing;
use super::super::plan::Plan;
use super::{Answer, Effort, First, Freedom, Reduced, reduce};
use crate::drive::Quiet;
use crate::drive::systematic::Execution;

/// The limits of shrinking by exploration. They are high, because exploring a small candidate takes
/// less than a millisecond.
const EFFORT: Effort = Effort { most_for_pairs: 12, most_parts: 600 };
/// A candidate may take at most one third of the remaining time.
const SHARE: u32 = 3;

/// The result of exploring a program.
pub(in super::super) enum Explored {
    /// The failing execution, the kind of its failure, and the number of executions until the failing one was found.
    Wrong(Box<Execution>, FailureKind, u64),
    /// No execution fails.
    Right,
    /// There was not enough time to decide.
    Unknown,
}

/// The smallest failing program.
pub(in super::super) struct Shrunk {
    pub(in super::super) program: Listing,
    pub(in super::super) execution: Execution,
    pub(in super::super) kind: FailureKind,
    pub(in super::super) executions: u64,
    /// Whether no program with one call fewer fails in the same way.
    pub(in super::super) is_minimal: bool,
}

/// Shrinks the program of a failing execution, until `end`. `explore` explores a candidate, within the given time.
///
/// `known` is the failing execution. It is `None` if threads chose the calls, because a fixed
/// program with the same calls does not always fail.
pub(in super::super) fn shrink(
    plan: &Plan,
    first: First<'_>,
    known: Option<&Execution>,
    end: Instant,
    mut explore: impl FnMut(&Listing, Duration) -> Explored,
) -> Option<Shrunk> {
    let First { token, program, kind, hints, is_free: _ } = first;
    let program = program.clone();
    let freedom = Freedom::of(plan, token, kind, EFFORT)?;
    let mut last = None;
    let _quiet = Quiet::new();
    let mut ask = |candidate: &Listing| {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || plan.is_cancelled() {
            return Answer::Over;
        }
        // An exploration panics if the object is not deterministic. This panic is not reported, because the report is
        // about the first failure.
        match catch_unwind(AssertUnwindSafe(|| explore(candidate, left / SHARE))) {
            Ok(Explored::Wrong(execution, how, executions)) if discriminant(&how) == discriminant(kind) => {
                last = Some((candidate.clone(), *execution, how, executions));
                Answer::Fails
            }
            Ok(Explored::Right | Explored::Wrong(..)) => Answer::Holds,
            Ok(Explored::Unknown) => Answer::Unknown,
            Err(_) => Answer::Over,
        }
    };
    // Calls that threads chose may behave differently if they are made as a fixed program.
    if known.is_none() && ask(&program) != Answer::Fails {
        return None;
    }
    let Reduced { program, is_minimal } = reduce(program, hints, &freedom, &mut ask);
    match last {
        Some((smallest, execution, kind, executions)) if smallest == program => {
            Some(Shrunk { program, execution, kind, executions, is_minimal })
        }
        // No smaller program fails.
        _ => Some(Shrunk { program, execution: known?.clone(), kind: kind.clone(), executions: 1, is_minimal }),
    }
}
