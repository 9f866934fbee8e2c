//! A lock that one owner may hold at a time.
//!
//! Locking flips the state to held, unlocking flips it to free, and a failed attempt saw it held: [`flip`](super::flip)
//! judges this. Owners add nothing to it if the operations of each owner do not overlap, and each owner locks and
//! unlocks in turn: by induction along any order of flips, an owner that unlocks has locked before and has not unlocked
//! since, and only the last owner that locked is in this situation. So the monitor checks that each owner takes turns,
//! and otherwise ignores owners.
//!
//! # Conditions
//! Only `Lock`, `Unlock` and `LockFailed`; either all locks and unlocks have an owner, or none has. The operations of
//! an owner do not overlap, so that only its last operation may have never returned; if that operation is out of turn,
//! it never took effect.
//!
//! # Conflict
//! For an owner out of turn: two locks without an unlock in between, or a lock and two unlocks after it, or an unlock
//! without a lock. For owners in turn: two that certainly hold the lock at the same time, with their unlocks. Otherwise
//! the conflict of [`flip`](super::flip). These operations are not linearizable by themselves.
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
    // Operations that cannot have taken effect, because it was not their owner's turn.
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
        // A conflict of two owners that hold the lock at the same time is easier to understand.
        (Answer::Rejected(_), Some(owners)) => match shared_lock::holds(input, owners) {
            Ok(Err(conflict)) => Answer::Rejected(conflict),
            _ => answer,
        },
        _ => answer,
    }
}

/// Checks that each owner locks and unlocks in turn. Returns the never-returning operations that are out of turn, in
/// ascending order.
fn out_of_turn(input: &Input, owners: &Owners) -> Result<Vec<usize>, Answer> {
    #[derive(Clone, Copy)]
    struct Turn {
        /// The last lock, and the unlock after it.
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
