//! The linear tester: breadth first, event by event.
//!
//! Lowe's slides *Testing for Linearizability*, slides 6 and 7, and the remark on breadth-first search in section 4 of
//! the paper: the history is read once, with the set of all configurations that agree with it so far. At the return of
//! an operation, each configuration that has linearized it goes on; in each other one, pending calls are linearized in
//! every order that lets the returning operation be next. A set that becomes empty ends the history there.
//!
//! The slides compare results when an operation returns: a configuration may hold an operation that was linearized
//! with a wrong result, until its return ([`check_at_return`]). Here the recorded result is known from the start, and
//! a wrong one is not taken up at all ([`check`]). Departures: wrong results of one operation are not told apart,
//! and where a history fails is said of the configurations with right results, so that both forms agree on it.
//!
//! On its own it uses just-in-time linearization and nothing else, like the paper; with
//! [`Rules::ALL`](super::Rules::ALL), the one rule that is made for it is dominance.
//!
//! # Complexity
//! Let c be the largest number of configurations between two returns, k the most open operations: O(n·c·k) steps and
//! O(c) memory for the sets, and a link for each step on a way that still counts.

use super::search::breadth_first::{Compare, Options};
use super::worker::Search;
use super::{Algorithm, Budget, Config, Rules};
use crate::history::History;
use crate::spec::Spec;
use crate::verdict::Judgement;

/// Judges a history breadth first, comparing results ahead.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::Linear, budget))
}

/// Judges a history breadth first, comparing results when operations return, as the slides do.
pub fn check_at_return<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
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
