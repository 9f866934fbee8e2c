//! The states that synchronizations pass through, for display.

use std::sync::Arc;

use super::numbered::{ByNumber, Numbered};
use super::task::SyncTask;
use crate::history::{History, OpId};
use crate::judge::groups::Cut;
use crate::spec::sync::SyncSpec;
use crate::verdict::{Passed, Witness};

/// Two limits. The first limits the number of possible states that are tracked at a time, for a
/// nondeterministic specification. The second limits the number of operations for which states are
/// described.
const MOST: (usize, usize) = (8, 2_000);

/// Returns the states before and after each of the last synchronizations, as `judge::states` does
/// for operations that take effect one at a time. Returns an empty vector for an object without a
/// state.
///
/// Events at or after `until` are ignored, so executions that return at or after `until` may have had any result.
pub fn states<S: SyncSpec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    linearization: &Witness,
    until: Option<u32>,
) -> Vec<Passed> {
    if spec.is_stateless() {
        return Vec::new();
    }
    let (numbered, history) = Numbered::new(spec, history);
    of_numbered(&numbered, &history, linearization, until)
}

fn of_numbered(
    spec: &dyn ByNumber,
    history: &History<u32, u32>,
    linearization: &Witness,
    until: Option<u32>,
) -> Vec<Passed> {
    let describe = |states: &[u32]| -> Arc<str> {
        let mut states: Vec<String> = states.iter().map(|state| spec.describe(*state)).collect();
        states.sort();
        states.join(" or ").into()
    };
    let cut = Cut { until: until.unwrap_or(u32::MAX), ..Cut::whole(history, history.events()) };
    let task = SyncTask { spec, cut };
    let mut objects = vec![vec![spec.initial()]; history.object_count()];
    let first = linearization.order.len().saturating_sub(MOST.1);
    let mut done = 0;
    let mut passed = Vec::new();
    for group in linearization.groups() {
        let Some(object) = group.first().map(|op| history[*op].object.index()) else { continue };
        let mut sorted: Vec<OpId> = group.to_vec();
        sorted.sort_by_key(|op| task.rank(*op));
        let mut next: Vec<u32> = Vec::new();
        for (state, _) in objects[object].iter().flat_map(|state| task.synchronize(state, &sorted)) {
            if next.len() < MOST.0 && !next.contains(&state) {
                next.push(state);
            }
        }
        if next.is_empty() {
            break;
        }
        if done >= first {
            let (before, after) = (describe(&objects[object]), describe(&next));
            let of_each = |op: &OpId| Passed { op: *op, before: Arc::clone(&before), after: Arc::clone(&after) };
            passed.extend(group.iter().map(of_each));
        }
        done += group.len();
        objects[object] = next;
    }
    passed
}
