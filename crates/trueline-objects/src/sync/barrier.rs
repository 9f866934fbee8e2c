//! Barriers.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1, 9 and 10. A fixed number of
//! threads synchronize: no thread leaves before all have arrived.
//!
//! [`Barrier`] counts threads, in two phases: threads arrive until all are present, and then leave until none is
//! present; no thread arrives while others leave.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::ReturnsAtOnce`] | does not wait for other threads | `sync(0)` returns although no other call was made |
//! | [`Fault::NoRounds`] | the barrier is opened by the last thread and never closed again | all threads arrive and leave; after that, `sync(0)` returns although no other call was made |
//! | [`Fault::NoInitialWait`] | a thread that has left may arrive again while others are still leaving; it is then counted as one of them, and leaves with them | all threads arrive; `sync(0)` returns, and so does the next `sync(0)`; then the others wait for thread 0 forever |
//! | [`Fault::BareWait`] | does not check the condition after waking up | `sync(0)` returns before all have arrived, but only with [spurious](trueline::primitives::Chaos) wake-ups |
//! | [`Fault::NotifyOne`] | the last thread wakes only one other thread | all threads arrive; only two calls return |
//!
//! [`TreeBarrier`] and [`CombiningBarrier`] are trees of [signals](super::signal): a thread waits for both its
//! children, signals to its parent, waits until the parent lets it continue, and then lets its children continue.

use trueline::primitives::AtomicU64;
use trueline::primitives::Ordering::SeqCst;

use super::monitor::Monitor;
use super::signal::{self, Signal};

/// A fault of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// A thread does not wait for other threads.
    ReturnsAtOnce,
    /// The barrier opens once and never closes again.
    NoRounds,
    /// Threads may arrive while others are still leaving.
    NoInitialWait,
    /// A thread that wakes up does not check whether all threads have arrived.
    BareWait,
    /// The last thread wakes one waiting thread instead of all.
    NotifyOne,
}

#[derive(Default, Debug)]
struct State {
    /// The number of threads that have arrived but have not left yet.
    inside: usize,
    leaving: bool,
}

/// A counting barrier.
///
/// ```
/// use trueline_objects::sync::barrier::Barrier;
///
/// let barrier = Barrier::new(2);
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.sync(1));
///     barrier.sync(0);
/// });
/// ```
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl Barrier {
    /// Creates a barrier for this many threads.
    pub fn new(threads: usize) -> Self {
        Self::faulty(threads, None)
    }

    /// Creates a barrier with a fault; `None` creates a correct one.
    pub fn faulty(threads: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { threads, monitor: Monitor::default(), fault: fault.into() }
    }

    /// Waits for all other threads.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of threads.
    pub fn sync(&self, me: usize) {
        assert!(me < self.threads, "thread {me} is out of range: the barrier has {} threads", self.threads);
        let monitor = &self.monitor;
        let mut state = match self.fault {
            Some(Fault::ReturnsAtOnce) => return,
            Some(Fault::NoRounds | Fault::NoInitialWait) => monitor.enter(),
            None | Some(Fault::BareWait | Fault::NotifyOne) => monitor.enter_when(|state| !state.leaving),
        };
        state.inside += 1;
        if state.inside == self.threads {
            state.leaving = true;
            if self.fault == Some(Fault::NotifyOne) {
                monitor.notify_one();
            } else {
                monitor.notify_all();
            }
        } else if self.fault == Some(Fault::BareWait) {
            state = monitor.wait_once(state);
        } else {
            state = monitor.wait_until(state, |state| state.leaving);
        }
        if self.fault == Some(Fault::NoRounds) {
            return;
        }
        state.inside -= 1;
        if state.inside == 0 {
            state.leaving = false;
            monitor.notify_all();
        }
    }
}

/// Returns the children of a thread in a binary heap of `threads` threads.
fn children(me: usize, threads: usize) -> impl Iterator<Item = usize> {
    (2 * me + 1..=2 * me + 2).filter(move |child| *child < threads)
}

/// A barrier built from [signals](super::signal), which form a binary heap.
///
/// ```
/// use trueline_objects::sync::barrier::TreeBarrier;
///
/// let barrier = TreeBarrier::new(3);
/// std::thread::scope(|scope| {
///     for me in 0..3 {
///         let barrier = &barrier;
///         scope.spawn(move || barrier.sync(me));
///     }
/// });
/// ```
#[derive(Debug)]
pub struct TreeBarrier {
    /// For each thread, the signal between the thread and its parent. Thread 0 has no parent, so
    /// its signal is not used.
    signals: Box<[Signal]>,
}

impl TreeBarrier {
    /// Creates a barrier for this many threads.
    pub fn new(threads: usize) -> Self {
        Self::faulty(threads, None)
    }

    /// Creates a barrier whose signals have a fault; `None` creates a correct barrier. With a
    /// fault, threads may leave before all have arrived, and threads that arrive later may wait
    /// forever.
    pub fn faulty(threads: usize, fault: impl Into<Option<signal::Fault>>) -> Self {
        let fault = fault.into();
        Self { signals: (0..threads).map(|_| Signal::faulty(fault)).collect() }
    }

    /// Waits for all other threads.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of threads.
    pub fn sync(&self, me: usize) {
        let threads = self.signals.len();
        assert!(me < threads, "thread {me} is out of range: the barrier has {threads} threads");
        for child in children(me, threads) {
            self.signals[child].wait_for_signal_up();
        }
        if me != 0 {
            self.signals[me].signal_up_and_wait();
        }
        for child in children(me, threads) {
            self.signals[child].signal_down();
        }
    }
}

/// A [tree barrier](TreeBarrier) that combines one value from each thread, and returns the result to all threads.
///
/// Values are combined in the order of the tree: the thread's own value, then those of its first
/// child's subtree, then those of its second child's subtree. This order differs from the order of
/// the thread numbers. The difference matters if the combining function is not commutative.
///
/// ```
/// use trueline_objects::sync::barrier::CombiningBarrier;
///
/// let barrier = CombiningBarrier::new(2, |x, y| 10 * x + y);
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(barrier.sync(1, 7), 37));
///     assert_eq!(barrier.sync(0, 3), 37);
/// });
/// ```
#[derive(Debug)]
pub struct CombiningBarrier {
    links: Box<[Link]>,
    combine: fn(u64, u64) -> u64,
}

/// The connection between a thread and its parent. The signal orders the accesses to the values.
#[derive(Default, Debug)]
struct Link {
    signal: Signal,
    up: AtomicU64,
    down: AtomicU64,
}

impl CombiningBarrier {
    /// Creates a barrier for this many threads. The function `combine` must be associative.
    pub fn new(threads: usize, combine: fn(u64, u64) -> u64) -> Self {
        Self { links: (0..threads).map(|_| Link::default()).collect(), combine }
    }

    /// Waits for all other threads, and returns the combined values of all threads.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of threads.
    pub fn sync(&self, me: usize, value: u64) -> u64 {
        let threads = self.links.len();
        assert!(me < threads, "thread {me} is out of range: the barrier has {threads} threads");
        let mut result = value;
        for link in children(me, threads).map(|child| &self.links[child]) {
            link.signal.wait_for_signal_up();
            result = (self.combine)(result, link.up.unscheduled().load(SeqCst));
        }
        if me != 0 {
            let link = &self.links[me];
            link.up.unscheduled().store(result, SeqCst);
            link.signal.signal_up_and_wait();
            result = link.down.unscheduled().load(SeqCst);
        }
        for link in children(me, threads).map(|child| &self.links[child]) {
            link.down.unscheduled().store(result, SeqCst);
            link.signal.signal_down();
        }
        result
    }
}
