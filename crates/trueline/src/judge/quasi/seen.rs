//! The set of configurations that were reached. Each configuration is a sequence of words, of any
//! length. All sequences are stored in one vector, so that dropping the set takes little time.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::super::search::{Meter, hash};
use crate::verdict::LimitKind;

/// The set of configurations that were reached. It stores whole keys, so it never confuses two configurations.
#[derive(Default)]
pub(super) struct VisitedSet {
    words: Vec<u32>,
    /// For each configuration, the index in `words` where it starts and the index where it ends.
    table: HashTable<(usize, usize)>,
    hasher: hash::Builder,
}

impl VisitedSet {
    /// Adds a configuration. Returns whether it is new.
    pub(super) fn insert(&mut self, key: &[u32], meter: &mut Meter) -> Result<bool, LimitKind> {
        let Self { words, table, hasher } = self;
        let hash = hasher.hash_one(key);
        if table.find(hash, |(start, end)| words[*start..*end] == *key).is_some() {
            return Ok(false);
        }
        if words.capacity() - words.len() < key.len() {
            let (old, new) = (words.capacity(), (2 * words.capacity()).max(words.len() + key.len()).max(1 << 10));
            meter.allocate(new * size_of::<u32>())?;
            words.reserve_exact(new - words.len());
            meter.free(old * size_of::<u32>());
        }
        if table.len() == table.capacity() {
            // The insertion below is going to double the size of the table.
            meter.allocate(table.allocation_size().max(64))?;
        }
        let start = words.len();
        words.extend_from_slice(key);
        table.insert_unique(hash, (start, words.len()), |(start, end)| hasher.hash_one(&words[*start..*end]));
        Ok(true)
    }
}
