//! Measures the cost of recording a history, and the time to run and judge tests of a queue.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use trueline::drive::{
    Behavior, Call, Clock, Handle, Instance, Kind, Look, Random, Run, Runner, Settings, Shape, Timed, Workload,
};
use trueline::history::{Argument, Datum, History, Outcome, Value};
use trueline::judge::{Algorithm, Config, check};
use trueline::spec::{Queue, QueueOp, QueueRet};
use trueline_objects::ms_queue::MsQueue;

/// The number of times that the cost of recording is measured. The smallest cost counts.
const TIMES: usize = 15;
const OPERATIONS: usize = 100_000;
/// The number of runs in which backtracks are counted. Lowe observed backtracking in one of 9,000 runs.
const RUNS_OF_LOWE: u64 = 18_000;

pub(crate) fn table() {
    println!("| clock | recording, on top of the operation | bar |\n|---|---:|---:|");
    for clock in Clock::ALL {
        match clock.check() {
            Ok(()) => println!("| {clock} | {:.1} ns | 80 ns |", cost_of_recording(clock)),
            Err(reason) => println!("| {clock} | {reason} | |"),
        }
    }
    println!(
        "\n| run of a Michael-Scott queue, 4 threads of 200 operations | median of 1,000 | bar |\n|---|---:|---:|"
    );
    let (running, judging) = queue_runs(1000);
    let both: Vec<Duration> = running.iter().zip(&judging).map(|(run, judge)| *run + *judge).collect();
    for (what, times, bar) in [("running", running, ""), ("judging", judging, ""), ("both", both, "0.8 ms")] {
        println!("| {what} | {:.3} ms | {bar} |", median(times).as_secs_f64() * 1e3);
    }
    println!(
        "\n| Lowe's queue algorithm on runs of 800 operations | runs | runs that backtrack | backtracks \
         |\n|---|---:|---:|---:|"
    );
    for (what, chaos) in [("without chaos", 0), ("with chaos at one in 16 schedule points", 16)] {
        let (with, all) = backtracks(RUNS_OF_LOWE, chaos);
        println!("| {what} | {RUNS_OF_LOWE} | {with} | {all} |");
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// A counter. The same type is both the tested object and a thread's handle to it.
#[derive(Clone)]
struct Counter(Arc<AtomicU64>);

impl Instance for Counter {
    fn handle(&self, _thread: u32) -> Box<dyn Handle> {
        Box::new(self.clone())
    }
}

impl Handle for Counter {
    fn call(&mut self, call: &Call, clock: Clock) -> Timed {
        let step = u64::from_value(&call.argument).expect("the value is a number");
        Timed::measure(clock, || self.0.fetch_add(step, Ordering::Relaxed))
    }
}

/// Returns the cost of recording one operation, in nanoseconds. This is the time that a thread of
/// the runner takes for its calls, minus the time that the same calls take without recording,
/// divided by the number of calls.
fn cost_of_recording(clock: Clock) -> f64 {
    let kinds: Arc<[Kind]> = [Kind::new("add", |_| 1_u64.to_value())].into();
    let calls = vec![Call { operation: 0, argument: 1_u64.to_value() }; OPERATIONS];
    let settings = Settings { clock, jitter: 0, ..Settings::default() };
    let mut runner = Runner::new();
    let (mut bare, mut recorded) = (Duration::MAX, Duration::MAX);
    for _ in 0..TIMES {
        let counter = Counter(Arc::default());
        let started = Instant::now();
        for call in &calls {
            let step = u64::from_value(&call.argument).expect("the value is a number");
            black_box(counter.0.fetch_add(step, Ordering::Relaxed));
        }
        bare = bare.min(started.elapsed());
        // Use `elapsed`, because it includes the time to write the log. The recorded times from the
        // first call to the last return would not include all of it.
        let run = Run {
            instance: Arc::new(counter),
            threads: vec![Behavior::Calls(calls.clone())],
            before: Vec::new(),
            after: Vec::new(),
            operations: 0,
            seed: 1,
        };
        let (seen, elapsed) = runner.run_until(vec![run], &kinds, &settings, |_| Look::MayWait);
        assert_eq!(seen[0].history.len(), OPERATIONS);
        recorded = recorded.min(elapsed);
    }
    #[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
    let per_operation = |time: Duration| time.as_nanos() as f64 / OPERATIONS as f64;
    per_operation(recorded) - per_operation(bare)
}

#[derive(Clone)]
struct SharedQueue(Arc<MsQueue>);

impl Instance for SharedQueue {
    fn handle(&self, _thread: u32) -> Box<dyn Handle> {
        Box::new(self.clone())
    }
}

impl Handle for SharedQueue {
    fn call(&mut self, call: &Call, clock: Clock) -> Timed {
        match call.operation {
            0 => {
                let value = u64::from_value(&call.argument).expect("the value is a number");
                Timed::measure(clock, || self.0.enqueue(value))
            }
            _ => Timed::measure(clock, || self.0.dequeue()),
        }
    }
}

/// Returns the workload of a queue: 30 % of the calls are enqueues, as in Lowe's experiments.
fn workload(enqueue: Kind) -> Workload {
    let dequeue = Kind::new("dequeue", |_| Value::Null).weight(7);
    Workload { kinds: vec![enqueue.weight(3), dequeue], ..Workload::default() }
}

/// Creates a run of a queue, with 4 threads that call 200 operations each. The run is not executed
/// here.
fn queue_run(workload: &Workload, seed: u64) -> Run {
    let shape = Shape { threads: 4, operations: (200, 200), chaos: 0, few: None, phases: 0 };
    let calls = workload.program(&shape, &mut Random::new(seed));
    Run {
        instance: Arc::new(SharedQueue(Arc::new(MsQueue::new()))),
        threads: calls.into_iter().map(Behavior::Calls).collect(),
        before: Vec::new(),
        after: Vec::new(),
        operations: 200,
        seed,
    }
}

/// Converts a recorded history to a history of a queue.
fn of_queue(history: &History<Call, Value>) -> History<QueueOp<Value>, QueueRet<Value>> {
    let history = history.try_map(|operation| {
        let op = match operation.op.operation {
            0 => QueueOp::Enqueue(operation.op.argument.clone()),
            _ => QueueOp::Dequeue,
        };
        let outcome = match &operation.outcome {
            Outcome::Returned(_) if operation.op.operation == 0 => Outcome::Returned(QueueRet::Done),
            Outcome::Returned(Value::Null) => Outcome::Returned(QueueRet::Value(None)),
            Outcome::Returned(value) => Outcome::Returned(QueueRet::Value(Some(value.clone()))),
            _ => return Err("all operations return"),
        };
        Ok((op, outcome))
    });
    history.expect("every operation of the queue returns")
}

/// Executes and judges `runs` runs of a queue. Returns how long each run took, and how long it took
/// to judge each run.
fn queue_runs(runs: u64) -> (Vec<Duration>, Vec<Duration>) {
    let workload = workload(Kind::with_unique_values("enqueue"));
    let kinds: Arc<[Kind]> = workload.kinds.clone().into();
    let mut runner = Runner::new();
    let (mut running, mut judging) = (Vec::new(), Vec::new());
    for seed in 0..runs {
        let run = queue_run(&workload, seed);
        let started = Instant::now();
        let seen = runner.run(vec![run], &kinds, &Settings::default());
        running.push(started.elapsed());
        let started = Instant::now();
        assert!(check(&Queue::new(), &of_queue(&seen[0].history), &Config::new()).verdict.is_accepted());
        judging.push(started.elapsed());
    }
    (running, judging)
}

/// Executes `runs` runs of a queue whose values are below 20. Returns the number of runs in which
/// Lowe's queue algorithm backtracks, and the total number of backtracks.
fn backtracks(runs: u64, chaos: u32) -> (u64, u64) {
    let workload = workload(Kind::new("enqueue", |making| making.random.below(20).to_value()));
    let kinds: Arc<[Kind]> = workload.kinds.clone().into();
    let settings = Settings { chaos, ..Settings::default() };
    let config = Config::new().algorithm(Algorithm::QueueLowe);
    let mut runner = Runner::new();
    let (mut with, mut all) = (0, 0);
    for seed in 0..runs {
        let seen = runner.run(vec![queue_run(&workload, seed)], &kinds, &settings);
        let judgment = check(&Queue::new(), &of_queue(&seen[0].history), &config);
        assert!(judgment.verdict.is_accepted());
        with += u64::from(judgment.stats.backtracks > 0);
        all += judgment.stats.backtracks;
    }
    (with, all)
}
