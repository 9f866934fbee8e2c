//! Judges Round-Up's own semantics with one search, in which `s'` and `s''` grow together.
//!
//! All operations except those of one class have the same place in both orders, so each of them is
//! added to both orders at once. At each place that belongs to the class, one operation of the
//! class is added to `s'`, and one to `s''`. An operation is added to `s'` only after all
//! operations that precede it in the real-time order `<_h`. No operation may be too far from its
//! place in the other order. The search drops an `s''` that cannot be a prefix of a serial history
//! according to [`Serial::may_begin`].
//!
//! # Complexity
//! Exponential, but each configuration is visited only once. The paper's programs have about ten
//! calls.

use super::super::search::Meter;
use super::seen::VisitedSet;
use super::task::{QuasiFound, QuasiTask};
use crate::verdict::LimitKind;

/// Decides whether a sequence of operations, given by their numbers, is a serial history or may be a prefix of one.
pub(super) struct Serial<'s> {
    pub(super) contains: &'s dyn Fn(&[u32]) -> bool,
    pub(super) may_begin: &'s dyn Fn(&[u32]) -> bool,
}

/// Searches for orders `s'` and `s''` in which only the operations of one class change places.
/// Tries each class.
pub(super) fn search(task: &QuasiTask, serial: &Serial<'_>, meter: &mut Meter) -> Result<QuasiFound, LimitKind> {
    let mut longest = Vec::new();
    // If there are no classes, search once, without permuting anything.
    for class in 0..task.factors.len().max(1) {
        let class = u32::try_from(class).expect("the number of classes fits in 32 bits");
        let mut search = InPlaceSearch {
            task,
            serial,
            class,
            factor: task.factors.get(class as usize).copied().unwrap_or(0),
            order: Vec::new(),
            permuted: Vec::new(),
            place: vec![None; task.len()],
            position: vec![None; task.len()],
            index: 0,
            seen: VisitedSet::default(),
            longest: Vec::new(),
            meter,
        };
        if search.go_on()? {
            return Ok(QuasiFound::Accepted { order: search.order, permuted: search.permuted });
        }
        if search.longest.len() > longest.len() {
            longest = search.longest;
        }
    }
    Ok(QuasiFound::behind(longest))
}

struct InPlaceSearch<'s> {
    task: &'s QuasiTask,
    serial: &'s Serial<'s>,
    class: u32,
    factor: u32,
    order: Vec<u32>,
    permuted: Vec<u32>,
    /// For each operation, its place in `s'`; `None` if the operation is not in `s'`. The places of
    /// the operations of `class` are counted within that class. For any other operation in `s'`,
    /// the entry is 0.
    place: Vec<Option<u32>>,
    /// For each operation, its place in `s''`; `None` if the operation is not in `s''`. Places are
    /// counted as in `place`.
    position: Vec<Option<u32>>,
    /// The number of operations of the class that have been added to each of the two orders.
    index: u32,
    seen: VisitedSet,
    longest: Vec<u32>,
    meter: &'s mut Meter,
}

impl InPlaceSearch<'_> {
    fn is_permuted(&self, op: u32) -> bool {
        self.task.class[op as usize] == Some(self.class)
    }

    /// Returns whether all operations that returned before `op` was called are in `s'`.
    fn is_free(&self, op: u32) -> bool {
        self.task.operations().all(|other| self.place[other as usize].is_some() || !self.task.precedes(other, op))
    }

    /// Returns whether each operation that is in only one of the two orders can still be added to
    /// the other one.
    fn is_in_time(&self) -> bool {
        self.place.iter().zip(&self.position).all(|both| match both {
            (Some(alone), None) | (None, Some(alone)) => self.index - alone <= self.factor,
            _ => true,
        })
    }

    fn go_on(&mut self) -> Result<bool, LimitKind> {
        self.meter.configuration()?;
        let is_done = self.task.operations().all(|op| match (self.place[op as usize], self.position[op as usize]) {
            (Some(_), Some(_)) => true,
            (None, None) => !self.task.must(op),
            _ => false,
        });
        if is_done && (self.serial.contains)(&self.permuted) {
            return Ok(true);
        }
        if !(self.serial.may_begin)(&self.permuted) || !self.is_new()? {
            return Ok(false);
        }
        if self.permuted.len() > self.longest.len() {
            self.longest.clone_from(&self.permuted);
        }
        for op in self.task.operations() {
            if self.place[op as usize].is_some() || !self.is_free(op) {
                continue;
            }
            if !self.is_permuted(op) {
                if self.with(op, op, None)? {
                    return Ok(true);
                }
                continue;
            }
            for other in self.task.operations() {
                if !self.is_permuted(other) || self.position[other as usize].is_some() {
                    continue;
                }
                let index = self.index;
                let is_near = |at: Option<u32>| at.is_none_or(|at| at.abs_diff(index) <= self.factor);
                let are_near = is_near(self.position[op as usize]) && is_near(self.place[other as usize]);
                if are_near && self.with(op, other, Some(index))? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Continues with `op` added to `s'` and `other` added to `s''`. If they belong to the class,
    /// `index` is their place in the class; otherwise, it is `None`.
    fn with(&mut self, op: u32, other: u32, index: Option<u32>) -> Result<bool, LimitKind> {
        self.order.push(op);
        self.permuted.push(other);
        self.place[op as usize] = Some(index.unwrap_or(0));
        self.position[other as usize] = Some(index.unwrap_or(0));
        self.index += u32::from(index.is_some());
        if self.is_in_time() && self.go_on()? {
            return Ok(true);
        }
        self.index -= u32::from(index.is_some());
        self.position[other as usize] = None;
        self.place[op as usize] = None;
        self.permuted.pop();
        self.order.pop();
        Ok(false)
    }

    /// Records the configuration, and returns whether it is new. The configuration consists of
    /// `s''`, the operations in `s'`, and the places of the operations that are in `s'` but not in
    /// `s''`.
    fn is_new(&mut self) -> Result<bool, LimitKind> {
        let mut key = self.permuted.clone();
        for (op, place) in (0..).zip(&self.place) {
            if let Some(place) = place {
                key.push(op);
                key.push(if self.position[op as usize].is_some() { u32::MAX } else { *place });
            }
        }
        self.seen.insert(&key, self.meter)
    }
}
