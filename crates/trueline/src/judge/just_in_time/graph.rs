//! The just-in-time graph search.
//!
//! This is the tree search of Lowe's paper, section 4, but it also remembers the configurations
//! from which it failed.
//!
//! The departures from the paper are those of [`wing_gong::graph`](crate::judge::wing_gong::graph).
//!
//! # Complexity
//! At most 2^p · B configurations between two events, for p processes and at most B states for each set of linearized
//! open operations. For a register, B is p + 1, which gives (N + 1) · 2^p · (p + 1) configurations in total for N
//! events (a test checks this bound). There is no such bound for queues.

use crate::history::History;
use crate::judge::search::depth_first::Memory;
use crate::judge::worker::Search;
use crate::judge::{Algorithm, Budget, Config, Rules};
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history by just-in-time search, remembering failed configurations.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    crate::judge::check(spec, history, &Config::plain(Algorithm::JustInTimeGraph, budget))
}

pub(in crate::judge) fn search(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::Graph)
}
