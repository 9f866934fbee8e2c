//! The calls of a core: without any one of them, the rest would be linearizable.
//!
//! To *leave out* a call is to weaken what is known of it: it took effect within its own interval and with its recorded
//! result, or not at all. The core is a set of calls such that the history up to the failing return is rejected if all
//! other calls are left out, and is no longer rejected if one more call is left out. A call that is open at the failing
//! return is always left out.
//!
//! The history that the other steps have led to is weaker than that: an operation that it has forgotten may have had
//! any result, at any time. So the calls that it still knows completely are such a set, except that it may not be
//! minimal yet. They only have to be tried one by one, because the more calls are left out, the fewer histories are
//! rejected.
//!
//! **Small histories.** Usually only the few calls of the weaker history are judged, and no others. If these are
//! linearizable, so is the whole history, because all other calls may have taken no effect. If they are not, neither is
//! the whole history, by the arguments that make the other steps sound. There are two exceptions: a restricted
//! operation is weaker than the original one; and a history may begin after an operation only if that operation took
//! effect, and is possible at the beginning. In these cases all calls are judged.

use super::oracle::Answer;
use super::weaker::Beginning;
use super::{Shrinking, optional};
use crate::history::{Fate, OpId};

impl Shrinking<'_> {
    /// Returns the calls of the core, in the order of their numbers, and those that may not be
    /// needed.
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

    /// Judges whether these calls are rejected if all others are left out.
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

    /// Returns the fate of each operation of the original and, for those that stay, whether it is left out, if only
    /// these calls are not.
    fn leaving_out(&self, calls: &[OpId], is_there: &dyn Fn(OpId) -> bool) -> (Vec<Fate>, Vec<bool>) {
        let frame = self.original.frame();
        let is_call = |op: OpId| calls.binary_search(&op).is_ok();
        let fate = |op: OpId| match self.before_failure(op) {
            // It cannot be observed whether an observer took effect.
            Fate::Keep if !is_call(op) && self.original.observes(op) => Fate::LeaveOut,
            _ if !is_there(op) => Fate::LeaveOut,
            fate => fate,
        };
        let fates: Vec<Fate> = frame.operations().map(fate).collect();
        let kept = frame.operations().zip(&fates).filter(|(_, fate)| **fate != Fate::LeaveOut);
        let left_out = kept.map(|(op, fate)| *fate == Fate::Keep && !is_call(op)).collect();
        (fates, left_out)
    }

    /// Returns the fate of an operation of the original if the history ends with the failing return.
    pub(super) fn before_failure(&self, op: OpId) -> Fate {
        let (frame, refused) = (self.original.frame(), self.refused);
        if frame.object(op) != frame.object(refused) || frame.call(op) > self.event {
            return Fate::LeaveOut;
        }
        let returned = frame.ret(op).is_some_and(|ret| ret <= self.event);
        if returned { Fate::Keep } else { optional(self.original, op) }
    }
}
