//! Judges a semaphore whose acquires wait until a permit is available.
//!
//! An acquire may take effect as late as its return, and a release as early as its call. This
//! choice is the best for all operations at once. So a history is linearizable if and only if at
//! each position the number of acquires that returned is at most the initial number of permits plus
//! the number of releases that were called.
//!
//! # Conditions
//! Only `Acquire` and `Release`: histories with failed attempts need a search. A release adds a
//! permit even if no permit was taken before. An acquire that never returned is left out; a release
//! that never returned takes effect.
//!
//! # Conflict
//! The first acquire that returned without a permit. The history of this acquire, *of all acquires that returned before
//! it and of all releases* is not linearizable by itself.
//!
//! # Complexity
//! O(events).

use super::zones::NONE;
use super::{Answer, Input, NEVER};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input, permits: u64) -> Answer {
    // For each position, the operation that takes effect there.
    let mut points = vec![NONE; input.events as usize];
    for (op, span) in (0..).zip(&input.spans) {
        let position = match span.what {
            Standard::Acquire => span.ret,
            Standard::Release => span.call,
            _ => return Answer::Refused("the algorithm does not support some of the operations"),
        };
        if position != NEVER {
            points[position as usize] = op;
        }
    }
    let mut order = Vec::with_capacity(input.spans.len());
    let mut left = permits;
    for &op in points.iter().filter(|&&op| op != NONE) {
        if input.spans[op as usize].what == Standard::Release {
            left = left.saturating_add(1);
        } else if left == 0 {
            return Answer::Rejected(vec![op]);
        } else {
            left -= 1;
        }
        order.push(op);
    }
    Answer::Accepted(order)
}
