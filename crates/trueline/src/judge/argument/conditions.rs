//! Rules for any object: an operation needs a state, which some operations produce and others undo.
//!
//! The rules are derived from the steps of the specification in the states that the core's operations may lead to. An
//! operation needs one of the states in which it is possible. A *maker* leads from some other state to one of these
//! states; a *spoiler* never leads to one of them. Between a spoiler and a later operation that needs one of these
//! states, there must be a maker. For a read of a register, the makers are the writes of its value, as in the zones of
//! the monitors (`judge/monitor/zones.rs`); for an acquire of a lock, the makers are the releases.

use super::executions::{Executions, Mask, bit, ops};
use super::prover::{Known, Proposal, Rule, id, ids};
use crate::verdict::Reason;

/// The rules for states that operations need.
#[derive(Debug)]
pub(super) struct Conditions {
    /// The states that each operation needs.
    users: Vec<User>,
    /// A description of the initial state.
    first: String,
    /// Whether all states that the operations may lead to were considered.
    knows_all_states: bool,
}

/// The states that an operation needs, and the operations that produce and undo them.
#[derive(Debug)]
struct User {
    needs: Vec<String>,
    /// Whether the initial state is one of the states that the operation needs.
    at_first: bool,
    makers: Mask,
    spoilers: Mask,
    /// The operations that never lead to a state that the operation needs, and that are possible only in such states.
    /// They may include the operation itself, unlike `spoilers`.
    consumers: Mask,
}

/// The maximum number of needed states that are described. If an operation needs more states, none
/// of them is described.
const MOST_DESCRIBED: usize = 3;

impl Conditions {
    pub(super) fn new(executions: &mut Executions<'_>) -> Self {
        let (mut states, is_complete) = executions.passed();
        let mut knows_all_states = is_complete;
        if !is_complete {
            if let Some(all) = executions.states() {
                (states, knows_all_states) = (all, true);
            }
        }
        let count = executions.count;
        // For each operation and each state, whether the operation is possible in the state.
        let needed: Vec<Vec<bool>> =
            (0..count).map(|op| states.iter().map(|state| !executions.next(*state, op).is_empty()).collect()).collect();
        let users = (0..count).map(|op| User::new(executions, &states, &needed, op)).collect();
        Self { users, first: executions.describe(0), knows_all_states }
    }
}

impl User {
    fn new(executions: &mut Executions<'_>, states: &[u32], needed: &[Vec<bool>], op: usize) -> Self {
        let own = &needed[op];
        let is_needed = |state: &u32| states.binary_search(state).is_ok_and(|place| own[place]);
        let mut user = Self { needs: Vec::new(), at_first: is_needed(&0), makers: 0, spoilers: 0, consumers: 0 };
        if own.iter().all(|needed| *needed) {
            return user;
        }
        let described: Vec<u32> = states.iter().copied().filter(is_needed).collect();
        if described.len() <= MOST_DESCRIBED {
            user.needs = described.into_iter().map(|state| executions.describe(state)).collect();
        }
        for (other, theirs) in needed.iter().enumerate() {
            let (mut makes, mut keeps, mut is_possible) = (false, false, false);
            for (state, was_needed) in states.iter().zip(own) {
                for next in executions.next(*state, other) {
                    is_possible = true;
                    makes |= !was_needed && is_needed(&next);
                    keeps |= is_needed(&next);
                }
            }
            let spoils = is_possible && !keeps;
            let needs_it = theirs.iter().zip(own).all(|(theirs, own)| *own || !theirs);
            user.makers |= if makes && other != op { bit(other) } else { 0 };
            user.spoilers |= if spoils && other != op { bit(other) } else { 0 };
            user.consumers |= if spoils && needs_it { bit(other) } else { 0 };
        }
        user
    }

    /// Proposes claims that follow from counting the consumers of `op`: the operations that need
    /// one of the states that `op` needs, and undo it. Each consumer requires a maker of its own,
    /// except that one consumer may use the initial state.
    fn propose_used_up(&self, op: usize, known: &Known, proposals: &mut Vec<Proposal>) {
        let Self { needs, at_first, makers, consumers, .. } = self;
        let (needs, at_first) = (needs.clone(), *at_first);
        let chances = |makers: Mask| makers.count_ones() + u32::from(at_first);
        let certain: Vec<usize> = ops(*consumers).filter(|other| known.is_certain(*other)).collect();
        if certain.contains(&op) && certain.len() > chances(*makers) as usize {
            let (used, makers) = (ids(certain), ids(ops(*makers)));
            let reason = Reason::UsedTooOften { needs: needs.clone(), at_first, used, makers };
            proposals.push(Proposal::impossible(op, reason, &[]));
        }
        let used = consumers & known.before(op);
        let later = makers & known.behind(op);
        let left = makers & !later;
        if used == 0 || known.is_before(op, op) {
            return;
        }
        let given: Vec<_> = ops(used).map(|other| (other, op)).chain(ops(later).map(|other| (op, other))).collect();
        let reason = Reason::UsedUp {
            needs,
            at_first,
            user: id(op),
            used: ids(ops(used)),
            makers: ids(ops(left)),
            later: ids(ops(later)),
        };
        if used.count_ones() >= chances(left) {
            proposals.push(Proposal::impossible(op, reason, &given));
        } else if used.count_ones() + 1 == chances(left) {
            for maker in ops(left & !known.before(op)) {
                proposals.push(Proposal::before(maker, op, reason.clone(), &given));
            }
            for other in ops(consumers & !used & !bit(op)).filter(|_| known.is_certain(op)) {
                proposals.push(Proposal::before(op, other, reason.clone(), &given));
            }
        }
    }
}

impl Rule for Conditions {
    fn is_sound(&self) -> bool {
        self.knows_all_states
    }

    fn propose(&self, known: &Known, proposals: &mut Vec<Proposal>) {
        for (op, user) in self.users.iter().enumerate() {
            let User { needs, at_first, makers, spoilers, .. } = user;
            let later = makers & known.behind(op);
            let given_later = |later: Mask| ops(later).map(move |other| (op, other));
            if !at_first {
                if *makers == 0 {
                    proposals.push(Proposal::impossible(
                        op,
                        Reason::NoMaker { needs: needs.clone(), first: self.first.clone() },
                        &[],
                    ));
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
                if between == 0 && known.is_certain(op) {
                    let (earlier, later) = (ids(ops(earlier)), ids(ops(later)));
                    let reason = Reason::Undone { needs: needs.clone(), earlier, later };
                    proposals.push(Proposal::before(op, spoiler, reason, &given));
                } else if between != 0 && known.is_before(spoiler, op) && between.count_ones() == 1 {
                    given.push((spoiler, op));
                    let maker =
                        ops(between).next().expect("exactly one operation is left that can come between the two");
                    let (needs, earlier, later) = (needs.clone(), ids(ops(earlier)), ids(ops(later)));
                    let reason = Reason::MadeAgain {
                        needs: needs.clone(),
                        undone: id(spoiler),
                        earlier: earlier.clone(),
                        later: later.clone(),
                    };
                    proposals.push(Proposal::before(maker, op, reason, &given));
                    if known.is_certain(op) {
                        let reason = Reason::Between { needs, user: id(op), earlier, later };
                        proposals.push(Proposal::before(spoiler, maker, reason, &given));
                    }
                }
            }
            user.propose_used_up(op, known, proposals);
        }
    }
}
