//! Exchangers.
//!
//! J. Lawrence and G. Lowe, *Synchronisation: specification and testing*, sections 1 and 9. Two
//! calls of `exchange` synchronize, and each call returns the value of the other call.
//!
//! The first thread stores its value. The second thread takes this value, and stores its own. The
//! first thread takes the second thread's value, and makes room for the next pair.
//!
//! | fault | description | example history |
//! |---|---|---|
//! | [`Fault::NoThirdStage`] | the second thread makes room for the next pair: a third thread may store its value before the first thread has taken the second thread's value | the paper's figure 8: `exchange(13)` → 58, `exchange(70)` → 13, `exchange(76)` → 58, `exchange(58)` → 76 |

use super::monitor::Monitor;

/// A fault of an exchanger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// The slot becomes free before the first thread has taken the second thread's value.
    NoThirdStage,
}

/// Which threads of an exchange have arrived.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Stage {
    #[default]
    Nobody,
    First,
    Both,
}

#[derive(Default, Debug)]
pub(super) struct State {
    pub(super) stage: Stage,
    pub(super) value: u64,
}

/// An exchanger.
///
/// ```
/// use trueline_objects::sync::exchanger::Exchanger;
///
/// let exchanger = Exchanger::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| assert_eq!(exchanger.exchange(1), 2));
///     assert_eq!(exchanger.exchange(2), 1);
/// });
/// ```
#[derive(Default, Debug)]
pub struct Exchanger {
    monitor: Monitor<State>,
    fault: Option<Fault>,
}

impl Exchanger {
    /// Creates an exchanger.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an exchanger with a fault; `None` creates a correct one.
    pub fn faulty(fault: impl Into<Option<Fault>>) -> Self {
        Self { fault: fault.into(), ..Self::default() }
    }

    /// Waits for another thread, and exchanges values with it.
    pub fn exchange(&self, value: u64) -> u64 {
        let mut state = self.monitor.enter_when(|state| state.stage != Stage::Both);
        if state.stage == Stage::Nobody {
            *state = State { stage: Stage::First, value };
            state = self.monitor.wait_until(state, |state| state.stage != Stage::First);
            state.stage = Stage::Nobody;
            self.monitor.notify_all();
            state.value
        } else {
            let other = std::mem::replace(&mut state.value, value);
            state.stage = if self.fault == Some(Fault::NoThirdStage) { Stage::Nobody } else { Stage::Both };
            self.monitor.notify_all();
            other
        }
    }
}
