//! Measures a checker in a child process. This module contains the code of the child, which prints
//! results, and the code of the parent, which reads them.
//!
//! The child prints one line when it has loaded the history in the form that the checker requires,
//! and one line for each time that it has judged the history. The parent reads these lines, watches
//! the time and memory of the child, and kills it when a limit is reached.
//!
//! Times are processor times, so that other programs on the machine have little influence.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use trueline_bench::usage;

use crate::checkers::Answer;

/// Maximum number of times that a history is judged; the best time counts.
const RUNS: u32 = 20;
/// After the runs of a checker have taken this long in total, no further run is started.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// The maximum elapsed time of a child, as a multiple of its time limit. A child that takes longer
/// is killed, even if it has used less processor time than the time limit.
const PATIENCE: u32 = 10;
/// The interval between two checks of the child's time and memory.
const LOOK: Duration = Duration::from_millis(20);

/// The clock that measures the time of a checker and enforces its time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The processor time of the process.
    Processor,
    /// The elapsed time, for checkers that use several threads.
    Wall,
}

/// Repeatedly creates the input and judges it. Reports each result to the parent. Runs in the child
/// process.
///
/// `size` holds the total number of operations, and the number of those that never returned.
pub(crate) fn repeat<I>(
    clock: Clock,
    size: (usize, usize),
    mut load: impl FnMut() -> I,
    mut judge: impl FnMut(I) -> Answer,
) {
    let mut input = load();
    usage::forget_most();
    let loaded = usage::resident_kib();
    println!("loaded {} {} {loaded}", size.0, size.1);
    let mut all = Duration::ZERO;
    for run in 1..=RUNS {
        let (wall, processor) = (Instant::now(), usage::cpu_ns());
        let answer = judge(input);
        let took = match clock {
            Clock::Processor => Duration::from_nanos(usage::cpu_ns() - processor),
            Clock::Wall => wall.elapsed(),
        };
        println!("judged {} {} {}", answer.name(), took.as_nanos(), usage::most_kib().saturating_sub(loaded));
        all += took;
        if run == RUNS || all > LONG_ENOUGH {
            break;
        }
        input = load();
    }
}

/// The limits of a child for one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The maximum processor time.
    pub(crate) time: Duration,
    pub(crate) memory_kib: u64,
}

/// How the measurement of a checker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The history was judged. Holds the verdict and the best time.
    Judged(Answer, Duration),
    /// The child did not finish within the limits. Holds the limit that was exceeded, and the time
    /// that had passed when the child was killed.
    GaveUp(Reason, Duration),
    /// The child ended without an answer. Holds its error output.
    Failed(String),
    /// The child returned two different verdicts on the same history.
    Contradicted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Time,
    Memory,
}

/// The result of measuring one checker on one history.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) operations: usize,
    pub(crate) pending: usize,
    pub(crate) end: End,
    pub(crate) runs: u32,
    /// The memory that judging took in addition to the loaded history: the peak resident memory,
    /// minus the resident memory after loading the history, in KiB.
    pub(crate) above_kib: u64,
}

/// Runs this program in a child process, with `words` as its arguments.
pub(crate) fn measure(words: &[&str], limits: Limits) -> Measured {
    let mut seen = Seen::default();
    let end = match start(words) {
        Ok(child) => watch(child, limits, &mut seen),
        Err(error) => End::Failed(format!("could not be started: {error}")),
    };
    let Seen { operations, pending, runs, above_kib, .. } = seen;
    Measured { operations, pending, end, runs, above_kib }
}

fn start(words: &[&str]) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// The results that the child has printed so far.
#[derive(Debug, Default)]
struct Seen {
    operations: usize,
    pending: usize,
    loaded_kib: Option<u64>,
    best: Option<(Answer, Duration)>,
    runs: u32,
    above_kib: u64,
    contradicts: bool,
}

impl Seen {
    fn line(&mut self, line: &str) -> Option<()> {
        let words: Vec<&str> = line.split(' ').collect();
        match *words.as_slice() {
            ["loaded", operations, pending, kib] => {
                self.operations = operations.parse().ok()?;
                self.pending = pending.parse().ok()?;
                self.loaded_kib = Some(kib.parse().ok()?);
            }
            ["judged", answer, ns, above_kib] => {
                let (answer, took) = (Answer::from_name(answer)?, Duration::from_nanos(ns.parse().ok()?));
                self.contradicts |= self.best.is_some_and(|(before, _)| before != answer);
                self.best = Some((answer, self.best.map_or(took, |(_, best)| best.min(took))));
                self.runs += 1;
                self.above_kib = above_kib.parse().ok()?;
            }
            _ => {}
        }
        Some(())
    }
}

/// Returns the processor time of another process; zero if the system does not report it.
fn processor_time(process: u32) -> Duration {
    /// Linux reports these times in hundredths of a second.
    const TICK_MS: u64 = 10;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is the name of the program, in parentheses. The name may contain any
    // characters. Fields 14 and 15 are the user time and the system time.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * TICK_MS)
}

fn watch(mut child: Child, limits: Limits, seen: &mut Seen) -> End {
    let stdout = BufReader::new(child.stdout.take().expect("the output is piped"));
    let (sender, lines) = mpsc::channel();
    let reader = thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    // The start of the child's current step: the clock time, and the processor time that the child
    // had used by then.
    let (mut clock, mut spent_before) = (Instant::now(), Duration::ZERO);
    let reason = loop {
        match lines.recv_timeout(LOOK) {
            Ok(line) => {
                seen.line(&line);
                (clock, spent_before) = (Instant::now(), processor_time(child.id()));
            }
            Err(RecvTimeoutError::Disconnected) => break None,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(loaded) = seen.loaded_kib {
            seen.above_kib = seen.above_kib.max(usage::most_kib_of(child.id()).saturating_sub(loaded));
        }
        let spent = processor_time(child.id()).saturating_sub(spent_before);
        if seen.above_kib > limits.memory_kib {
            break Some((Reason::Memory, spent));
        }
        if spent > limits.time || clock.elapsed() > limits.time * PATIENCE {
            break Some((Reason::Time, spent));
        }
    };
    if reason.is_some() {
        // Ignore an error from `kill`, because the child may have ended by itself.
        let _ = child.kill();
    }
    let mut said = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let _ = stderr.read_to_string(&mut said);
    }
    let ended = child.wait();
    let _ = reader.join();
    match (seen.best, reason) {
        (Some(_), _) if seen.contradicts => End::Contradicted,
        (Some((answer, best)), _) => End::Judged(answer, best),
        (None, Some((reason, ran))) => End::GaveUp(reason, ran),
        (None, None) => {
            let first = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("printed nothing");
            let ended = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            End::Failed(format!("{ended}: {first}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_child_says_is_understood() {
        let mut seen = Seen::default();
        for line in ["loaded 7 2 4000", "judged accepted 30000 5", "a message of a peer", "judged accepted 20000 6"] {
            assert!(seen.line(line).is_some(), "{line}");
        }
        assert_eq!((seen.operations, seen.pending, seen.runs, seen.above_kib), (7, 2, 2, 6));
        assert_eq!(seen.best, Some((Answer::Accepted, Duration::from_micros(20))));
        assert!(!seen.contradicts);
        seen.line("judged rejected 1 1");
        assert!(seen.contradicts);
    }
}
