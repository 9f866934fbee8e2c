//! Enumerates the legal orders of a core's operations, as far as this is needed to decide claims
//! about the operations.
//!
//! An execution is an order, allowed by the specification, of all completed operations and any of the others. Whether
//! an execution satisfies given claims is decided by trying executions. This code shares nothing with the searches of
//! [`check`](crate::judge::check), which constrain the order only by real time.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::prover::id;
use crate::history::OpId;
use crate::judge::CancelToken;
use crate::judge::erased::Machine;
use crate::judge::frame::Frame;
use crate::judge::search::hash;
use crate::verdict::Member;

/// The maximum number of operations of a core. Larger cores get no argument.
pub(super) const MOST_OPERATIONS: usize = 128;

/// A set of operations of a core.
pub(super) type Mask = u128;

pub(super) fn bit(op: usize) -> Mask {
    1 << op
}

/// Returns the operations of a set.
pub(super) fn ops(mask: Mask) -> impl Iterator<Item = usize> {
    (0..MOST_OPERATIONS).filter(move |op| mask & bit(*op) != 0)
}

/// Conditions that an execution must satisfy.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// For each operation, the operations that must come before it.
    needs: Vec<Mask>,
    /// For each operation, the operations that must not come before it.
    avoids: Vec<Mask>,
    /// The operations that must take effect.
    must: Mask,
}

/// The executions of a core: a small set of operations that is enough to reject the history.
pub(super) struct Executions<'m> {
    machine: &'m mut (dyn Machine + 'm),
    /// For each pair of a state and an operation that has been tried so far, the states that the operation leads to
    /// from that state.
    steps: HashMap<(u32, usize), SmallVec<[u32; 2]>, hash::Builder>,
    /// The number of operations.
    pub(super) count: usize,
    /// The operations that completed.
    pub(super) completed: Mask,
    /// For each operation, the operations that returned before it was called.
    pub(super) real_time: Vec<Mask>,
    /// For each operation, the operations that were called after it returned in the whole history.
    /// In the core, the operation may be pending, because the core forgets its return.
    pub(super) later: Vec<Mask>,
    /// The number of configurations that may still be visited.
    left: u64,
    /// Canceling this token ends the work early.
    cancel: CancelToken,
}

/// The maximum number of states that are collected.
const MOST_STATES: usize = 100;
/// The maximum number of configurations for one query.
const MOST_PER_QUESTION: u64 = 30_000;
/// The maximum number of configurations that all queries about a core visit together. The search
/// for places has its own limit of the same size.
const MOST_IN_ALL: u64 = 300_000;

impl<'m> Executions<'m> {
    pub(super) fn new(
        machine: &'m mut (dyn Machine + 'm),
        frame: Frame<'_>,
        members: &[Member],
        cancel: &CancelToken,
    ) -> Self {
        let count = frame.len();
        assert!(count <= MOST_OPERATIONS, "the core has too many operations to explain");
        let set = |is_in: &dyn Fn(OpId) -> bool| {
            frame.operations().filter(|op| is_in(*op)).fold(0, |mask, op| mask | bit(op.index()))
        };
        Self {
            machine,
            steps: HashMap::default(),
            count,
            completed: set(&|op| frame.ret(op).is_some()),
            real_time: frame.operations().map(|op| set(&|other| frame.precedes(other, op))).collect(),
            later: members
                .iter()
                .map(|one| set(&|op| one.events.1.is_some_and(|ret| ret < members[op.index()].events.0)))
                .collect(),
            left: MOST_IN_ALL,
            cancel: cancel.clone(),
        }
    }

    /// Returns a query that every execution satisfies, even if the execution contradicts real time.
    pub(super) fn any(&self) -> Query {
        Query { needs: vec![0; self.count], avoids: vec![0; self.count], must: self.completed }
    }

    /// Returns the states that an operation leads to from `state`. If the operation has a recorded result, it must
    /// return this result.
    pub(super) fn next(&mut self, state: u32, op: usize) -> SmallVec<[u32; 2]> {
        let Self { machine, steps, .. } = self;
        steps.entry((state, op)).or_insert_with(|| machine.next(state, id(op))).clone()
    }

    pub(super) fn describe(&self, state: u32) -> String {
        self.machine.describe(state)
    }

    /// Returns the maximum number of configurations that the next query may visit. This is the smaller of `most` and
    /// the number that is left for all queries, or 0 after a cancellation.
    pub(super) fn most(&self, most: u64) -> u64 {
        if self.cancel.is_cancelled() { 0 } else { most.min(self.left) }
    }

    /// Records the number of configurations that a query visited.
    pub(super) fn visited(&mut self, configurations: usize) {
        self.left = self.left.saturating_sub(configurations as u64);
    }

    /// Returns whether an execution satisfies the query, or `None` if there are too many configurations to decide it.
    pub(super) fn exists(&mut self, query: &Query) -> Option<bool> {
        let mut seen: HashSet<(Mask, u32), hash::Builder> = HashSet::default();
        let mut stack = vec![(0, 0)];
        let most = self.most(MOST_PER_QUESTION);
        seen.insert((0, 0));
        while let Some((done, state)) = stack.pop() {
            if query.must & !done == 0 {
                self.visited(seen.len());
                return Some(true);
            }
            if seen.len() as u64 > most || self.cancel.is_cancelled() {
                self.visited(seen.len());
                return None;
            }
            for op in 0..self.count {
                let is_allowed = done & bit(op) == 0 && query.needs[op] & !done == 0 && query.avoids[op] & done == 0;
                if !is_allowed {
                    continue;
                }
                for next in self.next(state, op) {
                    let configuration = (done | bit(op), next);
                    if seen.insert(configuration) {
                        stack.push(configuration);
                    }
                }
            }
        }
        self.visited(seen.len());
        Some(false)
    }

    /// Returns all states that the operations may lead to if each operation may be repeated any
    /// number of times. These include all states that executions pass through. Returns `None` if
    /// there are more than [`MOST_STATES`].
    pub(super) fn states(&mut self) -> Option<Vec<u32>> {
        let mut states = vec![0];
        let mut at = 0;
        while at < states.len() {
            for op in 0..self.count {
                for next in self.next(states[at], op) {
                    if !states.contains(&next) {
                        states.push(next);
                    }
                }
            }
            at += 1;
            if states.len() > MOST_STATES {
                return None;
            }
        }
        states.sort_unstable();
        Some(states)
    }

    /// Returns states that executions pass through, regardless of real time. Also returns whether these are all such
    /// states: there may be more, because the number of visited configurations is limited.
    pub(super) fn passed(&mut self) -> (Vec<u32>, bool) {
        let mut seen: HashSet<(Mask, u32), hash::Builder> = HashSet::default();
        let mut passed = vec![(0, 0)];
        seen.insert((0, 0));
        let mut at = 0;
        while at < passed.len() && (passed.len() as u64) < MOST_PER_QUESTION && !self.cancel.is_cancelled() {
            let (done, state) = passed[at];
            at += 1;
            for op in (0..self.count).filter(|op| done & bit(*op) == 0) {
                for next in self.next(state, op) {
                    if seen.insert((done | bit(op), next)) {
                        passed.push((done | bit(op), next));
                    }
                }
            }
        }
        self.visited(passed.len());
        let is_complete = at == passed.len();
        let mut states: Vec<u32> = passed.into_iter().map(|(_, state)| state).collect();
        states.sort_unstable();
        states.dedup();
        (states, is_complete)
    }
}

impl Query {
    /// Requires `first` to come before `second` if `second` takes effect.
    pub(super) fn with(&mut self, first: usize, second: usize) {
        self.needs[second] |= bit(first);
    }

    /// Requires `second` to take effect, and `first` not to come before it.
    pub(super) fn without(&mut self, first: usize, second: usize) {
        self.avoids[second] |= bit(first);
        self.must |= bit(second);
    }

    /// Requires the operation to take effect.
    pub(super) fn takes_effect(&mut self, op: usize) {
        self.must |= bit(op);
    }
}
