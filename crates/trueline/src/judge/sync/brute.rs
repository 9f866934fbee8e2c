//! Finds synchronization linearizations directly by their definition. This checker is the oracle
//! that the other checkers are compared with.
//!
//! Lawrence & Lowe, definitions 1 to 4: a synchronization linearization is a sequence of synchronizations that keeps
//! the order of executions that do not overlap, contains every execution that returned and possibly some of the others,
//! and yields the results that were returned. So every set of remaining executions is tried as the next
//! synchronization.
//!
//! # Complexity
//! O(2^n n!) steps of the specification.

use super::task::SyncTask;
use crate::history::{EventKind, OpId};
use crate::judge::search::Meter;
use crate::verdict::{LimitKind, Synchronizations};

/// Returns a synchronization linearization, or `None` if none exists. If `left_over` is given, the
/// linearization must be maximal: no synchronization of the executions in `left_over` extends it.
pub(super) fn search(
    task: &SyncTask<'_>,
    left_over: Option<&[OpId]>,
    meter: &mut Meter,
) -> Result<Option<Synchronizations>, LimitKind> {
    let mut left: Vec<OpId> =
        task.events().filter(|event| event.kind() == EventKind::Call).map(|event| event.op()).collect();
    left.sort_by_key(|op| task.rank(*op));
    let mut groups = Vec::new();
    let found = extend(task, &task.spec.initial(), &left, left_over, &mut groups, meter)?;
    Ok(found.then_some(groups))
}

fn extend(
    task: &SyncTask<'_>,
    state: &u32,
    left: &[OpId],
    left_over: Option<&[OpId]>,
    groups: &mut Synchronizations,
    meter: &mut Meter,
) -> Result<bool, LimitKind> {
    meter.configuration()?;
    let is_done = left.iter().all(|op| !task.has_returned(*op));
    if is_done && is_maximal(task, state, left_over, meter)? {
        return Ok(true);
    }
    let is_next = |op: &OpId| left.iter().all(|other| !precedes(task, *other, *op));
    let next: Vec<OpId> = left.iter().copied().filter(is_next).collect();
    for set in subsets(&next)? {
        meter.look_at_clock()?;
        for (next, _) in task.synchronize(state, &set) {
            let rest: Vec<OpId> = left.iter().copied().filter(|op| !set.contains(op)).collect();
            groups.push(set.clone());
            if extend(task, &next, &rest, left_over, groups, meter)? {
                return Ok(true);
            }
            groups.pop();
        }
    }
    Ok(false)
}

/// Returns whether no synchronization of the executions in `left_over` is possible.
fn is_maximal(
    task: &SyncTask<'_>,
    state: &u32,
    left_over: Option<&[OpId]>,
    meter: &mut Meter,
) -> Result<bool, LimitKind> {
    for set in subsets(left_over.unwrap_or_default())? {
        meter.look_at_clock()?;
        if task.synchronize(state, &set).next().is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn precedes(task: &SyncTask<'_>, first: OpId, second: OpId) -> bool {
    task.has_returned(first) && task.return_position(first) < task.history[second].call_position()
}

/// The maximum number of executions that overlap. It is limited because every set of them is tried.
const MOST: usize = 31;

/// Returns all nonempty sets of these executions.
fn subsets(ops: &[OpId]) -> Result<impl Iterator<Item = Vec<OpId>>, LimitKind> {
    if ops.len() > MOST {
        return Err(LimitKind::Refused("too many executions overlap, so not all sets of them can be tried"));
    }
    Ok((1_u32..1 << ops.len())
        .map(|bits| ops.iter().enumerate().filter(|(at, _)| bits >> at & 1 == 1).map(|(_, op)| *op).collect()))
}
