//! Maps from processes to entries.

use std::collections::HashMap;

/// Entries of processes with numbers below this limit are in a list. All other entries are in a
/// hash table.
const MOST_LISTED: u32 = 1 << 12;

/// A map from processes to entries. Entries are looked up for every event, and most histories number their processes
/// from 0. So to make lookups fast, small process numbers are indices of a list.
#[derive(Clone, Debug)]
pub(super) struct ByProcess<T> {
    listed: Vec<Option<T>>,
    others: HashMap<u32, T>,
}

impl<T> Default for ByProcess<T> {
    fn default() -> Self {
        Self { listed: Vec::new(), others: HashMap::new() }
    }
}

impl<T> ByProcess<T> {
    #[inline]
    pub(super) fn get(&self, process: u32) -> Option<&T> {
        match self.listed.get(process as usize) {
            Some(listed) => listed.as_ref(),
            None => self.others.get(&process),
        }
    }

    /// Inserts an entry for a process. Returns the entry that it replaces, if there is one.
    #[inline]
    pub(super) fn insert(&mut self, process: u32, entry: T) -> Option<T> {
        if process >= MOST_LISTED {
            return self.others.insert(process, entry);
        }
        if self.listed.len() <= process as usize {
            self.listed.resize_with(process as usize + 1, || None);
        }
        self.listed[process as usize].replace(entry)
    }

    #[inline]
    pub(super) fn remove(&mut self, process: u32) -> Option<T> {
        match self.listed.get_mut(process as usize) {
            Some(listed) => listed.take(),
            None => self.others.remove(&process),
        }
    }

    /// Returns the entries, in no particular order.
    #[cfg(any(test, feature = "named"))]
    pub(super) fn into_values(self) -> impl Iterator<Item = T> {
        self.listed.into_iter().flatten().chain(self.others.into_values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_numbers_are_kept_apart() {
        let mut table = ByProcess::default();
        let processes = [0, 7, MOST_LISTED - 1, MOST_LISTED, u32::MAX];
        for process in processes {
            assert_eq!(table.get(process), None);
            assert_eq!(table.insert(process, process), None);
        }
        assert_eq!(table.insert(7, 8), Some(7));
        assert_eq!((table.remove(7), table.remove(7), table.get(8)), (Some(8), None, None));
        for process in processes.into_iter().filter(|process| *process != 7) {
            assert_eq!(table.get(process), Some(&process));
        }
        let mut rest: Vec<u32> = table.into_values().collect();
        rest.sort_unstable();
        assert_eq!(rest, [0, MOST_LISTED - 1, MOST_LISTED, u32::MAX]);
    }
}
