//! Judges bags, from which any value may be taken.
//!
//! **No operation found the bag empty.** Then values do not affect each other, and need not be distinct. For each
//! value, puts may happen as soon as they are called and takes as late as they return: the history is linearizable if
//! and only if, at each return of a take, at least as many puts of the value were called as takes of it returned. Puts
//! at their calls and takes at their returns form the linearization. Takes that never returned are left out. A conflict
//! consists of the takes of one value that returned up to some event, and the puts of this value that were called up to
//! the same event.
//!
//! **Some operation found the bag empty, and values are distinct.** Then the values are
//! [tuned](super::container), and each operation that found the bag empty needs a gap in which no
//! value is critical. In the linearization, each value is in the bag for as short a time as
//! possible. The value is taken in the gap of its last call. It is put in the last gap before its
//! first return or, if its last call is before that gap, in the gap of its last call, too.
//!
//! Takes that never returned and whose values are unknown are paired, in the order of their calls,
//! with unremoved values in the order of first returns. This loses no linearization: let the first
//! return of value `a` be before that of value `b`, and let take `s` be called before take `t`. In
//! each gap, if no value is critical when `a` is paired with `t` and `b` with `s`, then no value is
//! critical when `a` is paired with `s` and `b` with `t`. If there are fewer takes than values, the
//! remaining values are critical up to the end, so it is best if these are the values with the
//! latest first returns.
//!
//! **Some operation found the bag empty, and values are not distinct**: the history is refused. The
//! obvious greedy algorithm, which compares the puts that must have happened with the takes that
//! may have happened, is incorrect: an empty result forces takes to happen early, although later
//! results may need them.
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

/// Judges a bag that no operation found empty.
fn count(input: &Input) -> Answer {
    // For each position, the put that is called there, or the take that returns there.
    let mut at = vec![NONE; input.events as usize];
    for (op, span) in (0u32..).zip(&input.spans) {
        match span.what {
            Standard::Put(_) => at[span.call as usize] = op,
            Standard::Take(Taken::Value(_)) if span.ret != NEVER => at[span.ret as usize] = op,
            Standard::Take(_) if span.ret == NEVER => {}
            Standard::Take(_) => return Answer::Refused("some operations returned an unknown result"),
            _ => return Answer::Refused("the algorithm does not support some of the operations"),
        }
    }
    // For each value, the number of puts that were called, minus the number of takes that returned.
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
