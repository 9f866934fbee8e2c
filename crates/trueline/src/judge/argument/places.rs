//! Any object: all places of an operation among the others, none of which is right.
//!
//! It is what a search finds when it fails, told of one operation: in every state that the others may have led to, what it
//! would have returned. If it fits somewhere, another operation does not fit any more then.
//!
//! # Complexity
//! Exponential in the operations that overlap, as the question is; cores are small.

use hashbrown::HashMap;

use super::executions::{Executions, Mask, bit, ops};
use crate::judge::search::hash;

/// The places of an operation; states are numbers.
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
    /// If it fits there: the places of another operation then.
    pub(super) then: Option<Option<Box<Places>>>,
}

impl Places {
    /// Whether they can be told in a few sentences.
    pub(super) fn are_few(&self) -> bool {
        self.more == 0 && self.places.len() <= MOST_FEW && self.places.iter().all(|place| place.then.is_none())
    }
}

/// What has taken effect, and the state.
type Configuration = (Mask, u32);

/// The most places that are few.
const MOST_FEW: usize = 4;
/// The most configurations that are looked at for one operation.
const MOST_CONFIGURATIONS: usize = 20_000;
/// The most places that are told.
const MOST_TOLD: usize = 6;
/// How often an operation may fit, one within the other.
const DEEPEST: u32 = 3;

/// The places of an operation that has few, if there is no order that keeps real time behind this configuration.
pub(super) fn find(executions: &mut Executions<'_>, start: Configuration) -> Option<Places> {
    find_within(executions, start, DEEPEST)
}

fn find_within(executions: &mut Executions<'_>, start: Configuration, depth: u32) -> Option<Places> {
    let mut best: Option<((usize, usize), Places)> = None;
    // The last to be called is told, if it is as good as others.
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
            // Where several states may follow, one of them is told.
            let next = executions.next(place.state, places.op);
            let mut then = None;
            for next in next {
                then = Some(Box::new(find_within(executions, (done, next), depth - 1)?));
            }
            place.then = Some(then);
        }
    }
    // Where it fits comes last: that takes longer to tell.
    places.places.sort_by_key(|place| place.then.is_some());
    let told = places.places.iter().take_while(|place| place.then.is_none()).count().min(MOST_TOLD);
    let fitting = places.places.len() - places.places.iter().take_while(|place| place.then.is_none()).count();
    let silent = places.places.len() - fitting - told;
    places.places.drain(told..told + silent);
    places.more = silent;
    Some(places)
}

/// All places of an operation, each state once where it does not fit.
fn all(executions: &mut Executions<'_>, start: Configuration, op: usize) -> Option<Places> {
    // Where each configuration was reached from, and by which operation.
    let mut via: HashMap<Configuration, Option<(Configuration, usize)>, hash::Builder> = HashMap::default();
    let mut queue = vec![start];
    via.insert(start, None);
    let mut at = 0;
    let before = executions.real_time[op] & !start.0;
    let mut found: Vec<At> = Vec::new();
    let mut seen: Vec<u32> = Vec::new();
    let mut open = 0;
    while at < queue.len() {
        let configuration @ (done, state) = queue[at];
        at += 1;
        if queue.len() > MOST_CONFIGURATIONS {
            return None;
        }
        if before & !done == 0 {
            let fits = !executions.next(state, op).is_empty();
            open |= done & !before & !start.0;
            if fits || !seen.contains(&state) {
                if !fits {
                    seen.push(state);
                }
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
    Some(Places { op, before, open, places: found, more: 0 })
}
