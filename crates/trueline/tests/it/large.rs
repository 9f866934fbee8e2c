//! Compares all checkers with each other, on histories that are too large for the definition.

use std::collections::{HashMap, VecDeque};

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{EventKind, History, OpId, Operation, Outcome};
use trueline::judge::{ALGORITHMS, Algorithm, Budget, Config, check, replay};
use trueline::spec::{Queue, QueueOp, QueueRet, Spec};
use trueline::verdict::{LimitKind, Verdict};

use crate::families::{Family, exchanged, monitored, simulated, spoilt};

/// The numbers of verdicts.
#[derive(Default)]
struct Tally {
    accepted: u32,
    rejected: u32,
    /// The total number of verdicts of all algorithms on these histories.
    opinions: u32,
    /// The number of histories that the monitor of the type judged.
    monitored: u32,
}

/// Asserts that all algorithms that decide within the limits agree, and that rejections have the same place.
fn agree<F: Family>(operations: u32, seed: u64, tally: &mut Tally) {
    let mut random = Random::new(seed);
    let shape = Simulation { processes: 2 + random.below(3), operations, crashes: 0, busy: false };
    let good = simulated::<F>(&shape, &mut random);
    let all: Vec<_> = ALGORITHMS.iter().map(|(one, _)| one).filter(|one| **one != Algorithm::Brute).collect();
    for history in [spoilt::<F>(&good, &mut random), good] {
        agree_on(F::NAME, &F::spec(), &history, (&all, 300_000), tally);
    }
}

fn agree_on<S: Spec>(
    name: &str,
    spec: &S,
    history: &History<S::Op, S::Ret>,
    (algorithms, most): (&[&Algorithm], u64),
    tally: &mut Tally,
) {
    let budget = Budget::unlimited().configurations(most).memory(256 << 20);
    let mut first: Option<(&Algorithm, Verdict<_>)> = None;
    for &algorithm in algorithms {
        let config = Config::new().algorithm(algorithm.clone()).budget(budget.clone());
        let verdict = check(spec, history, &config).verdict;
        match (&verdict, &first) {
            (Verdict::Unknown(limit), _) => {
                assert_ne!(limit.kind, LimitKind::Cancelled, "{}: {algorithm}", name);
                continue;
            }
            (Verdict::Accepted(witness), _) => {
                replay(spec, history, &witness.order).expect("a witness can be replayed");
            }
            (Verdict::Rejected(evidence), Some((other, Verdict::Rejected(expected)))) => {
                assert!(evidence.is_first, "{}: {algorithm}", name);
                let place = |refused, event| (refused, event);
                assert_eq!(
                    place(evidence.refused, evidence.event),
                    place(expected.refused, expected.event),
                    "{}: {algorithm} and {other}",
                    name
                );
            }
            (Verdict::Rejected(_), _) => {}
        }
        tally.opinions += 1;
        tally.monitored += u32::from(*algorithm == Algorithm::Monitor);
        match &first {
            None => first = Some((algorithm, verdict)),
            Some((other, expected)) => {
                assert_eq!(verdict.name(), expected.name(), "{}: {algorithm} and {other}", name);
            }
        }
    }
    match first.map(|(_, verdict)| verdict) {
        Some(Verdict::Accepted(_)) => tally.accepted += 1,
        Some(Verdict::Rejected(_)) => tally.rejected += 1,
        _ => panic!("{}: no algorithm decided", name),
    }
}

fn family<F: Family>(seed: u64) {
    let mut tally = Tally::default();
    for (index, operations) in (0..).zip([1000, 1500, 2000, 3000, 4000, 5000]) {
        agree::<F>(operations, seed + index, &mut tally);
    }
    let Tally { accepted, rejected, opinions, .. } = tally;
    println!("{}: {accepted} accepted, {rejected} rejected, {opinions} verdicts", F::NAME);
    assert!(accepted >= 6 && rejected >= 1, "{}: {accepted} accepted, {rejected} rejected", F::NAME);
    assert!(opinions >= 3 * (accepted + rejected), "{}: {opinions} verdicts are few", F::NAME);
}

#[test]
fn registers() {
    family::<monitored::Registers>(1);
}

#[test]
fn sets() {
    family::<monitored::Sets>(2);
}

#[test]
fn maps() {
    family::<monitored::Maps>(3);
}

#[test]
fn queues_with_repeats() {
    family::<monitored::RepeatingQueues>(4);
}

#[test]
fn counters() {
    family::<monitored::Counters>(5);
}

#[test]
fn fetch_adds() {
    family::<monitored::FetchAdds>(6);
}

#[test]
fn semaphores() {
    family::<monitored::Semaphores>(7);
}

/// An open call, and its result once it has taken effect.
type Open = (QueueOp<u64>, Option<QueueRet<u64>>);

/// Records a queue of 4 processes in which 7 of 10 calls enqueue one of 20 values. Process 0 is so slow that each of its
/// calls overlaps thousands of others, as if its thread had been preempted.
fn full_queue(operations: u32, random: &mut Random) -> History<QueueOp<u64>, QueueRet<u64>> {
    let (mut builder, mut queue) = (History::builder(), VecDeque::new());
    // The open call of each process.
    let mut open: [Option<Open>; 4] = Default::default();
    let mut calls = 0;
    while calls < operations || open.iter().any(Option::is_some) {
        let process = if random.chance(1, 3000) { 0 } else { 1 + random.below(3) };
        match &mut open[process as usize] {
            None if calls < operations => {
                let value = u64::from(random.below(20));
                let op = if random.below(10) < 7 { QueueOp::Enqueue(value) } else { QueueOp::Dequeue };
                builder.call(process, op.clone()).expect("the process has no open call");
                open[process as usize] = Some((op, None));
                calls += 1;
            }
            None => {}
            Some((op, result @ None)) => {
                *result = Some(match op {
                    QueueOp::Enqueue(value) => {
                        queue.push_back(*value);
                        QueueRet::Done
                    }
                    _ => QueueRet::Value(queue.pop_front()),
                });
            }
            Some((_, Some(result))) => {
                builder.ret(process, result.clone()).expect("the process has an open call");
                open[process as usize] = None;
            }
        }
    }
    builder.finish()
}

/// In a queue that gets ever longer, a search finds out only much later in which order overlapping calls enqueued their
/// values, and the monitor of queues refuses values that repeat if too many calls overlap.
#[test]
fn long_queues_with_repeated_values_are_judged_by_lowes_algorithm() {
    let budget = Budget::unlimited().configurations(2_000_000).memory(1 << 30);
    let judge = |history: &_, algorithm: Algorithm| {
        let config = Config::new().algorithm(algorithm).budget(budget.clone());
        check(&Queue::<u64>::new(), history, &config)
    };
    let (mut rejected, mut by_lowe) = (0, 0);
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let good = full_queue(8_000, &mut random);
        let judged = judge(&good, Algorithm::Auto);
        let Verdict::Accepted(witness) = &judged.verdict else { panic!("seed {seed}: {:?}", judged.verdict.name()) };
        replay(&Queue::<u64>::new(), &good, &witness.order).expect("a witness can be replayed");
        by_lowe += u32::from(judged.stats.choice.is_some_and(|choice| choice.contains("queue-lowe")));
        // Exchange the results of two dequeues.
        let values = |op: &Operation<QueueOp<u64>, QueueRet<u64>>| match op.outcome.result() {
            Some(QueueRet::Value(Some(value))) => Some(*value),
            _ => None,
        };
        let taken: Vec<(OpId, u64)> =
            (0..).map(OpId).zip(good.operations()).filter_map(|(id, op)| Some((id, values(op)?))).collect();
        let (one, other) = (taken[taken.len() / 2], taken[taken.len() - 2]);
        let mut next = 0..;
        let bad = good.map(|op| {
            let id = OpId(next.next().expect("the range has no end"));
            let swapped = if id == one.0 { Some(other.1) } else { (id == other.0).then_some(one.1) };
            let outcome = match swapped {
                Some(value) => Outcome::Returned(QueueRet::Value(Some(value))),
                None => op.outcome.clone(),
            };
            (op.op.clone(), outcome)
        });
        let (auto, lowe) = (judge(&bad, Algorithm::Auto).verdict, judge(&bad, Algorithm::QueueLowe).verdict);
        assert_eq!(auto.name(), lowe.name(), "seed {seed}");
        rejected += u32::from(auto.is_rejected());
    }
    println!("{by_lowe} accepted by Lowe's algorithm, {rejected} rejected");
    assert!(by_lowe >= 3 && rejected >= 3, "{by_lowe} accepted by Lowe's algorithm, {rejected} rejected");
}

/// A history of a queue in which Lowe's algorithm must choose between two enqueues of each pair of values, because lemma 12
/// does not apply: an unsuccessful dequeue conflicts with both choices. The first choice is always right, so the
/// algorithm never returns to a choice, but it keeps a clone of the history for each.
fn choices(count: u64) -> History<QueueOp<u64>, QueueRet<u64>> {
    use QueueOp::{Dequeue, Enqueue};
    use QueueRet::{Done, Value};

    let mut builder = History::builder();
    for pair in 0..count {
        let (twice, once) = (2 * pair, 2 * pair + 1);
        // The calls are on the left, the returns on the right.
        let events = [
            (0, Some(Enqueue(twice)), None),
            (1, Some(Enqueue(twice)), None),
            (0, None, Some(Done)),
            (1, None, Some(Done)),
            (2, Some(Dequeue), None),
            (3, Some(Dequeue), None),
            (0, Some(Enqueue(once)), None),
            (0, None, Some(Done)),
            (1, Some(Dequeue), None),
            (1, None, Some(Value(Some(twice)))),
            (1, Some(Dequeue), None),
            (1, None, Some(Value(Some(twice)))),
            (2, None, Some(Value(None))),
            (3, None, Some(Value(Some(once)))),
        ];
        for (process, call, ret) in events {
            if let Some(op) = call {
                builder.call(process, op).expect("the process has no open call");
            }
            if let Some(ret) = ret {
                builder.ret(process, ret).expect("the process has an open call");
            }
        }
    }
    builder.finish()
}

#[test]
fn lowes_algorithm_stops_before_its_clones_exceed_the_memory_limit() {
    let history = choices(400);
    let judge = |memory: u64| {
        let budget = Budget::unlimited().memory(memory);
        check(&Queue::<u64>::new(), &history, &Config::new().algorithm(Algorithm::QueueLowe).budget(budget))
    };
    let judged = judge(1 << 30);
    let Verdict::Accepted(witness) = &judged.verdict else { panic!("{:?}", judged.verdict) };
    replay(&Queue::<u64>::new(), &history, &witness.order).expect("a witness can be replayed");
    // 400 clones of about 100 bytes for each pair of values.
    assert!(judged.stats.peak_bytes > 400 * 400 * 100, "{} bytes", judged.stats.peak_bytes);
    let judged = judge(4 << 20);
    let Verdict::Unknown(limit) = &judged.verdict else { panic!("{:?}", judged.verdict) };
    assert_eq!(limit.kind, LimitKind::Memory);
    assert!(judged.stats.peak_bytes <= 4 << 20, "{} bytes", judged.stats.peak_bytes);
}

/// Compares monitors with searches, on long histories that satisfy the conditions of the monitors.
mod monitors {
    use trueline::spec::{
        Bag, BagOp, CasRegister, CasRegisterOp, Counter, CounterOp, FetchAdd, FetchAddOp, Map, MapOp, Mutex, MutexOp,
        PriorityQueue, PriorityQueueOp, Queue, QueueOp, Register, RegisterOp, RwLock, RwLockOp, Semaphore, SemaphoreOp,
        Set, SetOp, Stack, StackOp,
    };

    use super::*;
    use crate::families::monitored::{SwapOp, SwapRegister, TryLock, TryOp};

    /// The calls so far.
    #[derive(Default)]
    struct Calls {
        last: u32,
        /// For each process, whether it shares the lock that it holds; `None` if it holds no lock.
        holds: HashMap<u32, Option<bool>>,
    }

    impl Calls {
        /// Returns a value that was not used before.
        fn new_value(&mut self) -> u32 {
            self.last += 1;
            self.last
        }

        /// Returns one of the last values.
        fn recent(&self, random: &mut Random) -> u32 {
            self.last.saturating_sub(random.below(3))
        }

        /// Alternates between locking and unlocking: returns whether `process` locks, and whether it shares the lock.
        fn turn(&mut self, random: &mut Random, process: u32) -> (bool, bool) {
            let holds = self.holds.entry(process).or_default();
            if let Some(shared) = holds.take() {
                return (false, shared);
            }
            let shared = random.chance(1, 2);
            *holds = Some(shared);
            (true, shared)
        }
    }

    /// Moves some returns before the calls that they directly followed.
    fn narrowed<Op: Clone, Ret: Clone>(history: &History<Op, Ret>, random: &mut Random) -> History<Op, Ret> {
        let mut events = history.events().to_vec();
        for at in 1..events.len() {
            let is_between = events[at - 1].kind() == EventKind::Call && events[at].kind() == EventKind::Return;
            if is_between && events[at - 1].op() != events[at].op() && random.chance(1, 40) {
                events.swap(at - 1, at);
            }
        }
        let mut builder = History::builder();
        for event in events {
            let operation = &history[event.op()];
            let added = match (event.kind(), operation.outcome.result()) {
                (EventKind::Return, Some(result)) => builder.ret(operation.process, result.clone()),
                _ => builder.call(operation.process, operation.op.clone()),
            };
            added.expect("the events of a process keep their order");
        }
        builder.finish()
    }

    const HISTORIES: u32 = 24;

    fn judged<S: Spec>(name: &str, spec: &S, call: impl Fn(&mut Calls, &mut Random, u32) -> S::Op) {
        let algorithms = [&Algorithm::Monitor, &Algorithm::JustInTimeGraph, &Algorithm::Linear, &Algorithm::QueueLowe];
        let mut tally = Tally::default();
        for seed in 0..HISTORIES {
            let mut random = Random::new(u64::from(seed));
            let shape = Simulation {
                processes: 2 + random.below(3),
                operations: 300 + random.below(700),
                crashes: if random.chance(1, 4) { 2 } else { 0 },
                busy: random.chance(1, 3),
            };
            let (mut calls, mut state) = (Calls::default(), spec.initial());
            let history = simulate(
                &shape,
                &mut random,
                |random, process| call(&mut calls, random, process.0),
                |_, op| {
                    let (result, next) = spec.step(&state, op, None).into_iter().next()?;
                    state = next;
                    Some(result)
                },
            );
            // Operations that monitors do not know change nothing: a compare-and-swap that failed, a read that never
            // returned.
            let is_known = |op: &S::Op, result: Option<&S::Ret>| spec.standard(op, result).is_some();
            let history = history.project(|_, operation| is_known(&operation.op, operation.outcome.result()));
            let history = match seed % 3 {
                0 => history,
                1 => exchanged(&history, 20, &mut random).unwrap_or_else(|| narrowed(&history, &mut random)),
                _ => narrowed(&history, &mut random),
            };
            agree_on(name, spec, &history, (&algorithms, 20_000), &mut tally);
        }
        let Tally { accepted, rejected, opinions, monitored } = tally;
        println!("{name}: {accepted} accepted, {rejected} rejected, {opinions} verdicts, {monitored} by the monitor");
        assert!(accepted >= 4 && rejected >= 4, "{name}: {accepted} accepted, {rejected} rejected");
        assert!(monitored * 4 >= HISTORIES * 3, "{name}: {monitored} are few");
        assert!(opinions - monitored >= HISTORIES / 2, "{name}: searches decided only {}", opinions - monitored);
    }

    #[test]
    fn registers() {
        judged("register", &Register::new(0), |calls, random, _| {
            if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(calls.new_value()) }
        });
    }

    #[test]
    fn swap_registers() {
        judged("swap register", &SwapRegister::new(0), |calls, random, _| match random.below(8) {
            0..3 => SwapOp::Read,
            3..5 => SwapOp::Write(calls.new_value()),
            _ => SwapOp::Swap(calls.new_value()),
        });
    }

    #[test]
    fn cas_registers() {
        judged("cas-register", &CasRegister::new(0), |calls, random, _| match random.below(9) {
            0 | 1 => CasRegisterOp::Read,
            2 => CasRegisterOp::Write(calls.new_value()),
            _ => CasRegisterOp::Cas { expected: calls.recent(random), new: calls.new_value() },
        });
    }

    #[test]
    fn sets() {
        judged("set", &Set::new(), |_, random, _| match random.below(3) {
            0 => SetOp::Contains(0),
            1 => SetOp::Remove(0),
            _ => SetOp::Add(0),
        });
    }

    #[test]
    fn maps() {
        judged("map", &Map::new(), |calls, random, _| match random.below(12) {
            0..3 => MapOp::Get(0),
            3..7 => MapOp::Insert(0, calls.new_value()),
            7 => MapOp::Cas { key: 0, expected: Some(calls.recent(random)), new: calls.new_value() },
            _ => MapOp::Remove(0),
        });
    }

    #[test]
    fn queues() {
        judged("queue", &Queue::new(), |calls, random, _| match random.below(10) {
            0..5 => QueueOp::Enqueue(calls.new_value()),
            _ => QueueOp::Dequeue,
        });
    }

    #[test]
    fn queues_with_repeats() {
        judged("queue with repeats", &Queue::new(), |_, random, _| match random.below(10) {
            0..5 => QueueOp::Enqueue(random.below(20)),
            _ => QueueOp::Dequeue,
        });
    }

    #[test]
    fn stacks() {
        judged("stack", &Stack::new(), |calls, random, _| match random.below(20) {
            0..10 => StackOp::Push(calls.new_value()),
            10 => StackOp::Top,
            _ => StackOp::Pop,
        });
    }

    #[test]
    fn priority_queues() {
        judged("priority queue", &PriorityQueue::new(), |calls, random, _| match random.below(20) {
            0..10 => PriorityQueueOp::Insert(calls.new_value().reverse_bits()),
            10 => PriorityQueueOp::PeekMin,
            _ => PriorityQueueOp::DeleteMin,
        });
    }

    #[test]
    fn bags() {
        judged(
            "bag",
            &Bag::new(),
            |calls, random, _| {
                if random.chance(1, 2) { BagOp::Add(calls.new_value()) } else { BagOp::RemoveAny }
            },
        );
    }

    #[test]
    fn counters() {
        judged(
            "counter",
            &Counter::new(0),
            |_, random, _| {
                if random.chance(1, 2) { CounterOp::Read } else { CounterOp::Add(1) }
            },
        );
    }

    #[test]
    fn fetch_adds() {
        judged("fetch-add", &FetchAdd::new(0), |_, random, _| {
            if random.chance(1, 4) { FetchAddOp::Read } else { FetchAddOp::FetchAdd(1) }
        });
    }

    #[test]
    fn mutexes() {
        judged("mutex", &Mutex::new(), |calls, random, process| match calls.turn(random, process) {
            (true, _) => MutexOp::Acquire { by: None },
            _ => MutexOp::Release { by: None },
        });
    }

    #[test]
    fn locks_with_tries() {
        for owned in [false, true] {
            judged("lock with tries", &TryLock { owned }, |calls, random, process| {
                if random.chance(1, 5) {
                    return TryOp::IsFree;
                }
                if calls.turn(random, process).0 { TryOp::Lock(process) } else { TryOp::Unlock(process) }
            });
        }
    }

    #[test]
    fn rwlocks() {
        judged("rwlock", &RwLock::new(), |calls, random, process| match calls.turn(random, process) {
            (true, true) => RwLockOp::ReadLock,
            (true, false) => RwLockOp::WriteLock,
            (false, true) => RwLockOp::ReadUnlock,
            (false, false) => RwLockOp::WriteUnlock,
        });
    }

    #[test]
    fn semaphores() {
        judged("semaphore", &Semaphore::new(1), |calls, random, process| match calls.turn(random, process) {
            (true, _) => SemaphoreOp::Acquire,
            _ => SemaphoreOp::Release,
        });
    }
}
