//! Queues that tell when all is done.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. Who dequeues from an empty
//! queue waits; when all workers do so, nobody is left to enqueue anything: all return none, together.
//!
//! [`TerminatingQueues`] has a queue for each worker, so that they are seldom in each other's way; what is dequeued is the
//! front of any of them. Its specification is nondeterministic.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::ReturnsAtOnce`] | does not wait for values, nor for the others | `dequeue` → none, while others work; then `enqueue(1)` |

use std::collections::VecDeque;

use trueline::primitives::Mutex;

use super::monitor::Monitor;

/// What is wrong with a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Returns none as soon as the queue is empty.
    ReturnsAtOnce,
}

#[derive(Default, Debug)]
struct State {
    values: VecDeque<u64>,
    waiting: usize,
    done: bool,
}

/// The queue.
///
/// ```
/// use trueline_objects::sync::terminating_queue::TerminatingQueue;
///
/// let queue = TerminatingQueue::new(2);
/// queue.enqueue(1);
/// assert_eq!(queue.dequeue(), Some(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(queue.dequeue(), None));
///     assert_eq!(queue.dequeue(), None);
/// });
/// ```
#[derive(Debug)]
pub struct TerminatingQueue {
    workers: usize,
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl TerminatingQueue {
    /// An empty queue for so many workers.
    pub fn new(workers: usize) -> Self {
        Self::faulty(workers, None)
    }

    /// A queue that is wrong.
    pub fn faulty(workers: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { workers, monitor: Monitor::default(), fault: fault.into() }
    }

    /// Adds a value at the end.
    pub fn enqueue(&self, value: u64) {
        self.monitor.enter().values.push_back(value);
        self.monitor.notify_all();
    }

    /// Removes and returns the value at the front; waits for it if the queue is empty. `None` if all workers wait, and
    /// for ever after.
    pub fn dequeue(&self) -> Option<u64> {
        let mut state = self.monitor.enter();
        if state.done || self.fault == Some(Fault::ReturnsAtOnce) {
            return state.values.pop_front();
        }
        if state.values.is_empty() {
            if state.waiting + 1 == self.workers {
                state.done = true;
                self.monitor.notify_all();
                return None;
            }
            state.waiting += 1;
            // Some may have been notified and not yet looked; they will find nothing, and so they wait.
            state = self.monitor.wait_until(state, |state| state.done || !state.values.is_empty());
            state.waiting -= 1;
        }
        state.values.pop_front()
    }
}

#[derive(Default, Debug)]
struct Progress {
    /// How many values were ever enqueued.
    enqueued: u64,
    waiting: usize,
    done: bool,
}

/// A queue for each worker.
///
/// ```
/// use trueline_objects::sync::terminating_queue::TerminatingQueues;
///
/// let queues = TerminatingQueues::new(2);
/// queues.enqueue(0, 1);
/// assert_eq!(queues.dequeue(1), Some(1));
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(queues.dequeue(1), None));
///     assert_eq!(queues.dequeue(0), None);
/// });
/// ```
#[derive(Debug)]
pub struct TerminatingQueues {
    queues: Box<[Mutex<VecDeque<u64>>]>,
    monitor: Monitor<Progress>,
}

impl TerminatingQueues {
    /// Empty queues of so many workers.
    pub fn new(workers: usize) -> Self {
        Self { queues: (0..workers).map(|_| Mutex::default()).collect(), monitor: Monitor::default() }
    }

    /// Adds a value at the end of the queue of this worker.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn enqueue(&self, me: usize, value: u64) {
        self.queues[me].lock().push_back(value);
        self.monitor.enter().enqueued += 1;
        self.monitor.notify_all();
    }

    /// Removes and returns the value at the front of some queue, that of this worker if it has any; waits for one if all
    /// are empty. `None` if all workers wait, and for ever after.
    ///
    /// # Panics
    /// If there is no such worker.
    pub fn dequeue(&self, me: usize) -> Option<u64> {
        let workers = self.queues.len();
        assert!(me < workers, "there are {workers} workers");
        loop {
            let before = self.monitor.enter().enqueued;
            let value = (me..me + workers).find_map(|worker| self.queues[worker % workers].lock().pop_front());
            if value.is_some() {
                return value;
            }
            let mut progress = self.monitor.enter();
            if progress.done {
                return None;
            }
            if progress.waiting + 1 == workers {
                // The queue of a worker that waits is empty: only it enqueues there, and it has looked.
                progress.done = true;
                self.monitor.notify_all();
                return None;
            }
            progress.waiting += 1;
            // What was enqueued since may be in a queue that was looked at before.
            progress = self.monitor.wait_until(progress, |progress| progress.done || progress.enqueued != before);
            progress.waiting -= 1;
        }
    }
}
