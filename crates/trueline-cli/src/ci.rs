//! Output for continuous integration: JUnit XML and GitHub annotations.

use std::fmt::Write as _;

use trueline::history::visible;
use trueline::view::text::Style;
use trueline::view::{Finding, text};

use crate::cmd::check::Judged;

/// Returns a test suite in JUnit XML, with a test case for each file. An undecided file counts as
/// an error, as does an unreadable file, because in both cases the history is not known to be
/// correct.
pub(crate) fn junit(spec: &str, judged: &[&Judged]) -> String {
    let count = |of: fn(&Judged) -> bool| judged.iter().filter(|judged| of(judged)).count();
    let failures = count(|judged| matches!(outcome(judged), Outcome::Failure(_)));
    let errors = count(|judged| matches!(outcome(judged), Outcome::Error(..)));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let _ = writeln!(
        out,
        "<testsuite name=\"trueline {}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\">",
        xml(spec),
        judged.len()
    );
    for judged in judged {
        let (file, seconds) = match judged {
            Judged::Unreadable { file, .. } => (file, 0.0),
            Judged::Report(report, _) => (&report.file, report.stats.elapsed.as_secs_f64()),
        };
        let _ = write!(out, "<testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.6}\"", xml(spec), xml(file));
        let _ = match outcome(judged) {
            Outcome::Pass => writeln!(out, "/>"),
            Outcome::Failure(message) => {
                let lines: Vec<String> = body(judged).lines().map(xml).collect();
                writeln!(out, "><failure message=\"{}\">{}</failure></testcase>", xml(&message), lines.join("\n"))
            }
            Outcome::Error(kind, message) => {
                writeln!(out, "><error type=\"{kind}\" message=\"{}\"/></testcase>", xml(&message))
            }
        };
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Returns the GitHub annotation for a file; `None` if the file is accepted.
pub(crate) fn annotation(judged: &Judged) -> Option<String> {
    let (level, title, file, line, message) = match judged {
        Judged::Unreadable { file, line, message } => ("error", "unreadable", file, *line, message.clone()),
        Judged::Report(report, _) => {
            let reason = report.reason().unwrap_or_default();
            let (level, title, line) = match &report.finding {
                Finding::Accepted => return None,
                Finding::Rejected(rejection) => ("error", "not linearizable", last_line(&rejection.refused.place)),
                Finding::Stuck(_) => ("error", "stuck", None),
                Finding::Unknown(_) => ("warning", "undecided", None),
            };
            (level, title, &report.file, line, reason)
        }
    };
    let mut out = format!("::{level} file={}", property(file));
    if let Some(line) = line {
        let _ = write!(out, ",line={line}");
    }
    let _ = write!(out, ",title={}::{}", property(title), data(&message));
    Some(out)
}

/// Returns the last number in a place such as `lines 3-7`. This is the line of the return.
fn last_line(place: &str) -> Option<usize> {
    let numbers = place.strip_prefix("line")?.trim_start_matches('s').trim();
    numbers.rsplit('-').find_map(|number| number.trim().parse().ok())
}

/// Returns the text of the report, which serves as the details of a failure.
fn body(judged: &Judged) -> String {
    match judged {
        Judged::Unreadable { .. } => String::new(),
        Judged::Report(report, _) => text::render(report, Style::Plain),
    }
}

enum Outcome {
    Pass,
    Failure(String),
    Error(&'static str, String),
}

fn outcome(judged: &Judged) -> Outcome {
    match judged {
        Judged::Unreadable { line, message, .. } => {
            Outcome::Error("unreadable", line.map_or_else(|| message.clone(), |line| format!("line {line}: {message}")))
        }
        Judged::Report(report, _) => {
            let reason = report.reason().unwrap_or_default();
            match report.finding {
                Finding::Accepted => Outcome::Pass,
                Finding::Rejected(_) | Finding::Stuck(_) => Outcome::Failure(reason),
                Finding::Unknown(_) => Outcome::Error("undecided", reason),
            }
        }
    }
}

/// Escapes text for a quoted XML attribute.
fn xml(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Escapes the message of an annotation, which must be on one line.
fn data(text: &str) -> String {
    visible(text).replace('%', "%25")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        assert_eq!(last_line("lines 3-7"), Some(7));
        assert_eq!(last_line("line 3"), Some(3));
        assert_eq!(last_line("lines 3-"), Some(3));
        assert_eq!(last_line("event 3"), None);
    }

    #[test]
    fn escapes() {
        assert_eq!(xml("a<b>&\"\u{1}\n\u{ffff}"), "a&lt;b&gt;&amp;&quot;\\u{1}\\u{a}\\u{ffff}");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25\\u{a}");
    }
}
