//! Decides whether a weaker history is still rejected.

use std::time::{Duration, Instant};

use super::Limits;
use crate::judge::erased::Case;
use crate::judge::{Budget, CancelToken, Config, check_case};
use crate::verdict::Verdict;

/// The oracle's answer about a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Rejected,
    Accepted,
    Unknown,
}

/// The maximum time for judging the final history if shrinking was canceled.
const IMPATIENT: Duration = Duration::from_secs(1);

/// Decides whether a weaker history is still rejected. Shrinking judges histories only through this type.
pub(super) struct Oracle {
    /// The time at which to stop judging weaker histories.
    deadline: Option<Instant>,
    /// A token that can stop the judging before the deadline.
    cancel: CancelToken,
    /// The time that is reserved after the deadline, to build the core and to judge it.
    last: Duration,
    /// The maximum time for judging one history.
    pub(super) most_time: Duration,
    memory: u64,
    pub(super) calls: u32,
}

impl Oracle {
    pub(super) fn new(limits: &Limits) -> Self {
        let Limits { time, time_per_call, memory, ref cancel } = *limits;
        let last = time / 10;
        Self {
            deadline: Instant::now().checked_add(time - last),
            cancel: cancel.clone(),
            last,
            most_time: time_per_call.unwrap_or(time / 12),
            memory,
            calls: 0,
        }
    }

    /// Judges `history` for at most `time`, and not beyond the deadline.
    pub(super) fn ask(&mut self, history: &dyn Case, time: Duration) -> Answer {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        self.judge(history, left.map_or(time, |left| left.min(time)), self.cancel.clone())
    }

    /// Judges `history` in the time that is reserved after the deadline, and returns whether it is
    /// rejected.
    pub(super) fn confirms(&mut self, history: &dyn Case) -> bool {
        // Use only half of the reserved time, because a judgment may exceed its time limit a little.
        let mut time = self.last / 2;
        if self.cancel.is_cancelled() {
            time = time.min(IMPATIENT);
        }
        self.judge(history, time, CancelToken::new()) == Answer::Rejected
    }

    fn judge(&mut self, history: &dyn Case, time: Duration, cancel: CancelToken) -> Answer {
        if time.is_zero() {
            return Answer::Unknown;
        }
        self.calls += 1;
        let budget = Budget::unlimited().time(time).memory(self.memory).cancelled_by(cancel);
        match check_case(history, &Config::new().budget(budget).verdict_only(), Instant::now()).verdict {
            Verdict::Rejected(_) => Answer::Rejected,
            Verdict::Accepted(_) => Answer::Accepted,
            Verdict::Unknown(_) => Answer::Unknown,
        }
    }

    pub(super) fn is_out_of_time(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
