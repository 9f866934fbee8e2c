//! The side of the online judge that knows the types of the specification. It stores the
//! operations, results and states of one part of a history; the other side refers to them by
//! numbers.

use std::hash::{BuildHasher, Hash};

use smallvec::SmallVec;

use super::super::interner::Table;
use super::super::search::hash;
use crate::spec::Spec;

/// The outcomes of a step. Each outcome holds the numbers of a result and of the next state.
pub(super) type Steps = SmallVec<[(u32, u32); 2]>;

/// The role of an operation whose result is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EffectKind {
    /// The operation leaves every state unchanged, whatever it returns ([`Spec::observes`]).
    Observer,
    /// A blind write: the operation is possible in every state, always leads to the same state
    /// ([`Spec::overwrites`]), and has a result that does not depend on the state. (A transaction
    /// that reads and then writes is not blind, although it overwrites.)
    Blind,
    /// Any other operation.
    Other,
}

/// Access to the operations, results and states of a part by their numbers, so that the caller need
/// not know their types. The initial state has number 0 until states are
/// [collected](Door::retain).
pub(super) trait Door {
    /// Returns the outcomes of an operation in a state. If `recorded` is given, returns only the
    /// outcomes with this result.
    fn step(&mut self, state: u32, op: u32, recorded: Option<u32>) -> Steps;
    /// Returns whether the operation leaves every state unchanged if it has the given result.
    fn observes(&self, op: u32, ret: u32) -> bool;
    /// Returns whether the operation with the given result leads to the same state from every
    /// state.
    fn is_fixed(&self, op: u32, ret: u32) -> bool;
    /// Returns a hash of an operation.
    fn hash(&self, op: u32) -> u64;
    /// Returns whether two operations are equal.
    fn is_same(&self, one: u32, other: u32) -> bool;
    /// Forgets an operation; its number will be reused.
    fn forget(&mut self, op: u32);
    /// Returns the total number of states and results.
    fn len(&self) -> usize;
    /// Keeps only the states and results with the given numbers (both lists are ascending), and
    /// renumbers them in that order.
    fn retain(&mut self, states: &[u32], rets: &[u32]);
    /// Returns the approximate number of bytes that the operations, results and states take.
    fn bytes(&self) -> usize;
}

/// A list of numbered items. Up to [`FEW`] items, an item is found by a linear search.
struct Items<T> {
    items: Vec<T>,
    hashes: Vec<u64>,
    /// The numbers of the items, by hash. Used only if there are more than [`FEW`] items.
    table: Option<Table>,
}

/// The largest number of items that are searched linearly.
const FEW: usize = 24;

impl<T> Default for Items<T> {
    fn default() -> Self {
        Self { items: Vec::new(), hashes: Vec::new(), table: None }
    }
}

impl<T: Eq + Hash> Items<T> {
    /// Returns the number of an item, and whether it is new.
    fn number(&mut self, item: T) -> (u32, bool) {
        let hash = hash::Builder::default().hash_one(&item);
        let Self { items, hashes, table } = self;
        let found = match table {
            Some(table) => table.find(hash, |number| items[number as usize] == item).map(|number| number as usize),
            None => (0..hashes.len()).find(|&number| hashes[number] == hash && items[number] == item),
        };
        let number = found.unwrap_or(items.len());
        let as_number = |number: usize| u32::try_from(number).expect("memory runs out before 2^32 items");
        if found.is_none() {
            items.push(item);
            hashes.push(hash);
            match table {
                Some(table) => table.insert(hash, as_number(number)),
                None if items.len() > FEW => {
                    let mut new = Table::default();
                    for (number, hash) in hashes.iter().enumerate() {
                        new.insert(*hash, as_number(number));
                    }
                    *table = Some(new);
                }
                None => {}
            }
        }
        (as_number(number), found.is_none())
    }

    /// Keeps only the items with the given numbers, which are ascending, and renumbers the items.
    fn retain(&mut self, keep: &[u32]) {
        let old = std::mem::take(self);
        let mut keep = keep.iter().peekable();
        for (number, item) in (0..).zip(old.items) {
            if keep.next_if_eq(&&number).is_some() {
                self.number(item);
            }
        }
    }
}

/// The operations, results and states of a part.
pub(super) struct Typed<S: Spec + ?Sized> {
    ops: Vec<Option<S::Op>>,
    free: Vec<u32>,
    rets: Items<S::Ret>,
    states: Items<S::State>,
    /// Whether this part is a whole object, so that it may contain operations with different keys.
    /// If so, an operation with a key leaves the state of the other keys unchanged. So the operation
    /// is not a blind write, and the state after it depends on the state before it.
    is_whole: bool,
    /// The size of the states on the heap, in bytes.
    heap: usize,
}

impl<S: Spec + ?Sized> Typed<S> {
    pub(super) fn new(spec: &S, is_whole: bool) -> Self {
        let mut new = Self {
            ops: Vec::new(),
            free: Vec::new(),
            rets: Items::default(),
            states: Items::default(),
            is_whole,
            heap: 0,
        };
        new.states.number(spec.initial());
        new
    }

    /// Adds an operation, and returns its number and its role.
    pub(super) fn add(&mut self, spec: &S, op: S::Op) -> (u32, EffectKind) {
        let kind = if spec.observes(&op, None) {
            EffectKind::Observer
        } else if self.concerns_all(spec, &op) && spec.overwrites(&op, None) && has_one_result(spec, &op) {
            EffectKind::Blind
        } else {
            EffectKind::Other
        };
        let number = self.free.pop().unwrap_or_else(|| {
            self.ops.push(None);
            u32::try_from(self.ops.len() - 1).expect("memory runs out before 2^32 operations")
        });
        self.ops[number as usize] = Some(op);
        (number, kind)
    }

    /// Returns whether an operation reads or changes the state of the whole part, not only the
    /// state of one key.
    fn concerns_all(&self, spec: &S, op: &S::Op) -> bool {
        !self.is_whole || spec.key(op, None).is_none()
    }

    /// Returns whether this part is a whole object, so that it may contain operations with different
    /// keys.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the number of a result.
    pub(super) fn ret(&mut self, ret: S::Ret) -> u32 {
        self.rets.number(ret).0
    }

    /// Returns the result with the given number.
    pub(super) fn ret_of(&self, ret: u32) -> &S::Ret {
        &self.rets.items[ret as usize]
    }

    /// Returns the operation with the given number.
    pub(super) fn op(&self, op: u32) -> &S::Op {
        self.ops[op as usize].as_ref().expect("the operation has not been forgotten")
    }
}

/// Returns whether each result that `op` can have in the initial state is possible in every state.
/// `op` must be an operation that overwrites the state.
fn has_one_result<S: Spec + ?Sized>(spec: &S, op: &S::Op) -> bool {
    spec.step(&spec.initial(), op, None).iter().all(|(ret, _)| spec.overwrites(op, Some(ret)))
}

/// A part together with its specification.
pub(super) struct Opened<'d, S: Spec + ?Sized> {
    pub(super) spec: &'d S,
    pub(super) typed: &'d mut Typed<S>,
}

impl<S: Spec + ?Sized> Door for Opened<'_, S> {
    fn step(&mut self, state: u32, op: u32, recorded: Option<u32>) -> Steps {
        let Typed { ops, rets, states, heap, .. } = &mut *self.typed;
        let op = ops[op as usize].as_ref().expect("the operation has not been forgotten");
        let known = recorded.map(|ret| &rets.items[ret as usize]);
        let outcomes = self.spec.step(&states.items[state as usize], op, known);
        let mut steps = Steps::new();
        for (ret, next) in outcomes {
            let ret = match recorded {
                Some(number) if rets.items[number as usize] == ret => number,
                Some(_) => continue,
                None => rets.number(ret).0,
            };
            let (next, is_new) = states.number(next);
            if is_new {
                *heap += self.spec.heap_size(&states.items[next as usize]);
            }
            steps.push((ret, next));
        }
        steps
    }

    fn observes(&self, op: u32, ret: u32) -> bool {
        self.spec.observes(self.typed.op(op), Some(self.typed.ret_of(ret)))
    }

    fn is_fixed(&self, op: u32, ret: u32) -> bool {
        let known = self.typed.op(op);
        self.typed.concerns_all(self.spec, known) && self.spec.leads_to(known, self.typed.ret_of(ret)).is_some()
    }

    fn hash(&self, op: u32) -> u64 {
        hash::Builder::default().hash_one(self.typed.op(op))
    }

    fn is_same(&self, one: u32, other: u32) -> bool {
        self.typed.op(one) == self.typed.op(other)
    }

    fn forget(&mut self, op: u32) {
        self.typed.ops[op as usize] = None;
        self.typed.free.push(op);
    }

    fn len(&self) -> usize {
        self.typed.rets.items.len() + self.typed.states.items.len()
    }

    fn retain(&mut self, states: &[u32], rets: &[u32]) {
        self.typed.states.retain(states);
        self.typed.rets.retain(rets);
        self.typed.heap = self.typed.states.items.iter().map(|state| self.spec.heap_size(state)).sum();
    }

    fn bytes(&self) -> usize {
        let Typed { ops, rets, states, heap, .. } = &*self.typed;
        ops.capacity() * size_of::<Option<S::Op>>()
            + rets.items.capacity() * (size_of::<S::Ret>() + 8)
            + states.items.capacity() * (size_of::<S::State>() + 8)
            + heap
    }
}
