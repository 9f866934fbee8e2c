//! Judges stacks with distinct values.
//!
//! **Peeling.** A value can be at the bottom of the stack if *each* of its operations has, in its tuned interval, a gap
//! in which no other remaining value is critical ([`container`] defines these terms). Then the value is *peeled*, that
//! is, removed from the remaining values. The history is linearizable if and only if all values can be peeled, in any
//! order. *Necessary*: the bottom value of a linearization satisfies the condition. *Sufficient*: cut a linearization
//! of the other values at the gaps of this value's operations, and insert these operations there. Peeling only makes
//! fewer values critical, so a value that can be peeled now can also be peeled later: the order does not matter.
//!
//! **Watching** ([`watch`], if the history has no tops, that is, no operations that look at the top value). A *block*
//! is a run of gaps in which the same values are critical. Each block watches one of them: the value that became
//! critical last, because it is usually peeled last. When this value is peeled, the block looks for another one by
//! following `parent`, which holds, for each value, the value that was watched when it became critical. A block that
//! finds no critical value is *free*, and frees the operations that have a gap in it. If a neighboring block was free
//! already, only the operations that begin (or end) in the block itself are left to be freed.
//!
//! **By trees** ([`by_trees`], if the history has tops, or if watching takes too many steps). A
//! tree holds the number of critical values of each block, and returns the block with the fewest
//! critical values. If this block has no critical value, the operations that have a gap in it are
//! free; if it has one, the tops of that value that have a gap in it are free. Watching usually
//! completes if stacks are not deep. Then it is 15 % faster than trees, measured on a million
//! operations.
//!
//! **The linearization.** The values are placed in reverse order of peeling, each in gaps in which no value placed
//! before is critical: the value is popped in the first such gap from its last call on, and pushed in the last such gap
//! before its first return (or in the gap of the pop, if that gap is before the first return), with its tops in
//! between. Then a value `w` that is placed after a value `v`, and so lies below it, has no operation strictly between
//! the push and the pop of `v`: in the gap of that operation `v` is not critical, so `v` is pushed there or later, or
//! popped there or earlier. Inside a gap, [`Placement`] nests the operations.
//!
//! A conflict is a set of values none of which can be peeled before the others: each value has an operation such that,
//! in each gap from the call to the return of this operation, another value of the set is critical.
//!
//! For **pops that never returned** and whose values are unknown, no rule is known that finds the
//! values that they took. So all choices of these values are tried, if there are few choices.
//!
//! # Complexity
//! Watching takes O(n), plus O(log n) for each block that becomes free without a free neighbor, plus the steps of the
//! search for another critical value. Once these steps are more than [`PATIENCE`] times the number of values peeled and
//! blocks freed, plus [`HEAD_START`], trees take over: O(n log n).

use super::container::{self, Container, NONE, Role};
use super::place::{AHEAD, Gaps, Placement};
use super::{Answer, Input, ValueId};
use crate::spec::Standard;

fn role(what: &Standard<ValueId>) -> Option<Role> {
    match *what {
        Standard::Push(value) => Some(Role::Add(value)),
        Standard::Pop(taken) => Some(Role::Remove(taken)),
        Standard::Top(taken) => Some(Role::Look(taken)),
        _ => None,
    }
}

/// The search for other values to watch may take this number of steps for each value peeled so far
/// and for each block freed so far.
const PATIENCE: usize = 4;

/// The search for other values to watch may take this number of steps in addition to those that
/// [`PATIENCE`] allows.
const HEAD_START: usize = 256;

/// Judges a stack whose values are distinct.
pub(crate) fn judge(input: &Input) -> Answer {
    judge_with(input, PATIENCE)
}

/// Judges a stack whose values are distinct. If `patience` is 0, only trees are used.
fn judge_with(input: &Input, patience: usize) -> Answer {
    match container::collect(input, role) {
        Ok(container) => container::complete(input, container, false, |container| decide(input, container, patience)),
        Err(answer) => answer,
    }
}

fn decide(input: &Input, container: &Container, patience: usize) -> Answer {
    let peeled = {
        let blocks = Blocks::new(container);
        let watched = if container.has_looks() { None } else { watch(container, &blocks, patience) };
        watched.unwrap_or_else(|| by_trees(input, container, &blocks))
    };
    if peeled.len() < container.live {
        return stuck(input, container, &peeled);
    }
    place(input, container, &peeled)
}

/// The blocks: runs of gaps in which the same values are critical.
struct Blocks {
    /// The block of each gap.
    of_gap: Vec<u32>,
    /// The number of blocks.
    count: u32,
    /// For each block, the value that becomes critical at its start, or [`NONE`] if no value does.
    starts: Vec<u32>,
}

impl Blocks {
    fn new(container: &Container) -> Self {
        // For each gap, the vector first holds the value that becomes critical there, or `ENDS` if
        // a value ceases to be critical there. Later, it holds the block of the gap.
        const ENDS: u32 = NONE - 1;
        let mut of_gap = vec![NONE; container.end as usize + 1];
        let mut critical = 0;
        for (number, value) in container.living().filter(|(_, value)| value.is_critical()) {
            of_gap[value.first_return as usize] = number;
            of_gap[value.last_call as usize] = ENDS;
            critical += 1;
        }
        let mut starts = Vec::with_capacity(2 * critical + 1);
        starts.push(NONE);
        let mut count = 1;
        for slot in &mut of_gap {
            if *slot != NONE {
                starts.push(if *slot == ENDS { NONE } else { *slot });
                count += 1;
            }
            *slot = count - 1;
        }
        Self { of_gap, count, starts }
    }

    fn of(&self, gap: u32) -> u32 {
        self.of_gap[gap as usize]
    }

    /// Returns the first and the last block of the gaps `from..until`.
    fn range(&self, from: u32, until: u32) -> (u32, u32) {
        (self.of(from), self.of(until - 1))
    }

    /// Returns the first and last blocks of the push (`operation` 0) or the pop (`operation` 1) of a value.
    fn of_operation(&self, container: &Container, value: u32, operation: u32) -> (u32, u32) {
        let value = &container.values[value as usize];
        if operation == 0 {
            self.range(value.add_call, value.first_return)
        } else {
            self.range(value.last_call, value.remove_return)
        }
    }
}

/// Operations, sorted either by their first blocks or by their last blocks.
struct ByBlock {
    /// For each block, the index in `operations` where its operations start.
    starts: Vec<u32>,
    operations: Vec<u32>,
}

impl ByBlock {
    fn new(blocks: u32, operations: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; blocks as usize + 2];
        for (block, _) in operations.clone() {
            starts[block as usize + 2] += 1;
        }
        for block in 1..=blocks as usize {
            starts[block + 1] += starts[block];
        }
        // `starts[block + 1]` is the index where the next operation of the block goes. In the end,
        // it is the index where the next block starts.
        let mut sorted = vec![NONE; starts[blocks as usize + 1] as usize];
        for (block, operation) in operations {
            let place = &mut starts[block as usize + 1];
            sorted[*place as usize] = operation;
            *place += 1;
        }
        Self { starts, operations: sorted }
    }

    fn of(&self, block: u32) -> std::ops::Range<usize> {
        self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize
    }
}

/// Intervals of blocks, in the order of their first blocks. Finds the intervals that contain a given block.
struct Stabbing {
    /// A binary tree. Each leaf holds 1 plus the index of the last block of an interval, or 0 if
    /// the interval was removed; each inner node holds the maximum of its children.
    ends: Vec<u32>,
    leaves: usize,
}

impl Stabbing {
    fn new(ends: impl ExactSizeIterator<Item = u32>) -> Self {
        // The tree has one more leaf than there are intervals, so that a search may begin after the
        // last interval.
        let leaves = (ends.len() + 1).next_power_of_two();
        let mut tree = vec![0; 2 * leaves];
        for (slot, end) in tree[leaves..].iter_mut().zip(ends) {
            *slot = end + 1;
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node].max(tree[2 * node + 1]);
        }
        Self { ends: tree, leaves }
    }

    /// Returns the last interval of `from..until` that ends in `block` or after it.
    fn find(&self, from: usize, until: usize, block: u32) -> Option<usize> {
        let mut node = until + self.leaves;
        // Go up until the subtree to the left contains such an interval.
        loop {
            if node <= 1 {
                return None;
            }
            if node & 1 == 1 && self.ends[node - 1] > block {
                node -= 1;
                break;
            }
            node >>= 1;
        }
        // Go down to the last such interval of this subtree, preferring the right child.
        while node < self.leaves {
            node = 2 * node + usize::from(self.ends[2 * node + 1] > block);
        }
        (node - self.leaves >= from).then_some(node - self.leaves)
    }

    fn remove(&mut self, interval: usize) {
        let mut node = interval + self.leaves;
        self.ends[node] = 0;
        while node > 1 {
            node >>= 1;
            let greatest = self.ends[2 * node].max(self.ends[2 * node + 1]);
            if self.ends[node] == greatest {
                return;
            }
            self.ends[node] = greatest;
        }
    }
}

/// The operations that wait for a free block.
struct Waiting {
    /// For each value, the number of its operations that still wait for a free block.
    left: Vec<u32>,
    /// For each operation, whether it has been freed.
    is_free: Vec<bool>,
    /// The values whose operations have all been freed.
    peelable: Vec<u32>,
}

impl Waiting {
    fn free(&mut self, operation: u32, value: u32) {
        if !std::mem::replace(&mut self.is_free[operation as usize], true) {
            self.left[value as usize] -= 1;
            if self.left[value as usize] == 0 {
                self.peelable.push(value);
            }
        }
    }
}

/// Peels values if no operation of the history looks at the top value. Returns the peeled values in
/// the order of peeling. Values that cannot be peeled are missing.
///
/// Returns `None` if the search for other values to watch took too many steps: more than `patience`
/// for each value peeled and each block freed, plus [`HEAD_START`]. Also returns `None` if
/// `patience` is 0.
///
/// Operation `2 v` is the push of value `v`, and operation `2 v + 1` is the pop of `v`.
fn watch(container: &Container, blocks: &Blocks, patience: usize) -> Option<Vec<u32>> {
    let values = container.values.len();
    if patience == 0 {
        return None;
    }
    let operations = || container.living().flat_map(|(number, _)| [2 * number, 2 * number + 1]);
    let block = |operation: u32| blocks.of_operation(container, operation / 2, operation % 2);
    let begins = ByBlock::new(blocks.count, operations().map(|operation| (block(operation).0, operation)));
    let ends = ByBlock::new(blocks.count, operations().map(|operation| (block(operation).1, operation)));
    let mut stabbing = Stabbing::new(begins.operations.iter().map(|operation| block(*operation).1));
    let mut waiting = Waiting { left: vec![2; values], is_free: vec![false; 2 * values], peelable: Vec::new() };

    // Returns the block that follows the last block in which the value is critical.
    let last = |value: u32| blocks.of(container.values[value as usize].last_call);
    // For each critical value, the value that was being watched when the critical value was found.
    // Following these entries from value to value gives a path. Later, an entry may skip values of
    // its path.
    let mut parent = vec![NONE; values];
    // For each value, the first block that watches it. For each block, the next block that watches
    // the same value.
    let (mut watchers, mut next_watcher) = (vec![NONE; values], vec![NONE; blocks.count as usize]);
    let mut free = Vec::new();
    let mut open: Vec<u32> = Vec::new();
    for (number, &start) in (0..).zip(&blocks.starts) {
        while open.last().is_some_and(|value| last(*value) <= number) {
            open.pop();
        }
        if start != NONE {
            parent[start as usize] = open.last().copied().unwrap_or(NONE);
            open.push(start);
        }
        match open.last() {
            Some(&value) => next_watcher[number as usize] = std::mem::replace(&mut watchers[value as usize], number),
            None => free.push(number),
        }
    }

    let mut is_peeled = vec![false; values];
    let mut is_done = vec![false; blocks.count as usize + 1];
    let mut peeled = Vec::with_capacity(container.live);
    let (mut steps, mut done) = (0usize, 0usize);
    loop {
        while let Some(block) = free.pop() {
            done += 1;
            let before = block.checked_sub(1).is_some_and(|before| is_done[before as usize]);
            if before || is_done[block as usize + 1] {
                let beside = if before { &begins } else { &ends };
                for &operation in &beside.operations[beside.of(block)] {
                    waiting.free(operation, operation / 2);
                }
            } else {
                let until = begins.of(block).end;
                while let Some(found) = stabbing.find(0, until, block) {
                    stabbing.remove(found);
                    waiting.free(begins.operations[found], begins.operations[found] / 2);
                }
            }
            is_done[block as usize] = true;
        }
        let Some(value) = waiting.peelable.pop() else { return Some(peeled) };
        peeled.push(value);
        is_peeled[value as usize] = true;
        let mut block = watchers[value as usize];
        while block != NONE {
            let next = next_watcher[block as usize];
            // Find the remaining value that became critical last and is still critical in this block.
            let mut other = value;
            loop {
                other = left_above(&mut parent, &is_peeled, other, &mut steps);
                if other == NONE || last(other) > block {
                    break;
                }
            }
            if other == NONE {
                free.push(block);
            } else {
                next_watcher[block as usize] = std::mem::replace(&mut watchers[other as usize], block);
            }
            if steps > patience * (peeled.len() + done) + HEAD_START {
                return None;
            }
            block = next;
        }
    }
}

/// Follows `parent` from `value` to the next value that is not peeled, and returns it, or [`NONE`]. Later calls skip
/// the peeled values on this path.
fn left_above(parent: &mut [u32], is_peeled: &[bool], value: u32, steps: &mut usize) -> u32 {
    let mut below = value;
    loop {
        *steps += 1;
        let above = parent[below as usize];
        if above == NONE || !is_peeled[above as usize] {
            parent[value as usize] = above;
            return above;
        }
        // Halve the path.
        parent[below as usize] = parent[above as usize];
        below = above;
    }
}

/// A tree that holds the depth of each block, that is, the number of values that are critical in
/// the block. It can decrement the depths of several blocks at once, and find a block with the
/// least depth.
struct Depths {
    /// For each node, the least depth below it, not counting what was subtracted at nodes above it.
    least: Vec<u32>,
    /// For each node, the amount that was subtracted from all depths below the node.
    less: Vec<u32>,
    leaves: usize,
}

/// The depth that marks a block as taken out. Subtracting from it never yields a depth that a block
/// can have.
const TAKEN: u32 = u32::MAX;

impl Depths {
    fn new(depths: &[u32]) -> Self {
        let leaves = depths.len().next_power_of_two();
        let mut least = vec![TAKEN; 2 * leaves];
        least[leaves..leaves + depths.len()].copy_from_slice(depths);
        for node in (1..leaves).rev() {
            least[node] = least[2 * node].min(least[2 * node + 1]);
        }
        Self { least, less: vec![0; leaves], leaves }
    }

    fn apply(&mut self, node: usize) {
        self.least[node] -= 1;
        if node < self.leaves {
            self.less[node] += 1;
        }
    }

    fn refresh(&mut self, leaf: usize) {
        let mut node = leaf >> 1;
        while node > 0 {
            self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) - self.less[node];
            node >>= 1;
        }
    }

    /// Subtracts 1 from the depths of the blocks `from..until`.
    fn decrement(&mut self, from: usize, until: usize) {
        let (mut low, mut high) = (from + self.leaves, until + self.leaves);
        let (first, last) = (low, high - 1);
        while low < high {
            if low & 1 == 1 {
                self.apply(low);
                low += 1;
            }
            if high & 1 == 1 {
                high -= 1;
                self.apply(high);
            }
            low >>= 1;
            high >>= 1;
        }
        self.refresh(first);
        self.refresh(last);
    }

    /// Takes a block with the least depth out of the tree, and returns the block and its depth.
    fn take_least(&mut self) -> (usize, u32) {
        let depth = self.least[1];
        let mut node = 1;
        while node < self.leaves {
            node = 2 * node + usize::from(self.least[2 * node + 1] < self.least[2 * node]);
        }
        self.least[node] = TAKEN;
        self.refresh(node);
        (node - self.leaves, depth)
    }
}

/// For each block, the sum of the indices of the values that are critical in it. If only one value
/// is critical, the sum is the index of this value.
struct Sums {
    /// A Fenwick tree of the changes of the sum from one block to the next.
    tree: Vec<u32>,
}

impl Sums {
    fn new(blocks: u32) -> Self {
        Self { tree: vec![0; blocks as usize + 2] }
    }

    fn change(&mut self, from: u32, by: u32) {
        let mut node = from as usize + 1;
        while node < self.tree.len() {
            self.tree[node] = self.tree[node].wrapping_add(by);
            node += node & node.wrapping_neg();
        }
    }

    fn at(&self, block: u32) -> u32 {
        let (mut node, mut sum) = (block as usize + 1, 0u32);
        while node > 0 {
            sum = sum.wrapping_add(self.tree[node]);
            node &= node - 1;
        }
        sum
    }
}

/// Peels values. Returns the peeled values in the order of peeling. Values that cannot be peeled
/// are missing.
///
/// Operation `2 v` is the push of value `v`, and operation `2 v + 1` is the pop of `v`. The *tops*,
/// that is, the operations that look at the top value, are numbered after all pushes and pops,
/// ordered by value and call.
fn by_trees(input: &Input, container: &Container, blocks: &Blocks) -> Vec<u32> {
    let values = container.values.len();
    let first_top = u32::try_from(2 * values).expect("the number of operations fits in 32 bits");
    let mut left = vec![2u32; values];
    // For each top (an operation that looks at the top value), its value, and the first and the
    // last block of its interval. For each value, the index where its tops start.
    let (mut top_values, mut top_blocks, mut top_starts) = (Vec::new(), Vec::new(), Vec::new());
    for (number, value) in (0..).zip(&container.values) {
        top_starts.push(top_values.len());
        for &look in container.looks(number as usize).iter().filter(|_| value.lives()) {
            let span = input.spans[look as usize];
            top_blocks.push(blocks.range(span.call.max(value.add_call), span.ret.min(value.remove_return)));
            top_values.push(number);
            left[number as usize] += 1;
        }
    }
    top_starts.push(top_values.len());
    let block = |operation: u32| match operation.checked_sub(first_top) {
        Some(top) => top_blocks[top as usize],
        None => blocks.of_operation(container, operation / 2, operation % 2),
    };
    let whose = |operation: u32| match operation.checked_sub(first_top) {
        Some(top) => top_values[top as usize],
        None => operation / 2,
    };
    let begins = {
        let pairs = container.living().flat_map(|(number, _)| [2 * number, 2 * number + 1]);
        let tops = (first_top..).take(top_values.len());
        ByBlock::new(blocks.count, pairs.chain(tops).map(|operation| (block(operation).0, operation)))
    };
    let mut stabbing = Stabbing::new(begins.operations.iter().map(|operation| block(*operation).1));
    let mut stabbing_tops = Stabbing::new(top_blocks.iter().map(|blocks| blocks.1));
    let is_free = vec![false; 2 * values + top_values.len()];
    let mut waiting = Waiting { left, is_free, peelable: Vec::new() };

    let mut sums = Sums::new(blocks.count);
    let mut depths = vec![0u32; blocks.count as usize + 1];
    for (number, value) in container.living().filter(|(_, value)| value.is_critical()) {
        let (from, until) = (blocks.of(value.first_return), blocks.of(value.last_call));
        sums.change(from, number);
        sums.change(until, number.wrapping_neg());
        depths[from as usize] = depths[from as usize].wrapping_add(1);
        depths[until as usize] = depths[until as usize].wrapping_sub(1);
    }
    depths.pop();
    let mut depth = 0u32;
    for slot in &mut depths {
        depth = depth.wrapping_add(*slot);
        *slot = depth;
    }
    let mut depths = Depths::new(&depths);
    // For each value, the first block that was taken out while this value was the only critical
    // value in the block. For each block, the next block that was taken out in this way for the
    // same value.
    let (mut alone, mut next_alone) = (vec![NONE; values], vec![NONE; blocks.count as usize]);
    let mut free: Vec<u32> = Vec::new();
    let mut peeled = Vec::with_capacity(container.live);
    let mut blocks_left = blocks.count;
    loop {
        while let Some(block) = free.pop() {
            let until = begins.of(block).end;
            while let Some(found) = stabbing.find(0, until, block) {
                stabbing.remove(found);
                let operation = begins.operations[found];
                waiting.free(operation, whose(operation));
            }
        }
        if let Some(value) = waiting.peelable.pop() {
            peeled.push(value);
            let mut block = alone[value as usize];
            while block != NONE {
                free.push(block);
                block = next_alone[block as usize];
            }
            let tuned = &container.values[value as usize];
            if tuned.is_critical() {
                let (from, until) = (blocks.of(tuned.first_return), blocks.of(tuned.last_call));
                sums.change(from, value.wrapping_neg());
                sums.change(until, value);
                depths.decrement(from as usize, until as usize);
            }
            continue;
        }
        if blocks_left == 0 {
            return peeled;
        }
        let (taken, depth) = depths.take_least();
        blocks_left -= 1;
        let block = u32::try_from(taken).expect("the number of blocks fits in 32 bits");
        match depth {
            0 => free.push(block),
            1 if !top_values.is_empty() => {
                let value = sums.at(block);
                next_alone[taken] = std::mem::replace(&mut alone[value as usize], block);
                let tops = top_starts[value as usize]..top_starts[value as usize + 1];
                // The tops of a value are ordered by call: those before `until` begin in this block or earlier.
                let until = tops.start + top_blocks[tops.clone()].partition_point(|blocks| blocks.0 <= block);
                while let Some(found) = stabbing_tops.find(tops.start, until, block) {
                    stabbing_tops.remove(found);
                    waiting.free(first_top + u32::try_from(found).expect("the number of tops fits in 32 bits"), value);
                }
            }
            _ => return peeled,
        }
    }
}

/// Places the values, beginning with the value that was peeled last.
fn place(input: &Input, container: &Container, peeled: &[u32]) -> Answer {
    let mut gaps = Gaps::new(container.end, true);
    let mut placement = Placement::new(container.end, input.spans.len());
    for (place, &number) in peeled.iter().enumerate().rev() {
        if (place + 1) % AHEAD == 0 {
            gaps.warm(container, &peeled[place + 1 - AHEAD..=place]);
        }
        let value = &container.values[number as usize];
        let popped = gaps.next(value.last_call);
        let pushed = if popped < value.first_return {
            popped
        } else {
            gaps.previous(value.first_return - 1).expect("a value is peeled if its push has a free gap")
        };
        debug_assert!(value.add_call <= pushed && popped < value.remove_return, "a peeled value has free gaps");
        let looks = container.looks(number as usize).iter().map(|&look| {
            let gap = gaps.next(input.spans[look as usize].call.max(pushed));
            debug_assert!(gap < input.spans[look as usize].ret && gap <= popped, "a top is between push and pop");
            (look, gap)
        });
        placement.value((value.add, pushed), (value.remove, popped), looks);
        if value.is_critical() {
            gaps.cover(value.first_return, value.last_call);
        }
    }
    for &operation in &container.empties {
        let span = input.spans[operation as usize];
        let gap = gaps.next(span.call);
        if gap >= span.ret {
            return container.not_empty(input, operation);
        }
        placement.observer(operation, gap);
    }
    Answer::Accepted(placement.order())
}

/// Returns a conflict: the operations of a few values that cannot be peeled because they block each
/// other.
///
/// Starts with one value, and adds the values that block it, the values that block these, and so
/// on. Tries several start values, and keeps the smallest set. If this takes too long, the conflict
/// consists of all remaining values.
fn stuck(input: &Input, container: &Container, peeled: &[u32]) -> Answer {
    const STARTS: usize = 32;
    let mut is_left: Vec<bool> = container.values.iter().map(container::Value::lives).collect();
    for &value in peeled {
        is_left[value as usize] = false;
    }
    let ways = Ways::new(input, container, &is_left);
    let left: Vec<u32> = container.living().map(|(number, _)| number).filter(|n| is_left[*n as usize]).collect();
    let mut steps = 4 * container.end as usize + 1024;
    let mut fewest: Option<(Vec<u32>, Vec<u32>)> = None;
    let mut is_in = vec![false; container.values.len()];
    for &start in left.iter().step_by(left.len().div_ceil(STARTS).max(1)) {
        let most = fewest.as_ref().map_or(usize::MAX, |(values, _)| values.len());
        let (mut values, mut operations) = (vec![start], Vec::new());
        is_in[start as usize] = true;
        let mut next = 0;
        while next < values.len() && values.len() < most && steps > 0 {
            let (operation, chain) = ways.in_the_way(values[next], &mut steps);
            operations.push(operation);
            for other in chain {
                if !std::mem::replace(&mut is_in[other as usize], true) {
                    values.push(other);
                }
            }
            next += 1;
        }
        for &value in &values {
            is_in[value as usize] = false;
        }
        if next == values.len() && values.len() < most {
            fewest = Some((values, operations));
        }
    }
    let (values, mut operations) = fewest.unwrap_or_else(|| {
        // Fall back to all remaining values, with all their operations.
        let looks = left.iter().flat_map(|value| container.looks(*value as usize)).copied().collect();
        (left, looks)
    });
    operations.retain(|operation| *operation != NONE);
    container.conflict(input, &values, &operations)
}

/// Finds the remaining values that block an operation.
struct Ways<'a> {
    input: &'a Input,
    container: &'a Container,
    /// For each gap, the two values that stay critical longest among the remaining values that became critical in this
    /// gap or earlier; [`NONE`] in place of a missing value.
    longest: Vec<[u32; 2]>,
}

impl<'a> Ways<'a> {
    fn new(input: &'a Input, container: &'a Container, is_left: &[bool]) -> Self {
        let until = |value: u32| if value == NONE { 0 } else { container.values[value as usize].last_call };
        let mut longest = vec![[NONE; 2]; container.end as usize + 1];
        for (number, value) in container.living() {
            if is_left[number as usize] && value.is_critical() {
                longest[value.first_return as usize][0] = number;
            }
        }
        let mut best = [NONE; 2];
        for slot in &mut longest {
            let new = slot[0];
            if until(new) > until(best[0]) {
                best = [new, best[0]];
            } else if until(new) > until(best[1]) {
                best[1] = new;
            }
            *slot = best;
        }
        Self { input, container, longest }
    }

    /// Returns an operation of `value` and some other values, such that at least one of these
    /// values is critical in each gap of the operation.
    fn in_the_way(&self, value: u32, steps: &mut usize) -> (u32, Vec<u32>) {
        let tuned = &self.container.values[value as usize];
        let push = (tuned.add, tuned.add_call, tuned.first_return);
        let pop = (tuned.remove, tuned.last_call, tuned.remove_return);
        let tops = self.container.looks(value as usize).iter().map(|&look| {
            let span = self.input.spans[look as usize];
            (look, span.call.max(tuned.add_call), span.ret.min(tuned.remove_return))
        });
        let mut best: Option<(u32, Vec<u32>)> = None;
        for (operation, from, until) in [push, pop].into_iter().chain(tops) {
            if let Some(chain) = self.cover(value, from, until, steps) {
                if best.as_ref().is_none_or(|(_, best)| chain.len() < best.len()) {
                    best = Some((operation, chain));
                }
            }
        }
        best.expect("each remaining value has an operation that is blocked by others")
    }

    fn cover(&self, value: u32, from: u32, until: u32, steps: &mut usize) -> Option<Vec<u32>> {
        let mut chain = Vec::new();
        let mut gap = from;
        while gap < until {
            *steps = steps.saturating_sub(1);
            let [first, second] = self.longest[gap as usize];
            let other = if first == value { second } else { first };
            if other == NONE || self.container.values[other as usize].last_call <= gap {
                return None;
            }
            chain.push(other);
            gap = self.container.values[other as usize].last_call;
        }
        Some(chain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::container;
    use super::*;
    use crate::drive::Random;
    use crate::history::OpId;
    use crate::judge::replay;
    use crate::spec::{Stack, StackOp};

    #[test]
    fn watching_and_trees_agree() {
        let mut random = Random::new(8);
        let mut verdicts = [0; 2];
        let stack = Stack::new();
        for number in 0..6000 {
            let operations = if number % 100 == 0 { 2000 } else { 4 + random.below(8) };
            let call = |value: Option<u32>| value.map_or(StackOp::Pop, StackOp::Push);
            let (history, input) = container(&stack, operations, &mut random, call, |_| true);
            // Patience 0 uses only trees; the largest patience lets watching complete.
            let accepted = [0, PATIENCE, 1 << 20].map(|patience| match judge_with(&input, patience) {
                Answer::Accepted(order) => {
                    let order: Vec<OpId> = order.into_iter().map(OpId).collect();
                    replay(&stack, &history, &order).expect("a witness can be replayed");
                    true
                }
                Answer::Rejected(_) => false,
                Answer::Refused(why) => panic!("history {number}: {why}"),
            });
            assert!(accepted == [accepted[0]; 3], "history {number}: {accepted:?}");
            verdicts[usize::from(accepted[0])] += 1;
        }
        assert!(verdicts.iter().all(|count| *count > 500), "both verdicts: {verdicts:?}");
    }
}
