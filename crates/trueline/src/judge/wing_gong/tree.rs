//! The tree search of Wing & Gong.
//!
//! Figure 1 of Lowe's paper: run each minimal operation, in the order of the calls. If it returns the recorded result,
//! continue with the history without it; otherwise undo it and try the next one.
//!
//! Departures from the paper: the doubly linked list of events is replaced by a window over the operations open at the
//! first return that is not linearized, which holds the same minimal operations in the same order. To undo a step is to
//! pop the number of an immutable state.
//!
//! # Complexity
//! O(n!) configurations in the worst case, and O(n) memory. "Normally it gets lucky" (slide 13); otherwise it may not
//! end in practice.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history by Wing & Gong's tree search.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::WingGongTree, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::NONE, Memory::Tree)
}
