//! Near-linear monitors: for one type each, they decide without searching.
//!
//! A monitor reads [`Standard`] operations with their intervals. Each states its conditions as code: a history outside
//! them is [refused](Answer::Refused), not misjudged.
#![cfg_attr(not(test), expect(dead_code, reason = "the choice of a monitor comes with it"))]

mod bag;
mod chains;
mod container;
mod counter;
mod exchange;
mod fetch_increment;
mod flip;
mod lock;
pub(super) mod lockstep;
mod map_key;
mod owners;
mod place;
mod priority_queue;
mod queue;
mod register;
mod semaphore;
mod shared_lock;
mod stack;
mod zones;

#[cfg(test)]
mod container_oracle;
#[cfg(test)]
mod oracle_b;

use crate::spec::Standard;

/// A value of a history, numbered from 0 by first occurrence; where values are ordered, `Input::rank` has the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ValueId(pub(crate) u32);

impl ValueId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The return position of an operation that never returned.
pub(crate) const NEVER: u32 = u32::MAX;

/// One operation, as a monitor sees it.
///
/// `call` and `ret` are positions of events in `0..Input::events`, no two alike; `ret` is [`NEVER`] if it never
/// returned, in which case it need not have taken effect. Its result may still be known (`Taken::Value` and the like:
/// a history that was cut off) or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) what: Standard<ValueId>,
    pub(crate) call: u32,
    pub(crate) ret: u32,
}

/// The operations of one part, in the order of their calls. Never-returning observers are not among them.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) spans: Vec<Span>,
    /// The number of positions.
    pub(crate) events: u32,
    /// The number of distinct values.
    pub(crate) values: u32,
    /// The value that the object holds at the start, if it is one that holds a value (registers).
    pub(crate) initial: Option<ValueId>,
    /// By value: its place in the order of values, equal for values of equal priority; empty where that does not matter.
    pub(crate) rank: Vec<u32>,
}

/// What a monitor says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Linearizable: here is an order, by index in `Input::spans`. It has every operation that returned.
    Accepted(Vec<u32>),
    /// Not linearizable: these few operations conflict, by index in `Input::spans`. They are not linearizable even
    /// alone, if the others of the same values are left out with them (`judge/monitor`'s own words for each say how).
    Rejected(Vec<u32>),
    /// Outside of what this monitor can judge; and why.
    Refused(&'static str),
}
