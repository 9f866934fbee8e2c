//! Barriers.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1, 9 and 10. A fixed number of threads
//! synchronise: nobody leaves before all have come.
//!
//! [`Barrier`] counts, in two phases: threads come until all are there, and leave until nobody is; nobody comes while
//! others leave.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::ReturnsAtOnce`] | waits for nobody | `sync(0)` returns; no other call was made |
//! | [`Fault::NoRounds`] | the door that the last one opens is never shut | all come and leave; `sync(0)` returns, and no other call was made since |
//! | [`Fault::NoInitialWait`] | who has left may come again while others leave, is counted among them, and leaves with them | all come; `sync(0)` returns, and so does the next `sync(0)`; then others wait for it in vain |
//! | [`Fault::BareWait`] | does not look why it is woken | `sync(0)` returns before all have come; only where wake-ups are [spurious](trueline::primitives::Chaos) |
//! | [`Fault::NotifyOne`] | the last one wakes only one other | all come; only two calls return |
//!
//! [`TreeBarrier`] and [`CombiningBarrier`] are trees of [signals](super::signal): a thread waits for both its children,
//! signals to its parent, waits for it, and lets its children go.

use trueline::primitives::AtomicU64;
use trueline::primitives::Ordering::SeqCst;

use super::monitor::Monitor;
use super::signal::{self, Signal};

/// What is wrong with a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Waits for nobody.
    ReturnsAtOnce,
    /// Opens once for all.
    NoRounds,
    /// Lets threads come while others leave.
    NoInitialWait,
    /// Waits without a loop.
    BareWait,
    /// Wakes one, and not all.
    NotifyOne,
}

#[derive(Default, Debug)]
struct State {
    /// How many have come and not left.
    inside: usize,
    leaving: bool,
}

/// A barrier that counts.
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
    /// A barrier of so many threads.
    pub fn new(threads: usize) -> Self {
        Self::faulty(threads, None)
    }

    /// A barrier that is wrong.
    pub fn faulty(threads: usize, fault: impl Into<Option<Fault>>) -> Self {
        Self { threads, monitor: Monitor::default(), fault: fault.into() }
    }

    /// Waits for all others.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn sync(&self, me: usize) {
        assert!(me < self.threads, "the barrier has {} threads", self.threads);
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

/// The children of a thread, in a heap of so many.
fn children(me: usize, threads: usize) -> impl Iterator<Item = usize> {
    (2 * me + 1..=2 * me + 2).filter(move |child| *child < threads)
}

/// A barrier of [signals](super::signal), in the form of a heap.
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
    /// Each between the thread of this number and its parent; the first is not used.
    signals: Box<[Signal]>,
}

impl TreeBarrier {
    /// A barrier of so many threads.
    pub fn new(threads: usize) -> Self {
        Self::faulty(threads, None)
    }

    /// A barrier whose signals are wrong: threads leave before all have come, and may be missed later.
    pub fn faulty(threads: usize, fault: impl Into<Option<signal::Fault>>) -> Self {
        let fault = fault.into();
        Self { signals: (0..threads).map(|_| Signal::faulty(fault)).collect() }
    }

    /// Waits for all others.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn sync(&self, me: usize) {
        let threads = self.signals.len();
        assert!(me < threads, "the barrier has {threads} threads");
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

/// A [tree barrier](TreeBarrier) that combines a value of each thread, and gives the result to all.
///
/// Values are combined in the order of the tree: a thread's own, then those below its first child, then those below its
/// second. That is not the order of threads, so it matters if the function is not commutative.
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

/// Between a thread and its parent. The values go with the signals, which order the accesses to them.
#[derive(Default, Debug)]
struct Link {
    signal: Signal,
    up: AtomicU64,
    down: AtomicU64,
}

impl CombiningBarrier {
    /// A barrier of so many threads, with a function that is associative.
    pub fn new(threads: usize, combine: fn(u64, u64) -> u64) -> Self {
        Self { links: (0..threads).map(|_| Link::default()).collect(), combine }
    }

    /// Waits for all others, and returns the values of all, combined.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn sync(&self, me: usize, value: u64) -> u64 {
        let threads = self.links.len();
        assert!(me < threads, "the barrier has {threads} threads");
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
