//! A counter whose increments return the previous value.
//!
//! The increment that returned `x` belongs in slot `x`, so the results determine the order. Each slot up to the last
//! one that a returned operation depends on must be filled by one increment. A read that saw `x` comes directly before
//! slot `x`, after all earlier slots. It only remains to check that no operation returned before the call of one that
//! comes earlier.
//!
//! A slot that no returned increment fills is filled by one that never returned and whose result is unknown: by the one
//! that was called first, because these increments differ only in their calls. The remaining ones are left out.
//!
//! # Conditions
//! Only `FetchIncrement` and `Count`, from 0. The results of increments that never returned must be known for all of
//! them (in a history that was cut off: each may fill its slot, and the one called first is the best choice) or for
//! none.
//!
//! # Conflict
//! One operation whose result needs more increments than there are; two increments that returned the same value; or two
//! operations of which the one that comes later in the order returned before the other was called. The history of these
//! operations *and of all increments* is not linearizable by itself.
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
    /// The increment that returned this value.
    increment: u32,
    /// The zone of the reads that saw this value.
    reads: Zone,
    /// The number of these reads; later, the place of the next of them in the witness.
    count: u32,
}

struct Slots {
    /// All slots that are needed, and one more.
    slots: Vec<Slot>,
}

impl Slots {
    fn fill(input: &Input) -> Result<Self, Answer> {
        let mut pending = Vec::new();
        let (mut increments, mut known, mut unknown) = (0i64, false, false);
        // The number that the counter must reach, and an operation that requires it.
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
                        return Err(Answer::Refused("an operation returned, but its result is not known"));
                    };
                    if found < 0 {
                        return Err(Answer::Rejected(vec![op]));
                    }
                    found.saturating_add(1)
                }
                Standard::Count(_) if span.ret == NEVER => continue,
                Standard::Count(seen) if seen < 0 => return Err(Answer::Rejected(vec![op])),
                Standard::Count(seen) => seen,
                _ => return Err(Answer::Refused("it has operations that the algorithm does not support")),
            };
            if reached > needed.0 {
                needed = (reached, op);
            }
        }
        if known && unknown {
            return Err(Answer::Refused("some increments that never returned have known results, and others do not"));
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
        // Pending increments are in the order of their calls.
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
        // The latest call so far, and whether there was any operation.
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

/// Returns the conflict between the operation called at `call`, which must come first, and the one that returned at
/// `ret`, which was before that call.
fn out_of_order(input: &Input, call: u32, ret: u32) -> Answer {
    let operations = (0..).zip(&input.spans).filter(|(_, span)| span.call == call || span.ret == ret);
    Answer::Rejected(operations.map(|(op, _)| op).collect())
}
