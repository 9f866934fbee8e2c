//! A list of nodes for reuse.

use std::sync::{Mutex, PoisonError};

/// Nodes that were removed from an object. The last one removed is the first one reused, so that a node comes back as
/// soon as possible.
///
/// Access is not a schedule point: the algorithms are about what happens to nodes in the object, not about unused
/// nodes.
#[derive(Default, Debug)]
pub(crate) struct FreeList(Mutex<Vec<u32>>);

impl FreeList {
    pub(crate) fn put(&self, node: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(node);
    }

    pub(crate) fn take(&self) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
