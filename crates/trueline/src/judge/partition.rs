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

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashMap;
use rayon::prelude::*;

use super::part::Worker;
use super::search::problem::{Classes, Task};
use super::search::{Meter, hash};
use super::{Algorithm, CancelToken, Config, auto, replay};
use crate::history::{self, History, OpId, Part};
use crate::spec::Spec;
use crate::verdict::{Judgement, LimitKind, Stats, Verdict, Witness};

/// Judges a history by its parts.
pub(super) fn judge<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    config: &Config,
    meter: &mut Meter,
) -> Judgement<S::Ret> {
    let classes = Classes::new(spec, history);
    let parts = Parts::new(spec, history, &classes, config);
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
    let verdict = combine(history, verdicts, complete);
    Judgement { verdict, stats }
}

/// A part, and whether it has one key only.
struct Section {
    part: Part,
    one_key: bool,
}

impl Section {
    fn task(&self) -> Task<'_> {
        Task { events: &self.part.events, one_key: self.one_key }
    }
}

/// The parts of a history.
struct Parts {
    /// Parts that have all operations between them: the history is linearizable if and only if all of them are.
    whole: Vec<Section>,
    /// Parts by key of objects that cannot be partitioned because of observers that span keys: without those, a part
    /// that is rejected rejects the history, and nothing else follows.
    early: Vec<Section>,
}

impl Parts {
    fn new<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, classes: &Classes, config: &Config) -> Self {
        let objects = history::by_object(history);
        if !config.partition {
            let whole = objects.into_iter().map(|part| Section { part, one_key: false }).collect();
            return Self { whole, early: Vec::new() };
        }
        // By class: the number of its key, or none.
        let mut numbers: HashMap<S::Key, usize, hash::Builder> = HashMap::default();
        let keys: Vec<Option<usize>> = classes
            .all()
            .map(|class| {
                let operation = &history[classes.representative(class)];
                let key = spec.key(&operation.op, operation.outcome.result())?;
                let next = numbers.len();
                Some(*numbers.entry(key).or_insert(next))
            })
            .collect();
        let key = |op: OpId| keys[classes.of(op).index()];
        let by_key = |part: &Part| {
            let mut parts =
                history::split(&part.events, numbers.len(), |op| key(op).expect("all operations have keys"));
            parts.retain(|part| !part.events.is_empty());
            parts.into_iter().map(|part| Section { part, one_key: true })
        };
        let (mut whole, mut early) = (Vec::new(), Vec::new());
        for object in objects {
            let (keyed, spanning): (Vec<_>, Vec<_>) =
                object.events.iter().copied().partition(|event| key(event.op()).is_some());
            if spanning.is_empty() {
                whole.extend(by_key(&object));
                continue;
            }
            if spanning.iter().all(|event| classes.observes(classes.of(event.op()))) {
                early.extend(by_key(&Part { events: keyed }));
            }
            whole.push(Section { part: object, one_key: false });
        }
        Self { whole, early }
    }
}

/// The verdicts on the parts, in their order, up to the first that is rejected, and whether none was left out.
#[expect(clippy::too_many_arguments, reason = "the state of one call of `judge`")]
fn judge_all<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    classes: &Classes,
    config: &Config,
    parts: &[Section],
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
    let complete = verdicts.len() == parts.len();
    (verdicts, complete)
}

#[expect(clippy::too_many_arguments, reason = "the state of one call of `judge`")]
fn judge_in_parallel<S: Spec>(
    spec: &S,
    history: &History<S::Op, S::Ret>,
    classes: &Classes,
    config: &Config,
    parts: &[Section],
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
        let before = worker.states();
        let (verdict, choice) = worker.judge(parts[index].task(), &config.algorithm, &mut own);
        let mut running = running();
        running.retain(|(other, _)| *other != index);
        if verdict.is_rejected() {
            first_bad.fetch_min(index, Ordering::Relaxed);
            for (_, token) in running.iter().filter(|(other, _)| *other > index) {
                token.cancel();
            }
        }
        Some((verdict, choice, own, worker.states() - before))
    };
    let results: Vec<_> = pool.install(|| {
        (0..parts.len()).into_par_iter().map_init(|| Worker::new(spec, history, classes, config), judge_part).collect()
    });
    let mut verdicts = Vec::with_capacity(parts.len());
    // At most `threads` parts are judged at once.
    let mut peak = 0;
    for result in results {
        let Some((verdict, choice, mut own, states)) = result else { break };
        stats.states += states;
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

/// The verdict on the whole.
fn combine<Op, Ret>(history: &History<Op, Ret>, verdicts: Vec<Verdict<Ret>>, complete: bool) -> Verdict<Ret> {
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
    let order = merge(history, orders);
    if let Err(problem) = replay::keeps_order(history, &order) {
        panic!("this is a bug: the linearization that was found is none: {problem}");
    }
    Verdict::Accepted(Witness { order })
}

/// One linearization from those of the parts.
///
/// In its part, an operation can take effect at the latest of the calls up to it in the order of the part; that is
/// before its return, or the order would not keep `<_h`. Sorting all operations by this time keeps the order of each
/// part, and keeps `<_h`: if a returned before b was called, then a's time is before its return, and b's is not before
/// its call.
fn merge<Op, Ret>(history: &History<Op, Ret>, mut orders: Vec<Vec<OpId>>) -> Vec<OpId> {
    if orders.len() <= 1 {
        return orders.pop().unwrap_or_default();
    }
    // Times are positions of calls, so sorting is counting.
    let mut starts = vec![0u32; history.events().len() + 1];
    let times = |order: &[OpId], mut each: Box<dyn FnMut(OpId, u32) + '_>| {
        let mut latest = 0;
        for &op in order {
            latest = latest.max(history[op].call_position());
            each(op, latest);
        }
    };
    for order in &orders {
        times(order, Box::new(|_, time| starts[time as usize + 1] += 1));
    }
    for time in 1..starts.len() {
        starts[time] += starts[time - 1];
    }
    let mut merged = vec![OpId(0); orders.iter().map(Vec::len).sum()];
    for order in &orders {
        times(
            order,
            Box::new(|op, time| {
                merged[starts[time as usize] as usize] = op;
                starts[time as usize] += 1;
            }),
        );
    }
    merged
}
