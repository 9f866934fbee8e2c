//! Histories of objects with one fault each, for every family of specifications.

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{History, Outcome, ProcessId};
use trueline::spec::{
    Array, ArrayOp, Bag, BagOp, BoundedQueue, BoundedQueueOp, CasRegister, CasRegisterOp, Counter, CounterOp, Deque,
    DequeOp, FetchAdd, FetchAddOp, Kv, KvOp, LockRet, Log, LogOp, LogRet, Map, MapOp, MicroOp, MultiRegister, Multiset,
    MultisetOp, Mutex, MutexOp, OnceCell, OnceCellOp, PriorityQueue, PriorityQueueOp, Queue, QueueOp, Register,
    RegisterOp, RwLock, RwLockOp, Semaphore, SemaphoreOp, Set, SetOp, Spec, Stack, StackHeights, StackHeightsOp,
    StackOp,
};

/// A fault, which occurs once in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An operation returns the correct result, but its effect is lost.
    Lost,
    /// An operation has no effect, and returns a result that would have been correct a few
    /// operations earlier.
    Stale,
    /// An operation that should block returns without effect. Any operation that would block
    /// forever as a consequence also returns without effect.
    Hasty,
}

/// Visits histories of faulty objects, one at a time.
pub trait Visitor {
    /// Visits a history of `spec`. The history may be correct even though the object has a fault.
    fn visit<S: Spec>(&mut self, family: &'static str, spec: &S, history: &History<S::Op, S::Ret>);
    /// Returns whether the visitor has seen enough histories of this family.
    fn has_enough(&self, family: &'static str) -> bool;
}

/// The processes of a run: how many there are, whether they are always busy, and how many of 1,000
/// operations never return.
#[derive(Clone, Copy, Debug)]
struct Crowd {
    processes: u32,
    busy: bool,
    crashes: u32,
}

/// The groups of processes that are simulated for most objects.
const CROWDS: &[Crowd] = &[
    Crowd { processes: 3, busy: false, crashes: 0 },
    Crowd { processes: 4, busy: true, crashes: 0 },
    Crowd { processes: 8, busy: false, crashes: 2 },
];
/// The groups of processes that are simulated for objects whose operations wait for each other.
const STEADY: &[Crowd] =
    &[Crowd { processes: 3, busy: false, crashes: 0 }, Crowd { processes: 4, busy: true, crashes: 0 }];
/// The groups of processes that are simulated for objects whose histories can be judged only by a
/// slow search.
const SMALL: &[Crowd] =
    &[Crowd { processes: 2, busy: false, crashes: 0 }, Crowd { processes: 2, busy: true, crashes: 0 }];

/// Runs a sequential object with one fault. The fault occurs after at least three fifths of the
/// operations have taken effect.
fn run<S: Spec>(
    spec: &S,
    crowd: Crowd,
    operations: u32,
    fault: Fault,
    random: &mut Random,
    call: impl FnMut(&mut Random, ProcessId) -> S::Op,
    hasty: impl Fn(&S::Op, bool) -> Option<S::Ret>,
) -> History<S::Op, S::Ret> {
    let shape = Simulation { processes: crowd.processes, operations, crashes: crowd.crashes, busy: crowd.busy };
    let mut waits_for = Some(operations * 3 / 5 + random.below(operations * 3 / 10));
    let mut recent = vec![spec.initial()];
    let mut effects = 0;
    simulate(&shape, random, call, |random, op| {
        effects += 1;
        let state = recent.last().expect("there is always a state").clone();
        let outcomes = spec.step(&state, op, None);
        if outcomes.is_empty() && fault == Fault::Hasty && waits_for.is_none_or(|at| effects >= at) {
            let result = hasty(op, waits_for.is_none())?;
            waits_for = None;
            return Some(result);
        }
        let (result, next) = outcomes.get(random.below(u32::try_from(outcomes.len()).ok()?.max(1)) as usize)?.clone();
        if waits_for.is_some_and(|at| effects >= at) {
            match fault {
                Fault::Lost if next != state => {
                    waits_for = None;
                    return Some(result);
                }
                Fault::Stale => {
                    let old = &recent[0];
                    let stale = spec.step(old, op, None).into_iter().map(|(result, _)| result).next();
                    if let Some(stale) = stale.filter(|stale| *stale != result) {
                        waits_for = None;
                        return Some(stale);
                    }
                }
                Fault::Lost | Fault::Hasty => {}
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

/// Visits failures of one family until the visitor has seen enough.
fn family<S: Spec, C: FnMut(&mut Random, ProcessId) -> S::Op>(
    visitor: &mut impl Visitor,
    name: &'static str,
    spec: &S,
    crowds: &[Crowd],
    calls: impl Fn() -> C,
) {
    let faults = [Fault::Lost, Fault::Stale];
    tidied(visitor, name, spec, crowds, &faults, calls, |_, _| None, |history| history);
}

/// Visits failures of a lock: histories in which the lock is acquired although it is held, and then
/// released although it is free.
fn lock<S: Spec<Ret = LockRet>, C: FnMut(&mut Random, ProcessId) -> S::Op>(
    visitor: &mut impl Visitor,
    name: &'static str,
    spec: &S,
    calls: impl Fn() -> C,
    takes: impl Fn(&S::Op) -> bool,
) {
    // When the fault occurs, a process acquires the lock although it is held. After that, a process
    // may release the lock although it is free.
    let hasty = |op: &S::Op, again: bool| (takes(op) != again).then_some(LockRet::Done);
    tidied(visitor, name, spec, STEADY, &[Fault::Hasty], calls, hasty, |history| history);
}

/// Visits failures of one family, which are caused by the given faults. Applies `tidy` to each
/// history before visiting it.
#[expect(clippy::too_many_arguments, reason = "together, these arguments describe a family")]
fn tidied<S: Spec, C: FnMut(&mut Random, ProcessId) -> S::Op>(
    visitor: &mut impl Visitor,
    name: &'static str,
    spec: &S,
    crowds: &[Crowd],
    faults: &[Fault],
    calls: impl Fn() -> C,
    hasty: impl Fn(&S::Op, bool) -> Option<S::Ret>,
    tidy: impl Fn(History<S::Op, S::Ret>) -> History<S::Op, S::Ret>,
) {
    for seed in 0..200 {
        if visitor.has_enough(name) {
            return;
        }
        let mut random = Random::new(seed);
        let crowd = crowds[usize::try_from(seed).expect("small") % crowds.len()];
        let operations = *random.pick(&[1_000, 2_000, 5_000, 10_000]);
        let fault = *random.pick(faults);
        let history = run(spec, crowd, operations, fault, &mut random, calls(), &hasty);
        visitor.visit(name, spec, &tidy(history));
    }
}

/// Returns a generator of values that are never repeated.
fn fresh() -> impl FnMut() -> u64 {
    let mut last = 0;
    move || {
        last += 1;
        last
    }
}

/// For each process that holds something, such as a lock, the thing that it holds. The next
/// operation of the process releases this thing.
#[derive(Default)]
struct Holders(std::collections::HashMap<u32, u32>);

impl Holders {
    /// If the process holds something, removes it and returns it as `Ok`. Otherwise, records that the process holds
    /// `take`, and returns `Err(take)`.
    fn next(&mut self, process: ProcessId, take: u32) -> Result<u32, u32> {
        match self.0.remove(&process.0) {
            Some(held) => Ok(held),
            None => {
                self.0.insert(process.0, take);
                Err(take)
            }
        }
    }
}

/// Visits failures of every family.
pub fn all(visitor: &mut impl Visitor) {
    registers(visitor);
    containers(visitor);
    keyed(visitor);
    counters(visitor);
    locks(visitor);
}

/// Visits failures that are harder to shrink than those of [`all`]:
///
/// - Strings of `kv` are long, because appends are frequent and puts are rare.
/// - Stacks are higher, because pushes are more frequent.
/// - An acquire or a release of a lock has no effect. While other processes wait for the lock, the
///   violation shows only if all acquires and releases are counted.
pub fn hard(visitor: &mut impl Visitor) {
    family(visitor, "kv, mostly appends", &Kv::new(), CROWDS, || {
        let mut value = fresh();
        move |random: &mut Random, _| {
            let key = random.below(10);
            match random.below(40) {
                0..20 => KvOp::Get(key),
                20 => KvOp::Put(key, format!("{} ", value()).into()),
                _ => KvOp::Append(key, format!("{} ", value()).into()),
            }
        }
    });
    family(visitor, "stack-heights, higher", &StackHeights::new(), SMALL, || {
        |random: &mut Random, _| match random.below(5) {
            0 | 1 => StackHeightsOp::Push(u64::from(random.below(5))),
            _ => StackHeightsOp::Pop,
        }
    });
    family(visitor, "mutex, lost operations", &Mutex::new(), STEADY, mutex_calls);
    family(visitor, "rwlock, lost operations", &RwLock::new(), STEADY, rwlock_calls);
    family(visitor, "semaphore, lost operations", &Semaphore::new(2), STEADY, semaphore_calls);
}

fn registers(visitor: &mut impl Visitor) {
    family(visitor, "register", &Register::new(0), CROWDS, || {
        |random: &mut Random, _| match random.below(2) {
            0 => RegisterOp::Read,
            _ => RegisterOp::Write(u64::from(random.below(5))),
        }
    });
    family(visitor, "register, distinct values", &Register::new(0), CROWDS, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(2) {
            0 => RegisterOp::Read,
            _ => RegisterOp::Write(value()),
        }
    });
    family(visitor, "cas-register", &CasRegister::new(0), CROWDS, || {
        |random: &mut Random, _| {
            let (one, other) = (u64::from(random.below(5)), u64::from(random.below(5)));
            match random.below(3) {
                0 => CasRegisterOp::Read,
                1 => CasRegisterOp::Write(one),
                _ => CasRegisterOp::Cas { expected: one, new: other },
            }
        }
    });
    family(visitor, "multi-register", &MultiRegister::new(0), STEADY, || {
        |random: &mut Random, _| {
            let both = random.chance(1, 4);
            (0..1 + u32::from(both))
                .map(|_| match random.below(2) {
                    0 => MicroOp::Read(random.below(3)),
                    _ => MicroOp::Write(random.below(3), u64::from(random.below(3))),
                })
                .collect()
        }
    });
    family(visitor, "array", &Array::new(0), CROWDS, || {
        |random: &mut Random, _| match random.below(2) {
            0 => ArrayOp::Read(random.below(8) as usize),
            _ => ArrayOp::Write(random.below(8) as usize, u64::from(random.below(5))),
        }
    });
    family(visitor, "once-cell", &OnceCell::new(), CROWDS, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(4) {
            0 => OnceCellOp::Set(value()),
            1 => OnceCellOp::GetOrInit(value()),
            _ => OnceCellOp::Get,
        }
    });
}

fn containers(visitor: &mut impl Visitor) {
    family(visitor, "queue", &Queue::new(), STEADY, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(16) {
            0..7 => QueueOp::Enqueue(value()),
            7 => QueueOp::Peek,
            _ => QueueOp::Dequeue,
        }
    });
    family(visitor, "bounded-queue", &BoundedQueue::new(8), STEADY, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(16) {
            0..7 => BoundedQueueOp::Enqueue(value()),
            7 => BoundedQueueOp::Peek,
            _ => BoundedQueueOp::Dequeue,
        }
    });
    family(visitor, "stack", &Stack::new(), STEADY, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(16) {
            0..7 => StackOp::Push(value()),
            7 => StackOp::Top,
            _ => StackOp::Pop,
        }
    });
    family(visitor, "stack-heights", &StackHeights::new(), SMALL, || {
        |random: &mut Random, _| match random.below(3) {
            0 => StackHeightsOp::Push(u64::from(random.below(5))),
            _ => StackHeightsOp::Pop,
        }
    });
    family(visitor, "deque", &Deque::new(), STEADY, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(20) {
            0..4 => DequeOp::PushFront(value()),
            4..8 => DequeOp::PushBack(value()),
            8..13 => DequeOp::PopFront,
            13..18 => DequeOp::PopBack,
            18 => DequeOp::PeekFront,
            _ => DequeOp::PeekBack,
        }
    });
    family(visitor, "priority-queue", &PriorityQueue::new(), STEADY, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(16) {
            0..7 => PriorityQueueOp::Insert((random.below(100), value())),
            7 => PriorityQueueOp::PeekMin,
            _ => PriorityQueueOp::DeleteMin,
        }
    });
    family(visitor, "bag", &Bag::new(), CROWDS, || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(16) {
            0..7 => BagOp::Add(value()),
            _ => BagOp::RemoveAny,
        }
    });
    let log = || {
        let mut value = fresh();
        move |random: &mut Random, _| match random.below(16) {
            0..3 => LogOp::Append(value()),
            3 => LogOp::Size,
            _ => LogOp::Read,
        }
    };
    let faults = [Fault::Lost, Fault::Stale];
    tidied(visitor, "log", &Log::new(), SMALL, &faults, log, |_, _| None, without_indices);
}

/// Returns a history of a log in which the operations that returned indices return nothing instead.
fn without_indices(history: History<LogOp<u64>, LogRet<u64>>) -> History<LogOp<u64>, LogRet<u64>> {
    history.map(|operation| {
        let outcome = match &operation.outcome {
            Outcome::Returned(LogRet::Index(_)) => Outcome::Returned(LogRet::Done),
            outcome => outcome.clone(),
        };
        (operation.op.clone(), outcome)
    })
}

fn keyed(visitor: &mut impl Visitor) {
    family(visitor, "set", &Set::new(), CROWDS, || {
        |random: &mut Random, _| {
            let value = u64::from(random.below(24));
            match random.below(3) {
                0 => SetOp::Add(value),
                1 => SetOp::Remove(value),
                _ => SetOp::Contains(value),
            }
        }
    });
    family(visitor, "set with sizes", &Set::new(), STEADY, || {
        |random: &mut Random, _| {
            let value = u64::from(random.below(8));
            match random.below(40) {
                0 => SetOp::Size,
                1 => SetOp::Clear,
                2..14 => SetOp::Add(value),
                14..26 => SetOp::Remove(value),
                _ => SetOp::Contains(value),
            }
        }
    });
    family(visitor, "multiset", &Multiset::new(), CROWDS, || {
        |random: &mut Random, _| {
            let value = u64::from(random.below(24));
            match random.below(3) {
                0 => MultisetOp::Add(value),
                1 => MultisetOp::Remove(value),
                _ => MultisetOp::Count(value),
            }
        }
    });
    family(visitor, "map", &Map::new(), CROWDS, || {
        |random: &mut Random, _| {
            let (key, value) = (u64::from(random.below(10)), u64::from(random.below(5)));
            match random.below(8) {
                0 | 1 => MapOp::Get(key),
                2 => MapOp::Put(key, value),
                3 => MapOp::Insert(key, value),
                4 => MapOp::GetOrInsert(key, value),
                5 => MapOp::Cas { key, expected: random.chance(2, 3).then(|| u64::from(random.below(5))), new: value },
                6 => MapOp::Delete(key),
                _ => MapOp::Remove(key),
            }
        }
    });
    family(visitor, "kv", &Kv::new(), CROWDS, || {
        let mut value = fresh();
        move |random: &mut Random, _| {
            let key = random.below(10);
            match random.below(4) {
                0 | 1 => KvOp::Get(key),
                2 => KvOp::Put(key, format!("{} ", value()).into()),
                _ => KvOp::Append(key, format!("{} ", value()).into()),
            }
        }
    });
}

fn counters(visitor: &mut impl Visitor) {
    family(visitor, "counter", &Counter::new(0), CROWDS, || {
        |random: &mut Random, _| match random.below(2) {
            0 => CounterOp::Read,
            _ => CounterOp::Add(1),
        }
    });
    family(visitor, "fetch-add", &FetchAdd::new(0), CROWDS, || {
        |random: &mut Random, _| match random.below(8) {
            0 => FetchAddOp::Read,
            _ => FetchAddOp::FetchAdd(1),
        }
    });
}

fn mutex_calls() -> impl FnMut(&mut Random, ProcessId) -> MutexOp {
    let mut holders = Holders::default();
    move |_, process| match holders.next(process, 0) {
        Err(_) => MutexOp::Acquire { by: None },
        Ok(_) => MutexOp::Release { by: None },
    }
}

fn owned_mutex_calls() -> impl FnMut(&mut Random, ProcessId) -> MutexOp {
    let mut holders = Holders::default();
    move |_, process| {
        let by = Some(process.0);
        match holders.next(process, 0) {
            Err(_) => MutexOp::Acquire { by },
            Ok(_) => MutexOp::Release { by },
        }
    }
}

fn rwlock_calls() -> impl FnMut(&mut Random, ProcessId) -> RwLockOp {
    let mut holders = Holders::default();
    move |random, process| match holders.next(process, random.below(2)) {
        Err(0) => RwLockOp::WriteLock,
        Err(_) => RwLockOp::ReadLock,
        Ok(0) => RwLockOp::WriteUnlock,
        Ok(_) => RwLockOp::ReadUnlock,
    }
}

fn semaphore_calls() -> impl FnMut(&mut Random, ProcessId) -> SemaphoreOp {
    let mut holders = Holders::default();
    move |_, process| match holders.next(process, 0) {
        Err(_) => SemaphoreOp::Acquire,
        Ok(_) => SemaphoreOp::Release,
    }
}

fn locks(visitor: &mut impl Visitor) {
    let acquires = |op: &MutexOp| matches!(op, MutexOp::Acquire { .. });
    lock(visitor, "mutex", &Mutex::new(), mutex_calls, acquires);
    lock(visitor, "mutex with owners", &Mutex::new(), owned_mutex_calls, acquires);
    let locks = |op: &RwLockOp| matches!(op, RwLockOp::WriteLock | RwLockOp::ReadLock);
    lock(visitor, "rwlock", &RwLock::new(), rwlock_calls, locks);
    lock(visitor, "semaphore", &Semaphore::new(2), semaphore_calls, |op| *op == SemaphoreOp::Acquire);
}
