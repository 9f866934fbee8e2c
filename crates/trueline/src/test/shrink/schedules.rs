//! Candidates are explored: that one does not fail is certain too, up to the bound.

use std::mem::discriminant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::super::failure::FailureKind;
use super::super::plan::Plan;
use super::super::written::Written;
use super::quiet::Quiet;
use super::{Answer, Effort, First, Freedom, Reduced, reduce};
use crate::drive::systematic::Execution;

/// Small candidates take less than a millisecond.
const EFFORT: Effort = Effort { most_for_pairs: 12, most_parts: 600 };
/// The most of what is left of the time that a candidate may take, as a fraction.
const SHARE: u32 = 3;

/// What became of exploring a program.
pub(in super::super) enum Explored {
    /// So many executions were made until this one went wrong, in this way.
    Wrong(Box<Execution>, FailureKind, u64),
    /// None goes wrong.
    Right,
    /// There was not enough time to say.
    Unknown,
}

/// The smallest program that fails.
pub(in super::super) struct Shrunk {
    pub(in super::super) program: Written,
    pub(in super::super) execution: Execution,
    pub(in super::super) kind: FailureKind,
    pub(in super::super) executions: u64,
    /// Whether nothing goes wrong with one call less.
    pub(in super::super) is_minimal: bool,
}

/// Makes the program of an execution that went wrong smaller, until `end`. Candidates are explored by `explore`, for so long
/// at most.
///
/// If threads chose what is in the program, it may not go wrong itself, so that `known` is nothing.
pub(in super::super) fn shrink(
    plan: &Plan,
    first: First<'_>,
    known: Option<&Execution>,
    end: Instant,
    mut explore: impl FnMut(&Written, Duration) -> Explored,
) -> Option<Shrunk> {
    let First { token, program, kind, hints, is_free: _ } = first;
    let program = program.clone();
    let freedom = Freedom::of(plan, token, kind, EFFORT)?;
    let mut last = None;
    let _quiet = Quiet::new();
    let mut ask = |candidate: &Written| {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || plan.is_cancelled() {
            return Answer::Over;
        }
        // An exploration that is led astray panics. It is no place to say so: what was found first stands.
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
    // What threads chose may do something else as a program.
    if known.is_none() && ask(&program) != Answer::Fails {
        return None;
    }
    let Reduced { program, is_minimal } = reduce(program, hints, &freedom, &mut ask);
    match last {
        Some((smallest, execution, kind, executions)) if smallest == program => {
            Some(Shrunk { program, execution, kind, executions, is_minimal })
        }
        // Nothing smaller fails.
        _ => Some(Shrunk { program, execution: known?.clone(), kind: kind.clone(), executions: 1, is_minimal }),
    }
}
