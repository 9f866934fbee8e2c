//! Measures testers of queues, as in Lowe, *Testing for linearizability*, section 5 and the right
//! halves of figures 4 and 5.

use std::time::Duration;

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::History;
use trueline::judge::{Budget, Config, check};
use trueline::spec::{Queue, QueueOp, QueueRet, Spec};
use trueline::verdict::Verdict;
use trueline_bench::usage;

/// The testers that are compared.
const TESTERS: &[&str] = &["queue-lowe", "auto", "jit-graph", "wing-gong-graph", "compete:jit-tree,jit-graph"];

/// The maximum number of configurations that a generic search may visit; the paper limits the time instead.
const CAP: u64 = 2_000_000;

type QueueHistory = History<QueueOp<u64>, QueueRet<u64>>;

/// Returns a history of a queue. In `tenths` of ten operations, a worker enqueues one of 20 values;
/// in the others, it dequeues. Between operations, workers are idle, like threads that write a log.
fn history(workers: u32, operations: u32, tenths: u32, seed: u64) -> QueueHistory {
    let shape = Simulation { processes: workers, operations: workers * operations, crashes: 0, busy: false };
    let spec = Queue::new();
    let mut state = spec.initial();
    let call = |random: &mut Random, _| {
        if random.chance(tenths, 10) { QueueOp::Enqueue(u64::from(random.below(20))) } else { QueueOp::Dequeue }
    };
    simulate(&shape, &mut Random::new(seed), call, |_, op| {
        let (result, next) = spec.step(&state, op, None).into_iter().next()?;
        state = next;
        Some(result)
    })
}

fn config(tester: &str) -> Config {
    let budget = Budget::unlimited().configurations(CAP).time(Duration::from_secs(20)).memory(4 << 30);
    Config::new().algorithm(tester.parse().expect("a tester's name")).budget(budget)
}

/// Returns the mean time per history in milliseconds and the number of undecided histories, as text.
#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn judge(tester: &str, histories: &[QueueHistory]) -> String {
    let config = config(tester);
    let (mut spent, mut undecided) = (0, 0);
    for history in histories {
        let start = usage::cpu_ns();
        let verdict = check(&Queue::new(), history, &config).verdict;
        spent += usage::cpu_ns() - start;
        undecided += u32::from(matches!(verdict, Verdict::Unknown(_)));
        assert!(!verdict.is_rejected(), "{tester} rejected a history of a real queue");
    }
    let each = spent as f64 / 1e6 / histories.len() as f64;
    match undecided {
        0 => format!("{each:.2}"),
        _ => format!("{each:.2} ({undecided} of {} undecided)", histories.len()),
    }
}

/// Prints the tables of times and of backtracks.
pub(crate) fn table() {
    println!(
        "Milliseconds for each history, by the number of operations of each of 4 workers (three tenths enqueue):\n"
    );
    header("operations");
    for power in 5..=13 {
        let operations = 1 << power;
        let histories: Vec<_> = (0..4).map(|seed| history(4, operations, 3, seed)).collect();
        row(&operations.to_string(), &histories);
    }
    println!("\nMilliseconds for each history of 4 workers with 2,048 operations, by the share of enqueues:\n");
    header("enqueues");
    for tenths in 0..=10 {
        let histories: Vec<_> = (0..4).map(|seed| history(4, 2048, tenths, seed)).collect();
        row(&format!("{tenths}/10"), &histories);
    }
    println!("\nBacktracks of `queue-lowe` in 20,000 histories of 4 workers with 200 operations:\n");
    println!("| enqueues | histories with backtracks | backtracks | iterations per operation |");
    println!("|---|---|---|---|");
    for tenths in [3, 5, 7] {
        backtracks(tenths, 20_000);
    }
}

fn header(first: &str) {
    println!("| {first} | {} |", TESTERS.join(" | "));
    println!("|---|{}", "---|".repeat(TESTERS.len()));
}

fn row(name: &str, histories: &[QueueHistory]) {
    let cells: Vec<String> = TESTERS.iter().map(|tester| judge(tester, histories)).collect();
    println!("| {name} | {} |", cells.join(" | "));
}

#[expect(clippy::cast_precision_loss, reason = "measurements need less precision")]
fn backtracks(tenths: u32, runs: u64) {
    let (mut with, mut all, mut iterations, mut operations) = (0, 0, 0, 0);
    for seed in 0..runs {
        let history = history(4, 200, tenths, 1_000 + seed);
        let stats = check(&Queue::new(), &history, &config("queue-lowe")).stats;
        with += u64::from(stats.backtracks > 0);
        all += stats.backtracks;
        iterations += stats.configurations;
        operations += history.len() as u64;
    }
    println!("| {tenths}/10 | {with} of {runs} | {all} | {:.3} |", iterations as f64 / operations as f64);
}
