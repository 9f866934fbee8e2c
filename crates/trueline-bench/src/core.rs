//! Measures the generic checkers: their speed and memory.

use std::time::Duration;

use trueline::judge::{Budget, Config};
use trueline::spec::{Queue, Register, Set};
use trueline_bench::histories;

use crate::measure::{self, Measured};

/// A row of a table: the name of a case, and its bar (the time or memory that the case must not
/// exceed).
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) bar: &'static str,
}

fn row(case: impl Into<String>, bar: &'static str) -> Row {
    Row { case: case.into(), bar }
}

/// Returns the rows of the table.
pub(crate) fn rows() -> Vec<Row> {
    let mut rows =
        vec![row("set 280000 auto partitioned", "60 ms, 64 MiB above the history"), row("set 280000 auto", "")];
    for algorithm in ["wing-gong-graph", "jit-graph"] {
        rows.push(row(format!("set 20000 {algorithm}"), ""));
        rows.push(row(format!("set 280000 {algorithm}"), "per operation, at most twice the time at 20,000"));
    }
    for algorithm in ["wing-gong-tree", "jit-tree", "linear", "bounded-graph", "bounded-graph-lru"] {
        rows.push(row(format!("set 280000 {algorithm}"), ""));
    }
    for seed in 1..=3 {
        rows.push(row(format!("register-good 32 {seed}"), "50 ms"));
        rows.push(row(format!("register-bad 32 {seed}"), "1.5 s, 1 GiB"));
    }
    for seed in 1..=3 {
        rows.push(row(format!("register-info 5 {seed}"), "100 ms"));
        rows.push(row(format!("register-info 200 {seed}"), "a verdict, or the limit that was reached"));
    }
    for algorithm in ["auto", "wing-gong-graph", "jit-graph", "linear", "bounded-graph", "bounded-graph-lru"] {
        rows.push(row(format!("queue-limited 1000 {algorithm}"), "unknown within 300 ms and 100 MiB"));
    }
    rows
}

/// Runs the case with this name in this process, at most this many times; returns `None` if there is no such case.
pub(crate) fn case(name: &str, most_runs: u32) -> Option<Measured> {
    let words: Vec<&str> = name.split(' ').collect();
    let config = Config::new().budget(Budget::unlimited().time(Duration::from_secs(60)).memory(4 << 30));
    match *words.as_slice() {
        ["set", operations, algorithm, ref rest @ ..] => {
            let history = histories::set(operations.parse().ok()?, 1);
            let config = config.algorithm(algorithm.parse().ok()?).partition(rest == ["partitioned"]);
            Some(measure::judge(&Set::new(), &history, &config, most_runs.min(5)))
        }
        ["register-good", clients, seed] => {
            let history = histories::register(1000, clients.parse().ok()?, 0, seed.parse().ok()?);
            Some(measure::judge(&Register::new(0), &history, &config, most_runs.min(5)))
        }
        ["register-bad", clients, seed] => {
            let history = histories::bad_register(1000, clients.parse().ok()?, 0, seed.parse().ok()?);
            Some(measure::judge(&Register::new(0), &history, &config, most_runs.min(5)))
        }
        ["register-info", clients, seed] => {
            let clients = clients.parse().ok()?;
            // About 6 % of the operations never return, or about 75 % if there are at least 100
            // clients.
            let crashes = if clients < 100 { 60 } else { 1000 };
            let history = histories::bad_register(1000, clients, crashes, seed.parse().ok()?);
            Some(measure::judge(&Register::new(0), &history, &config, most_runs.min(5)))
        }
        ["queue-limited", operations, algorithm] => {
            let history = histories::queue(operations.parse().ok()?, 4, 1);
            let budget = Budget::unlimited().time(Duration::from_millis(200)).memory(64 << 20);
            let config = config.algorithm(algorithm.parse().ok()?).budget(budget);
            Some(measure::judge(&Queue::new(), &history, &config, 1))
        }
        _ => None,
    }
}
