//! The paper's algorithm: enumerates all sequentializations, and all quasi-permutations of each.
//!
//! Zhang, Chattopadhyay & Wang, *Round-Up*, algorithms 1 and 2, with the third optimization of
//! section VI-C, which can be switched off: a sequentialization or a permutation that has been
//! tried before, in this history or in another one, is skipped. The other two optimizations store
//! equal serial histories only once (`serial_list.rs`), and skip histories that have been judged
//! before (`round_up.rs`).
//!
//! Departures from the paper:
//! - Lines 17 to 19 of algorithm 1 separate the first two calls that overlap, and put one of them
//!   before all others. If three calls overlap, the third never comes first, and sequentializations
//!   are missed. Here all linear extensions of the real-time order `<_h` are tried.
//! - The third optimization is correct only for sequences that are known to fail: a sequence that succeeded in another
//!   history makes this history succeed too. So only failed sequences are skipped.
//! - Algorithm 1 permutes the sequence as a whole. Here, if there are several classes, each class
//!   is permuted separately. Then every way to interleave the classes is tried, up to the first
//!   operation that is not legal. The statistics count permutations of classes, not ways to
//!   interleave them.
//!
//! # Complexity
//! The number of linear extensions times the number of permutations, both of which are exponential.

use hashbrown::HashSet;

use super::super::search::automaton::{Automaton, NextStates};
use super::super::search::{Meter, StateId, hash};
use super::in_place::Serial;
use super::permutations::Permutations;
use super::task::{QuasiFound, QuasiTask};
use crate::verdict::LimitKind;

/// The sequences that were tried and failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    is_on: bool,
    /// Sequentializations without a legal permutation.
    sequentializations: HashSet<Box<[u32]>, hash::Builder>,
    /// Permutations that are not legal.
    permutations: HashSet<Box<[u32]>, hash::Builder>,
}

impl Looked {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }
}

/// The number of sequences that were tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) sequentializations: u64,
    pub(super) permutations: u64,
}

/// Determines which orders are legal.
pub(super) enum Legal<'l, 'a> {
    Specification(&'l mut Automaton<'a>),
    Program(&'l Serial<'l>),
}

/// Tries all sequentializations and permutations of one object. `numbers` assigns equal numbers to
/// equal operations with equal results, in all histories that share `looked`.
pub(super) fn search(
    task: &QuasiTask,
    legal: Legal<'_, '_>,
    numbers: &[u32],
    looked: &mut Looked,
    counts: &mut Counts,
    meter: &mut Meter,
) -> Result<QuasiFound, LimitKind> {
    let optional: Vec<u32> = task.operations().filter(|op| !task.must(*op)).collect();
    if optional.len() > 20 {
        return Err(LimitKind::Refused(
            "too many operations never returned, so it is not possible to try every choice of which of them took effect",
        ));
    }
    let mut search =
        Enumeration { task, legal, numbers, looked, counts, meter, permuted: Vec::new(), longest: Vec::new() };
    for chosen in 0_u32..1 << optional.len() {
        let is_chosen = |op: &u32| optional.iter().position(|other| other == op).is_none_or(|at| chosen >> at & 1 == 1);
        let mut rest: Vec<u32> = task.operations().filter(is_chosen).collect();
        let mut order = Vec::new();
        if search.sequentializations(&mut rest, &mut order)? {
            return Ok(QuasiFound::Accepted { order, permuted: search.permuted });
        }
    }
    Ok(QuasiFound::behind(search.longest))
}

struct Enumeration<'s, 'l, 'a> {
    task: &'s QuasiTask,
    legal: Legal<'l, 'a>,
    numbers: &'s [u32],
    looked: &'s mut Looked,
    counts: &'s mut Counts,
    meter: &'s mut Meter,
    permuted: Vec<u32>,
    longest: Vec<u32>,
}

impl Enumeration<'_, '_, '_> {
    /// Enumerates the linear extensions that begin with `order`, until one of them has a legal
    /// permutation.
    fn sequentializations(&mut self, rest: &mut Vec<u32>, order: &mut Vec<u32>) -> Result<bool, LimitKind> {
        if rest.is_empty() {
            return self.sequentialization(order);
        }
        for at in 0..rest.len() {
            let op = rest[at];
            if rest.iter().any(|other| self.task.precedes(*other, op)) {
                continue;
            }
            rest.remove(at);
            order.push(op);
            if self.sequentializations(rest, order)? {
                return Ok(true);
            }
            order.pop();
            rest.insert(at, op);
        }
        Ok(false)
    }

    fn key(&self, sequence: &[u32]) -> Box<[u32]> {
        sequence.iter().map(|op| self.numbers[*op as usize]).collect()
    }

    /// Returns whether a sequentialization has a legal permutation. If so, `permuted` holds this
    /// permutation afterward.
    fn sequentialization(&mut self, order: &[u32]) -> Result<bool, LimitKind> {
        self.meter.configuration()?;
        let key = self.key(order);
        if self.looked.is_on && self.looked.sequentializations.contains(&key) {
            return Ok(false);
        }
        self.counts.sequentializations += 1;
        let has_one = self.is_legal(order)?
            || match self.legal {
                Legal::Program(_) => self.in_place(order)?,
                Legal::Specification(_) => self.by_class(order)?,
            };
        if !has_one && self.looked.is_on {
            self.looked.sequentializations.insert(key);
        }
        Ok(has_one)
    }

    /// Returns whether an order is legal as it is, without a permutation.
    fn is_legal(&mut self, order: &[u32]) -> Result<bool, LimitKind> {
        self.permuted.clear();
        if let Legal::Program(serial) = &self.legal {
            self.permuted.extend(order);
            return Ok((serial.contains)(order));
        }
        let mut states = vec![StateId::INITIAL];
        for &op in order {
            states = self.step(&states, op)?;
            if states.is_empty() {
                return Ok(false);
            }
            self.permuted.push(op);
        }
        Ok(true)
    }

    fn step(&mut self, states: &[StateId], op: u32) -> Result<Vec<StateId>, LimitKind> {
        let Legal::Specification(automaton) = &mut self.legal else { return Ok(states.to_vec()) };
        let mut next = Vec::new();
        for state in states {
            match automaton.step(*state, self.task.kinds[op as usize], self.meter)? {
                NextStates::None => {}
                NextStates::One(state) => next.push(state),
                NextStates::Several(list) => next.extend(automaton.several(list)),
            }
        }
        next.sort_unstable();
        next.dedup();
        Ok(next)
    }

    /// Returns the operations of a class in the same order as in `order`.
    fn of_class(&self, order: &[u32], class: Option<usize>) -> Vec<u32> {
        let is_of = |op: &u32| self.task.class[*op as usize].map(|class| class as usize) == class;
        order.iter().copied().filter(is_of).collect()
    }

    /// Tries the permutations in which only operations of one class exchange their places, as in
    /// semantics (C) of `judge/quasi/mod.rs`.
    fn in_place(&mut self, order: &[u32]) -> Result<bool, LimitKind> {
        for (class, &factor) in self.task.factors.iter().enumerate() {
            let members = self.of_class(order, Some(class));
            for permutation in Permutations::new(members.len(), factor) {
                self.meter.configuration()?;
                let mut permuted = permutation.into_iter().map(|event| members[event]);
                let is_of = |op: u32| self.task.class[op as usize].is_some_and(|other| other as usize == class);
                let in_place = |&op: &u32| if is_of(op) { permuted.next().unwrap_or(op) } else { op };
                let sequence: Vec<u32> = order.iter().map(in_place).collect();
                if self.skips(&sequence) {
                    continue;
                }
                self.counts.permutations += 1;
                if self.is_legal(&sequence)? {
                    return Ok(true);
                }
                self.note_illegal(&sequence);
            }
        }
        Ok(false)
    }

    fn skips(&self, sequence: &[u32]) -> bool {
        self.looked.is_on && self.looked.permutations.contains(&self.key(sequence))
    }

    fn note_illegal(&mut self, sequence: &[u32]) {
        if self.looked.is_on {
            let key = self.key(sequence);
            self.looked.permutations.insert(key);
        }
    }

    /// Tries the permutations of semantics (A) and (B): permutes each class, and interleaves the
    /// classes.
    fn by_class(&mut self, order: &[u32]) -> Result<bool, LimitKind> {
        let mut orders: Vec<Vec<u32>> =
            (0..self.task.factors.len()).map(|class| self.of_class(order, Some(class))).collect();
        // An operation in no class may be anywhere, so each such operation is treated as a class of its own.
        orders.extend(self.of_class(order, None).into_iter().map(|op| vec![op]));
        self.permute(&mut orders, 0)
    }

    /// Enumerates the permutations of the classes from `class` on.
    fn permute(&mut self, orders: &mut [Vec<u32>], class: usize) -> Result<bool, LimitKind> {
        let Some(&factor) = self.task.factors.get(class) else {
            self.meter.configuration()?;
            let sequence = orders.concat();
            if self.skips(&sequence) {
                return Ok(false);
            }
            self.counts.permutations += 1;
            self.permuted.clear();
            let has_one = self.interleave(orders, &mut vec![0; orders.len()], &[StateId::INITIAL])?;
            if !has_one {
                self.note_illegal(&sequence);
            }
            return Ok(has_one);
        };
        let members = orders[class].clone();
        for permutation in Permutations::new(members.len(), factor) {
            orders[class] = permutation.into_iter().map(|event| members[event]).collect();
            if self.permute(orders, class + 1)? {
                return Ok(true);
            }
        }
        orders[class] = members;
        Ok(false)
    }

    /// Returns whether the orders of the classes can be interleaved to a legal order. If so,
    /// `permuted` holds this order afterward.
    fn interleave(
        &mut self,
        orders: &[Vec<u32>],
        heads: &mut Vec<usize>,
        states: &[StateId],
    ) -> Result<bool, LimitKind> {
        if self.permuted.len() > self.longest.len() {
            self.longest.clone_from(&self.permuted);
        }
        let mut is_done = true;
        for class in 0..orders.len() {
            let Some(&op) = orders[class].get(heads[class]) else { continue };
            is_done = false;
            let next = self.step(states, op)?;
            if next.is_empty() {
                continue;
            }
            heads[class] += 1;
            self.permuted.push(op);
            if self.interleave(orders, heads, &next)? {
                return Ok(true);
            }
            self.permuted.pop();
            heads[class] -= 1;
        }
        Ok(is_done)
    }
}
