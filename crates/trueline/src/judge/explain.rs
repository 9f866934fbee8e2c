//! Histories of one object up to a place, whether they can be explained, and where they cease to be.
//!
//! What an explanation is differs: synchronisations of open executions ([`sync`](super::sync)), or steps that they take
//! ([`interval`](super::interval)). Common to them is that it is a sequence of groups of executions, and that a history
//! that can be explained can be explained up to any place.

use std::time::Instant;

use super::frame;
use super::search::Meter;
use crate::history::{Event, EventKind, History, OpId, Outcome, by_object};
use crate::verdict::{
    Evidence, Judgement, Limit, LimitKind, ProgressVerdict, Stats, Synchronisations, Verdict, Witness, sizes,
};

/// The events of one object, up to a place.
pub(super) struct Cut<'a, Op, Ret> {
    pub(super) history: &'a History<Op, Ret>,
    pub(super) events: &'a [Event],
    /// Events from this position on have not happened: what returns there has not returned, with no result yet.
    pub(super) until: u32,
    /// Instead of what it returned, if it did.
    pub(super) assumed: Option<(OpId, &'a Ret)>,
    /// Whether executions that do not return are left out.
    pub(super) only_returned: bool,
}

impl<Op, Ret> Clone for Cut<'_, Op, Ret> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Op, Ret> Copy for Cut<'_, Op, Ret> {}

impl<'a, Op, Ret> Cut<'a, Op, Ret> {
    /// All events of an object.
    pub(super) fn whole(history: &'a History<Op, Ret>, events: &'a [Event]) -> Self {
        Self { history, events, until: u32::MAX, assumed: None, only_returned: false }
    }

    /// The events that have happened, with those of executions that are left out left out.
    pub(super) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.events_from(0)
    }

    /// The same, without the first so many of the part.
    pub(super) fn events_from(&self, first: usize) -> impl Iterator<Item = Event> + '_ {
        let happened = self.events[first..].iter().take_while(|event| self.position(Some(event)) < self.until);
        happened.copied().filter(|event| !self.only_returned || self.has_returned(event.op()))
    }

    /// Where an event is; behind everything if there is none.
    pub(super) fn position(&self, event: Option<&Event>) -> u32 {
        event.map_or(u32::MAX, |event| {
            let operation = &self.history[event.op()];
            match event.kind() {
                EventKind::Call => operation.call_position(),
                EventKind::Return => operation.return_position().expect("it has a return event"),
            }
        })
    }

    pub(super) fn has_returned(&self, op: OpId) -> bool {
        self.history[op].return_position().is_some_and(|position| position < self.until)
    }

    /// Where it returned; behind everything if it did not.
    pub(super) fn return_position(&self, op: OpId) -> u32 {
        self.history[op].return_position().filter(|position| *position < self.until).unwrap_or(u32::MAX)
    }

    pub(super) fn op(&self, op: OpId) -> &'a Op {
        &self.history[op].op
    }

    /// The result that it must have, if that is known.
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

/// An explanation, or what is given in its place.
type Explained<Other> = Result<Result<Synchronisations, Other>, LimitKind>;

/// A way to explain histories.
pub(super) trait Explain<Op, Ret: Clone> {
    /// What may have happened, replayed, if anything may.
    fn explain(&mut self, cut: &Cut<'_, Op, Ret>) -> Result<Option<Synchronisations>, LimitKind>;

    /// The same; if nothing may, a place that is not behind the first return that cannot be explained.
    fn explain_or_fail(&mut self, cut: &Cut<'_, Op, Ret>) -> Result<Result<Synchronisations, u32>, LimitKind> {
        Ok(self.explain(cut)?.ok_or(0))
    }

    /// Says that the next questions are about a part that is cut off behind `failed`, up to which nothing is wrong.
    fn look_near(&mut self, cut: &Cut<'_, Op, Ret>, failed: u32) -> Result<(), LimitKind> {
        let _ = (cut, failed);
        Ok(())
    }

    /// Whether anything may have happened.
    fn explains(&mut self, cut: &Cut<'_, Op, Ret>) -> Result<bool, LimitKind> {
        Ok(self.explain(cut)?.is_some())
    }

    /// What an execution that is open at the end may return, each once; some of it may lead nowhere.
    fn results(&mut self, cut: &Cut<'_, Op, Ret>, op: OpId) -> Result<Vec<Ret>, LimitKind>;

    /// An explanation in which nothing that should have returned did not; or why there is none.
    fn progress(&mut self, cut: &Cut<'_, Op, Ret>) -> Explained<ProgressVerdict<Ret>>;

    /// An explanation, or why there is none.
    fn safety(&mut self, cut: &Cut<'_, Op, Ret>) -> Explained<Evidence<Ret>> {
        match self.explain_or_fail(cut)? {
            Ok(groups) => Ok(Ok(groups)),
            Err(failed) => self.evidence(cut, failed).map(Err),
        }
    }

    /// Why a part is rejected: what is up to a return that cannot be explained is neither up to a later one. Nothing is
    /// wrong up to `failed`.
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
        // So many returns can be explained, and so many cannot.
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
        let groups = self.explain(&until(good))?.expect("so many returns can be explained");
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

    /// What `refused` could have returned, and whether this is all.
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

/// A verdict with what it cost.
pub(super) fn judgement<Op, Ret>(
    history: &History<Op, Ret>,
    verdict: Verdict<Ret>,
    meter: &Meter,
    states: u64,
    started: Instant,
) -> Judgement<Ret> {
    let stats = Stats {
        partitions: history.object_count(),
        configurations: meter.configurations,
        peak_bytes: meter.peak_bytes,
        elapsed: started.elapsed(),
        states,
        ..Stats::default()
    };
    Judgement { verdict, stats }
}

/// Whether a history can be explained, object by object.
pub(super) fn safety<Op, Ret: Clone>(history: &History<Op, Ret>, judge: &mut impl Explain<Op, Ret>) -> Verdict<Ret> {
    let parts = by_object(history);
    let mut all = Vec::new();
    let mut unknown = None;
    let mut rejected: Option<Evidence<Ret>> = None;
    let mut undecided = Vec::new();
    for events in parts.iter() {
        // Of the objects after a rejected one, it counts only whether they are rejected earlier.
        let until = rejected.as_ref().map_or(u32::MAX, |evidence| evidence.event);
        match judge.safety(&Cut { until, ..Cut::whole(history, events) }) {
            Ok(Ok(groups)) => all.push(groups),
            Ok(Err(evidence)) => rejected = Some(evidence),
            // Another object may still be wrong.
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

/// Whether something should have returned that did not, object by object.
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

/// The groups of several objects in one order.
fn merge<Op, Ret>(history: &History<Op, Ret>, mut all: Vec<Synchronisations>) -> Synchronisations {
    if all.len() == 1 {
        return all.pop().expect("there is one");
    }
    let mut placed = Vec::new();
    for groups in all {
        // Each as soon as possible.
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

/// The operations among these events that are open when `returning` returns, without it.
pub(super) fn open_at_return<Op, Ret>(history: &History<Op, Ret>, events: &[Event], returning: OpId) -> Vec<OpId> {
    frame::open_at_return(events, returning, |op| (history[op].call_position(), history[op].return_position()))
}
