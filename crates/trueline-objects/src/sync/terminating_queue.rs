//! Queues that detect termination.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. A
//! thread that dequeues from an empty queue waits; when all workers are waiting, no worker can enqueue a
//! value any more, and all of them return `None` together.
//!
//! [`TerminatingQueues`] has a queue for each worker, so that workers rarely contend; a dequeue removes the front of
//! any of the queues. Its specification is nondeterministic.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::ReturnsAtOnce`] | waits neither for values nor for the other workers | `dequeue` → none, while others work; then `enqueue(1)` |

use std::collections::VecDeque;

use trueline::primitives::Mutex;

use super::monitor::Monitor;

/// A fault of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A dequeue returns `None` whenever the queue is empty, without waiting.
    ReturnsAtOnce,
}

#[derive(Default, Debug)]
struct State {
    values: VecDeque<u64>,
    waiting: usize,
    done: bool,
}

/// A queue that detects termination.
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
    /// Creates an empty queue for this many workers.
    pub fn new(workers: usize) -> Self {
        Self::faulty(workers, None)
    }

    /// Creates an empty queue with a fault; `None` creates a correct one.
    pub fn faulty(workers: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { workers, monitor: Monitor::default(), fault: fault.into() }
    }

    /// Adds a value at the end.
    pub fn enqueue(&self, value: u64) {
        self.monitor.enter().values.push_back(value);
        self.monitor.notify_all();
    }

    /// Removes and returns the value at the front; waits for a value if the queue is empty. Returns `None` when all
    /// workers are waiting; after that, a dequeue from an empty queue returns `None` without waiting.
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
            // A thread that was notified but has not run yet still counts as waiting. This is
            // correct: the count is used only if the queue is empty; in that case, this thread would
            // find no value and wait again.
            state = self.monitor.wait_until(state, |state| state.done || !state.values.is_empty());
            state.waiting -= 1;
        }
        state.values.pop_front()
    }
}

#[derive(Default, Debug)]
struct Progress {
    /// Number of values that have been enqueued so far.
    enqueued: u64,
    waiting: usize,
    done: bool,
}

/// A queue for each worker, with common termination.
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
    /// Creates empty queues for this many workers.
    pub fn new(workers: usize) -> Self {
        Self { queues: (0..workers).map(|_| Mutex::default()).collect(), monitor: Monitor::default() }
    }

    /// Adds a value at the end of this worker's queue.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of workers.
    pub fn enqueue(&self, me: usize, value: u64) {
        self.queues[me].lock().push_back(value);
        self.monitor.enter().enqueued += 1;
        self.monitor.notify_all();
    }

    /// Removes and returns the value at the front of this worker's queue or, if this queue is empty, of another queue;
    /// waits for a value if all queues are empty. Returns `None` when all workers are waiting; after that, a dequeue
    /// returns `None` without waiting if all queues are empty.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of workers.
    pub fn dequeue(&self, me: usize) -> Option<u64> {
        let workers = self.queues.len();
        assert!(me < workers, "worker {me} is out of range: there are {workers} workers");
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
                // All queues are empty: each worker has found its own queue empty, and no other worker enqueues into
                // that queue.
                progress.done = true;
                self.monitor.notify_all();
                return None;
            }
            progress.waiting += 1;
            // A value that was enqueued since the search began may be in a queue that was already
            // searched. In that case, search again.
            progress = self.monitor.wait_until(progress, |progress| progress.done || progress.enqueued != before);
            progress.waiting -= 1;
        }
    }
}
