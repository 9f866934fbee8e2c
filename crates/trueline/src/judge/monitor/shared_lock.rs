//! Judges a lock that many owners may hold for reading, or one owner for writing.
//!
//! A hold consists of a lock and the next unlock of the same owner. It can be made as short as possible: the lock takes
//! effect when it returns, and the unlock when it is called. This is possible for all holds at once, and no
//! linearization has shorter holds. So the history is linearizable if and only if no hold for writing overlaps another
//! hold when all holds are this short.
//!
//! If operations have no owners, but every process happens to alternate between locking and
//! unlocking, the processes can be used as owners: along any order of the operations, the processes
//! that have locked and not unlocked are exactly the holders.
//!
//! # Conditions
//! Only `Lock`, `Unlock`, `LockShared` and `UnlockShared`, and no failed attempts. All operations have an owner; the
//! operations of an owner do not overlap, and each unlock follows a lock of the same kind by the same owner, with no
//! operation of that owner in between. The meaning of any other order depends on the lock, so such histories are
//! refused. A lock that never returned is left out; an unlock that never returned takes effect.
//!
//! # Conflict
//! The locks and unlocks of two holds that overlap: at most four operations. These operations are
//! not linearizable by themselves.
//!
//! # Complexity
//! O(events).

use super::owners::Owners;
use super::zones::NONE;
use super::{Answer, Input, NEVER};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    let owners = match Owners::find(input) {
        Ok(Some(owners)) => owners,
        Ok(None) if input.spans.is_empty() => return Answer::Accepted(Vec::new()),
        Ok(None) => return Answer::Refused("it is not known which owner locks and unlocks"),
        Err(why) => return Answer::Refused(why),
    };
    if input.spans.iter().any(|span| span.what == Standard::LockFailed) {
        return Answer::Refused("the algorithm does not support some of the operations");
    }
    match holds(input, &owners) {
        Ok(Ok(order)) => Answer::Accepted(order),
        Ok(Err(conflict)) => Answer::Rejected(conflict),
        Err(why) => Answer::Refused(why),
    }
}

/// Returns an order in which no two conflicting holds overlap, or the operations of two conflicting
/// holds that overlap. Failed attempts to lock are ignored.
pub(super) fn holds(input: &Input, owners: &Owners) -> Result<Result<Vec<u32>, Vec<u32>>, &'static str> {
    let (points, partners) = points(input, owners)?;
    let mut order = Vec::with_capacity(input.spans.len());
    let mut writer = NONE;
    let mut readers = 0u32;
    for &op in points.iter().filter(|&&op| op != NONE) {
        let mut conflicting = NONE;
        match input.spans[op as usize].what {
            Standard::Lock { .. } => {
                conflicting = if readers > 0 { holder(input, &partners, op) } else { writer };
                writer = op;
            }
            Standard::Unlock { .. } => writer = NONE,
            Standard::LockShared { .. } => {
                conflicting = writer;
                readers += 1;
            }
            _ => readers -= 1,
        }
        if conflicting != NONE {
            let holds = [conflicting, partners[conflicting as usize], op, partners[op as usize]];
            let mut operations: Vec<u32> = holds.into_iter().filter(|&op| op != NONE).collect();
            operations.sort_unstable();
            return Ok(Err(operations));
        }
        order.push(op);
    }
    Ok(Ok(order))
}

/// Returns two lists: for each position, the operation that takes effect there, and for each lock,
/// its unlock.
fn points(input: &Input, owners: &Owners) -> Result<(Vec<u32>, Vec<u32>), &'static str> {
    let mut points = vec![NONE; input.events as usize];
    let mut partners = vec![NONE; input.spans.len()];
    // For each owner that holds the lock, the operation that acquired the lock.
    let mut held_by = vec![NONE; owners.count()];
    for (op, span) in (0..).zip(&input.spans) {
        let (locks, shared) = match span.what {
            Standard::Lock { .. } => (true, false),
            Standard::Unlock { .. } => (false, false),
            Standard::LockShared { .. } => (true, true),
            Standard::UnlockShared { .. } => (false, true),
            Standard::LockFailed => continue,
            _ => return Err("the algorithm does not support some of the operations"),
        };
        let lock = &mut held_by[owners.of(op)];
        if locks {
            if *lock != NONE {
                return Err("an owner acquires a lock that it already holds");
            }
            *lock = op;
            if span.ret != NEVER {
                points[span.ret as usize] = op;
            }
        } else {
            let held = std::mem::replace(lock, NONE);
            if held == NONE || shared != matches!(input.spans[held as usize].what, Standard::LockShared { .. }) {
                return Err("an owner releases a lock that it does not hold");
            }
            partners[held as usize] = op;
            points[span.call as usize] = op;
        }
    }
    Ok((points, partners))
}

/// Returns a `LockShared` operation whose owner holds the lock when `op` takes effect.
fn holder(input: &Input, partners: &[u32], op: u32) -> u32 {
    let now = input.spans[op as usize].ret;
    let holds = |lock: u32| {
        let span = &input.spans[lock as usize];
        let partner = partners[lock as usize];
        matches!(span.what, Standard::LockShared { .. })
            && span.ret < now
            && (partner == NONE || input.spans[partner as usize].call > now)
    };
    (0..).take(partners.len()).find(|&lock| holds(lock)).expect("a reader holds the lock now")
}
