//! P-compositional checking: a history is judged by its parts.
//!
//! Horn and Kroening, *Faster linearizability checking via P-compositionality* (2015), definition 6
//! and theorem 1; Herlihy and Wing's locality theorem is the special case in which each object is a
//! part. A part consists of all operations on one object with one key. The contract of
//! [`Spec::key`] makes this sound.
//!
//! Departures from the paper: the paper's partition is a function of the operation alone; here it
//! may also depend on the recorded result. An operation that spans keys (`size`, `clear`) disables
//! partitioning for its object. If all such operations are observers, each key is still judged
//! separately without the observers, and the rejection of a key is final: removing the observers
//! from a linearization of the whole object would give a linearization of the other operations. The
//! paper's example 9 (a stack partitioned by height) is unsound, and is not supported.
//!
//! Parts are judged in the order of their first calls, and the first rejected part ends the work.
//! With several threads, the verdict comes from the rejected part that is first in this order, so
//! it does not depend on the number of threads.
//!
//! # Complexity
//! The sum of the costs of the parts; merging the witnesses is linear in the number of events.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::auto::{self, Choice};
use super::erased::{Case, Keys, SPANS};
use super::frame::Frame;
use super::monitor::part::{By, MOST_TO_LOCATE};
use super::replay::{self, NotALinearization};
use super::search::Meter;
use super::search::automaton::ResultId;
use super::search::problem::{Classes, Task};
use super::worker::Worker;
use super::{
    Algorithm, CancelToken, Config, allowed, bounded, brute, compete, just_in_time, linear, monitor, versions,
    wing_gong,
};
use crate::history::{self, Event, EventKind, OpId};
use crate::verdict::{Contradiction, Evidence, Judgment, LimitKind, Stats, Verdict, Versions, Witness};

/// Judges a history by its parts.
pub(super) fn judge(case: &dyn Case, config: &Config, meter: &mut Meter) -> Judgment<ResultId> {
    let parts = Parts::new(case, config);
    let mut stats =
        Stats { algorithm: config.algorithm.to_string(), partitions: parts.whole.len(), ..Stats::default() };
    let mut choices = auto::Choices::default();
    let work = Work {
        case,
        frame: case.frame(),
        classes: OnceLock::new(),
        config,
        parts,
        is_replayed: case.left_out() <= MOST_LEFT_OUT,
        contradictions: Mutex::default(),
    };
    let threads = config.threads.min(work.parts.whole.len());
    let verdicts = if threads > 1 {
        work.judge_in_parallel(threads, meter, &mut stats, &mut choices)
    } else {
        work.judge_all(meter, &mut stats, &mut choices)
    };
    let competitors: Option<&[Algorithm]> = match &config.algorithm {
        Algorithm::Auto => Some(&[]),
        Algorithm::Compete(competitors) => Some(competitors),
        _ => None,
    };
    stats.choice = competitors.map(|competitors| choices.describe(work.parts.whole.len(), competitors));
    stats.versions = work.versions(&verdicts, &choices);
    // The configurations that are visited to complete the evidence are not counted, because the
    // algorithms of the papers do not visit them.
    stats.configurations = meter.configurations;
    let verdict = match work.combine(verdicts) {
        Ok(verdict) => verdict,
        Err((bad, _)) if !config.completes => Verdict::Rejected(bad.evidence),
        Err((bad, undecided)) => Verdict::Rejected(work.complete(*bad, undecided, meter, &mut stats)),
    };
    Judgment { verdict, stats }
}

/// Judges one part by an algorithm. If the algorithm chooses among several methods, also returns
/// the method that decided the part.
fn judge_by(
    worker: &mut Worker<'_>,
    task: Task<'_>,
    algorithm: &Algorithm,
    meter: &mut Meter,
) -> (Verdict<ResultId>, Option<Choice>) {
    let mut by_monitor = |by| match monitor::part::judge(worker, task, by, meter) {
        Ok((verdict, _)) => (verdict, None),
        Err(why) => (worker.unknown(LimitKind::Refused(why)), None),
    };
    let search = match algorithm {
        Algorithm::Auto => {
            let (verdict, choice) = auto::judge(worker, task, meter);
            return (verdict, Some(choice));
        }
        Algorithm::Monitor => return by_monitor(By::Type),
        Algorithm::QueueLowe => return by_monitor(By::QueueLowe),
        Algorithm::Brute => return (brute::search(worker.case, task.events, meter), None),
        Algorithm::Own(checker) => return (checker.search(worker.case, task.events, meter), None),
        Algorithm::Compete(algorithms) => {
            let judge: compete::JudgePart = |worker, task, algorithm, meter| judge_by(worker, task, algorithm, meter).0;
            let (verdict, winner) = compete::search(worker, task, algorithms, judge, meter);
            return (verdict, winner.map(Choice::Competitor));
        }
        Algorithm::WingGongTree => wing_gong::tree::search(worker.config),
        Algorithm::WingGongGraph => wing_gong::graph::search(worker.config),
        Algorithm::JustInTimeTree => just_in_time::tree::search(worker.config),
        Algorithm::JustInTimeGraph => just_in_time::graph::search(worker.config),
        Algorithm::Linear => linear::ahead(worker.config),
        Algorithm::LinearAtReturn => linear::at_return(worker.config),
        Algorithm::BoundedGraph => bounded::recent_or_costly(worker.config),
        Algorithm::BoundedGraphLru => bounded::least_recent(worker.config),
    };
    (worker.search(task, search, meter), None)
}

/// A part: a range of events in a buffer.
struct Section {
    buffer: usize,
    events: Range<usize>,
    /// Whether all operations of the part have the same key.
    one_key: bool,
    /// The range in [`Parts::early`] that holds a part for each key of the same object. The range
    /// is empty if the object has no such parts.
    early: Range<usize>,
}

/// The parts of a history.
struct Parts<'h> {
    buffers: Vec<Cow<'h, [Event]>>,
    /// The parts that together contain all operations: the history is linearizable if and only if all these parts are.
    whole: Vec<Section>,
    /// For each object that cannot be partitioned because of observers that span keys, a part for
    /// each key. These parts do not contain the observers that span keys. If such a part is
    /// rejected, so is the history, but accepting the part proves nothing.
    early: Vec<Section>,
}

impl<'h> Parts<'h> {
    fn new(case: &'h dyn Case, config: &Config) -> Self {
        let frame = case.frame();
        let mut parts = Self { buffers: Vec::new(), whole: Vec::new(), early: Vec::new() };
        let objects: Vec<Cow<'h, [Event]>> = match frame.objects {
            1 => vec![Cow::Borrowed(frame.events)],
            objects => {
                let split = history::split(frame.events, objects, |op| frame.object(op));
                split.iter().map(|events| Cow::Owned(events.to_vec())).collect()
            }
        };
        let keys = if config.partition { case.keys() } else { None };
        let Some(Keys { of, count, any_spans }) = keys else {
            for events in objects {
                parts.add_whole(events);
            }
            return parts;
        };
        let spans = |event: &Event| of[event.op().index()] == SPANS;
        for events in objects {
            if !any_spans || !events.iter().any(spans) {
                let by_key = parts.add_by_key(&events, count, &of);
                parts.whole.extend(by_key);
                continue;
            }
            let (spanning, keyed): (Vec<Event>, Vec<Event>) = events.iter().partition(|event| spans(event));
            parts.add_whole(events);
            if spanning.iter().all(|event| case.observes(event.op())) {
                let by_key = parts.add_by_key(&keyed, count, &of);
                let first = parts.early.len();
                parts.early.extend(by_key);
                let early = first..parts.early.len();
                parts.whole.last_mut().expect("the whole part was added above").early = early;
            }
        }
        parts
    }

    fn add_whole(&mut self, events: Cow<'h, [Event]>) {
        let section = Section { buffer: self.buffers.len(), events: 0..events.len(), one_key: false, early: 0..0 };
        self.buffers.push(events);
        self.whole.push(section);
    }

    /// Sorts the given events by key, adds them as a new buffer, and returns the sections of this
    /// buffer in the order of their keys.
    fn add_by_key(&mut self, events: &[Event], keys: usize, of: &[u32]) -> Vec<Section> {
        let split = history::split(events, keys, |op| of[op.index()] as usize);
        let buffer = self.buffers.len();
        let section = |events| Section { buffer, events, one_key: true, early: 0..0 };
        let sections = split.ranges().filter(|range| !range.is_empty()).map(section).collect();
        self.buffers.push(Cow::Owned(split.into_events()));
        sections
    }

    fn task(&self, section: &Section) -> Task<'_> {
        Task { events: &self.buffers[section.buffer][section.events.clone()], one_key: section.one_key }
    }

    /// Returns the events of a part before position `end`.
    fn task_before(&self, section: &Section, end: u32, frame: Frame<'_>) -> Task<'_> {
        let Task { events, one_key } = self.task(section);
        let until =
            if end == WHOLE { events.len() } else { events.partition_point(|event| frame.position(*event) < end) };
        Task { events: &events[..until], one_key }
    }
}

/// The value of `end` for a part that is judged as a whole.
const WHOLE: u32 = u32::MAX;

/// The maximum number of events of a short part, and of operations of a short linearization. Such
/// operations are still in the caches of the processor when they are needed again.
const SHORT: usize = 64;

/// The maximum number of operations that are left out of a history whose linearizations are replayed.
const MOST_LEFT_OUT: usize = 10;

/// The number of parts that are passed to `Work::touch` at a time. `Work::touch` skips the parts that are not short.
const TOUCHED: usize = 32;

/// The verdicts on the parts, in the order of the parts, up to the first rejected part.
struct Verdicts {
    orders: Orders,
    /// The verdict on the first part whose verdict is unknown.
    unknown: Option<Verdict<ResultId>>,
    /// The parts whose verdict is unknown.
    undecided: Vec<usize>,
    /// The rejected part and its evidence.
    rejected: Option<Bad>,
}

/// A rejected part.
struct Bad {
    index: usize,
    evidence: Evidence<ResultId>,
    /// The method that rejected the part, if the method was chosen automatically.
    choice: Option<Choice>,
}

impl Bad {
    /// Returns whether the part was rejected without considering its operations that span keys.
    fn is_early(&self) -> bool {
        self.choice == Some(Choice::OneKey)
    }
}

impl Verdicts {
    fn with_capacity(parts: usize, operations: usize) -> Self {
        // If there is only one part, its linearization is not copied, so no space is reserved for
        // it.
        let operations = if parts > 1 { operations } else { 0 };
        let orders = Orders { operations: Vec::with_capacity(operations), ends: Vec::with_capacity(parts) };
        Self { orders, unknown: None, undecided: Vec::new(), rejected: None }
    }

    /// Adds the verdict on the next part.
    fn push(&mut self, index: usize, verdict: Verdict<ResultId>, choice: Option<Choice>) {
        match verdict {
            Verdict::Accepted(witness) => self.orders.push(witness.order),
            Verdict::Rejected(evidence) => {
                self.rejected = Some(Bad { index, evidence, choice });
            }
            Verdict::Unknown(_) => {
                self.undecided.push(index);
                self.unknown.get_or_insert(verdict);
            }
        }
    }
}

/// The linearizations of the parts, concatenated into one vector, because there may be many short
/// ones.
struct Orders {
    operations: Vec<OpId>,
    /// For each part, the index in `operations` where its linearization ends.
    ends: Vec<u32>,
}

impl Orders {
    fn push(&mut self, order: Vec<OpId>) {
        if self.operations.capacity() == 0 {
            self.operations = order;
        } else {
            self.operations.extend_from_slice(&order);
        }
        self.ends.push(u32::try_from(self.operations.len()).expect("the number of operations fits in 32 bits"));
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[OpId]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.operations[start as usize..*end as usize])
    }
}

/// The history to judge, the parts of this history, and the options.
struct Work<'a> {
    case: &'a dyn Case,
    frame: Frame<'a>,
    classes: OnceLock<Classes>,
    config: &'a Config,
    parts: Parts<'a>,
    /// Whether linearizations are replayed. They are not if too many operations are left out: a replay tries both with
    /// and without each of them, so it could visit 2^n states. Only shrinking judges such histories, and it uses only
    /// the verdicts.
    is_replayed: bool,
    /// The parts that have no linearization in which the operations are in the order of their
    /// versions. Each entry holds the first operation of the part and the reason.
    contradictions: Mutex<Vec<(OpId, Contradiction)>>,
}

/// The state that several threads share.
struct Shared {
    /// The index of the next part that no thread has taken.
    next: AtomicUsize,
    /// The smallest index of a part that has been rejected so far. Parts with larger indices are no
    /// longer needed.
    first_bad: AtomicUsize,
    /// The parts that are being judged, with their cancel tokens.
    running: Mutex<Vec<(usize, CancelToken)>>,
    judged: Mutex<Vec<PartJudged>>,
}

/// A part that was judged by one of several threads.
struct PartJudged {
    index: usize,
    verdict: Verdict<ResultId>,
    choice: Option<Choice>,
    own: Meter,
    states: u64,
    backtracks: u64,
}

impl Work<'_> {
    /// Returns the number of parts that were accepted because of the versions of their operations.
    /// Also returns the first contradiction, that is, the reason why a part has no linearization in
    /// the order of versions. Ignores contradictions of parts that come after a rejected part:
    /// depending on timing, other threads may or may not have judged these parts.
    fn versions(&self, verdicts: &Verdicts, choices: &auto::Choices) -> Option<Versions> {
        let contradictions = self.contradictions.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = choices.by_versions();
        if contradictions.is_empty() {
            return (parts > 0).then_some(Versions { parts, contradiction: None });
        }
        let judged = verdicts.rejected.as_ref().map_or(self.parts.whole.len(), |bad| bad.index + 1);
        let judged: HashSet<OpId> =
            self.parts.whole[..judged].iter().map(|section| self.parts.task(section).events[0].op()).collect();
        let first = contradictions.iter().filter(|(first, _)| judged.contains(first)).min_by_key(|(first, _)| *first);
        Some(Versions { parts, contradiction: first.map(|(_, why)| *why) })
    }

    /// Judges the parts one after the other.
    fn judge_all(&self, meter: &mut Meter, stats: &mut Stats, choices: &mut auto::Choices) -> Verdicts {
        let mut worker = Worker::new(self.case, &self.classes, self.config);
        let mut verdicts = Verdicts::with_capacity(self.parts.whole.len(), self.frame.len());
        for (index, section) in self.parts.whole.iter().enumerate() {
            if index % TOUCHED == 0 {
                self.touch(&self.parts.whole[index..self.parts.whole.len().min(index + TOUCHED)]);
            }
            let mut own = meter.part(None, None);
            let (verdict, choice) = self.judge_one(&mut worker, section, WHOLE, &self.config.algorithm, &mut own);
            meter.add(&own);
            choices.count(choice);
            let ends = verdict.is_rejected() || is_out_of_time(&verdict);
            verdicts.push(index, verdict, choice);
            if ends {
                break;
            }
        }
        stats.states += worker.states();
        stats.backtracks += worker.backtracks;
        verdicts
    }

    /// Reads a field of each operation of the short parts that come next. These operations are
    /// scattered in memory. If each operation were read only when it is needed, the cache misses
    /// would come one after the other. If the operations are read together, their cache misses
    /// overlap.
    fn touch(&self, sections: &[Section]) {
        for section in sections.iter().filter(|section| section.events.len() <= SHORT) {
            self.case.touch(self.parts.task(section).events);
        }
    }

    /// Judges the parts on the given number of threads. The threads take the parts in order.
    fn judge_in_parallel(
        &self,
        threads: usize,
        meter: &mut Meter,
        stats: &mut Stats,
        choices: &mut auto::Choices,
    ) -> Verdicts {
        let shared = Shared {
            next: AtomicUsize::new(0),
            first_bad: AtomicUsize::new(usize::MAX),
            running: Mutex::default(),
            judged: Mutex::default(),
        };
        let from = &*meter;
        let work = || self.judge_parts(&shared, threads, from);
        std::thread::scope(|scope| {
            // If the system cannot start more threads, continue with fewer.
            let helpers: Vec<_> =
                (1..threads).map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
            work();
            for helper in helpers {
                // Forward a panic of the specification to the caller.
                helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        let mut judged = shared.judged.into_inner().unwrap_or_else(PoisonError::into_inner);
        judged.sort_unstable_by_key(|judged| judged.index);
        let mut verdicts = Verdicts::with_capacity(judged.len(), self.frame.len());
        // At most `threads` parts are judged at the same time. So the largest amount of memory that
        // one part took, times `threads`, bounds the amount that they took together.
        let mut peak = 0;
        for PartJudged { index, verdict, choice, mut own, states, backtracks } in judged {
            stats.states += states;
            stats.backtracks += backtracks;
            choices.count(choice);
            peak = peak.max(own.peak_bytes * threads as u64);
            own.peak_bytes = peak;
            meter.add(&own);
            let rejected = verdict.is_rejected();
            verdicts.push(index, verdict, choice);
            if rejected {
                break;
            }
        }
        verdicts
    }

    /// Judges parts on one of several threads until no part is left.
    fn judge_parts(&self, shared: &Shared, threads: usize, meter: &Meter) {
        let mut worker = Worker::new(self.case, &self.classes, self.config);
        let running = || shared.running.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let index = shared.next.fetch_add(1, Ordering::Relaxed);
            let Some(section) = self.parts.whole.get(index) else { return };
            let token = meter.token();
            {
                let mut running = running();
                if shared.first_bad.load(Ordering::Relaxed) < index {
                    return;
                }
                running.push((index, token.clone()));
            }
            let mut own = meter.share(threads, token);
            let before = (worker.states(), worker.backtracks);
            let (verdict, choice) = self.judge_one(&mut worker, section, WHOLE, &self.config.algorithm, &mut own);
            let mut running = running();
            running.retain(|(other, _)| *other != index);
            if verdict.is_rejected() {
                shared.first_bad.fetch_min(index, Ordering::Relaxed);
                for (_, token) in running.iter().filter(|(other, _)| *other > index) {
                    token.cancel();
                }
            }
            let (states, backtracks) = (worker.states() - before.0, worker.backtracks - before.1);
            let judged = PartJudged { index, verdict, choice, own, states, backtracks };
            shared.judged.lock().unwrap_or_else(PoisonError::into_inner).push(judged);
        }
    }

    /// Judges one part up to the event before `end`. Replays a short linearization before returning
    /// it.
    fn judge_one(
        &self,
        worker: &mut Worker<'_>,
        section: &Section,
        end: u32,
        algorithm: &Algorithm,
        meter: &mut Meter,
    ) -> (Verdict<ResultId>, Option<Choice>) {
        let task = self.parts.task_before(section, end, self.frame);
        let is_auto = *algorithm == Algorithm::Auto;
        if is_auto && end == WHOLE && self.config.versions {
            match versions::order(self.case, task.events, meter) {
                Some(Ok(order)) => {
                    let verdict = Verdict::Accepted(Witness::one_by_one(order));
                    return (verdict, Some(Choice::Versions));
                }
                Some(Err(why)) => {
                    let first = task.events[0].op();
                    self.contradictions.lock().unwrap_or_else(PoisonError::into_inner).push((first, why));
                }
                None => {}
            }
        }
        if is_auto {
            if let Some(order) = self.in_order_of_calls(task.events) {
                return (Verdict::Accepted(Witness::one_by_one(order)), Some(Choice::OrderOfCalls));
            }
        }
        let (verdict, choice) = match if is_auto { auto::by_monitor(worker, task, meter) } else { None } {
            Some((verdict, choice)) => (verdict, Some(choice)),
            None => {
                // Each of these parts has only one key, and lacks the operations that span keys. If
                // one of them is rejected, the part with all keys is rejected. If one of them is
                // accepted, this proves nothing about the part with all keys.
                for early in &self.parts.early[section.early.clone()] {
                    let task = self.parts.task_before(early, end, self.frame);
                    let (verdict, _) = judge_by(worker, task, algorithm, meter);
                    if verdict.is_rejected() || is_out_of_time(&verdict) {
                        return (verdict, Some(Choice::OneKey));
                    }
                }
                if is_auto {
                    let (verdict, choice) = auto::by_search(worker, task, meter);
                    (verdict, Some(choice))
                } else {
                    judge_by(worker, task, algorithm, meter)
                }
            }
        };
        if let Verdict::Accepted(witness) = &verdict {
            if witness.order.len() <= SHORT && self.is_replayed {
                self.trust(self.case.replay_parts(&witness.order, 1, None));
            }
        }
        (verdict, choice)
    }

    /// Unwraps the result of a replay. Panics if a linearization that was found cannot be replayed,
    /// because then no answer can be trusted.
    fn trust<T>(&self, replayed: Result<T, NotALinearization>) -> T {
        match replayed {
            Ok(replayed) => replayed,
            Err(problem) => panic!(
                "a linearization that was found cannot be replayed: {problem}. Either the specification is \
                 inconsistent (`step` must give the same outcomes each time, and `object`, `observes`, `overwrites`, \
                 `key` and `standard` must agree with it), or this is a bug in {}",
                self.config.algorithm
            ),
        }
    }

    /// Combines the verdicts on the parts into one verdict on the whole history. Replays a
    /// linearization before returning it. If a part was rejected, returns this part and the
    /// undecided parts as an error.
    fn combine(&self, verdicts: Verdicts) -> Result<Verdict<ResultId>, (Box<Bad>, Vec<usize>)> {
        let Verdicts { orders, unknown, undecided, rejected } = verdicts;
        if let Some(bad) = rejected {
            return Err((Box::new(bad), undecided));
        }
        if let Some(unknown) = unknown {
            return Ok(unknown);
        }
        assert_eq!(
            orders.len(),
            self.parts.whole.len(),
            "every part has a linearization, because no part is rejected or unknown"
        );
        Ok(Verdict::Accepted(Witness::one_by_one(self.trust(self.replay(orders)))))
    }

    /// Returns the evidence for the first failing event of the whole history, with the results that were allowed there.
    ///
    /// The parts that were not judged or not decided yet are judged up to the earliest failing
    /// event that is known so far. The rejected part is judged again up to this event in two cases:
    /// if its operations that span keys were left out, or if one of its earlier events may fail. If
    /// one of these parts is still undecided, it is not known whether the failing event is the
    /// first one.
    fn complete(&self, mut bad: Bad, mut open: Vec<usize>, meter: &mut Meter, stats: &mut Stats) -> Evidence<ResultId> {
        // The algorithm that judged the history may be unable to judge one part, or a prefix of the
        // history, on its own. So use the automatic choice, unless the algorithm is brute force.
        let algorithm = if self.config.algorithm == Algorithm::Brute { Algorithm::Brute } else { Algorithm::Auto };
        let mut worker = Worker::new(self.case, &self.classes, self.config);
        open.extend(bad.index + 1..self.parts.whole.len());
        if bad.is_early() || !bad.evidence.is_first {
            open.push(bad.index);
        }
        loop {
            let event = bad.evidence.event;
            let mut doubtful = Vec::new();
            for index in open {
                let most = MOST_TO_LOCATE.max(meter.configurations).max(8 * self.frame.events.len() as u64);
                let mut own = meter.part(Some(most), None);
                let section = &self.parts.whole[index];
                let end = bad.evidence.event;
                // Skip parts that have no events before `end`.
                let first = self.parts.task(section).events.first();
                if first.is_none_or(|first| self.frame.call(first.op()) >= end) {
                    continue;
                }
                let (verdict, choice) = self.judge_one(&mut worker, section, end, &algorithm, &mut own);
                meter.add(&own);
                match verdict {
                    Verdict::Accepted(_) => {}
                    Verdict::Unknown(_) => doubtful.push(index),
                    Verdict::Rejected(evidence) => {
                        bad = Bad { index, evidence, choice };
                        if bad.is_early() || !bad.evidence.is_first {
                            doubtful.push(index);
                        }
                    }
                }
            }
            // If an earlier failing event was found, judge the undecided parts again, up to that
            // event: they may be decided up to there.
            if doubtful.is_empty() || bad.evidence.event == event {
                bad.evidence.is_first = doubtful.is_empty();
                break;
            }
            open = doubtful;
        }
        let is_whole = !bad.is_early() && !self.parts.whole[bad.index].one_key;
        if bad.evidence.is_first {
            let turn = bad.choice.and_then(Choice::turn);
            let part = self.parts.task_before(&self.parts.whole[bad.index], bad.evidence.event + 1, self.frame);
            allowed::complete(&mut worker, &mut bad.evidence, part, is_whole, turn, meter);
        } else {
            bad.evidence.allowed.clear();
        }
        stats.states += worker.states();
        bad.evidence
    }

    /// Merges the linearizations of the parts into one, if all of them can be replayed.
    ///
    /// Short linearizations were replayed when they were found. Long ones are replayed together, in
    /// the order of the merged linearization, which is close to the order of the history: if the
    /// parts were replayed one after the other, each replay would scan the memory of the whole
    /// history.
    fn replay(&self, orders: Orders) -> Result<Vec<OpId>, NotALinearization> {
        let mut long = 0;
        // For each operation, the index of its part in the list of long parts.
        let mut part_of: Vec<u32> = Vec::new();
        for order in orders.iter().filter(|order| order.len() > SHORT) {
            part_of.resize(self.frame.len(), SPANS);
            order.iter().for_each(|op| part_of[op.index()] = long);
            long += 1;
        }
        let order = merge(self.frame, orders);
        replay::keeps_order(self.frame, &order)?;
        if long > 0 && self.is_replayed {
            self.case.replay_parts(&order, long as usize, Some(&part_of))?;
        }
        Ok(order)
    }

    /// Returns the operations of a part in the order of their calls. Returns `None` if the part is
    /// not short, if two of its operations overlap, or if this order is not legal. (If no two
    /// operations overlap, no other order is possible.)
    fn in_order_of_calls(&self, events: &[Event]) -> Option<Vec<OpId>> {
        let is_alone =
            |pair: &[Event]| matches!(pair, [call, ret] if call.kind() == EventKind::Call && call.op() == ret.op());
        // It is faster to replay long parts together, because their operations are interleaved: see
        // `replay`.
        if events.len() > SHORT || !self.is_replayed || !events.chunks(2).all(is_alone) {
            return None;
        }
        let order: Vec<OpId> = events.iter().step_by(2).map(|event| event.op()).collect();
        self.case.replay_parts(&order, 1, None).is_ok().then_some(order)
    }
}

fn is_out_of_time(verdict: &Verdict<ResultId>) -> bool {
    matches!(verdict, Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Time | LimitKind::Cancelled))
}

/// Merges the linearizations of the parts into one.
///
/// The *time* of an operation is the position of the latest call among the operation itself and the
/// operations before it in the linearization of its part. The operation can take effect at this
/// time. The time is before the return of the operation, because otherwise the order would not keep
/// the real-time order `<_h`. Sorting all operations by this time keeps the order of each part, and
/// keeps `<_h`: if a returned before b was called, then a's time is before a's return, and b's time
/// is not before b's call.
fn merge(frame: Frame<'_>, orders: Orders) -> Vec<OpId> {
    if orders.len() <= 1 {
        return orders.operations;
    }
    // Times are positions of calls, so a counting sort works.
    let mut starts = vec![0u32; frame.events.len() + 1];
    let times = |order: &[OpId], each: &mut dyn FnMut(OpId, usize)| {
        let mut latest = 0;
        for &op in order {
            latest = latest.max(frame.call(op));
            each(op, latest as usize);
        }
    };
    for order in orders.iter() {
        times(order, &mut |_, time| starts[time + 1] += 1);
    }
    for time in 1..starts.len() {
        starts[time] += starts[time - 1];
    }
    let mut merged = vec![OpId(0); orders.operations.len()];
    for order in orders.iter() {
        times(order, &mut |op, time| {
            merged[starts[time] as usize] = op;
            starts[time] += 1;
        });
    }
    merged
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::time::Instant;

    use super::super::check_case;
    use super::super::erased::Typed;
    use super::*;
    use crate::history::History;
    use crate::spec::{Kv, KvOp, KvRet};

    /// With and without each of 40 appends, the string could be one of 2^40: a replay must not visit them all.
    #[test]
    fn operations_that_are_left_out_are_not_replayed_in_all_combinations() {
        let mut builder = History::builder();
        let mut all = String::new();
        for number in 0..40 {
            let text = format!("{number} ");
            all += &text;
            builder.call(0, KvOp::Append((), text.as_str().into())).expect("the process has no open call");
            builder.ret(0, KvRet::Done).expect("the process has an open call");
        }
        builder.call(1, KvOp::Get(())).expect("the process has no open call");
        builder.ret(1, KvRet::Value(all.as_str().into())).expect("the process has an open call");
        let history = builder.finish();
        let left_out = (0..41).map(|operation| operation < 40).collect();
        let spec = Kv::new();
        let case = Typed::new(&spec, Cow::Borrowed(&history)).leaving_out(left_out);
        let judgment = check_case(&case, &Config::new().verdict_only(), Instant::now());
        assert!(judgment.verdict.is_accepted());
    }
}
