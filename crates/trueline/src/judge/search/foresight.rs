//! Looking ahead: finds configurations in which it is certain that some later operation cannot have its recorded
//! result.
//!
//! This is the full argument for the rule [`Rules::foresight`](super::rules::Rules::foresight).
//!
//! A *goal* is an operation with a recorded result for which the specification can decide when it
//! is out of reach ([`Spec::is_goal`]). Take a configuration in which a goal is not linearized, and
//! a *completion* of the configuration, that is, a continuation that passes the goal's return. The
//! completion contains the goal. Before the goal, it contains operations on the goal's key that are
//! *left*, that is, not linearized in the configuration and called before the goal's return.
//! - If these operations include no blind write, the goal is within reach of the current state
//!   ([`Spec::reaches`]).
//! - Otherwise consider the last blind write. As far as this key is concerned, the write leads to
//!   the same state from every state. The operations after the write lead from that state to the
//!   goal, through states from which the goal is within reach. The blind write and these operations
//!   are a *plan*. To find a plan, the search tries the operations in different orders, regardless
//!   of the order of their calls.
//!
//! So a configuration is *doomed* if the goal is out of reach and no plan exists: the configuration
//! cannot pass the goal's return. If the search for a plan takes too long, a plan is assumed to
//! exist.
//!
//! A doomed configuration may still pass returns *before* the goal's. So a search that finds out
//! whether the return at some level can be passed must not consider goals after that level.
//! [`depth_first`] drops doomed configurations. It first searches for a configuration that passes
//! the last return. If this search drops a configuration, and fails, it searches for configurations
//! that pass an earlier return, until the first return that cannot be passed is known. If all
//! configurations that reached this return were dropped, it searches once more for a configuration
//! that reaches this return, and considers only goals before this return.
//!
//! This rule is needed for operations that append to strings (`spec/kv.rs`): the place of an append becomes known only
//! when a read that sees it returns, long after the append. Without foresight, a depth-first search puts the append
//! somewhere, runs into a dead end at the read, and tries every order of all operations in between. With foresight, a
//! wrong order is a dead end at once.
//!
//! # Complexity
//! For each configuration with k open operations, at most k + [`GOALS`] goals are considered. Each
//! goal takes O(1) if it is within reach of the state, O(p) if its last plan, which has p
//! operations, is still possible, and at most O([`STEPS`]) otherwise.
//!
//! [`Spec::is_goal`]: crate::spec::Spec::is_goal
//! [`Spec::reaches`]: crate::spec::Spec::reaches
//! [`depth_first`]: super::depth_first

use super::automaton::{Automaton, NextStates, StateId};
use super::budget::Meter;
use super::hash;
use super::mask::Mask;
use super::problem::{ClassId, Classes, Problem};
use super::seen::Key;
use super::window::Window;
use crate::verdict::LimitKind;

/// The number of goals that are considered in each configuration, in addition to one goal for each
/// open operation. Most of the goals that return soon are open themselves, or depend on operations
/// that are open.
const GOALS: usize = 2;
/// The maximum number of operations that have not been called yet and are considered for a plan. If
/// there are more such operations, a plan is assumed to exist.
const CHOICES: usize = 48;
/// The maximum number of steps of the specification that are tried in search of a plan.
const STEPS: u32 = 512;

/// The goals of a problem and the operations that may lead to them, grouped by key.
#[derive(Clone, Debug)]
pub(crate) struct Foresight {
    /// For each operation, the number of its key. Empty if there is only one key, or no key.
    key: Vec<u32>,
    of_key: Vec<OfKey>,
}

#[derive(Clone, Debug, Default)]
struct OfKey {
    /// The goals, in the order of their returns.
    goals: Vec<u32>,
    /// The operations that may change the state, in the order of their calls.
    changes: Vec<Change>,
}

/// An operation that may change the state.
#[derive(Clone, Copy, Debug)]
struct Change {
    op: u32,
    overwrites: bool,
}

impl Foresight {
    /// Returns the goals of a problem. Returns `None` if there is no goal to look ahead to, or if
    /// only some operations have keys.
    pub(crate) fn new(problem: &Problem, classes: &Classes, one_key: bool) -> Option<Self> {
        let is_goal = |op: &&u32| classes.is_goal(problem.class(**op));
        problem.returns.iter().find(is_goal)?;
        // If only some operations have keys, an operation without a key may affect any key, so nothing can be foreseen.
        let (key, keys) = if one_key { (Vec::new(), 1) } else { classes.number_keys(&problem.class)? };
        let mut foresight = Self { key, of_key: vec![OfKey::default(); keys] };
        for &op in problem.returns.iter().filter(is_goal) {
            let key = foresight.key(op);
            foresight.of_key[key].goals.push(op);
        }
        for (op, &class) in (0..).zip(&problem.class).filter(|(_, class)| !classes.observes(**class)) {
            let key = foresight.key(op);
            foresight.of_key[key].changes.push(Change { op, overwrites: classes.overwrites(class, true) });
        }
        Some(foresight)
    }

    fn key(&self, op: u32) -> usize {
        self.key.get(op as usize).map_or(0, |key| *key as usize)
    }

    /// Returns the approximate number of bytes that the lists take.
    pub(crate) fn bytes(&self) -> usize {
        let of_key = |of: &OfKey| {
            size_of::<OfKey>() + of.goals.capacity() * size_of::<u32>() + of.changes.capacity() * size_of::<Change>()
        };
        self.key.capacity() * size_of::<u32>() + self.of_key.iter().map(of_key).sum::<usize>()
    }
}

/// A configuration, together with the window at its level.
pub(crate) struct View<'v, M> {
    pub(crate) problem: &'v Problem,
    pub(crate) window: &'v Window,
    pub(crate) configuration: &'v Key<M>,
}

impl<M: Mask> View<'_, M> {
    /// Returns whether `op` is not linearized and can still be linearized.
    fn is_left(&self, op: u32) -> bool {
        let Self { problem, configuration: Key { level, mask, .. }, .. } = self;
        if op >= problem.called[*level as usize] {
            // An operation that is called after the return at the current level has no slot yet.
            return true;
        }
        if problem.returns_never(op) {
            let optional = &problem.optional[problem.place[op as usize] as usize];
            return optional.members[mask.field(optional.field) as usize..].contains(&op);
        }
        problem.level[op as usize] >= *level && !mask.has(problem.slot(op))
    }
}

/// The plans that have been found during a search.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    /// For each goal, the plan that was found last: a blind write and the operations that lead from it to the goal.
    by_goal: hashbrown::HashMap<u32, Box<[u32]>, hash::Builder>,
    /// Scratch space: the operations that a plan may use.
    choices: Vec<Change>,
    /// Scratch space: the plan so far.
    plan: Vec<u32>,
    /// Scratch space: the number of steps that may still be tried.
    steps: u32,
}

impl Plans {
    /// Looks for a goal that dooms the configuration, that is, an operation that can no longer have
    /// its recorded result. Returns the level of the goal's return, or `None` if no such goal is
    /// found. Considers only a few goals: those that have the key of `op` and return next, at
    /// levels below `until`.
    pub(crate) fn doom<M: Mask>(
        &mut self,
        foresight: &Foresight,
        view: &View<'_, M>,
        automaton: &mut Automaton<'_>,
        op: u32,
        until: u32,
        meter: &mut Meter,
    ) -> Result<Option<u32>, LimitKind> {
        let View { problem, window, configuration: Key { level, state, .. } } = view;
        let of_key = &foresight.of_key[foresight.key(op)];
        let level_of = |goal: u32| problem.level[goal as usize];
        let next = of_key.goals.partition_point(|goal| level_of(*goal) < *level);
        let goals = of_key.goals[next..].iter().copied().take_while(|goal| level_of(*goal) < until);
        for goal in goals.filter(|goal| view.is_left(*goal)).take(GOALS + window.open().len()) {
            let is_possible = automaton.reaches(*state, problem.class(goal))
                || self.by_goal.get(&goal).is_some_and(|plan| plan.iter().all(|op| view.is_left(*op)))
                || self.find_plan(of_key, view, automaton, goal, meter)?;
            if !is_possible {
                return Ok(Some(level_of(goal)));
            }
        }
        Ok(None)
    }

    /// Returns `false` if no plan for `goal` exists, and `true` if a plan exists or may exist.
    fn find_plan<M: Mask>(
        &mut self,
        of_key: &OfKey,
        view: &View<'_, M>,
        automaton: &mut Automaton<'_>,
        goal: u32,
        meter: &mut Meter,
    ) -> Result<bool, LimitKind> {
        // Finding a plan may take a long time even for a single configuration, so check the clock.
        meter.look_at_clock()?;
        let problem = view.problem;
        if !self.find_choices(&of_key.changes, view, goal) {
            return Ok(true);
        }
        let goal_class = problem.class(goal);
        self.steps = STEPS;
        for choice in 0..self.choices.len() {
            let Change { op: write, overwrites } = self.choices[choice];
            if !overwrites {
                continue;
            }
            // A blind write leads to the same state from every state, so the initial state can be
            // used here.
            let NextStates::One(state) = automaton.step(StateId::INITIAL, problem.class(write), meter)? else {
                return Ok(true);
            };
            if !automaton.reaches(state, goal_class) {
                continue;
            }
            self.plan.clear();
            self.plan.push(write);
            match self.extend_plan(problem, automaton, state, goal_class, meter)? {
                Planned::Found => {
                    meter.allocate(self.plan.len() * size_of::<u32>() + 2 * size_of::<Box<[u32]>>())?;
                    if let Some(old) = self.by_goal.insert(goal, self.plan.as_slice().into()) {
                        meter.free(old.len() * size_of::<u32>() + 2 * size_of::<Box<[u32]>>());
                    }
                    return Ok(true);
                }
                Planned::Failed => {}
                Planned::GaveUp => return Ok(true),
            }
        }
        Ok(false)
    }

    /// Lists the operations that a plan for `goal` may use. Returns `false` if there are too many
    /// of them.
    fn find_choices<M: Mask>(&mut self, changes: &[Change], view: &View<'_, M>, goal: u32) -> bool {
        let View { problem, window, configuration } = view;
        let called = problem.called[configuration.level as usize];
        let called_before_goal = problem.called[problem.level[goal as usize] as usize];
        let place = |op: u32| changes.partition_point(|change| change.op < op);
        let to_come = &changes[place(called)..place(called_before_goal)];
        if to_come.len() > CHOICES {
            return false;
        }
        self.choices.clear();
        self.choices.extend_from_slice(to_come);
        let never_returning = problem.optional.iter().flat_map(|optional| &optional.members);
        for &op in window.open().iter().chain(never_returning.filter(|op| **op < called)) {
            // Operations that are not in `changes` have another key, or do not change the state.
            if let Ok(place) = changes.binary_search_by_key(&op, |change| change.op) {
                if view.is_left(op) {
                    self.choices.push(changes[place]);
                }
            }
        }
        true
    }

    /// Extends the plan until `goal` is possible. `state` is the state after the plan so far.
    fn extend_plan(
        &mut self,
        problem: &Problem,
        automaton: &mut Automaton<'_>,
        state: StateId,
        goal: ClassId,
        meter: &mut Meter,
    ) -> Result<Planned, LimitKind> {
        if automaton.step(state, goal, meter)? != NextStates::None {
            return Ok(Planned::Found);
        }
        for choice in 0..self.choices.len() {
            let Change { op, overwrites } = self.choices[choice];
            if overwrites || self.plan.contains(&op) {
                continue;
            }
            if self.steps == 0 {
                return Ok(Planned::GaveUp);
            }
            self.steps -= 1;
            let next = match automaton.step(state, problem.class(op), meter)? {
                NextStates::None => continue,
                NextStates::One(next) => next,
                NextStates::Several(_) => return Ok(Planned::GaveUp),
            };
            if next == state || !automaton.reaches(next, goal) {
                continue;
            }
            self.plan.push(op);
            match self.extend_plan(problem, automaton, next, goal, meter)? {
                Planned::Failed => {
                    self.plan.pop();
                }
                found_or_gave_up => return Ok(found_or_gave_up),
            }
        }
        Ok(Planned::Failed)
    }
}

/// The result of a search for a plan.
enum Planned {
    Found,
    /// No plan exists.
    Failed,
    /// It is not known whether a plan exists.
    GaveUp,
}
