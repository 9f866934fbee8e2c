//! Barriers in which threads can enroll and from which they can resign.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. All enrolled threads
//! synchronize.
//!
//! This works like the counting [barrier](super::barrier::Barrier). A thread that resigns checks whether all other
//! enrolled threads have arrived.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoInitialWait`] | a thread that has left may arrive again while others leave, and is counted with them | 0 and 1 are enrolled; `sync(0)` waits; `sync(1)` returns, and so does the next `sync(1)`; then `sync(0)` returns |

use super::monitor::Monitor;

/// A fault of a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Threads may arrive while others are still leaving.
    NoInitialWait,
}

#[derive(Debug)]
struct State {
    is_enrolled: Box<[bool]>,
    /// The number of enrolled threads.
    enrolled: usize,
    /// The number of threads that have arrived but have not left yet.
    inside: usize,
    leaving: bool,
}

/// An enrollable barrier.
///
/// ```
/// use trueline_objects::sync::enrollable_barrier::EnrollableBarrier;
///
/// let barrier = EnrollableBarrier::new(2);
/// barrier.enrol(0);
/// barrier.sync(0); // alone
/// barrier.enrol(1);
/// std::thread::scope(|scope| {
///     scope.spawn(|| barrier.sync(1));
///     barrier.sync(0);
/// });
/// barrier.resign(0);
/// ```
#[derive(Debug)]
pub struct EnrollableBarrier {
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl EnrollableBarrier {
    /// Creates a barrier for at most this many threads, none of which is enrolled.
    pub fn new(threads: usize) -> Self {
        Self::faulty(threads, None)
    }

    /// Creates a barrier with a fault; `None` creates a correct one.
    pub fn faulty(threads: usize, fault: impl Into<Option<Fault>>) -> Self {
        let is_enrolled = vec![false; threads].into();
        Self {
            monitor: Monitor::new(State { is_enrolled, enrolled: 0, inside: 0, leaving: false }),
            fault: fault.into(),
        }
    }

    /// Enrolls a thread.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of threads, or if the thread is already enrolled.
    pub fn enrol(&self, me: usize) {
        let mut state = self.monitor.enter();
        let before = std::mem::replace(&mut state.is_enrolled[me], true);
        assert!(!before, "thread {me} is already enrolled");
        state.enrolled += 1;
    }

    /// Removes a thread from the barrier.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of threads, or if the thread is not enrolled.
    pub fn resign(&self, me: usize) {
        let mut state = self.monitor.enter();
        let before = std::mem::replace(&mut state.is_enrolled[me], false);
        assert!(before, "thread {me} is not enrolled");
        state.enrolled -= 1;
        if state.inside > 0 && state.inside == state.enrolled {
            // Either the other threads were waiting only for this thread, and leave now; or they
            // are already leaving, and nothing changes.
            state.leaving = true;
            self.monitor.notify_all();
        }
    }

    /// Waits for all other enrolled threads.
    ///
    /// # Panics
    /// Panics if `me` is not less than the number of threads, or if the thread is not enrolled.
    pub fn sync(&self, me: usize) {
        let monitor = &self.monitor;
        let mut state = monitor.enter();
        assert!(state.is_enrolled[me], "thread {me} is not enrolled");
        if self.fault != Some(Fault::NoInitialWait) {
            state = monitor.wait_until(state, |state| !state.leaving);
        }
        state.inside += 1;
        if state.inside == state.enrolled {
            state.leaving = true;
            monitor.notify_all();
        } else {
            state = monitor.wait_until(state, |state| state.leaving);
        }
        state.inside -= 1;
        if state.inside == 0 {
            state.leaving = false;
            monitor.notify_all();
        }
    }
}
