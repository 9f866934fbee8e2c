//! The just-in-time graph search.
//!
//! Lowe's paper, section 4: the tree search, which also remembers the configurations from which it failed.
//!
//! Departures: as [`wing_gong::graph`](crate::judge::wing_gong::graph).
//!
//! # Complexity
//! At most 2^p · B configurations between two events, for p processes and at most B states for each set of linearized
//! open operations; B is p + 1 for a register, so (N + 1) · 2^p · (p + 1) in all for N events (a test holds the search
//! to it). There is no such bound for queues.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgement;

/// Judges a history.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::JustInTimeGraph, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::Graph)
}
