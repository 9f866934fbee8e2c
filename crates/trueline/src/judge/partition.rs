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
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::part::Worker;
use super::search::problem::{Classes, Task};
use super::search::{Meter, hash};
use super::{Algorithm, CancelToken, Config, auto, replay};
use crate::history::{self, Event, History, OpId, Operation};
use crate::spec::Spec;
use crate::verdict::{Judgement, LimitKind, Stats, Verdict, Witness};

/// Judges a history by its parts.
pub(super) fn judge<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    config: &Config,
    meter: &mut Meter,
) -> Judgement<S::Ret> {
    let classes = OnceLock::new();
    let parts = Parts::new(spec, history, config);
    let mut stats =
        Stats { algorithm: config.algorithm.to_string(), partitions: parts.whole.len(), ..Stats::default() };
    let mut choices = auto::Choices::default();

    // Parts without the operations that span keys can only reject.
    if !parts.early.is_empty() {
        let (verdicts, _) = judge_all(spec, history, &classes, config, &parts.early, meter, &mut stats, &mut choices);
        if let Some(rejected) = verdicts.into_iter().find(Verdict::is_rejected) {
            stats.choice = (config.algorithm == Algorithm::Auto)
                .then(|| format!("by key, without what spans keys: {}", choices.describe(parts.early.len())));
            return Judgement { verdict: rejected, stats };
        }
        choices = auto::Choices::default();
    }

    let (verdicts, complete) =
        judge_all(spec, history, &classes, config, &parts.whole, meter, &mut stats, &mut choices);
    stats.choice = (config.algorithm == Algorithm::Auto).then(|| choices.describe(parts.whole.len()));
    let verdict = combine(spec, history, &config.algorithm, verdicts, complete);
    Judgement { verdict, stats }
}

/// The events of a part, and whether it has one key only.
struct Section<'h> {
    events: Cow<'h, [Event]>,
    one_key: bool,
}

impl Section<'_> {
    fn task(&self) -> Task<'_> {
        Task { events: &self.events, one_key: self.one_key }
    }
}

/// The key of an operation that has none.
const SPANS: u32 = u32::MAX;

/// The parts of a history.
struct Parts<'h> {
    /// Parts that have all operations between them: the history is linearizable if and only if all of them are.
    whole: Vec<Section<'h>>,
    /// Parts by key of objects that cannot be partitioned because of observers that span keys: without those, a part
    /// that is rejected rejects the history, and nothing else follows.
    early: Vec<Section<'h>>,
}

impl<'h> Parts<'h> {
    fn new<S: Spec>(spec: &S, history: &'h History<S::Op, S::Ret>, config: &Config) -> Self {
        let objects: Vec<Cow<'h, [Event]>> = match history.object_count() {
            1 => vec![Cow::Borrowed(history.events())],
            _ => history::by_object(history).into_iter().map(|part| Cow::Owned(part.events)).collect(),
        };
        let whole = |events| Section { events, one_key: false };
        if !config.partition {
            return Self { whole: objects.into_iter().map(whole).collect(), early: Vec::new() };
        }
        // By operation: the number of its key, or none.
        let mut numbers: HashMap<S::Key, u32, hash::Builder> = HashMap::default();
        let mut keys: Vec<u32> = Vec::with_capacity(history.len());
        let mut any_spans = false;
        for operation in history.operations() {
            let key = spec.key(&operation.op, operation.outcome.result());
            any_spans |= key.is_none();
            let next = u32::try_from(numbers.len()).expect("no more keys than operations");
            keys.push(key.map_or(SPANS, |key| *numbers.entry(key).or_insert(next)));
        }
        if numbers.is_empty() {
            return Self { whole: objects.into_iter().map(whole).collect(), early: Vec::new() };
        }
        let spans = |event: &Event| keys[event.op().index()] == SPANS;
        let observes = |event: &Event| {
            let operation = &history[event.op()];
            spec.observes(&operation.op, operation.outcome.result())
        };
        let by_key = |events: &[Event]| {
            let key = |op: OpId| keys[op.index()] as usize;
            let mut parts = history::split(events, numbers.len(), key);
            parts.retain(|part| !part.events.is_empty());
            parts.into_iter().map(|part| Section { events: Cow::Owned(part.events), one_key: true })
        };
        let mut parts = Self { whole: Vec::new(), early: Vec::new() };
        for events in objects {
            if !any_spans || !events.iter().any(spans) {
                parts.whole.extend(by_key(&events));
                continue;
            }
            let (spanning, keyed): (Vec<Event>, Vec<Event>) = events.iter().partition(|event| spans(event));
            if spanning.iter().all(observes) {
                parts.early.extend(by_key(&keyed));
            }
            parts.whole.push(whole(events));
        }
        parts
    }
}

/// The verdicts on the parts, in their order, up to the first that is rejected, and whether none was left out.
#[expect(clippy::too_many_arguments, reason = "the state of one call of `judge`")]
fn judge_all<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    classes: &OnceLock<Classes>,
    config: &Config,
    parts: &[Section<'_>],
    meter: &mut Meter,
    stats: &mut Stats,
    choices: &mut auto::Choices,
) -> (Vec<Verdict<S::Ret>>, bool) {
    let threads = config.threads.min(parts.len());
    if threads > 1 {
        return judge_in_parallel(spec, history, classes, config, parts, threads, meter, stats, choices);
    }
    let mut worker = Worker::new(spec, history, classes, config);
    let mut verdicts = Vec::with_capacity(parts.len());
    for part in parts {
        let mut own = meter.part(None, None);
        let (verdict, choice) = worker.judge(part.task(), &config.algorithm, &mut own);
        meter.add(&own);
        choices.count(choice);
        let ends = verdict.is_rejected()
            || matches!(&verdict, Verdict::Unknown(limit) if matches!(limit.kind, LimitKind::Time | LimitKind::Cancelled));
        verdicts.push(verdict);
        if ends {
            break;
        }
    }
    stats.states += worker.states();
    stats.backtracks += worker.backtracks;
    let complete = verdicts.len() == parts.len();
    (verdicts, complete)
}

#[expect(clippy::too_many_arguments, reason = "the state of one call of `judge`")]
fn judge_in_parallel<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    classes: &OnceLock<Classes>,
    config: &Config,
    parts: &[Section<'_>],
    threads: usize,
    meter: &mut Meter,
    stats: &mut Stats,
    choices: &mut auto::Choices,
) -> (Vec<Verdict<S::Ret>>, bool) {
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() else {
        // The system has no more threads to give: one will do.
        let config = config.clone().threads(1);
        return judge_all(spec, history, classes, &config, parts, meter, stats, choices);
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
        let (verdict, choice) = worker.judge(parts[index].task(), &config.algorithm, &mut own);
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
    let results: Vec<_> = pool.install(|| {
        (0..parts.len()).into_par_iter().map_init(|| Worker::new(spec, history, classes, config), judge_part).collect()
    });
    let mut verdicts = Vec::with_capacity(parts.len());
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
    let complete = verdicts.len() == parts.len();
    (verdicts, complete)
}

/// The verdict on the whole. A linearization is replayed, part by part, before it is given.
fn combine<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    algorithm: &Algorithm,
    verdicts: Vec<Verdict<S::Ret>>,
    complete: bool,
) -> Verdict<S::Ret> {
    let mut orders = Vec::with_capacity(verdicts.len());
    let mut unknown = None;
    for verdict in verdicts {
        match verdict {
            Verdict::Accepted(witness) => orders.push(witness.order),
            Verdict::Rejected(_) => return verdict,
            Verdict::Unknown(_) => unknown = unknown.or(Some(verdict)),
        }
    }
    if let Some(unknown) = unknown {
        return unknown;
    }
    assert!(complete, "parts are left out only behind a rejected or unknown one");
    let (order, parts) = merge(history, orders);
    if let Err(problem) = replay::replay_parts(spec, history, &order, |place| parts[place] as usize) {
        panic!(
            "a linearization that was found cannot be replayed: {problem}. The specification contradicts itself (does \
             `step` answer the same each time; are `observes`, `overwrites`, `key` and `standard` true?), or this is a bug in \
             {algorithm}"
        );
    }
    Verdict::Accepted(Witness { order })
}

/// One linearization from those of the parts, and by place in it the number of the part.
///
/// In its part, an operation can take effect at the latest of the calls up to it in the order of the part; that is
/// before its return, or the order would not keep `<_h`. Sorting all operations by this time keeps the order of each
/// part, and keeps `<_h`: if a returned before b was called, then a's time is before its return, and b's is not before
/// its call.
fn merge<Op, Ret>(history: &History<Op, Ret>, mut orders: Vec<Vec<OpId>>) -> (Vec<OpId>, Vec<u32>) {
    if orders.len() <= 1 {
        let order = orders.pop().unwrap_or_default();
        let parts = vec![0; order.len()];
        return (order, parts);
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
    for order in &orders {
        times(order, &mut |_, time| starts[time + 1] += 1);
    }
    for time in 1..starts.len() {
        starts[time] += starts[time - 1];
    }
    let count = orders.iter().map(Vec::len).sum();
    let (mut merged, mut parts) = (vec![OpId(0); count], vec![0; count]);
    for (part, order) in (0u32..).zip(&orders) {
        times(order, &mut |op, time| {
            let place = starts[time] as usize;
            merged[place] = op;
            parts[place] = part;
            starts[time] += 1;
        });
    }
    (merged, parts)
}
