//! Pairs of executions, without a state, where partners are interchangeable.
//!
//! The executions are gone through by their returns. One that returns and has no partner takes, of the open ones that fit,
//! the one that returns first; those that never return come last.
//!
//! *Why this is exact.* Take a matching that covers all that returned and agrees with the choices so far. Let x return
//! next, with y the choice and z its partner in the matching. Both contain the instant of x's return. If y has no partner
//! there, x may take y instead. If y's partner there is a, then a overlaps z: a was called before y returned, which is not
//! after z does, and z before x returned, which is before a does. And a fits z, as the partners of x are interchangeable
//! ([`SyncSpec::is_interchangeable`]). So x with y and a with z cover the same. ∎
//!
//! One that may have returned alone, and might as well have had a partner, is not for this algorithm: its partner may need
//! it. Where that happens, the history is refused.
//!
//! # Complexity
//! O(n k) for n executions of which k are open at once.

use super::task::Task;
use crate::history::{EventKind, OpId};
use crate::judge::search::Meter;
use crate::spec::sync::SyncSpec;
use crate::verdict::{LimitKind, Synchronisations};

/// Why a history is not for this algorithm.
pub(super) const REFUSED: &str = "it needs pairs without a state whose partners are interchangeable";

/// A synchronisation linearisation, if there is one. The state is `()`, or as good as that.
pub(super) fn search<S: SyncSpec>(
    task: &Task<'_, S>,
    meter: &mut Meter,
) -> Result<Option<Synchronisations>, LimitKind> {
    let state = task.spec.initial();
    if !super::is_binary(task.spec) {
        return Err(LimitKind::Refused(REFUSED));
    }
    // Called, not returned, without a partner.
    let mut open: Vec<OpId> = Vec::new();
    let mut pairs: Vec<Vec<OpId>> = Vec::new();
    let mut has_partner = vec![false; task.history.len()];
    for event in task.events() {
        let op = event.op();
        if event.kind() == EventKind::Call {
            if !task.spec.is_interchangeable(task.op(op), task.result(op)) {
                return Err(LimitKind::Refused(REFUSED));
            }
            open.push(op);
            continue;
        }
        meter.configuration()?;
        if has_partner[op.index()] {
            continue;
        }
        open.retain(|other| *other != op);
        let partner = open
            .iter()
            .copied()
            .filter(|other| fits(task, &state, op, *other))
            .min_by_key(|other| task.return_position(*other));
        match (partner, is_alone(task, &state, op)) {
            (Some(_), true) => return Err(LimitKind::Refused(REFUSED)),
            (Some(partner), false) => {
                has_partner[partner.index()] = true;
                open.retain(|other| *other != partner);
                pairs.push(pair(task, op, partner).to_vec());
            }
            (None, true) => pairs.push(vec![op]),
            (None, false) => return Ok(None),
        }
    }
    Ok(Some(super::in_order(task, pairs)))
}

/// Two executions by rank.
pub(super) fn pair<S: SyncSpec>(task: &Task<'_, S>, one: OpId, other: OpId) -> [OpId; 2] {
    if task.rank(one) <= task.rank(other) { [one, other] } else { [other, one] }
}

/// Whether two executions may synchronise with the results they have.
pub(super) fn fits<S: SyncSpec>(task: &Task<'_, S>, state: &S::State, one: OpId, other: OpId) -> bool {
    task.synchronise(state, &pair(task, one, other)).next().is_some()
}

/// Whether an execution may have had its result without a partner.
pub(super) fn is_alone<S: SyncSpec>(task: &Task<'_, S>, state: &S::State, op: OpId) -> bool {
    task.synchronise(state, &[op]).next().is_some()
}
