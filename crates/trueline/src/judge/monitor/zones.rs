//! The zone test: orders blocks of operations, each of which must be contiguous.
//!
//! Gibbons and Korach (1997) use it for the reads and writes of one value. A chain of read-modify-writes, and all
//! operations on a key of a map while the key is present, are such blocks too.
//!
//! Block `a` must come before block `b` if an operation of `a` returned before one of `b` was
//! called, that is, if `first_return(a) < last_call(b)`. The blocks can be ordered if and only if
//! there are no two blocks each of which must come before the other:
//!
//! - *Why two are enough.* Suppose that the relation "must come before" has a cycle, and let `a` be its block with the
//!   earliest first return. Each block `x` of the cycle has a predecessor in the cycle whose first return is before
//!   `last_call(x)`, so `first_return(a)` is before it too: `a` must come before all blocks of the cycle, and so before
//!   its own predecessor.
//! - *Which two conflict.* The *zone* of a block is the time between its first return and its last call. A block is
//!   *forward* if the first return comes first; then its value is certainly present throughout the zone. Two forward
//!   blocks conflict if their zones overlap. A forward block conflicts with a block that is not forward if the zone of
//!   the forward block contains the zone of the other one. Two blocks that are not forward never conflict.
//! - *The order.* Blocks are ordered by last call, with one exception: if a block is not forward, and its last call is
//!   in the zone of a forward block, the block comes directly after this forward block.
//!
//! # Complexity
//! O(events + blocks): positions are bucketed rather than compared.

use super::NEVER;

/// Marks a missing operation, block or position.
pub(super) const NONE: u32 = u32::MAX;

/// The earliest return and the latest call among some operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// The earliest return among the operations. [`NEVER`] if no operation returned, or if there
    /// are no operations; in both cases, the block is left out.
    pub(super) first_return: u32,
    /// The latest call among the operations. Meaningless if there are no operations; [`NEVER`] if
    /// the block must be the last one.
    pub(super) last_call: u32,
}

impl Zone {
    pub(super) const EMPTY: Self = Self { first_return: NEVER, last_call: 0 };

    pub(super) fn add(&mut self, call: u32, ret: u32) {
        self.first_return = self.first_return.min(ret);
        self.last_call = self.last_call.max(call);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.first_return = self.first_return.min(other.first_return);
        self.last_call = self.last_call.max(other.last_call);
    }

    fn is_forward(self) -> bool {
        self.first_return < self.last_call
    }
}

/// Returns the blocks in an order that respects the real-time order of their operations, or two blocks that conflict.
///
/// `initial` is the block that began before all others; it may have no operations.
pub(super) fn arrange(zones: &[Zone], events: u32, initial: Option<u32>) -> Result<Vec<u32>, [u32; 2]> {
    let zone = |block: u32| zones[block as usize];
    // For each position, the block that has its last call there, or the forward block that has its
    // first return there.
    let mut at = vec![NONE; events as usize];
    let mut blocks = 0;
    for (block, zone) in (0..).zip(zones) {
        if zone.first_return == NEVER {
            continue;
        }
        blocks += 1;
        if zone.last_call != NEVER {
            at[zone.last_call as usize] = block;
        }
        if zone.is_forward() && initial != Some(block) {
            at[zone.first_return as usize] = block;
        }
    }
    let mut order = Vec::with_capacity(blocks);
    // The forward block whose zone contains the current position, if any.
    let mut open = initial.filter(|&block| zone(block).first_return != NEVER);
    // The blocks that come directly after the block in `open`.
    let mut behind = Vec::new();
    for (position, &block) in (0..).zip(&at) {
        if block == NONE {
            continue;
        }
        let Zone { first_return, last_call } = zone(block);
        match open {
            Some(forward) if forward == block => {
                order.push(block);
                order.append(&mut behind);
                open = None;
            }
            Some(forward) if position != last_call || first_return < zone(forward).last_call => {
                return Err([forward, block]);
            }
            Some(_) => behind.push(block),
            None if position == last_call => order.push(block),
            None => open = Some(block),
        }
    }
    // A block that lasts to the end is still open here.
    order.extend(open);
    debug_assert_eq!(order.len(), blocks, "every block has a place in the order");
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn zone(first_return: u32, last_call: u32) -> Zone {
        Zone { first_return, last_call }
    }

    #[test]
    fn forward_zones_must_not_overlap() {
        assert_eq!(arrange(&[zone(1, 4), zone(5, 8)], 10, None), Ok(vec![0, 1]));
        assert_eq!(arrange(&[zone(1, 5), zone(4, 8)], 10, None), Err([0, 1]));
    }

    #[test]
    fn what_reaches_out_of_a_forward_zone_comes_behind_it() {
        assert_eq!(arrange(&[zone(7, 4), zone(3, 5)], 10, None), Ok(vec![1, 0]));
        assert_eq!(arrange(&[zone(5, 2), zone(3, 6)], 10, None), Ok(vec![0, 1]));
        assert_eq!(arrange(&[zone(5, 4), zone(3, 6)], 10, None), Err([1, 0]));
    }

    #[test]
    fn the_initial_block_begins_before_all_and_the_last_has_no_end() {
        assert_eq!(arrange(&[zone(1, 4), zone(7, 2)], 10, Some(0)), Ok(vec![0, 1]));
        assert_eq!(arrange(&[zone(8, 6), zone(5, 2)], 10, Some(0)), Err([0, 1]));
        assert_eq!(arrange(&[zone(3, NEVER), zone(4, 2)], 10, None), Ok(vec![1, 0]));
        assert_eq!(arrange(&[zone(3, NEVER), zone(6, 4)], 10, None), Err([0, 1]));
    }
}
