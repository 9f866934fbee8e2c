//! An arena of numbered nodes that grows on demand.

use std::fmt;
use std::ops::Index;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number that means "no node".
pub(crate) const NULL: u32 = 0;

/// Nodes that are created on demand and live as long as the arena, so that the number of a node
/// stays valid.
///
/// The nodes are stored in segments, each twice as large as the previous one. A segment is
/// allocated when it is first used. Neither allocation nor access is a schedule point, because no
/// algorithm depends on the allocator.
pub(crate) struct Arena<T> {
    allocated: AtomicU32,
    segments: [OnceLock<Box<[T]>>; SEGMENTS],
}

/// Number of nodes in the first segment.
const FIRST: u32 = 32;
/// Number of segments: enough for 2^25 nodes.
const SEGMENTS: usize = 20;

impl<T: Default> Arena<T> {
    pub(crate) fn new() -> Self {
        Self { allocated: AtomicU32::new(0), segments: [const { OnceLock::new() }; SEGMENTS] }
    }

    /// Allocates a node with its default value and returns its number. The first number is 1.
    pub(crate) fn allocate(&self) -> u32 {
        let number = self.allocated.fetch_add(1, Ordering::Relaxed) + 1;
        self.at(number);
        number
    }

    /// Returns the node with this number, even if the number was not allocated. The number must not
    /// be [`NULL`]. Callers that number the nodes themselves can use the arena as an unbounded
    /// array.
    pub(crate) fn at(&self, number: u32) -> &T {
        let (segment, offset) = place(number);
        &self.segments[segment].get_or_init(|| (0..FIRST << segment).map(|_| T::default()).collect())[offset]
    }
}

/// Returns the segment of a node and the node's offset in it.
fn place(number: u32) -> (usize, usize) {
    let shifted = number - 1 + FIRST;
    let segment = shifted.ilog2() - FIRST.ilog2();
    (segment as usize, (shifted - (FIRST << segment)) as usize)
}

impl<T> Index<u32> for Arena<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        let (segment, offset) = place(number);
        &self.segments[segment].get().expect("the node was allocated")[offset]
    }
}

impl<T> fmt::Debug for Arena<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena").field("allocated", &self.allocated).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_a_node_of_its_own() {
        let arena = Arena::<AtomicU32>::new();
        for expected in 1..=1000 {
            let number = arena.allocate();
            assert_eq!(number, expected);
            assert_eq!(arena[number].swap(number, Ordering::Relaxed), 0);
        }
        assert!((1..=1000).all(|number| arena[number].load(Ordering::Relaxed) == number));
    }

    #[test]
    fn an_array_has_no_end() {
        let arena = Arena::<AtomicU32>::new();
        arena.at(1000).store(7, Ordering::Relaxed);
        assert_eq!(arena.at(3).load(Ordering::Relaxed), 0);
        assert_eq!(arena.at(1000).load(Ordering::Relaxed), 7);
    }

    #[test]
    fn segments_follow_each_other() {
        assert_eq!(place(1), (0, 0));
        assert_eq!(place(32), (0, 31));
        assert_eq!(place(33), (1, 0));
        assert_eq!(place(96), (1, 63));
        assert_eq!(place(97), (2, 0));
    }
}
