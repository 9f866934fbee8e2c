//! The just-in-time tree search.
//!
//! Lowe's paper, section 4: at a return that is not linearized, every sequence of other open operations is tried
//! before the returning one, the empty sequence first.
//!
//! Departures: as [`wing_gong::tree`](crate::judge::wing_gong::tree). With configurations reduced to what is open at a
//! return, the two searches walk the same tree; what is left of lemma 6 is the order: nothing is linearized ahead
//! of its return before that was found to be needed.
//!
//! # Complexity
//! O(p^n) for p processes at worst, O(n) memory.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgement;

/// Judges a history.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::JustInTimeTree, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::Tree)
}
