//! Keeps as few units as possible.
//!
//! A *unit* is a set of operations that are kept or dropped together. The units that may be dropped
//! are the *candidates*; they have a fixed order, and the history with all of them is rejected.
//! Doubling and binary search find the smallest number k such that the history with the first k
//! candidates is rejected. The k-th candidate is kept for good, and the search continues among the
//! candidates before it. If needed candidates are close together, the search for the next one
//! starts from the last remaining candidate instead of the first one.

use std::time::Duration;

use hashbrown::{HashMap, HashSet};

use super::Shrinking;
use super::oracle::Answer;
use crate::history::{Fate, OpId};
use crate::judge::search::hash;

/// The first attempt to judge a weaker history may take the maximum time divided by this number.
const FIRST_TRY: u32 = 16;

/// If fewer units than this number lie between the two needed units that were found last, the
/// search for the next needed unit starts near the last of them.
const NEAR: usize = 16;

/// The number of units in a block. If the history with many units cannot be judged in time, each
/// block of units is tried by itself.
const BLOCK: usize = 8;

/// A weakening step that can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// Drops all operations on the subject with the given number.
    Subject(u64),
    /// Drops the operation that has the given number in the original history.
    Operation(OpId),
}

/// A set of operations that are kept or dropped together.
pub(super) struct Unit {
    pub(super) step: Reduction,
    /// The operations of the unit, with their numbers in the remaining history.
    pub(super) operations: Vec<OpId>,
    /// The position of the unit's last event.
    pub(super) last: u32,
}

/// A way to weaken a history.
#[derive(Clone)]
pub(super) struct Choice {
    /// For each operation, whether it is kept, weakened or left out.
    pub(super) fates: Vec<Fate>,
    /// The subjects that are left out. `None` if this choice does not depend on subjects.
    pub(super) gone: Option<HashSet<u64, hash::Builder>>,
}

impl Choice {
    pub(super) fn keep(&mut self, unit: &Unit) {
        for id in &unit.operations {
            self.fates[id.index()] = Fate::Keep;
        }
        if let (Some(gone), Reduction::Subject(number)) = (&mut self.gone, unit.step) {
            gone.remove(&number);
        }
    }
}

/// The candidates to keep or drop, and the answers about them so far.
struct Question<'f, 'u> {
    none: &'f Choice,
    candidates: &'f [&'u Unit],
    /// For each number of kept candidates that was tried, the answer.
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

/// Determines which choices leave a history that is small enough to be judged reliably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Small {
    /// Choices that keep few units leave a small history.
    Units,
    /// No choice leaves a small history, because the operations that are not kept stay in the
    /// history in a weaker form.
    Nothing,
}

impl Shrinking<'_> {
    /// Keeps as few units as possible. `none` is the choice that keeps no unit. The candidates are
    /// ordered by preference: units that are better to keep come first.
    pub(super) fn minimize(&mut self, mut none: Choice, mut candidates: Vec<&Unit>, small: Small) {
        let mut gap = usize::MAX;
        // Invariant: the history with all candidates is rejected.
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

    /// Returns the time for the first attempt to judge a weaker history.
    pub(super) fn quick(&self) -> Duration {
        (self.patience / FIRST_TRY).max(Duration::from_millis(1))
    }

    /// Returns the smallest number of candidates, counted from the first one, with which the
    /// history is known to be rejected. Also returns whether the history with one candidate fewer
    /// is known not to be rejected.
    ///
    /// `gap` is the number of unneeded candidates between the two needed candidates that were found
    /// last. If `gap` is small, the next needed candidate is probably near the end of the list.
    fn least(&mut self, question: &mut Question<'_, '_>, gap: usize) -> (usize, bool) {
        let mut time = self.quick();
        // The history with `high` candidates is rejected. For fewer than `low` candidates, the
        // history is not known to be rejected.
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
            // The history with one candidate fewer is accepted, or the answer is unknown. If the
            // answer is unknown, allow more time.
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

    /// Judges whether the history is rejected if only the first `count` candidates are kept.
    fn ask_for(&mut self, question: &mut Question<'_, '_>, count: usize, time: Duration) -> Answer {
        if let Some(answer) = question.answers.get(&count) {
            return *answer;
        }
        let answer = self.ask(&question.keeping(&question.candidates[..count]), time);
        question.answers.insert(count, answer);
        answer
    }

    /// Returns a few adjacent candidates with which the history is rejected, or `None` if no such
    /// candidates are found.
    ///
    /// A history with a few candidates can usually be judged, even if a history with many of them cannot.
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
