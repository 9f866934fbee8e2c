//! Keeping as few units as can be.
//!
//! Units are candidates in an order; the history with all of them is rejected. The least number of them, from the first
//! on, with which it is rejected is found by doubling and bisection; the last of these is kept for good, and the search
//! goes on among those before it. Where needed ones are close together, the search begins at the last instead.

use std::time::Duration;

use hashbrown::{HashMap, HashSet};

use super::Shrinking;
use super::oracle::Answer;
use crate::history::{Fate, OpId};
use crate::judge::search::hash;

/// How much less time than a question may take the first try has.
const FIRST_TRY: u32 = 16;

/// How many units there may be between two that are needed, for the next to be looked for near the last.
const NEAR: usize = 16;

/// How many units are tried alone, where questions about many of them are too hard.
const BLOCK: usize = 8;

/// Something that could be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// All that is about the subject with this number.
    Subject(u64),
    /// An operation, as numbered in the original.
    Operation(OpId),
}

/// Something that is kept or not, as a whole.
pub(super) struct Unit {
    pub(super) step: Step,
    /// Its operations, as numbered in the history that is left.
    pub(super) operations: Vec<OpId>,
    /// Its last event.
    pub(super) last: u32,
}

/// A way to weaken a history.
#[derive(Clone)]
pub(super) struct Choice {
    /// By operation.
    pub(super) fates: Vec<Fate>,
    /// The subjects that are left out; `None` if this is not about subjects.
    pub(super) gone: Option<HashSet<u64, hash::Builder>>,
}

impl Choice {
    pub(super) fn keep(&mut self, unit: &Unit) {
        for id in &unit.operations {
            self.fates[id.index()] = Fate::Keep;
        }
        if let (Some(gone), Step::Subject(number)) = (&mut self.gone, unit.step) {
            gone.remove(&number);
        }
    }
}

/// What there is to keep or not.
struct Question<'f, 'u> {
    none: &'f Choice,
    candidates: &'f [&'u Unit],
    /// By how many of the candidates are kept.
    answers: HashMap<usize, Answer, hash::Builder>,
}

impl Question<'_, '_> {
    fn keeping(&self, kept: &[&Unit]) -> Choice {
        let mut choice = self.none.clone();
        for unit in kept {
            choice.keep(unit);
        }
        choice
    }
}

/// What makes a history small enough to be judged for sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Small {
    /// To keep few units.
    Units,
    /// Nothing does: what is not kept is still there.
    Nothing,
}

impl Shrinking<'_> {
    /// Keeps as few units as can be. `none` is the choice to keep none of them; the candidates are in an order, those
    /// that should be kept rather than others first.
    pub(super) fn minimise(&mut self, mut none: Choice, mut candidates: Vec<&Unit>, small: Small) {
        let mut gap = usize::MAX;
        // The history with all candidates is rejected, always.
        while !candidates.is_empty() {
            if self.oracle.is_out_of_time() {
                for unit in candidates {
                    self.undecided.push(unit.step);
                    none.keep(unit);
                }
                break;
            }
            let mut question = Question { none: &none, candidates: &candidates, answers: HashMap::default() };
            let (least, known) = self.least(&mut question, gap);
            if !known && small == Small::Units && candidates.len() > BLOCK {
                if let Some(few) = self.find_few(&question) {
                    candidates = few;
                    continue;
                }
            }
            let Some(last) = least.checked_sub(1) else { break };
            gap = candidates.len() - least;
            let needed = candidates[last];
            none.keep(needed);
            if !known {
                self.undecided.push(needed.step);
                self.patience = (self.patience / 2).max(self.oracle.most_time / FIRST_TRY);
            }
            candidates.truncate(last);
        }
        self.take(&none);
    }

    /// The time for a first try.
    pub(super) fn quick(&self) -> Duration {
        (self.patience / FIRST_TRY).max(Duration::from_millis(1))
    }

    /// The least number of candidates, from the first on, with which the history is rejected, as far as can be told;
    /// and whether it is known that with one less it is not.
    ///
    /// `gap` is how many were not needed before the last one that was: where it is small, the next is near too.
    fn least(&mut self, question: &mut Question<'_, '_>, gap: usize) -> (usize, bool) {
        let mut time = self.quick();
        // Rejected with `high`; not known to be with what is below `low`.
        let (mut low, mut high) = (0, question.candidates.len());
        if gap < NEAR {
            let mut step = 1;
            while low < high {
                let next = high.saturating_sub(step);
                if self.ask_for(question, next, time) == Answer::Rejected {
                    high = next;
                    step *= 2;
                } else {
                    low = next + 1;
                }
                if low > 0 {
                    break;
                }
            }
        } else {
            let mut next = 0;
            while next < high {
                if self.ask_for(question, next, time) == Answer::Rejected {
                    high = next;
                } else {
                    low = next + 1;
                    next = (2 * next).max(1);
                }
            }
        }
        loop {
            while low < high {
                let middle = low + (high - low) / 2;
                if self.ask_for(question, middle, time) == Answer::Rejected {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            // With one less, it is accepted, or nobody knows: then think longer about that.
            let Some(less) = high.checked_sub(1) else { return (0, true) };
            match question.answers.get(&less) {
                Some(Answer::Accepted) => return (high, true),
                _ if time >= self.patience || self.oracle.is_out_of_time() => return (high, false),
                _ => {}
            }
            time = (time * 4).min(self.patience);
            question.answers.remove(&less);
            if self.ask_for(question, less, time) == Answer::Rejected {
                high = less;
                let accepted = question.answers.iter().filter(|(_, answer)| **answer == Answer::Accepted);
                low = accepted.map(|(count, _)| count + 1).max().unwrap_or(0);
                question.answers.retain(|_, answer| *answer != Answer::Unknown);
            }
        }
    }

    /// Whether the history is rejected with so many of the candidates.
    fn ask_for(&mut self, question: &mut Question<'_, '_>, count: usize, time: Duration) -> Answer {
        if let Some(answer) = question.answers.get(&count) {
            return *answer;
        }
        let answer = self.ask(&question.keeping(&question.candidates[..count]), time);
        question.answers.insert(count, answer);
        answer
    }

    /// A few candidates next to one another with which the history is rejected, if such are found.
    ///
    /// Where the answer for many is not known, it mostly is for a few.
    fn find_few<'u>(&mut self, question: &Question<'_, 'u>) -> Option<Vec<&'u Unit>> {
        let quick = self.quick();
        let mut unknown = 0;
        for few in question.candidates.chunks(BLOCK) {
            match self.ask(&question.keeping(few), quick) {
                Answer::Rejected => return Some(few.to_vec()),
                Answer::Accepted => {}
                Answer::Unknown if unknown == 3 => return None,
                Answer::Unknown => unknown += 1,
            }
        }
        None
    }
}
