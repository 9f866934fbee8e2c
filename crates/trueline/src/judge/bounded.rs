//! Graph search in bounded memory: a set of failed configurations that forgets.
//!
//! Horn and Kroening, section 5.1: a least-recently-used cache in place of the set bounds the memory, and sometimes
//! explodes in time (their table 1: 14 % and 9 % time-outs). Forgetting is sound: it repeats work, and never cuts.
//! [`check_least_recent`] is theirs: Wing & Gong's order, least recently used forgotten first.
//!
//! [`check`] keeps in half of the memory what was met lately and in the other half what took most *work* to find
//! (`judge/search/seen.rs` says why), in just-in-time order. The work below a configuration is known when it fails, which
//! is when it is entered. `cargo run --release -p trueline-bench -- bounded` compares the two (BENCHMARKS.md): on
//! registers and sets either does well with a tenth of what there is to remember; on a queue the least recently used
//! visits half again as many configurations, this one hardly more than with everything remembered.
//!
//! The states of the specification are bounded too: when they fill the memory, those that neither the path nor the
//! costlier half of what is remembered needs are forgotten, with what is remembered of them. The path itself must fit.
//!
//! # Complexity
//! As the graph search, if nothing useful is forgotten; as the tree search, if everything is.

use super::search::depth_first::Memory;
use super::worker::Search;
use super::{Algorithm, Budget, Config, Rules};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgement;

/// Judges a history, forgetting what is neither recent nor took much work to find.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::BoundedGraph, budget))
}

/// Judges a history, forgetting what was not used for longest.
pub fn check_least_recent<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::BoundedGraphLru, budget))
}

/// The memory of each, the set and the states, if no limit says otherwise.
const DEFAULT_BYTES: u64 = 64 << 20;

pub(super) fn recent_or_costly(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::RecentOrCostly(bytes(config)))
}

pub(super) fn least_recent(config: &Config) -> Search {
    config.depth_first(Rules::NONE, Memory::RecentlyMet(bytes(config)))
}

/// A quarter of the limit for the set, as much for the states; the rest is for the path, and for the two while they
/// are rebuilt.
fn bytes(config: &Config) -> u64 {
    config.budget.memory_limit().map_or(DEFAULT_BYTES, |limit| limit / 4)
}
