//! From gaps to a linearization.

use super::container::{Container, NONE};

/// Where each operation takes effect: which gap, and when in that gap.
///
/// In each gap, values that were in before and go (`closing`) come first, in the order in which they were noted; then
/// whatever leaves the container as it was (`middle`); then values that come and stay (`opening`), those noted last
/// first. So if values are placed one by one, each inside of those placed after it, the order is well nested.
#[derive(Debug)]
pub(super) struct Placement {
    /// The gap behind all events: what is placed there need not have happened, and is left out.
    end: u32,
    closing: Vec<(u32, u32)>,
    middle: Vec<(u32, u32)>,
    opening: Vec<(u32, u32)>,
}

impl Placement {
    pub(super) fn new(end: u32, operations: usize) -> Self {
        let [closing, opening] = [(); 2].map(|()| Vec::with_capacity(operations / 2));
        Self { end, closing, middle: Vec::new(), opening }
    }

    /// Places an operation that leaves the container as it is.
    pub(super) fn observer(&mut self, operation: u32, gap: u32) {
        self.middle.push((gap, operation));
    }

    /// Places the operations of one value, as `(operation, gap)`; the looks between add and remove.
    pub(super) fn value(&mut self, add: (u32, u32), remove: (u32, u32), looks: impl Iterator<Item = (u32, u32)>) {
        if add.1 == remove.1 {
            self.middle.push((add.1, add.0));
            self.middle.extend(looks.map(|(look, _)| (add.1, look)));
            self.middle.push((remove.1, remove.0));
            return;
        }
        for (look, gap) in looks {
            if gap == remove.1 {
                self.closing.push((gap, look));
            } else if gap == add.1 {
                self.opening.push((gap, look));
            } else {
                self.middle.push((gap, look));
            }
        }
        // `opening` is read backwards: the add comes before its looks.
        self.opening.push((add.1, add.0));
        if remove.0 != NONE {
            self.closing.push((remove.1, remove.0));
        }
    }

    /// The operations in the order of their gaps.
    ///
    /// # Complexity
    /// O(n) for n operations and gaps: counting sorts, which keep the order inside of a gap. Operations come in any
    /// order, so the first sort is by stretches of time, and the second stays inside of a stretch, which is in the cache.
    pub(super) fn order(self) -> Vec<u32> {
        let Self { end, closing, middle, opening } = self;
        let all = || closing.iter().chain(&middle).chain(opening.iter().rev()).filter(|(gap, _)| *gap < end);
        let stretch = |gap: u32| (gap >> STRETCH) as usize;
        let mut starts = vec![0u32; stretch(end) + 2];
        for (gap, _) in all() {
            starts[stretch(*gap) + 1] += 1;
        }
        sum_up(&mut starts);
        let mut by_stretch = vec![(0, NONE); starts[stretch(end) + 1] as usize];
        let mut next = starts.clone();
        for placed in all() {
            let place = &mut next[stretch(placed.0)];
            by_stretch[*place as usize] = *placed;
            *place += 1;
        }
        drop((closing, middle, opening));
        let mut order = vec![NONE; by_stretch.len()];
        let mut next = vec![0u32; (1 << STRETCH) + 1];
        for bounds in starts.windows(2) {
            let [start, stop] = [bounds[0] as usize, bounds[1] as usize];
            next.fill(0);
            for (gap, _) in &by_stretch[start..stop] {
                next[(gap & INSIDE) as usize + 1] += 1;
            }
            sum_up(&mut next);
            for (gap, operation) in &by_stretch[start..stop] {
                let place = &mut next[(gap & INSIDE) as usize];
                order[start + *place as usize] = *operation;
                *place += 1;
            }
        }
        order
    }
}

/// A stretch of time has this many bits of gaps.
const STRETCH: u32 = 11;
const INSIDE: u32 = (1 << STRETCH) - 1;

/// From how many there are of each to where each starts, if they are counted one place further on.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// How many values to [read ahead](Gaps::warm).
pub(super) const AHEAD: usize = 32;

/// Gaps of which more and more are covered.
///
/// Two forests of sets of neighbouring gaps, one that finds the next uncovered gap and one that finds the previous.
#[derive(Debug)]
pub(super) struct Gaps {
    /// By gap: itself if it is uncovered, else one behind it, on the way to the next uncovered one.
    next: Vec<u32>,
    /// By gap plus 1: the same for the previous uncovered gap plus 1; 0 is always uncovered and stands for none.
    previous: Vec<u32>,
}

impl Gaps {
    /// The gaps `0..=end`, none covered; `end` never will be. With `both`, the previous can be asked for.
    pub(super) fn new(end: u32, both: bool) -> Self {
        Self { next: (0..=end).collect(), previous: if both { (0..=end + 1).collect() } else { Vec::new() } }
    }

    /// The first uncovered gap from `gap` on.
    #[inline]
    pub(super) fn next(&mut self, gap: u32) -> u32 {
        find(&mut self.next, gap)
    }

    /// The last uncovered gap up to `gap`.
    #[inline]
    pub(super) fn previous(&mut self, gap: u32) -> Option<u32> {
        find(&mut self.previous, gap + 1).checked_sub(1)
    }

    /// Reads what will be needed for these values, which may be anywhere in memory.
    ///
    /// Reads that do not depend on each other wait for memory together: for values in no order of time this saves a
    /// third.
    pub(super) fn warm(&self, container: &Container, values: &[u32]) {
        let read = values.iter().fold(0, |read, number| {
            let value = &container.values[*number as usize];
            read ^ self.next[value.first_return as usize] ^ self.next[value.last_call as usize]
        });
        std::hint::black_box(read);
    }

    /// Covers the gaps `from..until`.
    #[inline]
    pub(super) fn cover(&mut self, from: u32, until: u32) {
        let mut gap = from;
        loop {
            gap = find(&mut self.next, gap);
            if gap >= until {
                return;
            }
            self.next[gap as usize] = gap + 1;
            if let Some(previous) = self.previous.get_mut(gap as usize + 1) {
                *previous = gap;
            }
        }
    }
}

/// The root of a set, halving the path to it.
#[inline]
fn find(parent: &mut [u32], start: u32) -> u32 {
    let mut node = start;
    loop {
        let up = parent[node as usize];
        if up == node {
            return node;
        }
        let above = parent[up as usize];
        parent[node as usize] = above;
        node = above;
    }
}
