//! Splitting the events of a history among parts that are judged alone.

use std::ops::Range;

use super::{Event, History, OpId};

/// The events of a history by parts: all in one buffer, those of a part in the order of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    events: Vec<Event>,
    /// By part: where it ends. It begins where the one before ends.
    ends: Vec<usize>,
}

impl Parts {
    /// The events of each part, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[Event]> {
        self.ranges().map(|range| &self.events[range])
    }

    /// Where in the buffer each part is.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| start..*end)
    }

    /// The buffer.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }
}

/// The parts of `events` by the group that each operation belongs to, numbered `0..groups`; some may be empty.
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
    // Now each is where its part begins; it moves to where it ends.
    let mut sorted = events.to_vec();
    for event in events {
        let place = &mut places[group(event.op())];
        sorted[*place] = *event;
        *place += 1;
    }
    places.truncate(groups);
    Parts { events: sorted, ends: places }
}

/// The parts of a history by object.
pub fn by_object<Op, Ret>(history: &History<Op, Ret>) -> Parts {
    split(history.events(), history.object_count(), |id| history[id].object.index())
}
