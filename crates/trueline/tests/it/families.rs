//! Random small histories of each specification.

use std::fmt::Debug;

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::{History, Interval, Outcome, from_intervals};
use trueline::spec::{
    Array, ArrayOp, ArrayRet, Bag, BagOp, BagRet, BoundedQueue, BoundedQueueOp, BoundedQueueRet, CasRegister,
    CasRegisterOp, CasRegisterRet, Counter, CounterOp, CounterRet, Deque, DequeOp, DequeRet, DisplacementQueue,
    FetchAdd, FetchAddOp, Kv, KvOp, KvRet, LockRet, Log, LogOp, LogRet, Map, MapOp, MapRet, MicroOp, MultiRegister,
    MultiRegisterOp, MultiRegisterRet, Multiset, MultisetOp, MultisetRet, Mutex, MutexOp, OnceCell, OnceCellOp,
    OnceCellRet, Outcomes, PriorityQueue, PriorityQueueOp, PriorityQueueRet, Queue, QueueOp, QueueRet, Register,
    RegisterOp, RegisterRet, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack, RwLock, RwLockOp, Semaphore,
    SemaphoreOp, Set, SetOp, SetRet, Spec, Stack, StackHeights, StackHeightsOp, StackHeightsRet, StackOp, StackRet,
    Stuttering,
};

/// A specification with made-up operations and results.
pub(crate) trait Family {
    type Spec: Spec;
    const NAME: &'static str;
    /// The monitor of the type judges at least so many of a hundred histories.
    const MONITORED: u32 = 0;
    fn spec() -> Self::Spec;
    /// Any operation that `process` may call.
    fn call(random: &mut Random, process: u32) -> Op<Self>;
    /// Any result that `op` might be recorded with, right or wrong.
    fn result(random: &mut Random, op: &Op<Self>) -> Ret<Self>;
}

pub(crate) type Op<F> = <<F as Family>::Spec as Spec>::Op;
pub(crate) type Ret<F> = <<F as Family>::Spec as Spec>::Ret;
pub(crate) type HistoryOf<F> = History<Op<F>, Ret<F>>;

/// A history of at most `most` operations: good, spoilt or made up; with pending and optional operations and ties.
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
    // Cutting a history off leaves optional operations.
    if random.chance(1, 6) && !history.is_empty() {
        let length = random.below(u32::try_from(history.events().len()).expect("small")) + 1;
        return history.truncate(length as usize);
    }
    history
}

/// What the sequential object does, with calls and returns around it.
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

/// The same with one operation replaced, or only its result.
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

/// Operations at random times with random results.
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

/// A run of the sequential object one operation after the other, each stretched over a random time with many ties.
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
    // A pending operation of a process that goes on is to be had too; processes above 3 only ever crash.
    from_intervals(intervals).expect("operations of a process do not overlap")
}

/// The same history with neighbouring events moved to one time: more overlaps, so what was good stays good.
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
    from_intervals(intervals).expect("the order of events is kept but for ties")
}

macro_rules! family {
    ($name:ident, $spec:ty, $text:literal, $make:expr, $call:expr, $result:expr $(, $percent:literal)?) => {
        pub(crate) struct $name;
        impl Family for $name {
            type Spec = $spec;
            const NAME: &'static str = $text;
            $(const MONITORED: u32 = $percent;)?
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
    // To append is exclusive or, and nothing can be appended to a 1.
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

/// Mostly on one key, so that there is something to partition.
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

/// A store of one string that has no key: what holds for one key then holds for the whole, so that a history is not split
/// before rules that need it are tried.
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

/// Histories that monitors can judge.
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
        30
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
        90
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
        50
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
        95
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
        40
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
        40
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
        50
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
        10
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

    #[expect(clippy::cast_possible_truncation, reason = "below 8")]
    fn many(random: &mut Random) -> u8 {
        random.below(8) as u8
    }
}
