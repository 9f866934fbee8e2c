//! The part of shrinking that depends on the types of operations and results. The trait [`Weaken`]
//! hides these types from the other parts.

use std::borrow::Cow;

use super::minimize::Choice;
use crate::history::{Fate, History, OpId, Outcome};
use crate::judge::erased::{Case, Typed};
use crate::spec::{Spec, Subject};

/// A history that is being shrunk to a core, and the last weaker history that was judged.
pub(super) trait Weaken {
    /// Returns the remaining history.
    fn left(&self) -> &dyn Case;
    /// For each remaining operation, returns its number in the original history.
    fn ids(&self) -> &[OpId];
    /// Weakens a copy of the remaining history as this choice specifies, and returns the copy to be
    /// judged.
    fn weaker(&mut self, choice: &Choice) -> &dyn Case;
    /// Returns a copy of the original history, to be judged, in which each operation is kept,
    /// weakened or left out as `fates` specifies. For each operation that stays, `left_out` is
    /// `true` if a linearization is allowed to omit the operation.
    fn leaving_out(&mut self, fates: &[Fate], left_out: Vec<bool>) -> &dyn Case;
    /// Returns whether a remaining operation has lost a part of its arguments or of its result.
    fn is_in_part(&self, op: OpId) -> bool;
    /// Records that the last judged history was rejected.
    fn note_rejected(&mut self);
    /// Returns whether the remaining history is the one that was last recorded as rejected.
    fn is_noted(&self) -> bool;
    /// Weakens the remaining history as this choice specifies.
    fn take(&mut self, choice: &Choice);
    /// Returns the subject of a remaining operation ([`Spec::subject`]).
    fn subject(&self, op: OpId) -> Subject;
    /// Returns whether [`Spec::restrict`] weakens this operation even if no subject is removed.
    fn says_less(&self, op: OpId) -> bool;
    /// Returns how the remaining history can begin if the operations before this one are left out
    /// ([`Spec::leads_to`]), or `None` if leaving them out would not be sound.
    fn beginning(&self, op: OpId) -> Option<Beginning>;
}

/// The possible beginnings of a history from which all operations before a certain operation were
/// left out. That operation always leads to the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// The history begins with this operation. The operation is possible in the initial state, and
    /// leads to the same state as in the whole history.
    With,
    /// The operation is left out, too, because the state after it is the initial state.
    Without,
}

/// The histories that are weakened and judged, with the types of a specification.
pub(super) struct Histories<'a, S: Spec + ?Sized> {
    spec: &'a S,
    original: &'a History<S::Op, S::Ret>,
    left: Typed<'a, S>,
    ids: Vec<OpId>,
    asked: Option<Typed<'a, S>>,
    rejected: Option<Typed<'a, S>>,
}

impl<'a, S: Spec + ?Sized> Histories<'a, S> {
    pub(super) fn new(spec: &'a S, original: &'a History<S::Op, S::Ret>) -> Self {
        let left = Typed::new(spec, Cow::Borrowed(original));
        Self { spec, original, ids: left.frame().operations().collect(), left, asked: None, rejected: None }
    }

    /// Returns the remaining history, and the number that each of its operations has in the
    /// original history.
    pub(super) fn into_left(self) -> (History<S::Op, S::Ret>, Vec<OpId>) {
        (self.left.history.into_owned(), self.ids)
    }

    /// Returns a copy of the remaining history that is weakened as this choice specifies. Also
    /// returns the number that each operation of the copy has in the original history.
    fn weaken(&self, Choice { fates, gone }: &Choice) -> (Typed<'a, S>, Vec<OpId>) {
        let history = &self.left.history;
        let Some(gone) = gone else {
            let weaker = Typed::new(self.spec, Cow::Owned(history.weaken_by(fates)));
            return (weaker, stay(&self.ids, fates));
        };
        let is_gone = |subject| matches!(subject, Subject::One(number) if gone.contains(&number));
        let mut fates = fates.clone();
        let mut restricted = Vec::new();
        for (fate, operation) in fates.iter_mut().zip(history.operations()) {
            if *fate == Fate::LeaveOut {
                continue;
            }
            match self.spec.restrict(&operation.op, operation.outcome.result(), &is_gone) {
                // The restricted operation may be an observer. An observer that never returned can
                // be left out.
                Some((op, result))
                    if operation.return_position().is_some() || !self.spec.observes(&op, result.as_ref()) =>
                {
                    restricted.push((op, result));
                }
                _ => *fate = Fate::LeaveOut,
            }
        }
        let mut restricted = restricted.into_iter();
        let weaker = history.weaken_by(&fates).map(|operation| {
            let (op, result) = restricted.next().expect("there is an item for each remaining operation");
            let outcome = match (&operation.outcome, result) {
                (Outcome::Returned(_), Some(result)) => Outcome::Returned(result),
                (Outcome::Optional(_), Some(result)) => Outcome::Optional(result),
                (outcome, _) => outcome.clone(),
            };
            (op, outcome)
        });
        (Typed::new(self.spec, Cow::Owned(weaker)), stay(&self.ids, &fates))
    }
}

/// Returns the operations that are not left out.
fn stay(ids: &[OpId], fates: &[Fate]) -> Vec<OpId> {
    ids.iter().zip(fates).filter(|(_, fate)| **fate != Fate::LeaveOut).map(|(id, _)| *id).collect()
}

impl<S: Spec + ?Sized> Weaken for Histories<'_, S> {
    fn left(&self) -> &dyn Case {
        &self.left
    }

    fn ids(&self) -> &[OpId] {
        &self.ids
    }

    fn weaker(&mut self, choice: &Choice) -> &dyn Case {
        let (weaker, _) = self.weaken(choice);
        self.asked.insert(weaker)
    }

    fn leaving_out(&mut self, fates: &[Fate], left_out: Vec<bool>) -> &dyn Case {
        let weaker = Typed::new(self.spec, Cow::Owned(self.original.weaken_by(fates)));
        self.asked.insert(weaker.leaving_out(left_out))
    }

    fn is_in_part(&self, op: OpId) -> bool {
        let (left, original) = (&self.left.history[op], &self.original[self.ids[op.index()]]);
        let result = left.outcome.result();
        left.op != original.op || (result.is_some() && result != original.outcome.result())
    }

    fn note_rejected(&mut self) {
        self.rejected = self.asked.take();
    }

    fn is_noted(&self) -> bool {
        self.rejected.as_ref().is_some_and(|rejected| rejected.history == self.left.history)
    }

    fn take(&mut self, choice: &Choice) {
        (self.left, self.ids) = self.weaken(choice);
    }

    fn subject(&self, op: OpId) -> Subject {
        let operation = &self.left.history[op];
        self.spec.subject(&operation.op, operation.outcome.result())
    }

    fn says_less(&self, op: OpId) -> bool {
        let operation = &self.left.history[op];
        let recorded = operation.outcome.result();
        let restricted = self.spec.restrict(&operation.op, recorded, &|_| false);
        restricted.is_none_or(|(op, result)| op != operation.op || result.as_ref() != recorded)
    }

    fn beginning(&self, op: OpId) -> Option<Beginning> {
        let operation = &self.left.history[op];
        let Outcome::Returned(result) = &operation.outcome else { return None };
        let state = self.spec.leads_to(&operation.op, result)?;
        let initial = self.spec.initial();
        if state == initial {
            return Some(Beginning::Without);
        }
        for (other, next) in self.spec.step(&initial, &operation.op, Some(result)) {
            if other == *result && next == state {
                return Some(Beginning::With);
            }
        }
        None
    }
}
