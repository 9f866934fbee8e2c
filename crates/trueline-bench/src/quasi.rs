//! Measures the search for quasi linearizability on long histories. The enumeration of the paper is measured in
//! `round_up.rs`.

use trueline::drive::Random;
use trueline::history::History;
use trueline::judge::Budget;
use trueline::judge::quasi::{Factors, QuasiAlgorithm, Semantics, check};
use trueline::spec::{
    DisplacementQueue, PriorityQueue, PriorityQueueOp, PriorityQueueRet, Queue, QueueOp, QueueRet,
    RelaxedPriorityQueue, RelaxedStack, Spec, Stack, StackOp, StackRet,
};
use trueline::verdict::Verdict;

/// A call or a return.
enum Event<S: Spec> {
    Call(u32, S::Op),
    Return(u32, S::Ret),
}

/// Simulates an object with this many clients. Each operation takes effect at some time between its call and its
/// return.
fn simulate<S: Spec>(spec: &S, ops: impl IntoIterator<Item = S::Op>, clients: u32, seed: u64) -> Vec<Event<S>> {
    let mut random = Random::new(seed);
    let mut ops = ops.into_iter().peekable();
    let mut state = spec.initial();
    let mut idle: Vec<u32> = (0..clients).collect();
    let mut open: Vec<(u32, S::Op, Option<S::Ret>)> = Vec::new();
    let mut events = Vec::new();
    let below = |random: &mut Random, of: usize| random.below(u32::try_from(of).expect("few")) as usize;
    while ops.peek().is_some() || !open.is_empty() {
        if !idle.is_empty() && ops.peek().is_some() && random.chance(1, 2) {
            let op = ops.next().expect("an operation is left");
            let client = idle.swap_remove(below(&mut random, idle.len()));
            events.push(Event::Call(client, op.clone()));
            open.push((client, op, None));
            continue;
        }
        if open.is_empty() {
            continue;
        }
        let at = below(&mut random, open.len());
        let (client, op, result) = &mut open[at];
        match result {
            None => {
                let outcomes = spec.step(&state, op, None);
                let (given, next) = outcomes[below(&mut random, outcomes.len())].clone();
                state = next;
                *result = Some(given);
            }
            Some(given) => {
                events.push(Event::Return(*client, given.clone()));
                idle.push(*client);
                open.swap_remove(at);
            }
        }
    }
    events
}

fn history<S: Spec>(events: &[Event<S>]) -> History<S::Op, S::Ret> {
    let mut builder = History::builder();
    for event in events {
        match event {
            Event::Call(client, op) => builder.call(*client, op.clone()),
            Event::Return(client, result) => builder.ret(*client, result.clone()),
        }
        .expect("simulated histories are well formed");
    }
    builder.finish()
}

/// Exchanges the results of two operations that removed values. Both operations are near the end of
/// the history, but not next to each other.
fn spoil<S: Spec>(events: &mut [Event<S>], is_value: impl Fn(&S::Ret) -> bool) {
    let late = events.len() * 9 / 10;
    let returns = (late..events.len()).filter(|at| matches!(&events[*at], Event::Return(_, ret) if is_value(ret)));
    let returns: Vec<usize> = returns.take(40).collect();
    let (Some(&one), Some(&other)) = (returns.first(), returns.last()) else { return };
    let (front, back) = events.split_at_mut(other);
    let (Some(Event::Return(_, one)), Some(Event::Return(_, other))) = (front.get_mut(one), back.first_mut()) else {
        return;
    };
    std::mem::swap(one, other);
}

/// Returns a sequence of insertions (`Some`) and equally many removals (`None`). Insertions are
/// more frequent in the first part of the sequence.
fn puts_and_takes(operations: u64, random: &mut Random) -> Vec<Option<u64>> {
    let (mut put, mut taken) = (0, 0);
    let mut ops = Vec::new();
    while put + taken < operations {
        let is_put = put < operations / 2 && (put < taken + 8 || (put < taken + 64 && random.chance(1, 2)));
        ops.push(is_put.then_some(put));
        if is_put {
            put += 1;
        } else {
            taken += 1;
        }
    }
    ops
}

struct Row<'r, S: Spec, R: Spec<Op = S::Op, Ret = S::Ret>> {
    name: &'r str,
    spec: S,
    /// The specification by which the histories are simulated.
    relaxed: R,
    semantics: Semantics<'r, S::Op, S::Ret>,
    op: fn(Option<u64>) -> S::Op,
    is_value: fn(&S::Ret) -> bool,
}

impl<S: Spec, R: Spec<Op = S::Op, Ret = S::Ret>> Row<'_, S, R> {
    fn print(&self, operations: u64) {
        for is_wrong in [false, true] {
            let ops = puts_and_takes(operations, &mut Random::new(7)).into_iter().map(self.op);
            let mut events = simulate(&self.relaxed, ops, 4, 42);
            if is_wrong {
                spoil(&mut events, self.is_value);
            }
            let history = history(&events);
            let budget = Budget::unlimited().memory(2 << 30).time(std::time::Duration::from_secs(10));
            let judgment = check(&self.spec, &history, &self.semantics, QuasiAlgorithm::Auto, &budget);
            let stats = &judgment.stats;
            let verdict = match &judgment.verdict {
                Verdict::Unknown(limit) => format!("unknown ({})", limit.kind),
                known => known.name().to_owned(),
            };
            println!(
                "| {} | {} | {verdict} | {:.0} ms | {} | {:.1} MiB |",
                self.name,
                history.len(),
                stats.elapsed.as_secs_f64() * 1e3,
                stats.configurations,
                mebibytes(stats.peak_bytes),
            );
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn queue_factors<'f>(put: u32, take: u32) -> Factors<'f, QueueOp<u64>, QueueRet<u64>> {
    Factors::new()
        .class("enqueue", put, |op| matches!(op, QueueOp::Enqueue(_)))
        .class("dequeue", take, |op| matches!(op, QueueOp::Dequeue))
}

fn queue_op(value: Option<u64>) -> QueueOp<u64> {
    value.map_or(QueueOp::Dequeue, QueueOp::Enqueue)
}

/// Prints both tables.
pub(crate) fn tables() {
    println!("| history, 4 clients | operations | verdict | time | configurations | memory |");
    println!("|---|---|---|---|---|---|");
    let is_value = |ret: &QueueRet<u64>| matches!(ret, QueueRet::Value(Some(_)));
    for operations in [10_000, 100_000] {
        Row {
            name: "queue, {enqueue 0} {dequeue 4}",
            spec: Queue::new(),
            relaxed: DisplacementQueue::new(4),
            semantics: Semantics::by_class(queue_factors(0, 4)),
            op: queue_op,
            is_value,
        }
        .print(operations);
    }
    Row {
        name: "queue, {enqueue 2} {dequeue 2}",
        spec: Queue::new(),
        relaxed: DisplacementQueue::new(2),
        semantics: Semantics::by_class(queue_factors(2, 2)),
        op: queue_op,
        is_value,
    }
    .print(10_000);
    Row {
        name: "queue, as a whole, 0",
        spec: Queue::new(),
        relaxed: Queue::new(),
        semantics: Semantics::whole_domain(0),
        op: queue_op,
        is_value,
    }
    .print(10_000);
    Row {
        name: "queue, as a whole, 2",
        spec: Queue::new(),
        relaxed: DisplacementQueue::new(1),
        semantics: Semantics::whole_domain(2),
        op: queue_op,
        is_value,
    }
    .print(200);
    Row {
        name: "stack, as a whole, 2",
        spec: Stack::new(),
        relaxed: RelaxedStack::new(1).lateness(true),
        semantics: Semantics::whole_domain(2),
        op: |value| value.map_or(StackOp::Pop, StackOp::Push),
        is_value: |ret| matches!(ret, StackRet::Value(Some(_))),
    }
    .print(60);
    Row {
        name: "priority queue, as a whole, 2",
        spec: PriorityQueue::new(),
        relaxed: RelaxedPriorityQueue::new(1).lateness(true),
        semantics: Semantics::whole_domain(2),
        op: |value| value.map_or(PriorityQueueOp::DeleteMin, PriorityQueueOp::Insert),
        is_value: |ret| matches!(ret, PriorityQueueRet::Value(Some(_))),
    }
    .print(200);
}
