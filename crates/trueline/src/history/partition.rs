//! Splitting the events of a history among parts that are judged alone.

use super::{Event, History, OpId};

/// Some of the operations of a history: their events, in the order of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The events, in their order.
    pub events: Vec<Event>,
}

/// The parts of `events` by the group that each operation belongs to, numbered `0..groups`.
///
/// # Complexity
/// O(events + groups).
pub fn split(events: &[Event], groups: usize, group: impl Fn(OpId) -> usize) -> Vec<Part> {
    let mut sizes = vec![0; groups];
    for event in events {
        sizes[group(event.op())] += 1;
    }
    let mut parts: Vec<Part> = sizes.into_iter().map(|size| Part { events: Vec::with_capacity(size) }).collect();
    for event in events {
        parts[group(event.op())].events.push(*event);
    }
    parts
}

/// The parts of a history by object, without the empty ones.
pub fn by_object<Op, Ret>(history: &History<Op, Ret>) -> Vec<Part> {
    let mut parts = split(history.events(), history.object_count(), |id| history[id].object.index());
    parts.retain(|part| !part.events.is_empty());
    parts
}
