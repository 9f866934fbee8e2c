//! Jobs: parts of an exploration that are distributed to operating system threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::strategy::Tasks;

/// A decision of an execution: which task runs next, or which number a random choice returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) is_task: bool,
    pub(super) value: usize,
}

impl Made {
    pub(super) fn task(task: usize) -> Self {
        Self { is_task: true, value: task }
    }

    pub(super) fn number(number: usize) -> Self {
        Self { is_task: false, value: number }
    }
}

/// A part of an exploration: all executions that begin with these decisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) made: Vec<Made>,
    /// For each decision of a [reduced](super::reduced) exploration: the set of tasks that sleep at this decision, and
    /// the subset whose next transition returns from an operation.
    pub(super) sleeping: Vec<(Tasks, Tasks)>,
}

/// The jobs that no thread has taken yet. Any idle thread may take one.
#[derive(Debug)]
pub(super) struct Jobs {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// The number of threads without a job, as a hint to the threads that have a job.
    hungry: AtomicUsize,
    is_over: AtomicBool,
}

#[derive(Debug)]
struct Waiting {
    jobs: Vec<Job>,
    working: usize,
}

impl Jobs {
    pub(super) fn new(first: Job) -> Self {
        let waiting = Waiting { jobs: vec![first], working: 0 };
        Self {
            waiting: Mutex::new(waiting),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; returns `None` if there will be no more.
    pub(super) fn take(&self) -> Option<Job> {
        let mut waiting = self.lock();
        self.hungry.fetch_add(1, Ordering::Relaxed);
        let job = loop {
            if self.is_over.load(Ordering::Relaxed) {
                break None;
            }
            if let Some(job) = waiting.jobs.pop() {
                waiting.working += 1;
                break Some(job);
            }
            if waiting.working == 0 {
                break None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        };
        self.hungry.fetch_sub(1, Ordering::Relaxed);
        job
    }

    /// Marks a job as done.
    pub(super) fn done(&self) {
        self.lock().working -= 1;
        self.changed.notify_all();
    }

    /// Returns whether a thread is waiting for a job.
    pub(super) fn are_wanted(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    pub(super) fn give(&self, job: Job) {
        self.lock().jobs.push(job);
        self.changed.notify_one();
    }

    /// Ends the exploration.
    pub(super) fn end(&self) {
        let _held = self.lock();
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
