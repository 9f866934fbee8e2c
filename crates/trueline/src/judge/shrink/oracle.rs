//! Who decides whether a weaker history is still rejected.

use std::time::{Duration, Instant};

use super::Limits;
use crate::judge::erased::Case;
use crate::judge::{Budget, CancelToken, Config, check_case};
use crate::verdict::Verdict;

/// What the oracle says of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Rejected,
    Accepted,
    Unknown,
}

/// How long whoever cancels waits for what was found to be judged as it is.
const IMPATIENT: Duration = Duration::from_secs(1);

/// Whoever decides whether a weaker history is still rejected: this is the only place that knows who that is.
pub(super) struct Oracle {
    /// When to stop asking.
    deadline: Option<Instant>,
    /// Who may say so earlier.
    cancel: CancelToken,
    /// What is left then, to put together what was found and to judge it as it is.
    last: Duration,
    /// For one question.
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

    /// Judges `history` within this time.
    pub(super) fn ask(&mut self, history: &dyn Case, time: Duration) -> Answer {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        self.judge(history, left.map_or(time, |left| left.min(time)), self.cancel.clone())
    }

    /// Whether `history` can be judged in the time that is left when all is asked, and is rejected.
    pub(super) fn confirms(&mut self, history: &dyn Case) -> bool {
        // Half of that time: a judgement may take a little longer than it should.
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
