//! Formats the measurements as a page of tables.

use std::fmt::Write as _;
use std::time::Duration;

use crate::cases::Case;
use crate::checkers::{Answer, CHECKERS, Checker};
use crate::child::{End, Limits, Measured, Reason};

/// A case with the measurements of each checker.
#[derive(Debug)]
pub(crate) struct Results {
    pub(crate) case: Case,
    pub(crate) limits: Limits,
    /// The measurements of each checker that was tried, in the order of [`CHECKERS`]. Each checker
    /// has one measurement for each history.
    pub(crate) by_checker: Vec<(Checker, Vec<Measured>)>,
}

impl Results {
    /// Returns messages about histories that were judged differently by different checkers.
    pub(crate) fn disagreements(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (index, source) in self.case.histories.iter().enumerate() {
            let answers = self.by_checker.iter().filter_map(|(checker, measured)| match &measured[index].end {
                End::Judged(answer @ (Answer::Accepted | Answer::Rejected), _) => Some((checker.name(), answer.name())),
                End::Contradicted => Some((checker.name(), "both accepted and rejected")),
                _ => None,
            });
            let expected = source.expected.map(|answer| ("expected", answer.name()));
            let answers: Vec<_> = answers.chain(expected).collect();
            if answers.windows(2).any(|pair| pair[0].1 != pair[1].1) {
                let answers: Vec<_> = answers.iter().map(|(who, answer)| format!("{who}: {answer}")).collect();
                found.push(format!("{}, {}: {}", self.case.title, source.words.join(" "), answers.join(", ")));
            }
        }
        found
    }

    /// Returns the total time of a checker for all histories, if it was tried.
    pub(crate) fn time(&self, checker: Checker) -> Option<Time> {
        let (_, measured) = self.by_checker.iter().find(|(of, _)| *of == checker)?;
        let mut time = Time { least: Duration::ZERO, exact: true };
        for measured in measured {
            match &measured.end {
                End::Judged(_, best) => time.least += *best,
                End::GaveUp(_, ran) => {
                    time.exact = false;
                    time.least += *ran;
                }
                End::Failed(_) | End::Contradicted => return None,
            }
        }
        Some(time)
    }
}

/// An exact time, or a lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time {
    pub(crate) least: Duration,
    pub(crate) exact: bool,
}

impl Time {
    fn show(self) -> String {
        format!("{}{}", if self.exact { "" } else { "> " }, show_duration(self.least))
    }

    /// Returns this time divided by `other`; `None` if `other` is only a lower bound.
    pub(crate) fn over(self, other: Self) -> Option<f64> {
        other.exact.then(|| self.least.as_secs_f64() / other.least.as_secs_f64().max(1e-9))
    }

    fn show_over(self, other: Self) -> String {
        match self.over(other) {
            Some(ratio) => format!("{}{}", if self.exact { "" } else { "> " }, show_ratio(ratio)),
            None => String::new(),
        }
    }
}

fn show_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        _ if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 1e-2 => format!("{:.2} ms", seconds * 1e3),
        _ if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

fn show_ratio(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
}

fn show_memory(kib: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "the number is rounded for display")]
    let mib = kib as f64 / 1024.0;
    if mib < 1024.0 { format!("{mib:.1} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

/// Formats counts of several kinds, such as `3 accepted, 1 rejected`. Kinds with a count of 0 are
/// omitted.
fn count<'t>(kinds: impl IntoIterator<Item = (usize, &'t str)>) -> String {
    let some = kinds.into_iter().filter(|(number, _)| *number > 0);
    some.map(|(number, kind)| format!("{number} {kind}")).collect::<Vec<_>>().join(", ")
}

/// Formats the verdict on a single history, or for several histories, how often each verdict
/// occurred.
fn show_ends(measured: &[Measured], limits: Limits) -> String {
    let limit = |reason| match reason {
        Reason::Time => format!("gives up ({} s)", limits.time.as_secs()),
        Reason::Memory => format!("gives up ({})", show_memory(limits.memory_kib)),
    };
    if let [one] = measured {
        return match &one.end {
            End::Judged(answer, _) => answer.name().to_owned(),
            End::GaveUp(reason, _) => limit(*reason),
            End::Failed(said) => format!("fails: {}", said.replace('|', "/")),
            End::Contradicted => "**contradicts itself**".to_owned(),
        };
    }
    let how_many = |is: &dyn Fn(&End) -> bool| measured.iter().filter(|measured| is(&measured.end)).count();
    count([
        (how_many(&|end| matches!(end, End::Judged(Answer::Accepted, _))), "accepted"),
        (how_many(&|end| matches!(end, End::Judged(Answer::Rejected, _))), "rejected"),
        (how_many(&|end| matches!(end, End::Judged(Answer::Unknown, _))), "unknown"),
        (how_many(&|end| matches!(end, End::GaveUp(Reason::Time, _))), &limit(Reason::Time)),
        (how_many(&|end| matches!(end, End::GaveUp(Reason::Memory, _))), &limit(Reason::Memory)),
        (how_many(&|end| matches!(end, End::Failed(_))), "fail"),
        (how_many(&|end| *end == End::Contradicted), "**contradict themselves**"),
    ])
}

/// Returns the table of one case.
pub(crate) fn section(results: &Results) -> String {
    let mut page = format!("## {}\n\n", results.case.title);
    let (operations, pending) = results.by_checker.iter().fold((0, 0), |most, (_, measured)| {
        let all = measured.iter().map(|measured| (measured.operations, measured.pending));
        let sum = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        most.max(sum)
    });
    let histories = results.case.histories.len();
    let several = if histories > 1 { format!("{histories} histories, ") } else { String::new() };
    let _ =
        writeln!(page, "{several}{operations} operations, {pending} of them never return. {}\n", results.case.remark);
    page += "| checker | verdict | best time | relative to ours | memory beyond the history | runs |\n";
    page += "|---|---|---:|---:|---:|---:|\n";
    let ours = results.time(CHECKERS[0]);
    for (checker, measured) in &results.by_checker {
        let verdict = show_ends(measured, results.limits);
        let time = results.time(*checker);
        let ratio = time.zip(ours).map(|(time, ours)| time.show_over(ours)).unwrap_or_default();
        let time = time.map(Time::show).unwrap_or_default();
        let memory = show_memory(measured.iter().map(|measured| measured.above_kib).max().unwrap_or(0));
        let runs = measured.iter().map(|measured| measured.runs).min().unwrap_or(0);
        let _ = writeln!(page, "| {checker} | {verdict} | {time} | {ratio} | {memory} | {runs} |");
    }
    page
}

/// Returns the table of all cases: trueline's time, and the other checkers' times as multiples of it.
pub(crate) fn summary(all: &[Results]) -> String {
    let peers = [Checker::Porcupine, Checker::Todc, Checker::Stateright];
    let mut page =
        String::from("| case | trueline auto | porcupine-rs | todc-utils | stateright |\n|---|---:|---:|---:|---:|\n");
    for results in all {
        let ours = results.time(CHECKERS[0]);
        let gives_up = "gives up".to_owned();
        let _ = write!(page, "| {} | {} ", results.case.title, ours.map_or(gives_up.clone(), Time::show));
        for peer in peers {
            let cell = match (results.time(peer), ours) {
                (None, _) => gives_up.clone(),
                (Some(time), Some(ours)) if ours.exact => format!("{} (x {})", time.show(), time.show_over(ours)),
                (Some(time), _) => time.show(),
            };
            let _ = write!(page, "| {cell} ");
        }
        page += "|\n";
    }
    page
}

/// A minimum speedup: porcupine-rs must take at least `times` as long as trueline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bar {
    pub(crate) title: &'static str,
    pub(crate) times: f64,
}

/// Returns the table of minimum speedups, for those cases that were measured.
pub(crate) fn bars(bars: &[Bar], all: &[Results]) -> String {
    let mut page = String::from(
        "| on one thread | bar for porcupine-rs | porcupine-rs | trueline | ratio | |\n|---|---:|---:|---:|---:|---|\n",
    );
    for bar in bars {
        let Some(results) = all.iter().find(|results| results.case.title == bar.title) else { continue };
        let times = results.time(Checker::Porcupine).zip(results.time(CHECKERS[0]));
        let (theirs, ours, ratio, held) = match times {
            None => (String::new(), String::new(), String::new(), "not measured: one of the checkers failed"),
            Some((theirs, ours)) => {
                let ratio = theirs.over(ours);
                let held = match ratio {
                    Some(ratio) if ratio >= bar.times => "held",
                    _ if theirs.exact => "**missed**",
                    _ => "**not decided**: porcupine-rs was stopped too early",
                };
                (theirs.show(), ours.show(), theirs.show_over(ours), held)
            }
        };
        let _ = writeln!(page, "| {} | x {} | {theirs} | {ours} | {ratio} | {held} |", bar.title, bar.times);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::Source;

    fn measured(end: End) -> Measured {
        Measured { operations: 10, pending: 1, end, runs: 2, above_kib: 2048 }
    }

    fn results(expected: Option<Answer>, ends: Vec<(Checker, End)>) -> Results {
        let histories = vec![Source { words: vec!["a".to_owned()], expected }];
        Results {
            case: Case { title: "A case".to_owned(), remark: "", by_key: false, histories, limit: None },
            limits: Limits { time: Duration::from_secs(30), memory_kib: 1 << 20 },
            by_checker: ends.into_iter().map(|(checker, end)| (checker, vec![measured(end)])).collect(),
        }
    }

    fn judged(answer: Answer, ms: u64) -> End {
        End::Judged(answer, Duration::from_millis(ms))
    }

    #[test]
    fn verdicts_that_differ_are_found() {
        let two = |answer| vec![(Checker::Auto, judged(Answer::Accepted, 1)), (Checker::Todc, judged(answer, 1))];
        assert!(results(None, two(Answer::Accepted)).disagreements().is_empty());
        assert!(results(Some(Answer::Accepted), two(Answer::Unknown)).disagreements().is_empty());
        assert_eq!(results(None, two(Answer::Rejected)).disagreements().len(), 1);
        let against_all = results(Some(Answer::Rejected), two(Answer::Accepted)).disagreements();
        assert_eq!(against_all, ["A case, a: auto: accepted, todc-utils: accepted, expected: rejected"]);
        let with_itself = vec![(Checker::Auto, judged(Answer::Accepted, 1)), (Checker::Todc, End::Contradicted)];
        assert_eq!(results(None, with_itself).disagreements().len(), 1);
    }

    #[test]
    fn a_bar_is_held_by_what_the_peer_took_at_least() {
        let bar = [Bar { title: "A case", times: 20.0 }];
        let against = |end| {
            let ends = vec![(Checker::Auto, judged(Answer::Accepted, 100)), (Checker::Porcupine, end)];
            bars(&bar, &[results(None, ends)])
        };
        assert!(against(judged(Answer::Accepted, 2000)).contains("| x 20 | 2.0 s | 100.0 ms | 20 | held |"));
        assert!(against(judged(Answer::Accepted, 1900)).contains("missed"));
        let stopped = |reason, seconds| against(End::GaveUp(reason, Duration::from_secs(seconds)));
        assert!(stopped(Reason::Time, 30).contains("| > 30.0 s | 100.0 ms | > 300 | held |"));
        assert!(stopped(Reason::Memory, 1).contains("not decided"));
        assert!(against(End::Failed(String::new())).contains("not measured"));
    }

    #[test]
    fn a_section_has_a_row_for_each_checker() {
        let ends = vec![
            (Checker::Auto, judged(Answer::Accepted, 5)),
            (Checker::Porcupine, judged(Answer::Accepted, 50)),
            (Checker::Todc, End::GaveUp(Reason::Time, Duration::from_secs(30))),
            (Checker::Stateright, End::Failed("signal: 6: stack overflow".to_owned())),
        ];
        let page = section(&results(None, ends));
        assert!(page.contains("| **trueline** auto | accepted | 5.00 ms | 1.0 | 2.0 MiB | 2 |"), "{page}");
        assert!(page.contains("| porcupine-rs | accepted | 50.0 ms | 10 | 2.0 MiB | 2 |"), "{page}");
        assert!(page.contains("| todc-utils | gives up (30 s) | > 30.0 s | > 6000 | 2.0 MiB | 2 |"), "{page}");
        assert!(page.contains("| stateright | fails: signal: 6: stack overflow |  |  | 2.0 MiB | 2 |"), "{page}");
    }
}
