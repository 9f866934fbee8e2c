//! Determines which owner performed each operation on a lock.

use super::zones::NONE;
use super::{Input, ValueId};
use crate::spec::Standard;

/// The owners that occur in a history, numbered from 0.
pub(super) struct Owners {
    /// The owner of each operation; [`NONE`] for operations without an owner.
    of: Vec<u32>,
    count: usize,
}

impl Owners {
    /// Finds the owners of the operations. Returns `None` if no operation has an owner.
    ///
    /// # Errors
    /// Returns an error if only some operations have an owner, or if operations of one owner overlap.
    pub(super) fn find(input: &Input) -> Result<Option<Self>, &'static str> {
        let mut of = Vec::new();
        let (mut without, mut greatest) = (false, 0);
        for (op, span) in input.spans.iter().enumerate() {
            match by(&span.what) {
                Some(Some(owner)) => {
                    if of.is_empty() {
                        of = vec![NONE; input.spans.len()];
                    }
                    of[op] = owner;
                    greatest = greatest.max(owner);
                }
                Some(None) => without = true,
                None => {}
            }
        }
        if of.is_empty() {
            return Ok(None);
        }
        if without {
            return Err("only some operations have an owner");
        }
        let mut count = greatest as usize + 1;
        if count > of.len().saturating_mul(2) {
            let mut names: Vec<u32> = input.spans.iter().filter_map(|span| by(&span.what).flatten()).collect();
            names.sort_unstable();
            names.dedup();
            count = names.len();
            for (owner, span) in of.iter_mut().zip(&input.spans) {
                if let Some(name) = by(&span.what).flatten() {
                    let number = names.binary_search(&name).expect("all names were collected above");
                    *owner = u32::try_from(number).expect("there are no more owners than operations");
                }
            }
        }
        // For each owner, the position of the return of its last operation so far. All operations
        // are checked before the history is judged: if two operations of one owner overlap, their
        // order is unknown.
        let mut returned = vec![None; count];
        for (owner, span) in of.iter().zip(&input.spans).filter(|(owner, _)| **owner != NONE) {
            let before = returned[*owner as usize].replace(span.ret);
            if before.is_some_and(|before| before > span.call) {
                return Err("operations of one owner overlap");
            }
        }
        Ok(Some(Self { of, count }))
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the owner of an operation. The operation must have an owner.
    pub(super) fn of(&self, op: u32) -> usize {
        self.of[op as usize] as usize
    }
}

/// Returns the owner of an operation. The outer `Option` is `None` if operations of this type
/// cannot have an owner.
fn by(what: &Standard<ValueId>) -> Option<Option<u32>> {
    match *what {
        Standard::Lock { by }
        | Standard::Unlock { by }
        | Standard::LockShared { by }
        | Standard::UnlockShared { by } => Some(by),
        _ => None,
    }
}
