//! A part of a history to be judged, and the groups of its executions that may synchronize.

use std::ops::Deref;

use super::numbered::ByNumber;
use crate::history::OpId;
use crate::judge::groups::Cut;

/// A function that is called with a group, the state that it leads to, and the results of its executions.
pub(super) type OnSuccessor<'f> = dyn FnMut(&[OpId], u32, Vec<u32>) + 'f;

/// A history to be judged by a specification.
pub(super) struct SyncTask<'a> {
    pub(super) spec: &'a dyn ByNumber,
    pub(super) cut: Cut<'a, u32, u32>,
}

impl<'a> Deref for SyncTask<'a> {
    type Target = Cut<'a, u32, u32>;

    fn deref(&self) -> &Self::Target {
        &self.cut
    }
}

impl SyncTask<'_> {
    /// Returns the rank of an execution. Executions that synchronize are ordered by their places
    /// (`SyncSpec::place`), and executions with equal places by their calls.
    pub(super) fn rank(&self, op: OpId) -> (u32, OpId) {
        (self.spec.place(self.op(op)), op)
    }

    /// Returns the outcomes of a synchronization of these executions, which must be sorted by rank.
    /// Each outcome is the next state and the results of the executions.
    pub(super) fn synchronize(&self, state: &u32, group: &[OpId]) -> impl Iterator<Item = (u32, Vec<u32>)> {
        let ops: Vec<&u32> = group.iter().map(|op| self.op(*op)).collect();
        let fits = |results: &[u32]| {
            debug_assert_eq!(results.len(), group.len(), "each execution has a result");
            group.iter().zip(results).all(|(op, result)| self.result(*op).is_none_or(|known| known == result))
        };
        let mut outcomes = self.spec.synchronize(state, &ops);
        outcomes.retain(|(_, results)| fits(results));
        outcomes.into_iter()
    }

    /// Calls `found` for every group of `candidates` that may synchronize in `state`, with the
    /// group, the next state and the results. `candidates` must be sorted by rank. If `must` is
    /// given, calls `found` only for groups that contain that execution.
    pub(super) fn for_each_group(
        &self,
        state: &u32,
        candidates: &[OpId],
        must: Option<OpId>,
        found: &mut OnSuccessor<'_>,
    ) {
        let arities = self.spec.arities(state);
        let mut groups =
            Groups { task: self, state, arities: &arities, candidates, chosen: Vec::new(), ops: Vec::new() };
        groups.extend(0, must, found);
    }

    /// Returns a group of these executions that may synchronize, if there is one.
    pub(super) fn find_group(&self, state: &u32, candidates: &[OpId]) -> Option<Vec<OpId>> {
        let mut first = None;
        self.for_each_group(state, candidates, None, &mut |group, _, _| {
            first.get_or_insert_with(|| group.to_vec());
        });
        first
    }
}

/// Enumerates the groups that may synchronize, by adding executions to a group one by one.
struct Groups<'g, 'a> {
    task: &'g SyncTask<'a>,
    state: &'g u32,
    arities: &'g [usize],
    candidates: &'g [OpId],
    chosen: Vec<OpId>,
    ops: Vec<&'a u32>,
}

impl Groups<'_, '_> {
    fn extend(&mut self, start: usize, must: Option<OpId>, found: &mut OnSuccessor<'_>) {
        let size = self.chosen.len();
        if must.is_none() && size > 0 && self.arities.contains(&size) {
            for (state, results) in self.task.synchronize(self.state, &self.chosen) {
                found(&self.chosen, state, results);
            }
        }
        let left = self.candidates.len() - start;
        let may_grow = self.arities.iter().any(|arity| *arity > size && *arity <= size + left);
        if !may_grow || (size > 0 && !self.task.spec.extends(self.state, &self.ops)) {
            return;
        }
        for index in start..self.candidates.len() {
            // Stop if the remaining candidates are too few for every arity.
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
