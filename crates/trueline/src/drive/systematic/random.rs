//! Random schedules, for programs that are too large to be explored exhaustively.

use super::schedule::Schedule;
use super::strategy::{Strategy, Tasks, Transition, View, first_choice, members, only};
use crate::drive::Random;

/// Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler with
/// probabilistic guarantees of finding bugs" (2010).
///
/// The task with the highest priority runs; at d-1 random steps, the current task gets the lowest priority. A fault of
/// depth d in a program of n tasks and k steps is found with a probability of at least 1/(n k^(d-1)). k is estimated as
/// the maximum number of steps of the executions so far.
#[derive(Debug)]
pub(super) struct Pct {
    random: Random,
    depth: u32,
    /// The number of threads of the program.
    tasks: usize,
    priorities: Vec<u64>,
    changes: Vec<u64>,
    steps: u64,
    most_steps: u64,
    lowest: u64,
}

impl Pct {
    pub(super) fn new(tasks: usize, depth: u32, seed: u64) -> Self {
        let (priorities, changes) = (vec![0; tasks], Vec::new());
        let depth = depth.max(1);
        Self { random: Random::new(seed), depth, tasks, priorities, changes, steps: 0, most_steps: 1, lowest: 0 }
    }

    fn priority(&mut self) -> u64 {
        (self.random.bits() >> 1) | 1 << 62
    }
}

impl Strategy for Pct {
    fn begin(&mut self) -> bool {
        self.most_steps = self.most_steps.max(self.steps);
        (self.steps, self.lowest) = (0, u64::from(self.depth));
        self.priorities.truncate(self.tasks);
        for task in 0..self.tasks {
            self.priorities[task] = self.priority();
        }
        // This entry belongs to the main task, and is never used.
        self.priorities.push(0);
        self.changes.clear();
        for _ in 1..self.depth {
            self.changes.push(self.random.bits() % self.most_steps);
        }
        true
    }

    fn schedule(&mut self, view: &View<'_>) -> Option<usize> {
        // Assigns priorities to tasks that other tasks have started.
        while self.priorities.len() < view.pending.len() {
            let priority = self.priority();
            self.priorities.push(priority);
        }
        if self.changes.contains(&self.steps) {
            if let Some(current) = view.current {
                self.lowest -= 1;
                self.priorities[current] = self.lowest;
            }
        }
        self.steps += 1;
        members(view.enabled).max_by_key(|task| self.priorities[*task])
    }

    fn choose(&mut self, bound: usize) -> usize {
        self.random.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
    }

    fn observe(&mut self, _transition: &Transition) {}
}

/// A uniform random walk: a task that has more steps left is more likely to run, so that all schedules are about
/// equally likely.
///
/// If tasks take k1, k2, .. steps in every execution, choosing a task in proportion to its remaining steps gives all
/// their interleavings the same probability. The numbers of steps are estimated from the previous execution.
#[derive(Debug)]
pub(super) struct Uniform {
    random: Random,
    expected: Vec<u32>,
    done: Vec<u32>,
    is_started: bool,
}

impl Uniform {
    pub(super) fn new(tasks: usize, seed: u64) -> Self {
        Self { random: Random::new(seed), expected: vec![1; tasks], done: vec![0; tasks], is_started: false }
    }
}

impl Strategy for Uniform {
    fn begin(&mut self) -> bool {
        if std::mem::replace(&mut self.is_started, true) {
            self.expected.clone_from(&self.done);
        }
        self.done.fill(0);
        true
    }

    fn schedule(&mut self, view: &View<'_>) -> Option<usize> {
        if self.done.len() < view.pending.len() {
            self.done.resize(view.pending.len(), 0);
            self.expected.resize(view.pending.len(), 1);
        }
        let left = |task: usize| self.expected[task].saturating_sub(self.done[task]).max(1);
        let total: u32 = members(view.enabled).map(left).sum();
        let mut drawn = self.random.below(total);
        members(view.enabled).find(|task| {
            let left = left(*task);
            let is_it = drawn < left;
            drawn = drawn.saturating_sub(left);
            is_it
        })
    }

    fn choose(&mut self, bound: usize) -> usize {
        self.random.below(u32::try_from(bound).unwrap_or(u32::MAX)) as usize
    }

    fn observe(&mut self, transition: &Transition) {
        self.done[transition.task] += 1;
    }
}

/// Follows one schedule, given by its name.
#[derive(Debug)]
pub(super) struct Replay {
    schedule: Schedule,
    decisions: u32,
    is_done: bool,
}

impl Replay {
    pub(super) fn new(schedule: Schedule) -> Self {
        Self { schedule, decisions: 0, is_done: false }
    }
}

impl Strategy for Replay {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.is_done, true)
    }

    fn schedule(&mut self, view: &View<'_>) -> Option<usize> {
        let plainest = first_choice(view.enabled, view.current);
        let is_enabled = |task: &usize| *task < Tasks::BITS as usize && view.enabled & only(*task) != 0;
        if view.enabled == only(plainest) {
            return Some(plainest);
        }
        self.decisions += 1;
        // The schedule may come from another version of the object, and may name a task that cannot
        // run.
        Some(self.schedule.departure(self.decisions).filter(is_enabled).unwrap_or(plainest))
    }

    fn choose(&mut self, bound: usize) -> usize {
        if bound == 1 {
            return 0;
        }
        self.decisions += 1;
        self.schedule.departure(self.decisions).filter(|number| *number < bound).unwrap_or(0)
    }

    fn observe(&mut self, _transition: &Transition) {}
}
