//! Dynamic partial-order reduction: explores one execution of each class of equivalent executions,
//! and few redundant ones.
//!
//! Two executions that differ only in the order of adjacent transitions that do not [depend](Transition::depends_on) on
//! each other have the same results and, except for the order of adjacent calls and of adjacent returns, the same
//! history. Executions that such reorderings turn into each other form a class, and one execution of each class is
//! explored. This is source-set reduction, from Abdulla, Aronis, Jonsson and Sagonas, "Source sets: a foundation for
//! optimal dynamic partial order reduction" (2017), algorithm 1 with its theorem 5.2, and sleep sets, from Godefroid's
//! thesis (1996), theorem 5.4.
//!
//! - A task that was explored at a decision sleeps while the alternatives are explored. It wakes when another task
//!   executes a transition that depends on the next transition of the sleeping task. An execution in which all enabled
//!   tasks sleep is cut off.
//! - At the end of an execution, each pair of transitions that race (they depend on each other, and could have occurred
//!   in the other order) requests an alternative at the decision before the earlier of the two.
//!
//! Departures from the paper:
//!
//! - The access of a transition is known before it is executed, but whether the transition ends with a return is
//!   known only afterward. So races are detected at the end of an execution. The exploration remembers for each
//!   sleeping task whether its next transition returns.
//! - A transition may make random choices. All of them are explored below the transition. The next
//!   transition of a sleeping task counts as returning from an operation if it returned from one
//!   with any of its choices.
//! - A lock is enabled only when the mutex is free. So a release and the next lock do not race, as no other order is
//!   possible; instead, the lock races with the previous lock, to which the release belongs (section 10 of the
//!   paper). A task that still waits for a lock at the end of an execution is checked for races as well.
//! - Where the paper's choice of an alternative is not enabled, all enabled tasks become alternatives, as in Flanagan
//!   and Godefroid's "Dynamic partial-order reduction for model checking software" (2005).
//!
//! The exploration is exhaustive if threads share data only through primitives, and if no execution is cut off by the
//! limit on steps. It cannot be combined with a bound on preemptions, because the execution that represents a class may
//! exceed the bound.
//!
//! # Complexity
//! Detecting the races of an execution of s steps with n tasks takes O(s²n). Only the steps that differ from the
//! previous execution are examined.

use super::jobs::{Job, Made};
use super::strategy::{Pending, Strategy, Tasks, Transition, View, first_choice, members, only};
use crate::primitives::AccessKind;

/// A decision with alternatives.
#[derive(Debug)]
struct Level {
    made: Made,
    /// If the decision chooses a number: the bound of the choice.
    bound: usize,
    /// If the decision chooses a number: the end of the range of numbers that this worker tries.
    limit: usize,
    enabled: Tasks,
    /// The tasks to try.
    todo: Tasks,
    /// The tasks that were tried.
    done: Tasks,
    /// The tasks that were tried and returned from an operation.
    done_returns: Tasks,
    /// The tasks that were given to other workers. When this worker later tries an alternative
    /// here, it treats these tasks as already tried.
    given: Tasks,
    /// The tasks that sleep here: executions that continue with one of them are explored elsewhere.
    sleep: Tasks,
    /// The tasks that sleep here and whose next transition returns from an operation.
    sleep_returns: Tasks,
    /// Whether the task that is being tried has returned from an operation, with at least one of
    /// its random choices.
    returned: bool,
    /// The number of the transition that follows this decision.
    step: usize,
}

impl Level {
    fn awake(&self) -> Tasks {
        self.todo & !self.done & !self.given & !self.sleep & !only(self.made.value)
    }
}

/// A transition of the current execution.
#[derive(Debug)]
struct Taken {
    transition: Transition,
    level: Option<usize>,
    /// The number of this transition among those of its task, counted from 1.
    position: u32,
}

/// Explores one execution of each class of equivalent executions.
#[derive(Debug)]
pub(super) struct Reduced {
    levels: Vec<Level>,
    fixed: usize,
    at: usize,
    is_started: bool,
    steps: Vec<Taken>,
    /// The vector clock of each step. For each task, the clock contains the number of transitions
    /// of the task that come before this step in every equivalent execution, including the step
    /// itself.
    clocks: Vec<Vec<u32>>,
    /// The first step that differs from the previous execution.
    first_new: usize,
    /// The level of the decision before the current transition, if that decision had alternatives.
    upcoming: Option<usize>,
    sleep: Tasks,
    sleep_returns: Tasks,
    pending: Vec<Pending>,
    tasks: usize,
}

impl Reduced {
    pub(super) fn new(tasks: usize, job: Job) -> Self {
        let sleeping = job.sleeping.into_iter().chain(std::iter::repeat((0, 0)));
        let levels = job.made.into_iter().zip(sleeping).map(|(made, (sleep, sleep_returns))| Level {
            made,
            bound: usize::MAX,
            limit: 0,
            enabled: Tasks::MAX,
            todo: 0,
            done: 0,
            done_returns: 0,
            given: 0,
            sleep,
            sleep_returns,
            returned: false,
            step: 0,
        });
        let levels: Vec<Level> = levels.collect();
        Self {
            fixed: levels.len(),
            levels,
            at: 0,
            is_started: false,
            steps: Vec::new(),
            clocks: Vec::new(),
            first_new: 0,
            upcoming: None,
            sleep: 0,
            sleep_returns: 0,
            pending: Vec::new(),
            tasks,
        }
    }

    fn level(&mut self, made: Made, bound: usize, enabled: Tasks) -> &mut Level {
        if self.at == self.levels.len() {
            let todo = if made.is_task { only(made.value) } else { 0 };
            self.levels.push(Level {
                made,
                bound,
                limit: bound,
                enabled,
                todo,
                done: 0,
                done_returns: 0,
                given: 0,
                sleep: self.sleep,
                sleep_returns: self.sleep_returns,
                returned: false,
                step: 0,
            });
        }
        let step = self.steps.len();
        let level = &mut self.levels[self.at];
        self.at += 1;
        level.step = step;
        assert!(level.made.is_task == made.is_task, "{}", super::NOT_DETERMINISTIC);
        level
    }

    /// Finds the races of this transition with earlier ones. Returns the clock of the transitions
    /// that must precede this transition.
    fn races(&mut self, number: usize, transition: &Transition) -> Vec<u32> {
        let me = transition.task;
        let mut before = vec![0; self.tasks];
        // Like `before`, but without the transitions that come before this one only by way of a
        // release of the mutex that this one locks. The loop below goes backward. If it reaches a
        // dependent transition that is not in this clock, and that is not such a release, the two
        // transitions race.
        let mut fixed = vec![0; self.tasks];
        let previous = self.steps[..number].iter().rposition(|step| step.transition.task == me);
        if let Some(previous) = previous {
            join(&mut before, &self.clocks[previous]);
            join(&mut fixed, &self.clocks[previous]);
        }
        for step in previous.map_or(0, |previous| previous + 1)..number {
            if self.steps[step].transition.woke & only(me) != 0 {
                join(&mut before, &self.clocks[step]);
                join(&mut fixed, &self.clocks[step]);
            }
        }
        let locks = transition.access.filter(|access| access.kind == AccessKind::Lock);
        for earlier in (0..number).rev() {
            let Taken { transition: other, position, .. } = &self.steps[earlier];
            let (task, position) = (other.task, *position);
            if task == me || !transition.depends_on(other) || (position <= before[task] && position <= fixed[task]) {
                continue;
            }
            let releases = |kind| matches!(kind, AccessKind::Unlock | AccessKind::Wait);
            let is_release = locks.is_some_and(|lock| {
                other.access.is_some_and(|access| releases(access.kind) && access.place == lock.place)
            });
            if !is_release {
                if position > fixed[task] {
                    self.race(earlier, number, transition);
                }
                join(&mut fixed, &self.clocks[earlier]);
            }
            join(&mut before, &self.clocks[earlier]);
        }
        before
    }

    /// Requests an alternative in which `later` comes before `earlier`.
    fn race(&mut self, earlier: usize, later: usize, transition: &Transition) {
        let Some(level) = self.steps[earlier].level else { return };
        if level < self.fixed {
            return;
        }
        let comes_before = |first: usize, second: usize| {
            let Taken { transition, position, .. } = &self.steps[first];
            // The clock of a step has no entry for tasks that were started after this step.
            self.clocks[second].get(transition.task).is_some_and(|known| known >= position)
        };
        // The transitions between `earlier` and `later` that can be moved before `earlier`. In the
        // alternative, they come first, in their current order; then comes `later`, and then
        // `earlier`.
        let others: Vec<usize> = (earlier + 1..later).filter(|step| !comes_before(earlier, *step)).collect();
        let (mut initials, mut seen): (Tasks, Tasks) = (0, 0);
        for (at, step) in others.iter().enumerate() {
            let task = only(self.steps[*step].transition.task);
            if seen & task == 0 && !others[..at].iter().any(|before| comes_before(*before, *step)) {
                initials |= task;
            }
            seen |= task;
        }
        let me = only(transition.task);
        if seen & me == 0 {
            let needs = |step: &usize| {
                let other = &self.steps[*step].transition;
                other.woke & me != 0 || transition.depends_on(other)
            };
            if !others.iter().any(needs) {
                initials |= me;
            }
        }
        let level = &mut self.levels[level];
        if initials & (level.todo | level.done | level.given | level.sleep) != 0 {
            return;
        }
        let possible = initials & level.enabled;
        level.todo |= match possible {
            0 => level.enabled,
            _ if possible & me != 0 => me,
            _ => only(possible.trailing_zeros() as usize),
        };
    }
}

fn join(clock: &mut [u32], other: &[u32]) {
    for (mine, others) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*others);
    }
}

impl Strategy for Reduced {
    fn begin(&mut self) -> bool {
        let reached = std::mem::take(&mut self.at);
        self.steps.clear();
        self.upcoming = None;
        (self.sleep, self.sleep_returns) = (0, 0);
        if !std::mem::replace(&mut self.is_started, true) {
            self.first_new = 0;
            return true;
        }
        assert!(reached == self.levels.len(), "{}", super::NOT_DETERMINISTIC);
        while self.levels.len() > self.fixed {
            let level = self.levels.last_mut().expect("at least one level is not fixed");
            self.first_new = level.step;
            if level.made.is_task {
                let awake = level.awake();
                level.done |= only(level.made.value) | level.given;
                // This worker does not know the results of other workers. So it assumes that the tasks that were given
                // to them return from operations.
                level.done_returns |= level.given | if level.returned { only(level.made.value) } else { 0 };
                level.given = 0;
                level.returned = false;
                if awake != 0 {
                    level.made.value = awake.trailing_zeros() as usize;
                    return true;
                }
            } else if level.made.value + 1 < level.limit {
                level.made.value += 1;
                return true;
            }
            self.levels.pop();
        }
        false
    }

    fn schedule(&mut self, view: &View<'_>) -> Option<usize> {
        self.pending.clear();
        self.pending.extend_from_slice(view.pending);
        self.tasks = self.tasks.max(view.pending.len());
        let awake = view.enabled & !self.sleep;
        if awake == 0 {
            return None;
        }
        let first = first_choice(awake, view.current);
        if awake == only(first) {
            self.upcoming = None;
            return Some(first);
        }
        let is_fixed = self.at < self.fixed;
        let level = self.level(Made::task(first), 0, view.enabled);
        assert!(is_fixed || level.enabled == view.enabled, "{}", super::NOT_DETERMINISTIC);
        let task = level.made.value;
        assert!(view.enabled & only(task) != 0, "{}", super::NOT_DETERMINISTIC);
        let (sleep, sleep_returns) = (level.sleep | level.done, level.sleep_returns | level.done_returns);
        (self.sleep, self.sleep_returns) = (sleep & !only(task), sleep_returns & !only(task));
        self.upcoming = Some(self.at - 1);
        Some(task)
    }

    fn choose(&mut self, bound: usize) -> usize {
        if bound == 1 {
            return 0;
        }
        let level = self.level(Made::number(0), bound, 0);
        if level.bound == usize::MAX {
            level.bound = bound;
        }
        assert!(level.made.value < bound && level.bound == bound, "{}", super::NOT_DETERMINISTIC);
        level.made.value
    }

    fn observe(&mut self, transition: &Transition) {
        let previous = self.steps.iter().rev().find(|step| step.transition.task == transition.task);
        let position = 1 + previous.map_or(0, |step| step.position);
        let level = self.upcoming.take();
        if let Some(level) = level {
            self.levels[level].returned |= transition.returned;
        }
        self.steps.push(Taken { transition: *transition, level, position });
        for sleeper in members(self.sleep) {
            let mut next = Transition::of(sleeper, self.pending[sleeper]);
            next.returned = self.sleep_returns & only(sleeper) != 0;
            if next.depends_on(transition) || transition.woke & only(sleeper) != 0 {
                self.sleep &= !only(sleeper);
                self.sleep_returns &= !only(sleeper);
            }
        }
    }

    fn end(&mut self, pending: &mut dyn Iterator<Item = (usize, Pending)>) {
        self.clocks.truncate(self.first_new);
        for number in self.clocks.len()..self.steps.len() {
            let transition = self.steps[number].transition;
            let mut clock = self.races(number, &transition);
            clock[transition.task] = self.steps[number].position;
            self.clocks.push(clock);
        }
        for (task, pending) in pending {
            self.races(self.steps.len(), &Transition::of(task, pending));
        }
    }

    fn donate(&mut self) -> Option<Job> {
        // The worker that gets the job cannot request alternatives at the levels above the job. So
        // all enabled tasks become alternatives at these levels.
        let has_more = |level: &Level| match level.made.is_task {
            true => level.enabled & !(level.done | level.given | level.sleep | only(level.made.value)) != 0,
            false => level.made.value + 1 < level.limit,
        };
        let at = (self.fixed..self.levels.len()).find(|at| has_more(&self.levels[*at]))?;
        for level in self.levels[self.fixed..=at].iter_mut().filter(|level| level.made.is_task) {
            level.todo = level.enabled;
        }
        let mut job = Job::default();
        for level in &self.levels[..=at] {
            job.made.push(level.made);
            job.sleeping.push((level.sleep | level.done, level.sleep_returns | level.done_returns));
        }
        let level = &mut self.levels[at];
        let given = job.made.last_mut().expect("an entry was pushed for each level");
        if level.made.is_task {
            let task = level.awake().trailing_zeros() as usize;
            // The job is treated as if it were explored later than the task that this worker is
            // trying and the tasks that were given away before. So these tasks sleep in the job.
            let earlier = only(level.made.value) | level.given;
            let (sleep, returns) = job.sleeping.last_mut().expect("an entry was pushed for each level");
            (*sleep, *returns) = (*sleep | earlier, *returns | earlier);
            level.given |= only(task);
            given.value = task;
        } else {
            level.limit -= 1;
            given.value = level.limit;
        }
        Some(job)
    }
}
