//! A register that is read and written.
//!
//! Gibbons and Korach (1997): where each value is written once, and not the initial one again, the write of a value and
//! its reads form a cluster that must be contiguous, and clusters are put in order by their [zones](super::zones).
//! Reads of the initial value are a cluster that began before everything.
//!
//! # Conditions
//! Reads and writes only, each value written once, the initial value known and never written. Writes that never
//! returned are fine: [left out](super::chains) if nobody read them.
//!
//! # Conflict
//! At most six operations: a read of a value that nobody wrote; a write and a read of its value that returned before;
//! or the ends of two zones with the writes of their values. They are not linearizable by themselves.
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
