//! A graph of configurations that is searched depth first and in which each configuration is
//! visited once. The searches of `judge/sync` and `judge/interval` share this graph.

use std::hash::Hash;

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::search::{Meter, hash};
use crate::history::{Event, EventKind, OpId};
use crate::verdict::LimitKind;

/// The places in a history, and the executions (operations) that are open at each place. Place n
/// comes after the first n events.
pub(super) struct Places {
    events: Vec<Event>,
    /// The slot of each operation. Operations that are open at the same place have different slots.
    slots: HashMap<OpId, u32, hash::Builder>,
    /// The number of slots.
    pub(super) slot_count: u32,
    /// The lists of open executions at all places, concatenated. Each list is sorted by the function
    /// `rank` that was passed to [`Places::new`]. `open_from` holds the start of each list.
    open: Vec<OpId>,
    open_from: Vec<u32>,
}

impl Places {
    pub(super) fn new<Rank: Ord>(
        events: impl Iterator<Item = Event>,
        rank: impl Fn(OpId) -> Rank,
        meter: &mut Meter,
    ) -> Result<Self, LimitKind> {
        let events: Vec<Event> = events.collect();
        let (mut slots, mut free, mut slot_count) = (HashMap::default(), Vec::new(), 0_u32);
        let (mut now, mut open, mut open_from) = (Vec::<OpId>::new(), Vec::new(), vec![0]);
        for event in &events {
            let op = event.op();
            match event.kind() {
                EventKind::Call => {
                    let slot = free.pop().unwrap_or_else(|| {
                        slot_count += 1;
                        slot_count - 1
                    });
                    slots.insert(op, slot);
                    let at = now.partition_point(|other| rank(*other) < rank(op));
                    now.insert(at, op);
                }
                EventKind::Return => {
                    free.push(slots[&op]);
                    now.retain(|other| *other != op);
                }
            }
            meter.allocate(now.len() * size_of::<OpId>() + 3 * size_of::<OpId>())?;
            open_from.push(u32::try_from(open.len()).expect("memory runs out before 2^32 entries"));
            open.extend_from_slice(&now);
        }
        open_from.push(u32::try_from(open.len()).expect("memory runs out before 2^32 entries"));
        Ok(Self { events, slots, slot_count, open, open_from })
    }

    /// Returns the event that follows a place, or `None` at the end of the history.
    pub(super) fn event(&self, position: u32) -> Option<Event> {
        self.events.get(position as usize).copied()
    }

    pub(super) fn slot(&self, op: OpId) -> u32 {
        self.slots[&op]
    }

    /// Returns the executions that are open at a place.
    pub(super) fn open(&self, position: u32) -> &[OpId] {
        let [from, to] = [position, position + 1].map(|at| self.open_from[at as usize] as usize);
        &self.open[from..to]
    }
}

/// A set of marks, stored as bits. Marks are numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Marks(SmallVec<[u64; 2]>);

impl Marks {
    /// Returns an empty set that has room for this number of marks.
    pub(super) fn none(count: u32) -> Self {
        Self(SmallVec::from_elem(0, count.div_ceil(64) as usize))
    }

    pub(super) fn has(&self, mark: u32) -> bool {
        self.0[mark as usize / 64] >> (mark % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, mark: u32) {
        self.0[mark as usize / 64] |= 1 << (mark % 64);
    }

    pub(super) fn clear(&mut self, mark: u32) {
        self.0[mark as usize / 64] &= !(1 << (mark % 64));
    }
}

/// The number of the empty path, which leads to the start of the search.
pub(super) const START: u32 = u32::MAX;

/// The configurations that were reached, with the paths to them.
pub(super) struct Graph<'m, Key, Member> {
    seen: HashSet<Key, hash::Builder>,
    /// The paths. Each is stored as two parts: the number of the path that it extends, and its last
    /// group of operations.
    ways: Vec<(u32, Box<[Member]>)>,
    /// The configurations to visit, each with the number of a path to it.
    stack: Vec<(Key, u32)>,
    pub(super) meter: &'m mut Meter,
}

impl<'m, Key: Clone + Eq + Hash, Member: Clone> Graph<'m, Key, Member> {
    pub(super) fn new(meter: &'m mut Meter) -> Self {
        Self { seen: HashSet::default(), ways: Vec::new(), stack: Vec::new(), meter }
    }

    /// Schedules a configuration for a visit, unless it was reached before. `way` is the number of
    /// the path to the configuration.
    pub(super) fn enter(&mut self, key: Key, way: u32) -> Result<(), LimitKind> {
        self.meter.configuration()?;
        if self.seen.contains(&key) {
            return Ok(());
        }
        // Count the size of the configuration three times: twice for the table, which is at most
        // half full after it has grown, and once for the stack.
        self.meter.allocate(3 * size_of::<Key>())?;
        self.seen.insert(key.clone());
        self.stack.push((key, way));
        Ok(())
    }

    /// Schedules a configuration for a visit, unless it was reached before. The path to the
    /// configuration consists of the path `before`, followed by `group`.
    pub(super) fn enter_by(&mut self, group: Box<[Member]>, key: Key, before: u32) -> Result<(), LimitKind> {
        let way = u32::try_from(self.ways.len()).expect("memory runs out before 2^32 ways");
        self.meter.allocate(size_of::<(u32, Box<[Member]>)>() + size_of_val(&*group))?;
        self.ways.push((before, group));
        self.enter(key, way)
    }

    /// Returns the next configuration to visit: the one that was added last.
    pub(super) fn pop(&mut self) -> Option<(Key, u32)> {
        self.stack.pop()
    }

    /// Returns the groups of operations that took effect on the way to a configuration.
    pub(super) fn path(&self, mut way: u32) -> Vec<Vec<Member>> {
        let mut groups = Vec::new();
        while way != START {
            let (before, group) = &self.ways[way as usize];
            groups.push(group.to_vec());
            way = *before;
        }
        groups.reverse();
        groups
    }
}
