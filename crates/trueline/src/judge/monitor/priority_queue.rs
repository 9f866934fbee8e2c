//! Judges priority queues with distinct values; priorities may be equal.
//!
//! Values are processed from the best priority (the one that is removed first) to the worst. The
//! worst value of a history does not affect the others. Its remove, and each look at it, only need
//! a gap in which no strictly better value is [critical](super::container): at such a gap, the
//! better values can be [cut](super::container). So by induction, the history is linearizable if
//! and only if each remove, each look and each operation that found nothing has such a gap. For an
//! operation that found nothing, all values count as better.
//!
//! **The linearization.** Each value is in the queue for as short a time as possible: it is removed in the first gap of
//! its remove that no better value covers, and inserted in the last gap before its first return. If it was looked at
//! before that return, it is inserted in the last gap before the return that no better value covers, and these looks
//! take effect in the same gap. Let `g` be a gap in which a worse value is removed or looked at. No better value covers
//! `g`. If `g` is before the first return of a better value, the insert of that value is in `g` or later; if `g` is
//! after its last call, its remove is in `g` or earlier. Inside a gap, [`Placement`] puts removes of better values
//! first and inserts of better values last.
//!
//! A conflict consists of an operation and some better values: at each moment from the call to the
//! return of the operation, at least one of these values is in the queue.
//!
//! For **removes that never returned** and whose values are unknown, all choices of the values that
//! they took are tried, if there are few choices.
//!
//! # Complexity
//! O(n) operations on a union-find structure with path halving, for n operations and events, if ranks are dense;
//! otherwise sorting the ranks takes O(n log n).

use super::container::{self, Container, NONE, Role};
use super::place::{AHEAD, Gaps, Placement};
use super::{Answer, Input, ValueId};
use crate::spec::Standard;

fn role(what: &Standard<ValueId>) -> Option<Role> {
    match *what {
        Standard::Insert(value) => Some(Role::Add(value)),
        Standard::DeleteMin(taken) => Some(Role::Remove(taken)),
        Standard::Min(taken) => Some(Role::Look(taken)),
        _ => None,
    }
}

/// Judges a priority queue whose values are distinct. `Input::rank` holds their priorities: the
/// value with the lowest rank is removed first.
pub(crate) fn judge(input: &Input) -> Answer {
    if input.rank.len() < input.values as usize {
        return Answer::Refused("the order of the values is not known");
    }
    match container::collect(input, role) {
        Ok(container) => container::complete(input, container, false, |container| decide(input, container)),
        Err(answer) => answer,
    }
}

/// Returns the values that are not left out, in the order of their ranks.
fn by_rank(input: &Input, container: &Container) -> Vec<u32> {
    let rank = |value: u32| input.rank[value as usize];
    let most = container.living().map(|(number, _)| rank(number)).max().unwrap_or(0) as usize;
    let living = container.living().map(|(number, _)| number);
    if most > 2 * input.spans.len() {
        let mut values: Vec<u32> = living.collect();
        values.sort_by_key(|value| rank(*value));
        return values;
    }
    let mut next = vec![0u32; most + 2];
    for value in living.clone() {
        next[rank(value) as usize + 1] += 1;
    }
    for rank in 0..=most {
        next[rank + 1] += next[rank];
    }
    let mut values = vec![NONE; container.live];
    for value in living {
        let place = &mut next[rank(value) as usize];
        values[*place as usize] = value;
        *place += 1;
    }
    values
}

fn decide(input: &Input, container: &Container) -> Answer {
    let rank = |value: u32| input.rank[value as usize];
    // Returns the conflict of an operation on `value` that must take effect in one of the gaps
    // `from..until`, although in each of these gaps a value strictly better than `value` is
    // critical.
    let blocked = |value: u32, operation: u32, from: u32, until: u32| {
        let mut chain = container.cover(from, until, |other| rank(other) < rank(value)).unwrap_or_default();
        debug_assert!(!chain.is_empty(), "a better value is present the whole time");
        chain.push(value);
        container.conflict(input, &chain, if operation == NONE { &[] } else { std::slice::from_ref(&operation) })
    };
    let mut gaps = Gaps::new(container.end, container.has_looks());
    let mut placement = Placement::new(container.end, input.spans.len());
    let mut looks: Vec<(u32, u32)> = Vec::new();
    let values = by_rank(input, container);
    let mut left = values.as_slice();
    for group in values.chunk_by(|a, b| rank(*a) == rank(*b)) {
        for &number in group {
            if left.len() % AHEAD == 0 {
                gaps.warm(container, &left[..AHEAD]);
            }
            left = &left[1..];
            let value = &container.values[number as usize];
            let removed = gaps.next(value.last_call);
            if removed >= value.remove_return {
                return blocked(number, value.remove, value.last_call, value.remove_return);
            }
            let mut added = removed.min(value.first_return - 1);
            looks.clear();
            for &look in container.looks(number as usize) {
                let span = input.spans[look as usize];
                let from = span.call.max(value.add_call);
                let mut gap = gaps.next(from);
                if gap >= span.ret.min(value.remove_return) {
                    return blocked(number, look, from, span.ret.min(value.remove_return));
                }
                if gap < value.first_return && removed >= value.first_return {
                    gap = gaps.previous(value.first_return - 1).unwrap_or(gap);
                    added = gap;
                }
                looks.push((look, gap));
            }
            placement.value((value.add, added), (value.remove, removed), looks.iter().copied());
        }
        for &number in group {
            let value = &container.values[number as usize];
            if value.is_critical() {
                gaps.cover(value.first_return, value.last_call);
            }
        }
    }
    for &operation in &container.empties {
        let span = input.spans[operation as usize];
        let gap = gaps.next(span.call);
        if gap >= span.ret {
            return container.not_empty(input, operation);
        }
        placement.observer(operation, gap);
    }
    Answer::Accepted(placement.order())
}
