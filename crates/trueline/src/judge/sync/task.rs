//! A part of a history to be judged, and which of its executions fit together.

use crate::history::{Event, EventKind, History, OpId, Outcome};
use crate::spec::sync::SyncSpec;

/// What is told of a group: the state that it leads to, and what each of it returns.
pub(super) type Found<'f, S> = dyn FnMut(&[OpId], <S as SyncSpec>::State, Vec<<S as SyncSpec>::Ret>) + 'f;

/// The events of one object, up to a place.
pub(super) struct Task<'a, S: SyncSpec> {
    pub(super) spec: &'a S,
    pub(super) history: &'a History<S::Op, S::Ret>,
    pub(super) events: &'a [Event],
    /// Events from this position on have not happened: what returns there has not returned, with no result yet.
    pub(super) until: u32,
    /// Instead of what it returned, if it did.
    pub(super) assumed: Option<(OpId, &'a S::Ret)>,
    /// Whether executions that do not return are left out.
    pub(super) only_returned: bool,
}

impl<S: SyncSpec> Clone for Task<'_, S> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, S: SyncSpec> Task<'a, S> {
    /// The events that have happened, with those of executions that are left out left out.
    pub(super) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.events_from(0)
    }

    /// The same, without the first so many of the part.
    pub(super) fn events_from(&self, first: usize) -> impl Iterator<Item = Event> + '_ {
        let happened = self.events[first..].iter().take_while(|event| self.position(Some(event)) < self.until);
        happened.copied().filter(|event| !self.only_returned || self.has_returned(event.op()))
    }

    /// Where an event is; behind everything if there is none.
    pub(super) fn position(&self, event: Option<&Event>) -> u32 {
        event.map_or(u32::MAX, |event| {
            let operation = &self.history[event.op()];
            match event.kind() {
                EventKind::Call => operation.call_position(),
                EventKind::Return => operation.return_position().expect("it has a return event"),
            }
        })
    }

    pub(super) fn has_returned(&self, op: OpId) -> bool {
        self.history[op].return_position().is_some_and(|position| position < self.until)
    }

    /// Where it returned; behind everything if it did not.
    pub(super) fn return_position(&self, op: OpId) -> u32 {
        self.history[op].return_position().filter(|position| *position < self.until).unwrap_or(u32::MAX)
    }

    pub(super) fn op(&self, op: OpId) -> &'a S::Op {
        &self.history[op].op
    }

    /// The result that it must have, if that is known.
    pub(super) fn result(&self, op: OpId) -> Option<&'a S::Ret> {
        if let Some((_, result)) = self.assumed.filter(|(other, _)| *other == op) {
            return Some(result);
        }
        match &self.history[op].outcome {
            Outcome::Returned(result) if self.has_returned(op) => Some(result),
            Outcome::Optional(result) => Some(result),
            Outcome::Returned(_) | Outcome::Pending => None,
        }
    }

    /// The place among those that it synchronises with, and, of those of one place, in the order of calls.
    pub(super) fn rank(&self, op: OpId) -> (u32, OpId) {
        (self.spec.place(self.op(op)), op)
    }

    /// The states that these executions lead to if they synchronise; they are sorted by rank.
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

    /// Calls `found` for every group of `candidates`, sorted by rank, that may synchronise in `state`, with what comes of
    /// it: if `must` is given, for those with that execution.
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

    /// Whether some group of these may synchronise.
    pub(super) fn find_group(&self, state: &S::State, candidates: &[OpId]) -> Option<Vec<OpId>> {
        let mut first = None;
        self.for_each_group(state, candidates, None, &mut |group, _, _| {
            first.get_or_insert_with(|| group.to_vec());
        });
        first
    }
}

/// The groups that may synchronise, tried one execution after the other.
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
            // The rest is too short for any.
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
