//! Decides whether histories of one object can be explained, and finds the first return that cannot be.
//!
//! The meaning of an explanation depends on the criterion: synchronizations of open executions
//! ([`sync`](super::sync)), or the steps that executions take ([`interval`](super::interval)). In
//! both cases, an explanation is a sequence of groups of executions, and if a history can be
//! explained, each of its prefixes can be explained, too. An *execution* is an operation of the
//! history.

use std::time::Instant;

use super::frame;
use super::search::Meter;
use crate::history::{Event, EventKind, History, OpId, Outcome, by_object};
use crate::verdict::{
    Evidence, Judgment, Limit, LimitKind, ProgressVerdict, Stats, Synchronizations, Verdict, Witness, sizes,
};

/// The events of one object, up to a position.
pub(super) struct Cut<'a, Op, Ret> {
    pub(super) history: &'a History<Op, Ret>,
    pub(super) events: &'a [Event],
    /// Events at or after this position are ignored: an execution that returns there counts as open
    /// and has no result.
    pub(super) until: u32,
    /// An execution, and the result that it is assumed to have instead of the recorded one.
    pub(super) assumed: Option<(OpId, &'a Ret)>,
    /// Whether executions that have not returned are left out.
    pub(super) only_returned: bool,
}

impl<Op, Ret> Clone for Cut<'_, Op, Ret> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Op, Ret> Copy for Cut<'_, Op, Ret> {}

impl<'a, Op, Ret> Cut<'a, Op, Ret> {
    /// Returns all events of an object.
    pub(super) fn whole(history: &'a History<Op, Ret>, events: &'a [Event]) -> Self {
        Self { history, events, until: u32::MAX, assumed: None, only_returned: false }
    }

    /// Returns the events before `until`, except those of executions that are left out.
    pub(super) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.events_from(0)
    }

    /// Returns the same events as [`events`](Self::events), but skips the first `first` events of the object.
    pub(super) fn events_from(&self, first: usize) -> impl Iterator<Item = Event> + '_ {
        let happened = self.events[first..].iter().take_while(|event| self.position(Some(event)) < self.until);
        happened.copied().filter(|event| !self.only_returned || self.has_returned(event.op()))
    }

    /// Returns the position of an event, or `u32::MAX` if `event` is `None`.
    pub(super) fn position(&self, event: Option<&Event>) -> u32 {
        event.map_or(u32::MAX, |event| {
            let operation = &self.history[event.op()];
            match event.kind() {
                EventKind::Call => operation.call_position(),
                EventKind::Return => operation.return_position().expect("the operation has a return event"),
            }
        })
    }

    pub(super) fn has_returned(&self, op: OpId) -> bool {
        self.history[op].return_position().is_some_and(|position| position < self.until)
    }

    /// Returns the position of the return, or `u32::MAX` if the execution has not returned.
    pub(super) fn return_position(&self, op: OpId) -> u32 {
        self.history[op].return_position().filter(|position| *position < self.until).unwrap_or(u32::MAX)
    }

    pub(super) fn op(&self, op: OpId) -> &'a Op {
        &self.history[op].op
    }

    /// Returns the result that the execution must have, if it is known.
    pub(super) fn result(&self, op: OpId) -> Option<&'a Ret> {
        if let Some((_, result)) = self.assumed.filter(|(other, _)| *other == op) {
            return Some(result);
        }
        match &self.history[op].outcome {
            Outcome::Returned(result) if self.has_returned(op) => Some(result),
            Outcome::Optional(result) => Some(result),
            Outcome::Returned(_) | Outcome::Pending => None,
        }
    }
}

/// An explanation, or the reason why no explanation exists; an error if a limit was reached.
type Explained<Other> = Result<Result<Synchronizations, Other>, LimitKind>;

/// A method of finding explanations, for one criterion.
pub(super) trait Explain<Op, Ret: Clone> {
    /// Returns a replayed explanation of the history up to the cut, or `None` if no explanation
    /// exists.
    fn explain(&mut self, cut: &Cut<'_, Op, Ret>) -> Result<Option<Synchronizations>, LimitKind>;

    /// Returns an explanation, as [`explain`](Self::explain) does. If no explanation exists,
    /// returns a position. The first return that cannot be explained is at this position or later.
    fn explain_or_fail(&mut self, cut: &Cut<'_, Op, Ret>) -> Result<Result<Synchronizations, u32>, LimitKind> {
        Ok(self.explain(cut)?.ok_or(0))
    }

    /// Prepares for queries about the prefixes of `cut` that end after event `failed`. The caller
    /// knows that the prefix up to `failed` can be explained.
    fn look_near(&mut self, cut: &Cut<'_, Op, Ret>, failed: u32) -> Result<(), LimitKind> {
        let _ = (cut, failed);
        Ok(())
    }

    /// Returns whether the history up to the cut can be explained.
    fn explains(&mut self, cut: &Cut<'_, Op, Ret>) -> Result<bool, LimitKind> {
        Ok(self.explain(cut)?.is_some())
    }

    /// Returns the results that `op`, which is open at the end of the cut, may return, without duplicates. Some of
    /// these results may not lead to an explanation.
    fn results(&mut self, cut: &Cut<'_, Op, Ret>, op: OpId) -> Result<Vec<Ret>, LimitKind>;

    /// Returns an explanation after which every execution that should have returned has returned,
    /// or the reason why no such explanation exists.
    fn progress(&mut self, cut: &Cut<'_, Op, Ret>) -> Explained<ProgressVerdict<Ret>>;

    /// Returns an explanation, or the evidence that no explanation exists.
    fn safety(&mut self, cut: &Cut<'_, Op, Ret>) -> Explained<Evidence<Ret>> {
        match self.explain_or_fail(cut)? {
            Ok(groups) => Ok(Ok(groups)),
            Err(failed) => self.evidence(cut, failed).map(Err),
        }
    }

    /// Returns the evidence that a part cannot be explained, given that it can be explained up to
    /// event `failed`. Galloping and binary search find the first return up to which the part cannot
    /// be explained. This works because if the part cannot be explained up to some return, it cannot
    /// be explained up to any later return either.
    fn evidence(&mut self, cut: &Cut<'_, Op, Ret>, failed: u32) -> Result<Evidence<Ret>, LimitKind> {
        let returns: Vec<OpId> =
            cut.events().filter(|event| event.kind() == EventKind::Return).map(|event| event.op()).collect();
        let until = |count: usize| match count.checked_sub(1) {
            Some(last) => Cut { until: cut.return_position(returns[last]) + 1, ..*cut },
            None => Cut { until: 0, ..*cut },
        };
        if failed > 0 {
            self.look_near(cut, failed)?;
        }
        // The prefix up to return number `good` can be explained, and the prefix up to return
        // number `bad` cannot. Returns are counted from 1.
        let mut good = returns.partition_point(|op| cut.return_position(*op) < failed);
        let mut bad = returns.len();
        let mut stride = 1;
        while good + stride < bad {
            if self.explains(&until(good + stride))? {
                good += stride;
                stride *= 2;
            } else {
                bad = good + stride;
            }
        }
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if self.explains(&until(middle))? {
                good = middle;
            } else {
                bad = middle;
            }
        }
        let groups = self.explain(&until(good))?.expect("the prefix with the first `good` returns can be linearized");
        let refused = returns[good];
        let event = cut.return_position(refused);
        let (allowed, all_allowed) = self.allowed(cut, refused, event);
        Ok(Evidence {
            prefix: groups.concat(),
            together: sizes(&groups),
            refused,
            event,
            open: open_at_return(cut.history, cut.events, refused),
            allowed,
            all_allowed,
            is_first: true,
            conflict: Vec::new(),
            quasi: None,
        })
    }

    /// Returns the results that `refused` could have returned, and whether the list is complete.
    fn allowed(&mut self, cut: &Cut<'_, Op, Ret>, refused: OpId, event: u32) -> (Vec<Ret>, bool) {
        let Ok(results) = self.results(&Cut { until: event, ..*cut }, refused) else { return (Vec::new(), false) };
        let mut allowed = Vec::new();
        for result in &results {
            match self.explains(&Cut { until: event + 1, assumed: Some((refused, result)), ..*cut }) {
                Ok(false) => {}
                Ok(true) => allowed.push(result.clone()),
                Err(_) => return (allowed, false),
            }
        }
        (allowed, true)
    }
}

/// Returns a verdict with its statistics.
pub(super) fn judgment<Op, Ret>(
    history: &History<Op, Ret>,
    verdict: Verdict<Ret>,
    meter: &Meter,
    states: u64,
    started: Instant,
) -> Judgment<Ret> {
    let stats = Stats {
        partitions: history.object_count(),
        configurations: meter.configurations,
        peak_bytes: meter.peak_bytes,
        elapsed: started.elapsed(),
        states,
        ..Stats::default()
    };
    Judgment { verdict, stats }
}

/// Judges, object by object, whether a history can be explained.
pub(super) fn safety<Op, Ret: Clone>(history: &History<Op, Ret>, judge: &mut impl Explain<Op, Ret>) -> Verdict<Ret> {
    let parts = by_object(history);
    let mut all = Vec::new();
    let mut unknown = None;
    let mut rejected: Option<Evidence<Ret>> = None;
    let mut undecided = Vec::new();
    for events in parts.iter() {
        // Once an object is rejected, the remaining objects matter only if they are rejected at an
        // earlier event.
        let until = rejected.as_ref().map_or(u32::MAX, |evidence| evidence.event);
        match judge.safety(&Cut { until, ..Cut::whole(history, events) }) {
            Ok(Ok(groups)) => all.push(groups),
            Ok(Err(evidence)) => rejected = Some(evidence),
            // A limit was reached, but another object may still be rejected.
            Err(kind) => {
                undecided.push(events);
                unknown = unknown.or(Some(limit(history, kind)));
            }
        }
    }
    if let Some(mut evidence) = rejected {
        for events in undecided {
            let cut = Cut { until: evidence.event, ..Cut::whole(history, events) };
            evidence.is_first &= judge.explains(&cut) == Ok(true);
        }
        return Verdict::Rejected(evidence);
    }
    match unknown {
        Some(limit) => Verdict::Unknown(limit),
        None => Verdict::Accepted(Witness::in_groups(&merge(history, all))),
    }
}

/// Judges, object by object, whether an execution that did not return should have returned.
pub(super) fn progress<Op, Ret: Clone>(
    history: &History<Op, Ret>,
    judge: &mut impl Explain<Op, Ret>,
) -> ProgressVerdict<Ret> {
    let parts = by_object(history);
    let mut all = Vec::new();
    let mut unknown = None;
    for events in parts.iter() {
        match judge.progress(&Cut::whole(history, events)) {
            Ok(Ok(groups)) => all.push(groups),
            Ok(Err(verdict)) => return verdict,
            Err(kind) => unknown = unknown.or(Some(limit(history, kind))),
        }
    }
    match unknown {
        Some(limit) => ProgressVerdict::Unknown(limit),
        None => ProgressVerdict::Accepted(merge(history, all)),
    }
}

/// Merges the groups of several objects into one order.
fn merge<Op, Ret>(history: &History<Op, Ret>, mut all: Vec<Synchronizations>) -> Synchronizations {
    if all.len() == 1 {
        return all.pop().expect("the length is 1");
    }
    let mut placed = Vec::new();
    for groups in all {
        // Each group is placed as early as possible.
        let mut place = 0;
        for group in groups {
            place = group.iter().map(|op| history[*op].call_position()).fold(place, u32::max);
            placed.push((place, group));
        }
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, group)| group).collect()
}

fn limit<Op, Ret>(history: &History<Op, Ret>, kind: LimitKind) -> Limit {
    Limit { kind, event: 0, events: u32::try_from(history.events().len()).unwrap_or(u32::MAX) }
}

/// Returns the operations among these events, other than `returning`, that are open when
/// `returning` returns.
pub(super) fn open_at_return<Op, Ret>(history: &History<Op, Ret>, events: &[Event], returning: OpId) -> Vec<OpId> {
    frame::open_at_return(events, returning, |op| (history[op].call_position(), history[op].return_position()))
}
