//! The *frame* of a history: its events and, for each operation, the process, the object, and the
//! positions of the call and the return, but no arguments and no results.

use crate::history::{Event, EventKind, OpId};

/// The place of an operation in its history: the positions of its call and return, its process and
/// its object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) call: u32,
    /// The position of the return; [`NEVER`] if the operation never returned.
    pub(super) ret: u32,
    pub(super) process: u32,
    pub(super) object: u32,
}

pub(super) const NEVER: u32 = u32::MAX;

/// The events and places of a history, without arguments and results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'c> {
    pub(crate) events: &'c [Event],
    pub(super) places: &'c [Place],
    /// The number of objects.
    pub(crate) objects: usize,
}

impl Frame<'_> {
    /// Returns the number of operations.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns all operations.
    pub(crate) fn operations(&self) -> impl Iterator<Item = OpId> + Clone + use<> {
        (0..u32::try_from(self.places.len()).expect("the number of operations fits in 32 bits")).map(OpId)
    }

    /// Returns the position of the call in the order of events.
    #[inline]
    pub(crate) fn call(&self, op: OpId) -> u32 {
        self.places[op.index()].call
    }

    /// Returns the position of the return, if the operation returned.
    #[inline]
    pub(crate) fn ret(&self, op: OpId) -> Option<u32> {
        let ret = self.places[op.index()].ret;
        (ret != NEVER).then_some(ret)
    }

    /// Returns the position of an event.
    pub(crate) fn position(&self, event: Event) -> u32 {
        let place = &self.places[event.op().index()];
        if event.kind() == EventKind::Call { place.call } else { place.ret }
    }

    pub(crate) fn process(&self, op: OpId) -> u32 {
        self.places[op.index()].process
    }

    pub(crate) fn object(&self, op: OpId) -> usize {
        self.places[op.index()].object as usize
    }

    /// Returns whether `first` returned before `second` was called.
    pub(crate) fn precedes(&self, first: OpId, second: OpId) -> bool {
        self.places[first.index()].ret < self.places[second.index()].call
    }

    /// Returns the operations of a part, other than `returning`, that are open when `returning`
    /// returns.
    pub(crate) fn open_at_return(&self, events: &[Event], returning: OpId) -> Vec<OpId> {
        open_at_return(events, returning, |op| (self.call(op), self.ret(op)))
    }

    /// Returns the number of events, for reports about limits.
    pub(crate) fn event_count(&self) -> u32 {
        u32::try_from(self.events.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the operations among these events, other than `returning`, that are open when
/// `returning` returns. `place` returns the positions of an operation's call and return.
pub(super) fn open_at_return(
    events: &[Event],
    returning: OpId,
    place: impl Fn(OpId) -> (u32, Option<u32>),
) -> Vec<OpId> {
    let at = place(returning).1;
    let called = calls(events).map(|op| (op, place(op))).take_while(|(_, (call, _))| Some(*call) < at);
    let is_open =
        |(op, (_, ret)): &(OpId, (u32, Option<u32>))| *op != returning && ret.is_none_or(|ret| Some(ret) > at);
    called.filter(is_open).map(|(op, _)| op).collect()
}

/// Returns the operations called in these events, in the order of their calls.
pub(crate) fn calls(events: &[Event]) -> impl Iterator<Item = OpId> {
    events.iter().filter(|event| event.kind() == EventKind::Call).map(|event| event.op())
}
