//! Barriers that threads can enrol in and resign from.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. All threads that are enrolled
//! synchronise.
//!
//! As the [barrier](super::barrier::Barrier) that counts. Whoever resigns looks if all others have come.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::NoInitialWait`] | who has left may come again while others leave, and is counted with them | 0 and 1 are enrolled; `sync(0)` waits; `sync(1)` returns, and so does the next `sync(1)`; then `sync(0)` returns |

use super::monitor::Monitor;

/// What is wrong with a barrier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// Lets threads come while others leave.
    NoInitialWait,
}

#[derive(Debug)]
struct State {
    is_enrolled: Box<[bool]>,
    /// How many are.
    enrolled: usize,
    /// How many have come and not left.
    inside: usize,
    leaving: bool,
}

/// The barrier.
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
    /// A barrier of at most so many threads, none of which is enrolled.
    pub fn new(threads: usize) -> Self {
        Self::faulty(threads, None)
    }

    /// A barrier that is wrong.
    pub fn faulty(threads: usize, fault: impl Into<Option<Fault>>) -> Self {
        let is_enrolled = vec![false; threads].into();
        Self {
            monitor: Monitor::new(State { is_enrolled, enrolled: 0, inside: 0, leaving: false }),
            fault: fault.into(),
        }
    }

    /// Takes part from now on.
    ///
    /// # Panics
    /// If there is no such thread, or it takes part already.
    pub fn enrol(&self, me: usize) {
        let mut state = self.monitor.enter();
        let before = std::mem::replace(&mut state.is_enrolled[me], true);
        assert!(!before, "thread {me} is enrolled already");
        state.enrolled += 1;
    }

    /// Takes part no longer.
    ///
    /// # Panics
    /// If there is no such thread, or it takes no part.
    pub fn resign(&self, me: usize) {
        let mut state = self.monitor.enter();
        let before = std::mem::replace(&mut state.is_enrolled[me], false);
        assert!(before, "thread {me} is not enrolled");
        state.enrolled -= 1;
        if state.inside > 0 && state.inside == state.enrolled {
            // The others waited for this one. Or they are leaving: then nothing changes.
            state.leaving = true;
            self.monitor.notify_all();
        }
    }

    /// Waits for all others that take part.
    ///
    /// # Panics
    /// If there is no such thread, or it takes no part.
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
