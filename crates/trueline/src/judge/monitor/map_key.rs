//! Judges one key of a map whose operations return the value that they found.
//!
//! The key is initially absent. An *episode* lasts from an insertion that found the key absent to the next remove: a
//! [chain](super::chains) of values, each of which replaced the one before. Episodes must be contiguous, and between
//! them the key is absent; an operation that found it absent is a block of its own. All these blocks begin and end with
//! the key absent, so any order that the [zone test](super::zones) allows is legal, except that an episode without a
//! remove must be the last.
//!
//! # Conditions
//! Only `Replace` and `Get`; each value is inserted once. (An operation that did not change the key
//! counts as a look.) For operations that never returned:
//! - an insertion is left out if no operation saw its value; otherwise, it must be known which
//!   value the insertion found, if any;
//! - among removes that found the same known value, the one called first is taken to have removed the value, if no
//!   other operation replaced it. This loses no linearization: a remove that took no effect can take effect at the end.
//!   The history is refused if the value was written by an insertion that is left out and that had replaced another
//!   value;
//! - removes that found an unknown value matter only if an episode has no remove. If exactly one
//!   episode has no remove, it gets the remove that was called first: any other remove of this kind
//!   can be exchanged for the first one, and if none took effect, the first one can take effect at
//!   the end. The history is refused if several episodes have no remove, or if removes of both
//!   kinds (with a known and with an unknown value) matter.
//!
//! # Conflict
//! A few operations: one that found a value that was never inserted; two that replaced the same value; two operations
//! of an episode in the wrong order; or the ends of the zones of two episodes, or of an episode and an operation within
//! it that found the key absent. The conflict also includes the writers of the values that these operations found. If
//! replacements form a cycle, the conflict is the whole cycle, however long it is. The history of these operations *and
//! of all replacements in their episodes, with the removes that never returned,* is not linearizable by itself.
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
