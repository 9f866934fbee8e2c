//! Positions of calls, returns and linearization points, in cells as wide as a character.

use super::Timeline;
use crate::history::EventKind;

/// The positions of the calls, returns and linearization points of a timeline, from left to right, in cells as wide as
/// a character.
///
/// Events occupy cells in the order of the history. Each bar is at least as long as its text, but no longer than
/// necessary, so that a drawing is only as wide as its text requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The cell of each event.
    pub events: Vec<u32>,
    /// The point of each bar, or `None` if the operation of the bar is not in the linearization.
    pub points: Vec<Option<Point>>,
    /// The width of the timeline, in cells.
    pub width: u32,
}

/// The position of a point on a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The point lies after this event and before the next.
    pub behind: u32,
    /// The first cell of the point.
    pub cell: u32,
}

impl Places {
    /// Computes all positions; `letters` gives the number of characters written on a bar.
    ///
    /// Points are in the order of the linearization, each strictly between the call and the return of its bar;
    /// operations that took effect together share one position. Among the gaps between events that are possible for a
    /// point, a middle one is chosen.
    ///
    /// # Complexity
    /// O(n).
    pub fn new(timeline: &Timeline, letters: impl Fn(u32) -> u32) -> Self {
        let gaps = gaps(timeline);
        // The number of cells that the points in each gap need: the digits of their numbers, and
        // one cell after each number.
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
        // The number of cells that the texts of all bars so far require, including bars that never
        // return.
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
            // The event takes one cell. If points follow, an empty cell comes next, and then the
            // cells of the points.
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

    /// Returns the first and the last cell of a bar. A bar that never returned extends to the last cell of the
    /// timeline.
    pub fn of_bar(&self, timeline: &Timeline, bar: u32) -> (u32, u32) {
        let bar = &timeline.bars[bar as usize];
        let last = bar.ret.map_or(self.width.saturating_sub(1), |ret| self.events[ret as usize]);
        (self.events[bar.call as usize], last)
    }
}

/// Returns, for each group of the linearization, the event after which its point lies.
fn gaps(timeline: &Timeline) -> Vec<u32> {
    let end = match &timeline.problem {
        Some(problem) => problem.event,
        None => u32::try_from(timeline.events.len()).unwrap_or(u32::MAX),
    };
    // The earliest gap: after the calls of this group and of all groups before it.
    let mut earliest: Vec<u32> = Vec::new();
    let mut least = 0;
    for group in timeline.groups() {
        let call = group.iter().map(|bar| timeline.bars[*bar as usize].call).max().unwrap_or(0);
        least = least.max(call);
        earliest.push(least);
    }
    // The latest gap: before the returns of this group and of all groups after it.
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
