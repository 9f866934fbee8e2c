//! The tree search of Wing & Gong.
//!
//! Figure 1 of Lowe's paper: for each minimal operation in the order of the calls, run it; if it gives the recorded
//! result, go on with the history without it; else undo it, and try the next.
//!
//! Departures: the doubly linked list of events is a window over the operations open at the first return that is not
//! linearized, which holds the same minimal operations in the same order; undoing is popping the number of an
//! immutable state.
//!
//! # Complexity
//! O(n!) configurations at worst, O(n) memory. "Normally it gets lucky" (slide 13); when not, it may not end.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgement;

/// Judges a history.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::WingGongTree, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::NONE, Memory::Tree)
}
