//! A part of a history as a search reads it: operations as numbers, by the order of their returns.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use super::mask::{Field, Layout};
use super::rules::Rules;
use crate::history::{Event, EventKind, History, OpId};
use crate::spec::Spec;

/// A class of operations that are equal, with their results (or that they have none), to the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassId(pub(crate) u32);

impl ClassId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The operations of a whole history by class.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// By operation.
    of: Vec<ClassId>,
    /// By class: an operation that stands for all.
    first: Vec<OpId>,
    /// By class: whether it leaves every state alone ([`Spec::observes`]).
    observes: Vec<bool>,
}

impl Classes {
    /// Sorts the operations into classes.
    ///
    /// # Complexity
    /// One hash and one comparison for each operation.
    pub(crate) fn new<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> Self {
        let hasher = super::hash::Builder::default();
        let mut table: HashTable<ClassId> = HashTable::new();
        let mut first: Vec<OpId> = Vec::new();
        let mut hashes: Vec<u64> = Vec::new();
        let mut of = Vec::with_capacity(history.len());
        for (id, operation) in (0..).map(OpId).zip(history.operations()) {
            let result = operation.outcome.result();
            let hash = hash_pair(&hasher, &operation.op, result);
            let class = table
                .entry(
                    hash,
                    |class| {
                        let other = &history[first[class.index()]];
                        other.op == operation.op && other.outcome.result() == result
                    },
                    |class| hashes[class.index()],
                )
                .or_insert_with(|| {
                    first.push(id);
                    hashes.push(hash);
                    ClassId(u32::try_from(first.len() - 1).expect("no more classes than operations"))
                });
            of.push(*class.get());
        }
        let observes = first
            .iter()
            .map(|id| {
                let operation = &history[*id];
                spec.observes(&operation.op, operation.outcome.result())
            })
            .collect();
        Self { of, first, observes }
    }

    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = ClassId> {
        (0..u32::try_from(self.first.len()).expect("no more than operations")).map(ClassId)
    }

    pub(crate) fn of(&self, id: OpId) -> ClassId {
        self.of[id.index()]
    }

    /// An operation of the class.
    pub(crate) fn representative(&self, class: ClassId) -> OpId {
        self.first[class.index()]
    }

    pub(crate) fn observes(&self, class: ClassId) -> bool {
        self.observes[class.index()]
    }
}

fn hash_pair<Op: Hash, Ret: Hash>(hasher: &impl BuildHasher, op: &Op, result: Option<&Ret>) -> u64 {
    hasher.hash_one((op, result))
}

/// The level of an operation that never returns.
pub(crate) const NEVER: u32 = u32::MAX;

/// Never-returning operations that a search does not tell apart: all of a class, or one.
#[derive(Clone, Debug)]
pub(crate) struct Optional {
    pub(crate) class: ClassId,
    /// The operations, by call. The first unused stands for any.
    pub(crate) members: Vec<u32>,
    /// Where the mask counts how many were used.
    pub(crate) field: Field,
}

/// The operations of one part, numbered from 0 by their calls.
///
/// Never-returning operations that observe are not among them: they may always be left out.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    /// By operation: its number in the history.
    pub(crate) ids: Vec<OpId>,
    /// By operation.
    pub(crate) class: Vec<ClassId>,
    /// By operation: how many operations return before it, or `NEVER`.
    pub(crate) level: Vec<u32>,
    /// By operation: its slot, the bit of the mask that says it is linearized while it is open. Slots are used again.
    /// For a never-returning operation, its index in `optional`.
    pub(crate) place: Vec<u32>,
    /// By level: the operation that returns.
    pub(crate) returns: Vec<u32>,
    /// By level: how many operations were called before that return.
    pub(crate) called: Vec<u32>,
    pub(crate) optional: Vec<Optional>,
    /// The most slots in use at once.
    pub(crate) slots: u32,
    /// The words of a mask.
    pub(crate) words: usize,
    /// Where a second bit for each slot begins, if it was asked for.
    pub(crate) second_bits: u32,
}

/// Whether masks have one bit for each slot, or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotBits {
    One,
    Two,
}

impl Problem {
    /// The problem of these events. `numbers` is scratch, as long as the history.
    ///
    /// # Complexity
    /// Linear in the events.
    pub(crate) fn new(
        events: &[Event],
        classes: &Classes,
        rules: Rules,
        slot_bits: SlotBits,
        numbers: &mut [u32],
    ) -> Self {
        let returned = events.iter().filter(|event| event.kind() == EventKind::Return).count();
        let most = events.len() - returned;
        let mut problem = Self {
            ids: Vec::with_capacity(most),
            class: Vec::with_capacity(most),
            level: Vec::with_capacity(most),
            place: Vec::with_capacity(most),
            returns: Vec::with_capacity(returned),
            called: Vec::with_capacity(returned),
            optional: Vec::new(),
            slots: 0,
            words: 0,
            second_bits: 0,
        };
        problem.number_by_calls(events, classes, numbers);
        let widths = problem.place_operations(rules);
        problem.lay_out(&widths, slot_bits);
        problem
    }

    /// Fills all but places.
    fn number_by_calls(&mut self, events: &[Event], classes: &Classes, numbers: &mut [u32]) {
        for event in events {
            let id = event.op();
            match event.kind() {
                EventKind::Call => {
                    numbers[id.index()] = u32::try_from(self.ids.len()).expect("fewer than events");
                    self.ids.push(id);
                    self.class.push(classes.of(id));
                    self.level.push(NEVER);
                }
                EventKind::Return => {
                    let level = u32::try_from(self.returns.len()).expect("fewer than events");
                    let op = numbers[id.index()];
                    self.level[op as usize] = level;
                    self.returns.push(op);
                    self.called.push(u32::try_from(self.ids.len()).expect("fewer than events"));
                }
            }
        }
        // What was called after the last return can be left out: nothing depends on it.
        let relevant = self.called.last().copied().unwrap_or(0) as usize;
        self.ids.truncate(relevant);
        self.class.truncate(relevant);
        self.level.truncate(relevant);
        // Never-returning observers are sorted out when it is known who never returns.
        let dropped = |op: usize| self.level[op] == NEVER && classes.observes(self.class[op]);
        if (0..self.ids.len()).any(dropped) {
            let kept: Vec<usize> = (0..self.ids.len()).filter(|op| !dropped(*op)).collect();
            // By old number: how many kept ones come before it.
            let mut before = vec![0; self.ids.len() + 1];
            let mut count = 0;
            for op in 0..self.ids.len() {
                before[op] = count;
                count += u32::from(!dropped(op));
            }
            before[self.ids.len()] = count;
            self.ids = kept.iter().map(|op| self.ids[*op]).collect();
            self.class = kept.iter().map(|op| self.class[*op]).collect();
            self.level = kept.iter().map(|op| self.level[*op]).collect();
            for op in &mut self.returns {
                *op = before[*op as usize];
            }
            for called in &mut self.called {
                *called = before[*called as usize];
            }
        }
    }

    /// Gives slots to the operations that return, and sorts the others into `optional`, whose fields are made later.
    /// Answers how many each field must count.
    fn place_operations(&mut self, rules: Rules) -> Vec<u32> {
        let mut free: Vec<u32> = Vec::new();
        let mut by_class: hashbrown::HashMap<ClassId, u32, super::hash::Builder> = hashbrown::HashMap::default();
        let mut next = 0;
        for (returning, called) in self.returns.iter().zip(&self.called) {
            for op in next..*called {
                let class = self.class[op as usize];
                let place = if self.level[op as usize] == NEVER {
                    let new = u32::try_from(self.optional.len()).expect("fewer than events");
                    let index = if rules.counters { *by_class.entry(class).or_insert(new) } else { new };
                    if index == new {
                        let field = Layout::default().field(1);
                        self.optional.push(Optional { class, members: Vec::new(), field });
                    }
                    self.optional[index as usize].members.push(op);
                    index
                } else {
                    free.pop().unwrap_or_else(|| {
                        self.slots += 1;
                        self.slots - 1
                    })
                };
                self.place.push(place);
            }
            next = *called;
            free.push(self.place[*returning as usize]);
        }
        self.optional
            .iter()
            .map(|optional| u32::try_from(optional.members.len()).expect("fewer than events"))
            .collect()
    }

    fn lay_out(&mut self, widths: &[u32], slot_bits: SlotBits) {
        let mut layout = Layout::default();
        layout.bits(self.slots);
        if slot_bits == SlotBits::Two {
            self.second_bits = layout.bits(self.slots);
        }
        for (optional, most) in self.optional.iter_mut().zip(widths) {
            optional.field = layout.field(*most);
        }
        self.words = layout.words();
    }

    /// The number of returns.
    pub(crate) fn levels(&self) -> u32 {
        u32::try_from(self.returns.len()).expect("fewer than events")
    }

    pub(crate) fn returns_never(&self, op: u32) -> bool {
        self.level[op as usize] == NEVER
    }

    pub(crate) fn class(&self, op: u32) -> ClassId {
        self.class[op as usize]
    }

    /// The slot of an operation that returns.
    #[inline]
    pub(crate) fn slot(&self, op: u32) -> u32 {
        debug_assert!(!self.returns_never(op), "only what returns has a slot");
        self.place[op as usize]
    }

    /// About the bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * 16 + self.returns.capacity() * 8 + self.optional.len() * 64
    }
}
