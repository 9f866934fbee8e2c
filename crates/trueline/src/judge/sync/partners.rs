//! Explains why an execution has no partner: some executions need partners, and together they have
//! too few possible partners.
//!
//! If the object is stateless and its executions synchronize in pairs, a synchronization
//! linearization is a matching that covers all executions that returned (Lawrence & Lowe, section
//! 7.3). Consider the graph with an edge between any two executions that can synchronize. If it has
//! no odd cycle, no such matching exists if and only if some set of executions that returned has
//! fewer possible partners than members (Hall's theorem; by a theorem of Mendelsohn and Dulmage, it
//! is enough to look at sets on one side of the bipartite graph).
//!
//! To find such a set, an alternating tree is built. Its root is the refused execution, and its
//! alternating paths follow the matching that was found for the history before the refused return.
//! The set contains the executions that the tree reaches and that need partners. If there is an odd
//! cycle, the tree may reach the same execution both as a member of the set and as a possible
//! partner of a member. The set then proves nothing, so no explanation is returned.
//!
//! # Complexity
//! Linear in the number of operations for each execution that is reached. Only a few executions are
//! reached.

use hashbrown::HashMap;

use super::greedy::{fits, is_alone, pair};
use super::numbered::{ByNumber, Numbered};
use super::task::SyncTask;
use crate::history::{EventKind, History, OpId, by_object};
use crate::judge::groups::Cut;
use crate::judge::search::hash;
use crate::spec::sync::SyncSpec;
use crate::verdict::{Evidence, Partners, Unfit, WhyUnfit, groups};

/// The maximum number of executions in an explanation.
const MOST_TOLD: usize = 12;

/// Returns why the refused execution of `evidence` has no partner. Returns `None` if the object has
/// a state, if its executions do not synchronize in pairs, or if the history was rejected for
/// another reason.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::Budget;
/// use trueline::judge::sync::{SyncAlgorithm, check, partners};
/// use trueline::spec::sync::{Channel, ChannelOp, ChannelRet};
///
/// let mut builder = History::builder();
/// builder.call(0, ChannelOp::Send(1))?;
/// builder.call(1, ChannelOp::Receive)?;
/// builder.call(2, ChannelOp::Receive)?;
/// builder.ret(1, ChannelRet::Value(1))?;
/// builder.ret(2, ChannelRet::Value(1))?;
/// let (spec, history) = (Channel::new(), builder.finish());
/// let judgment = check(&spec, &history, SyncAlgorithm::Auto, &Budget::unlimited());
/// let evidence = judgment.verdict.evidence().expect("1 was sent once");
///
/// let partners = partners(&spec, &history, evidence).expect("they are pairs");
/// assert_eq!(partners.needing, [OpId(1), OpId(2)]);
/// assert_eq!(partners.partners, [OpId(0)]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn partners<S: SyncSpec, Ret: Clone>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    evidence: &Evidence<Ret>,
) -> Option<Partners> {
    if !super::is_binary(spec) {
        return None;
    }
    let (numbered, history) = Numbered::new(spec, history);
    of_numbered(&numbered, &history, &evidence.clone().map(|_| ()))
}

fn of_numbered(spec: &dyn ByNumber, history: &History<u32, u32>, evidence: &Evidence<()>) -> Option<Partners> {
    let parts = by_object(history);
    let events = parts.iter().find(|events| events.iter().any(|event| event.op() == evidence.refused))?;
    let cut = Cut { until: evidence.event + 1, ..Cut::whole(history, events) };
    let task = SyncTask { spec, cut };
    let calls = task.events().filter(|event| event.kind() == EventKind::Call).map(|event| event.op());
    let graph = Graph { task: &task, ops: calls.collect(), state: spec.initial() };
    let mut matching = Matching::default();
    for group in groups(&evidence.prefix, &evidence.together) {
        if let [one, other] = group {
            // In the prefix, the refused execution has no result yet. With its recorded result, it
            // may not be able to synchronize with the partner that it has in the prefix.
            if graph.are_joined(*one, *other) {
                matching.join(*one, *other);
            }
        }
    }
    // If the refused execution had a partner before its return, that partner may have none now.
    let mut waiting: Vec<OpId> =
        graph.ops.iter().copied().filter(|op| graph.needs(*op) && matching.partner(*op).is_none()).collect();
    waiting.sort_by_key(|op| *op != evidence.refused);
    for op in waiting {
        if matching.partner(op).is_some() {
            continue;
        }
        if let Err((needing, partners)) = graph.augment(&mut matching, op)? {
            let found = graph.tell(needing, partners);
            return graph.is_right(&found).then_some(found);
        }
    }
    None
}

/// The partner of each execution that has one.
#[derive(Default)]
struct Matching {
    partners: HashMap<OpId, OpId, hash::Builder>,
}

impl Matching {
    fn partner(&self, op: OpId) -> Option<OpId> {
        self.partners.get(&op).copied()
    }

    fn join(&mut self, one: OpId, other: OpId) {
        self.partners.insert(one, other);
        self.partners.insert(other, one);
    }

    fn separate(&mut self, op: OpId) {
        if let Some(other) = self.partners.remove(&op) {
            self.partners.remove(&other);
        }
    }
}

/// The possible partners of executions, up to the refused return.
struct Graph<'g, 'a> {
    task: &'g SyncTask<'a>,
    ops: Vec<OpId>,
    state: u32,
}

/// Executions that need partners, and all their possible partners.
type TooFew = (Vec<OpId>, Vec<OpId>);

impl Graph<'_, '_> {
    fn overlap(&self, one: OpId, other: OpId) -> bool {
        let before =
            |first: OpId, second: OpId| self.task.return_position(first) < self.task.history[second].call_position();
        !before(one, other) && !before(other, one)
    }

    fn are_joined(&self, one: OpId, other: OpId) -> bool {
        one != other && self.overlap(one, other) && fits(self.task, &self.state, one, other)
    }

    /// Returns whether the execution has returned a result that it cannot have returned alone.
    fn needs(&self, op: OpId) -> bool {
        self.task.has_returned(op) && !is_alone(self.task, &self.state, op)
    }

    /// Finds a partner for `start`, or returns executions that have too few possible partners,
    /// together with these partners. Returns `None` if too many executions are involved, or if the
    /// graph has an odd cycle.
    fn augment(&self, matching: &mut Matching, start: OpId) -> Option<Result<(), TooFew>> {
        let mut needing = vec![start];
        // Possible partners, each with the execution from which it was reached.
        let mut reached: Vec<(OpId, OpId)> = Vec::new();
        let mut at = 0;
        while at < needing.len() {
            let op = needing[at];
            at += 1;
            for &other in &self.ops {
                if !self.are_joined(op, other) || reached.iter().any(|(known, _)| *known == other) {
                    continue;
                }
                if needing.contains(&other) {
                    // The execution is reached on both sides of the tree, so the graph has an odd cycle.
                    return None;
                }
                reached.push((other, op));
                match matching.partner(other) {
                    Some(partner) if self.needs(partner) => needing.push(partner),
                    // `other` has no partner, or its partner does not need one.
                    _ => {
                        matching.separate(other);
                        let (mut other, mut op) = (other, op);
                        loop {
                            let former = matching.partner(op);
                            matching.separate(op);
                            matching.join(op, other);
                            if op == start {
                                return Some(Ok(()));
                            }
                            other = former?;
                            op = reached.iter().find(|(known, _)| *known == other)?.1;
                        }
                    }
                }
                if needing.len() > MOST_TOLD {
                    return None;
                }
            }
        }
        Some(Err((needing, reached.into_iter().map(|(other, _)| other).collect())))
    }

    fn tell(&self, mut needing: Vec<OpId>, mut partners: Vec<OpId>) -> Partners {
        needing.sort_unstable();
        partners.sort_unstable();
        let mut unfit = Vec::new();
        if let ([op], []) = (needing.as_slice(), partners.as_slice()) {
            for &other in self.ops.iter().rev().filter(|other| *other != op) {
                let ops = pair(self.task, *op, other).map(|op| self.task.op(op));
                if self.task.spec.synchronize(&self.state, &ops).is_empty() {
                    continue;
                }
                let why = match (self.overlap(*op, other), fits(self.task, &self.state, *op, other)) {
                    (true, _) => WhyUnfit::Result,
                    (false, true) if other < *op => WhyUnfit::TooEarly,
                    (false, true) => WhyUnfit::TooLate,
                    (false, false) => continue,
                };
                unfit.push(Unfit { op: other, why });
            }
            unfit.truncate(MOST_TOLD);
            unfit.reverse();
        }
        Partners { needing, partners, unfit }
    }

    /// Checks an explanation independently of how it was found: the executions in `needing` have no partners except
    /// those in `partners`, and there are fewer of these partners than executions in `needing`.
    fn is_right(&self, found: &Partners) -> bool {
        let Partners { needing, partners, .. } = found;
        let has_only_these = |op: &OpId| {
            self.needs(*op) && self.ops.iter().all(|other| partners.contains(other) || !self.are_joined(*op, *other))
        };
        partners.len() < needing.len()
            && needing.iter().all(has_only_these)
            && needing.iter().all(|op| !partners.contains(op))
    }
}
