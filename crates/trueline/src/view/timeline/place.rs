//! Where things are: positions of calls, returns and points, in cells as wide as a letter.

use super::Timeline;
use crate::history::EventKind;

/// Where the calls, returns and points of a timeline are, from left to right, in cells as wide as a letter.
///
/// The order of events is the order of the cells. Beyond that, each bar is as long as what is written on it, so that a
/// drawing needs no more room than its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The cell of each event.
    pub events: Vec<u32>,
    /// The point of each bar, if it is in the linearization.
    pub points: Vec<Option<Point>>,
    /// The number of cells.
    pub width: u32,
}

/// The place of a point on a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// It is behind this event, and before the next.
    pub behind: u32,
    /// Its first cell.
    pub cell: u32,
}

impl Places {
    /// Finds a place for everything; `letters` says how many letters are written on a bar.
    ///
    /// Points are in the order of the linearization, each between the call and the return of its bar (strictly), and those of operations
    /// that took effect together in one place. Among the gaps between events that are possible for a point, it is in the
    /// middle.
    ///
    /// # Complexity
    /// O(n).
    pub fn new(timeline: &Timeline, letters: impl Fn(u32) -> u32) -> Self {
        let gaps = gaps(timeline);
        // How much room the points of a gap need: their numbers, and a cell behind each.
        let mut room = vec![0_u32; timeline.events.len() + 1];
        let mut offsets = Vec::with_capacity(gaps.len());
        for ((gap, group), step) in gaps.iter().zip(timeline.groups()).zip(1_u32..) {
            let step = timeline.bars[group[0] as usize].step.unwrap_or(step);
            let here = &mut room[*gap as usize];
            offsets.push(*here);
            *here += digits(step) + 1;
        }
        let mut cells: Vec<u32> = Vec::with_capacity(timeline.events.len());
        let mut next = 0;
        // Until where the open bars need to reach at least.
        let mut width = 0;
        for (position, edge) in timeline.events.iter().enumerate() {
            let bar = &timeline.bars[edge.bar as usize];
            let cell = match edge.kind {
                EventKind::Call => {
                    width = width.max(next + letters(edge.bar) + 1);
                    next
                }
                EventKind::Return => next.max(cells[bar.call as usize] + letters(edge.bar).max(2)),
            };
            cells.push(cell);
            // A cell for the event, one before the points, and the points.
            next = cell + 1 + if room[position] > 0 { room[position] + 1 } else { 0 };
        }
        let mut points = vec![None; timeline.bars.len()];
        for ((gap, group), offset) in gaps.iter().zip(timeline.groups()).zip(offsets) {
            let point = Point { behind: *gap, cell: cells[*gap as usize] + 2 + offset };
            for bar in group {
                points[*bar as usize] = Some(point);
            }
        }
        Self { events: cells, points, width: width.max(next) }
    }

    /// The first and the last cell of a bar; of one that never returned, the last of all.
    pub fn of_bar(&self, timeline: &Timeline, bar: u32) -> (u32, u32) {
        let bar = &timeline.bars[bar as usize];
        let last = bar.ret.map_or(self.width.saturating_sub(1), |ret| self.events[ret as usize]);
        (self.events[bar.call as usize], last)
    }
}

/// For each group of the linearization: behind which event its point is.
fn gaps(timeline: &Timeline) -> Vec<u32> {
    let end = match &timeline.problem {
        Some(problem) => problem.event,
        None => u32::try_from(timeline.events.len()).unwrap_or(u32::MAX),
    };
    // Behind all calls so far, as early as can be.
    let mut earliest: Vec<u32> = Vec::new();
    let mut least = 0;
    for group in timeline.groups() {
        let call = group.iter().map(|bar| timeline.bars[*bar as usize].call).max().unwrap_or(0);
        least = least.max(call);
        earliest.push(least);
    }
    // Before all returns from there on, as late as can be.
    let mut gaps = earliest;
    let mut most = end.saturating_sub(1);
    let groups: Vec<&[u32]> = timeline.groups().collect();
    for (group, gap) in groups.iter().zip(&mut gaps).rev() {
        let returns = group.iter().filter_map(|bar| timeline.bars[*bar as usize].ret);
        most = most.min(returns.min().map_or(u32::MAX, |ret| ret.saturating_sub(1)));
        *gap += most.saturating_sub(*gap) / 2;
    }
    gaps
}

pub(super) fn digits(number: u32) -> u32 {
    number.checked_ilog10().unwrap_or(0) + 1
}
