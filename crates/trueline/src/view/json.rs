//! Reports for programs.

use std::fmt::Write as _;

use super::Report;
use crate::history::Value;

/// The report as a JSON object on one line, without the line's end.
///
/// Its fields: `file`, `spec`, `verdict` (`accepted`, `rejected` or `unknown`), `algorithm`, `operations`, `pending`,
/// `partitions`, `stats` with `check_ns` (judging alone), `configurations`, `peak_bytes` and, where the algorithm was
/// chosen automatically, `choice`; and `reason` if it was not accepted.
pub fn render(report: &Report) -> String {
    let stats = &report.stats;
    let mut out = String::from("{");
    let _ = write!(out, r#""file":{},"spec":{}"#, string(&report.file), string(&report.spec));
    let _ = write!(out, r#","verdict":"{}","algorithm":{}"#, report.verdict(), string(&stats.algorithm));
    let _ = write!(out, r#","operations":{},"pending":{}"#, report.operations, report.pending);
    let _ = write!(out, r#","partitions":{}"#, stats.partitions);
    let _ = write!(out, r#","stats":{{"check_ns":{}"#, stats.elapsed.as_nanos());
    let _ = write!(out, r#","configurations":{},"peak_bytes":{}"#, stats.configurations, stats.peak_bytes);
    if let Some(choice) = &stats.choice {
        let _ = write!(out, r#","choice":{}"#, string(choice));
    }
    out.push('}');
    if let Some(reason) = report.reason() {
        let _ = write!(out, r#","reason":{}"#, string(&reason));
    }
    out.push('}');
    out
}

/// A file that could not be read, as a JSON object on one line, without the line's end.
///
/// ```
/// let json = trueline::view::json::error("a.jsonl", "line 3: this is not JSON");
/// assert_eq!(json, r#"{"file":"a.jsonl","error":"line 3: this is not JSON"}"#);
/// ```
pub fn error(file: &str, message: &str) -> String {
    format!(r#"{{"file":{},"error":{}}}"#, string(file), string(message))
}

fn string(text: &str) -> Value {
    Value::from(text)
}
