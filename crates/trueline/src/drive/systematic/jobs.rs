//! Parts of an exploration, for threads of the operating system to share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::strategy::Tasks;

/// A decision that was made.
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

/// All executions that begin with these decisions.
#[derive(Clone, Debug, Default)]
pub(super) struct Job {
    pub(super) made: Vec<Made>,
    /// Of a reduced exploration, by decision: who sleeps there, and who of them returns from an operation next.
    pub(super) sleeping: Vec<(Tasks, Tasks)>,
}

/// What is left to be done, by whoever has time.
#[derive(Debug)]
pub(super) struct Jobs {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// How many have nothing to do: a hint for those who have.
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

    /// The next job, if there will be one.
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

    /// Says that a job is done.
    pub(super) fn done(&self) {
        self.lock().working -= 1;
        self.changed.notify_all();
    }

    /// Whether somebody would take a job.
    pub(super) fn are_wanted(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    pub(super) fn give(&self, job: Job) {
        self.lock().jobs.push(job);
        self.changed.notify_one();
    }

    /// Ends all.
    pub(super) fn end(&self) {
        let _held = self.lock();
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
