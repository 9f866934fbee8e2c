//! A part of a history to be judged, and the groups of its executions that may synchronize.

use std::ops::Deref;

use crate::history::OpId;
use crate::judge::explain::Cut;
use crate::spec::sync::SyncSpec;

/// A function that is called with a group, the state that it leads to, and the result of each member.
pub(super) type Found<'f, S> = dyn FnMut(&[OpId], <S as SyncSpec>::State, Vec<<S as SyncSpec>::Ret>) + 'f;

/// A part of a history to be judged by a specification.
pub(super) struct Task<'a, S: SyncSpec> {
    pub(super) spec: &'a S,
    pub(super) cut: Cut<'a, S::Op, S::Ret>,
}

impl<'a, S: SyncSpec> Deref for Task<'a, S> {
    type Target = Cut<'a, S::Op, S::Ret>;

    fn deref(&self) -> &Self::Target {
        &self.cut
    }
}

impl<S: SyncSpec> Task<'_, S> {
    /// Returns the sort key of an execution in a group: its place, and for equal places its call.
    pub(super) fn rank(&self, op: OpId) -> (u32, OpId) {
        (self.spec.place(self.op(op)), op)
    }

    /// Returns the states that these executions, which are sorted by rank, may lead to if they synchronize, with their
    /// results.
    pub(super) fn synchronise(
        &self,
        state: &S::State,
        group: &[OpId],
    ) -> impl Iterator<Item = (S::State, Vec<S::Ret>)> {
        let ops: Vec<&S::Op> = group.iter().map(|op| self.op(*op)).collect();
        let fits = |results: &[S::Ret]| {
            debug_assert_eq!(results.len(), group.len(), "each execution has a result");
            group.iter().zip(results).all(|(op, result)| self.result(*op).is_none_or(|known| known == result))
        };
        let mut outcomes = self.spec.synchronise(state, &ops);
        outcomes.retain(|(_, results)| fits(results));
        outcomes.into_iter()
    }

    /// Calls `found` for every group of `candidates`, which are sorted by rank, that may synchronize in `state`, with
    /// each of its outcomes. If `must` is given, only for groups that contain it.
    pub(super) fn for_each_group(
        &self,
        state: &S::State,
        candidates: &[OpId],
        must: Option<OpId>,
        found: &mut Found<'_, S>,
    ) {
        let arities = self.spec.arities(state);
        let mut groups =
            Groups { task: self, state, arities: &arities, candidates, chosen: Vec::new(), ops: Vec::new() };
        groups.extend(0, must, found);
    }

    /// Returns some group of these executions that may synchronize, if there is one.
    pub(super) fn find_group(&self, state: &S::State, candidates: &[OpId]) -> Option<Vec<OpId>> {
        let mut first = None;
        self.for_each_group(state, candidates, None, &mut |group, _, _| {
            first.get_or_insert_with(|| group.to_vec());
        });
        first
    }
}

/// The groups that may synchronize, tried one execution after the other.
struct Groups<'g, 'a, S: SyncSpec> {
    task: &'g Task<'a, S>,
    state: &'g S::State,
    arities: &'g [usize],
    candidates: &'g [OpId],
    chosen: Vec<OpId>,
    ops: Vec<&'a S::Op>,
}

impl<S: SyncSpec> Groups<'_, '_, S> {
    fn extend(&mut self, start: usize, must: Option<OpId>, found: &mut Found<'_, S>) {
        let size = self.chosen.len();
        if must.is_none() && size > 0 && self.arities.contains(&size) {
            for (state, results) in self.task.synchronise(self.state, &self.chosen) {
                found(&self.chosen, state, results);
            }
        }
        let left = self.candidates.len() - start;
        let may_grow = self.arities.iter().any(|arity| *arity > size && *arity <= size + left);
        if !may_grow || (size > 0 && !self.task.spec.extends(self.state, &self.ops)) {
            return;
        }
        for index in start..self.candidates.len() {
            // The remaining candidates are too few for any arity.
            let left = self.candidates.len() - index;
            if !self.arities.iter().any(|arity| *arity > size && *arity <= size + left) {
                return;
            }
            let candidate = self.candidates[index];
            self.chosen.push(candidate);
            self.ops.push(self.task.op(candidate));
            self.extend(index + 1, must.filter(|must| *must != candidate), found);
            self.chosen.pop();
            self.ops.pop();
            if must == Some(candidate) {
                return;
            }
        }
    }
}
