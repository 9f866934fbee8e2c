//! What the threads call: the operations of each specification, made up at random.

use trueline::drive::Random;
use trueline::judge::{Config, check};
use trueline::spec::{
    BoundedQueue, BoundedQueueOp, BoundedQueueRet, FromModel, Map, MapOp, MapRet, Model, Queue, QueueOp, QueueRet,
    Register, RegisterOp, RegisterRet, Set, SetOp, SetRet, Spec, Stack, StackHeights, StackHeightsOp, StackHeightsRet,
    StackOp, StackRet,
};

use crate::record::{Shape, record};

/// Makes up an operation of a thread.
type Next<Op> = Box<dyn Fn(&mut Random, u32) -> Op + Sync>;

/// A specification, what is called, and how.
pub(crate) struct Workload<O, S: Spec> {
    pub(crate) spec: S,
    pub(crate) next: Next<S::Op>,
    pub(crate) call: fn(&O, usize, &S::Op) -> S::Ret,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Accepted,
    Rejected,
    /// Accepted as far as it went.
    Stuck,
}

impl<O: Sync, S: Spec> Workload<O, S> {
    /// Runs an object once, and judges.
    pub(crate) fn run(&self, object: &O, shape: Shape, seed: u64) -> Outcome {
        let recorded = record(object, shape, seed, &self.next, self.call);
        let verdict = check(&self.spec, &recorded.history, &Config::new()).verdict;
        if verdict.is_rejected() {
            return Outcome::Rejected;
        }
        assert!(verdict.is_accepted(), "there is no limit");
        if recorded.stuck { Outcome::Stuck } else { Outcome::Accepted }
    }
}

/// Queues by their two methods: enqueue in `percent` of cases.
pub(crate) fn queue<O>(percent: u32, call: fn(&O, usize, &QueueOp<u64>) -> QueueRet<u64>) -> Workload<O, Queue<u64>> {
    let next = move |random: &mut Random, _| match random.chance(percent, 100) {
        true => QueueOp::Enqueue(u64::from(random.below(20))),
        false => QueueOp::Dequeue,
    };
    Workload { spec: Queue::new(), next: Box::new(next), call }
}

/// Calls of a queue that has no bound.
macro_rules! queue_calls {
    () => {
        |queue, _, op| match op {
            trueline::spec::QueueOp::Enqueue(value) => {
                queue.enqueue(*value);
                trueline::spec::QueueRet::Done
            }
            trueline::spec::QueueOp::Dequeue => trueline::spec::QueueRet::Value(queue.dequeue()),
            trueline::spec::QueueOp::Peek => unreachable!("it is not called"),
        }
    };
}

/// Queues with a bound.
pub(crate) fn bounded_queue<O>(
    capacity: usize,
    call: fn(&O, usize, &BoundedQueueOp<u64>) -> BoundedQueueRet<u64>,
) -> Workload<O, BoundedQueue<u64>> {
    let next = |random: &mut Random, _| match random.chance(1, 2) {
        true => BoundedQueueOp::Enqueue(u64::from(random.below(20))),
        false => BoundedQueueOp::Dequeue,
    };
    Workload { spec: BoundedQueue::new(capacity), next: Box::new(next), call }
}

/// Queues with a bound that wait: half of the threads enqueue, half dequeue, so that nobody waits in vain.
pub(crate) fn waiting_queue<O>(
    capacity: usize,
    call: fn(&O, usize, &BoundedQueueOp<u64>) -> BoundedQueueRet<u64>,
) -> Workload<O, BoundedQueue<u64>> {
    let next = |random: &mut Random, thread: u32| match thread % 2 {
        0 => BoundedQueueOp::Enqueue(u64::from(random.below(20))),
        _ => BoundedQueueOp::Dequeue,
    };
    Workload { spec: BoundedQueue::new(capacity), next: Box::new(next), call }
}

macro_rules! bounded_queue_calls {
    () => {
        |queue, _, op| match op {
            trueline::spec::BoundedQueueOp::Enqueue(value) => {
                trueline::spec::BoundedQueueRet::Accepted(queue.enqueue(*value))
            }
            trueline::spec::BoundedQueueOp::Dequeue => trueline::spec::BoundedQueueRet::Value(queue.dequeue()),
            trueline::spec::BoundedQueueOp::Peek => unreachable!("it is not called"),
        }
    };
}

/// Stacks.
pub(crate) fn stack<O>(call: fn(&O, usize, &StackOp<u64>) -> StackRet<u64>) -> Workload<O, Stack<u64>> {
    let next = |random: &mut Random, _| match random.chance(1, 2) {
        true => StackOp::Push(u64::from(random.below(20))),
        false => StackOp::Pop,
    };
    Workload { spec: Stack::new(), next: Box::new(next), call }
}

macro_rules! stack_calls {
    () => {
        |stack, _, op| match op {
            trueline::spec::StackOp::Push(value) => {
                stack.push(*value);
                trueline::spec::StackRet::Done
            }
            trueline::spec::StackOp::Pop => trueline::spec::StackRet::Value(stack.pop()),
            trueline::spec::StackOp::Top => unreachable!("it is not called"),
        }
    };
}

/// Stacks that tell their height.
pub(crate) fn stack_heights<O>(
    call: fn(&O, usize, &StackHeightsOp<u64>) -> StackHeightsRet<u64>,
) -> Workload<O, StackHeights<u64>> {
    let next = |random: &mut Random, _| match random.chance(1, 2) {
        true => StackHeightsOp::Push(u64::from(random.below(20))),
        false => StackHeightsOp::Pop,
    };
    Workload { spec: StackHeights::new(), next: Box::new(next), call }
}

/// Maps with so many keys: the four operations of the papers, equally often.
pub(crate) fn map<O>(keys: u32, call: fn(&O, usize, &MapOp<u64, u64>) -> MapRet<u64>) -> Workload<O, Map<u64, u64>> {
    let next = move |random: &mut Random, _| {
        let (key, value) = (u64::from(random.below(keys)), u64::from(random.below(50)));
        match random.below(4) {
            0 => MapOp::Get(key),
            1 => MapOp::Put(key, value),
            2 => MapOp::Delete(key),
            _ => MapOp::GetOrInsert(key, value),
        }
    };
    Workload { spec: Map::new(), next: Box::new(next), call }
}

macro_rules! map_calls {
    () => {
        |map, _, op| match op {
            trueline::spec::MapOp::Get(key) => trueline::spec::MapRet::Value(map.get(*key)),
            trueline::spec::MapOp::Put(key, value) => {
                map.update(*key, *value);
                trueline::spec::MapRet::Done
            }
            trueline::spec::MapOp::Delete(key) => {
                map.delete(*key);
                trueline::spec::MapRet::Done
            }
            trueline::spec::MapOp::GetOrInsert(key, value) => {
                trueline::spec::MapRet::Value(Some(map.get_or_else_update(*key, *value)))
            }
            _ => unreachable!("it is not called"),
        }
    };
}

/// Sets with so many items.
pub(crate) fn set<O>(items: u32, call: fn(&O, usize, &SetOp<u64>) -> SetRet) -> Workload<O, Set<u64>> {
    let next = move |random: &mut Random, _| {
        let item = u64::from(random.below(items));
        match random.below(3) {
            0 => SetOp::Add(item),
            1 => SetOp::Remove(item),
            _ => SetOp::Contains(item),
        }
    };
    Workload { spec: Set::new(), next: Box::new(next), call }
}

macro_rules! set_calls {
    () => {
        |set, _, op| match op {
            trueline::spec::SetOp::Add(item) => trueline::spec::SetRet::Bool(set.add(*item)),
            trueline::spec::SetOp::Remove(item) => trueline::spec::SetRet::Bool(set.remove(*item)),
            trueline::spec::SetOp::Contains(item) => trueline::spec::SetRet::Bool(set.contains(*item)),
            _ => unreachable!("it is not called"),
        }
    };
}

/// Registers, read in 60 % of cases.
pub(crate) fn register<O>(call: fn(&O, usize, &RegisterOp<u64>) -> RegisterRet<u64>) -> Workload<O, Register<u64>> {
    let next = |random: &mut Random, _| match random.chance(60, 100) {
        true => RegisterOp::Read,
        false => RegisterOp::Write(u64::from(random.below(10))),
    };
    Workload { spec: Register::new(0), next: Box::new(next), call }
}

/// A set of items below 20 that nothing is removed from, and that tells if it is empty.
#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GrowingSet(u32);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GrowingSetOp {
    Insert(u64),
    Contains(u64),
    IsEmpty,
}

impl Model for GrowingSet {
    type Op = GrowingSetOp;
    type Ret = bool;

    fn apply(&mut self, op: &GrowingSetOp) -> bool {
        match op {
            GrowingSetOp::Insert(item) => {
                let before = self.0;
                self.0 |= 1 << item;
                self.0 != before
            }
            GrowingSetOp::Contains(item) => self.0 >> item & 1 == 1,
            GrowingSetOp::IsEmpty => self.0 == 0,
        }
    }
}

pub(crate) fn growing_set<O>(call: fn(&O, usize, &GrowingSetOp) -> bool) -> Workload<O, FromModel<GrowingSet>> {
    let next = |random: &mut Random, thread: u32| {
        let item = u64::from(random.below(20));
        match random.below(10) {
            0..3 => GrowingSetOp::Insert(item),
            3..5 if thread % 2 == 1 => GrowingSetOp::IsEmpty,
            _ => GrowingSetOp::Contains(item),
        }
    };
    Workload { spec: FromModel::new(GrowingSet::default()), next: Box::new(next), call }
}

pub(crate) use {bounded_queue_calls, map_calls, queue_calls, set_calls, stack_calls};
