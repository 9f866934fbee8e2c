//! `trueline check --follow`: judges a history while it is being written. This module also judges
//! the events that `trueline collect --check` logs.
//!
//! A [`Follower`] reads JSON lines one by one and judges each key online. Histories in other
//! formats, or of specifications that cannot be judged online, are judged as a whole: at the end,
//! and at the intervals that `--every` gives.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value as Json, json};
use trueline::history::codec::{Format, LONGEST_LINE, LiveEnd, LiveLine, LiveReader, Tuples, detect};
use trueline::history::{ProcessId, Record, Value, visible};
use trueline::judge::{Algorithm, CancelToken};
use trueline::registry::{Live, LiveCall, LiveEffect, LiveLimits, NamedSpec, Why};
use trueline::verdict::LimitKind;
use trueline::view::Finding;

use super::check::{Judge, Judged, Wanted, render, write};
use super::late::{Late, Released};
use crate::args::{CheckArgs, Criterion, Every, Versions};
use crate::input::{Input, Unreadable};
use crate::limits::{Limits, Stage};
use crate::output::{self, Written};
use crate::{cancel, input};

/// The maximum number of violations and undecided keys that are described. Further ones are only
/// counted.
const MOST_TOLD: usize = 100;
/// The interval at which a summary of the progress is printed.
const SUMMARY: Duration = Duration::from_secs(10);
/// The memory is checked whenever this many lines have been read. The other limits are checked
/// whenever 16 times as many lines have been read, or the buffer is empty.
const LOOK: u32 = 256;
/// The size of the buffer for reading, in bytes.
const CHUNK: usize = 1 << 16;

/// A violation: an operation returned or failed, but no order of the operations explains this.
pub(crate) struct Violation {
    line: u32,
    call_line: u32,
    process: ProcessId,
    object: Option<String>,
    key: Option<String>,
    operation: String,
    /// The result; `None` if the operation failed.
    result: Option<String>,
    allowed: Vec<String>,
    are_all: bool,
}

/// Something that is reported to the user immediately.
pub(crate) enum News {
    Violation(Violation),
    /// The operations of one key, or of an object without keys, are left undecided.
    Undecided {
        line: u32,
        part: String,
        why: String,
    },
    /// Operations with unknown outcomes were forgotten. Holds the number of keys of these
    /// operations.
    Forgot(usize),
}

/// The counts in a summary.
#[derive(Clone, Copy, Default)]
pub(crate) struct Numbers {
    pub(crate) operations: u64,
    open: u64,
    unknown: u64,
    violations: u64,
    undecided: u64,
}

/// An open operation.
struct OpenOperation {
    /// The call; `None` if its object is not judged online.
    call: Option<LiveCall>,
    line: u32,
    object: u32,
    record: Record,
}

/// Judges lines as they arrive.
pub(crate) struct Follower<'s> {
    live: Live<'s>,
    reader: LiveReader,
    late: Option<Late>,
    open: HashMap<u64, OpenOperation>,
    pub(crate) numbers: Numbers,
    /// The objects that are not judged online, because one of their operations concerns several
    /// keys.
    whole: Vec<u32>,
    /// The first operation that concerns several keys: the line of its call, and the operation as
    /// text.
    spans: Option<(u32, String)>,
    has_forgotten: bool,
}

impl<'s> Follower<'s> {
    /// Creates a follower; `None` if histories of the specification are judged as a whole.
    pub(crate) fn new(
        spec: &'s NamedSpec,
        tuples: Option<Tuples>,
        late: Option<i64>,
        limits: LiveLimits,
    ) -> Option<Self> {
        Some(Self {
            live: spec.live(limits)?,
            reader: LiveReader::new(tuples),
            late: late.map(Late::new),
            open: HashMap::new(),
            numbers: Numbers::default(),
            whole: Vec::new(),
            spans: None,
            has_forgotten: false,
        })
    }

    /// Judges a line. `is_last` is true if this line is the last one of the input.
    pub(crate) fn line(&mut self, line: &[u8], is_last: bool, news: &mut Vec<News>) -> Result<(), Unreadable> {
        let read = self.reader.line(line, is_last)?;
        let number = self.reader.lines();
        match read {
            LiveLine::Nothing => {}
            LiveLine::Call { process, object, record } => {
                self.call(u64::from(process.0), process, object, record, number)?;
            }
            LiveLine::End { process, end } => self.end(u64::from(process.0), process, end, number, news)?,
            LiveLine::Operation { process, object, record, call, ret } => {
                let Some(late) = &mut self.late else {
                    let message = "this line is a whole operation, and such lines are written after the return, so they are not in the order of the calls; add --late D, where D is the longest duration of an operation, in \
                                   the unit of `call` and `return`";
                    return Err(Unreadable { line: Some(number as usize), ..message.to_owned().into() });
                };
                match late.add(process, object, record, call, ret, number) {
                    Ok(()) => {
                        let released = late.release()?;
                        self.released(released, news)?;
                    }
                    Err((record, frontier)) => self.too_late(process, object, record, call, frontier, number, news)?,
                }
            }
        }
        if number % LOOK == 0 {
            self.save_memory(news);
        }
        Ok(())
    }

    /// Judges the remaining operations, which `--late` has held back so far.
    pub(crate) fn finish(&mut self, news: &mut Vec<News>) -> Result<(), Unreadable> {
        if let Some(late) = &mut self.late {
            let released = late.release_all()?;
            self.released(released, news)?;
        }
        Ok(())
    }

    fn released(&mut self, released: Vec<Released>, news: &mut Vec<News>) -> Result<(), Unreadable> {
        for event in released {
            match event {
                Released::Call { id, process, object, record, line, returns } => {
                    self.call(id, process, object, record, line)?;
                    if !returns {
                        self.end(id, process, LiveEnd::Info, line, news)?;
                    }
                }
                Released::Return { id, process, result, line } => {
                    self.end(id, process, LiveEnd::Ok(result), line, news)?;
                }
            }
        }
        Ok(())
    }

    /// Leaves a key undecided, because one of its operations was recorded too late.
    #[expect(clippy::too_many_arguments, reason = "these are the parts of a line")]
    fn too_late(
        &mut self,
        process: ProcessId,
        object: u32,
        record: Record,
        call: i64,
        frontier: i64,
        line: u32,
        news: &mut Vec<News>,
    ) -> Result<(), Unreadable> {
        self.numbers.operations += 1;
        let Some(called) = self.live.call(object, process, record, line)? else { return Ok(()) };
        if self.live.give_up(called, Why::Late) {
            let why = format!(
                "the operation was called at {call}, but events before {frontier} have already been judged; raise --late"
            );
            self.undecided(called, object, why, line, news);
        }
        self.live.info(called);
        Ok(())
    }

    fn call(&mut self, id: u64, process: ProcessId, object: u32, record: Record, line: u32) -> Result<(), Unreadable> {
        self.numbers.operations += 1;
        self.numbers.open += 1;
        let mut call = None;
        if !self.whole.contains(&object) {
            call = self.live.call(object, process, record.clone(), line)?;
            if call.is_none() {
                self.whole.push(object);
                self.spans.get_or_insert_with(|| (line, record.to_string()));
            }
        }
        self.open.insert(id, OpenOperation { call, line, object, record });
        Ok(())
    }

    fn end(
        &mut self,
        id: u64,
        process: ProcessId,
        end: LiveEnd,
        line: u32,
        news: &mut Vec<News>,
    ) -> Result<(), Unreadable> {
        let Some(open) = self.open.remove(&id) else { return Ok(()) };
        self.numbers.open -= 1;
        match &end {
            LiveEnd::Info => self.numbers.unknown += 1,
            // Failed operations are not part of the history.
            LiveEnd::Fail => self.numbers.operations -= 1,
            LiveEnd::Ok(_) => {}
        }
        let OpenOperation { call: Some(call), line: call_line, object, record } = open else { return Ok(()) };
        if self.whole.contains(&object) {
            self.live.info(call);
            return Ok(());
        }
        let effect = match &end {
            LiveEnd::Ok(result) => self.live.ret(call, result, line)?,
            LiveEnd::Fail => self.live.fail(call),
            LiveEnd::Info => {
                self.live.info(call);
                return Ok(());
            }
        };
        let object = self.reader.object_name(object).map(str::to_owned);
        match effect {
            LiveEffect::Nothing => {}
            LiveEffect::Undecided { key, why } => {
                self.numbers.undecided += 1;
                let (part, why) = (part_name(object, key.as_ref()), describe(why));
                news.push(News::Undecided { line, part, why });
            }
            LiveEffect::Rejected { key, allowed, are_all } => {
                self.numbers.violations += 1;
                let result = if let LiveEnd::Ok(result) = end { Some(result.to_string()) } else { None };
                news.push(News::Violation(Violation {
                    line,
                    call_line,
                    process,
                    object,
                    key: key.map(|key| key.to_string()),
                    operation: record.to_string(),
                    result,
                    allowed,
                    are_all,
                }));
            }
        }
        Ok(())
    }

    fn undecided(&mut self, call: LiveCall, object: u32, why: String, line: u32, news: &mut Vec<News>) {
        self.numbers.undecided += 1;
        let object = self.reader.object_name(object).map(str::to_owned);
        news.push(News::Undecided { line, part: part_name(object, self.live.key(call).as_ref()), why });
    }

    fn save_memory(&mut self, news: &mut Vec<News>) {
        let (forgot, given_up) = self.live.save_memory();
        if !forgot.is_empty() && !self.has_forgotten {
            self.has_forgotten = true;
            news.push(News::Forgot(forgot.len()));
        }
        let line = self.reader.lines();
        if !given_up.is_empty() {
            self.numbers.undecided += given_up.len() as u64;
            let part = count(given_up.len() as u64, "key");
            news.push(News::Undecided { line, part, why: describe(Why::Memory) });
        }
    }

    /// Returns a summary of the operations and partitions that were judged so far, on one line.
    pub(crate) fn summary(&self) -> String {
        let Numbers { operations, open, unknown, violations, undecided } = self.numbers;
        let parts = self.live.parts();
        let mut text = format!(
            "{}, {open} open, {unknown} with unknown outcome, {}: ",
            count(operations, "operation"),
            count(u64::from(parts), "partition")
        );
        text += &match (violations, undecided) {
            (0, 0) => "no violation so far".to_owned(),
            (0, undecided) => format!("{undecided} not decided"),
            (violations, 0) => count(violations, "violation"),
            (violations, undecided) => format!("{}, {undecided} not decided", count(violations, "violation")),
        };
        text
    }
}

/// Formats a count, such as `1 partition` or `3 partitions`.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn describe(why: Why) -> String {
    match why {
        Why::Forgotten => {
            "the remembered operations do not explain a result, but older operations with unknown outcomes were \
             forgotten to save memory; raise --memory or --configurations"
                .to_owned()
        }
        Why::TooMany => "too many orders of its open operations are possible; raise --configurations".to_owned(),
        Why::Memory => "the memory limit was reached; raise --memory".to_owned(),
        Why::Late => "an operation was recorded too late; raise --late".to_owned(),
    }
}

/// Returns the text by which messages refer to a key of an object.
fn part_name(object: Option<String>, key: Option<&Value>) -> String {
    match (object, key) {
        (Some(object), Some(key)) => format!("object {object}, key {key}"),
        (Some(object), None) => format!("object {object}"),
        (None, Some(key)) => format!("key {key}"),
        (None, None) => "the object".to_owned(),
    }
}

impl Violation {
    fn part(&self) -> String {
        match (&self.object, &self.key) {
            (Some(object), Some(key)) => format!("object {object}, key {key}: "),
            (Some(object), None) => format!("object {object}: "),
            (None, Some(key)) => format!("key {key}: "),
            (None, None) => String::new(),
        }
    }

    /// Describes the violation in a sentence, without the name of the file.
    fn text(&self) -> String {
        let Self { process, operation, call_line, line, result, allowed, are_all, .. } = self;
        let lines = if call_line == line { format!("line {line}") } else { format!("lines {call_line}-{line}") };
        let mut text = format!("{}{operation} of process {process} ({lines}) ", self.part());
        match result {
            None => {
                text += "failed, so it had no effect, but without it no order explains the results so far";
            }
            Some(result) => {
                let _ = write!(text, "returned {result}");
                match (allowed.as_slice(), are_all) {
                    ([], true) => text += ", but could not have returned at all",
                    ([], false) => {}
                    (allowed, true) => {
                        let _ = write!(text, ", but could only have returned {}", listed(allowed));
                    }
                    (allowed, false) => {
                        let _ = write!(text, ", but could have returned {}", listed(allowed));
                    }
                }
            }
        }
        text
    }

    fn json(&self, file: &str) -> Json {
        let mut event = Map::new();
        let mut put = |name: &str, value: Json| drop(event.insert(name.to_owned(), value));
        put("event", json!("violation"));
        put("file", json!(file));
        put("line", json!(self.line));
        put("call_line", json!(self.call_line));
        put("process", json!(self.process.0));
        if let Some(object) = &self.object {
            put("object", json!(object));
        }
        if let Some(key) = &self.key {
            put("key", json!(key));
        }
        put("operation", json!(self.operation));
        put("result", json!(self.result));
        put("allowed", json!(self.allowed));
        put("all_allowed", json!(self.are_all));
        Json::Object(event)
    }
}

/// Formats a list of alternative results: "1", "1 or 2", "1, 2 or 3". If there are more than 8,
/// only the first 8 are named.
fn listed(results: &[String]) -> String {
    match results {
        [] => String::new(),
        [one] => one.clone(),
        [.., _] if results.len() > 8 => format!("{}, or one of {} others", results[..8].join(", "), results.len() - 8),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Reports news items to the user, and counts them.
pub(crate) struct Teller<'a> {
    pub(crate) file: String,
    pub(crate) spec: &'a str,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    /// Whether to end at the first violation. The violation is then reported together with the
    /// verdict.
    pub(crate) fail_fast: bool,
    /// The number of violations and undecided keys that were described.
    told: usize,
    /// The violations that were described, for the final report.
    violations: Vec<String>,
    notes: Vec<String>,
    last: Instant,
    last_operations: u64,
}

impl<'a> Teller<'a> {
    pub(crate) fn new(file: String, spec: &'a str, (json, quiet, fail_fast): (bool, bool, bool)) -> Self {
        Self {
            file,
            spec,
            json,
            quiet,
            fail_fast,
            told: 0,
            violations: Vec::new(),
            notes: Vec::new(),
            last: Instant::now(),
            last_operations: 0,
        }
    }

    /// Prints the news items. Returns whether one of them is a violation.
    pub(crate) fn tell(&mut self, news: &mut Vec<News>) -> bool {
        let mut is_violated = false;
        for one in news.drain(..) {
            is_violated |= matches!(one, News::Violation(_));
            self.told += 1;
            if self.told > MOST_TOLD {
                if self.told == MOST_TOLD + 1 && !self.quiet {
                    output::note("further violations and undecided keys are counted, but not described");
                }
                continue;
            }
            match one {
                News::Violation(violation) => {
                    let text = violation.text();
                    if self.json {
                        let event = violation.json(&self.file);
                        let _ = output::stdout(|out| output::json(out, &event));
                    } else if !self.quiet && !self.fail_fast {
                        output::warning(format_args!("{}: not linearizable: {text}", self.file));
                    }
                    self.violations.push(text);
                }
                News::Undecided { line, part, why } => {
                    if self.json {
                        let event =
                            json!({"event": "undecided", "file": self.file, "line": line, "part": part, "reason": why});
                        let _ = output::stdout(|out| output::json(out, &event));
                    } else if !self.quiet {
                        output::warning(format_args!("{}:{line}: not decided: {part}: {why}", self.file));
                    }
                }
                News::Forgot(keys) => {
                    let note = format!(
                        "the memory limit was reached, so the oldest operations with unknown outcomes of {} were forgotten; \
                         a key is left undecided if one of its results can be explained only by a forgotten operation",
                        count(keys as u64, "key")
                    );
                    if !self.quiet && !self.json {
                        output::note(&note);
                    }
                    self.notes.push(note);
                }
            }
        }
        is_violated
    }

    /// Prints a summary of the progress. Does nothing in quiet mode, soon after the last summary,
    /// or if there are no new operations.
    pub(crate) fn summarize(&mut self, follower: &Follower<'_>) {
        if self.quiet || self.last.elapsed() < SUMMARY || self.last_operations == follower.numbers.operations {
            return;
        }
        self.last = Instant::now();
        self.last_operations = follower.numbers.operations;
        output::note(format_args!("{}: {}", self.file, follower.summary()));
    }

    /// Prints the final verdict, and returns the exit code.
    pub(crate) fn end(mut self, follower: &Follower<'_>, limit: Option<LimitKind>) -> u8 {
        let Numbers { operations, open, unknown, violations, undecided } = follower.numbers;
        let parts = follower.live.parts();
        let (verdict, code) = match () {
            () if violations > 0 => ("rejected", 1),
            () if undecided > 0 || follower.spans.is_some() || limit.is_some() => ("unknown", 3),
            () => ("accepted", 0),
        };
        if let Some(kind) = limit {
            self.notes.push(format!(
                "the {kind} limit was reached, so the input was judged only up to line {}; raise the limit",
                follower.reader.lines()
            ));
        }
        if let Some((line, operation)) = &follower.spans {
            self.notes.push(format!(
                "{operation} on line {line} spans several keys, so its object was not judged from that line on; write the \
                 history to a file, and judge the file with `trueline check`"
            ));
        }
        if operations == 0 {
            self.notes.push("there are no operations, so there was nothing to judge".to_owned());
        }
        if operations > 0 && open + unknown == operations {
            self.notes.push("no operation returned, so there was no result to judge".to_owned());
        }
        let written = if self.json {
            let mut end = json!({
                "event": "end", "file": self.file, "spec": self.spec, "verdict": verdict, "operations": operations,
                "pending": open + unknown, "partitions": parts, "violations": violations, "undecided": undecided,
                "lines": follower.reader.lines(),
            });
            if let (false, Json::Object(fields)) = (self.notes.is_empty(), &mut end) {
                fields.insert("notes".to_owned(), json!(self.notes));
            }
            output::stdout(|out| output::json(out, &end))
        } else if self.quiet {
            Written::All
        } else {
            let mut text = format!(
                "{}: {verdict} (online, {}, {} pending, {})\n",
                self.file,
                count(operations, "operation"),
                open + unknown,
                count(u64::from(parts), "partition"),
            );
            for violation in &self.violations {
                let _ = writeln!(text, "  {violation}");
            }
            for note in &self.notes {
                let _ = writeln!(text, "  note: {note}");
            }
            let text: String = text.lines().map(|line| visible(line) + "\n").collect();
            output::stdout(|out| out.write_all(text.as_bytes()))
        };
        if written == Written::Failed { 2 } else { code }
    }
}

/// Returns the reason why a history must be judged as a whole; `None` if it can be judged event by
/// event.
fn whole_because(args: &CheckArgs, judge: &Judge<'_>) -> Option<String> {
    let option = match () {
        () if args.read.map.is_some() => "--map",
        () if args.algorithm != Algorithm::Auto => "--algorithm",
        () if args.no_partition => "--no-partition",
        () if args.criterion != Criterion::Safety => "--criterion",
        () if args.factor.is_some() => "--factor",
        () if args.clock_skew > 0 => "--clock-skew",
        () if args.versions == Versions::Strict => "--versions strict",
        () if judge.spec.live(LiveLimits::default()).is_none() => {
            return Some(format!("histories of {} are not judged event by event", judge.spec.name()));
        }
        () => return None,
    };
    Some(format!("{option} is given"))
}

/// Judges an input while it is being written.
pub(crate) fn run(args: &CheckArgs) -> Result<ExitCode, String> {
    for (is_given, option) in [
        (args.view.is_some(), "--view"),
        (args.junit.is_some(), "--junit"),
        (args.github, "--github"),
        (args.core, "--core"),
    ] {
        if is_given {
            return Err(format!(
                "{option} is not supported with --follow; leave it out, and run `trueline check` on the file afterward"
            ));
        }
    }
    let path = match args.inputs.as_slice() {
        [] => std::path::Path::new("-"),
        [path] => path,
        _ => return Err("--follow judges one input; name one file, or run the command once for each file".to_owned()),
    };
    let judge = Judge::new(args)?;
    let limits = judge.limits();
    let name = path.display().to_string();
    let address = path.to_str().and_then(|path| path.strip_prefix("tcp:"));
    let input = Input::of(path);
    // The online judge has a memory limit of its own, which does not count all of its data. Leave a
    // quarter of the memory limit for the data that is not counted.
    let memory = usize::try_from(limits.memory / 4 * 3).unwrap_or(usize::MAX);
    let mut teller = Teller::new(name.clone(), judge.spec.name(), (args.json, args.quiet, args.fail_fast));
    let last_words = |kind: LimitKind| {
        output::error(format_args!("{name}: the {kind} limit was reached before a verdict; raise the limit"));
        3
    };
    let followed = limits.watch(Stage::Judging, last_words, || {
        cancel::while_busy(|| {
            let source = match address {
                Some(address) => listen(address, &limits),
                None => input.follow(&limits, args.idle),
            };
            let source = source.map_err(Ended::Unreadable)?;
            follow(args, &judge, source, memory, &limits, &mut teller)
        })
    });
    let (mut follower, end) = match followed {
        Ok(followed) => followed,
        Err(Ended::Unreadable(Unreadable { limit: Some(kind), .. })) if kind != LimitKind::Cancelled => {
            return Ok(ExitCode::from(last_words(kind)));
        }
        Err(Ended::Unreadable(fault)) => {
            let judged = Judged::Unreadable { file: name, line: fault.line, message: fault.message };
            let _ = write(&render(&judged, args, Wanted::Report));
            return Ok(ExitCode::from(2));
        }
        Err(Ended::Judged(code)) => return Ok(ExitCode::from(code)),
        Err(Ended::Whole(text)) => {
            let input = text.map_or(input, |text| Input::Text { name, text });
            return Ok(ExitCode::from(judge_whole(args, &judge, &input)));
        }
    };
    let mut news = Vec::new();
    if end.is_none() {
        if let Err(fault) = follower.finish(&mut news) {
            let judged = Judged::Unreadable { file: name, line: fault.line, message: fault.message };
            let _ = write(&render(&judged, args, Wanted::Report));
            return Ok(ExitCode::from(2));
        }
        teller.tell(&mut news);
    }
    // If an operation concerns several keys, the input must be judged as a whole. This is possible
    // for a file, because a file can be read again.
    if follower.spans.is_some()
        && follower.numbers.violations == 0
        && matches!(&input, Input::File(path) if path.is_file())
    {
        if !args.quiet {
            output::note(format_args!("{name}: some operations span several keys, so the file is judged as a whole"));
        }
        return Ok(ExitCode::from(judge_whole(args, &judge, &input)));
    }
    Ok(ExitCode::from(teller.end(&follower, end)))
}

/// The reason why [`follow`] returned no [`Follower`].
enum Ended {
    Unreadable(Unreadable),
    /// A verdict was printed.
    Judged(u8),
    /// The input must be judged as a whole. Contains the text that was read; `None` if the input
    /// can be read again.
    Whole(Option<Arc<[u8]>>),
}

/// Reads lines until the input ends, and judges them. Returns the follower, and the limit that ended the reading, if
/// any.
fn follow<'j>(
    args: &CheckArgs,
    judge: &'j Judge<'_>,
    source: input::Followed,
    memory: usize,
    limits: &Limits,
    teller: &mut Teller<'_>,
) -> Result<(Follower<'j>, Option<LimitKind>), Ended> {
    let is_growing = source.is_growing;
    let mut content = BufReader::with_capacity(CHUNK, source.content);
    let mut whole = whole_because(args, judge);
    if whole.is_none() && !matches!(judge.reading.format(), Format::Auto | Format::Jsonl) {
        whole = Some("this format is not read line by line".to_owned());
    }
    if whole.is_none() && judge.reading.format() == Format::Auto {
        let start = content.fill_buf().unwrap_or_default();
        let is_array = start.trim_ascii_start().first() == Some(&b'[');
        if is_array || detect(start).is_some_and(|format| format != Format::Jsonl) {
            whole = Some("this format is not read line by line".to_owned());
        }
    }
    if let Some(why) = whole {
        return Err(follow_whole(args, judge, content, is_growing, &why, limits, teller));
    }
    let configurations = args.configurations.and_then(|most| usize::try_from(most).ok());
    let live = LiveLimits { configurations: configurations.unwrap_or(LiveLimits::default().configurations), memory };
    let tuples = args.read.tuples();
    let mut follower =
        Follower::new(&judge.spec, tuples, args.late, live).expect("the specification can be judged online");
    let (mut line, mut news) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let length = match (&mut content).take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut line) {
            Ok(length) => length,
            // Ctrl-C and the time limit end the input.
            Err(_) if limits.reached().is_some() => 0,
            Err(fault) => return Err(Ended::Unreadable(format!("cannot read: {fault}; check the input").into())),
        };
        if length == 0 {
            break;
        }
        let is_whole = line.ends_with(b"\n");
        let judged = follower.line(&line, !is_whole, &mut news);
        if let Err(fault) = judged {
            if !is_whole && is_growing && line.len() <= LONGEST_LINE {
                output::note(format_args!("{}: the last line is incomplete, and is left out", teller.file));
                break;
            }
            return Err(Ended::Unreadable(fault));
        }
        if !news.is_empty() && teller.tell(&mut news) && args.fail_fast {
            return Ok((follower, None));
        }
        // Check the limits only between chunks of input, or after many lines.
        if content.buffer().is_empty() || follower.reader.lines() % (16 * LOOK) == 0 {
            if limits.reached().is_some() {
                break;
            }
            teller.summarize(&follower);
        }
    }
    let reached = limits.reached().filter(|kind| *kind != LimitKind::Cancelled);
    Ok((follower, reached))
}

/// Waits for a connection, and reads from it.
fn listen(address: &str, limits: &Limits) -> Result<input::Followed, Unreadable> {
    let fault = |fault: io::Error| {
        format!("{fault}; give an address of this machine and a free port, such as tcp:127.0.0.1:7878")
    };
    let listener = TcpListener::bind(address).map_err(fault)?;
    let bound = listener.local_addr().map_err(fault)?;
    listener.set_nonblocking(true).map_err(fault)?;
    output::note(format_args!("waiting for a connection on {bound}"));
    let stream = loop {
        match listener.accept() {
            Ok((stream, _)) => break stream,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if let Some(kind) = limits.reached() {
                    return Err(Unreadable::limit(kind));
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(fault(error).into()),
        }
    };
    stream.set_nonblocking(false).map_err(fault)?;
    input::follow_socket(stream, limits).map_err(|error| fault(error).into())
}

/// Reads an input that is judged as a whole. Reading continues until the input ends. With
/// `--every`, also judges, at each interval, the text that has been read so far.
fn follow_whole(
    args: &CheckArgs,
    judge: &Judge<'_>,
    mut content: impl BufRead,
    is_growing: bool,
    why: &str,
    limits: &Limits,
    teller: &Teller<'_>,
) -> Ended {
    let Teller { file, quiet, .. } = teller;
    if !quiet {
        let when = if args.every.is_some() {
            "at the end and at each interval given by --every"
        } else {
            "at the end; --every judges it more often"
        };
        output::note(format_args!("{file}: {why}, so the history is judged as a whole, {when}"));
    }
    let mut text: Vec<u8> = Vec::new();
    let (mut lines, mut started) = (0, Instant::now());
    let mut is_violated = false;
    loop {
        // The text stays in memory while the history is judged, and the history takes more memory
        // than the text. Therefore the text may take only a quarter of the memory limit.
        if text.len() as u64 > limits.memory / 4 {
            return Ended::Unreadable(Unreadable::limit(LimitKind::Memory));
        }
        let before = text.len();
        match (&mut content).take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut text) {
            Err(_) if limits.reached().is_some() => break,
            Err(fault) => return Ended::Unreadable(format!("cannot read: {fault}; check the input").into()),
            Ok(0) => break,
            Ok(_) => {}
        }
        if !text.ends_with(b"\n") && is_growing {
            text.truncate(before);
            break;
        }
        lines += 1;
        let is_due = match args.every {
            None => false,
            Some(Every::Lines(every)) => lines % every == 0,
            Some(Every::Time(every)) => started.elapsed() >= every,
        };
        if is_due && !is_violated {
            started = Instant::now();
            let input = Input::Text { name: file.clone(), text: text.as_slice().into() };
            let judged = judge.judge(&input, Wanted::Report, &judge.limits(), &|_| 3);
            match &judged {
                Judged::Report(report, _) => match report.finding {
                    Finding::Rejected(_) | Finding::Stuck(_) if args.fail_fast => {
                        return Ended::Judged(judge_whole(args, judge, &input));
                    }
                    Finding::Rejected(_) | Finding::Stuck(_) => {
                        is_violated = true;
                        if !quiet {
                            output::warning(format_args!("{file}: not linearizable up to line {lines}"));
                        }
                    }
                    Finding::Accepted | Finding::Unknown(_) if !quiet => {
                        let verdict = report.verdict();
                        output::note(format_args!("{file}: {verdict} up to line {lines}"));
                    }
                    _ => {}
                },
                // The text that has been read so far may end in the middle of a document, so
                // unreadable text is not an error yet.
                Judged::Unreadable { .. } => {}
            }
        }
    }
    Ended::Whole(Some(text.into()))
}

/// Judges an input as a whole, prints the report, and returns the exit code.
fn judge_whole(args: &CheckArgs, judge: &Judge<'_>, input: &Input) -> u8 {
    let wanted = if args.json || args.quiet { Wanted::Report } else { Wanted::Excerpt };
    let end = |judged: Judged| {
        let _ = write(&render(&judged, args, wanted));
        judge.exit_code(&judged)
    };
    // If Ctrl-C was pressed to end the input, the input is judged nevertheless. If Ctrl-C is
    // pressed again, the program ends at once.
    let limits = Limits::start(&args.limits, &CancelToken::new());
    let judged = judge.judge(input, wanted, &limits, &end);
    let written = write(&render(&judged, args, wanted));
    if written == Written::Failed { 2 } else { judge.exit_code(&judged) }
}
