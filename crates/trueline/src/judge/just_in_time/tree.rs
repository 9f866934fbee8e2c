//! The just-in-time tree search.
//!
//! The search follows section 4 of Lowe's paper: at the return of an operation that is not
//! linearized, every sequence of other open operations is tried before the returning one, starting
//! with the empty sequence.
//!
//! The departures from the paper are those of [`wing_gong::tree`](crate::judge::wing_gong::tree).
//! Both searches try only operations that are open at the first return whose operation is not
//! linearized, so this search walks the same tree as the search of Wing & Gong. Only the order in
//! which operations are tried follows lemma 6: no operation is linearized ahead of its return until
//! the search has found this to be necessary.
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
