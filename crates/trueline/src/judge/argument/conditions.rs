//! Any object: an operation needs a state, which some operations bring about and others undo.
//!
//! All is read off the steps of the specification in the states that the core's operations may lead to. A *maker* leads to
//! a state that is needed from one that is not; a *spoiler* never leaves one that is needed. Between a spoiler and whatever
//! needs the state there is a maker. Of registers, makers are the writes of the value, as in the zones of the monitors
//! (`judge/monitor/zones.rs`); of locks, they are releases.

use super::executions::{Executions, Mask, bit, ops};
use super::known::{Known, Proposal, Rule, id, ids};
use crate::verdict::Reason;

/// The rules for states that are needed.
#[derive(Debug)]
pub(super) struct Conditions {
    /// By operation.
    users: Vec<User>,
}

/// What an operation needs.
#[derive(Debug)]
struct User {
    needs: Vec<String>,
    /// Whether the first state is one.
    at_first: bool,
    makers: Mask,
    spoilers: Mask,
}

/// The most states that are described.
const MOST_DESCRIBED: usize = 3;

impl Conditions {
    pub(super) fn new(executions: &mut Executions<'_>) -> Self {
        let mut states: Vec<u32> = executions.passed().into_iter().map(|(_, state)| state).collect();
        states.sort_unstable();
        states.dedup();
        let count = executions.count;
        let mut user = |op: usize| {
            let needed: Vec<bool> = states.iter().map(|state| !executions.next(*state, op).is_empty()).collect();
            let is_needed = |state: &u32| states.binary_search(state).is_ok_and(|place| needed[place]);
            let mut user = User { needs: Vec::new(), at_first: is_needed(&0), makers: 0, spoilers: 0 };
            if needed.iter().all(|needed| *needed) {
                return (user, Vec::new());
            }
            for other in (0..count).filter(|other| *other != op) {
                let (mut makes, mut keeps, mut is_possible) = (false, false, false);
                for (state, was_needed) in states.iter().zip(&needed) {
                    for next in executions.next(*state, other) {
                        is_possible = true;
                        makes |= !was_needed && is_needed(&next);
                        keeps |= is_needed(&next);
                    }
                }
                user.makers |= if makes { bit(other) } else { 0 };
                user.spoilers |= if is_possible && !keeps { bit(other) } else { 0 };
            }
            let needed = states.iter().copied().filter(|state| is_needed(state)).collect::<Vec<u32>>();
            (user, needed)
        };
        let users = (0..count).map(&mut user).collect::<Vec<_>>();
        let users = users.into_iter().map(|(mut user, needed)| {
            if needed.len() <= MOST_DESCRIBED {
                user.needs = needed.into_iter().map(|state| executions.describe(state)).collect();
            }
            user
        });
        Self { users: users.collect() }
    }
}

impl Rule for Conditions {
    fn propose(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for (op, User { needs, at_first, makers, spoilers }) in self.users.iter().enumerate() {
            let later = makers & known.behind(op);
            let given_later = |later: Mask| ops(later).map(move |other| (op, other));
            if !at_first {
                if *makers == 0 {
                    proposals.push(Proposal::impossible(op, Reason::NoMaker { needs: needs.clone() }, &[]));
                }
                for maker in ops(*makers) {
                    let others = makers & !bit(maker);
                    if others & !later == 0 {
                        let reason = Reason::OnlyMaker { needs: needs.clone(), later: ids(ops(others)) };
                        let given: Vec<_> = given_later(others).collect();
                        proposals.push(Proposal::before(maker, op, reason, &given));
                    }
                }
            }
            for spoiler in ops(*spoilers) {
                let earlier = makers & known.before(spoiler) & !later;
                let between = makers & !earlier & !later;
                let given_earlier = ops(earlier).map(|maker| (maker, spoiler));
                let mut given: Vec<_> = given_earlier.chain(given_later(later)).collect();
                if between == 0 {
                    let (earlier, later) = (ids(ops(earlier)), ids(ops(later)));
                    let reason = Reason::Undone { needs: needs.clone(), earlier, later };
                    proposals.push(Proposal::before(op, spoiler, reason, &given));
                } else if known.is_before(spoiler, op) && between.count_ones() == 1 {
                    given.push((spoiler, op));
                    let maker = ops(between).next().expect("there is one");
                    let (needs, earlier, later) = (needs.clone(), ids(ops(earlier)), ids(ops(later)));
                    let reason = Reason::MadeAgain {
                        needs: needs.clone(),
                        undone: id(spoiler),
                        earlier: earlier.clone(),
                        later: later.clone(),
                    };
                    proposals.push(Proposal::before(maker, op, reason, &given));
                    let reason = Reason::Between { needs, user: id(op), earlier, later };
                    proposals.push(Proposal::before(spoiler, maker, reason, &given));
                }
            }
        }
    }
}
