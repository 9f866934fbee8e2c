//! Generates random small histories of each specification.

use std::cmp::Ordering;
use std::fmt::Debug;

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{History, Interval, Outcome, from_intervals};
use trueline::spec::{
    Array, ArrayOp, ArrayRet, Bag, BagOp, BagRet, BoundedQueue, BoundedQueueOp, BoundedQueueRet, CasRegister,
    CasRegisterOp, CasRegisterRet, Counter, CounterOp, CounterRet, Deque, DequeOp, DequeRet, DisplacementQueue,
    FetchAdd, FetchAddOp, Initial, Kv, KvOp, KvRet, LockRet, Log, LogOp, LogRet, Map, MapOp, MapRet, MicroOp,
    MultiRegister, MultiRegisterOp, MultiRegisterRet, Multiset, MultisetOp, MultisetRet, Mutex, MutexOp, OnceCell,
    OnceCellOp, OnceCellRet, Outcomes, PriorityQueue, PriorityQueueOp, PriorityQueueRet, Queue, QueueOp, QueueRet,
    Register, RegisterOp, RegisterRet, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack, RwLock, RwLockOp, Semaphore,
    SemaphoreOp, Set, SetOp, SetRet, Spec, Stack, StackHeights, StackHeightsOp, StackHeightsRet, StackOp, StackRet,
    Standard, Stuttering, Taken, blocked, outcome,
};

/// A specification with generators of operations and results.
pub(crate) trait Family {
    type Spec: Spec;
    const NAME: &'static str;
    /// The minimum percentage of histories that the monitor of the type judges.
    const MONITORED: u32 = 0;
    /// Whether the operations that a monitor reports as conflicting have no legal order even without the other
    /// operations on the same values.
    const ALONE: bool = false;
    fn spec() -> Self::Spec;
    /// Generates any operation that `process` may call.
    fn call(random: &mut Random, process: u32) -> Op<Self>;
    /// Generates any result that may be recorded for `op`, correct or not.
    fn result(random: &mut Random, op: &Op<Self>) -> Ret<Self>;
}

pub(crate) type Op<F> = <<F as Family>::Spec as Spec>::Op;
pub(crate) type Ret<F> = <<F as Family>::Spec as Spec>::Ret;
pub(crate) type HistoryOf<F> = History<Op<F>, Ret<F>>;

/// Generates a history of at most `most` operations: correct, spoilt or random; with pending and optional operations
/// and ties.
pub(crate) fn history<F: Family>(random: &mut Random, most: u32) -> HistoryOf<F> {
    let history = match random.below(8) {
        0 => made_up::<F>(random, most),
        1 => run::<F>(random, most),
        2 => {
            let history = spoilt::<F>(&run::<F>(random, most), random);
            spoilt::<F>(&history, random)
        }
        3 => {
            let history = run::<F>(random, most);
            with_ties(&history, random)
        }
        4 => spoilt::<F>(&made_up_times::<F>(random, most), random),
        _ => {
            let history = run::<F>(random, most);
            spoilt::<F>(&history, random)
        }
    };
    // Truncating a history leaves optional operations.
    if random.chance(1, 6) && !history.is_empty() {
        let length = random.below(u32::try_from(history.events().len()).expect("small")) + 1;
        return history.truncate(length as usize);
    }
    history
}

/// Simulates the sequential object, with calls and returns around each operation.
pub(crate) fn run<F: Family>(random: &mut Random, most: u32) -> HistoryOf<F> {
    let shape = Simulation {
        processes: 2 + random.below(3),
        operations: 1 + random.below(most),
        crashes: if random.chance(1, 3) { 250 } else { 0 },
        busy: random.chance(1, 3),
    };
    simulated::<F>(&shape, random)
}

pub(crate) fn simulated<F: Family>(shape: &Simulation, random: &mut Random) -> HistoryOf<F> {
    let spec = F::spec();
    let mut state = spec.initial();
    simulate(
        shape,
        random,
        |random, process| F::call(random, process.0),
        |random, op| {
            let outcomes = spec.step(&state, op, None);
            let (result, next) = outcomes.get(random.below(u32::try_from(outcomes.len()).ok()?.max(1)) as usize)?;
            state = next.clone();
            Some(result.clone())
        },
    )
}

/// Returns the history with one operation replaced, or only its result.
pub(crate) fn spoilt<F: Family>(history: &HistoryOf<F>, random: &mut Random) -> HistoryOf<F> {
    let Some(count) = u32::try_from(history.len()).ok().filter(|count| *count > 0) else { return history.clone() };
    let victim = random.below(count) as usize;
    let mut index = 0;
    let spoilt: Result<_, std::convert::Infallible> = history.try_map(|operation| {
        let is_victim = index == victim;
        index += 1;
        if !is_victim || operation.return_position().is_none() {
            return Ok((operation.op.clone(), operation.outcome.clone()));
        }
        let op = if random.chance(1, 3) { F::call(random, operation.process.0) } else { operation.op.clone() };
        let result = F::result(random, &op);
        Ok((op, Outcome::Returned(result)))
    });
    match spoilt {
        Ok(history) => history,
        Err(never) => match never {},
    }
}

/// Generates operations at random times with random results.
fn made_up<F: Family>(random: &mut Random, most: u32) -> HistoryOf<F> {
    let operations = 1 + random.below(most.min(5));
    let mut free = [0i64; 3];
    let intervals: Vec<_> = (0..operations)
        .map(|_| {
            let process = random.below(3);
            let op = F::call(random, process);
            let call = free[process as usize] + i64::from(random.below(4));
            let ret = call + i64::from(random.below(6));
            free[process as usize] = ret;
            if random.chance(1, 8) {
                Interval::pending(process, op, call)
            } else {
                let result = F::result(random, &op);
                Interval::returned(process, op, call, ret, result)
            }
        })
        .collect();
    from_intervals(intervals).expect("operations of a process do not overlap")
}

/// Runs the sequential object, one operation after the other, and stretches each operation over a random time, with
/// many ties.
fn made_up_times<F: Family>(random: &mut Random, most: u32) -> HistoryOf<F> {
    let spec = F::spec();
    let mut state = spec.initial();
    let mut free = [0i64; 4];
    let mut intervals = Vec::new();
    let operations = 1 + random.below(most);
    for time in 0..i64::from(operations) {
        let process = random.below(4);
        let op = F::call(random, process);
        let Some((result, next)) = spec.step(&state, &op, None).into_iter().next() else { continue };
        state = next;
        let point = 2 * time.max(free[process as usize] / 2 + 1);
        let call = (point - i64::from(random.below(5))).max(free[process as usize]);
        let ret = point + i64::from(random.below(5));
        free[process as usize] = ret;
        if random.chance(1, 10) {
            intervals.push(Interval::pending(process + 4 * (1 + random.below(3)), op, call));
        } else {
            intervals.push(Interval::returned(process, op, call, ret, result));
        }
    }
    // Pending operations are moved to processes above 3, so that their own process can continue.
    from_intervals(intervals).expect("operations of a process do not overlap")
}

/// Moves adjacent events of the history to the same time: operations overlap more, so a linearizable history stays
/// linearizable.
fn with_ties<Op: Clone + Debug, Ret: Clone + Debug>(
    history: &History<Op, Ret>,
    random: &mut Random,
) -> History<Op, Ret> {
    let mut time = 0;
    let times: Vec<i64> = history
        .events()
        .iter()
        .map(|_| {
            time += i64::from(random.below(2));
            time
        })
        .collect();
    let intervals = history.operations().iter().map(|operation| {
        let call = times[operation.call_position() as usize];
        match (&operation.outcome, operation.return_position()) {
            (Outcome::Returned(result), Some(ret)) => {
                Interval::returned(operation.process, operation.op.clone(), call, times[ret as usize], result.clone())
            }
            _ => Interval::pending(operation.process, operation.op.clone(), call),
        }
    });
    from_intervals(intervals).expect("only ties change the order of events")
}

/// Exchanges the results of two calls of the same kind that are at least this far apart; returns `None` if there are no
/// such calls.
///
/// This usually violates only the order: a container returns a value that it contains, but not the next one.
pub(crate) fn exchanged<Op: Clone, Ret: Clone + PartialEq>(
    history: &History<Op, Ret>,
    apart: usize,
    random: &mut Random,
) -> Option<History<Op, Ret>> {
    let operations = history.operations();
    let kind = |at: usize| std::mem::discriminant(&operations[at].op);
    let result = |at: usize| operations[at].outcome.result().filter(|_| operations[at].return_position().is_some());
    let start = random.below(u32::try_from(operations.len() / 2).ok()?.max(1)) as usize;
    let (first, second) = (start..operations.len()).find_map(|first| {
        let own = result(first)?;
        let is_other = |at: &usize| kind(*at) == kind(first) && result(*at).is_some_and(|other| other != own);
        Some((first, (first + apart..operations.len()).find(is_other)?))
    })?;
    let mut places = 0..;
    Some(history.map(|operation| {
        let outcome = match places.next() {
            Some(at) if at == first => &operations[second].outcome,
            Some(at) if at == second => &operations[first].outcome,
            _ => &operation.outcome,
        };
        (operation.op.clone(), outcome.clone())
    }))
}

macro_rules! family {
    ($name:ident, $spec:ty, $text:literal, $make:expr, $call:expr, $result:expr $(, $percent:literal $(, $alone:literal)?)?) => {
        pub(crate) struct $name;
        impl Family for $name {
            type Spec = $spec;
            const NAME: &'static str = $text;
            $(const MONITORED: u32 = $percent;
            $(const ALONE: bool = $alone;)?)?
            fn spec() -> $spec {
                $make
            }
            fn call(random: &mut Random, process: u32) -> Op<Self> {
                let call: fn(&mut Random, u32) -> Op<Self> = $call;
                call(random, process)
            }
            fn result(random: &mut Random, op: &Op<Self>) -> Ret<Self> {
                let result: fn(&mut Random, &Op<Self>) -> Ret<Self> = $result;
                result(random, op)
            }
        }
    };
}

family!(
    Registers,
    Register<u8>,
    "register",
    Register::new(0),
    |random, _| if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(small(random)) },
    |random, op| match op {
        RegisterOp::Read => RegisterRet::Value(small(random)),
        RegisterOp::Write(_) => RegisterRet::Done,
    }
);

family!(
    CasRegisters,
    CasRegister<u8>,
    "cas-register",
    CasRegister::new(0),
    |random, _| match random.below(4) {
        0 => CasRegisterOp::Read,
        1 => CasRegisterOp::Write(small(random)),
        _ => CasRegisterOp::Cas { expected: small(random), new: small(random) },
    },
    |random, op| match op {
        CasRegisterOp::Read => CasRegisterRet::Value(small(random)),
        CasRegisterOp::Write(_) => CasRegisterRet::Done,
        CasRegisterOp::Cas { .. } => CasRegisterRet::Swapped(random.chance(1, 2)),
    }
);

family!(
    Wildcards,
    CasRegister<u8>,
    "cas-register with wildcard",
    CasRegister::new(0).nil_wildcard(2),
    |random, _| match random.below(4) {
        0 | 1 => CasRegisterOp::Read,
        2 => CasRegisterOp::Write(small(random)),
        _ => CasRegisterOp::Cas { expected: small(random), new: small(random) },
    },
    |random, op| match op {
        CasRegisterOp::Read => CasRegisterRet::Value(small(random)),
        CasRegisterOp::Write(_) => CasRegisterRet::Done,
        CasRegisterOp::Cas { .. } => CasRegisterRet::Swapped(random.chance(1, 2)),
    }
);

family!(
    Sets,
    Set<u8>,
    "set",
    Set::new(),
    |random, _| match random.below(20) {
        0 => SetOp::Size,
        1 => SetOp::Clear,
        2..=7 => SetOp::Contains(random.below(2) as u8),
        8..=13 => SetOp::Remove(random.below(2) as u8),
        _ => SetOp::Add(random.below(2) as u8),
    },
    |random, op| match op {
        SetOp::Size => SetRet::Size(random.below(3) as usize),
        SetOp::Clear => SetRet::Done,
        _ => SetRet::Bool(random.chance(1, 2)),
    }
);

family!(
    Maps,
    Map<u8, u8>,
    "map",
    // Appending is exclusive or, and nothing can be appended to a 1.
    Map::new().appending(|old, end| (old != Some(&1)).then(|| old.unwrap_or(&0) ^ end)),
    |random, _| {
        let (key, value) = (random.below(2) as u8, random.below(2) as u8);
        match random.below(22) {
            0 => MapOp::Size,
            1 => MapOp::Clear,
            2..=4 => MapOp::Get(key),
            5..=7 => MapOp::Put(key, value),
            8 | 9 => MapOp::Delete(key),
            10..=12 => MapOp::Insert(key, value),
            13 | 14 => MapOp::Remove(key),
            15 | 16 => MapOp::GetOrInsert(key, value),
            17 | 18 => MapOp::Append(key, value),
            _ => {
                let expected = random.chance(1, 2).then(|| random.below(2) as u8);
                MapOp::Cas { key, expected, new: value }
            }
        }
    },
    |random, op| match op {
        MapOp::Size => MapRet::Size(random.below(3) as usize),
        MapOp::Clear | MapOp::Put(..) | MapOp::Append(..) | MapOp::Delete(_) => MapRet::Done,
        MapOp::Cas { .. } => MapRet::Swapped(random.chance(1, 2)),
        MapOp::GetOrInsert(..) => MapRet::Value(Some(random.below(2) as u8)),
        _ => MapRet::Value(random.chance(1, 2).then(|| random.below(2) as u8)),
    }
);

family!(
    Queues,
    Queue<u8>,
    "queue",
    Queue::new(),
    |random, _| match random.below(9) {
        0..=3 => QueueOp::Enqueue(small(random)),
        4 => QueueOp::Peek,
        _ => QueueOp::Dequeue,
    },
    |random, op| match op {
        QueueOp::Enqueue(_) => QueueRet::Done,
        _ => QueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    Stacks,
    Stack<u8>,
    "stack",
    Stack::new(),
    |random, _| match random.below(9) {
        0..=3 => StackOp::Push(small(random)),
        4 => StackOp::Top,
        _ => StackOp::Pop,
    },
    |random, op| match op {
        StackOp::Push(_) => StackRet::Done,
        _ => StackRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(Mutexes, Mutex, "mutex", Mutex::new(), |random, _| mutex_op(random, None), |random, op| match op {
    MutexOp::TryAcquire { .. } => LockRet::Taken(random.chance(1, 2)),
    MutexOp::Acquire { .. } | MutexOp::Release { .. } => LockRet::Done,
});

family!(
    OwnedMutexes,
    Mutex,
    "mutex with owners",
    Mutex::new(),
    |random, process| mutex_op(random, Some(process)),
    |random, op| match op {
        MutexOp::TryAcquire { .. } => LockRet::Taken(random.chance(1, 2)),
        MutexOp::Acquire { .. } | MutexOp::Release { .. } => LockRet::Done,
    }
);

fn mutex_op(random: &mut Random, by: Option<u32>) -> MutexOp {
    match random.below(8) {
        0..=2 => MutexOp::Acquire { by },
        3 | 4 => MutexOp::TryAcquire { by },
        _ => MutexOp::Release { by },
    }
}

family!(
    RwLocks,
    RwLock,
    "rwlock",
    RwLock::new(),
    |random, _| random
        .pick(&[
            RwLockOp::ReadLock,
            RwLockOp::TryReadLock,
            RwLockOp::ReadUnlock,
            RwLockOp::ReadUnlock,
            RwLockOp::WriteLock,
            RwLockOp::TryWriteLock,
            RwLockOp::WriteUnlock,
            RwLockOp::WriteUnlock,
        ])
        .clone(),
    |random, op| match op {
        RwLockOp::TryReadLock | RwLockOp::TryWriteLock => LockRet::Taken(random.chance(1, 2)),
        _ => LockRet::Done,
    }
);

family!(
    Semaphores,
    Semaphore,
    "semaphore",
    Semaphore::new(1),
    |random, _| random
        .pick(&[SemaphoreOp::Acquire, SemaphoreOp::Acquire, SemaphoreOp::TryAcquire, SemaphoreOp::Release])
        .clone(),
    |random, op| match op {
        SemaphoreOp::TryAcquire => LockRet::Taken(random.chance(1, 2)),
        _ => LockRet::Done,
    }
);

family!(
    Bags,
    Bag<u8>,
    "bag",
    Bag::new(),
    |random, _| if random.chance(4, 9) { BagOp::Add(small(random)) } else { BagOp::RemoveAny },
    |random, op| match op {
        BagOp::Add(_) => BagRet::Done,
        BagOp::RemoveAny => BagRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    Multisets,
    Multiset<u8>,
    "multiset",
    Multiset::new(),
    |random, _| {
        let value = random.below(2) as u8;
        match random.below(8) {
            0..=2 => MultisetOp::Add(value),
            3..=5 => MultisetOp::Remove(value),
            _ => MultisetOp::Count(value),
        }
    },
    |random, op| match op {
        MultisetOp::Add(_) => MultisetRet::Done,
        MultisetOp::Remove(_) => MultisetRet::Removed(random.chance(1, 2)),
        MultisetOp::Count(_) => MultisetRet::Count(random.below(3)),
    }
);

family!(
    MultiRegisters,
    MultiRegister<u8, u8>,
    "multi-register",
    MultiRegister::new(0),
    |random, _| transaction(random),
    |random, op| reads(random, op)
);

family!(
    MultiRegisterWildcards,
    MultiRegister<u8, u8>,
    "multi-register with wildcard",
    MultiRegister::new(0).nil_wildcard(2),
    |random, _| transaction(random),
    |random, op| reads(random, op)
);

/// Most transactions use one key, so that the history can be partitioned.
fn transaction(random: &mut Random) -> MultiRegisterOp<u8, u8> {
    let key = random.below(2) as u8;
    let spans = random.chance(1, 8);
    let accesses = 1 + random.below(3);
    (0..accesses)
        .map(|_| {
            let key = if spans { random.below(2) as u8 } else { key };
            if random.chance(1, 2) { MicroOp::Read(key) } else { MicroOp::Write(key, small(random)) }
        })
        .collect()
}

fn reads(random: &mut Random, op: &MultiRegisterOp<u8, u8>) -> MultiRegisterRet<u8> {
    op.0.iter().filter(|access| matches!(access, MicroOp::Read(_))).map(|_| small(random)).collect()
}

family!(
    Arrays,
    Array<u8>,
    "array",
    Array::new(0),
    |random, _| {
        let index = random.below(2) as usize;
        if random.chance(1, 2) { ArrayOp::Read(index) } else { ArrayOp::Write(index, small(random)) }
    },
    |random, op| match op {
        ArrayOp::Read(_) => ArrayRet::Value(small(random)),
        ArrayOp::Write(..) => ArrayRet::Done,
    }
);

family!(
    Counters,
    Counter,
    "counter",
    Counter::new(0),
    |random, _| if random.chance(1, 2) { CounterOp::Read } else { CounterOp::Add(i64::from(random.below(4)) - 1) },
    |random, op| match op {
        CounterOp::Add(_) => CounterRet::Done,
        CounterOp::Read => CounterRet::Value(i64::from(random.below(5))),
    }
);

family!(
    FetchAdds,
    FetchAdd,
    "fetch-add",
    FetchAdd::new(0),
    |random, _| match random.below(4) {
        0 => FetchAddOp::Read,
        _ => FetchAddOp::FetchAdd(i64::from(random.below(4)) - 1),
    },
    |random, _| i64::from(random.below(4))
);

family!(
    Kvs,
    Kv<u8>,
    "kv",
    Kv::new(),
    |random, _| {
        let key = random.below(2) as u8;
        match random.below(8) {
            0..=2 => KvOp::Get(key),
            3 | 4 => KvOp::Put(key, (*random.pick(&["", "a", "ab"])).into()),
            _ => KvOp::Append(key, (*random.pick(&["", "a", "a", "b", "b"])).into()),
        }
    },
    |random, op| match op {
        KvOp::Get(_) => KvRet::Value((*random.pick(&["", "a", "b", "ab", "aa", "aba"])).into()),
        KvOp::Put(..) | KvOp::Append(..) => KvRet::Done,
    }
);

/// A store of one string, without a key. A rule for each key must then apply to the whole history,
/// because the history is not split by key before the rule is tried.
pub(crate) struct OneString(Kv<()>);

impl Spec for OneString {
    type Op = KvOp<()>;
    type Ret = KvRet;
    type State = <Kv<()> as Spec>::State;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn step(&self, state: &Self::State, op: &KvOp<()>, recorded: Option<&KvRet>) -> Outcomes<KvRet, Self::State> {
        self.0.step(state, op, recorded)
    }

    fn observes(&self, op: &KvOp<()>, recorded: Option<&KvRet>) -> bool {
        self.0.observes(op, recorded)
    }

    fn overwrites(&self, op: &KvOp<()>, recorded: Option<&KvRet>) -> bool {
        self.0.overwrites(op, recorded)
    }

    fn is_goal(&self, op: &KvOp<()>, result: &KvRet) -> bool {
        self.0.is_goal(op, result)
    }

    fn reaches(&self, state: &Self::State, goal: &KvOp<()>, result: &KvRet) -> bool {
        self.0.reaches(state, goal, result)
    }
}

family!(
    OneStrings,
    OneString,
    "one string",
    OneString(Kv::new()),
    |random, _| match random.below(10) {
        0..=3 => KvOp::Get(()),
        4 | 5 => KvOp::Put((), (*random.pick(&["a", "b", "ab"])).into()),
        _ => KvOp::Append((), (*random.pick(&["a", "b", "c", "bc"])).into()),
    },
    |random, op| match op {
        KvOp::Get(_) => KvRet::Value((*random.pick(&["", "a", "b", "ab", "abc", "bca"])).into()),
        KvOp::Put(..) | KvOp::Append(..) => KvRet::Done,
    }
);

family!(
    OnceCells,
    OnceCell<u8>,
    "once-cell",
    OnceCell::new(),
    |random, _| match random.below(4) {
        0 | 1 => OnceCellOp::Get,
        2 => OnceCellOp::Set(small(random)),
        _ => OnceCellOp::GetOrInit(small(random)),
    },
    |random, op| match op {
        OnceCellOp::Set(_) => OnceCellRet::Stored(random.chance(1, 2)),
        OnceCellOp::Get => OnceCellRet::Value(random.chance(1, 2).then(|| small(random))),
        OnceCellOp::GetOrInit(_) => OnceCellRet::Value(Some(small(random))),
    }
);

family!(
    BoundedQueues,
    BoundedQueue<u8>,
    "bounded-queue",
    BoundedQueue::new(2),
    |random, _| match random.below(9) {
        0..=4 => BoundedQueueOp::Enqueue(small(random)),
        5 => BoundedQueueOp::Peek,
        _ => BoundedQueueOp::Dequeue,
    },
    |random, op| match op {
        BoundedQueueOp::Enqueue(_) => BoundedQueueRet::Accepted(random.chance(1, 2)),
        _ => BoundedQueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    StacksWithHeights,
    StackHeights<u8>,
    "stack-heights",
    StackHeights::new(),
    |random, _| if random.chance(1, 2) { StackHeightsOp::Push(small(random)) } else { StackHeightsOp::Pop },
    |random, op| match op {
        StackHeightsOp::Push(_) => StackHeightsRet::Pushed(random.below(3) as usize),
        StackHeightsOp::Pop => {
            let height = random.below(3) as usize;
            StackHeightsRet::Popped { height, value: (height > 0).then(|| small(random)) }
        }
    }
);

family!(
    Deques,
    Deque<u8>,
    "deque",
    Deque::new(),
    |random, _| match random.below(18) {
        0..=3 => DequeOp::PushFront(small(random)),
        4..=7 => DequeOp::PushBack(small(random)),
        8..=11 => DequeOp::PopFront,
        12..=15 => DequeOp::PopBack,
        16 => DequeOp::PeekFront,
        _ => DequeOp::PeekBack,
    },
    |random, op| match op {
        DequeOp::PushFront(_) | DequeOp::PushBack(_) => DequeRet::Done,
        _ => DequeRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    PriorityQueues,
    PriorityQueue<u8>,
    "priority-queue",
    PriorityQueue::new(),
    |random, _| match random.below(9) {
        0..=3 => PriorityQueueOp::Insert(small(random)),
        4 => PriorityQueueOp::PeekMin,
        _ => PriorityQueueOp::DeleteMin,
    },
    |random, op| match op {
        PriorityQueueOp::Insert(_) => PriorityQueueRet::Done,
        _ => PriorityQueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    Logs,
    Log<u8>,
    "log",
    Log::new(),
    |random, _| match random.below(9) {
        0..=4 => LogOp::Append(small(random)),
        5 => LogOp::Size,
        _ => LogOp::Read,
    },
    |random, op| match op {
        LogOp::Append(_) if random.chance(1, 2) => LogRet::Done,
        LogOp::Append(_) => LogRet::Index(random.below(4) as usize),
        LogOp::Size => LogRet::Size(random.below(4) as usize),
        LogOp::Read => {
            let length = random.below(3);
            LogRet::Values((0..length).map(|_| small(random)).collect())
        }
    }
);

family!(
    RelaxedQueues,
    RelaxedQueue<u8>,
    "k-fifo that may claim to be empty",
    RelaxedQueue::k_fifo(1).relaxed_empty(true),
    |random, _| match random.below(9) {
        0..=3 => QueueOp::Enqueue(small(random)),
        4 => QueueOp::Peek,
        _ => QueueOp::Dequeue,
    },
    |random, op| match op {
        QueueOp::Enqueue(_) => QueueRet::Done,
        _ => QueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    DisplacementQueues,
    DisplacementQueue<u8>,
    "displacement-queue",
    DisplacementQueue::new(1),
    |random, _| match random.below(9) {
        0..=3 => QueueOp::Enqueue(small(random)),
        4 => QueueOp::Peek,
        _ => QueueOp::Dequeue,
    },
    |random, op| match op {
        QueueOp::Enqueue(_) => QueueRet::Done,
        _ => QueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    StutteringQueues,
    Stuttering<Queue<u8>>,
    "stuttering queue",
    Stuttering::new(Queue::new(), 1),
    |random, _| match random.below(9) {
        0..=3 => QueueOp::Enqueue(small(random)),
        4 => QueueOp::Peek,
        _ => QueueOp::Dequeue,
    },
    |random, op| match op {
        QueueOp::Enqueue(_) => QueueRet::Done,
        _ => QueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    RelaxedStacks,
    RelaxedStack<u8>,
    "k-stack",
    RelaxedStack::new(1).lateness(true),
    |random, _| match random.below(9) {
        0..=3 => StackOp::Push(small(random)),
        4 => StackOp::Top,
        _ => StackOp::Pop,
    },
    |random, op| match op {
        StackOp::Push(_) => StackRet::Done,
        _ => StackRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

family!(
    RelaxedPriorityQueues,
    RelaxedPriorityQueue<u8>,
    "k-priority-queue",
    RelaxedPriorityQueue::new(1).lateness(true),
    |random, _| match random.below(9) {
        0..=3 => PriorityQueueOp::Insert(small(random)),
        4 => PriorityQueueOp::PeekMin,
        _ => PriorityQueueOp::DeleteMin,
    },
    |random, op| match op {
        PriorityQueueOp::Insert(_) => PriorityQueueRet::Done,
        _ => PriorityQueueRet::Value(random.chance(2, 3).then(|| small(random))),
    }
);

#[expect(clippy::cast_possible_truncation, reason = "below 3")]
fn small(random: &mut Random) -> u8 {
    random.below(3) as u8
}

/// Histories that the monitors can judge.
pub(crate) mod monitored {
    use super::*;

    family!(
        Registers,
        Register<u8>,
        "register, monitored",
        Register::new(0),
        |random, _| if random.chance(1, 2) { RegisterOp::Read } else { RegisterOp::Write(many(random)) },
        |random, op| match op {
            RegisterOp::Read => RegisterRet::Value(many(random)),
            RegisterOp::Write(_) => RegisterRet::Done,
        },
        30,
        true
    );

    family!(
        CasRegisters,
        CasRegister<u8>,
        "cas-register, monitored",
        CasRegister::new(0),
        |random, _| match random.below(5) {
            0 | 1 => CasRegisterOp::Read,
            2 => CasRegisterOp::Write(many(random)),
            _ => CasRegisterOp::Cas { expected: random.below(3) as u8, new: many(random) },
        },
        |random, op| match op {
            CasRegisterOp::Read => CasRegisterRet::Value(many(random)),
            CasRegisterOp::Write(_) => CasRegisterRet::Done,
            CasRegisterOp::Cas { .. } => CasRegisterRet::Swapped(random.chance(9, 10)),
        },
        15
    );

    family!(
        Sets,
        Set<u8>,
        "set, monitored",
        Set::new(),
        |random, _| match random.below(3) {
            0 => SetOp::Contains(random.below(2) as u8),
            1 => SetOp::Remove(random.below(2) as u8),
            _ => SetOp::Add(random.below(2) as u8),
        },
        |random, _| SetRet::Bool(random.chance(1, 2)),
        90,
        true
    );

    family!(
        Maps,
        Map<u8, u8>,
        "map, monitored",
        Map::new(),
        |random, _| {
            let (key, value) = (random.below(2) as u8, many(random));
            match random.below(12) {
                0..=2 => MapOp::Get(key),
                3..=6 => MapOp::Insert(key, value),
                7..=9 => MapOp::Remove(key),
                10 => MapOp::GetOrInsert(key, value),
                _ => MapOp::Cas { key, expected: None, new: value },
            }
        },
        |random, op| match op {
            MapOp::Cas { .. } => MapRet::Swapped(random.chance(9, 10)),
            MapOp::GetOrInsert(_, value) => MapRet::Value(Some(if random.chance(1, 2) { *value } else { many(random) })),
            _ => MapRet::Value(random.chance(1, 2).then(|| many(random))),
        },
        30
    );

    family!(
        BlindMaps,
        Map<u8, u8>,
        "map with blind puts, monitored",
        Map::new(),
        |random, _| {
            let (key, value) = (random.below(2) as u8, many(random));
            match random.below(9) {
                0..=3 => MapOp::Get(key),
                4 => MapOp::Insert(key, value),
                _ => MapOp::Put(key, value),
            }
        },
        |random, op| match op {
            MapOp::Put(..) => MapRet::Done,
            _ => MapRet::Value(random.chance(1, 2).then(|| many(random))),
        },
        30
    );

    family!(
        Queues,
        Queue<u8>,
        "queue, monitored",
        Queue::new(),
        |random, _| match random.below(9) {
            0..=3 => QueueOp::Enqueue(many(random)),
            4 => QueueOp::Peek,
            _ => QueueOp::Dequeue,
        },
        |random, op| match op {
            QueueOp::Enqueue(_) => QueueRet::Done,
            _ => QueueRet::Value(random.chance(2, 3).then(|| many(random))),
        },
        50,
        true
    );

    family!(
        RepeatingQueues,
        Queue<u8>,
        "queue with repeats, monitored",
        Queue::new(),
        |random, _| if random.chance(4, 9) { QueueOp::Enqueue(small(random)) } else { QueueOp::Dequeue },
        |random, op| match op {
            QueueOp::Enqueue(_) => QueueRet::Done,
            _ => QueueRet::Value(random.chance(2, 3).then(|| small(random))),
        },
        95,
        true
    );

    family!(
        Stacks,
        Stack<u8>,
        "stack, monitored",
        Stack::new(),
        |random, _| match random.below(9) {
            0..=3 => StackOp::Push(many(random)),
            4 => StackOp::Top,
            _ => StackOp::Pop,
        },
        |random, op| match op {
            StackOp::Push(_) => StackRet::Done,
            _ => StackRet::Value(random.chance(2, 3).then(|| many(random))),
        },
        40,
        true
    );

    family!(
        PriorityQueues,
        PriorityQueue<u8>,
        "priority-queue, monitored",
        PriorityQueue::new(),
        |random, _| match random.below(9) {
            0..=3 => PriorityQueueOp::Insert(many(random)),
            4 => PriorityQueueOp::PeekMin,
            _ => PriorityQueueOp::DeleteMin,
        },
        |random, op| match op {
            PriorityQueueOp::Insert(_) => PriorityQueueRet::Done,
            _ => PriorityQueueRet::Value(random.chance(2, 3).then(|| many(random))),
        },
        40,
        true
    );

    family!(
        Bags,
        Bag<u8>,
        "bag, monitored",
        Bag::new(),
        |random, _| if random.chance(4, 9) { BagOp::Add(many(random)) } else { BagOp::RemoveAny },
        |random, op| match op {
            BagOp::Add(_) => BagRet::Done,
            BagOp::RemoveAny => BagRet::Value(random.chance(2, 3).then(|| many(random))),
        },
        50,
        true
    );

    family!(
        Counters,
        Counter,
        "counter, monitored",
        Counter::new(3),
        |random, _| if random.chance(1, 2) { CounterOp::Read } else { CounterOp::Add(1) },
        |random, op| match op {
            CounterOp::Add(_) => CounterRet::Done,
            CounterOp::Read => CounterRet::Value(2 + i64::from(random.below(6))),
        },
        95
    );

    family!(
        FetchAdds,
        FetchAdd,
        "fetch-add, monitored",
        FetchAdd::new(-1),
        |random, _| if random.chance(1, 4) { FetchAddOp::Read } else { FetchAddOp::FetchAdd(1) },
        |random, _| i64::from(random.below(6)) - 2,
        80
    );

    family!(
        RwLocks,
        RwLock,
        "rwlock, monitored",
        RwLock::new(),
        |random, _| random
            .pick(&[
                RwLockOp::ReadLock,
                RwLockOp::TryReadLock,
                RwLockOp::ReadUnlock,
                RwLockOp::WriteLock,
                RwLockOp::WriteUnlock,
            ])
            .clone(),
        |_, op| match op {
            RwLockOp::TryReadLock => LockRet::Taken(true),
            _ => LockRet::Done,
        },
        10,
        true
    );

    family!(
        Semaphores,
        Semaphore,
        "semaphore, monitored",
        Semaphore::new(1),
        |random, _| random.pick(&[SemaphoreOp::Acquire, SemaphoreOp::TryAcquire, SemaphoreOp::Release]).clone(),
        |_, op| match op {
            SemaphoreOp::TryAcquire => LockRet::Taken(true),
            _ => LockRet::Done,
        },
        60
    );

    /// A register with a swap operation.
    pub(crate) struct SwapRegister {
        initial: u32,
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub(crate) enum SwapOp {
        Read,
        Write(u32),
        Swap(u32),
    }

    impl SwapRegister {
        pub(crate) const fn new(initial: u32) -> Self {
            Self { initial }
        }
    }

    impl Spec for SwapRegister {
        type Op = SwapOp;
        /// The value that a read or a swap found.
        type Ret = Option<u32>;
        type State = u32;
        type Key = ();
        type Value = u32;

        fn initial(&self) -> u32 {
            self.initial
        }

        fn step(&self, state: &u32, op: &SwapOp, _: Option<&Option<u32>>) -> Outcomes<Option<u32>, u32> {
            match op {
                SwapOp::Read => outcome(Some(*state), *state),
                SwapOp::Write(new) => outcome(None, *new),
                SwapOp::Swap(new) => outcome(Some(*state), *new),
            }
        }

        fn observes(&self, op: &SwapOp, _: Option<&Option<u32>>) -> bool {
            *op == SwapOp::Read
        }

        fn standard<'a>(&'a self, op: &'a SwapOp, recorded: Option<&'a Option<u32>>) -> Option<Standard<&'a u32>> {
            Some(match (op, recorded) {
                (SwapOp::Read, Some(Some(value))) => Standard::Read(value),
                (SwapOp::Write(value), None | Some(None)) => Standard::Write(value),
                (SwapOp::Swap(new), None) => Standard::Exchange { old: None, new },
                (SwapOp::Swap(new), Some(Some(old))) => Standard::Exchange { old: Some(old), new },
                _ => return None,
            })
        }

        fn standard_initial(&self) -> Initial<&u32> {
            Initial::Value(&self.initial)
        }
    }

    family!(
        Swaps,
        SwapRegister,
        "swap register, monitored",
        SwapRegister::new(0),
        |random, _| match random.below(8) {
            0..3 => SwapOp::Read,
            3..5 => SwapOp::Write(u32::from(many(random))),
            _ => SwapOp::Swap(u32::from(many(random))),
        },
        |random, op| if matches!(op, SwapOp::Write(_)) { None } else { Some(u32::from(many(random))) },
        10
    );

    /// A lock with try operations, with or without owners.
    pub(crate) struct TryLock {
        pub(crate) owned: bool,
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    pub(crate) enum TryOp {
        Lock(u32),
        TryLock(u32),
        Unlock(u32),
        /// Returns whether the lock is free. If it is not, monitors treat the call as a failed attempt to lock.
        IsFree,
    }

    impl Spec for TryLock {
        type Op = TryOp;
        type Ret = bool;
        type State = Option<u32>;
        type Key = ();
        type Value = ();

        fn initial(&self) -> Option<u32> {
            None
        }

        fn step(&self, state: &Option<u32>, op: &TryOp, _: Option<&bool>) -> Outcomes<bool, Option<u32>> {
            match (op, state) {
                (TryOp::Lock(by) | TryOp::TryLock(by), None) => outcome(true, Some(*by)),
                (TryOp::TryLock(_), Some(_)) => outcome(false, *state),
                (TryOp::IsFree, _) => outcome(state.is_none(), *state),
                (TryOp::Unlock(by), Some(owner)) if !self.owned || by == owner => outcome(true, None),
                _ => blocked(),
            }
        }

        fn observes(&self, op: &TryOp, recorded: Option<&bool>) -> bool {
            matches!((op, recorded), (TryOp::IsFree, _) | (TryOp::TryLock(_), Some(false)))
        }

        fn standard<'a>(&'a self, op: &'a TryOp, recorded: Option<&'a bool>) -> Option<Standard<&'a ()>> {
            let owner = |by: &u32| self.owned.then_some(*by);
            Some(match (op, recorded) {
                (TryOp::Lock(by) | TryOp::TryLock(by), None | Some(true)) => Standard::Lock { by: owner(by) },
                (TryOp::TryLock(_) | TryOp::IsFree, Some(false)) => Standard::LockFailed,
                (TryOp::Unlock(by), None | Some(true)) => Standard::Unlock { by: owner(by) },
                _ => return None,
            })
        }
    }

    fn try_op(random: &mut Random, process: u32) -> TryOp {
        match random.below(9) {
            0..3 => TryOp::Lock(process),
            3..5 => TryOp::TryLock(process),
            5..8 => TryOp::Unlock(process),
            _ => TryOp::IsFree,
        }
    }

    fn try_result(random: &mut Random, op: &TryOp) -> bool {
        !matches!(op, TryOp::TryLock(_) | TryOp::IsFree) || random.chance(1, 3)
    }

    family!(
        TryLocks,
        TryLock,
        "lock with tries, monitored",
        TryLock { owned: false },
        |random, process| try_op(random, process),
        |random, op| try_result(random, op),
        50,
        true
    );

    family!(
        OwnedTryLocks,
        TryLock,
        "lock with tries and owners, monitored",
        TryLock { owned: true },
        |random, process| try_op(random, process),
        |random, op| try_result(random, op),
        50,
        true
    );

    /// A priority queue whose values come in pairs: any of the values with the least priority may be removed next.
    pub(crate) struct Pairs;

    impl Spec for Pairs {
        type Op = PriorityQueueOp<u8>;
        type Ret = PriorityQueueRet<u8>;
        type State = Vec<u8>;
        type Key = ();
        type Value = u8;

        fn initial(&self) -> Vec<u8> {
            Vec::new()
        }

        fn step(&self, state: &Vec<u8>, op: &Self::Op, _: Option<&Self::Ret>) -> Outcomes<Self::Ret, Vec<u8>> {
            let mut next = state.clone();
            if let PriorityQueueOp::Insert(value) = op {
                next.push(*value);
                next.sort_unstable();
                return outcome(PriorityQueueRet::Done, next);
            }
            let Some(least) = state.first() else { return outcome(PriorityQueueRet::Value(None), next) };
            let mut outcomes = blocked();
            for (place, value) in state.iter().enumerate().take_while(|(_, value)| *value / 2 == least / 2) {
                let mut next = state.clone();
                if *op == PriorityQueueOp::DeleteMin {
                    next.remove(place);
                }
                outcomes.push((PriorityQueueRet::Value(Some(*value)), next));
            }
            outcomes
        }

        fn observes(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
            *op == PriorityQueueOp::PeekMin || recorded == Some(&PriorityQueueRet::Value(None))
        }

        fn standard<'a>(&'a self, op: &'a Self::Op, recorded: Option<&'a Self::Ret>) -> Option<Standard<&'a u8>> {
            let found = match recorded {
                Some(PriorityQueueRet::Value(found)) => Some(found),
                _ => None,
            };
            Some(match op {
                PriorityQueueOp::Insert(value) => Standard::Insert(value),
                PriorityQueueOp::DeleteMin => Standard::DeleteMin(Taken::from_result(found)),
                PriorityQueueOp::PeekMin => Standard::Min(Taken::from_result(found)),
            })
        }

        fn standard_order(&self, one: &u8, other: &u8) -> Ordering {
            (one / 2).cmp(&(other / 2))
        }
    }

    family!(
        PairQueues,
        Pairs,
        "priority queue of pairs, monitored",
        Pairs,
        |random, process| PriorityQueues::call(random, process),
        |random, op| PriorityQueues::result(random, op),
        40,
        true
    );

    #[expect(clippy::cast_possible_truncation, reason = "below 8")]
    fn many(random: &mut Random) -> u8 {
        random.below(8) as u8
    }
}
