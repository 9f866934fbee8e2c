//! Judges a counter whose increments return the previous value.
//!
//! The results determine the order of the increments: the increment that returned `x` belongs in
//! slot `x`. Each slot must be filled by one increment, up to the last slot that a completed
//! operation depends on. A read that saw `x` comes directly before slot `x`, after all earlier
//! slots. It only remains to check that no operation returned before the call of an operation that
//! comes earlier in this order.
//!
//! A slot that no returned increment fills is filled by an increment that never returned and whose
//! result is unknown. Such increments differ only in their calls, so the one that was called first
//! is used first. Increments that fill no slot are left out.
//!
//! # Conditions
//! Only `FetchIncrement` and `Count`, starting from 0. The results of the increments that never
//! returned must be known either for all these increments or for none of them. (They are known in a
//! history that was cut off. Then each increment may fill the slot of its result, and among several
//! with the same result, the one called first is the best choice.)
//!
//! # Conflict
//! An operation whose result needs more increments than are available; two increments that returned
//! the same value; or two operations in the wrong order: the operation that comes later in the
//! order of the slots returned before the other one was called. The history of these operations
//! *and of all increments* is not linearizable by itself.
//!
//! # Complexity
//! O(n).

use super::zones::{NONE, Zone};
use super::{Answer, Input, NEVER};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    match Slots::fill(input).and_then(|slots| slots.walk(input)) {
        Ok(order) => Answer::Accepted(order),
        Err(answer) => answer,
    }
}

/// The operations that belong to one value of the counter.
#[derive(Clone, Copy)]
struct Slot {
    /// The increment that fills the slot.
    increment: u32,
    /// The zone (the first return and the last call) of the reads that saw the value of the slot.
    reads: Zone,
    /// The number of reads that saw the value of the slot. Later, the index in the witness at which
    /// the next of these reads is placed.
    count: u32,
}

struct Slots {
    /// All slots that must be filled, and one more slot for the reads of the highest value.
    slots: Vec<Slot>,
}

impl Slots {
    fn fill(input: &Input) -> Result<Self, Answer> {
        let mut pending = Vec::new();
        let (mut increments, mut known, mut unknown) = (0i64, false, false);
        // The number that the counter must reach, and an operation that requires this number.
        let mut needed = (0, NONE);
        for (op, span) in (0..).zip(&input.spans) {
            let reached = match span.what {
                Standard::FetchIncrement(found) => {
                    increments += 1;
                    if span.ret == NEVER {
                        known |= found.is_some();
                        unknown |= found.is_none();
                        pending.push(op);
                        continue;
                    }
                    let Some(found) = found else {
                        return Err(Answer::Refused("some operations returned an unknown result"));
                    };
                    if found < 0 {
                        return Err(Answer::Rejected(vec![op]));
                    }
                    found.saturating_add(1)
                }
                Standard::Count(_) if span.ret == NEVER => continue,
                Standard::Count(seen) if seen < 0 => return Err(Answer::Rejected(vec![op])),
                Standard::Count(seen) => seen,
                _ => return Err(Answer::Refused("the algorithm does not support some of the operations")),
            };
            if reached > needed.0 {
                needed = (reached, op);
            }
        }
        if known && unknown {
            return Err(Answer::Refused("the results of some, but not all, increments that never returned are known"));
        }
        let (needed, because) = needed;
        if needed > increments {
            return Err(Answer::Rejected(vec![because]));
        }
        let needed = usize::try_from(needed).expect("the count is at most the number of operations");
        let mut slots = vec![Slot { increment: NONE, reads: Zone::EMPTY, count: 0 }; needed + 1];
        let index = |number: i64| usize::try_from(number).ok().filter(|&number| number < needed + 1);
        for (op, span) in (0..).zip(&input.spans).filter(|(_, span)| span.ret != NEVER) {
            match span.what {
                Standard::FetchIncrement(found) => {
                    let slot = &mut slots[found.and_then(index).expect("operations and results were checked above")];
                    let other = std::mem::replace(&mut slot.increment, op);
                    if other != NONE {
                        return Err(Answer::Rejected(vec![other, op]));
                    }
                }
                Standard::Count(seen) => {
                    let slot = &mut slots[index(seen).expect("operations and results were checked above")];
                    slot.reads.add(span.call, span.ret);
                    slot.count += 1;
                }
                _ => unreachable!("operations and results were checked above"),
            }
        }
        // `pending` is in the order of calls, so the increment that was called first is used first.
        let mut pending = pending.into_iter();
        if known {
            for op in pending {
                let Standard::FetchIncrement(Some(found)) = input.spans[op as usize].what else { continue };
                if let Some(number) = index(found).filter(|&number| number < needed) {
                    let slot = &mut slots[number];
                    if slot.increment == NONE {
                        slot.increment = op;
                    }
                }
            }
        } else {
            for slot in slots[..needed].iter_mut().filter(|slot| slot.increment == NONE) {
                slot.increment = pending.next().unwrap_or(NONE);
            }
        }
        if slots[..needed].iter().any(|slot| slot.increment == NONE) {
            return Err(Answer::Rejected(vec![because]));
        }
        Ok(Self { slots })
    }

    fn walk(mut self, input: &Input) -> Result<Vec<u32>, Answer> {
        let mut order = Vec::with_capacity(input.spans.len());
        // The position of the latest call among the operations placed so far, and whether any
        // operation has been placed.
        let (mut latest, mut begun) = (0, false);
        for slot in &mut self.slots {
            let Slot { increment, reads, count } = *slot;
            if count > 0 {
                if begun && reads.first_return < latest {
                    return Err(out_of_order(input, latest, reads.first_return));
                }
                (latest, begun) = (latest.max(reads.last_call), true);
            }
            slot.count = u32::try_from(order.len()).expect("the number of operations fits in 32 bits");
            order.resize(order.len() + count as usize, NONE);
            if increment != NONE {
                let span = &input.spans[increment as usize];
                if begun && span.ret < latest {
                    return Err(out_of_order(input, latest, span.ret));
                }
                (latest, begun) = (latest.max(span.call), true);
                order.push(increment);
            }
        }
        for (op, span) in (0..).zip(&input.spans) {
            let Standard::Count(seen) = span.what else { continue };
            if span.ret != NEVER {
                let place =
                    &mut self.slots[usize::try_from(seen).expect("operations and results were checked above")].count;
                order[*place as usize] = op;
                *place += 1;
            }
        }
        Ok(order)
    }
}

/// Returns the conflict between two operations: one that is called at position `call` but must come
/// first, and one that returned before this call, at position `ret`.
fn out_of_order(input: &Input, call: u32, ret: u32) -> Answer {
    let operations = (0..).zip(&input.spans).filter(|(_, span)| span.call == call || span.ret == ret);
    Answer::Rejected(operations.map(|(op, _)| op).collect())
}
