//! Tests the evidence of monitors for large rejected histories: the prefix, and the allowed results.

use std::collections::{HashMap, HashSet};

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{History, OpId, Operation, ProcessId};
use trueline::judge::{Algorithm, Config, check, replay};
use trueline::spec::{
    Bag, BagOp, CasRegister, CasRegisterOp, Counter, CounterOp, FetchAdd, FetchAddOp, Map, MapOp, Mutex, MutexOp,
    PriorityQueue, PriorityQueueOp, Queue, QueueOp, Register, RegisterOp, RwLock, RwLockOp, Semaphore, SemaphoreOp,
    Set, SetOp, Spec, Stack, StackOp,
};
use trueline::verdict::{Evidence, Verdict};

/// The number of histories of each object.
const RUNS: u64 = 48;

/// Simulates a sequential object that fails once, in the second half of the history: an operation has no effect, and
/// returns the correct result, or the result that would have been correct a few operations earlier.
fn faulty<S: Spec>(
    spec: &S,
    shape: &Simulation,
    random: &mut Random,
    call: impl FnMut(&mut Random, ProcessId) -> S::Op,
) -> History<S::Op, S::Ret> {
    let mut fault = Some(shape.operations / 2 + random.below(shape.operations / 4));
    // If all operations have the same result, no result is wrong: after a while, an effect is lost instead.
    let stale_until = if random.chance(1, 2) { shape.operations * 4 / 5 } else { 0 };
    let mut recent = vec![spec.initial()];
    let mut effects = 0;
    simulate(shape, random, call, |random, op| {
        let state = recent.last().expect("there is always a state").clone();
        let mut outcomes = spec.step(&state, op, None);
        let count = u32::try_from(outcomes.len()).expect("few");
        if count == 0 {
            return None;
        }
        let (result, next) = outcomes.swap_remove(random.below(count) as usize);
        effects += 1;
        if fault.is_some_and(|at| effects >= at) {
            let wrong = if effects < stale_until {
                spec.step(&recent[0], op, None).into_iter().map(|(old, _)| old).find(|old| *old != result)
            } else {
                (next != state).then(|| result.clone())
            };
            if wrong.is_some() {
                fault = None;
                return wrong;
            }
        }
        if next != state {
            recent.push(next);
            if recent.len() > 6 {
                recent.remove(0);
            }
        }
        Some(result)
    })
}

/// Checks evidence step by step against the specification. Returns the length of its prefix.
fn check_evidence<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, evidence: &Evidence<S::Ret>) -> usize {
    let Evidence { prefix, refused, event, allowed, is_first, conflict, .. } = evidence;
    assert!(*is_first && !conflict.is_empty());
    assert_eq!(history[*refused].return_position(), Some(*event));
    // Evidence is about the part of the refused operation.
    let key = |operation: &Operation<S::Op, S::Ret>| spec.key(&operation.op, operation.outcome.result());
    let is_whole = spec.standard_spans_keys();
    let in_part = |operation: &Operation<S::Op, S::Ret>| is_whole || key(operation) == key(&history[*refused]);
    let before = history.truncate(*event as usize);
    let ids: Vec<OpId> =
        (0..).map(OpId).zip(before.operations()).filter(|(_, one)| in_part(one)).map(|(id, _)| id).collect();
    let part = before.project(|_, operation| in_part(operation));
    let number = |id: &OpId| u32::try_from(ids.binary_search(id).expect("the operation is in the part")).expect("few");
    let order: Vec<OpId> = prefix.iter().map(|id| OpId(number(id))).collect();
    replay(spec, &part, &order).expect("the prefix is a linearization of the part before the event");

    let mut states = vec![spec.initial()];
    for id in prefix {
        let (op, recorded) = (&history[*id].op, history[*id].outcome.result());
        let outcomes = states.iter().flat_map(|state| spec.step(state, op, recorded));
        let outcomes = outcomes.filter(|(result, _)| recorded.is_none_or(|recorded| recorded == result));
        let next: HashSet<S::State> = outcomes.map(|(_, next)| next).collect();
        states = next.into_iter().collect();
        assert!(!states.is_empty(), "{op:?} cannot have returned {recorded:?} there");
    }
    let Operation { op, outcome, .. } = &history[*refused];
    let possible: HashSet<S::Ret> =
        states.iter().flat_map(|state| spec.step(state, op, None)).map(|(result, _)| result).collect();
    let recorded = outcome.result().expect("the operation has returned");
    assert!(!possible.contains(recorded), "after the prefix, {op:?} could have returned {recorded:?}");
    let allowed: HashSet<S::Ret> = allowed.iter().cloned().collect();
    assert!(possible.is_subset(&allowed), "{possible:?} is not within {allowed:?}");
    prefix.len()
}

fn prefixes_are_legal<S: Spec, C: FnMut(&mut Random, ProcessId) -> S::Op>(
    spec: &S,
    algorithm: &Algorithm,
    // The number of operations in 1,000 that never return; 0 if monitors do not support such
    // operations.
    crashes: u32,
    calls: impl Fn() -> C,
) {
    let (mut rejected, mut longest) = (0, 0);
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let shape = Simulation {
            processes: 2 + random.below(3),
            operations: *random.pick(&[500, 3_000, 20_000]),
            crashes,
            busy: random.chance(1, 2),
        };
        let history = faulty(spec, &shape, &mut random, calls());
        // Observers that monitors do not know, such as an exchange that fails, can be left out.
        let history = history.project(|_, Operation { op, outcome, .. }| {
            spec.standard(op, outcome.result()).is_some() || !spec.observes(op, outcome.result())
        });
        // A bag that is partitioned would be rejected for one of its values, whose evidence is short.
        let config = Config::new().algorithm(algorithm.clone()).partition(!spec.standard_spans_keys());
        match check(spec, &history, &config).verdict {
            Verdict::Rejected(evidence) => {
                longest = longest.max(check_evidence(spec, &history, &evidence));
                rejected += 1;
            }
            Verdict::Accepted(witness) => replay(spec, &history, &witness.order).expect("a fault without consequence"),
            Verdict::Unknown(limit) => panic!("seed {seed}: {limit}"),
        }
    }
    println!("{rejected} of {RUNS} rejected, {longest} operations in the longest prefix");
    assert!(rejected >= RUNS / 10, "only {rejected} were rejected");
    assert!(longest > 4_000, "the longest prefix has only {longest} operations");
}

/// Returns values that are never used twice.
fn fresh() -> impl FnMut() -> u32 {
    let mut last = 0;
    move || {
        last += 1;
        last
    }
}

/// Tracks what processes hold: a process that holds something releases it next.
fn holders() -> impl FnMut(ProcessId, u32) -> Result<u32, u32> {
    let mut held: HashMap<ProcessId, u32> = HashMap::new();
    move |process, what| match held.remove(&process) {
        Some(what) => Err(what),
        None => {
            held.insert(process, what);
            Ok(what)
        }
    }
}

#[test]
fn registers() {
    prefixes_are_legal(&Register::new(0), &Algorithm::Monitor, 2, || {
        let mut value = fresh();
        move |random, _| if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(value()) }
    });
}

#[test]
fn cas_registers() {
    prefixes_are_legal(&CasRegister::new(0), &Algorithm::Monitor, 0, || {
        let mut value = fresh();
        move |random, _| match random.below(4) {
            0 | 1 => CasRegisterOp::Read,
            2 => CasRegisterOp::Write(value()),
            _ => {
                let new = value();
                CasRegisterOp::Cas { expected: new.saturating_sub(1 + random.below(3)), new }
            }
        }
    });
}

#[test]
fn sets() {
    prefixes_are_legal(&Set::new(), &Algorithm::Monitor, 0, || {
        |random, _| {
            let key = random.below(2);
            match random.below(3) {
                0 => SetOp::Contains(key),
                1 => SetOp::Remove(key),
                _ => SetOp::Add(key),
            }
        }
    });
}

#[test]
fn maps() {
    prefixes_are_legal(&Map::new(), &Algorithm::Monitor, 0, || {
        let mut value = fresh();
        move |random, _| {
            let key = random.below(2);
            match random.below(8) {
                0..=2 => MapOp::Get(key),
                3..=5 => MapOp::Insert(key, value()),
                6 => MapOp::GetOrInsert(key, value()),
                _ => MapOp::Remove(key),
            }
        }
    });
}

#[test]
fn maps_with_blind_puts() {
    prefixes_are_legal(&Map::new(), &Algorithm::Monitor, 2, || {
        let mut value = fresh();
        move |random, _| {
            let key = random.below(2);
            if random.chance(1, 2) { MapOp::Get(key) } else { MapOp::Put(key, value()) }
        }
    });
}

fn queue_calls() -> impl FnMut(&mut Random, ProcessId) -> QueueOp<u32> {
    let mut value = fresh();
    move |random, _| match random.below(9) {
        0..=3 => QueueOp::Enqueue(value()),
        4 => QueueOp::Peek,
        _ => QueueOp::Dequeue,
    }
}

#[test]
fn queues() {
    prefixes_are_legal(&Queue::new(), &Algorithm::Monitor, 0, queue_calls);
}

#[test]
fn queues_with_repeats() {
    prefixes_are_legal(&Queue::new(), &Algorithm::Monitor, 0, || {
        |random, _| if random.chance(4, 9) { QueueOp::Enqueue(random.below(4)) } else { QueueOp::Dequeue }
    });
}

#[test]
fn queues_by_lowe() {
    prefixes_are_legal(&Queue::new(), &Algorithm::QueueLowe, 0, || {
        let mut call = queue_calls();
        move |random, process| match call(random, process) {
            QueueOp::Peek => QueueOp::Dequeue,
            other => other,
        }
    });
}

/// If some operations peek, and removes that never returned may have taken any value, the monitor cannot judge shorter
/// histories, and a search for the place does not terminate.
#[test]
fn a_rejection_does_not_wait_for_its_place() {
    let mut without_place = 0;
    for seed in 0..8 {
        let shape = Simulation { processes: 4, operations: 5_000, crashes: 4, busy: true };
        let history = faulty(&Queue::new(), &shape, &mut Random::new(seed), queue_calls());
        let verdict = check(&Queue::new(), &history, &Config::new().algorithm(Algorithm::Monitor)).verdict;
        if let Some(Evidence { refused, event, conflict, is_first: false, .. }) = verdict.evidence() {
            assert!(conflict.contains(refused));
            assert_eq!(history[*refused].return_position(), Some(*event));
            without_place += 1;
        }
    }
    println!("{without_place} of 8 were rejected without a place");
    assert!(without_place > 0, "all were placed, or left undecided");
}

#[test]
fn stacks() {
    prefixes_are_legal(&Stack::new(), &Algorithm::Monitor, 0, || {
        let mut value = fresh();
        move |random, _| match random.below(9) {
            0..=3 => StackOp::Push(value()),
            4 => StackOp::Top,
            _ => StackOp::Pop,
        }
    });
}

#[test]
fn priority_queues() {
    prefixes_are_legal(&PriorityQueue::new(), &Algorithm::Monitor, 0, || {
        let mut value = fresh();
        move |random, _| match random.below(9) {
            // Smaller values are not always the older ones.
            0..=3 => PriorityQueueOp::Insert(value().reverse_bits()),
            4 => PriorityQueueOp::PeekMin,
            _ => PriorityQueueOp::DeleteMin,
        }
    });
}

#[test]
fn bags() {
    prefixes_are_legal(&Bag::new(), &Algorithm::Monitor, 0, || {
        let mut value = fresh();
        move |random, _| if random.chance(4, 9) { BagOp::Add(value()) } else { BagOp::RemoveAny }
    });
}

#[test]
fn counters() {
    prefixes_are_legal(&Counter::new(3), &Algorithm::Monitor, 2, || {
        |random, _| if random.chance(1, 2) { CounterOp::Read } else { CounterOp::Add(1) }
    });
}

#[test]
fn fetch_adds() {
    prefixes_are_legal(&FetchAdd::new(-1), &Algorithm::Monitor, 2, || {
        |random, _| if random.chance(1, 4) { FetchAddOp::Read } else { FetchAddOp::FetchAdd(1) }
    });
}

#[test]
fn mutexes() {
    prefixes_are_legal(&Mutex::new(), &Algorithm::Monitor, 0, || {
        let mut next = holders();
        move |_, process| match next(process, 0) {
            Ok(_) => MutexOp::Acquire { by: None },
            Err(_) => MutexOp::Release { by: None },
        }
    });
}

#[test]
fn rwlocks() {
    prefixes_are_legal(&RwLock::new(), &Algorithm::Monitor, 0, || {
        let mut next = holders();
        move |random, process| match next(process, random.below(2)) {
            Ok(0) => RwLockOp::WriteLock,
            Ok(_) => RwLockOp::ReadLock,
            Err(0) => RwLockOp::WriteUnlock,
            Err(_) => RwLockOp::ReadUnlock,
        }
    });
}

#[test]
fn semaphores() {
    prefixes_are_legal(&Semaphore::new(2), &Algorithm::Monitor, 0, || {
        let mut next = holders();
        move |_, process| match next(process, 0) {
            Ok(_) => SemaphoreOp::Acquire,
            Err(_) => SemaphoreOp::Release,
        }
    });
}
