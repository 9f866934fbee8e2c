//! Configurations from which the search failed.
//!
//! A configuration is entered into the set when it has *failed*, not when it is reached (except
//! with `Memory::RecentlyMet`). Along a path, configurations only gain linearized operations. So a
//! path that starts at a configuration cannot reach this configuration again, and the
//! configurations on the successful path need no entries. A linearizable history with little
//! backtracking therefore needs almost no memory.
//!
//! The set stores whole keys. A forgotten key only makes the search repeat work. But if the set
//! confused two keys, the search would reject correct histories.

use hashbrown::HashTable;

use super::automaton::StateId;
use super::budget::Meter;
use super::hash;
use super::mask::Mask;
use crate::verdict::LimitKind;

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key<M> {
    pub(crate) level: u32,
    pub(crate) state: StateId,
    pub(crate) mask: M,
}

impl<M: Mask> Key<M> {
    #[inline]
    fn hash(&self) -> u64 {
        hash::words(u64::from(self.level) << 32 | u64::from(self.state.0), self.mask.words())
    }
}

/// A set that remembers all or some of the failed configurations.
#[derive(Debug)]
pub(crate) enum Seen<M> {
    /// Remembers no configurations, for a tree search.
    Nothing,
    /// Remembers all failed configurations, for a graph search.
    All(Box<All<M>>),
    /// Forgets the least recently used configurations.
    Recent(Box<Recent<M>>),
    /// Forgets those old configurations that take the search little work to refute again.
    Costly(Box<Costly<M>>),
}

impl<M: Mask> Seen<M> {
    pub(crate) fn all() -> Self {
        Self::All(Box::new(All { shards: std::array::from_fn(|_| HashTable::new()) }))
    }

    pub(crate) fn recent(bytes: u64) -> Self {
        // The size of an entry includes its place in the table (4 bytes and a control byte, divided
        // by a load factor of 7/8), and some bytes for rounding.
        let most = bytes / (size_of::<RecentEntry<M>>() as u64 + 8);
        Self::Recent(Box::new(Recent {
            most: u32::try_from(most).unwrap_or(u32::MAX - 1).max(16),
            entries: Vec::new(),
            table: HashTable::new(),
            newest: NONE,
            oldest: NONE,
            charged: 0,
        }))
    }

    pub(crate) fn costly(bytes: u64) -> Self {
        let most = usize::try_from(bytes / size_of::<Bucket<M>>() as u64).unwrap_or(usize::MAX).max(1);
        Self::Costly(Box::new(Costly { most: 1 << most.ilog2(), buckets: Vec::new(), entries: 0 }))
    }

    /// Returns whether the search is known to fail from this configuration.
    #[inline]
    pub(crate) fn contains(&mut self, key: &Key<M>) -> bool {
        match self {
            Self::Nothing => false,
            Self::All(all) => all.contains(key),
            Self::Recent(recent) => recent.contains(key),
            Self::Costly(costly) => costly.contains(key),
        }
    }

    /// Records that the search failed from this configuration, after visiting `work` configurations.
    pub(crate) fn insert(&mut self, key: Key<M>, work: u64, meter: &mut Meter) -> Result<(), LimitKind> {
        match self {
            Self::Nothing => Ok(()),
            Self::All(all) => all.insert(key, meter),
            Self::Recent(recent) => recent.insert(key, meter),
            Self::Costly(costly) => costly.insert(key, work, meter),
        }
    }

    /// Forgets all configurations.
    pub(crate) fn clear(&mut self, meter: &mut Meter) {
        match self {
            Self::Nothing => {}
            Self::All(all) => {
                for shard in &mut all.shards {
                    meter.free(shard.iter().map(|key| key.mask.heap_size()).sum());
                    shard.clear();
                }
            }
            Self::Recent(recent) => recent.clear(),
            Self::Costly(costly) => {
                costly.buckets.iter_mut().flatten().for_each(|way| *way = None);
                costly.entries = 0;
            }
        }
    }

    /// Forgets all entries whose state has no new number in `renumbered`, and renumbers the states
    /// of the others.
    pub(crate) fn renumber(&mut self, renumbered: &[Option<StateId>]) {
        match self {
            Self::Nothing => {}
            Self::All(_) => unreachable!("a set that forgets nothing needs all its states"),
            Self::Recent(recent) => recent.renumber(renumbered),
            Self::Costly(costly) => costly.renumber(renumbered),
        }
    }

    /// Returns the states that the entries need. The states of the costliest entries come first; if
    /// costs are not recorded, those of the most recent entries come first.
    pub(crate) fn states(&self) -> Vec<StateId> {
        match self {
            Self::Nothing => Vec::new(),
            Self::All(all) => all.shards.iter().flatten().map(|key| key.state).collect(),
            Self::Recent(recent) => recent.newest_first().map(|entry| entry.key.state).collect(),
            Self::Costly(costly) => costly.costliest_first(),
        }
    }
}

const SHARDS: usize = 64;

/// All entries, in shards that grow independently, so that each growth copies only a small part.
#[derive(Debug)]
pub(crate) struct All<M> {
    shards: [HashTable<Key<M>>; SHARDS],
}

impl<M: Mask> All<M> {
    #[inline]
    fn shard(hash: u64) -> usize {
        // The table itself uses the low bits of the hash for the place and the top seven bits for
        // its tags. So choose the shard by other bits.
        (hash >> 48) as usize % SHARDS
    }

    #[inline]
    fn contains(&self, key: &Key<M>) -> bool {
        let hash = key.hash();
        self.shards[Self::shard(hash)].find(hash, |other| other == key).is_some()
    }

    fn insert(&mut self, key: Key<M>, meter: &mut Meter) -> Result<(), LimitKind> {
        let hash = key.hash();
        let shard = &mut self.shards[Self::shard(hash)];
        let heap = key.mask.heap_size();
        if heap > 0 {
            meter.allocate(heap)?;
        }
        if shard.len() == shard.capacity() {
            let old = shard.allocation_size();
            // Each growth at least doubles the number of buckets. The old buckets are freed
            // afterward.
            let new = ((shard.capacity() + 1) * 8 / 7).next_power_of_two().max(4) * 2 * (size_of::<Key<M>>() + 1) + 16;
            meter.allocate(new)?;
            shard.reserve(1, Key::hash);
            meter.free(old + new - shard.allocation_size().min(new));
        }
        shard.insert_unique(hash, key, Key::hash);
        Ok(())
    }
}

const NONE: u32 = u32::MAX;

/// The most recently used entries, as in Horn & Kroening, section 5.1.
#[derive(Debug)]
pub(crate) struct Recent<M> {
    most: u32,
    /// A doubly linked list from the newest to the oldest entry, stored in a vector.
    entries: Vec<RecentEntry<M>>,
    table: HashTable<u32>,
    newest: u32,
    oldest: u32,
    /// The largest number of entries so far. The meter has been charged for this number.
    charged: usize,
}

#[derive(Debug)]
struct RecentEntry<M> {
    key: Key<M>,
    newer: u32,
    older: u32,
}

impl<M: Mask> Recent<M> {
    fn contains(&mut self, key: &Key<M>) -> bool {
        let found = self.table.find(key.hash(), |index| self.entries[*index as usize].key == *key).copied();
        if let Some(index) = found {
            self.unlink(index);
            self.link_newest(index);
        }
        found.is_some()
    }

    fn insert(&mut self, key: Key<M>, meter: &mut Meter) -> Result<(), LimitKind> {
        let hash = key.hash();
        let index = if self.entries.len() < self.most as usize {
            if self.entries.len() == self.charged {
                meter.allocate(size_of::<RecentEntry<M>>() + 8 + key.mask.heap_size())?;
                self.charged += 1;
            }
            self.entries.push(RecentEntry { key, newer: NONE, older: NONE });
            u32::try_from(self.entries.len() - 1).expect("there are no more than `most` entries")
        } else {
            let index = self.oldest;
            self.unlink(index);
            let old = std::mem::replace(&mut self.entries[index as usize].key, key);
            if let Ok(entry) = self.table.find_entry(old.hash(), |other| *other == index) {
                entry.remove();
            }
            index
        };
        self.link_newest(index);
        let entries = &self.entries;
        self.table.insert_unique(hash, index, |other| entries[*other as usize].key.hash());
        Ok(())
    }

    fn unlink(&mut self, index: u32) {
        let RecentEntry { newer, older, .. } = self.entries[index as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, index: u32) {
        let older = self.newest;
        let entry = &mut self.entries[index as usize];
        entry.newer = NONE;
        entry.older = older;
        match older {
            NONE => self.oldest = index,
            older => self.entries[older as usize].newer = index,
        }
        self.newest = index;
    }

    fn newest_first(&self) -> impl Iterator<Item = &RecentEntry<M>> {
        let mut next = self.newest;
        std::iter::from_fn(move || {
            let entry = self.entries.get(next as usize)?;
            next = entry.older;
            Some(entry)
        })
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.table.clear();
        (self.newest, self.oldest) = (NONE, NONE);
    }

    fn renumber(&mut self, renumbered: &[Option<StateId>]) {
        let kept: Vec<Key<M>> = self
            .newest_first()
            .filter_map(|entry| Some(Key { state: renumbered[entry.key.state.index()]?, ..entry.key.clone() }))
            .collect();
        self.clear();
        for key in kept.into_iter().rev() {
            let hash = key.hash();
            self.entries.push(RecentEntry { key, newer: NONE, older: NONE });
            let index = u32::try_from(self.entries.len() - 1).expect("there are no more than `most` entries");
            self.link_newest(index);
            let entries = &self.entries;
            self.table.insert_unique(hash, index, |other| entries[*other as usize].key.hash());
        }
    }
}

/// The number of ways of a bucket. Each way is a slot for one entry.
const WAYS: usize = 8;
/// The number of ways that hold the most recent entries, with the newest entry first. The other
/// ways hold the costliest entries.
const RECENT_WAYS: usize = 4;

/// The most recent entries, and those that took the most work to find.
///
/// Neither criterion is good enough alone. Most configurations that are reached again were last
/// reached recently, a few levels away. But with recency alone, a search that moves back and forth
/// in a failed subtree that is larger than the memory forgets the root of the subtree, and repeats
/// the whole subtree. So half of each bucket is managed by recency, and entries that drop out of
/// this half compete for the other half by the work that they took. (Entering configurations when
/// they fail helps both halves: children are entered before their parents, so the parents are more
/// recent and took more work.)
#[derive(Debug)]
pub(crate) struct Costly<M> {
    /// The maximum number of buckets: a power of two.
    most: usize,
    /// The buckets. Their number is a power of two. It doubles when the buckets fill up, until it
    /// reaches `most`.
    buckets: Vec<Bucket<M>>,
    entries: usize,
}

type Bucket<M> = [Option<CostlyEntry<M>>; WAYS];

#[derive(Debug)]
struct CostlyEntry<M> {
    key: Key<M>,
    work: u64,
}

impl<M: Mask> Costly<M> {
    fn bucket(&mut self, key: &Key<M>) -> Option<&mut Bucket<M>> {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits are used")]
        let place = key.hash() as usize & self.buckets.len().wrapping_sub(1);
        self.buckets.get_mut(place)
    }

    fn contains(&mut self, key: &Key<M>) -> bool {
        let Some(bucket) = self.bucket(key) else { return false };
        let found = bucket.iter().position(|way| way.as_ref().is_some_and(|entry| entry.key == *key));
        if let Some(way) = found.filter(|way| *way < RECENT_WAYS) {
            bucket[..=way].rotate_right(1);
        }
        found.is_some()
    }

    fn insert(&mut self, key: Key<M>, work: u64, meter: &mut Meter) -> Result<(), LimitKind> {
        if self.entries >= self.buckets.len() * WAYS * 3 / 4 && self.buckets.len() < self.most {
            self.grow(key.mask.heap_size(), meter)?;
        }
        let bucket = self.bucket(&key).expect("the table has at least one bucket");
        bucket[..RECENT_WAYS].rotate_right(1);
        let oldest = bucket[0].replace(CostlyEntry { key, work });
        let Some(oldest) = oldest else {
            self.entries += 1;
            return Ok(());
        };
        // The oldest of the recent entries replaces the costly entry that took the least work, if
        // the recent entry took at least as much work. At each such comparison, the recorded work
        // of the costly entries decreases a little, so that entries that are no longer useful are
        // dropped eventually.
        let costly = &mut bucket[RECENT_WAYS..];
        for entry in costly.iter_mut().flatten() {
            entry.work -= entry.work >> 6;
        }
        let cheapest = costly
            .iter_mut()
            .min_by_key(|way| way.as_ref().map_or(0, |entry| entry.work))
            .expect("some slots of a bucket are reserved for costly entries");
        match cheapest {
            Some(entry) if entry.work > oldest.work => {}
            way => {
                let added = way.is_none();
                *way = Some(oldest);
                self.entries += usize::from(added);
            }
        }
        Ok(())
    }

    fn grow(&mut self, mask_bytes: usize, meter: &mut Meter) -> Result<(), LimitKind> {
        let bytes = |buckets: usize| buckets * (size_of::<Bucket<M>>() + WAYS * mask_bytes);
        let new = (self.buckets.len() * 2).max(8).min(self.most);
        meter.allocate(bytes(new))?;
        let old = std::mem::take(&mut self.buckets);
        let old_bytes = bytes(old.len());
        self.buckets.reserve_exact(new);
        self.buckets.extend((0..new).map(|_| std::array::from_fn(|_| None)));
        self.fill(old.into_iter().flatten().flatten());
        meter.free(old_bytes);
        Ok(())
    }

    /// Puts `entries` into the buckets, which must be empty. Forgets entries whose bucket is full.
    fn fill(&mut self, entries: impl IntoIterator<Item = CostlyEntry<M>>) {
        self.entries = 0;
        for entry in entries {
            let bucket = self.bucket(&entry.key).expect("the table has at least one bucket");
            if let Some(way) = bucket.iter_mut().find(|way| way.is_none()) {
                *way = Some(entry);
                self.entries += 1;
            }
        }
    }

    fn costliest_first(&self) -> Vec<StateId> {
        let mut entries: Vec<(u64, StateId)> =
            self.buckets.iter().flatten().flatten().map(|entry| (entry.work, entry.key.state)).collect();
        entries.sort_unstable_by(|a, b| b.cmp(a));
        entries.into_iter().map(|(_, state)| state).collect()
    }

    fn renumber(&mut self, renumbered: &[Option<StateId>]) {
        // An entry whose state gets a new number belongs in another bucket. So take all entries
        // out, and put the remaining ones back.
        let mut kept = Vec::with_capacity(self.entries);
        for way in self.buckets.iter_mut().flatten() {
            if let Some(CostlyEntry { key, work }) = way.take() {
                if let Some(state) = renumbered[key.state.index()] {
                    kept.push(CostlyEntry { key: Key { state, ..key }, work });
                }
            }
        }
        self.fill(kept);
    }
}
