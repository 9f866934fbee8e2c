//! Graph search in bounded memory: the set of failed configurations forgets entries when it is full.
//!
//! Horn and Kroening, section 5.1, replace the set by a least-recently-used cache. This bounds the memory, but can make
//! the time explode (their table 1 has 14 % and 9 % time-outs). Forgetting is sound: the search may repeat work, but it
//! never cuts off a configuration that it has not explored. [`check_least_recent`] is their algorithm: it searches in
//! Wing & Gong's order and forgets the least recently used entry first.
//!
//! [`check`] searches in just-in-time order. Half of its memory holds the configurations that were reached most
//! recently, and the other half those that took the most *work* to find (`judge/search/seen.rs` explains why). The work
//! below a configuration is known when the configuration fails, which is also when it is entered into the set.
//!
//! `cargo run --release -p trueline-bench -- bounded` compares the two (see BENCHMARKS.md). On registers and sets, both
//! do well when they may remember a tenth of all failed configurations. On a queue, [`check_least_recent`] visits about
//! 50 % more configurations than a search that forgets nothing, and [`check`] visits hardly more than such a search.
//!
//! The states of the specification are bounded too. When they fill the memory, the search forgets the states that
//! neither the current path nor the costlier half of the set needs, together with the entries that refer to them. The
//! path itself must fit into the memory.
//!
//! # Complexity
//! The complexity of the graph search if nothing useful is forgotten, and that of the tree search if everything is.

use super::search::depth_first::Memory;
use super::worker::Search;
use super::{Algorithm, Budget, Config, Rules};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history with a set that forgets entries that are neither recent nor took much work to find.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::BoundedGraph, budget))
}

/// Judges a history with a set that forgets the least recently used entries.
pub fn check_least_recent<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::BoundedGraphLru, budget))
}

/// The memory for the set, and the same amount for the states, if the budget has no memory limit.
const DEFAULT_BYTES: u64 = 64 << 20;

pub(super) fn recent_or_costly(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::RecentOrCostly(bytes(config)))
}

pub(super) fn least_recent(config: &Config) -> Search {
    config.depth_first(Rules::NONE, Memory::RecentlyMet(bytes(config)))
}

/// Returns a quarter of the memory limit for the set; the states get the same. The remaining half is for the path, and
/// for the set and the states while they are rebuilt.
fn bytes(config: &Config) -> u64 {
    config.budget.memory_limit().map_or(DEFAULT_BYTES, |limit| limit / 4)
}
