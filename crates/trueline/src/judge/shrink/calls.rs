//! The calls of a core: a set of calls that are rejected together, but are no longer rejected if
//! any one of them is left out.
//!
//! To *leave out* a call is to weaken what is known about it: either the call took effect within
//! its own interval and with its recorded result, or it did not take effect. The core is a set of
//! calls such that the history up to the failing return is rejected if all other calls are left
//! out, and is no longer rejected if any call of the core is left out, too. A call that is open at
//! the failing return is always left out.
//!
//! The history that remains after the other shrinking steps is weaker than the original history
//! with the removed and forgotten calls left out: a forgotten operation may have had any result, at
//! any time after its call. So the completed calls of the remaining history and the operation after
//! which this history begins are rejected together, but the set of these calls may not be minimal
//! yet. Trying to leave out each call once is enough, because leaving out more calls never turns an
//! accepted history into a rejected one.
//!
//! **Small histories.** Usually, only the few calls that remain are judged, and the other calls of
//! the original history are ignored. If the few calls are linearizable, so is the history with all
//! calls, because the other calls may have taken no effect. If the few calls are rejected, so is
//! the history with all calls, by the arguments that make the other steps sound. There are two
//! exceptions. If an operation was restricted, the few calls contain the original operation, which
//! is stronger, so the arguments do not apply. If the history begins after an operation, they apply
//! only if this operation took effect and is possible at the beginning. In these cases, a rejection
//! is confirmed by judging all calls.

use super::oracle::Answer;
use super::weaker::Beginning;
use super::{Shrinking, optional};
use crate::history::{Fate, OpId};

impl Shrinking<'_> {
    /// Returns the calls of the core, in the order of their numbers. Also returns those calls of
    /// the core that may not be needed.
    pub(super) fn calls(&mut self) -> (Vec<OpId>, Vec<OpId>) {
        let (left, frame) = (self.left(), self.left().frame());
        let completed = frame.operations().filter(|op| frame.ret(*op).is_some() && left.has_result(*op));
        let mut calls: Vec<OpId> = completed.map(|op| self.id(op)).chain(self.begins_behind).collect();
        calls.sort_unstable();
        calls.dedup();
        let mut undecided = Vec::new();
        for id in calls.clone() {
            let others: Vec<OpId> = calls.iter().copied().filter(|other| *other != id).collect();
            match self.is_rejected_by(&others) {
                Answer::Rejected => calls = others,
                Answer::Accepted => {}
                Answer::Unknown => undecided.push(id),
            }
        }
        (calls, undecided)
    }

    /// Judges whether the history is rejected if all calls except the given ones are left out.
    fn is_rejected_by(&mut self, calls: &[OpId]) -> Answer {
        let is_small = |id: OpId| self.number(id).is_some() || self.begins_behind == Some(id);
        let has_begun = |first| self.beginning == Some(Beginning::With) && calls.contains(&first);
        let is_exact = self.begins_behind.is_none_or(has_begun) && !self.is_in_part();
        let (fates, left_out) = self.leaving_out(calls, &is_small);
        match self.ask_leaving_out(&fates, left_out) {
            Answer::Rejected if !is_exact => {}
            answer => return answer,
        }
        let (fates, left_out) = self.leaving_out(calls, &|_| true);
        self.ask_leaving_out(&fates, left_out)
    }

    fn ask_leaving_out(&mut self, fates: &[Fate], left_out: Vec<bool>) -> Answer {
        if self.oracle.is_out_of_time() {
            return Answer::Unknown;
        }
        let time = self.patience;
        self.oracle.ask(self.histories.leaving_out(fates, left_out), time)
    }

    /// Returns how to leave out all calls except `calls`. The first list states, for each operation
    /// of the original, whether it is kept, weakened or left out. The second list has an entry for
    /// each operation that stays in the history: `true` if the operation need not have taken effect.
    /// Operations for which `is_there` returns `false` do not stay in the history.
    fn leaving_out(&self, calls: &[OpId], is_there: &dyn Fn(OpId) -> bool) -> (Vec<Fate>, Vec<bool>) {
        let frame = self.original.frame();
        let is_call = |op: OpId| calls.binary_search(&op).is_ok();
        let fate = |op: OpId| match self.before_failure(op) {
            // An observer that is left out can be removed, because no operation can observe whether
            // it took effect.
            Fate::Keep if !is_call(op) && self.original.observes(op) => Fate::LeaveOut,
            _ if !is_there(op) => Fate::LeaveOut,
            fate => fate,
        };
        let fates: Vec<Fate> = frame.operations().map(fate).collect();
        let kept = frame.operations().zip(&fates).filter(|(_, fate)| **fate != Fate::LeaveOut);
        let left_out = kept.map(|(op, fate)| *fate == Fate::Keep && !is_call(op)).collect();
        (fates, left_out)
    }

    /// Returns whether an operation of the original is kept, weakened or left out in the history
    /// that ends with the failing return.
    pub(super) fn before_failure(&self, op: OpId) -> Fate {
        let (frame, refused) = (self.original.frame(), self.refused);
        if frame.object(op) != frame.object(refused) || frame.call(op) > self.event {
            return Fate::LeaveOut;
        }
        let returned = frame.ret(op).is_some_and(|ret| ret <= self.event);
        if returned { Fate::Keep } else { optional(self.original, op) }
    }
}
