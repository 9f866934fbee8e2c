//! Measures one case in a separate process.

use std::process::Command;

use trueline::history::History;
use trueline::judge::{Config, check};
use trueline::spec::Spec;
use trueline::verdict::{Judgment, Verdict};
use trueline_bench::usage;

/// The result of a measurement.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) operations: usize,
    pub(crate) pending: usize,
    pub(crate) verdict: String,
    /// The CPU time of the fastest run, in nanoseconds.
    pub(crate) best_ns: u64,
    pub(crate) configurations: u64,
    /// The memory that judging took in addition to the loaded history: the peak resident memory,
    /// minus the resident memory after loading the history, in KiB.
    pub(crate) above_kib: u64,
    /// The peak resident memory of the process, in KiB.
    pub(crate) most_kib: u64,
}

/// Judges `history` in this process, as many times as `runs` specifies.
pub(crate) fn judge<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, config: &Config, runs: u32) -> Measured {
    let loaded = usage::resident_kib();
    let mut best_ns = u64::MAX;
    let mut last = None;
    for _ in 0..runs {
        let start = usage::cpu_ns();
        let judgment = counted(|| check(spec, history, config));
        best_ns = best_ns.min(usage::cpu_ns() - start);
        last = Some(judgment);
    }
    let Judgment { verdict, stats, .. } = last.expect("there is at least one run");
    let verdict = match verdict {
        Verdict::Unknown(limit) => format!("unknown ({})", limit.kind),
        known => known.name().to_owned(),
    };
    let most_kib = usage::most_kib();
    Measured {
        operations: history.len(),
        pending: history.pending(),
        verdict,
        best_ns,
        configurations: stats.configurations,
        above_kib: most_kib.saturating_sub(loaded),
        most_kib,
    }
}

/// Runs the part of a case that is measured. A profiler can count the instructions of this function alone.
#[inline(never)]
pub(crate) fn counted<T>(run: impl FnOnce() -> T) -> T {
    run()
}

impl Measured {
    /// Formats the result as one line, for the parent process.
    pub(crate) fn to_line(&self) -> String {
        let Self { operations, pending, verdict, best_ns, configurations, above_kib, most_kib } = self;
        format!("{operations}\t{pending}\t{verdict}\t{best_ns}\t{configurations}\t{above_kib}\t{most_kib}")
    }

    fn from_line(line: &str) -> Option<Self> {
        let mut fields = line.trim().split('\t');
        Some(Self {
            operations: fields.next()?.parse().ok()?,
            pending: fields.next()?.parse().ok()?,
            verdict: fields.next()?.to_owned(),
            best_ns: fields.next()?.parse().ok()?,
            configurations: fields.next()?.parse().ok()?,
            above_kib: fields.next()?.parse().ok()?,
            most_kib: fields.next()?.parse().ok()?,
        })
    }
}

/// Runs the case with this name in a new process of this program.
pub(crate) fn in_new_process(name: &str) -> Result<Measured, String> {
    let program = std::env::current_exe().map_err(|error| format!("cannot find the path of this program: {error}"))?;
    let output = Command::new(program)
        .args(["case", name])
        .output()
        .map_err(|error| format!("{name} could not be started: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Measured::from_line(&text)
        .ok_or_else(|| format!("{name} failed: {text}{}", String::from_utf8_lossy(&output.stderr)))
}
