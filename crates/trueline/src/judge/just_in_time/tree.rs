//! The just-in-time tree search.
//!
//! Lowe's paper, section 4: at the return of an operation that is not linearized, every sequence of other open
//! operations is tried before the returning one, starting with the empty sequence.
//!
//! Departures from the paper: the same as in [`wing_gong::tree`](crate::judge::wing_gong::tree). Because configurations
//! are reduced to the operations open at a return, this search and Wing & Gong's walk the same tree. What remains of
//! lemma 6 is the order: no operation is linearized ahead of its return until that was found to be necessary.
//!
//! # Complexity
//! O(p^n) configurations in the worst case for p processes, and O(n) memory.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history by just-in-time tree search.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::JustInTimeTree, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::Tree)
}
