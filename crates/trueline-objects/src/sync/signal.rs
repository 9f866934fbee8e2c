//! Signals between a child and its parent.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 10 and figure 16. The child calls
//! `signal_up_and_wait`; the parent calls `wait_for_signal_up` and `signal_down` alternately. The child's call
//! synchronizes with both calls of the parent: it begins before `wait_for_signal_up` returns, and returns after
//! `signal_down` has begun. Thus the child's call takes part in two steps.
//! [Interval linearizability](trueline::spec::interval::Signal) can specify such a call; synchronization linearization
//! cannot.
//!
//! [Tree barriers](super::barrier::TreeBarrier) are built from signals. The parent must not call `signal_down` before
//! it has seen that the signal is up.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::UpDoesNotWait`] | the child signals and returns | `signal_up_and_wait` returns although no other call was made |
//! | [`Fault::EarlyDown`] | the parent lowers the signal as soon as it sees it | `signal_up_and_wait` and `wait_for_signal_up` return; `signal_down` was not called |

use super::monitor::Monitor;

/// A fault of a signal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The child does not wait for the parent.
    UpDoesNotWait,
    /// The parent lowers the signal in `wait_for_signal_up`, so that the child returns too early.
    EarlyDown,
}

/// A signal, which is up or down.
///
/// ```
/// use trueline_objects::sync::signal::Signal;
///
/// let signal = Signal::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| signal.signal_up_and_wait());
///     signal.wait_for_signal_up();
///     signal.signal_down();
/// });
/// ```
#[derive(Default, Debug)]
pub struct Signal {
    is_up: Monitor<bool>,
    fault: Option<Fault>,
}

impl Signal {
    /// Creates a signal that is down.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a signal with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Called by the child: raises the signal, and waits until the parent has lowered it.
    pub fn signal_up_and_wait(&self) {
        let mut is_up = self.is_up.enter();
        *is_up = true;
        self.is_up.notify_all();
        if self.fault != Some(Fault::UpDoesNotWait) {
            drop(self.is_up.wait_until(is_up, |is_up| !*is_up));
        }
    }

    /// Called by the parent: waits until the signal is up.
    pub fn wait_for_signal_up(&self) {
        let mut is_up = self.is_up.enter_when(|is_up| *is_up);
        if self.fault == Some(Fault::EarlyDown) {
            *is_up = false;
            self.is_up.notify_all();
        }
    }

    /// Called by the parent: lowers the signal, so that the child returns.
    pub fn signal_down(&self) {
        *self.is_up.enter() = false;
        self.is_up.notify_all();
    }
}
