//! Signals between a child and its parent.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, section 10 and figure 16. The child calls
//! `signal_up_and_wait`; the parent calls `wait_for_signal_up` and `signal_down` in turn. The child's call synchronises
//! with both calls of the parent: it begins before the first of them returns, and returns after the second has begun.
//! So it takes part in two steps, which [interval linearizability](trueline::spec::interval::Signal) can say, and
//! synchronisations cannot.
//!
//! [Tree barriers](super::barrier::TreeBarrier) are made of them. They have no other way: the parent must not signal down
//! what it has not seen up.
//!
//! | fault | what is wrong | a history |
//! |---|---|---|
//! | [`Fault::UpDoesNotWait`] | the child signals and returns | `signal_up_and_wait` returns; no other call was made |
//! | [`Fault::EarlyDown`] | the parent takes the signal down as soon as it sees it | `signal_up_and_wait` and `wait_for_signal_up` return; `signal_down` was not called |

use super::monitor::Monitor;

/// What is wrong with a signal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The child does not wait for the parent.
    UpDoesNotWait,
    /// The parent lets the child go when it should only take notice of it.
    EarlyDown,
}

/// The signal: up or down.
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
    /// A signal that is down.
    pub fn new() -> Self {
        Self::default()
    }

    /// A signal that is wrong.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// The child puts it up, and waits until the parent has put it down.
    pub fn signal_up_and_wait(&self) {
        let mut is_up = self.is_up.enter();
        *is_up = true;
        self.is_up.notify_all();
        if self.fault != Some(Fault::UpDoesNotWait) {
            drop(self.is_up.wait_until(is_up, |is_up| !*is_up));
        }
    }

    /// The parent waits until it is up.
    pub fn wait_for_signal_up(&self) {
        let mut is_up = self.is_up.enter_when(|is_up| *is_up);
        if self.fault == Some(Fault::EarlyDown) {
            *is_up = false;
            self.is_up.notify_all();
        }
    }

    /// The parent puts it down, and so lets the child go on.
    pub fn signal_down(&self) {
        *self.is_up.enter() = false;
        self.is_up.notify_all();
    }
}
