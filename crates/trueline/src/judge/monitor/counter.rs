//! Judges a counter that is incremented and read. The monitor increments lazily, earliest deadline
//! first: the *deadline* of an increment is its return.
//!
//! Increments are delayed until one of them returns, or until a read returns although the number
//! that it saw has not been reached. At that moment, among the open increments, those that return
//! first take effect. A read is satisfied as soon as its number is reached while the read is open.
//!
//! *Why this is enough.* Compare the lazy run with any linearization, at the same event. The lazy run has made no more
//! increments than the linearization. Increments that are open can be exchanged for each other, because they are all
//! alike; after such exchanges, the lazy run has made only increments that the linearization made too. So the lazy run
//! can catch up at any time, and passes through the same numbers on its way. If the lazy run is too late for a read
//! (the number has been passed) or too early (no increment is open), the linearization cannot satisfy the read either.
//!
//! # Conditions
//! Only `Increment` and `Count`, starting from 0. Increments that never returned are optional, with no deadline.
//!
//! # Conflict
//! One read or two: a read `x` of a number that was reached too early or too late and, if needed, a
//! read `y` that returned before `x` was called and that forced the count up. The history of these
//! reads *and of all increments* is not linearizable by itself.
//!
//! *Why two are enough:* suppose that the number that `x` saw had been passed when `x` was called.
//! If so many increments had returned by then that they exceed this number by themselves, `x` is
//! enough. Otherwise, the run had made increments that had not returned, each of them because a
//! returning read needed it. Let `y` be the last such read. When `y` returned, the count was
//! exactly the number that `y` saw. Every increment that was open at that moment, but had not been
//! made, returned after the call of `x`, because the run makes the increments with the earliest
//! deadlines first. So the increments that were made after `y` returned were also called after `y`
//! returned, and they returned before the call of `x`. Together with the number that `y` saw, they
//! exceed the number that `x` saw, whatever other increments were made.
//!
//! # Complexity
//! O(n log k) for k open operations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::zones::NONE;
use super::{Answer, Input, NEVER};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    // For each position, the event there: `2 * op` for the call of operation `op`, `2 * op + 1` for
    // its return, and [`NONE`] if no operation is called or returns there.
    let mut at = vec![NONE; input.events as usize];
    for (op, span) in (0..).zip(&input.spans) {
        match span.what {
            Standard::Increment => {}
            Standard::Count(_) if span.ret == NEVER => continue,
            Standard::Count(number) if number < 0 => return Answer::Rejected(vec![op]),
            Standard::Count(_) => {}
            _ => return Answer::Refused("the algorithm does not support some of the operations"),
        }
        at[span.call as usize] = op << 1;
        if span.ret != NEVER {
            at[span.ret as usize] = op << 1 | 1;
        }
    }
    let mut run = Run {
        count: 0,
        open: BinaryHeap::new(),
        never: Vec::new(),
        want: BinaryHeap::new(),
        done: vec![false; input.spans.len()],
        order: Vec::with_capacity(input.spans.len()),
    };
    for &event in at.iter().filter(|&&event| event != NONE) {
        let op = event >> 1;
        let span = &input.spans[op as usize];
        let returns = event & 1 == 1;
        match span.what {
            Standard::Count(number) if !returns => match number.cmp(&run.count) {
                std::cmp::Ordering::Less => return Answer::Rejected(too_late(input, op, number)),
                std::cmp::Ordering::Equal => run.place(op),
                std::cmp::Ordering::Greater => run.want.push(Reverse((number, op))),
            },
            Standard::Count(number) => {
                while run.count < number {
                    let first = run.open.pop().map(|Reverse((_, op))| op).or_else(|| run.never.pop());
                    let Some(first) = first else { return Answer::Rejected(vec![op]) };
                    run.increment(first);
                }
            }
            _ if !returns && span.ret == NEVER => run.never.push(op),
            _ if !returns => run.open.push(Reverse((span.ret, op))),
            _ if run.done[op as usize] => {}
            _ => {
                let first = run.open.pop();
                debug_assert!(first.is_some_and(|Reverse((_, first))| first == op), "deadlines are in order");
                run.increment(op);
            }
        }
    }
    Answer::Accepted(run.order)
}

struct Run {
    count: i64,
    /// The open increments that have not taken effect and will return. The first one to return is
    /// on top.
    open: BinaryHeap<Reverse<(u32, u32)>>,
    /// The open increments that have not taken effect and never return.
    never: Vec<u32>,
    /// Open reads that saw a number above `count`; the smallest number is on top.
    want: BinaryHeap<Reverse<(i64, u32)>>,
    done: Vec<bool>,
    order: Vec<u32>,
}

impl Run {
    fn place(&mut self, op: u32) {
        self.order.push(op);
        self.done[op as usize] = true;
    }

    fn increment(&mut self, op: u32) {
        self.place(op);
        self.count += 1;
        while let Some(&Reverse((number, op))) = self.want.peek() {
            if number != self.count {
                break;
            }
            self.want.pop();
            self.place(op);
        }
    }
}

/// Returns the conflict of the read `late`, which saw `number` although the count had passed that number when `late`
/// was called.
fn too_late(input: &Input, late: u32, number: i64) -> Vec<u32> {
    let now = input.spans[late as usize].call;
    // Go backward from the call of `late`. `behind` is the number of increments that were called
    // after the current event and returned before the call of `late`.
    let mut at = vec![NONE; now as usize];
    for (op, span) in (0..).zip(&input.spans).take_while(|(_, span)| span.call < now) {
        match span.what {
            Standard::Increment if span.ret < now => at[span.call as usize] = op,
            Standard::Count(_) if span.ret < now => at[span.ret as usize] = op,
            _ => {}
        }
    }
    let mut behind = 0;
    let mut forcing = None;
    for &op in at.iter().rev().filter(|&&op| op != NONE) {
        match input.spans[op as usize].what {
            Standard::Count(seen) if forcing.is_none() && seen + behind > number => forcing = Some(op),
            Standard::Count(_) => {}
            _ => behind += 1,
        }
    }
    if behind > number {
        return vec![late];
    }
    let mut operations = vec![late, forcing.expect("a read forced the count past this number")];
    operations.sort_unstable();
    operations
}
