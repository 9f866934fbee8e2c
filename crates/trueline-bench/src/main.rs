//! Measures.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tables are for reading")]
mod histories;
use trueline::history::History;
use trueline::judge::*;
use trueline::spec::*;
fn cpu() -> u64 {
    std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse().unwrap()
}
fn rss(what: &str) -> u64 {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    s.lines().find(|l| l.starts_with(what)).unwrap().split_whitespace().nth(1).unwrap().parse().unwrap()
}
fn go<S: Spec>(name: &str, spec: &S, h: &History<S::Op, S::Ret>, config: Config, reps: u32) {
    let before = rss("VmRSS");
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let mut best = u64::MAX;
    let mut j = None;
    for _ in 0..reps {
        let t = cpu();
        let r = check(spec, h, &config);
        best = best.min(cpu() - t);
        j = Some(r);
    }
    let j = j.unwrap();
    eprintln!(
        "{name:40} {:9} {:9.2} ms  {:6.1} ns/op  configs {:9} states {:8} peak {:7} KiB  rss+ {:7} KiB  {:?}",
        j.verdict.name(),
        best as f64 / 1e6,
        best as f64 / h.len() as f64,
        j.stats.configurations,
        j.stats.states,
        j.stats.peak_bytes / 1024,
        rss("VmHWM") - before,
        j.stats.choice
    );
}
fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    let lim = || Budget::unlimited().time(std::time::Duration::from_secs(20)).memory(4 << 30);
    if "set".contains(&filter) || filter.starts_with("set") {
        for n in [20_000, 280_000] {
            let h = histories::set(n, 1);
            go(&format!("set {n} auto"), &Set::new(), &h, Config::new().budget(lim()), 5);
            for a in [
                "auto",
                "wing-gong-graph",
                "jit-graph",
                "wing-gong-tree",
                "jit-tree",
                "linear",
                "bounded-graph",
                "bounded-graph-lru",
            ] {
                go(
                    &format!("set {n} {a} unpartitioned"),
                    &Set::new(),
                    &h,
                    Config::new().algorithm(a.parse().unwrap()).partition(false).budget(lim()),
                    5,
                );
            }
        }
    }
    if "register".contains(&filter) {
        for c in [4, 8, 16, 32] {
            for seed in 1..4 {
                let h = histories::register(1000, c, 0, seed);
                go(&format!("register {c} good {seed}"), &Register::new(0), &h, Config::new().budget(lim()), 3);
                let h = histories::bad_register(1000, c, 0, seed);
                go(&format!("register {c} bad {seed}"), &Register::new(0), &h, Config::new().budget(lim()), 3);
            }
        }
    }
    if "pending".contains(&filter) {
        for seed in 1..4 {
            let h = histories::bad_register(1000, 5, 30, seed);
            go(
                &format!("register 5 clients {} pending bad", h.pending()),
                &Register::new(0),
                &h,
                Config::new().budget(lim()),
                3,
            );
            let h = histories::register(1000, 200, 500, seed);
            go(
                &format!("register 200 clients {} pending good", h.pending()),
                &Register::new(0),
                &h,
                Config::new().budget(lim()),
                1,
            );
            let h = histories::bad_register(1000, 200, 500, seed);
            go(
                &format!("register 200 clients {} pending bad", h.pending()),
                &Register::new(0),
                &h,
                Config::new().budget(lim()),
                1,
            );
        }
    }
    if "queue".contains(&filter) {
        let h = histories::queue(1000, 4, 1);
        for a in [
            "auto",
            "wing-gong-graph",
            "jit-graph",
            "wing-gong-tree",
            "jit-tree",
            "linear",
            "bounded-graph",
            "bounded-graph-lru",
        ] {
            go(
                &format!("queue {a}"),
                &Queue::new(),
                &h,
                Config::new()
                    .algorithm(a.parse().unwrap())
                    .budget(Budget::unlimited().time(std::time::Duration::from_millis(200)).memory(64 << 20)),
                1,
            );
        }
    }
}
