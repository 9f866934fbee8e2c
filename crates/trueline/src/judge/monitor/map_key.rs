//! One key of a map, whose operations return what they found.
//!
//! The key is initially absent. An *episode* lasts from an insertion that found the key absent to the next remove: a
//! [chain](super::chains) of values, each of which replaced the one before. Episodes must be contiguous, and between
//! them the key is absent; an operation that found it absent is a block of its own. All these blocks begin and end with
//! the key absent, so any order that the [zone test](super::zones) allows is legal, except that an episode without a
//! remove must be the last.
//!
//! # Conditions
//! Only `Replace` and `Get`; each value is inserted once. (An operation that left the value that it found only looked.)
//! For operations that never returned:
//! - an insertion is left out if no operation saw its value; otherwise, what it found must be known;
//! - of removes that found the same known value, the one called first took it, if no other operation replaced it: if it
//!   took no effect, it can take effect at the end. Refused if the value was written by an insertion that is left out
//!   and that had replaced another value;
//! - removes that found an unknown value matter only if an episode has no remove. If one episode has none, it gets the
//!   remove that was called first: any other can be exchanged for it, and if none took effect, it can take effect at
//!   the end. Refused if several episodes have no remove, or if there are removes of both kinds that matter.
//!
//! # Conflict
//! A few operations: one that found a value that was never inserted; two that replaced the same value; two of an
//! episode in the wrong order; or the ends of the zones of two episodes, or of an episode and an operation within it
//! that found the key absent. The conflict also includes the writers of the values that these operations found. Only a
//! cycle of replacements is included as a whole. The history of these operations *and of all replacements in their
//! episodes, with the removes that never returned,* is not linearizable by itself.
//!
//! # Complexity
//! O(events).

use super::chains::{self, Object, Old, Role};
use super::{Answer, Input, Span};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    if input.initial.is_some() {
        return Answer::Refused("the key has a value initially");
    }
    chains::judge(input, Object::Key, role)
}

fn role(span: &Span) -> Option<Role> {
    match span.what {
        Standard::Get(value) => Some(Role::Look(value)),
        Standard::Replace { old: Some(old), new } if old == new => Some(Role::Look(new)),
        Standard::Replace { old, new } => {
            let old = match old {
                None => Old::Unknown,
                Some(None) => Old::Nothing,
                Some(Some(value)) => Old::Value(value),
            };
            Some(Role::Change { old, new })
        }
        _ => None,
    }
}
