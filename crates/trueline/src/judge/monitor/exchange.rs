//! Judges a register with read-modify-write operations: swaps, successful compare-and-swaps, reads
//! and blind writes.
//!
//! An exchange that saw `a` must come directly after all operations that saw `a`. So the values
//! form [chains](super::chains) that begin with a blind write or the initial value. A failed
//! compare-and-swap that returns the value it saw is a read.
//!
//! # Conditions
//! Only reads, writes and exchanges; each value is written once; the initial value is known and
//! never written. (An exchange that writes back the value it saw counts as a read.) A write or
//! exchange that never returned is [left out](super::chains) if no operation saw the value that it
//! wrote. If an operation saw the value that a never-returning exchange wrote, the value that this
//! exchange replaced must be known. A compare-and-swap that never returned counts as an exchange
//! that saw the expected value: if the compare-and-swap failed, it was only a read, which can be
//! left out.
//!
//! # Conflict
//! A few operations: one that saw a value that was never written; two exchanges that saw the same
//! value; two operations of a chain in the wrong order; or the operations at the ends of the
//! [zones](super::zones) of two chains. The conflict also includes the writers of the values that
//! these operations saw and, for operations that never returned, the operations that show that they
//! took effect. If exchanges form a cycle, the conflict is the whole cycle, however long it is. The
//! history of these operations *and of all earlier writers of their chains* is not linearizable by
//! itself.
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
