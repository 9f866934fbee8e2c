//! P-compositional checking: a history is judged by its parts.
//!
//! Horn and Kroening, *Faster linearizability checking via P-compositionality* (2015), definition 6 and theorem 1;
//! Herlihy and Wing's locality theorem is the case of objects. A part is all operations on one object with one key;
//! the promise that makes this sound is [`Spec::key`]'s.
//!
//! Departures. The paper's partition is a function of the operation alone; here it may look at the recorded result
//! too. An operation that spans keys (`size`, `clear`) turns partitioning off for its object; if all such operations
//! are observers, each key is still judged alone without them, and a rejection there stands: a linearization of the
//! whole, less the observers, would be one of what is left. The paper's example 9 (a stack by height) is unsound, and
//! is not offered.
//!
//! Parts are judged in the order of their first calls, and the first bad one ends the work. On several threads the
//! answer is that of the bad part that comes first in this order, so that it is the same as on one.
//!
//! # Complexity
//! The sum over the parts; merging the witnesses is linear in the number of events.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;

use super::auto::{self, Choice};
use super::numbers::{self, Numbers};
use super::part::Worker;
use super::replay::{self, NotALinearization};
use super::search::Meter;
use super::search::problem::{Classes, Task};
use super::{Algorithm, CancelToken, Config};
use crate::history::{self, Event, EventKind, History, OpId, Operation};
use crate::spec::Spec;
use crate::verdict::{Judgement, LimitKind, Stats, Verdict, Witness};

/// Judges a history by its parts.
pub(super) fn judge<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    config: &Config,
    meter: &mut Meter,
) -> Judgement<S::Ret> {
    let parts = Parts::new(spec, history, config);
    let mut stats =
        Stats { algorithm: config.algorithm.to_string(), partitions: parts.whole.len(), ..Stats::default() };
    let mut choices = auto::Choices::default();
    let work = Work { spec, history, classes: OnceLock::new(), config, parts };
    let threads = config.threads.min(work.parts.whole.len());
    let verdicts = if threads > 1 {
        work.judge_in_parallel(threads, meter, &mut stats, &mut choices)
    } else {
        work.judge_all(meter, &mut stats, &mut choices)
    };
    stats.choice = (config.algorithm == Algorithm::Auto).then(|| choices.describe(work.parts.whole.len()));
    Judgement { verdict: work.combine(verdicts), stats }
}

/// A part: some events of a buffer.
struct Section {
    buffer: usize,
    events: Range<usize>,
    /// Whether all its operations have the same key.
    one_key: bool,
    /// Which of [`Parts::early`] are its parts by key.
    early: Range<usize>,
}

/// The key of an operation that has none.
const SPANS: u32 = u32::MAX;

/// The parts of a history.
struct Parts<'h> {
    buffers: Vec<Cow<'h, [Event]>>,
    /// Parts that have all operations between them: the history is linearizable if and only if all of them are.
    whole: Vec<Section>,
    /// Parts by key of objects that cannot be partitioned because of observers that span keys: without those, a part
    /// that is rejected rejects the history, and nothing else follows.
    early: Vec<Section>,
}

impl<'h> Parts<'h> {
    fn new<S: Spec>(spec: &S, history: &'h History<S::Op, S::Ret>, config: &Config) -> Self {
        let mut parts = Self { buffers: Vec::new(), whole: Vec::new(), early: Vec::new() };
        let objects: Vec<Cow<'h, [Event]>> = match history.object_count() {
            1 => vec![Cow::Borrowed(history.events())],
            _ => history::by_object(history).iter().map(|events| Cow::Owned(events.to_vec())).collect(),
        };
        let keys = if config.partition { Keys::new(spec, history) } else { None };
        let Some(Keys { of, count, any_spans }) = keys else {
            for events in objects {
                parts.add_whole(events);
            }
            return parts;
        };
        let spans = |event: &Event| of[event.op().index()] == SPANS;
        let observes = |event: &Event| {
            let operation = &history[event.op()];
            spec.observes(&operation.op, operation.outcome.result())
        };
        for events in objects {
            if !any_spans || !events.iter().any(spans) {
                let by_key = parts.add_by_key(&events, count, &of);
                parts.whole.extend(by_key);
                continue;
            }
            let (spanning, keyed): (Vec<Event>, Vec<Event>) = events.iter().partition(|event| spans(event));
            parts.add_whole(events);
            if spanning.iter().all(observes) {
                let by_key = parts.add_by_key(&keyed, count, &of);
                let first = parts.early.len();
                parts.early.extend(by_key);
                let early = first..parts.early.len();
                parts.whole.last_mut().expect("it was added").early = early;
            }
        }
        parts
    }

    fn add_whole(&mut self, events: Cow<'h, [Event]>) {
        let section = Section { buffer: self.buffers.len(), events: 0..events.len(), one_key: false, early: 0..0 };
        self.buffers.push(events);
        self.whole.push(section);
    }

    /// The sections of a new buffer with these events by key, in the order of their keys.
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
}

/// The keys of all operations.
struct Keys {
    /// By operation: the number of its key, or [`SPANS`].
    of: Vec<u32>,
    count: usize,
    any_spans: bool,
}

impl Keys {
    /// `None` if no operation has a key.
    fn new<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>) -> Option<Self> {
        let (mut numbers, mut keys) = (Numbers::default(), Vec::new());
        let mut of: Vec<u32> = Vec::with_capacity(history.len());
        let mut any_spans = false;
        for operation in history.operations() {
            let Some(key) = spec.key(&operation.op, operation.outcome.result()) else {
                any_spans = true;
                of.push(SPANS);
                continue;
            };
            let hash = numbers::hash_of(&key);
            let number = numbers.number(hash, history.len() / 4, |number| keys[number] == key);
            if number as usize == keys.len() {
                keys.push(key);
            }
            of.push(number);
        }
        (!keys.is_empty()).then_some(Self { of, count: keys.len(), any_spans })
    }
}

/// So many events are few: operations of a part that short are still in the caches when they are needed again.
const SHORT: usize = 64;

/// So many short parts are read at a time.
const TOUCHED: usize = 32;

/// The verdicts on the parts, in their order, up to the first that is rejected.
struct Verdicts<Ret> {
    orders: Orders,
    /// The one that is rejected; the first that is unknown if none is.
    other: Option<Verdict<Ret>>,
}

impl<Ret> Verdicts<Ret> {
    fn with_capacity(parts: usize, operations: usize) -> Self {
        // The order of an only part is not copied.
        let operations = if parts > 1 { operations } else { 0 };
        let orders = Orders { operations: Vec::with_capacity(operations), ends: Vec::with_capacity(parts) };
        Self { orders, other: None }
    }

    /// Adds the verdict on the next part.
    fn push(&mut self, verdict: Verdict<Ret>) {
        match verdict {
            Verdict::Accepted(witness) => self.orders.push(witness.order),
            Verdict::Rejected(_) => self.other = Some(verdict),
            Verdict::Unknown(_) => {
                self.other.get_or_insert(verdict);
            }
        }
    }
}

/// Linearizations of parts, one behind the other: where there are many, most are short.
struct Orders {
    operations: Vec<OpId>,
    /// By part: where its operations end.
    ends: Vec<u32>,
}

impl Orders {
    fn push(&mut self, order: Vec<OpId>) {
        if self.operations.capacity() == 0 {
            self.operations = order;
        } else {
            self.operations.extend_from_slice(&order);
        }
        self.ends.push(u32::try_from(self.operations.len()).expect("operations are counted in 32 bits"));
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn iter(&self) -> impl Iterator<Item = &[OpId]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.operations[start as usize..*end as usize])
    }
}

/// What there is to do.
struct Work<'a, S: Spec> {
    spec: &'a S,
    history: &'a History<S::Op, S::Ret>,
    classes: OnceLock<Classes>,
    config: &'a Config,
    parts: Parts<'a>,
}

impl<S: Spec> Work<'_, S> {
    /// The verdicts on the parts.
    fn judge_all(&self, meter: &mut Meter, stats: &mut Stats, choices: &mut auto::Choices) -> Verdicts<S::Ret> {
        let mut worker = Worker::new(self.spec, self.history, &self.classes, self.config);
        let mut verdicts = Verdicts::with_capacity(self.parts.whole.len(), self.history.len());
        for (index, section) in self.parts.whole.iter().enumerate() {
            if index % TOUCHED == 0 {
                self.touch(&self.parts.whole[index..self.parts.whole.len().min(index + TOUCHED)]);
            }
            let mut own = meter.part(None, None);
            let (verdict, choice) = self.judge_one(&mut worker, section, &mut own);
            meter.add(&own);
            choices.count(choice);
            let ends = verdict.is_rejected() || is_out_of_time(&verdict);
            verdicts.push(verdict);
            if ends {
                break;
            }
        }
        stats.states += worker.states();
        stats.backtracks += worker.backtracks;
        verdicts
    }

    /// Reads something of each operation of parts that are short and come next. They lie apart in memory; read one after
    /// the other when they are needed, each would be waited for, but now the waits overlap.
    fn touch(&self, sections: &[Section]) {
        let short = sections.iter().filter(|section| section.events.len() <= SHORT);
        let operations =
            short.flat_map(|section| self.parts.task(section).events).map(|event| &self.history[event.op()]);
        std::hint::black_box(operations.fold(0, |sum: u32, operation| sum.wrapping_add(operation.process.0)));
    }

    fn judge_in_parallel(
        &self,
        threads: usize,
        meter: &mut Meter,
        stats: &mut Stats,
        choices: &mut auto::Choices,
    ) -> Verdicts<S::Ret> {
        let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else {
            // The system has no more threads to give: one will do.
            return self.judge_all(meter, stats, choices);
        };
        // The first part that was rejected so far; those behind it are not needed any more.
        let first_bad = AtomicUsize::new(usize::MAX);
        let running: Mutex<Vec<(usize, CancelToken)>> = Mutex::new(Vec::new());
        let running = || running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let shared = &*meter;
        let judge_part = |worker: &mut Worker<'_, S>, index: usize| {
            let token = shared.token();
            {
                let mut running = running();
                if first_bad.load(Ordering::Relaxed) < index {
                    return None;
                }
                running.push((index, token.clone()));
            }
            let mut own = shared.share(threads, token);
            let before = (worker.states(), worker.backtracks);
            let (verdict, choice) = self.judge_one(worker, &self.parts.whole[index], &mut own);
            let mut running = running();
            running.retain(|(other, _)| *other != index);
            if verdict.is_rejected() {
                first_bad.fetch_min(index, Ordering::Relaxed);
                for (_, token) in running.iter().filter(|(other, _)| *other > index) {
                    token.cancel();
                }
            }
            Some((verdict, choice, own, (worker.states() - before.0, worker.backtracks - before.1)))
        };
        let worker = || Worker::new(self.spec, self.history, &self.classes, self.config);
        let results: Vec<_> =
            pool.install(|| (0..self.parts.whole.len()).into_par_iter().map_init(worker, judge_part).collect());
        let mut verdicts = Verdicts::with_capacity(results.len(), self.history.len());
        // At most `threads` parts are judged at once.
        let mut peak = 0;
        for result in results {
            let Some((verdict, choice, mut own, (states, backtracks))) = result else { break };
            stats.states += states;
            stats.backtracks += backtracks;
            choices.count(choice);
            peak = peak.max(own.peak_bytes * threads as u64);
            own.peak_bytes = peak;
            meter.add(&own);
            let rejected = verdict.is_rejected();
            verdicts.push(verdict);
            if rejected {
                break;
            }
        }
        verdicts
    }

    /// Judges one part. If that is short, its linearization has been replayed.
    fn judge_one(
        &self,
        worker: &mut Worker<'_, S>,
        section: &Section,
        meter: &mut Meter,
    ) -> (Verdict<S::Ret>, Option<Choice>) {
        let task = self.parts.task(section);
        let is_auto = self.config.algorithm == Algorithm::Auto;
        if is_auto {
            if let Some(order) = self.in_order_of_calls(task.events) {
                return (Verdict::Accepted(Witness::one_by_one(order)), Some(Choice::OrderOfCalls));
            }
        }
        let (verdict, choice) = match if is_auto { auto::by_monitor(worker, task, meter) } else { None } {
            Some((verdict, choice)) => (verdict, Some(choice)),
            None => {
                // Parts without the operations that span keys can only reject.
                for early in &self.parts.early[section.early.clone()] {
                    let (verdict, _) = worker.judge(self.parts.task(early), &self.config.algorithm, meter);
                    if verdict.is_rejected() || is_out_of_time(&verdict) {
                        return (verdict, Some(Choice::OneKey));
                    }
                }
                worker.judge_refused(task, &self.config.algorithm, meter)
            }
        };
        if let Verdict::Accepted(witness) = &verdict {
            if witness.order.len() <= SHORT {
                self.trust(replay::replay_part(self.spec, self.history, &witness.order));
            }
        }
        (verdict, choice)
    }

    /// What was replayed is what was found, or else there is nobody to be trusted.
    fn trust<T>(&self, replayed: Result<T, NotALinearization>) -> T {
        match replayed {
            Ok(replayed) => replayed,
            Err(problem) => panic!(
                "a linearization that was found cannot be replayed: {problem}. The specification contradicts itself \
                 (does `step` answer the same each time; are `object`, `observes`, `overwrites`, `key` and `standard` \
                 true?), or this is a bug in {}",
                self.config.algorithm
            ),
        }
    }

    /// The verdict on the whole, from those of the parts. A linearization is replayed before it is given.
    fn combine(&self, verdicts: Verdicts<S::Ret>) -> Verdict<S::Ret> {
        if let Some(other) = verdicts.other {
            return other;
        }
        assert_eq!(verdicts.orders.len(), self.parts.whole.len(), "parts are left out only behind another verdict");
        Verdict::Accepted(Witness::one_by_one(self.trust(self.replay(verdicts.orders))))
    }

    /// One linearization from those of the parts, if all of them can be replayed.
    ///
    /// Short ones were replayed when they were found. Long ones are replayed side by side, in the order of the whole,
    /// which is about the order of the history: one after the other, each would go through all of its memory.
    fn replay(&self, orders: Orders) -> Result<Vec<OpId>, NotALinearization> {
        let mut long = 0;
        // By operation: the number of its part among long ones.
        let mut part_of: Vec<u32> = Vec::new();
        for order in orders.iter().filter(|order| order.len() > SHORT) {
            part_of.resize(self.history.len(), SPANS);
            order.iter().for_each(|op| part_of[op.index()] = long);
            long += 1;
        }
        let order = merge(self.history, orders);
        replay::keeps_order(self.history, &order)?;
        if long > 0 {
            let part = |op: OpId| Some(part_of[op.index()]).filter(|part| *part != SPANS).map(|part| part as usize);
            replay::replay_parts(self.spec, self.history, &order, long as usize, part)?;
        }
        Ok(order)
    }

    /// The operations in the order of their calls, if no two overlap and that is legal. (If it is not, nothing is.)
    fn in_order_of_calls(&self, events: &[Event]) -> Option<Vec<OpId>> {
        let is_alone =
            |pair: &[Event]| matches!(pair, [call, ret] if call.kind() == EventKind::Call && call.op() == ret.op());
        // Long parts have other parts between their operations, and are better replayed with those.
        if events.len() > SHORT || !events.chunks(2).all(is_alone) {
            return None;
        }
        let order: Vec<OpId> = events.iter().step_by(2).map(|event| event.op()).collect();
        replay::replay_part(self.spec, self.history, &order).is_ok().then_some(order)
    }
}

fn is_out_of_time<Ret>(verdict: &Verdict<Ret>) -> bool {
    matches!(verdict, Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Time | LimitKind::Cancelled))
}

/// One linearization from those of the parts.
///
/// In its part, an operation can take effect at the latest of the calls up to it in the order of the part; that is
/// before its return, or the order would not keep `<_h`. Sorting all operations by this time keeps the order of each
/// part, and keeps `<_h`: if a returned before b was called, then a's time is before its return, and b's is not before
/// its call.
fn merge<Op, Ret>(history: &History<Op, Ret>, orders: Orders) -> Vec<OpId> {
    if orders.len() <= 1 {
        return orders.operations;
    }
    // Times are positions of calls, so sorting is counting. The calls are copied first: one pass through the history,
    // and then only through this.
    let calls: Vec<u32> = history.operations().iter().map(Operation::call_position).collect();
    let mut starts = vec![0u32; history.events().len() + 1];
    let times = |order: &[OpId], each: &mut dyn FnMut(OpId, usize)| {
        let mut latest = 0;
        for &op in order {
            latest = latest.max(calls[op.index()]);
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
