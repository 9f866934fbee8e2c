//! Interval linearizability by its definition: the oracle that the search is compared with.
//!
//! Castañeda, Rajsbaum & Raynal, in the form of section 10 of Lawrence & Lowe. A history is
//! interval-linearizable if there is a sequence of steps with two properties: if an execution
//! returned before another was called, it ends before the other begins; and every execution that
//! returned ends with the result that it returned. Steps are not placed in time. So an execution
//! that has not ended may take part in the next step if all executions that must end before it have
//! ended. All sets of such executions are tried, until nothing new can be reached.
//!
//! *Why this is equivalent to placing steps in time:* place each step just after the last call among
//! the executions that have begun by then, including those that begin with this step. An execution
//! that takes part in the step cannot have returned before that last call: otherwise, it would have
//! had to end before the last-called execution began.
//!
//! # Complexity
//! O(3^n s) configurations for n executions and s states, with O(2^n) steps from each.

use std::collections::HashSet;

use super::task::{IntervalStep, IntervalTask, Member};
use crate::history::OpId;
use crate::judge::search::Meter;
use crate::spec::interval::{IntervalSpec, Part};
use crate::verdict::LimitKind;

/// The maximum number of executions. It is limited because all sets of executions are tried.
const MOST: usize = 31;

/// A configuration that can be reached: the state; the executions that have begun and those that
/// have ended, as bits in the order of calls; and the steps that lead to the configuration.
struct Reached<S: IntervalSpec> {
    state: S::State,
    begun: u32,
    ended: u32,
    steps: Vec<IntervalStep>,
}

/// Returns an interval linearization if there is one. If `is_maximal` is set, considers only
/// linearizations that no step can extend.
pub(super) fn search<S: IntervalSpec>(
    task: &IntervalTask<'_, S>,
    is_maximal: bool,
    meter: &mut Meter,
) -> Result<Option<Vec<IntervalStep>>, LimitKind> {
    let ops: Vec<OpId> = task.executions().collect();
    if ops.len() > MOST {
        return Err(LimitKind::Refused("there are too many executions to try all sets of them"));
    }
    let mut todo: Vec<Reached<S>> = vec![Reached { state: task.spec.initial(), begun: 0, ended: 0, steps: Vec::new() }];
    let mut seen: HashSet<(S::State, u32, u32)> = HashSet::new();
    while let Some(reached) = todo.pop() {
        meter.configuration()?;
        if !seen.insert((reached.state.clone(), reached.begun, reached.ended)) {
            continue;
        }
        meter.allocate(2 * size_of::<(S::State, u32, u32)>())?;
        let is_done = ops.iter().enumerate().all(|(at, op)| is_in(reached.ended, at) || !task.has_returned(*op));
        let next = steps(task, &ops, &reached, meter)?;
        if is_done && (!is_maximal || next.is_empty()) {
            return Ok(Some(reached.steps));
        }
        let keeps = |reached: &Reached<S>| {
            let is_kept = |at: usize| task.has_returned(ops[at]) || !is_in(reached.ended, at);
            !task.only_returned_end || (0..ops.len()).all(is_kept)
        };
        todo.extend(next.into_iter().filter(keeps));
    }
    Ok(None)
}

fn is_in(set: u32, at: usize) -> bool {
    set >> at & 1 == 1
}

/// Returns the configurations that are one step away from `reached`, for every choice of the
/// executions that end with the step.
fn steps<S: IntervalSpec>(
    task: &IntervalTask<'_, S>,
    ops: &[OpId],
    reached: &Reached<S>,
    meter: &mut Meter,
) -> Result<Vec<Reached<S>>, LimitKind> {
    let precedes = |first: usize, second: usize| {
        task.history[ops[first]]
            .return_position()
            .is_some_and(|returned| returned < task.until && returned < task.history[ops[second]].call_position())
    };
    let may_take_part = |at: &usize| {
        !is_in(reached.ended, *at) && (0..ops.len()).all(|other| is_in(reached.ended, other) || !precedes(other, *at))
    };
    let candidates: Vec<usize> = (0..ops.len()).filter(may_take_part).collect();
    let mut next = Vec::new();
    for bits in 1_u32..1 << candidates.len() {
        meter.look_at_clock()?;
        let is_chosen = |(number, at): (usize, &usize)| is_in(bits, number).then_some(*at);
        let mut chosen: Vec<usize> = candidates.iter().enumerate().filter_map(is_chosen).collect();
        let set = chosen.iter().fold(0, |set, at| set | 1_u32 << at);
        chosen.sort_by_key(|at| (task.spec.place(task.op(ops[*at])), !is_in(reached.begun, *at), *at));
        let parts: Vec<Part<'_, S::Op>> =
            chosen.iter().map(|at| task.part(Member { op: ops[*at], has_begun: is_in(reached.begun, *at) })).collect();
        for (state, results) in task.spec.step(&reached.state, &parts) {
            let wrong = |(at, result): (&usize, &Option<S::Ret>)| match (result, task.result(ops[*at])) {
                (Some(result), Some(known)) => result != known,
                _ => false,
            };
            let ends = chosen.iter().zip(&results).filter(|(_, result)| result.is_some());
            let ended = ends.fold(reached.ended, |ended, (at, _)| ended | 1 << at);
            let begun = reached.begun | set;
            if chosen.iter().zip(&results).any(wrong) || (begun, ended) == (reached.begun, reached.ended) {
                continue;
            }
            let step = chosen.iter().zip(&results).map(|(at, result)| (ops[*at], result.is_some())).collect();
            let steps: Vec<IntervalStep> = reached.steps.iter().cloned().chain([step]).collect();
            let of_steps: usize = steps.iter().map(|step| size_of::<IntervalStep>() + size_of_val(&step[..])).sum();
            meter.allocate(2 * size_of::<Reached<S>>() + of_steps)?;
            next.push(Reached { state, begun, ended, steps });
        }
    }
    Ok(next)
}
