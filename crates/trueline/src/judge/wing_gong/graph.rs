//! The graph search based on Wing & Gong.
//!
//! This is the tree search of Lowe's paper, section 3, but it also remembers the configurations
//! from which it failed (Horn & Kroening's algorithm 1, WGL). A configuration is a state and a set
//! of linearized operations.
//!
//! Departures from the paper: the set of linearized operations is represented by two things: the
//! first return whose operation is not linearized, and a mask over the operations that are open at
//! that return. A configuration is remembered when it has failed. In the paper, a configuration is
//! remembered as soon as it is reached, but this prunes no more configurations
//! (`judge/search/seen.rs`). Interned states replace Lowe's union-find over equality tests.
//!
//! # Complexity
//! At most one visit to each configuration: O(n · 2^k · s) for k open operations and s states at a time. Linear in the
//! length of the history for a register; exponential in the worst case for a queue.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history by Wing & Gong's search, remembering failed configurations.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::WingGongGraph, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::NONE, Memory::Graph)
}
