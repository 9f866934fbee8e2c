//! A list of nodes for reuse.

use std::sync::{Mutex, PoisonError};

/// Nodes that were removed from an object. The node that was removed last is reused first, so that
/// nodes are reused as soon as possible.
///
/// Access is not a schedule point: like an allocator, the list is not part of the algorithms under
/// test.
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
