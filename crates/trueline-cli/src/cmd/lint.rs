//! `trueline lint`: finds problems in a history, and predicts how hard it is to judge.

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;
use trueline::history::codec::{Format, Survey, Trap};
use trueline::history::{EventKind, ObjectId, OpId, Operation, Outcome, RawHistory, Record, Value, visible};
use trueline::registry::{self, NamedSpec, Options, SpecInfo};

use super::{ill_formed, in_order};
use crate::args::LintArgs;
use crate::cancel;
use crate::input::{Reading, Unreadable, find_inputs};
use crate::limits::{Limits, Stage};
use crate::output::{self, Written};

pub(crate) fn run(args: &LintArgs) -> Result<ExitCode, String> {
    let options = Options::new().nil_wildcard(args.nil_wildcard);
    let spec = args.spec.as_deref().map(|name| registry::spec(name, options)).transpose();
    let spec = spec.map_err(|fault| fault.to_string())?;
    let reading = Reading::new(&args.read, 0)?;
    let token = cancel::on_interrupt();
    // The most severe exit code so far. In increasing severity: findings (1), files not read because of a limit (3),
    // unreadable files (2).
    let mut code = 0;
    let (inputs, _) = find_inputs(&args.inputs);
    for input in inputs {
        let file = input.name();
        let limits = Limits::start(&args.limits, &token);
        let seen = limits.watch(
            Stage::Judging,
            |kind| {
                let fault = Unreadable::limit(kind);
                if print_fault(&fault, &file, args.json) == Written::Failed { 2 } else { worse(code, fault.code()) }
            },
            || {
                let survey = cancel::while_busy(|| reading.survey(&input, &limits))?;
                let format = if reading.is_mapped() { "mapped" } else { format_name(survey.format) };
                Ok(Report::new(file.clone(), format, &survey, spec.as_ref(), args))
            },
        );
        let (written, own) = match seen {
            Err(fault) => (print_fault(&fault, &file, args.json), fault.code()),
            Ok(report) => {
                let found = report.findings.iter().any(|finding| finding.severity != Severity::Note);
                let written = output::stdout(|out| match args.json {
                    true => output::json(out, &report.json()),
                    false => report.text(out),
                });
                (written, u8::from(found))
            }
        };
        code = worse(code, own);
        match written {
            Written::All if !token.is_cancelled() => {}
            Written::All | Written::ReaderGone => break,
            Written::Late => return Ok(ExitCode::from(worse(code, 3))),
            Written::Failed => return Ok(ExitCode::from(2)),
        }
    }
    Ok(ExitCode::from(code))
}

/// Returns findings about how the file was read. If the author of the file meant something else,
/// these findings may explain why the history of a correct object is rejected. `line` is the line
/// of the return that was refused.
pub(super) fn hints(survey: &Survey, spec: &NamedSpec, nil_wildcard: bool, line: Option<u32>) -> Vec<String> {
    let history = &survey.history;
    let mut findings: Vec<Finding> = tuples(history, Some(spec)).into_iter().collect();
    let refused = line.and_then(|line| {
        let is_refused = |operation: &&Called| operation.return_line() == Some(line);
        history.operations().iter().find(is_refused)
    });
    if let Some(refused) = refused.filter(|_| findings.is_empty()) {
        findings.extend(null_results(history, spec, refused));
        let is_refused = |operation: &Called| operation.return_line() == refused.return_line();
        let of_reads = reads(history, Some(spec), nil_wildcard, is_refused);
        let is_nil = |finding: &Finding| finding.code == "nil-read" && finding.severity == Severity::Warning;
        findings.extend(of_reads.into_iter().filter(is_nil));
        findings.extend(origins(survey, spec, is_refused).into_iter().filter(|finding| finding.code == "from-nowhere"));
    }
    findings.into_iter().map(|finding| visible(&finding.message)).collect()
}

/// Reports that the refused operation returned null, if all operations with the same name returned
/// null although the specification does not ignore its result.
fn null_results(history: &RawHistory, spec: &NamedSpec, refused: &Called) -> Option<Finding> {
    if spec.info().operation(&refused.op.f).is_some_and(|operation| operation.result == "ignored") {
        return None;
    }
    let results = || {
        let same = history.operations().iter().filter(|operation| operation.op.f == refused.op.f);
        same.filter_map(|operation| operation.outcome.result())
    };
    let count = results().count();
    (count > 1 && results().all(Value::is_null)).then(|| Finding {
        code: "null-results",
        severity: Severity::Warning,
        count: count as u64,
        line: line_of(refused.return_line()),
        message: format!(
            "all {count} results of `{}` are null; if the file has them in another field, give a mapping that names it \
             (--map)",
            refused.op.f
        ),
    })
}

/// Returns the more severe of two exit codes. In decreasing severity, the codes are 2, 3, 1 and 0.
fn worse(one: u8, other: u8) -> u8 {
    [2, 3, 1].into_iter().find(|code| [one, other].contains(code)).unwrap_or(0)
}

fn print_fault(fault: &Unreadable, file: &str, as_json: bool) -> Written {
    output::error(fault.describe(file));
    if !as_json {
        return Written::All;
    }
    output::stdout(|out| output::json(out, &json!({"file": file, "error": fault.message, "line": fault.line})))
}

/// An operation as it is in the file.
type Called = Operation<Record, Value>;

/// The severity of a finding. Notes describe how the file is read, and do not affect the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Severity {
    /// `check` refuses to judge the file.
    Problem,
    /// The verdict might not mean what the user expects.
    Warning,
    Note,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Problem => "problem",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

struct Finding {
    code: &'static str,
    severity: Severity,
    count: u64,
    line: Option<usize>,
    message: String,
}

struct Report {
    file: String,
    /// The name of the format, or `mapped` if the file was read with a mapping.
    format: &'static str,
    operations: usize,
    findings: Vec<Finding>,
    forecast: Forecast,
}

impl Report {
    fn new(file: String, format: &'static str, survey: &Survey, spec: Option<&NamedSpec>, args: &LintArgs) -> Self {
        let history = &survey.history;
        let mut findings: Vec<Finding> =
            survey.traps.iter().map(|(trap, seen)| of_trap(*trap, seen.count, seen.line, &seen.what)).collect();
        let faults = spec.map(|spec| spec.faults(history)).unwrap_or_default();
        findings.extend(faults.first().map(|first| Finding {
            code: "outside-the-model",
            severity: Severity::Problem,
            count: faults.len() as u64,
            line: first.line(),
            message: first.message().to_owned(),
        }));
        if history.is_empty() && findings.iter().all(|finding| finding.severity != Severity::Problem) {
            let message = "there are no operations, or all of them failed: `trueline check` accepts such a file, although nothing was tested".to_owned();
            findings.push(Finding {
                code: "no-operations",
                severity: Severity::Warning,
                count: 1,
                line: None,
                message,
            });
        }
        findings.extend(reads(history, spec, args.nil_wildcard, |_| true));
        findings.extend(tuples(history, spec));
        findings.extend(never_returned(history));
        if let Some(spec) = spec {
            findings.extend(origins(survey, spec, |_| true));
            let message = ill_formed(spec, history).filter(|_| spec.is_quasi() && faults.is_empty());
            findings.extend(message.map(|message| Finding {
                code: "not-well-formed",
                severity: Severity::Warning,
                count: 1,
                line: None,
                message,
            }));
        }
        findings.sort_by_key(|finding| (finding.severity, finding.line));
        let parts = spec.filter(|_| faults.is_empty()).and_then(|spec| spec.parts(history).ok());
        let forecast = Forecast::new(history, parts.unwrap_or_else(|| parts_by_key(history)));
        Self { file, format, operations: history.len(), findings, forecast }
    }

    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Forecast { worst, parts, .. } = &self.forecast;
        let Self { operations, .. } = self;
        let file = visible(&self.file);
        writeln!(out, "\x1b[1m{file}\x1b[0m: {operations} operations, {}", self.format)?;
        for Finding { code, severity, count, line, message } in &self.findings {
            let color = match severity {
                Severity::Problem => "\x1b[1;31m",
                Severity::Warning => "\x1b[1;33m",
                Severity::Note => "\x1b[1m",
            };
            let place = line.map_or(String::new(), |line| format!("line {line}: "));
            let often = if *count > 1 { format!(" ({count} times)") } else { String::new() };
            writeln!(out, "  {color}{}\x1b[0m {code}: {place}{}{often}", severity.name(), visible(message))?;
        }
        if *parts == 0 {
            return Ok(());
        }
        let of = if *parts == 1 {
            String::new()
        } else {
            format!(" of {parts} parts, the hardest, {},", visible(&worst.name))
        };
        let has = if of.is_empty() { "it has" } else { "has" };
        let Part { operations, widest, at, pending, .. } = worst;
        let at = at.map_or(String::new(), |line| format!(" (line {line})"));
        writeln!(
            out,
            "  forecast: {}{}{has} {operations} operations, at most {widest} open at once{at}, {pending} without a return",
            worst.hardness(),
            if of.is_empty() { "; ".to_owned() } else { format!(";{of} ") },
        )
    }

    fn json(&self) -> serde_json::Value {
        let findings = self.findings.iter().map(|finding| {
            let Finding { code, severity, count, line, message } = finding;
            json!({"code": code, "severity": severity.name(), "count": count, "line": line, "message": message})
        });
        let Forecast { parts, widest, pending, worst } = &self.forecast;
        let hardness = worst.hardness();
        json!({
            "file": self.file,
            "format": self.format,
            "operations": self.operations,
            "findings": findings.collect::<Vec<_>>(),
            "forecast": {
                "hardness": hardness,
                "partitions": parts,
                "widest_overlap": widest,
                "pending": pending,
                "worst": {
                    "name": worst.name,
                    "operations": worst.operations,
                    "widest_overlap": worst.widest,
                    "pending": worst.pending,
                    "line": worst.at,
                },
            },
        })
    }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::Jepsen => "jepsen",
        Format::JepsenLog => "jepsen-log",
        Format::PorcupineKv => "porcupine-kv",
        Format::PorcupineJson => "porcupine-json",
        Format::Events => "events",
        Format::Csv => "csv",
        Format::Parquet => "parquet",
        Format::Arrow => "arrow",
        _ => "jsonl",
    }
}

fn of_trap(trap: Trap, count: u64, line: Option<usize>, what: &str) -> Finding {
    use Severity::{Note, Problem, Warning};
    let (code, severity, message) = match trap {
        Trap::Unpaired => ("unpaired", Problem, what.to_owned()),
        Trap::ReturnBeforeCall => {
            ("return-before-call", Problem, format!("{what}: its clock went backward, or the two times are swapped"))
        }
        Trap::Overlap => {
            ("overlap-in-process", Problem, format!("{what}; give concurrent operations different processes"))
        }
        Trap::TimeBackward => (
            "time-backward",
            Warning,
            format!(
                "the time goes backward: {what}; events are ordered by line, so check that lines are in the order of one clock"
            ),
        ),
        Trap::TimeEqual => (
            "time-equal",
            Note,
            format!(
                "equal times: {what}; the order of the lines decides which event was first, because the times do not"
            ),
        ),
        Trap::Tie => (
            "time-equal",
            Warning,
            format!(
                "{what}: their times do not show which was first, so they are judged as if they overlapped; with a finer \
                 clock, more errors may be found"
            ),
        ),
        Trap::OwnTies => (
            "own-order",
            Warning,
            format!(
                "{what}: the times do not show which event was first, so an operation that returns at this time and one that is called at this time are judged as if they overlapped, even in one process; with a finer clock, more errors may be found"
            ),
        ),
        Trap::CoarseClock => (
            "coarse-clock",
            Note,
            format!(
                "{what}: the clock is coarser than its unit, so operations within one tick are judged as if they overlapped"
            ),
        ),
        Trap::ProcessGoesOn => (
            "process-goes-on",
            Note,
            format!(
                "{what}; trueline leaves the earlier operation open, but other checkers require a new process for the next call"
            ),
        ),
        Trap::Failed => ("failed", Note, format!("{what}: such operations did not happen, and are dropped")),
        Trap::Info => ("info", Note, format!("{what}: such operations may take effect at any time, or never")),
        Trap::Nemesis => {
            ("nemesis", Note, format!("{what}, which is not a number: such events are notes, not operations"))
        }
        Trap::Container => ("container", Note, format!("there is {what}; it is ignored")),
        Trap::Comment => ("comment", Note, format!("there is {what}; it is skipped")),
        Trap::OtherField => ("other-fields", Note, format!("the field {what} is not read")),
        Trap::NoResult => ("no-result", Warning, what.to_owned()),
        _ => ("other", Note, what.to_owned()),
    };
    Finding { code, severity, count, line, message }
}

fn is_read(f: &str) -> bool {
    matches!(f.trim_start_matches(':'), "read" | "r" | "get" | "load")
}

fn line_of(line: Option<u32>) -> Option<usize> {
    line.map(|line| line as usize)
}

/// Finds reads that returned nil, and reads that have no value in their call but a value in their
/// return. Considers a read that returned nil only if `concerns` returns true for it.
fn reads(
    history: &RawHistory,
    spec: Option<&NamedSpec>,
    wildcard: bool,
    concerns: impl Fn(&Called) -> bool,
) -> Vec<Finding> {
    let is_register = spec.is_none_or(|spec| spec.info().name.contains("register"));
    let is_null_read = |operation: &&Called| {
        let Record { f, value, .. } = &operation.op;
        let is_null = match &operation.outcome {
            Outcome::Returned(Value::Null) => is_read(f) && (value.is_null() || pair_with_null(value)),
            Outcome::Returned(result) => (is_read(f) && pair_with_null(result)) || has_null_read(f, result),
            _ => false,
        };
        is_null && is_register && concerns(operation)
    };
    let nil: Vec<_> = history.operations().iter().filter(is_null_read).collect();
    let filled: Vec<_> = history
        .operations()
        .iter()
        .filter(|operation| {
            let Record { f, value, .. } = &operation.op;
            is_read(f)
                && value.is_null()
                && matches!(&operation.outcome, Outcome::Returned(result) if !result.is_null())
        })
        .collect();
    let begins_null = spec.is_some_and(|spec| !spec.name().contains(':') || spec.name().ends_with(":null"));
    let (severity, message) = match (wildcard, begins_null) {
        (true, _) => (Severity::Note, "a read returned nil, which matches any value, because of --nil-wildcard"),
        (false, true) => (
            Severity::Warning,
            "a read returned nil, which means that the register was empty; if nil means that the value is not known, as in \
             Knossos, give --nil-wildcard",
        ),
        (false, false) => (
            Severity::Warning,
            "a read returned nil, which means that the register was empty; a register is empty initially only if the \
             specification names no initial value (such as `:0`); if nil means that the value is not known, as in \
             Knossos, give --nil-wildcard",
        ),
    };
    let nil_read = nil.first().map(|first| Finding {
        code: "nil-read",
        severity,
        count: nil.len() as u64,
        line: line_of(first.return_line()),
        message: message.to_owned(),
    });
    let filled = filled.first().map(|first| Finding {
        code: "read-value",
        severity: Severity::Note,
        count: filled.len() as u64,
        line: line_of(first.call_line()),
        message: "the call of a read has the value nil, which is ignored: the value that was read is in its return"
            .to_owned(),
    });
    nil_read.into_iter().chain(filled).collect()
}

fn pair_with_null(value: &Value) -> bool {
    matches!(value, Value::List(pair) if pair.len() == 2 && !pair[0].is_null() && pair[1].is_null())
}

/// Returns whether a transaction read nil.
fn has_null_read(f: &str, result: &Value) -> bool {
    let Value::List(accesses) = result else { return false };
    let is_null_read = |access: &Value| matches!(access, Value::List(parts) if parts.len() == 3 && parts[2].is_null() && matches!(&parts[0], Value::Text(f) if is_read(f)));
    matches!(f.trim_start_matches(':'), "txn" | "transaction") && accesses.iter().any(is_null_read)
}

/// Reports a history in which all values are pairs `[key value]`, as in Jepsen's independent tests.
fn tuples(history: &RawHistory, spec: Option<&NamedSpec>) -> Option<Finding> {
    let reads_pairs = spec.is_some_and(|spec| matches!(spec.info().name, "map" | "kv" | "array"));
    let is_pair = |value: &Value| matches!(value, Value::List(pair) if pair.len() == 2);
    let mut witnesses = history.operations().iter().filter(|operation| {
        let Record { f, value, .. } = &operation.op;
        // The value of a compare-and-set is always a pair.
        is_pair(value) && !matches!(f.trim_start_matches(':'), "cas" | "compare-and-set" | "compare-and-swap")
    });
    let first = witnesses.next()?;
    let all = history.operations().iter().all(|operation| operation.op.key.is_none() && is_pair(&operation.op.value));
    (all && !reads_pairs).then(|| Finding {
        code: "tuples",
        severity: Severity::Warning,
        count: history.len() as u64,
        line: line_of(first.call_line()),
        message: format!(
            "all values are pairs, such as {} of `{}`: if their first items are Jepsen's independent keys, give `--tuples objects` (for a map, `--tuples keys`)",
            first.op.value, first.op.f
        ),
    })
}

/// Reports operations that are open at the end of the history.
fn never_returned(history: &RawHistory) -> Option<Finding> {
    let open: Vec<_> = history.operations().iter().filter(|operation| operation.return_position().is_none()).collect();
    open.first().map(|first| Finding {
        code: "open",
        severity: Severity::Note,
        count: open.len() as u64,
        line: line_of(first.call_line()),
        message: format!(
            "`{}` of process {} never returned: it may have taken effect at any time, with any result, or never",
            first.op.f,
            history.process_label(first.process)
        ),
    })
}

/// Returns whether operations with this name return a value exactly as another operation has put it
/// in.
fn takes_out(spec: &str, operation: &str) -> bool {
    match in_order(spec) {
        "register" | "cas-register" | "once-cell" => matches!(operation, "read" | "get"),
        "queue" | "bounded-queue" => matches!(operation, "dequeue" | "peek"),
        "stack" => matches!(operation, "pop" | "top"),
        "deque" => operation.starts_with("pop-") || operation.starts_with("peek-"),
        "priority-queue" => matches!(operation, "delete-min" | "peek-min"),
        "bag" => operation == "remove-any",
        "sync-channel" | "broadcast" => operation == "receive",
        _ => false,
    }
}

/// Returns the value that an operation puts into the object: its argument, or the new value of a
/// compare-and-set. Returns `None` if the operation takes a value out of the object.
fn put_in<'r>(info: &SpecInfo, record: &'r Record) -> Option<&'r Value> {
    let name = info.operation(&record.f).map_or("", |operation| operation.name);
    match (name, &record.value) {
        ("cas", Value::List(pair)) if pair.len() == 2 => Some(&pair[1]),
        (name, _) if takes_out(info.name, name) => None,
        (_, value) => Some(value),
    }
}

/// Finds values that were taken out although no operation has put them in, and values that were
/// taken out before they were put in. Considers only operations for which `concerns` returns true.
fn origins(survey: &Survey, spec: &NamedSpec, concerns: impl Fn(&Called) -> bool) -> Vec<Finding> {
    let history = &survey.history;
    let info = spec.info();
    let initial = spec.name().split_once(':').map(|(_, initial)| initial.trim_matches('"'));
    // For each object and value, the first operation that puts the value into the object, and
    // whether it is the only operation that does so.
    let mut put: HashMap<(ObjectId, &Value), (OpId, bool)> = HashMap::new();
    for (id, operation) in (0..).map(OpId).zip(history.operations()) {
        let Some(value) = put_in(info, &operation.op) else { continue };
        put.entry((operation.object, value)).and_modify(|(_, only)| *only = false).or_insert((id, true));
    }
    let mut nowhere = Vec::new();
    let mut too_early: Vec<(&Called, &Called)> = Vec::new();
    for operation in history.operations() {
        let Outcome::Returned(result) = &operation.outcome else { continue };
        if result.is_null() || put_in(info, &operation.op).is_some() || !concerns(operation) {
            continue;
        }
        let is_initial = initial.is_some_and(|initial| match result {
            Value::Text(text) => **text == *initial,
            other => other.to_string() == initial,
        });
        match put.get(&(operation.object, result)) {
            _ if is_initial => {}
            None => nowhere.push(operation),
            Some((id, true)) => {
                let source = &history[*id];
                if operation.return_position().is_some_and(|ret| ret < source.call_position()) {
                    too_early.push((operation, source));
                }
            }
            Some((_, false)) => {}
        }
    }
    let nowhere_found = nowhere.first().map(|first| {
        let result = first.outcome.result().unwrap_or(&Value::Null);
        let other_kind = put.keys().find(|(_, value)| *value != result && plain(value) == plain(result));
        let failed = survey.failed.iter().find(|(record, _)| put_in(info, record) == Some(result));
        let hint = match (failed, other_kind) {
            (Some((record, line)), _) => {
                let f = visible(&record.f);
                format!(
                    "the `{f}` on line {line} inserted it, but is logged as failed: if it may have happened, log `info`"
                )
            }
            (None, Some((_, value))) => format!("an operation inserted {value}: log the two values in the same form"),
            (None, None) => {
                "the operation that inserted it may be missing from the file, or be logged in another form".to_owned()
            }
        };
        Finding {
            code: "from-nowhere",
            severity: Severity::Warning,
            count: nowhere.len() as u64,
            line: line_of(first.return_line()),
            message: format!("`{}` returned {result}, which no operation inserted; {hint}", first.op.f),
        }
    });
    let early = too_early.iter().max_by_key(|(taker, giver)| skew(survey, taker, giver));
    let early = early.map(|(taker, giver)| {
        let remedy = match skew(survey, taker, giver) {
            Some(skew) if skew > 0 => {
                format!("their clocks may differ by {skew} or more: check them, or give --clock-skew {skew} to `check`")
            }
            _ => "one of the two was logged late, or by a clock that runs ahead".to_owned(),
        };
        let place = line_of(giver.call_line()).map_or(String::new(), |line| format!(" (line {line})"));
        Finding {
            code: "clock",
            severity: Severity::Warning,
            count: too_early.len() as u64,
            line: line_of(taker.return_line()),
            message: format!(
                "process {} had received {} before process {} called the operation that inserts it{place}; {remedy}",
                survey.history.process_label(taker.process),
                taker.outcome.result().unwrap_or(&Value::Null),
                survey.history.process_label(giver.process)
            ),
        }
    });
    nowhere_found.into_iter().chain(early).collect()
}

/// Returns a value as text, such that the number 5 and the text "5" give the same result.
fn plain(value: &Value) -> String {
    if let Value::Text(text) = value { text.to_string() } else { value.to_string() }
}

/// Returns the time from the return of `taker` to the call of `giver`. If `taker` returned the
/// value that `giver` put in, the clocks must differ by at least this time.
fn skew(survey: &Survey, taker: &Called, giver: &Called) -> Option<i64> {
    let (_, ret) = survey.times.get(&taker.call_line()?)?;
    let (call, _) = survey.times.get(&giver.call_line()?)?;
    call.checked_sub((*ret)?)
}

/// A forecast of how hard a history is to judge.
struct Forecast {
    parts: usize,
    widest: usize,
    pending: usize,
    worst: Part,
}

/// Operations that are judged together.
#[derive(Clone, Default)]
struct Part {
    name: String,
    operations: usize,
    /// The maximum number of operations that are open at the same time, counting operations that
    /// never return.
    widest: usize,
    /// The line of the call with which the number of open operations reached its maximum.
    at: Option<usize>,
    pending: usize,
    open: usize,
}

impl Part {
    /// Returns how hard it is to judge this part by a search, which visits up to 2^`widest`
    /// configurations at each return. For some objects, a monitor is faster.
    fn hardness(&self) -> &'static str {
        match self.widest {
            0..=10 => "easy",
            11..=20 => "moderate",
            _ => "hard",
        }
    }
}

impl Forecast {
    fn new(history: &RawHistory, (numbers, names): (Vec<usize>, Vec<String>)) -> Self {
        let mut parts: Vec<Part> = names.into_iter().map(|name| Part { name, ..Part::default() }).collect();
        let mut whole = Part::default();
        for event in history.events() {
            let operation = &history[event.op()];
            for part in [&mut parts[numbers[event.op().index()]], &mut whole] {
                match event.kind() {
                    EventKind::Call => {
                        part.operations += 1;
                        part.open += 1;
                        part.pending += usize::from(operation.return_position().is_none());
                        if part.open > part.widest {
                            part.widest = part.open;
                            part.at = line_of(operation.call_line());
                        }
                    }
                    EventKind::Return => part.open -= 1,
                }
            }
        }
        let count = parts.len();
        let worst = parts.into_iter().rev().max_by_key(|part| (part.widest, part.operations)).unwrap_or_default();
        Self { parts: count, widest: whole.widest, pending: whole.pending, worst }
    }
}

/// Divides the operations into parts, if no specification is given: operations on the same object
/// and key form a part. Returns the index of the part of each operation, and the names of the
/// parts.
fn parts_by_key(history: &RawHistory) -> (Vec<usize>, Vec<String>) {
    let has_keys = history.operations().iter().all(|operation| operation.op.key.is_some());
    let mut numbers = HashMap::new();
    let mut names = Vec::new();
    let parts = history.operations().iter().map(|operation| {
        let key = operation.op.key.as_ref().filter(|_| has_keys);
        *numbers.entry((operation.object, key)).or_insert_with(|| {
            let object = history.object_name(operation.object).unwrap_or_default();
            names.push(match key {
                Some(key) if object.is_empty() => key.to_string(),
                Some(key) => format!("{object} {key}"),
                None => object.to_owned(),
            });
            names.len() - 1
        })
    });
    (parts.collect(), names)
}
