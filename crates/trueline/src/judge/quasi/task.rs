//! The operations of one object, numbered, with their classes.

use hashbrown::HashMap;

use super::super::search::hash;
use super::super::search::problem::{ClassId, Classes};
use super::semantics::Criterion;
use crate::history::{Event, OpId};
use crate::judge::erased::Case;
use crate::judge::frame::calls;
use crate::judge::monitor::{Span, ValueId};
use crate::spec::{Initial, Standard, Taken};

/// Stands for the return position of an operation that never returned.
pub(super) const NEVER: u32 = u32::MAX;

/// The role of a standard operation of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Puts,
    /// Takes a value.
    Takes,
    /// Finds the queue empty.
    FindsEmpty,
}

/// The facts that are known about the operations of a queue.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// The role of each operation.
    pub(super) roles: Vec<Role>,
    /// Whether no class contains both puts and other operations.
    pub(super) is_apart: bool,
    /// For each put, the operation that takes the same value out. The whole list is `None` if some
    /// value is put in or taken out twice.
    pub(super) taken_by: Option<Vec<Option<u32>>>,
    /// If some value must have been taken out more often than it was put in, an operation that
    /// takes such a value out.
    pub(super) from_nowhere: Option<u32>,
}

/// The operations of one object, numbered in the order of their calls.
#[derive(Clone, Debug)]
pub(super) struct QuasiTask {
    pub(super) ids: Vec<OpId>,
    pub(super) calls: Vec<u32>,
    /// For each operation, the position of its return; [`NEVER`] for an operation that need not
    /// take effect.
    pub(super) returns: Vec<u32>,
    /// For each operation, its class, as an index into `factors`; `None` if the operation is in no
    /// class.
    pub(super) class: Vec<Option<u32>>,
    /// For each class, the distance by which its operations may be out of order.
    pub(super) factors: Vec<u32>,
    /// For each operation, the number of its class in the automaton.
    pub(super) kinds: Vec<ClassId>,
    /// The facts that are known about the operations, if the object is a queue.
    pub(super) queue: Option<Queue>,
}

impl QuasiTask {
    pub(super) fn new(case: &dyn Case, events: &[Event], kinds: &Classes, criterion: &Criterion<'_>) -> Self {
        let frame = case.frame();
        let ids: Vec<OpId> = calls(events).collect();
        let mut task = Self {
            calls: ids.iter().map(|id| frame.call(*id)).collect(),
            returns: ids.iter().map(|id| frame.ret(*id).unwrap_or(NEVER)).collect(),
            class: ids.iter().map(|id| criterion.class[id.index()]).collect(),
            factors: criterion.factors.clone(),
            kinds: ids.iter().map(|id| kinds.of(*id)).collect(),
            queue: None,
            ids,
        };
        task.queue = task.queue(case);
        task
    }

    /// Returns the facts that are known about the operations of a queue, or `None` if the object is
    /// not a queue.
    fn queue(&self, case: &dyn Case) -> Option<Queue> {
        let mut read = case.values();
        if read.start(self.len() / 2) != Initial::Nothing {
            return None;
        }
        let mut spans = vec![Span { what: Standard::Increment, call: 0, ret: 0 }; self.len()];
        if read.read(&self.ids, false, &mut spans).1.is_some() {
            return None;
        }
        let mut roles = Vec::with_capacity(self.len());
        // For each value, an operation that puts it in, an operation that takes it out, and the
        // difference between the number of all operations that put it in and the number of
        // operations that take it out and must have taken effect.
        let mut values = HashMap::<ValueId, ([Option<u32>; 2], i64), hash::Builder>::default();
        let mut is_distinct = true;
        for (op, span) in self.operations().zip(&spans) {
            let (role, value) = match span.what {
                Standard::Enqueue(value) => (Role::Puts, Some(value)),
                Standard::Dequeue(Taken::Value(value)) => (Role::Takes, Some(value)),
                Standard::Dequeue(Taken::Nothing) => (Role::FindsEmpty, None),
                _ => return None,
            };
            roles.push(role);
            if let Some(value) = value {
                let (both, left) = values.entry(value).or_default();
                is_distinct &= both[usize::from(role == Role::Takes)].replace(op).is_none();
                *left += if role == Role::Puts { 1 } else { -i64::from(self.must(op)) };
            }
        }
        let taken_by = is_distinct.then(|| {
            let mut taken_by = vec![None; self.len()];
            for ([put, taken], _) in values.values() {
                if let Some(put) = put {
                    taken_by[*put as usize] = *taken;
                }
            }
            taken_by
        });
        let from_nowhere = values.values().filter(|(_, left)| *left < 0).filter_map(|([_, taken], _)| *taken).min();
        Some(Queue { is_apart: self.is_apart(&roles), roles, taken_by, from_nowhere })
    }

    /// Returns whether no class contains both puts and other operations.
    fn is_apart(&self, roles: &[Role]) -> bool {
        let mut does = vec![[false; 2]; self.factors.len()];
        for (class, role) in self.class.iter().zip(roles) {
            if let Some(class) = class {
                does[*class as usize][usize::from(*role == Role::Puts)] = true;
            }
        }
        does.iter().all(|does| *does != [true; 2])
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether `first` returned before `second` was called.
    pub(super) fn precedes(&self, first: u32, second: u32) -> bool {
        self.returns[first as usize] < self.calls[second as usize]
    }

    /// Returns whether the operation must have taken effect, because it returned.
    pub(super) fn must(&self, op: u32) -> bool {
        self.returns[op as usize] != NEVER
    }

    /// Returns all operations.
    pub(super) fn operations(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.len()).expect("the number of operations fits in 32 bits")
    }

    /// Returns the same task with `more` added to each factor.
    pub(super) fn relaxed_by(&self, more: u32) -> Self {
        let factors = self.factors.iter().map(|factor| factor.saturating_add(more)).collect();
        Self { factors, ..self.clone() }
    }

    pub(super) fn ids(&self, operations: &[u32]) -> Vec<OpId> {
        operations.iter().map(|op| self.ids[*op as usize]).collect()
    }
}

/// The result of judging one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QuasiFound {
    /// Holds a sequentialization and a legal order that is near enough to it.
    Accepted { order: Vec<u32>, permuted: Vec<u32> },
    /// No legal order is near enough to any sequentialization.
    Rejected(Why),
}

/// The reason why no legal order is near enough to any sequentialization.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Why {
    /// The longest sequence that was found to be a prefix of a legal order.
    pub(super) longest: Vec<u32>,
    /// Operations that cannot all have happened as recorded. Empty unless such operations were
    /// found without a search.
    pub(super) conflict: Vec<u32>,
    /// Whether the operations in `conflict` conflict however large the factors are.
    pub(super) is_final: bool,
}

impl QuasiFound {
    /// Returns the reason for a rejection by a search; `longest` is the longest prefix of a legal
    /// order that the search found.
    pub(super) fn behind(longest: Vec<u32>) -> Self {
        Self::Rejected(Why { longest, ..Why::default() })
    }
}
