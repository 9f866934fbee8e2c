//! A lock that one may hold.
//!
//! Locking flips the state to held, unlocking to free, and a try that failed saw it held: what [`flip`](super::flip)
//! judges. Owners add nothing to that where each owner does one thing after the other, and locks and unlocks in turn:
//! by induction along any order of flips, whoever unlocks has locked before and not unlocked since, and so has only the
//! one who locked last. So turns are checked for each owner, and the rest is the same.
//!
//! # Conditions
//! `Lock`, `Unlock` and `LockFailed` only; either all locks and unlocks have an owner or none has. The operations of an
//! owner do not overlap, so that only its last may have never returned; if that is out of turn, it never took effect.
//!
//! # Conflict
//! Of an owner out of turn: two locks without an unlock between, or what was unlocked, twice (or never locked). Of
//! owners in turn: two that surely hold it at a time, with their unlocks. Else that of [`flip`](super::flip). They are not
//! linearizable by themselves.
//!
//! # Complexity
//! O(n log k) for k open operations; owners are looked up in a table or, where their numbers are large, by bisection.

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
    // What never took effect, by operation, where there are owners.
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
        // That two hold it at a time is easier to see.
        (Answer::Rejected(_), Some(owners)) => match shared_lock::holds(input, owners) {
            Ok(Err(conflict)) => Answer::Rejected(conflict),
            _ => answer,
        },
        _ => answer,
    }
}

/// Checks that each owner locks and unlocks in turn; those that never returned, and are not, in ascending order.
fn out_of_turn(input: &Input, owners: &Owners) -> Result<Vec<usize>, Answer> {
    #[derive(Clone, Copy)]
    struct Turn {
        /// The last lock, and the unlock behind it.
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
