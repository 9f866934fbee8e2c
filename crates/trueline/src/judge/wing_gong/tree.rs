//! The tree search of Wing & Gong.
//!
//! The search follows figure 1 of Lowe's paper: try the minimal operations in the order of their
//! calls. Run an operation; if it returns its recorded result, search the rest of the history. If
//! the result differs, or if the rest cannot be linearized, undo the operation and try the next
//! one.
//!
//! Departures from the paper: the doubly linked list of events is replaced by a window over the
//! operations that are open at the first return whose operation is not linearized. This window
//! holds the same minimal operations in the same order. States are immutable and numbered, so a
//! step is undone by popping the number of a state.
//!
//! # Complexity
//! O(n!) configurations in the worst case, and O(n) memory. "Normally it gets lucky" (slide 13 of
//! Lowe's talk); otherwise, the search may take too long to be practical.

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
