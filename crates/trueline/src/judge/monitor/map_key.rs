//! One key of a map, whose operations tell what they found.
//!
//! The key is absent at first. From an insertion that found nothing to the remove behind it is an *episode*: a
//! [chain](super::chains) of values, each of which replaced the one before. Episodes must be contiguous, and between them
//! the key is absent; whoever found nothing is a block of its own. All these blocks begin and end with nothing, so any
//! order that the [zone test](super::zones) allows will do; an episode without a remove must be the last.
//!
//! # Conditions
//! `Replace` and `Get` only, each value inserted once. (What left what it found only looked.) Of operations that never
//! returned:
//! - an insertion is left out if nobody saw its value; if somebody did, what it found must be known;
//! - of removes that found the same known value, the one called first took it, if no other operation replaced it: where
//!   it took no effect, it can at the end. Refused if an insertion that was left out had replaced another value by it;
//! - removes of which nobody knows what they found matter if an episode has no remove. If one has none, it takes the
//!   earliest called: any other can give way to it, and if none took effect, it can at the end. Refused if several have
//!   none, or if there are removes of both kinds that matter.
//!
//! # Conflict
//! Few operations: one that found a value that nobody inserted; two that replaced the same value; two of an episode in
//! the wrong order; the ends of the zones of two episodes, or of one and what found nothing within; with these, the
//! writers of what they found. Only a cycle of replacements is given as a whole. The history of these operations *and of
//! all that replaced and were replaced in their episodes, with the removes that never returned,* is not linearizable by
//! itself.
//!
//! # Complexity
//! O(events).

use super::chains::{self, Object, Old, Role};
use super::{Answer, Input, Span};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    if input.initial.is_some() {
        return Answer::Refused("the key has a value at first");
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
