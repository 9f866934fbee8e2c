//! Builds a linearization from the [gaps](super::container) in which operations take effect.

use super::container::{Container, NONE};

/// The gap in which each operation takes effect, and the order of the operations inside each gap.
///
/// Each gap has three groups of operations, in this order:
///
/// - `closing`: operations of values that were in the container before the gap and leave it, in the order in which they
///   were placed;
/// - `middle`: operations that leave the container unchanged when taken together;
/// - `opening`: operations of values that enter the container and stay, in the reverse of the order in which they were
///   placed.
///
/// So if values are placed one by one, each nested inside the values that are placed later, the
/// resulting order is well nested.
#[derive(Debug)]
pub(super) struct Placement {
    /// The gap after all events: operations that are placed there need not have happened, and are
    /// left out.
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

    /// Places an operation that leaves the container unchanged.
    pub(super) fn observer(&mut self, operation: u32, gap: u32) {
        self.middle.push((gap, operation));
    }

    /// Places the operations of one value, each given as `(operation, gap)`. The looks come between
    /// the add and the remove.
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
        // `opening` is read backward, so the add comes before its looks.
        self.opening.push((add.1, add.0));
        if remove.0 != NONE {
            self.closing.push((remove.1, remove.0));
        }
    }

    /// Returns the operations in the order of their gaps.
    ///
    /// # Complexity
    /// O(n) for n operations and gaps: two counting sorts, which keep the order inside a gap. The
    /// operations are not ordered by time, so sorting them directly by gap would access memory at
    /// random. Instead, the first sort is by *stretch*, a run of consecutive gaps. The second sort
    /// is inside each stretch, which fits into the cache.
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

/// The number of low bits in which the gaps of a stretch differ. Their other bits are equal.
const STRETCH: u32 = 11;
const INSIDE: u32 = (1 << STRETCH) - 1;

/// Turns the counts into start positions by adding them up. The count of item `i` is at index `i +
/// 1`; afterward, its start is at index `i`.
fn sum_up(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        sum += *count;
        *count = sum;
    }
}

/// The number of values whose entries are [read ahead](Gaps::warm) at a time.
pub(super) const AHEAD: usize = 32;

/// A set of gaps that are gradually covered. It finds the nearest uncovered gap.
///
/// The set consists of two union-find forests over neighboring gaps. One forest finds the next
/// uncovered gap, the other one finds the previous uncovered gap.
#[derive(Debug)]
pub(super) struct Gaps {
    /// For each gap, the gap itself if it is uncovered; otherwise a later gap on the path to the
    /// next uncovered gap.
    next: Vec<u32>,
    /// The entry of each gap has index `gap + 1`. If the gap is uncovered, its entry is `gap + 1`.
    /// Otherwise, it is the index of an earlier entry, on the path to the entry of the previous
    /// uncovered gap. Entry 0 is 0, which means that no previous gap is uncovered.
    previous: Vec<u32>,
}

impl Gaps {
    /// Returns the gaps `0..=end`, all uncovered. The gap `end` must never be covered.
    /// [`previous`](Gaps::previous) is supported only if `both` is `true`.
    pub(super) fn new(end: u32, both: bool) -> Self {
        Self { next: (0..=end).collect(), previous: if both { (0..=end + 1).collect() } else { Vec::new() } }
    }

    /// Returns the first uncovered gap at or after `gap`.
    #[inline]
    pub(super) fn next(&mut self, gap: u32) -> u32 {
        find(&mut self.next, gap)
    }

    /// Returns the last uncovered gap at or before `gap`.
    #[inline]
    pub(super) fn previous(&mut self, gap: u32) -> Option<u32> {
        find(&mut self.previous, gap + 1).checked_sub(1)
    }

    /// Reads the entries that will be needed for the given values, to bring the entries into the
    /// cache.
    ///
    /// The entries may be anywhere in memory. Reads that do not depend on each other wait for
    /// memory in parallel; if the values are not sorted by time, this saves a third of the running
    /// time.
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

/// Returns the root of the tree that contains an entry, halving the path to the root.
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
