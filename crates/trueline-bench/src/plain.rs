//! Measures how fast runs are judged by plain models, such as a `VecDeque` for a queue. For
//! comparison, the same runs are judged by named specifications, or by the meanings that a test
//! declares for its operations.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use trueline::drive::unique;
use trueline::test::{Meaning, Modeled, Plan, Shared, Test};

/// The kinds of runs: the number of threads, the number of calls of each thread, and the number of
/// runs in one measurement.
const SHAPES: [(u32, u32, u64); 3] = [(2, 3, 4000), (4, 25, 600), (4, 200, 60)];
/// The number of times that each test is measured. The tests to compare are measured alternately.
const ROUNDS: u64 = 5;

/// A function that creates a test.
type Make = fn() -> Plan;

pub(crate) fn table() {
    let rows: [(&str, Make, &str, Make); 9] = [
        ("`VecDeque`, a queue", || plain(queue), "`.means(..)`", || told(queue, [Meaning::Enqueue, Meaning::Dequeue])),
        ("`VecDeque`, a deque", deque, "`deque`", || by(deque, "deque")),
        ("`Vec`, a stack", || plain(stack), "`.means(..)`", || told(stack, [Meaning::Push, Meaning::Pop])),
        ("`BinaryHeap`", heap, "`priority-queue`", || by(heap, "priority-queue")),
        ("`BTreeMap`", map, "`map`", || by(map, "map")),
        ("`BTreeSet`", set, "`set`", || by(set, "set")),
        ("`u64`, a counter", counter, "`counter`", || by(counter, "counter")),
        ("`u64`, a register", || plain(number), "`.means(..)`", || told(number, [Meaning::Write, Meaning::Read])),
        ("`Option`, a register", || plain(cell), "`.means(..)`", || told(cell, [Meaning::Write, Meaning::Read])),
    ];
    println!("| model | threads x calls | plain, runs per second | judged by | runs per second | share | bar |");
    println!("|---|---|---:|---|---:|---:|---:|");
    for (name, plain, judge, told) in rows {
        for (threads, calls, runs) in SHAPES {
            let mut elapsed = [Duration::ZERO; 2];
            for seed in 0..ROUNDS {
                for (elapsed, make) in elapsed.iter_mut().zip([plain, told]) {
                    let plan = make().forgetful().without_helpers().min_runs(0);
                    let outcome = plan.threads(threads).calls(calls).runs(runs).seed(seed).run();
                    if let Some(failure) = &outcome.failure {
                        eprintln!("{name}: {failure}");
                    }
                    if outcome.undecided > 0 {
                        eprintln!(
                            "{name}, {threads} x {calls}: {} of {runs} runs were not judged in time",
                            outcome.undecided
                        );
                    }
                    *elapsed += outcome.elapsed;
                }
            }
            #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
            let per_second = elapsed.map(|elapsed| (runs * ROUNDS) as f64 / elapsed.as_secs_f64());
            let [plain, told] = per_second;
            println!("| {name} | {threads} x {calls} | {plain:.0} | {judge} | {told:.0} | {:.2} | 0.5 |", plain / told);
        }
    }
}

/// A test of an object behind a lock. The model has the same type as the object.
type Locked<M> = Test<Mutex<M>, Shared<Mutex<M>>, Modeled<M>>;

fn of<M: Default + trueline::test::PlainModel>() -> Locked<M> {
    trueline::test(Mutex::<M>::default).model(M::default())
}

fn held<M>(object: &Mutex<M>) -> MutexGuard<'_, M> {
    object.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Functions that add two operations to a test: one that adds a value, and one that removes or reads a value.
type Pair<M> = [fn(Locked<M>) -> Locked<M>; 2];

fn plain<M: Default + trueline::test::PlainModel>(pair: fn() -> Pair<M>) -> Plan {
    pair().into_iter().fold(of(), |test, operation| operation(test)).into_plan()
}

fn told<M: Default + trueline::test::PlainModel>(pair: fn() -> Pair<M>, meanings: [Meaning; 2]) -> Plan {
    pair().into_iter().zip(meanings).fold(of(), |test, (operation, meaning)| operation(test).means(meaning)).into_plan()
}

fn by(make: Make, spec: &str) -> Plan {
    make().judged_by(spec).unwrap_or_else(|problem| panic!("{problem}"))
}

fn queue() -> Pair<VecDeque<u64>> {
    [
        |test| test.operation("enqueue", unique(), |o, x| held(o).push_back(x), |model, x| model.push_back(x)),
        |test| test.operation("dequeue", (), |o, ()| held(o).pop_front(), |model, ()| model.pop_front()),
    ]
}

fn stack() -> Pair<Vec<u64>> {
    [
        |test| test.operation("push", unique(), |o, x| held(o).push(x), |model, x| model.push(x)),
        |test| test.operation("pop", (), |o, ()| held(o).pop(), |model, ()| model.pop()),
    ]
}

fn number() -> Pair<u64> {
    [
        |test| test.operation("write", unique(), |o, x| *held(o) = x, |model, x| *model = x),
        |test| test.operation("read", (), |o, ()| *held(o), |model, ()| *model),
    ]
}

fn cell() -> Pair<Option<u64>> {
    [
        |test| test.operation("write", unique(), |o, x| *held(o) = Some(x), |model, x| *model = Some(x)),
        |test| test.operation("read", (), |o, ()| *held(o), |model, ()| *model),
    ]
}

fn deque() -> Plan {
    of::<VecDeque<u64>>()
        .operation("push-back", unique(), |o, x| held(o).push_back(x), |model, x| model.push_back(x))
        .operation("push-front", unique(), |o, x| held(o).push_front(x), |model, x| model.push_front(x))
        .operation("pop-back", (), |o, ()| held(o).pop_back(), |model, ()| model.pop_back())
        .operation("pop-front", (), |o, ()| held(o).pop_front(), |model, ()| model.pop_front())
        .into_plan()
}

/// A heap that can be compared and hashed by its contents.
#[derive(Clone, Debug, Default)]
struct Heap(BinaryHeap<Reverse<u64>>);

impl Heap {
    fn values(&self) -> Vec<Reverse<u64>> {
        self.0.clone().into_sorted_vec()
    }
}

impl PartialEq for Heap {
    fn eq(&self, other: &Self) -> bool {
        self.values() == other.values()
    }
}

impl Eq for Heap {}

impl Hash for Heap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.values().hash(state);
    }
}

fn heap() -> Plan {
    of::<Heap>()
        .operation("insert", unique(), |o, x| held(o).0.push(Reverse(x)), |model, x| model.0.push(Reverse(x)))
        .operation("delete-min", (), |o, ()| held(o).0.pop().map(|x| x.0), |model, ()| model.0.pop().map(|x| x.0))
        .into_plan()
}

fn map() -> Plan {
    of::<BTreeMap<u32, u32>>()
        .operation(
            "insert",
            (0..50_u32, 0..1000_u32),
            |o, (k, v)| held(o).insert(k, v),
            |model, (k, v)| model.insert(k, v),
        )
        .operation("remove", 0..50_u32, |o, k| held(o).remove(&k), |model, k| model.remove(&k))
        .operation("get", 0..50_u32, |o, k| held(o).get(&k).copied(), |model, k| model.get(&k).copied())
        .into_plan()
}

fn set() -> Plan {
    of::<BTreeSet<u32>>()
        .operation("add", 0..50_u32, |o, x| held(o).insert(x), |model, x| model.insert(x))
        .operation("remove", 0..50_u32, |o, x| held(o).remove(&x), |model, x| model.remove(&x))
        .operation("contains", 0..50_u32, |o, x| held(o).contains(&x), |model, x| model.contains(&x))
        .into_plan()
}

fn counter() -> Plan {
    of::<u64>()
        .operation("increment", (), |o, ()| *held(o) += 1, |model, ()| *model += 1)
        .operation("read", (), |o, ()| *held(o), |model, ()| *model)
        .into_plan()
}
