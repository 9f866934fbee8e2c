//! An argument for any object: all places of an operation among the others, none of which is possible.
//!
//! It is the trace of a failed search, reported for one operation: the results that the operation would have returned
//! in every state that the other operations may have led to. If it fits somewhere, another operation has no place after
//! that.
//!
//! # Complexity
//! Exponential in the number of overlapping operations, as the problem itself is, but at most a constant number of
//! configurations is visited: the search ends without an answer when it has visited more, or when it is canceled.

use hashbrown::{HashMap, HashSet};

use super::executions::{Executions, Mask, bit, ops};
use crate::judge::search::hash;

/// The places of an operation, with states as numbers.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) op: usize,
    pub(super) before: Mask,
    pub(super) open: Mask,
    pub(super) places: Vec<At>,
    pub(super) more: usize,
}

/// A place of an operation.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) order: Vec<usize>,
    pub(super) state: u32,
    /// If the operation fits there, the places of another operation after it.
    pub(super) then: Option<Option<Box<Places>>>,
}

impl Places {
    /// Returns whether the places can be described in a few sentences.
    pub(super) fn are_few(&self) -> bool {
        self.more == 0 && self.places.len() <= MOST_FEW && self.places.iter().all(|place| place.then.is_none())
    }
}

/// The operations that have taken effect, and the state.
type Configuration = (Mask, u32);

/// The maximum number of places that can be described in a few sentences.
const MOST_FEW: usize = 4;
/// The maximum number of configurations that are visited for one operation.
const MOST_CONFIGURATIONS: u64 = 20_000;
/// The maximum number of places that are listed.
const MOST_TOLD: usize = 6;
/// The maximum depth of nested places, where an operation fits.
const DEEPEST: u32 = 3;

/// Returns the places of the operation that has the fewest, given that no linearization continues this configuration.
/// Returns `None` if there are too many configurations to visit, or if all completed operations have taken effect.
pub(super) fn find(executions: &mut Executions<'_>, start: Configuration) -> Option<Places> {
    find_within(executions, start, DEEPEST)
}

fn find_within(executions: &mut Executions<'_>, start: Configuration, depth: u32) -> Option<Places> {
    let mut best: Option<((usize, usize), Places)> = None;
    // Among operations that are equally good, the one that was called last is described.
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
            // If several states may follow, only one of them is described.
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

/// Returns all places of an operation; each state in which it does not fit is listed once.
fn all(executions: &mut Executions<'_>, start: Configuration, op: usize) -> Option<Places> {
    // For each configuration, the one that it was reached from, and by which operation.
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
