//! Measures the near-linear monitors: their memory, and their time relative to the time of one
//! sort.

use trueline::history::History;
use trueline::judge::{Config, check};
use trueline::spec::{
    Bag, BagOp, FetchAdd, FetchAddOp, Map, MapOp, PriorityQueue, PriorityQueueOp, PriorityQueueRet, Queue, QueueOp,
    QueueRet, Register, RegisterOp, Set, SetOp, Spec, Stack, StackOp, StackRet,
};
use trueline_bench::{histories, usage};

use crate::measure::{self, Measured};

/// For each kind of object, its name, and the maximum time for judging a million operations, as a
/// multiple of the time of one sort (measured by `sort_ns`). The second text is empty if there is
/// no maximum.
const KINDS: &[(&str, &str)] = &[
    ("queue", "8"),
    ("register", "8"),
    ("set", "8"),
    ("set-of-24", "8"),
    ("priority-queue", "12"),
    ("stack", "40"),
    ("map", ""),
    ("bag", ""),
    ("fetch-add", ""),
];

/// Prints the table of the monitors.
pub(crate) fn table(filter: &[&str]) {
    println!(
        "| case | verdict | best CPU time | sorts | bar | ns per operation | relative to 10,000 operations | bytes per operation |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let unit = sort_ns();
    for (kind, bar) in KINDS {
        for clients in [8, 16] {
            for verdict in ["good", "bad"] {
                let mut small = None;
                for operations in [10_000u32, 1_000_000] {
                    let case = format!("monitor {kind} {operations} {clients} {verdict}");
                    if !filter.iter().all(|word| case.contains(word)) {
                        continue;
                    }
                    match measure::in_new_process(&case) {
                        Ok(measured) => print_row(&case, &measured, unit, bar, &mut small),
                        Err(problem) => eprintln!("{problem}"),
                    }
                }
            }
        }
    }
    for verdict in ["good", "bad"] {
        let case = format!("monitor queue-of-10 20000 12 {verdict}");
        if filter.iter().all(|word| case.contains(word)) {
            match measure::in_new_process(&case) {
                Ok(measured) => print_row(&case, &measured, unit, "50 ms if good", &mut None),
                Err(problem) => eprintln!("{problem}"),
            }
        }
    }
    println!("\nA sort is `sort_unstable` on 2,000,000 shuffled u64: {:.1} ms here.", unit as f64 / 1e6);
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn print_row(case: &str, measured: &Measured, unit: u64, bar: &str, small: &mut Option<f64>) {
    let per_operation = measured.best_ns as f64 / measured.operations as f64;
    let ratio = small.map_or(String::new(), |small| format!("{:.2}", per_operation / small));
    *small = small.or(Some(per_operation));
    println!(
        "| {case} | {} | {:.2} ms | {:.2} | {bar} | {per_operation:.0} | {ratio} | {:.0} |",
        measured.verdict,
        measured.best_ns as f64 / 1e6,
        measured.best_ns as f64 / unit as f64,
        measured.above_kib as f64 * 1024.0 / measured.operations as f64,
    );
}

/// Returns the unit of time: how long it takes to sort two million shuffled numbers, in
/// nanoseconds.
fn sort_ns() -> u64 {
    let mut random = trueline::drive::Random::new(1);
    let shuffled: Vec<u64> = (0..2_000_000).map(|_| random.bits()).collect();
    let times = (0..5).map(|_| {
        let mut numbers = shuffled.clone();
        let start = usage::cpu_ns();
        numbers.sort_unstable();
        std::hint::black_box(&numbers);
        usage::cpu_ns() - start
    });
    times.min().unwrap_or(1)
}

/// Runs a case in this process, at most this many times.
pub(crate) fn case(name: &str, most_runs: u32) -> Option<Measured> {
    let words: Vec<&str> = name.split(' ').collect();
    let ["monitor", kind, operations, clients, verdict] = *words.as_slice() else { return None };
    let shape = Shape {
        operations: operations.parse().ok()?,
        clients: clients.parse().ok()?,
        good: verdict == "good",
        runs: most_runs.min(3),
    };
    let half = |random: &mut trueline::drive::Random| random.chance(1, 2);
    Some(match kind {
        "queue" => shape.measure(
            &Queue::new(),
            |random, next| if half(random) { (QueueOp::Enqueue(next), true) } else { (QueueOp::Dequeue, false) },
            |_, result| matches!(result, QueueRet::Value(Some(_))),
        ),
        "queue-of-10" => shape.measure(
            &Queue::new(),
            |random, _| match random.below(20) {
                value @ 0..10 => (QueueOp::Enqueue(u64::from(value)), false),
                _ => (QueueOp::Dequeue, false),
            },
            |_, result| matches!(result, QueueRet::Value(Some(_))),
        ),
        "register" => shape.measure(
            &Register::new(0),
            |random, next| if half(random) { (RegisterOp::Write(next), true) } else { (RegisterOp::Read, false) },
            |op, _| *op == RegisterOp::Read,
        ),
        "set" => shape.measure(
            &Set::new(),
            |random, next| match random.below(3) {
                0 => (SetOp::Add(next), true),
                1 => (SetOp::Remove(next - u64::from(random.below(50)).min(next - 1)), false),
                _ => (SetOp::Contains(next - u64::from(random.below(50)).min(next - 1)), false),
            },
            |_, _| true,
        ),
        "set-of-24" => shape.measure(
            &Set::new(),
            |random, _| {
                let value = u64::from(random.below(24));
                match random.below(3) {
                    0 => (SetOp::Add(value), false),
                    1 => (SetOp::Remove(value), false),
                    _ => (SetOp::Contains(value), false),
                }
            },
            |_, _| true,
        ),
        "priority-queue" => shape.measure(
            &PriorityQueue::new(),
            |random, next| {
                // Use distinct values in random order.
                let value = (u64::from(random.below(1 << 20)) << 32) + next;
                if half(random) { (PriorityQueueOp::Insert(value), true) } else { (PriorityQueueOp::DeleteMin, false) }
            },
            |_, result| matches!(result, PriorityQueueRet::Value(Some(_))),
        ),
        "stack" => shape.measure(
            &Stack::new(),
            |random, next| if half(random) { (StackOp::Push(next), true) } else { (StackOp::Pop, false) },
            |_, result| matches!(result, StackRet::Value(Some(_))),
        ),
        "map" => shape.measure(
            &Map::new(),
            |random, next| {
                let key = u64::from(random.below(24));
                match random.below(3) {
                    0 => (MapOp::Insert(key, next), true),
                    1 => (MapOp::Remove(key), false),
                    _ => (MapOp::Get(key), false),
                }
            },
            |op, _| matches!(op, MapOp::Get(_)),
        ),
        "bag" => shape.measure(
            &Bag::new(),
            |random, next| if half(random) { (BagOp::Add(next), true) } else { (BagOp::RemoveAny, false) },
            |op, _| *op == BagOp::RemoveAny,
        ),
        "fetch-add" => shape.measure(&FetchAdd::new(0), |_, _| (FetchAddOp::FetchAdd(1), false), |_, _| true),
        _ => return None,
    })
}

struct Shape {
    operations: u32,
    clients: u32,
    good: bool,
    runs: u32,
}

impl Shape {
    fn measure<S: Spec>(
        &self,
        spec: &S,
        call: impl FnMut(&mut trueline::drive::Random, u64) -> (S::Op, bool),
        may_exchange: impl Fn(&S::Op, &S::Ret) -> bool,
    ) -> Measured {
        let history = histories::distinct(spec, self.operations, self.clients, 1, call);
        let is_wrong = |history: &History<S::Op, S::Ret>| check(spec, history, &Config::new()).verdict.is_rejected();
        let history = if self.good { history } else { histories::spoilt(&history, may_exchange, is_wrong) };
        usage::forget_most();
        measure::judge(spec, &history, &Config::new(), self.runs)
    }
}
