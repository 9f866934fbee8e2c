//! Bags: any value may be taken.
//!
//! **No operation found the bag empty.** Then values do not touch each other, and need not be distinct. For each value,
//! puts may happen as soon as they are called and takes as late as they return: the history is linearizable if and only
//! if, at each return of a take, as many puts of the value were called as takes of it returned. That order is the
//! linearization. Takes that never returned are left out. A conflict is the takes of one value that returned by some
//! time, and the puts that were called by then.
//!
//! **Some did, and values are distinct.** Then, besides [tuning](super::container), each such operation needs a gap in
//! which no value is critical. In the linearization each value is in for as short a time as can be: put in the last gap
//! before its first return and taken in the gap of its last call, or both in one gap.
//!
//! Takes that never returned, of which nobody knows what they took, are paired by call with unremoved values by first
//! return. That is without loss: if `a` returned before `b` and take `s` was called before `t`, then `a` with `s` and
//! `b` with `t` are critical in no gap in which they would not be the other way round; and a value that is left over,
//! critical up to the end, is best the last.
//!
//! **Some did, and values are not distinct**: refused. The obvious greedy algorithm, to count puts that must have
//! happened against takes that may have, is wrong, because an empty result makes takes happen early that later ones
//! would need.
//!
//! # Complexity
//! O(n) for n operations and events.

use super::container::{self, Container, NONE, Role};
use super::place::Placement;
use super::{Answer, Input, NEVER, ValueId};
use crate::spec::{Standard, Taken};

fn role(what: &Standard<ValueId>) -> Option<Role> {
    match *what {
        Standard::Put(value) => Some(Role::Add(value)),
        Standard::Take(taken) => Some(Role::Remove(taken)),
        _ => None,
    }
}

/// Judges a bag.
pub(crate) fn judge(input: &Input) -> Answer {
    if input.spans.iter().all(|span| span.what != Standard::Take(Taken::Nothing) || span.ret == NEVER) {
        return count(input);
    }
    match container::collect(input, role) {
        Ok(container) => container::complete(input, container, true, |container| decide(input, container)),
        Err(answer) => answer,
    }
}

/// Judges a bag that nobody found empty.
fn count(input: &Input) -> Answer {
    // By position: the put that is called there, or the take that returns there.
    let mut at = vec![NONE; input.events as usize];
    for (op, span) in (0u32..).zip(&input.spans) {
        match span.what {
            Standard::Put(_) => at[span.call as usize] = op,
            Standard::Take(Taken::Value(_)) if span.ret != NEVER => at[span.ret as usize] = op,
            Standard::Take(_) if span.ret == NEVER => {}
            Standard::Take(_) => return Answer::Refused("an operation returned, but its result is not known"),
            _ => return Answer::Refused("there are operations of another type"),
        }
    }
    // By value: how many puts were called, less the takes that returned.
    let mut inside = vec![0u32; input.values as usize];
    let mut order = Vec::with_capacity(input.spans.len());
    for operation in at.into_iter().filter(|op| *op != NONE) {
        order.push(operation);
        match input.spans[operation as usize].what {
            Standard::Put(value) => inside[value.index()] += 1,
            Standard::Take(Taken::Value(value)) if inside[value.index()] == 0 => {
                let concerns = |op: &u32| {
                    let what = input.spans[*op as usize].what;
                    what == Standard::Put(value) || what == Standard::Take(Taken::Value(value))
                };
                let mut conflict: Vec<u32> = order.into_iter().filter(concerns).collect();
                conflict.sort_unstable();
                return Answer::Rejected(conflict);
            }
            Standard::Take(Taken::Value(value)) => inside[value.index()] -= 1,
            _ => unreachable!("only puts and takes of values are placed"),
        }
    }
    Answer::Accepted(order)
}

/// Judges a bag of distinct values.
fn decide(input: &Input, container: &Container) -> Answer {
    let free = container.free_gaps();
    let mut placement = Placement::new(container.end, input.spans.len());
    for &operation in &container.empties {
        let span = input.spans[operation as usize];
        let gap = free[span.call as usize];
        if gap >= span.ret {
            return container.not_empty(input, operation);
        }
        placement.observer(operation, gap);
    }
    for (_, value) in container.living() {
        let added = value.last_call.min(value.first_return - 1);
        placement.value((value.add, added), (value.remove, value.last_call), std::iter::empty());
    }
    Answer::Accepted(placement.order())
}
