//! The linear tester: a breadth-first search, event by event.
//!
//! The search follows Lowe's slides *Testing for Linearizability*, slides 6 and 7, and the remark
//! on breadth-first search in section 4 of the paper. It reads the history once, and keeps the set
//! of all configurations that agree with the history so far. At the return of an operation, each
//! configuration that has linearized the operation stays in the set. Each other configuration is
//! replaced by its continuations in which any number of other open operations have been linearized,
//! in any order, and then the returning operation. If the set becomes empty, the history is rejected
//! at that return.
//!
//! The slides compare results when an operation returns: until then, a configuration may contain an
//! operation that was linearized with a result other than the recorded one ([`check_at_return`]).
//! [`check`] instead uses the recorded result, which is known from the start, and never adds such a
//! configuration. [`check_at_return`] departs from the slides in two ways: it does not distinguish
//! different wrong results of one operation, and it determines the first failing return from the
//! configurations with correct results only, so that both forms report the same return.
//!
//! By default the search uses just-in-time linearization and no other rule, like the paper. Of the other rules in
//! [`Rules::ALL`](super::Rules::ALL), dominance is the one that is designed for this search.
//!
//! # Complexity
//! Let c be the largest number of configurations between two returns, and k the largest number of open operations. The
//! search takes O(n·c·k) steps, O(c) memory for the sets, and a link for each step on a path to a configuration that is
//! still in the set.

use super::search::breadth_first::{Compare, Options};
use super::worker::Search;
use super::{Algorithm, Budget, Config, Rules};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgment;

/// Judges a history breadth first, comparing results when operations are linearized.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::Linear, budget))
}

/// Judges a history breadth first, comparing results when operations return, as the slides do.
pub fn check_at_return<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::LinearAtReturn, budget))
}

pub(super) fn ahead(config: &Config) -> Search {
    search(config, Compare::Ahead)
}

pub(super) fn at_return(config: &Config) -> Search {
    search(config, Compare::AtReturn)
}

fn search(config: &Config, compare: Compare) -> Search {
    Search::BreadthFirst(Options { rules: config.rules_or(Rules::JUST_IN_TIME), compare })
}
