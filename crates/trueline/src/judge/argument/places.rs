//! An argument that works for any object. It lists all places that one operation may have in the
//! order of the other operations, and shows that none of these places leads to a linearization.
//!
//! The argument is the trace of a failed search, reported for one operation. For each place, it
//! gives the state that the earlier operations lead to, and the results that the operation would
//! have returned in this state. If its recorded result is one of them, the operation *fits* in this
//! place. Then the argument continues: it lists the places that another operation may have
//! afterward, and shows that none of them leads to a linearization either.
//!
//! # Complexity
//! Exponential in the number of overlapping operations, as the problem itself is. However, the
//! number of visited configurations is limited by a constant. If the search reaches this limit, or
//! is canceled, it ends without an answer.

use hashbrown::{HashMap, HashSet};

use super::executions::{Executions, Mask, bit, ops};
use crate::judge::search::hash;

/// The places that an operation may have in the order of the other operations. States are given by
/// their numbers.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) op: usize,
    pub(super) before: Mask,
    pub(super) open: Mask,
    pub(super) places: Vec<At>,
    pub(super) more: usize,
}

/// A place of an operation in the order of the other operations.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) order: Vec<usize>,
    pub(super) state: u32,
    /// `None` if the operation does not fit in this place. Otherwise, the places that another
    /// operation may have afterward, or `Some(None)` if these would be nested too deeply to be
    /// listed.
    pub(super) then: Option<Option<Box<Places>>>,
}

impl Places {
    /// Returns whether the places can be described in a few sentences.
    pub(super) fn are_few(&self) -> bool {
        self.more == 0 && self.places.len() <= MOST_FEW && self.places.iter().all(|place| place.then.is_none())
    }
}

/// A configuration: the operations that have taken effect, and the state.
type Configuration = (Mask, u32);

/// The maximum number of places that can be described in a few sentences.
const MOST_FEW: usize = 4;
/// The maximum number of configurations that are visited for one operation.
const MOST_CONFIGURATIONS: u64 = 20_000;
/// The maximum number of listed places in which the operation does not fit.
const MOST_TOLD: usize = 6;
/// The maximum nesting depth of places. (Each place where an operation fits contains the places of another operation.)
const DEEPEST: u32 = 3;

/// Chooses the operation that fits in the fewest places, and returns its places. The caller must
/// know that no linearization continues the configuration `start`. Returns `None` if there are too
/// many configurations to visit, or if all completed operations have taken effect.
pub(super) fn find(executions: &mut Executions<'_>, start: Configuration) -> Option<Places> {
    find_within(executions, start, DEEPEST)
}

fn find_within(executions: &mut Executions<'_>, start: Configuration, depth: u32) -> Option<Places> {
    let mut best: Option<((usize, usize), Places)> = None;
    // If several operations are equally good, choose the one that was called last.
    let candidates: Vec<usize> = ops(executions.completed & !start.0).collect();
    for op in candidates.into_iter().rev() {
        let places = all(executions, start, op)?;
        let fitting = places.places.iter().filter(|place| place.then.is_some()).count();
        let score = (fitting, places.places.len());
        if best.as_ref().is_none_or(|(other, _)| score < *other) {
            best = Some((score, places));
        }
    }
    let (_, mut places) = best?;
    for place in &mut places.places {
        if place.then.is_some() && depth > 0 {
            let done = place.order.iter().fold(start.0, |mask, op| mask | bit(*op)) | bit(places.op);
            // The operation may lead to several states. The argument continues from only one of
            // them.
            let next = executions.next(place.state, places.op);
            let mut then = None;
            for next in next {
                then = Some(Box::new(find_within(executions, (done, next), depth - 1)?));
            }
            place.then = Some(then);
        }
    }
    // Places where the operation fits come last, because they take longer to explain.
    places.places.sort_by_key(|place| place.then.is_some());
    let told = places.places.iter().take_while(|place| place.then.is_none()).count().min(MOST_TOLD);
    let fitting = places.places.len() - places.places.iter().take_while(|place| place.then.is_none()).count();
    let silent = places.places.len() - fitting - told;
    places.places.drain(told..told + silent);
    places.more = silent;
    Some(places)
}

/// Returns all places of an operation. Each state in which the operation does not fit is listed
/// once.
fn all(executions: &mut Executions<'_>, start: Configuration, op: usize) -> Option<Places> {
    // For each configuration that was reached, the configuration before it and the operation that
    // leads from one to the other.
    let mut via: HashMap<Configuration, Option<(Configuration, usize)>, hash::Builder> = HashMap::default();
    let mut queue = vec![start];
    via.insert(start, None);
    let mut at = 0;
    let before = executions.real_time[op] & !start.0;
    let mut found: Vec<At> = Vec::new();
    let mut seen: HashSet<u32, hash::Builder> = HashSet::default();
    let mut open = 0;
    while at < queue.len() {
        let configuration @ (done, state) = queue[at];
        at += 1;
        if queue.len() as u64 > executions.most(MOST_CONFIGURATIONS) {
            executions.visited(queue.len());
            return None;
        }
        if before & !done == 0 {
            let fits = !executions.next(state, op).is_empty();
            open |= done & !before & !start.0;
            if fits || seen.insert(state) {
                let mut order = Vec::new();
                let mut from = configuration;
                while let Some(Some((earlier, step))) = via.get(&from) {
                    order.push(*step);
                    from = *earlier;
                }
                order.reverse();
                found.push(At { order, state, then: fits.then_some(None) });
            }
        }
        for other in 0..executions.count {
            let is_in_time = executions.real_time[other] & !done == 0 && executions.later[other] & done == 0;
            let is_allowed = other != op && done & bit(other) == 0 && is_in_time;
            if !is_allowed {
                continue;
            }
            for next in executions.next(state, other) {
                let next = (done | bit(other), next);
                if !via.contains_key(&next) {
                    via.insert(next, Some((configuration, other)));
                    queue.push(next);
                }
            }
        }
    }
    executions.visited(queue.len());
    Some(Places { op, before, open, places: found, more: 0 })
}
