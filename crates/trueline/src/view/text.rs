//! Renders reports as text, for a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Finding, Line, QuasiRejection, Rejection, Report, Stall, Story, Told, shorten};
use crate::history::visible;

/// The highlighting of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No highlighting.
    Plain,
    /// Text is highlighted with ANSI escape sequences.
    Ansi,
}

impl Style {
    pub(super) fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }
}

const GREEN: &str = "32";
const RED: &str = "1;31";
const YELLOW: &str = "33";
const BOLD: &str = "1";

/// Renders the report: a line with the verdict and, if the history is not accepted, the reason and the details below
/// it.
pub fn render(report: &Report, style: Style) -> String {
    render_with(report, style, "")
}

/// Renders only the reasons: the verdict, the refused result, the core if there is one, and the
/// [explanation](Report::explanation).
#[doc(hidden)]
pub fn render_explanation(report: &Report, style: Style) -> String {
    let mut out = render_head(report, style);
    if let Some(story) = &report.core {
        render_story(&mut out, story, style, MORE_TIME);
    }
    render_sentences(&mut out, report, style);
    out
}

/// Renders the report with a picture, given as lines of text, below the reason.
#[doc(hidden)]
pub fn render_with(report: &Report, style: Style, picture: &str) -> String {
    let mut out = render_head(report, style);
    out.push_str(picture);
    render_details(&mut out, report, style, MORE_TIME);
    out
}

/// Renders the report without the [reason](Report::reason), for a caller that has already printed
/// the reason.
#[doc(hidden)]
pub fn render_below_reason(report: &Report, style: Style) -> String {
    let mut out = render_verdict(report, style);
    render_notes(&mut out, report);
    render_details(&mut out, report, style, "");
    out
}

/// Renders everything except the verdict and the reason; `more_time` is the advice to show if
/// finding the core took too long.
fn render_details(out: &mut String, report: &Report, style: Style, more_time: &str) {
    match &report.finding {
        Finding::Rejected(rejection) => match &rejection.quasi {
            Some(quasi) => render_quasi(out, rejection, quasi),
            None => render_rejection(out, rejection),
        },
        Finding::Stuck(stall) => render_stall(out, stall),
        Finding::Accepted | Finding::Unknown(_) => {}
    }
    if let Some(story) = &report.core {
        render_story(out, story, style, more_time);
    }
    render_sentences(out, report, style);
}

/// Renders the verdict, and the reason in one sentence.
fn render_head(report: &Report, style: Style) -> String {
    let mut out = render_verdict(report, style);
    if let Some(reason) = report.reason() {
        let _ = writeln!(out, "  {}", style.paint(BOLD, &reason));
    }
    render_notes(&mut out, report);
    out
}

/// Renders the line with the verdict.
fn render_verdict(report: &Report, style: Style) -> String {
    let color = match &report.finding {
        Finding::Accepted => GREEN,
        Finding::Rejected(_) | Finding::Stuck(_) => RED,
        Finding::Unknown(_) => YELLOW,
    };
    // The number of partitions is 0 if a limit was reached before they were counted.
    let partitions = match report.stats.partitions {
        0 => String::new(),
        partitions => count(partitions, "partition") + ", ",
    };
    let mut out = format!(
        "{}: {} ({}, {}, {} pending, {partitions}{})\n",
        visible(&report.file),
        style.paint(color, report.verdict()),
        visible(&report.stats.algorithm),
        count(report.operations, "operation"),
        report.pending,
        duration(report.stats.elapsed),
    );
    if let (Some(criterion), Finding::Accepted) = (&report.stats.criterion, &report.finding) {
        let _ = writeln!(out, "  it is {criterion}");
    }
    out
}

fn render_notes(out: &mut String, report: &Report) {
    for note in &report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}

fn render_sentences(out: &mut String, report: &Report, style: Style) {
    if report.explanation.is_empty() {
        return;
    }
    if !matches!(report.finding, Finding::Accepted) {
        let _ = writeln!(out, "  {}", style.paint(BOLD, "why:"));
    }
    for sentence in &report.explanation {
        wrap(out, sentence);
    }
}

/// The width of the lines of an explanation.
const WIDTH: usize = 110;

/// Writes a sentence, wrapped into lines. All lines are indented by the leading spaces of the
/// sentence; lines after the first are indented by two more spaces.
fn wrap(out: &mut String, sentence: &str) {
    let indent = 4 + sentence.chars().take_while(|c| *c == ' ').count();
    let mut width = 0;
    for word in sentence.split(' ').filter(|word| !word.is_empty()) {
        let length = word.chars().count();
        if width == 0 {
            let _ = write!(out, "{:indent$}{word}", "");
            width = indent + length;
        } else if width + 1 + length > WIDTH {
            let _ = write!(out, "\n{:1$}{word}", "", indent + 2);
            width = indent + 2 + length;
        } else {
            let _ = write!(out, " {word}");
            width += 1 + length;
        }
    }
    out.push('\n');
}

/// The heading above a core.
const CORE: &str = "the core: no order of these calls is legal, whether or not other calls took effect:";

/// The advice to show on the command line if finding the core took too long.
const MORE_TIME: &str = "; raise --core-timeout";

fn render_story(out: &mut String, story: &Story, style: Style, more_time: &str) {
    let widths = Widths::of(story.operations.iter().map(|told| &told.line).chain(&story.begins_behind));
    let _ = writeln!(out, "  {}", style.paint(BOLD, CORE));
    if let Some(first) = &story.begins_behind {
        render_line(out, first, &widths, "  (calls that returned before it was called do not matter)");
    }
    for Told { line, in_core, in_part, .. } in story.operations.iter().filter(|told| !told.begins) {
        let note = match (in_core, in_part) {
            (true, false) => "",
            (true, true) => "  (only the part that matters)",
            (false, false) => "  (left out, but named in the explanation)",
            (false, true) => "  (left out, but named in the explanation; only the part that matters)",
        };
        render_line(out, line, &widths, note);
    }
    match story.left_out.len() {
        0 => {}
        1 => out.push_str("  1 call is left out: whether it took effect makes no difference\n"),
        more => {
            let _ = writeln!(out, "  {more} calls are left out: which of them took effect makes no difference");
        }
    }
    if story.undecided > 0 {
        let steps = count(story.undecided, "step");
        let _ = writeln!(
            out,
            "  the core may not be minimal: {steps} of shrinking could not be decided in time{more_time}"
        );
    }
    if !story.confirmed {
        let _ = writeln!(out, "  there was no time left to judge the core by itself{more_time}");
    }
}

fn render_stall(out: &mut String, stall: &Stall) {
    let Stall { before, before_total, anticipated } = stall;
    let widths = Widths::of(before.iter().chain(anticipated));
    match (before.len(), *before_total) {
        (0, _) => {}
        (shown, total) if shown == total => out.push_str("  operations that may have synchronized:\n"),
        (shown, total) => {
            let _ = writeln!(out, "  operations that may have synchronized (the last {shown} of {total} operations):");
        }
    }
    for line in before {
        render_line(out, line, &widths, bracket(line));
    }
    out.push_str("  then these could have synchronized, but did not all return:\n");
    for line in anticipated {
        render_line(out, line, &widths, bracket(line));
    }
}

/// Returns a bracket that joins operations that took effect together.
fn bracket(line: &Line) -> &'static str {
    match line.together {
        (false, false) => "",
        (false, true) => "  ┐ together",
        (true, true) => "  │",
        (true, false) => "  ┘",
    }
}

fn render_rejection(out: &mut String, rejection: &Rejection) {
    let widths = Widths::of(rejection.before.iter().chain(&rejection.open).chain(&rejection.conflict));
    match (rejection.before.len(), rejection.before_total) {
        (0, _) => out.push_str("  no operation that matters to it had to take effect before it\n"),
        (shown, total) if shown == total => out.push_str("  operations before it, in an order that works:\n"),
        (shown, total) => {
            let _ = writeln!(
                out,
                "  operations before it, in an order that works (the last {shown} of {total} operations):"
            );
        }
    }
    for line in &rejection.before {
        render_line(out, line, &widths, bracket(line));
    }
    match (rejection.open.len(), rejection.open_total) {
        (0, _) => {}
        (shown, total) if shown == total => out.push_str("  open when it returned:\n"),
        (shown, total) => {
            let _ = writeln!(out, "  open when it returned (the last {shown} of {total} to be called):");
        }
    }
    for line in &rejection.open {
        render_line(out, line, &widths, if line.took_effect { "  (took effect, see above)" } else { "" });
    }
    if !rejection.conflict.is_empty() {
        out.push_str("  these operations contradict each other:\n");
    }
    for line in &rejection.conflict {
        render_line(out, line, &widths, "");
    }
}

fn render_quasi(out: &mut String, rejection: &Rejection, quasi: &QuasiRejection) {
    let widths = Widths::of(rejection.before.iter().chain(&quasi.out_of_reach));
    if rejection.before_total > 0 {
        let (shown, total) = (rejection.before.len(), rejection.before_total);
        let part = if shown == total { String::new() } else { format!(" (the last {shown} of {total} operations)") };
        let _ = writeln!(out, "  the longest legal prefix that was found{part}:");
    }
    for line in &rejection.before {
        render_line(out, line, &widths, "");
    }
    if quasi.out_of_reach_total > 0 {
        let (shown, total) = (quasi.out_of_reach.len(), quasi.out_of_reach_total);
        let part = if shown == total { String::new() } else { format!(" (the first {shown} of {total} operations)") };
        let what = if rejection.before_total == 0 {
            "these operations contradict each other"
        } else {
            "no order was found for these operations after that"
        };
        let _ = writeln!(out, "  {what}{part}:");
    }
    for line in &quasi.out_of_reach {
        render_line(out, line, &widths, "");
    }
}

struct Widths {
    place: usize,
    process: usize,
}

impl Widths {
    fn of<'l>(lines: impl Iterator<Item = &'l Line> + Clone) -> Self {
        Self {
            place: lines.clone().map(|line| line.place.chars().count()).max().unwrap_or(0),
            process: lines.map(|line| line.process().chars().count()).max().unwrap_or(0),
        }
    }
}

fn render_line(out: &mut String, line: &Line, widths: &Widths, note: &str) {
    let Line { place, result, events, .. } = line;
    let process = line.process();
    let _ = write!(out, "    {place:<0$}  process {process:<1$}  ", widths.place, widths.process);
    out.push_str(&line.shown());
    match result {
        Some(result) => {
            let _ = write!(out, " -> {}", shorten(result));
        }
        None if events.1.is_none() => out.push_str("  (never returned)"),
        // The call returned, but its result does not matter.
        None => {}
    }
    let _ = writeln!(out, "{note}");
}

/// Formats a count as "1 operation" or "2 operations".
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats a duration in a suitable unit.
fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match duration.as_nanos() {
        0..1_000_000 => format!("{:.0} µs", seconds * 1e6),
        1_000_000..1_000_000_000 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{History, OpId};
    use crate::verdict::{Evidence, Judgment, Limit, LimitKind, Stats, Verdict};

    fn judgment(verdict: Verdict<String>) -> Judgment<String> {
        let stats =
            Stats { algorithm: "auto".into(), partitions: 2, elapsed: Duration::from_micros(42), ..Stats::default() };
        Judgment { verdict, stats }
    }

    fn history() -> History<String, String> {
        let mut builder = History::builder();
        for (process, op) in [(0, "enqueue(1)"), (1, "enqueue(2)"), (2, "dequeue()")] {
            builder.line(process + 1).call(process, op.to_owned()).expect("each process calls once");
        }
        builder.line(4).ret(0, "ok".to_owned()).expect("the process has called");
        builder.line(5).ret(2, "3".to_owned()).expect("the process has called");
        builder.finish()
    }

    #[test]
    fn a_rejection_shows_what_was_refused_and_what_was_allowed() {
        let evidence = Evidence {
            prefix: vec![OpId(1), OpId(0)],
            together: Vec::new(),
            refused: OpId(2),
            event: 4,
            open: vec![OpId(1)],
            allowed: vec!["1".to_owned(), "2".to_owned(), "null".to_owned()],
            all_allowed: true,
            is_first: true,
            conflict: Vec::new(),
            quasi: None,
        };
        let report =
            Report::new("q.jsonl", "queue", (3, 1), &judgment(Verdict::Rejected(evidence)), |id| history().named(id));
        assert_eq!(
            render(&report, Style::Plain),
            "\
q.jsonl: rejected (auto, 3 operations, 1 pending, 2 partitions, 42 µs)
  dequeue() of process 2 (lines 3-5) returned 3, but could only have returned 1, 2 or null
  operations before it, in an order that works:
    line 2-    process 1  enqueue(2)  (never returned)
    lines 1-4  process 0  enqueue(1) -> ok
  open when it returned:
    line 2-    process 1  enqueue(2)  (never returned)  (took effect, see above)
"
        );
        assert!(render(&report, Style::Ansi).contains("\x1b[1;31mrejected\x1b[0m"));
    }

    #[test]
    fn a_limit_shows_how_far_and_what_to_raise() {
        let limit = Limit { kind: LimitKind::Memory, event: 17, events: 2000 };
        let report =
            Report::new("q.jsonl", "queue", (3, 1), &judgment(Verdict::Unknown(limit)), |id| history().named(id));
        assert_eq!(
            render(&report, Style::Plain),
            "\
q.jsonl: unknown (auto, 3 operations, 1 pending, 2 partitions, 42 µs)
  the memory limit was reached; the search had reached event 17 of 2000; raise --memory, or try another --algorithm
"
        );
    }

    #[test]
    fn durations() {
        assert_eq!(duration(Duration::from_nanos(1_500)), "2 µs");
        assert_eq!(duration(Duration::from_micros(1_234)), "1.2 ms");
        assert_eq!(duration(Duration::from_millis(12_345)), "12.35 s");
    }
}
