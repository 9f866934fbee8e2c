//! Judges a register that is read and written.
//!
//! Gibbons and Korach (1997): if each value is written once, and the initial value is not written again, the write of a
//! value and its reads form a cluster that must be contiguous, and clusters are ordered by their [zones](super::zones).
//! Reads of the initial value are a cluster that began before all others.
//!
//! # Conditions
//! Only reads and writes; each value is written once; the initial value is known and never written. A write that never
//! returned is [left out](super::chains) if its value was not read.
//!
//! # Conflict
//! At most six operations: a read of a value that was never written; a write and a read of its
//! value that returned before the write was called; or the operations at the ends of two zones,
//! with the writes of their values. These operations are not linearizable by themselves.
//!
//! # Complexity
//! O(events).

use super::chains::{self, Object, Old, Role};
use super::{Answer, Input};
use crate::spec::Standard;

pub(crate) fn judge(input: &Input) -> Answer {
    if input.initial.is_none() {
        return Answer::Refused("the initial value of the register is unknown");
    }
    chains::judge(input, Object::Register, |span| match span.what {
        Standard::Read(value) => Some(Role::Look(Some(value))),
        Standard::Write(value) => Some(Role::Change { old: Old::Any, new: Some(value) }),
        _ => None,
    })
}
