//! Judges a lock that one owner may hold at a time.
//!
//! The lock is treated as an object with two states, which [`flip`](super::flip) judges: locking
//! flips the state from free to held, unlocking flips it back, and a failed attempt saw the state
//! held. Owners impose no further condition if the operations of each owner do not overlap, and
//! each owner alternates between locking and unlocking: by induction along any order of flips, the
//! owner that unlocks is the last owner that locked, because every other owner has unlocked since
//! it last locked. So the monitor checks that each owner alternates, and otherwise ignores owners.
//!
//! # Conditions
//! Only `Lock`, `Unlock` and `LockFailed`; either all locks and unlocks have an owner, or none has.
//! The operations of an owner do not overlap, so only its last operation may lack a return. If that
//! operation is *out of turn*, that is, a lock by an owner that already holds the lock, or an unlock
//! by an owner that does not hold it, the operation never took effect.
//!
//! # Conflict
//! If an owner is out of turn, operations of this owner: two locks without an unlock in between, or
//! a lock and two unlocks after it, or an unlock without a lock. If all owners are in turn: the
//! locks of two owners that certainly hold the lock at the same time, with their unlocks.
//! Otherwise, the conflict is that of [`flip`](super::flip). These operations are not linearizable
//! by themselves.
//!
//! # Complexity
//! O(n log k) for k open operations; owners are looked up in a table or, if their numbers are large, by binary search.

use super::flip::{Part, alternation};
use super::owners::Owners;
use super::zones::NONE;
use super::{Answer, Input, NEVER, shared_lock};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    let owners = match Owners::find(input) {
        Ok(owners) => owners,
        Err(why) => return Answer::Refused(why),
    };
    // Operations that cannot have taken effect, because they are out of turn for their owner.
    let mut impossible = Vec::new();
    if let Some(owners) = &owners {
        match out_of_turn(input, owners) {
            Ok(found) => impossible = found,
            Err(answer) => return answer,
        }
    }
    let answer = alternation(input, |op, span| match span.what {
        Standard::Lock { .. } | Standard::Unlock { .. } if impossible.binary_search(&op).is_ok() => Some(Part::None),
        Standard::Lock { .. } => Some(Part::Flip(true)),
        Standard::Unlock { .. } => Some(Part::Flip(false)),
        Standard::LockFailed => Some(Part::Sees(true)),
        _ => None,
    });
    match (&answer, &owners) {
        // If two owners hold the lock at the same time, report their conflict, because it is easier
        // to understand than the conflict of the flips.
        (Answer::Rejected(_), Some(owners)) => match shared_lock::holds(input, owners) {
            Ok(Err(conflict)) => Answer::Rejected(conflict),
            _ => answer,
        },
        _ => answer,
    }
}

/// Checks that each owner alternates between locking and unlocking. Returns the never-returning
/// operations that are out of turn, in ascending order.
fn out_of_turn(input: &Input, owners: &Owners) -> Result<Vec<usize>, Answer> {
    #[derive(Clone, Copy)]
    struct Turn {
        /// The last lock of the owner so far. `unlock` is the unlock that follows this lock, or
        /// [`NONE`].
        lock: u32,
        unlock: u32,
    }
    let mut turns = vec![Turn { lock: NONE, unlock: NONE }; owners.count()];
    let mut impossible = Vec::new();
    for (op, span) in (0..).zip(&input.spans) {
        let locks = match span.what {
            Standard::Lock { .. } => true,
            Standard::Unlock { .. } => false,
            _ => continue,
        };
        let turn = &mut turns[owners.of(op)];
        let holds = turn.lock != NONE && turn.unlock == NONE;
        if holds == locks {
            if span.ret != NEVER {
                let conflict = [turn.lock, turn.unlock, op].into_iter().filter(|&op| op != NONE).collect();
                return Err(Answer::Rejected(conflict));
            }
            impossible.push(op as usize);
        }
        if locks {
            (turn.lock, turn.unlock) = (op, NONE);
        } else {
            turn.unlock = op;
        }
    }
    Ok(impossible)
}

#[cfg(test)]
mod tests {
    use super::super::tests::spans;
    use super::*;

    #[test]
    fn owners_may_have_any_numbers() {
        let by = Some(u32::MAX);
        let turns = [(Standard::Lock { by }, true), (Standard::Unlock { by }, true), (Standard::Lock { by }, true)];
        assert_eq!(judge(&spans(&turns)), Answer::Accepted(vec![0, 1, 2]));
        let twice = [(Standard::Lock { by }, true), (Standard::Lock { by }, true)];
        assert_eq!(judge(&spans(&twice)), Answer::Rejected(vec![0, 1]));
    }
}
