//! Keeps as few units as possible.
//!
//! Units are candidates in a fixed order, and the history with all of them is rejected. Doubling and binary search find
//! the smallest number of candidates, counted from the first, with which it is rejected. The last of these is kept for
//! good, and the search continues among those before it. If needed candidates are close together, the search starts
//! from the last one instead.

use std::time::Duration;

use hashbrown::{HashMap, HashSet};

use super::Shrinking;
use super::oracle::Answer;
use crate::history::{Fate, OpId};
use crate::judge::search::hash;

/// The factor by which the first attempt at a query has less time than the query may take.
const FIRST_TRY: u32 = 16;

/// The number of units between two needed ones below which the next needed one is searched for near the last.
const NEAR: usize = 16;

/// The number of units in a block. If queries about many units are too hard, each block is tried by itself.
const BLOCK: usize = 8;

/// A weakening step that could be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// Drops all operations on the subject with this number.
    Subject(u64),
    /// Drops an operation, as numbered in the original.
    Operation(OpId),
}

/// A set of operations that are kept or dropped together.
pub(super) struct Unit {
    pub(super) step: Reduction,
    /// The operations of the unit, as numbered in the remaining history.
    pub(super) operations: Vec<OpId>,
    /// The position of its last event.
    pub(super) last: u32,
}

/// A way to weaken a history.
#[derive(Clone)]
pub(super) struct Choice {
    /// The fate of each operation.
    pub(super) fates: Vec<Fate>,
    /// The subjects that are left out; `None` if the choice is not about subjects.
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

/// The candidates to keep or drop, and the answers so far.
struct Question<'f, 'u> {
    none: &'f Choice,
    candidates: &'f [&'u Unit],
    /// The answers, by the number of candidates that are kept.
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

/// The choices that make a history small enough to be judged reliably.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Small {
    /// Keeping few units.
    Units,
    /// No choice: operations that are not kept stay in the history in a weaker form.
    Nothing,
}

impl Shrinking<'_> {
    /// Keeps as few units as possible. `none` is the choice that keeps none of them. The candidates are ordered by
    /// preference: units that are better to keep come first.
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

    /// Returns the time for a first attempt.
    pub(super) fn quick(&self) -> Duration {
        (self.patience / FIRST_TRY).max(Duration::from_millis(1))
    }

    /// Returns the smallest number of candidates, counted from the first, with which the history is rejected, as far as
    /// can be determined; and whether it is known that the history is not rejected with one less.
    ///
    /// `gap` is the number of candidates that were not needed before the last needed one: if it is small, the next
    /// needed one is near too.
    fn least(&mut self, question: &mut Question<'_, '_>, gap: usize) -> (usize, bool) {
        let mut time = self.quick();
        // The history is rejected with `high` candidates; it is not known to be rejected with fewer than `low`.
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
            // With one less, the history is accepted or the answer is unknown; if it is unknown, allow more time.
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

    /// Judges whether the history is rejected with this many of the candidates.
    fn ask_for(&mut self, question: &mut Question<'_, '_>, count: usize, time: Duration) -> Answer {
        if let Some(answer) = question.answers.get(&count) {
            return *answer;
        }
        let answer = self.ask(&question.keeping(&question.candidates[..count]), time);
        question.answers.insert(count, answer);
        answer
    }

    /// Returns a few adjacent candidates with which the history is rejected, if such are found.
    ///
    /// If the answer for many candidates is unknown, the answer for a few of them is usually known.
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
