//! Links between the nodes of an arena, with the tags and marks that papers store in the spare bits of pointers.

use std::fmt;

use trueline::primitives::AtomicU64;
use trueline::primitives::Ordering::SeqCst;

use crate::arena::NULL;

/// A node and a tag. The tag distinguishes links that point to the same node at different times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Tagged {
    pub(crate) node: u32,
    pub(crate) tag: u32,
}

impl Tagged {
    fn pack(self) -> u64 {
        u64::from(self.node) << 32 | u64::from(self.tag)
    }

    fn unpack(word: u64) -> Self {
        Self { node: (word >> 32) as u32, tag: word as u32 }
    }
}

/// An atomic link with a tag. Initially it points to no node.
#[derive(Default)]
pub(crate) struct TaggedLink(AtomicU64);

impl TaggedLink {
    #[track_caller]
    pub(crate) fn new(link: Tagged) -> Self {
        Self(AtomicU64::new(link.pack()))
    }

    #[track_caller]
    pub(crate) fn load(&self) -> Tagged {
        Tagged::unpack(self.0.load(SeqCst))
    }

    #[track_caller]
    pub(crate) fn store(&self, link: Tagged) {
        self.0.store(link.pack(), SeqCst);
    }

    /// Replaces the link if it equals `expected`, using compare-and-set.
    #[track_caller]
    pub(crate) fn swing(&self, expected: Tagged, new: Tagged) -> bool {
        self.0.compare_exchange(expected.pack(), new.pack(), SeqCst, SeqCst).is_ok()
    }
}

impl fmt::Debug for TaggedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Tagged::unpack(self.0.unscheduled().load(SeqCst)).fmt(f)
    }
}

/// A link to a node, and a mark that shows whether the node containing this link has been removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Marked {
    pub(crate) node: u32,
    pub(crate) mark: bool,
}

impl Marked {
    /// Returns an unmarked link to `node`.
    #[track_caller]
    pub(crate) fn to(node: u32) -> Self {
        Self { node, mark: false }
    }

    /// Returns this link with the mark set.
    #[track_caller]
    pub(crate) fn marked(self) -> Self {
        Self { mark: true, ..self }
    }

    fn pack(self) -> u64 {
        u64::from(self.node) << 1 | u64::from(self.mark)
    }

    fn unpack(word: u64) -> Self {
        Self { node: (word >> 1) as u32, mark: word & 1 == 1 }
    }
}

/// An atomic link with a mark. Initially it points to no node and is not marked.
#[derive(Default)]
pub(crate) struct MarkedLink(AtomicU64);

impl MarkedLink {
    #[track_caller]
    pub(crate) fn load(&self) -> Marked {
        Marked::unpack(self.0.load(SeqCst))
    }

    /// Sets the link of a node that no other thread can see yet.
    #[track_caller]
    pub(crate) fn prepare(&self, node: u32) {
        self.0.unscheduled().store(Marked::to(node).pack(), SeqCst);
    }

    /// Replaces the link if it equals `expected`, using compare-and-set.
    #[track_caller]
    pub(crate) fn swing(&self, expected: Marked, new: Marked) -> bool {
        self.0.compare_exchange(expected.pack(), new.pack(), SeqCst, SeqCst).is_ok()
    }
}

impl fmt::Debug for MarkedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = Marked::unpack(self.0.unscheduled().load(SeqCst));
        if link.node == NULL { f.write_str("Null") } else { link.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_all_bits() {
        for node in [0, 1, 77, u32::MAX] {
            for tag in [0, 1, u32::MAX] {
                assert_eq!(Tagged::unpack(Tagged { node, tag }.pack()), Tagged { node, tag });
            }
            for mark in [false, true] {
                assert_eq!(Marked::unpack(Marked { node, mark }.pack()), Marked { node, mark });
            }
        }
    }
}
