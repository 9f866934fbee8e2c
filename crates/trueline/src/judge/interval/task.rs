//! A history that is judged by a specification, and the steps that its executions may take.

use std::ops::Deref;

use crate::history::{EventKind, OpId};
use crate::judge::groups::Cut;
use crate::spec::interval::{IntervalSpec, Part};

/// A step: the executions that take part in it, sorted. Each execution has a flag that is set if the
/// execution ends with the step.
pub(super) type IntervalStep = Vec<(OpId, bool)>;

/// A function that is called with the executions that take part in a step, the state that the step
/// leads to, and the results of the executions that end.
pub(super) type OnSuccessor<'f, S> =
    dyn FnMut(&[Member], <S as IntervalSpec>::State, Vec<Option<<S as IntervalSpec>::Ret>>) + 'f;

/// An execution that may take part in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) op: OpId,
    pub(super) has_begun: bool,
}

/// A history that is judged by a specification.
pub(super) struct IntervalTask<'a, S: IntervalSpec> {
    pub(super) spec: &'a S,
    pub(super) cut: Cut<'a, S::Op, S::Ret>,
    /// Whether only executions that returned may end. If so, the other executions may begin, but
    /// may not end.
    pub(super) only_returned_end: bool,
}

impl<'a, S: IntervalSpec> Deref for IntervalTask<'a, S> {
    type Target = Cut<'a, S::Op, S::Ret>;

    fn deref(&self) -> &Self::Target {
        &self.cut
    }
}

impl<'a, S: IntervalSpec> IntervalTask<'a, S> {
    /// Returns all executions, in the order of their calls.
    pub(super) fn executions(&self) -> impl Iterator<Item = OpId> + '_ {
        self.events().filter(|event| event.kind() == EventKind::Call).map(|event| event.op())
    }

    /// Returns the executions that are still open at the end, in the order of their calls.
    pub(super) fn stuck(&self) -> Vec<OpId> {
        self.executions().filter(|op| !self.has_returned(*op)).collect()
    }

    pub(super) fn part(&self, member: Member) -> Part<'a, S::Op> {
        let op = self.op(member.op);
        if member.has_begun { Part::GoesOn(op) } else { Part::Begins(op) }
    }

    /// Sorts by [`IntervalSpec::place`]. For equal places, executions that have begun come first, and then those that
    /// were called earlier.
    pub(super) fn sort(&self, members: &mut [Member]) {
        members.sort_by_key(|member| (self.spec.place(self.op(member.op)), !member.has_begun, member.op));
    }

    /// Returns whether an execution may end with this result. If `result` is `None`, the execution
    /// continues, which is always allowed.
    pub(super) fn fits(&self, op: OpId, result: Option<&S::Ret>) -> bool {
        result.is_none_or(|result| {
            let may_end = !self.only_returned_end || self.has_returned(op);
            may_end && self.result(op).is_none_or(|known| known == result)
        })
    }

    /// Calls `found` for every step that some of the candidates may take in `state`. The candidates
    /// must be sorted.
    pub(super) fn for_each_step(&self, state: &S::State, candidates: &[Member], found: &mut OnSuccessor<'_, S>) {
        let mut groups = Groups { task: self, state, candidates, chosen: Vec::new(), parts: Vec::new() };
        groups.extend(0, found);
    }

    /// Returns one step that some of the candidates may take in `state`, if there is one. The
    /// candidates must be sorted.
    pub(super) fn find_step(&self, state: &S::State, candidates: &[Member]) -> Option<(IntervalStep, S::State)> {
        let mut first = None;
        self.for_each_step(state, candidates, &mut |members, state, results| {
            first.get_or_insert_with(|| (step(members, &results), state));
        });
        first
    }
}

/// Returns the step that these executions take. Each execution with a result ends with the step.
pub(super) fn step<Ret>(members: &[Member], results: &[Option<Ret>]) -> IntervalStep {
    members.iter().zip(results).map(|(member, result)| (member.op, result.is_some())).collect()
}

/// The sets of executions that may take a step together. The search extends a set by one execution
/// at a time.
struct Groups<'g, 'a, S: IntervalSpec> {
    task: &'g IntervalTask<'a, S>,
    state: &'g S::State,
    candidates: &'g [Member],
    chosen: Vec<Member>,
    parts: Vec<Part<'a, S::Op>>,
}

impl<S: IntervalSpec> Groups<'_, '_, S> {
    fn extend(&mut self, start: usize, found: &mut OnSuccessor<'_, S>) {
        if !self.chosen.is_empty() {
            self.step(found);
            if start == self.candidates.len() || !self.task.spec.extends(self.state, &self.parts) {
                return;
            }
        }
        for index in start..self.candidates.len() {
            let candidate = self.candidates[index];
            self.chosen.push(candidate);
            self.parts.push(self.task.part(candidate));
            self.extend(index + 1, found);
            self.chosen.pop();
            self.parts.pop();
        }
    }

    fn step(&self, found: &mut OnSuccessor<'_, S>) {
        let begins = self.chosen.iter().any(|member| !member.has_begun);
        for (state, results) in self.task.spec.step(self.state, &self.parts) {
            debug_assert_eq!(results.len(), self.chosen.len(), "each execution of a step either ends or continues");
            let fits = |(member, result): (&Member, &Option<S::Ret>)| self.task.fits(member.op, result.as_ref());
            if (begins || results.iter().any(Option::is_some)) && self.chosen.iter().zip(&results).all(fits) {
                found(&self.chosen, state, results);
            }
        }
    }
}
