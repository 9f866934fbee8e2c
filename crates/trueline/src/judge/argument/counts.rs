//! Rules that bound a number, such as the value of a counter, the permits of a semaphore, or the
//! holders of a lock.
//!
//! The operations that are known to come before or after an operation bound the number that the operation finds, as in
//! the monitors for counters and semaphores.

use super::prover::{Known, Proposal, Rule, id, ids};
use crate::verdict::{Count, Counted, Reason};

/// The effect of an operation on a number: the amount that the operation adds, and the bounds that
/// the number must satisfy before the operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) by: i64,
    pub(super) at_least: Option<i64>,
    pub(super) at_most: Option<i64>,
}

impl Change {
    pub(super) fn by(by: i64) -> Self {
        Self { by, ..Self::default() }
    }

    pub(super) fn from(mut self, least: i64) -> Self {
        self.at_least = Some(least);
        self
    }

    pub(super) fn to(mut self, most: i64) -> Self {
        self.at_most = Some(most);
        self
    }
}

/// The rules for one number, such as the value of a counter.
#[derive(Debug)]
pub(super) struct Counts {
    pub(super) what: Counted,
    pub(super) initial: i64,
    /// The change that each operation makes.
    pub(super) changes: Vec<Change>,
    /// For each operation, whether it is certain that the operation makes its change if it takes
    /// effect. This is not certain for an attempt that never returned, because the attempt may have
    /// failed.
    pub(super) is_sure: Vec<bool>,
}

/// Whether a rule bounds the number from below or from above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// The rule gives a lower bound.
    Least,
    /// The rule gives an upper bound.
    Most,
}

impl Counts {
    fn propose_for(&self, user: usize, needed: i64, bound: Bound, known: &Known, proposals: &mut Vec<Proposal>) {
        // The lower bound counts the increases that are known to come before `user`, and the
        // decreases that may come before `user`. The upper bound counts the decreases that are
        // known to come before `user`, and the increases that may come before `user`.
        let sign = if bound == Bound::Least { 1 } else { -1 };
        let (mut number, mut open) = (self.initial, Vec::new());
        let (mut before, mut maybe, mut later) = (Vec::new(), Vec::new(), Vec::new());
        for op in (0..known.count()).filter(|op| *op != user) {
            let by = self.changes[op].by;
            let (is_before, is_behind) = (known.is_before(op, user), known.is_before(user, op));
            if by.signum() == sign && is_before && self.is_sure[op] {
                number += by;
                before.push(op);
            } else if by.signum() == -sign && !is_behind {
                number += by;
                maybe.push(op);
            } else if by.signum() == -sign {
                later.push(op);
            }
            if by != 0 && !is_before && !is_behind {
                open.push((op, by));
            }
        }
        let given: Vec<_> = before.iter().map(|op| (*op, user)).chain(later.iter().map(|op| (user, *op))).collect();
        let reason = Reason::Count(Count {
            what: self.what,
            initial: self.initial,
            user: id(user),
            needed,
            too_little: bound == Bound::Most,
            before: ids(before),
            maybe: ids(maybe),
            later: ids(later),
        });
        let is_wrong = |number: i64| if bound == Bound::Least { number > needed } else { number < needed };
        if is_wrong(number) {
            proposals.push(Proposal::impossible(user, reason, &given));
            return;
        }
        for (op, by) in open {
            if by.signum() == sign && self.is_sure[op] && is_wrong(number + by) && known.is_certain(user) {
                proposals.push(Proposal::before(user, op, reason.clone(), &given));
            } else if by.signum() == -sign && is_wrong(number - by) {
                proposals.push(Proposal::before(op, user, reason.clone(), &given));
            }
        }
    }

    /// Proposes that an operation is impossible because too many operations change the number in
    /// the same direction and need the same bound. The last of these operations would take effect
    /// after the changes of all the others.
    fn propose_in_all(&self, sign: i64, known: &Known, proposals: &mut Vec<Proposal>) {
        let bound = |change: &Change| if sign > 0 { change.at_most } else { change.at_least };
        let is_user = |op: &usize| self.changes[*op].by == sign && bound(&self.changes[*op]).is_some();
        let is_certain = |op: &usize| self.is_sure[*op] && known.is_certain(*op);
        let users: Vec<usize> = (0..known.count()).filter(|op| is_user(op) && is_certain(op)).collect();
        let Some(&last) = users.last() else { return };
        let needed = bound(&self.changes[last]);
        if users.len() < 2 || users.iter().any(|op| bound(&self.changes[*op]) != needed) {
            return;
        }
        let others: Vec<usize> = (0..known.count()).filter(|op| self.changes[*op].by == -sign).collect();
        let counted =
            |ops: &[usize]| i64::try_from(ops.len()).expect("the number of operations in a core fits in 32 bits");
        let number = self.initial + sign * (counted(&users) - 1) - sign * counted(&others);
        if let Some(needed) = needed.filter(|needed| sign * number > sign * needed) {
            let (what, initial, is_more) = (self.what, self.initial, sign > 0);
            let (users, others) = (ids(users), ids(others));
            let reason = Reason::CountInAll { what, initial, needed, users, is_more, others };
            proposals.push(Proposal::impossible(last, reason, &[]));
        }
    }
}

impl Rule for Counts {
    fn is_sound(&self) -> bool {
        true
    }

    fn propose(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        self.propose_in_all(1, known, proposals);
        self.propose_in_all(-1, known, proposals);
        // Skip attempts that may have failed, because a failed attempt does not need any bound.
        for (user, change) in self.changes.iter().enumerate().filter(|(user, _)| self.is_sure[*user]) {
            if let Some(least) = change.at_least {
                self.propose_for(user, least, Bound::Most, known, proposals);
            }
            if let Some(most) = change.at_most {
                self.propose_for(user, most, Bound::Least, known, proposals);
            }
        }
    }
}
