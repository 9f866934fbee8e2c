//! Who decides whether a weaker history is still rejected.

use std::time::{Duration, Instant};

use super::Limits;
use crate::history::History;
use crate::judge::{Budget, CancelToken, Config, check};
use crate::spec::Spec;
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
pub(super) struct Oracle<'a, S: Spec> {
    pub(super) spec: &'a S,
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
    /// The history that was rejected last.
    rejected: Option<History<S::Op, S::Ret>>,
}

impl<'a, S: Spec> Oracle<'a, S> {
    pub(super) fn new(spec: &'a S, limits: &Limits) -> Self {
        let Limits { time, time_per_call, memory, ref cancel } = *limits;
        let last = time / 10;
        Self {
            spec,
            deadline: Instant::now().checked_add(time - last),
            cancel: cancel.clone(),
            last,
            most_time: time_per_call.unwrap_or(time / 12),
            memory,
            calls: 0,
            rejected: None,
        }
    }

    /// Judges `history` within this time.
    pub(super) fn ask(&mut self, history: History<S::Op, S::Ret>, time: Duration) -> Answer {
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let answer = self.judge(&history, left.map_or(time, |left| left.min(time)), self.cancel.clone());
        if answer == Answer::Rejected {
            self.rejected = Some(history);
        }
        answer
    }

    /// Whether `history` itself was judged, or can be in the time that is left when all is asked, and rejected.
    pub(super) fn confirms(&mut self, history: &History<S::Op, S::Ret>) -> bool {
        // Half of that time: a judgement may take a little longer than it should.
        let mut time = self.last / 2;
        if self.cancel.is_cancelled() {
            time = time.min(IMPATIENT);
        }
        self.rejected.as_ref() == Some(history) || self.judge(history, time, CancelToken::new()) == Answer::Rejected
    }

    fn judge(&mut self, history: &History<S::Op, S::Ret>, time: Duration, cancel: CancelToken) -> Answer {
        if time.is_zero() {
            return Answer::Unknown;
        }
        self.calls += 1;
        let budget = Budget::unlimited().time(time).memory(self.memory).cancelled_by(cancel);
        match check(self.spec, history, &Config::new().budget(budget)).verdict {
            Verdict::Rejected(_) => Answer::Rejected,
            Verdict::Accepted(_) => Answer::Accepted,
            Verdict::Unknown(_) => Answer::Unknown,
        }
    }

    pub(super) fn is_out_of_time(&self) -> bool {
        self.cancel.is_cancelled() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
