//! The legal orders of a core's operations, one by one or as far as claims about them need it.
//!
//! An execution is an order of operations that the specification allows, with all that completed and any of the others.
//! Whether there is one that keeps to certain claims is found by trying: this shares nothing with the searches of
//! [`check`](crate::judge::check), which know real time only.

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::known::id;
use crate::history::OpId;
use crate::judge::CancelToken;
use crate::judge::erased::Machine;
use crate::judge::frame::Frame;
use crate::judge::search::hash;
use crate::verdict::Member;

/// The most operations that a core may have to be argued about.
pub(super) const MOST_OPERATIONS: usize = 128;

/// A set of operations of a core.
pub(super) type Mask = u128;

pub(super) fn bit(op: usize) -> Mask {
    1 << op
}

/// The operations of a set.
pub(super) fn ops(mask: Mask) -> impl Iterator<Item = usize> {
    (0..MOST_OPERATIONS).filter(move |op| mask & bit(*op) != 0)
}

/// Which executions are asked for.
#[derive(Clone, Debug)]
pub(super) struct Query {
    /// By operation: what must be before it.
    needs: Vec<Mask>,
    /// By operation: what must not be before it.
    avoids: Vec<Mask>,
    /// What must take effect.
    must: Mask,
}

/// The executions of a core.
pub(super) struct Executions<'m> {
    machine: &'m mut (dyn Machine + 'm),
    /// Steps that were taken: by state and operation, where they lead.
    steps: HashMap<(u32, usize), SmallVec<[u32; 2]>, hash::Builder>,
    /// How many operations there are.
    pub(super) count: usize,
    /// Those that completed.
    pub(super) completed: Mask,
    /// By operation: what returned before it was called.
    pub(super) real_time: Vec<Mask>,
    /// By operation: what was called after its return in the whole history, even if that is forgotten here.
    pub(super) later: Vec<Mask>,
    /// How many configurations may still be looked at.
    left: u64,
    /// Ends all that looks at many.
    cancel: CancelToken,
}

/// So many states are few.
const MOST_STATES: usize = 100;
/// The most configurations that one question may take.
const MOST_PER_QUESTION: u64 = 30_000;
/// The most configurations that all questions about a core may take.
const MOST_IN_ALL: u64 = 300_000;

impl<'m> Executions<'m> {
    pub(super) fn new(
        machine: &'m mut (dyn Machine + 'm),
        frame: Frame<'_>,
        members: &[Member],
        cancel: &CancelToken,
    ) -> Self {
        let count = frame.len();
        assert!(count <= MOST_OPERATIONS, "too many operations to be argued about");
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

    /// All executions, whatever the times were.
    pub(super) fn any(&self) -> Query {
        Query { needs: vec![0; self.count], avoids: vec![0; self.count], must: self.completed }
    }

    /// The states that an operation leads to from this one, with what is known of its result.
    pub(super) fn next(&mut self, state: u32, op: usize) -> SmallVec<[u32; 2]> {
        let Self { machine, steps, .. } = self;
        steps.entry((state, op)).or_insert_with(|| machine.next(state, id(op))).clone()
    }

    pub(super) fn describe(&self, state: u32) -> String {
        self.machine.describe(state)
    }

    /// Whether there is such an execution; `None` if nobody knows.
    pub(super) fn exists(&mut self, query: &Query) -> Option<bool> {
        let mut seen: HashSet<(Mask, u32), hash::Builder> = HashSet::default();
        let mut stack = vec![(0, 0)];
        let most = MOST_PER_QUESTION.min(self.left);
        seen.insert((0, 0));
        while let Some((done, state)) = stack.pop() {
            if query.must & !done == 0 {
                self.left = self.left.saturating_sub(seen.len() as u64);
                return Some(true);
            }
            if seen.len() as u64 > most || self.cancel.is_cancelled() {
                self.left = self.left.saturating_sub(seen.len() as u64);
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
        self.left = self.left.saturating_sub(seen.len() as u64);
        Some(false)
    }

    /// All states that the operations may lead to, each done as often as one likes, and so all that executions pass; `None` if
    /// they are many.
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

    /// The states that executions pass, whatever the times were; and whether these are all, as only so many configurations
    /// are looked at.
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
        self.left = self.left.saturating_sub(passed.len() as u64);
        let is_complete = at == passed.len();
        let mut states: Vec<u32> = passed.into_iter().map(|(_, state)| state).collect();
        states.sort_unstable();
        states.dedup();
        (states, is_complete)
    }
}

impl Query {
    /// Only those in which `first` is before `second`, if that takes effect.
    pub(super) fn with(&mut self, first: usize, second: usize) {
        self.needs[second] |= bit(first);
    }

    /// Only those in which `second` takes effect, and `first` does not before it.
    pub(super) fn without(&mut self, first: usize, second: usize) {
        self.avoids[second] |= bit(first);
        self.must |= bit(second);
    }

    /// Only those in which it takes effect.
    pub(super) fn takes_effect(&mut self, op: usize) {
        self.must |= bit(op);
    }
}
