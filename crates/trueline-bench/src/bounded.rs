//! Measures graph search in bounded memory. A search that forgets configurations may visit them
//! again. How many more configurations it visits in total depends on which ones it forgets.
//!
//! The table compares two caches. One keeps the most recently used configurations (Horn and
//! Kroening, *Faster linearizability checking via P-compositionality*, section 5.1). In the other
//! cache, one half keeps the most recent configurations, and the other half keeps the costliest.
//! The numbers in the table are visited configurations.

use trueline::history::History;
use trueline::judge::{Algorithm, Budget, Config, Rules, check};
use trueline::spec::{Queue, Register, Set, Spec};
use trueline::verdict::Verdict;
use trueline_bench::histories;

/// The approximate number of bytes that an entry takes, in either kind of cache.
const ENTRY: u64 = 32;
/// A search gives up after visiting this many configurations.
const MOST: u64 = 100_000_000;

/// Prints the table of visited configurations.
pub(crate) fn table() {
    println!("| history | remembered | least recently used | recent or costly |");
    println!("|---|---|---|---|");
    for seed in 1..=3 {
        let history = histories::bad_register(300, 8, 0, seed);
        rows(&format!("register, 8 clients, bad, seed {seed}"), &Register::new(0), &history);
    }
    for seed in 1..=2 {
        let history = histories::bad_set(3000, 4, seed);
        rows(&format!("set, 4 clients, bad, seed {seed}"), &Set::new(), &history);
    }
    for seed in [2, 7] {
        let history = histories::queue(80, 4, seed);
        rows(&format!("queue, 4 clients, good, seed {seed}"), &Queue::new(), &history);
    }
}

fn rows<S: Spec>(name: &str, spec: &S, history: &History<S::Op, S::Ret>) {
    let count = |algorithm: Algorithm, memory: Option<u64>| {
        let budget = Budget::unlimited().configurations(MOST);
        let budget = memory.into_iter().fold(budget, Budget::memory);
        let config = Config::new().algorithm(algorithm).partition(false).rules(Rules::JUST_IN_TIME).budget(budget);
        let judgment = check(spec, history, &config);
        match judgment.verdict {
            Verdict::Unknown(limit) => format!("gave up ({})", limit.kind),
            _ => judgment.stats.configurations.to_string(),
        }
    };
    let all = count(Algorithm::JustInTimeGraph, None);
    println!("| {name} | all | {all} | {all} |");
    let Ok(all) = all.parse::<u64>() else { return };
    for entries in [65_536, 32_768, 16_384, 8_192].into_iter().filter(|entries| *entries < all) {
        // The cache may use at most an eighth of the memory budget, so the budget is eight times
        // the memory that the entries take.
        let memory = Some(entries * ENTRY * 8);
        let recent = count(Algorithm::BoundedGraphLru, memory);
        let costly = count(Algorithm::BoundedGraph, memory);
        println!("| | {entries} | {recent} | {costly} |");
    }
}
