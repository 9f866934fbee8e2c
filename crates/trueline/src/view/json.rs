//! Renders reports as JSON, for programs.

use std::fmt::Write as _;

use super::{Finding, Line, Rejection, Report, Story, Told};
use crate::history::{Value, visible_json};

/// Renders the report as a JSON object on one line, without a line break at the end.
///
/// Its fields are `file`, `spec`, `verdict` (`accepted`, `rejected` or `unknown`), `algorithm`,
/// `criterion` (for quasi linearizability, including its factors), `operations`, `pending`,
/// `partitions`, `stats` and, if the history was not accepted, `reason`. `stats` has `check_ns`
/// (the time for judging alone), `configurations`, `peak_bytes` and, if the algorithm was chosen
/// automatically or won a competition, `choice`.
///
/// For a rejection, `evidence` has:
///
/// - `refused`: the operation whose return is refused, with `process`, `process_name` if processes have names,
///   `object` if objects have names, `operation`, `result`, `call_event` and `return_event`, and `call_line` and `return_line` if it came from a file;
/// - `event`: the position of the refused return, and `is_first`: whether this event is known to be
///   the first event up to which the history is not linearizable;
/// - `allowed`: the results that the refused operation could have returned, and `all_allowed`:
///   whether this list is complete;
/// - `prefix`: a linearization of the history before the refused return, as the positions of calls
///   (the last 1,000 if there are more), and `prefix_length`: the number of all calls in this
///   linearization;
/// - `open`: the positions of the other calls that were open at the refused return (the last 8).
///
/// If the core of a rejection was requested, `core` has:
///
/// - `operations`: each with the same fields as `refused`, and with `in_core` (if false, the call
///   is not in the core, and only the explanation names it), `role` (what is known about it in the
///   explanation: `completed`, `optional`, `forgotten` or `pending`), and `in_part` (whether only
///   the part about values or keys of the core is given);
/// - `begins_behind`: the operation after which the core begins, if any, with `process`,
///   `operation`, `result` and `place`; calls that returned before this operation was called do not
///   matter;
/// - `left_out`: the number of calls that are not in the core, and `left_out_calls`: their positions;
/// - `minimal`, `undecided` (the number of shrinking steps that were not decided; 0 if the core is
///   minimal), `confirmed` (whether the core itself was judged, and rejected) and `judgements` (the
///   number of histories that were judged to find the core).
///
/// If an explanation was requested and is available, `explanation` is a list of sentences; those
/// that belong to one case of a case distinction begin with spaces. If there are notes that help to
/// understand the verdict, `notes` is a list of sentences.
pub fn render(report: &Report) -> String {
    let stats = &report.stats;
    let mut out = String::from("{");
    let _ = write!(out, r#""file":{},"spec":{}"#, string(&report.file), string(&report.spec));
    let _ = write!(out, r#","verdict":"{}","algorithm":{}"#, report.verdict(), string(&stats.algorithm));
    if let Some(criterion) = &stats.criterion {
        let _ = write!(out, r#","criterion":{}"#, string(criterion));
    }
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
    if let Finding::Rejected(rejection) = &report.finding {
        render_evidence(&mut out, rejection);
    }
    if let Some(story) = &report.core {
        out.push_str(r#","core":"#);
        render_story(&mut out, story);
    }
    if !report.explanation.is_empty() {
        let sentences: Value = report.explanation.iter().map(|sentence| string(sentence)).collect();
        let _ = write!(out, r#","explanation":{sentences}"#);
    }
    if !report.notes.is_empty() {
        let notes: Value = report.notes.iter().map(|note| string(note)).collect();
        let _ = write!(out, r#","notes":{notes}"#);
    }
    out.push('}');
    visible_json(&out)
}

/// Writes the evidence of a rejection.
fn render_evidence(out: &mut String, rejection: &Rejection) {
    let Rejection { refused, event, is_first, allowed, all_allowed, prefix, before_total, open, .. } = rejection;
    out.push_str(r#","evidence":{"refused":{"#);
    render_line(out, refused);
    render_places(out, refused);
    let allowed: Value = allowed.iter().map(|result| string(result)).collect();
    let open: Vec<u32> = open.iter().map(|line| line.events.0).collect();
    let _ = write!(out, r#"}},"event":{event},"is_first":{is_first},"allowed":{allowed},"all_allowed":{all_allowed}"#);
    let _ = write!(out, r#","prefix":{prefix:?},"prefix_length":{before_total},"open":{open:?}}}"#);
}

/// Writes where an operation was called and where it returned.
fn render_places(out: &mut String, line: &Line) {
    let _ = write!(out, r#","call_event":{}"#, line.events.0);
    for (name, number) in [("return_event", line.events.1), ("call_line", line.lines.0), ("return_line", line.lines.1)]
    {
        if let Some(number) = number {
            let _ = write!(out, r#","{name}":{number}"#);
        }
    }
}

fn render_story(out: &mut String, story: &Story) {
    out.push_str(r#"{"operations":["#);
    for (index, Told { line, in_core, role, in_part, .. }) in story.operations.iter().enumerate() {
        out.push_str(if index == 0 { "{" } else { ",{" });
        render_line(out, line);
        let _ = write!(out, r#","in_core":{in_core},"role":"{}","in_part":{in_part}"#, role.name());
        render_places(out, line);
        out.push('}');
    }
    out.push(']');
    if let Some(first) = &story.begins_behind {
        out.push_str(r#","begins_behind":{"#);
        render_line(out, first);
        let _ = write!(out, r#","place":{}}}"#, string(&first.place));
    }
    let Story { left_out, undecided, confirmed, judgments, .. } = story;
    let minimal = *undecided == 0;
    let _ = write!(out, r#","left_out":{},"left_out_calls":{left_out:?}"#, left_out.len());
    let _ = write!(out, r#","minimal":{minimal},"undecided":{undecided}"#);
    let _ = write!(out, r#","confirmed":{confirmed},"judgements":{judgments}}}"#);
}

/// Writes the fields that describe an operation, without braces.
fn render_line(out: &mut String, line: &Line) {
    let _ = write!(out, r#""process":{}"#, line.process);
    if let Some(name) = &line.process_name {
        let _ = write!(out, r#","process_name":{}"#, string(name));
    }
    if let Some(object) = &line.object {
        let _ = write!(out, r#","object":{}"#, string(object));
    }
    let _ = write!(out, r#","operation":{}"#, string(&line.operation));
    if let Some(result) = &line.result {
        let _ = write!(out, r#","result":{}"#, string(result));
    }
}

/// Returns a JSON object on one line, without a line break at the end, for a file that could not be read.
///
/// ```
/// let json = trueline::view::json::error("a.jsonl", "line 3: this is not JSON");
/// assert_eq!(json, r#"{"file":"a.jsonl","error":"line 3: this is not JSON"}"#);
/// ```
#[doc(hidden)]
pub fn error(file: &str, message: &str) -> String {
    visible_json(&format!(r#"{{"file":{},"error":{}}}"#, string(file), string(message)))
}

fn string(text: &str) -> Value {
    Value::from(text)
}
