//! Measures how many executions per second trueline explores, and compares this rate with that of
//! plain shuttle. Both explore the same program, depth first.
//!
//! In the program, two threads draw three tickets each. To draw a ticket, a thread loads a counter
//! and then stores the next number. Plain shuttle executes the program and checks nothing. Trueline
//! records each execution, and judges its history if the history is new. Trueline has a schedule
//! point before each call. Shuttle is therefore also measured with a schedule point before each
//! call, so that the executions have equally many steps.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use shuttle::scheduler::DfsScheduler;
use trueline::drive::systematic::{Execution, Program, Search, Settings, explore};
use trueline::drive::{Behavior, Call, Clock, Handle, Instance, Kind, Timed};
use trueline::history::Value;
use trueline::judge::{Config, check};
use trueline::primitives::{AtomicU64, Ordering::SeqCst};
use trueline::spec::{FromModel, Model};

/// The minimum rate of trueline, as a fraction of shuttle's rate.
const BAR: f64 = 0.6;
const THREADS: usize = 2;
const CALLS: usize = 3;
/// The number of executions in one measurement.
const EXECUTIONS: usize = 20_000;

#[derive(Clone, Default)]
struct Tickets(Arc<AtomicU64>);

impl Instance for Tickets {
    fn handle(&self, _thread: u32) -> Box<dyn Handle> {
        Box::new(self.clone())
    }
}

impl Handle for Tickets {
    fn call(&mut self, _call: &Call, clock: Clock) -> Timed {
        Timed::measure(clock, || {
            let number = self.0.load(SeqCst);
            self.0.store(number + 1, SeqCst);
            number
        })
    }
}

/// The specification of a ticket dispenser.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Dispenser(i64);

impl Model for Dispenser {
    type Op = Call;
    type Ret = Value;

    fn apply(&mut self, _draw: &Call) -> Value {
        self.0 += 1;
        Value::Int(self.0 - 1)
    }
}

fn program() -> Program {
    let draw = Call { operation: 0, argument: Value::Null };
    Program {
        make: Arc::new(|| Arc::new(Tickets::default())),
        kinds: Arc::from([Kind::new("draw", |_| Value::Null)]),
        threads: vec![Behavior::Calls(vec![draw; CALLS]); THREADS],
        before: Vec::new(),
        after: Vec::new(),
        operations: 0,
        seed: 0,
    }
}

/// Runs the program with shuttle, and returns the number of executions.
fn shuttle(points_before_calls: bool) -> usize {
    let mut config = shuttle::Config::new();
    config.failure_persistence = shuttle::FailurePersistence::None;
    let runner = shuttle::Runner::new(DfsScheduler::new(Some(EXECUTIONS), false), config);
    runner.run(move || {
        let counter = Arc::new(shuttle::sync::atomic::AtomicU64::new(0));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let counter = Arc::clone(&counter);
                shuttle::thread::spawn(move || {
                    for _ in 0..CALLS {
                        if points_before_calls {
                            shuttle::thread::yield_now();
                        }
                        let number = counter.load(SeqCst);
                        counter.store(number + 1, SeqCst);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("the thread does not panic");
        }
    })
}

/// Explores the program with trueline, and returns the number of executions.
fn ours(search: Search, most: Option<u64>) -> usize {
    let judge = |execution: &Execution| {
        // Most histories are rejected, because the program has a race. The measurement only
        // requires that every history gets a verdict.
        let verdict = check(&FromModel::new(Dispenser(0)), &execution.history, &Config::new()).verdict;
        verdict.is_accepted() || verdict.is_rejected()
    };
    let mut settings = Settings::default();
    settings.search = search;
    settings.executions = most;
    let report = explore(&program(), &settings, Arc::new(judge));
    usize::try_from(report.executions).expect("the number of executions fits in a `usize`")
}

fn rate(time: Duration, run: impl Fn() -> usize) -> f64 {
    let (started, mut executions) = (Instant::now(), 0);
    while started.elapsed() < time {
        executions += run();
    }
    executions as f64 / started.elapsed().as_secs_f64()
}

/// Prints the table. The exit code reports whether trueline reached its minimum rate.
pub(crate) fn table(time: Duration) -> ExitCode {
    let most = u64::try_from(EXECUTIONS).ok();
    let rows = [
        ("shuttle, depth first, bare", rate(time, || shuttle(false))),
        ("shuttle, depth first, with a schedule point before each call", rate(time, || shuttle(true))),
        ("trueline, depth first, recorded and judged", rate(time, || ours(Search::Unreduced, most))),
        ("trueline, reduced, recorded and judged", rate(time, || ours(Search::Exhaustive, None))),
    ];
    println!("| executions of {THREADS} threads with {CALLS} calls | per second | of bare shuttle |");
    println!("|---|---:|---:|");
    for (title, rate) in rows {
        println!("| {title} | {rate:.0} | {:.2} |", rate / rows[0].1);
    }
    let all = (ours(Search::Unreduced, None), ours(Search::Exhaustive, None));
    println!("\nAll schedules: {} executions; one schedule of each class of equivalent schedules: {}.", all.0, all.1);
    if rows[2].1 >= BAR * rows[0].1 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
