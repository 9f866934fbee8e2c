//! Explores schedules depth first: all of them, or those with few preemptions.
//!
//! Musuvathi and Qadeer, "Iterative context bounding for systematic testing of multithreaded
//! programs" (2007): most faults need few preemptions, and there are only polynomially many
//! schedules with few preemptions. A preemption here is a switch away from a task that is in the
//! middle of an operation and could continue. Switches between operations do not count as
//! preemptions, so all serial executions are explored even if no preemption is allowed.
//!
//! No execution is left out as redundant. Partial-order reduction would explore only one execution
//! of each class of equivalent executions, and would miss the whole class if this one execution
//! exceeds the bound on preemptions.
//!
//! # Complexity
//! With n tasks of k steps and c preemptions, O((nk)^c) schedules for each order of operations.

use super::jobs::{Job, Made};
use super::strategy::{Strategy, Tasks, Transition, View, first_choice, members, only};

/// A decision with alternatives.
#[derive(Debug)]
struct Level {
    made: Made,
    left: Left,
}

/// The alternatives of a decision that have not been tried.
#[derive(Debug)]
enum Left {
    /// The tasks of this set.
    Tasks(Tasks),
    /// The numbers that are greater than the current one and below this bound.
    Below(usize),
}

impl Left {
    fn is_empty(&self, made: &Made) -> bool {
        match (self, made) {
            (Self::Tasks(tasks), _) => *tasks == 0,
            (Self::Below(bound), made) => made.value + 1 >= *bound,
        }
    }
}

/// Explores schedules depth first, optionally with a bound on preemptions.
#[derive(Debug)]
pub(super) struct DepthFirst {
    levels: Vec<Level>,
    /// The number of levels that are fixed. Other jobs explore the alternatives at these levels.
    fixed: usize,
    /// The level that the current execution has reached.
    at: usize,
    /// The maximum number of preemptions.
    most_preemptions: Option<u32>,
    preemptions: u32,
    is_started: bool,
}

impl DepthFirst {
    pub(super) fn new(most_preemptions: Option<u32>, job: Job) -> Self {
        let levels: Vec<Level> = job.made.into_iter().map(|made| Level { made, left: Left::Tasks(0) }).collect();
        Self { fixed: levels.len(), levels, at: 0, most_preemptions, preemptions: 0, is_started: false }
    }

    fn next(&mut self, new: impl FnOnce() -> Level) -> usize {
        if self.at == self.levels.len() {
            let level = new();
            self.levels.push(level);
        }
        let value = self.levels[self.at].made.value;
        self.at += 1;
        value
    }
}

impl Strategy for DepthFirst {
    fn begin(&mut self) -> bool {
        let reached = std::mem::take(&mut self.at);
        self.preemptions = 0;
        if !std::mem::replace(&mut self.is_started, true) {
            return true;
        }
        assert!(reached == self.levels.len(), "{}", super::NOT_DETERMINISTIC);
        while self.levels.len() > self.fixed {
            let level = self.levels.last_mut().expect("at least one level is not fixed");
            if !level.left.is_empty(&level.made) {
                level.made.value = match &mut level.left {
                    Left::Tasks(tasks) => {
                        let task = tasks.trailing_zeros() as usize;
                        *tasks &= !only(task);
                        task
                    }
                    Left::Below(_) => level.made.value + 1,
                };
                return true;
            }
            self.levels.pop();
        }
        false
    }

    fn schedule(&mut self, view: &View<'_>) -> Option<usize> {
        let mut allowed = view.enabled;
        if self.most_preemptions.is_some_and(|most| self.preemptions >= most) {
            let preempted = members(allowed).filter(|task| view.preempts(*task)).map(only).sum::<Tasks>();
            allowed &= !preempted;
        }
        let first = first_choice(allowed, view.current);
        if allowed == only(first) {
            return Some(first);
        }
        let task = self.next(|| Level { made: Made::task(first), left: Left::Tasks(allowed & !only(first)) });
        assert!(allowed & only(task) != 0, "{}", super::NOT_DETERMINISTIC);
        self.preemptions += u32::from(view.preempts(task));
        Some(task)
    }

    fn choose(&mut self, bound: usize) -> usize {
        if bound == 1 {
            return 0;
        }
        let value = self.next(|| Level { made: Made::number(0), left: Left::Below(bound) });
        assert!(value < bound, "{}", super::NOT_DETERMINISTIC);
        value
    }

    fn observe(&mut self, _transition: &Transition) {}

    fn donate(&mut self) -> Option<Job> {
        // Gives away an alternative at the first level that has one, because the part of the tree
        // below that level is by far the largest.
        let at = (self.fixed..self.levels.len()).find(|at| {
            let level = &self.levels[*at];
            !level.left.is_empty(&level.made)
        })?;
        let prefix: Vec<Made> = self.levels[..at].iter().map(|level| level.made).collect();
        let level = &mut self.levels[at];
        let given = match &mut level.left {
            Left::Tasks(tasks) => {
                let task = tasks.trailing_zeros() as usize;
                *tasks &= !only(task);
                Made::task(task)
            }
            Left::Below(bound) => {
                *bound -= 1;
                Made::number(*bound)
            }
        };
        Some(Job { made: prefix.into_iter().chain([given]).collect(), ..Job::default() })
    }
}
