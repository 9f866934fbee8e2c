//! Graph search in bounded memory: the set of failed configurations forgets entries when it is full.
//!
//! Horn and Kroening, section 5.1, replace the set by a least-recently-used cache. This bounds the
//! memory, but can greatly increase the time (in their table 1, up to 14 % of the runs time out).
//! Forgetting is sound: the search may repeat work, but it never cuts off a configuration that it
//! has not explored. [`check_least_recent`] is their algorithm: it searches in Wing & Gong's order
//! and forgets the least recently used entry first.
//!
//! [`check`] searches in just-in-time order. Half of its memory holds the configurations that were
//! reached most recently, and the other half those from which the search failed only after the most
//! *work* (`judge/search/seen.rs` explains why). The work for a configuration is known when the
//! configuration fails. At this moment, the configuration is entered into the set.
//!
//! `cargo run --release -p trueline-bench -- bounded` compares [`check`] with
//! [`check_least_recent`] (see BENCHMARKS.md). On histories of registers and of sets, both are fast
//! even if they can remember only a tenth of all failed configurations. On histories of a queue,
//! [`check_least_recent`] visits about 50 % more configurations than a search that forgets nothing,
//! and [`check`] visits hardly more than such a search.
//!
//! The memory for the states of the specification is bounded, too. When it is full, the search keeps
//! only about half of the states: those that the current path needs, and then those that the
//! costliest entries of the set need (for [`check_least_recent`], the most recent entries). It
//! forgets the other states, together with the entries that refer to them.
//!
//! Most of the path is *folded*: the older part of the path is divided into folds of at most 1024
//! configurations. For each fold, the search keeps only the first configuration and the order of
//! the operations. When the search backtracks into a fold, it takes the same steps again from this
//! first configuration (`judge/search/depth_first.rs`). So a long accepted history takes four bytes
//! for each operation on the path, instead of a frame and a state.
//!
//! # Complexity
//! If no useful entry is forgotten, the complexity is that of the graph search. If every entry is
//! forgotten, it is that of the tree search.

use super::search::depth_first::{FEWEST_FRAMES, Memory, Room};
use super::worker::Search;
use super::{Algorithm, Budget, Config, Rules};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history with a set of the configurations from which the search failed. The set forgets old configurations
/// that took little work.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::BoundedGraph, budget))
}

/// Judges a history with a set that forgets the least recently used entries.
pub fn check_least_recent<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::BoundedGraphLru, budget))
}

/// The memory for the set if the budget has no memory limit. Only failed configurations enter this
/// set.
const DEFAULT_SET: u64 = 64 << 20;
/// The memory for the set of [`check_least_recent`] if the budget has no memory limit. Every
/// configuration enters this set, even if the history is accepted.
const DEFAULT_RECENT_SET: u64 = 1 << 20;
/// The initial memory for the states. The search can compute forgotten states again.
const FIRST_STATES: u64 = 2 << 20;
/// When the path has twice this number of unfolded frames, the older half of them is folded. If
/// there is little memory for the states, a smaller number is used (see [`BYTES_FOR_FRAME`]).
const MOST_FRAMES: u64 = 1024;
/// The memory for the states, in bytes, that is needed for each frame that stays unfolded. If there
/// is too little memory for [`MOST_FRAMES`] frames, the path is folded earlier.
const BYTES_FOR_FRAME: u64 = 1 << 10;

pub(super) fn recent_or_costly(config: &Config) -> Search {
    config.depth_first(Rules::JUST_IN_TIME, Memory::RecentOrCostly(room(config, DEFAULT_SET)))
}

pub(super) fn least_recent(config: &Config) -> Search {
    config.depth_first(Rules::NONE, Memory::RecentlyMet(room(config, DEFAULT_RECENT_SET)))
}

/// Divides the memory: at most an eighth of the limit is for the set, and at most an eighth for the
/// states. The remainder is for the history, for the path, and for rebuilding the set and the
/// states.
fn room(config: &Config, default_set: u64) -> Room {
    let share = config.budget.memory_limit().map_or(default_set, |limit| limit / 8);
    let states = share.min(FIRST_STATES);
    let frames = (states / BYTES_FOR_FRAME).min(MOST_FRAMES);
    Room {
        set: share,
        states,
        most_states: share,
        frames: usize::try_from(frames).unwrap_or(usize::MAX).max(FEWEST_FRAMES),
    }
}
