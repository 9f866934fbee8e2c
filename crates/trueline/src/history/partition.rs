//! Splits the events of a history into parts that are judged separately.

use std::ops::Range;

use super::{Event, History, OpId};

/// The events of a history, grouped by part in one buffer. Within a part, events keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    events: Vec<Event>,
    /// The end of each part. A part begins where the previous one ends.
    ends: Vec<usize>,
}

impl Parts {
    /// Returns the events of each part, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[Event]> {
        self.ranges().map(|range| &self.events[range])
    }

    /// Returns the range of each part in the buffer.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }

    /// Returns the buffer.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}

/// Splits `events` into parts, one for each group of operations. Groups are numbered `0..groups`.
/// Some parts may be empty.
///
/// # Complexity
/// O(events + groups).
pub fn split(events: &[Event], groups: usize, group: impl Fn(OpId) -> usize) -> Parts {
    let mut places = vec![0; groups + 1];
    for event in events {
        places[group(event.op()) + 1] += 1;
    }
    for part in 1..places.len() {
        places[part] += places[part - 1];
    }
    // Initially, `places` contains the beginning of each part. The loop advances each place to the end of its part.
    let mut sorted = events.to_vec();
    for event in events {
        let place = &mut places[group(event.op())];
        sorted[*place] = *event;
        *place += 1;
    }
    places.truncate(groups);
    Parts { events: sorted, ends: places }
}

/// Splits a history by object.
pub fn by_object<Op, Ret>(history: &History<Op, Ret>) -> Parts {
    split(history.events(), history.object_count(), |id| history[id].object.index())
}
