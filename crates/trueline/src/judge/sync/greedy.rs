//! A greedy algorithm for stateless objects whose executions synchronize in pairs, if the partners
//! of each execution are interchangeable.
//!
//! The executions are processed in the order of their returns. If an execution returns and has no partner yet, its
//! partner is, among the open executions that can synchronize with it, the one that returns first. Executions that
//! never return are chosen only if there is no other choice, and those without a known result only as a last resort.
//!
//! *Why this is exact.* Take a matching that covers all executions that returned and agrees with the choices so far.
//! Let x return next, let y be the partner that the algorithm chooses for x, and let z be the partner of x in the
//! matching. Both y and z are open at x's return. If y has no partner in the matching, x may take y instead of z. If
//! y's partner in the matching is a, then a overlaps z: a was called before y returned, and y does not return after z;
//! and z was called before x returned, which is before a returns. And a can synchronize with z, because the partners of
//! x are interchangeable ([`SyncSpec::is_interchangeable`]). So pairing x with y, and a with z, covers the same
//! executions. ∎
//!
//! If an execution may have returned alone but may also have had a partner, this algorithm cannot decide, because the
//! partner may need the execution. Such a history is refused.
//!
//! # Complexity
//! O(n k) for n executions of which k are open at once.

use super::task::SyncTask;
use crate::history::{Event, EventKind, OpId};
use crate::judge::groups::Cut;
use crate::judge::search::Meter;
use crate::verdict::{LimitKind, Synchronizations};

/// The reason for refusing a history.
pub(super) const REFUSED: &str = "the algorithm supports only stateless pairs whose partners are interchangeable";

/// Returns a synchronization linearization or, if none exists, the position of the first return
/// whose execution gets no partner. The object must be stateless.
pub(super) fn search(task: &SyncTask<'_>, meter: &mut Meter) -> Result<Result<Synchronizations, u32>, LimitKind> {
    let mut scan = Scan::start(task)?;
    Ok(match scan.go(task, task.events(), meter)? {
        Ok(()) => Ok(super::in_order(task, scan.pairs)),
        Err(failed) => Err(failed),
    })
}

/// The state of the algorithm after some events.
#[derive(Clone)]
struct Scan {
    /// Executions that were called, have not returned, and have no partner.
    open: Vec<OpId>,
    pairs: Synchronizations,
    has_partner: Vec<bool>,
}

impl Scan {
    fn start(task: &SyncTask<'_>) -> Result<Self, LimitKind> {
        if !super::is_binary(task.spec) {
            return Err(LimitKind::Refused(REFUSED));
        }
        Ok(Self { open: Vec::new(), pairs: Vec::new(), has_partner: vec![false; task.history.len()] })
    }

    /// Processes these events. If a returning execution gets no partner, the inner result is an
    /// error with the position of that return.
    fn go(
        &mut self,
        task: &SyncTask<'_>,
        events: impl Iterator<Item = Event>,
        meter: &mut Meter,
    ) -> Result<Result<(), u32>, LimitKind> {
        let state = task.spec.initial();
        for event in events {
            let op = event.op();
            if event.kind() == EventKind::Call {
                if !task.spec.is_interchangeable(task.op(op), task.result(op)) {
                    return Err(LimitKind::Refused(REFUSED));
                }
                self.open.push(op);
                continue;
            }
            meter.configuration()?;
            if self.has_partner[op.index()] {
                continue;
            }
            self.open.retain(|other| *other != op);
            let partner = self
                .open
                .iter()
                .copied()
                .filter(|other| fits(task, &state, op, *other))
                .min_by_key(|other| (task.return_position(*other), task.result(*other).is_none()));
            match (partner, is_alone(task, &state, op)) {
                (Some(_), true) => return Err(LimitKind::Refused(REFUSED)),
                (Some(partner), false) => {
                    self.has_partner[partner.index()] = true;
                    self.open.retain(|other| *other != partner);
                    self.pairs.push(pair(task, op, partner).to_vec());
                }
                (None, true) => self.pairs.push(vec![op]),
                (None, false) => return Ok(Err(task.return_position(op))),
            }
        }
        Ok(Ok(()))
    }
}

/// The greedy algorithm, prepared to judge many prefixes of a part that differ only near the end.
///
/// A prefix differs from the whole part only in the executions that are open at the cut and return
/// after the cut. So the algorithm makes the same choices for all prefixes until the first of these
/// executions is called. The events before that call are processed only once, even if many possible
/// results of one return are tried.
pub(super) struct Nearby {
    scan: Scan,
    /// The index, within the part, of the first event that has not been processed.
    first: usize,
}

impl Nearby {
    /// Runs the algorithm on the whole part, but stops before the first call of an execution that
    /// returns at `place` or later. If the part is cut at `place` or later, the events of such an
    /// execution may differ.
    pub(super) fn new(task: &SyncTask<'_>, place: u32, meter: &mut Meter) -> Result<Self, LimitKind> {
        let differs = |event: &Event| {
            let operation = &task.history[event.op()];
            operation.return_position().is_some_and(|position| position >= place)
        };
        let first = task.events.iter().position(differs).unwrap_or(task.events.len());
        let mut scan = Scan::start(task)?;
        let until = task.position(task.events.get(first)).min(task.until);
        let before = Cut { until, ..task.cut };
        // Process only the events before `until`, but use the results of the whole part: an
        // execution that is called before `until` and returns later has its result, too.
        let gone = scan.go(task, before.events(), meter)?;
        debug_assert_eq!(gone, Ok(()), "the scan of the whole part got past these events");
        scan.pairs.clear();
        Ok(Self { scan, first })
    }

    /// Returns whether the part has a synchronization linearization up to the cut of `task`.
    pub(super) fn explains(&self, task: &SyncTask<'_>, meter: &mut Meter) -> Result<bool, LimitKind> {
        let mut scan = self.scan.clone();
        let is_explained = scan.go(task, task.events_from(self.first), meter)?.is_ok();
        if is_explained {
            let fits = |group: &Vec<OpId>| task.synchronize(&task.spec.initial(), group).next().is_some();
            assert!(scan.pairs.iter().all(fits), "a synchronization linearization that was found cannot be replayed");
        }
        Ok(is_explained)
    }
}

/// Returns two executions, sorted by rank.
pub(super) fn pair(task: &SyncTask<'_>, one: OpId, other: OpId) -> [OpId; 2] {
    if task.rank(one) <= task.rank(other) { [one, other] } else { [other, one] }
}

/// Returns whether two executions can synchronize and return their recorded results.
pub(super) fn fits(task: &SyncTask<'_>, state: &u32, one: OpId, other: OpId) -> bool {
    task.synchronize(state, &pair(task, one, other)).next().is_some()
}

/// Returns whether an execution can return its recorded result without a partner.
pub(super) fn is_alone(task: &SyncTask<'_>, state: &u32, op: OpId) -> bool {
    task.synchronize(state, &[op]).next().is_some()
}
