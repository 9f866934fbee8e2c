//! A register with read-modify-write: swaps and compare-and-swaps that succeeded, besides reads and blind writes.
//!
//! An exchange that saw `a` must come right behind all that saw `a`, so values form chains (see `chains`) that begin
//! with a blind write or the initial value. A compare-and-swap that failed and tells what it saw is a read.
//!
//! # Conditions
//! Reads, writes and exchanges only, each value written once, the initial value known and never written. (An exchange
//! that leaves what it saw is a read.) A write or exchange that never returned is [left out](super::chains) if nobody
//! saw its value; if somebody did, what an exchange saw must be known. A compare-and-swap that never returned is such an
//! exchange with what it expected: if it failed, it only looked.
//!
//! # Conflict
//! Few operations: one that saw a value that nobody wrote; two exchanges that saw the same value; two of a chain in the
//! wrong order; the ends of the zones of two chains; with these, the writers of what they saw, and for those that never
//! returned the operations that show that they took effect. Only a cycle of exchanges is given as a whole. The history of these operations *and of all earlier writers of their chains* is not
//! linearizable by itself.
//!
//! # Complexity
//! O(events).

use super::chains::{self, Object, Old, Role};
use super::{Answer, Input, Span};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    if input.initial.is_none() {
        return Answer::Refused("the initial value of the register is unknown");
    }
    chains::judge(input, Object::Register, role)
}

fn role(span: &Span) -> Option<Role> {
    match span.what {
        Standard::Read(value) => Some(Role::Look(Some(value))),
        Standard::Write(value) => Some(Role::Change { old: Old::Any, new: Some(value) }),
        Standard::Exchange { old: Some(old), new } if old == new => Some(Role::Look(Some(new))),
        Standard::Exchange { old, new } => {
            Some(Role::Change { old: old.map_or(Old::Unknown, Old::Value), new: Some(new) })
        }
        _ => None,
    }
}
