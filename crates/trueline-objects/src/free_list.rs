//! Nodes that are used again.

use std::sync::{Mutex, PoisonError};

/// Nodes that were taken out of an object, the last one first, so that a node comes back as soon as it can.
///
/// It is no schedule point: the algorithms are about what happens to nodes, not about where they lie meanwhile.
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
