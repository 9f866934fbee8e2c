//! Shows judgments to people and to programs.
//!
//! A [`Report`] holds everything to print about a judgment, as plain data; [`text`] and [`json`] write it. A
//! [`Timeline`] holds everything to draw; [`terminal`], [`svg`] and [`html`] draw it.

pub mod text;
#[doc(hidden)]
pub mod prose;
pub mod json;

#[doc(hidden)]
pub mod timeline;
#[doc(hidden)]
pub mod columns;
#[doc(hidden)]
pub mod terminal;
pub mod svg;
pub mod html;

#[doc(hidden)]
pub mod file;

use std::fmt::Display;

pub use timeline::Timeline;

use crate::history::{History, Named, OpId, Operation, visible};
use crate::verdict::{
    Core, Evidence, Judgment, Limit, LimitKind, MoreFactor, ProgressEvidence, ProgressVerdict, Role, Stats, Verdict,
};

/// The maximum number of operations that a report lists under each heading.
const MOST_SHOWN: usize = 8;

/// The maximum number of operations of a linearization in the `prefix` of a report.
const MOST_IN_PREFIX: usize = 1_000;

/// The report on one judged history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The file or other source that the history came from.
    #[doc(hidden)]
    pub file: String,
    /// The name of the specification.
    #[doc(hidden)]
    pub spec: String,
    /// The number of operations.
    #[doc(hidden)]
    pub operations: usize,
    /// The number of operations that never returned.
    #[doc(hidden)]
    pub pending: usize,
    /// The algorithm that judged the history, and the resources that it used.
    #[doc(hidden)]
    pub stats: Stats,
    /// The verdict, with its details.
    #[doc(hidden)]
    #[doc(hidden)]
    pub finding: Finding,
    /// The core of a rejection, if it was requested.
    #[doc(hidden)]
    #[doc(hidden)]
    pub core: Option<Story>,
    /// The explanation of the verdict, as one string for each sentence, if it was requested; see
    /// [`prose`]. Sentences that belong to one case of a case distinction are indented.
    pub explanation: Vec<String>,
    /// Further notes that a reader needs to understand the verdict, one sentence each.
    pub notes: Vec<String>,
}

/// A verdict, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a report contains only one value of this enum")]
#[doc(hidden)]
pub enum Finding {
    /// The history is accepted.
    Accepted,
    /// The history is rejected.
    Rejected(Rejection),
    /// All returns are correct, but some pending operations should have returned.
    Stuck(Stall),
    /// A limit was reached before a verdict.
    Unknown(Limit),
}

/// The reason why a history was rejected, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Rejection {
    /// The operation whose return no linearization allows.
    pub refused: Line,
    /// The position of the refused return in the order of events.
    pub event: u32,
    /// Whether `event` is known to be the first event up to which the history is not linearizable.
    pub is_first: bool,
    /// Results that the refused operation could have returned.
    pub allowed: Vec<String>,
    /// Whether [`allowed`](Self::allowed) lists all such results.
    pub all_allowed: bool,
    /// Operations that conflict, in the order of their calls; empty if these operations are
    /// unknown, are too many, or are all displayed already.
    pub conflict: Vec<Line>,
    /// The last operations of a linearization of the history before the refused return.
    pub before: Vec<Line>,
    /// The number of all operations in the linearization of the history before the refused return.
    pub before_total: usize,
    /// The positions of the calls of the linearization of the history before the refused return, in
    /// the order of the linearization; only the last 1,000 if there are more.
    pub prefix: Vec<u32>,
    /// Other operations that were open at the refused return, in the order of their calls; only the last ones if there
    /// are many.
    pub open: Vec<Line>,
    /// The number of operations other than the refused one that were open at the refused return.
    pub open_total: usize,
    /// For quasi linearizability, the details that are shown instead of the fields above.
    pub quasi: Option<Box<QuasiRejection>>,
}

/// The reason why a history is not quasi linearizable, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct QuasiRejection {
    /// The criterion, including its factors.
    pub criterion: String,
    /// The amount by which all factors would have to be larger for the history to be accepted.
    pub more: MoreFactor,
    /// The first operations outside the longest prefix of a legal order that the search found.
    pub out_of_reach: Vec<Line>,
    /// The number of operations outside the longest prefix of a legal order that the search found.
    pub out_of_reach_total: usize,
}

/// The executions that should have returned, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Stall {
    /// The last executions of a possible sequence of synchronizations.
    pub before: Vec<Line>,
    /// The number of all executions in the possible sequence of synchronizations.
    pub before_total: usize,
    /// Executions that synchronized, or should have synchronized. At least one of them never
    /// returned.
    pub anticipated: Vec<Line>,
}

impl Stall {
    fn new<Op: Display, Ret: Display>(history: &History<Op, Ret>, evidence: &ProgressEvidence) -> Self {
        let ProgressEvidence { synchronizations, anticipated } = evidence;
        let lines = |groups: &[Vec<OpId>]| -> Vec<Line> {
            let group = |group: &Vec<OpId>| -> Vec<Line> {
                let last = group.len() - 1;
                let line =
                    |(at, id): (usize, &OpId)| Line { together: (at > 0, at < last), ..Line::of(history, *id, true) };
                group.iter().enumerate().map(line).collect()
            };
            groups.iter().flat_map(group).collect()
        };
        let before: Vec<Vec<OpId>> =
            synchronizations.iter().filter(|group| !anticipated.contains(group)).cloned().collect();
        // Show as many of the last groups as the limit allows.
        let mut shown = 0;
        let fits = |group: &&Vec<OpId>| {
            shown += group.len();
            shown <= MOST_SHOWN
        };
        let last = before.len() - before.iter().rev().take_while(fits).count();
        Self {
            before_total: before.iter().map(Vec::len).sum(),
            before: lines(&before[last..]),
            anticipated: lines(anticipated),
        }
    }

    /// Returns a sentence that names operations that should have returned. It is possible that
    /// other operations should have returned instead, so the sentence only claims that the named
    /// operations could have taken effect.
    pub fn reason(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for line in self.anticipated.iter().filter(|line| line.result.is_none()) {
            let name = format!("{} of process {}", line.shown(), line.process());
            // An operation may take part in several steps, but is named once. Equal names mean the same operation: a
            // process has only one call that did not return.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match (names.as_slice(), self.anticipated.iter().all(|line| line.result.is_none())) {
            ([one], true) => format!("{one} could have taken effect, but never returned"),
            ([others @ .., last], true) => {
                format!("{} and {last} could have synchronized, but never returned", others.join(", "))
            }
            ([one], false) => {
                format!(
                    "the calls that returned are possible only if a call that never returned took effect, such as {one}"
                )
            }
            ([others @ .., last], false) => format!(
                "the calls that returned are possible only if calls that never returned took effect, such as {} and {last}",
                others.join(", ")
            ),
            ([], _) => "a call that never returned should have returned".to_owned(),
        }
    }
}

/// An operation, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Line {
    /// Where the operation is in the input: its lines, such as `lines 3-7`, or its events if the lines are unknown;
    /// `line 3-` if it never returned.
    pub place: String,
    /// The process that called the operation.
    pub process: u32,
    /// The name of the process, if it has one.
    pub process_name: Option<String>,
    /// The object that the operation was called on, if objects have names.
    pub object: Option<String>,
    /// The operation and its arguments.
    pub operation: String,
    /// The result of the operation; `None` if the operation never returned.
    pub result: Option<String>,
    /// Whether the operation is in the linearization of the history before the refused return.
    pub took_effect: bool,
    /// Whether the operation took effect together with the previous operation of that
    /// linearization, and whether it took effect together with the next one.
    pub together: (bool, bool),
    /// The positions of the call and of the return in the order of all events.
    pub events: (u32, Option<u32>),
    /// The lines of the file that the call and the return came from.
    pub lines: (Option<u32>, Option<u32>),
}

/// The core of a rejected history, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Story {
    /// The operation after which the core begins. Operations that returned before the call of this
    /// operation do not matter.
    pub begins_behind: Option<Line>,
    /// The calls of the core, and other calls that the explanation names, in the order of their calls.
    pub operations: Vec<Told>,
    /// The positions of all calls that are not in the core.
    pub left_out: Vec<u32>,
    /// The number of shrinking steps that were not decided; if it is 0, the core is 1-minimal.
    pub undecided: usize,
    /// Whether the core itself was judged, and rejected.
    pub confirmed: bool,
    /// The number of histories that were judged to find the core.
    pub judgments: u32,
}

/// An operation of a core, ready to be displayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Told {
    /// The operation, reduced to its relevant part.
    pub line: Line,
    /// Whether the operation is in the core. If not, only the explanation names the operation.
    pub in_core: bool,
    /// The operation's role in the history that the explanation is about.
    pub role: Role,
    /// Whether only a part of the arguments or of the result is shown: the part about values or
    /// keys that occur in the core.
    pub in_part: bool,
    /// Whether the core begins after this operation.
    pub begins: bool,
}

impl Story {
    fn new<Op: Display, Ret: Display>(history: &History<Op, Ret>, core: &Core<Op, Ret>) -> Self {
        let told = |id: OpId| {
            let mut line = Line::of(history, id, false);
            let member = core.members.iter().zip(core.history.operations()).find(|(member, _)| member.id == id);
            if let Some((_, left)) = member.filter(|(member, _)| member.in_part) {
                line.operation = left.op.to_string();
                line.result = left.outcome.result().map(ToString::to_string);
            }
            Told {
                line,
                in_core: core.calls.contains(&id),
                role: member.map_or(Role::Completed, |(member, _)| member.role),
                in_part: member.is_some_and(|(member, _)| member.in_part),
                begins: core.begins_behind == Some(id),
            }
        };
        let operations: Vec<Told> = core.shown().into_iter().map(told).collect();
        let is_left_out = |(id, _): &(OpId, &Operation<Op, Ret>)| core.calls.binary_search(id).is_err();
        let others = (0..).map(OpId).zip(history.operations()).filter(is_left_out);
        Self {
            begins_behind: core.begins_behind.map(|first| Line::of(history, first, false)),
            left_out: others.map(|(_, operation)| operation.call_position()).collect(),
            operations,
            undecided: core.undecided.len(),
            confirmed: core.confirmed,
            judgments: core.oracle_calls,
        }
    }
}

impl Report {
    /// Returns the report of `judgment` on a history with the given numbers of operations and pending operations.
    ///
    /// `operation` returns an operation and the name of its object. This function is called only
    /// for operations that the report shows.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueline::history::History;
    /// use trueline::verdict::{Judgment, Stats, Verdict, Witness};
    /// use trueline::view::{Report, text};
    ///
    /// let mut stats = Stats::default();
    /// (stats.algorithm, stats.partitions, stats.elapsed) = ("auto".into(), 1, Duration::from_micros(1234));
    /// let judgment: Judgment<String> = Judgment::new(Verdict::Accepted(Witness::one_by_one(Vec::new())), stats);
    /// let report = Report::new("a.jsonl", "queue", (5, 1), &judgment, |id| History::<String, String>::builder().finish().named(id));
    /// let text = text::render(&report, text::Style::Plain);
    /// assert_eq!(text, "a.jsonl: accepted (auto, 5 operations, 1 pending, 1 partition, 1.2 ms)\n");
    /// ```
    #[doc(hidden)]
    pub fn new<Op: Display, Ret: Display>(
        file: impl Into<String>,
        spec: impl Into<String>,
        (operations, pending): (usize, usize),
        judgment: &Judgment<Ret>,
        operation: impl Fn(OpId) -> Named<Op, Ret>,
    ) -> Self {
        let finding = match &judgment.verdict {
            Verdict::Accepted(_) => Finding::Accepted,
            Verdict::Rejected(evidence) => {
                let line = |id, took_effect| {
                    let Named { operation, object, process } = operation(id);
                    Line::new(&operation, object.as_deref(), process.as_deref(), took_effect)
                };
                let mut rejection = Rejection::new(&line, &|id| operation(id).operation.return_position(), evidence);
                rejection.quasi = evidence.quasi.as_ref().map(|quasi| {
                    Box::new(QuasiRejection {
                        criterion: judgment.stats.criterion.clone().unwrap_or_else(|| "quasi linearizable".to_owned()),
                        more: quasi.more,
                        out_of_reach: quasi.out_of_reach.iter().take(MOST_SHOWN).map(|id| line(*id, false)).collect(),
                        out_of_reach_total: quasi.out_of_reach.len(),
                    })
                });
                Finding::Rejected(rejection)
            }
            Verdict::Unknown(limit) => Finding::Unknown(limit.clone()),
        };
        let stats = judgment.stats.clone();
        Self {
            file: file.into(),
            spec: spec.into(),
            operations,
            pending,
            stats,
            finding,
            core: None,
            explanation: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Replaces the verdict of an accepted `history` by a verdict on progress, which names the
    /// pending operations that should have returned.
    #[must_use]
    #[doc(hidden)]
    pub fn with_progress<Op: Display, Ret: Display>(
        mut self,
        history: &History<Op, Ret>,
        verdict: &ProgressVerdict<Ret>,
    ) -> Self {
        self.finding = match verdict {
            ProgressVerdict::Accepted(_) => Finding::Accepted,
            ProgressVerdict::Rejected(evidence) => Finding::Stuck(Stall::new(history, evidence)),
            ProgressVerdict::Unsafe(evidence) => {
                let line = |id, took_effect| Line::of(history, id, took_effect);
                Finding::Rejected(Rejection::new(&line, &|id| history[id].return_position(), evidence))
            }
            ProgressVerdict::Unknown(limit) => Finding::Unknown(limit.clone()),
        };
        self
    }

    /// Adds the core of the `history` that the report is about.
    #[must_use]
    #[doc(hidden)]
    pub fn with_core<Op: Display, Ret: Display>(mut self, history: &History<Op, Ret>, core: &Core<Op, Ret>) -> Self {
        self.core = Some(Story::new(history, core));
        self
    }

    /// Adds an explanation; [`prose`] writes the sentences.
    #[must_use]
    #[doc(hidden)]
    pub fn with_explanation(mut self, sentences: Vec<String>) -> Self {
        self.explanation = sentences;
        self
    }

    /// Adds a [note](Self::notes).
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Returns `accepted`, `rejected` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match &self.finding {
            Finding::Accepted => "accepted",
            Finding::Rejected(_) | Finding::Stuck(_) => "rejected",
            Finding::Unknown(_) => "unknown",
        }
    }

    /// Returns the reason for the verdict in one sentence, or `None` if the history was accepted.
    pub fn reason(&self) -> Option<String> {
        match &self.finding {
            Finding::Accepted => None,
            Finding::Rejected(rejection) => Some(rejection.reason()),
            Finding::Stuck(stall) => Some(stall.reason()),
            Finding::Unknown(limit) => Some(match remedy(limit.kind, &self.stats.algorithm) {
                Some(remedy) => format!("{limit}; {remedy}"),
                None => limit.to_string(),
            }),
        }
    }
}

/// Returns advice on what to do about a limit that this algorithm has reached.
fn remedy(limit: LimitKind, algorithm: &str) -> Option<&'static str> {
    match limit {
        LimitKind::Time => Some("raise --timeout, or try another --algorithm"),
        LimitKind::Memory => Some("raise --memory, or try another --algorithm"),
        LimitKind::Configurations => Some("raise --configurations, or try another --algorithm"),
        LimitKind::Refused(_) if algorithm != "auto" => Some("try --algorithm auto"),
        _ => None,
    }
}

impl Rejection {
    /// Creates a rejection from `evidence`. `line` takes an operation, and whether it took effect,
    /// and returns the operation as displayed. `returned` returns the position of an operation's
    /// return.
    fn new<Ret: Display>(
        line: &dyn Fn(OpId, bool) -> Line,
        returned: &dyn Fn(OpId) -> Option<u32>,
        evidence: &Evidence<Ret>,
    ) -> Self {
        let line = |id: &OpId| line(*id, evidence.prefix.contains(id));
        // Do not start in the middle of a group that took effect together.
        let mut last = evidence.prefix.len().saturating_sub(MOST_SHOWN);
        let mut with_next = vec![false; evidence.prefix.len()];
        let mut end = 0;
        for size in evidence.together.iter().map(|size| *size as usize) {
            if (end + 1..end + size).contains(&last) {
                last = end;
            }
            with_next[end..(end + size).saturating_sub(1)].fill(true);
            end += size;
        }
        let before = &evidence.prefix[last..];
        let is_synchronization = !evidence.together.is_empty();
        let together = |at: usize| (at > 0 && with_next[at - 1], with_next[at]);
        // If operations synchronize, the results of operations that are still open are not
        // determined yet, because these operations may have had other partners.
        let is_open = |id: &OpId| returned(*id).is_some_and(|position| position >= evidence.event);
        let line_before = |(at, id): (usize, &OpId)| {
            let line = line(id);
            let result =
                line.result.map(|result| if is_synchronization && is_open(id) { "?".to_owned() } else { result });
            Line { together: together(at), result, ..line }
        };
        let open = &evidence.open[evidence.open.len().saturating_sub(MOST_SHOWN)..];
        let is_shown = |id: &OpId| *id == evidence.refused || before.contains(id) || open.contains(id);
        let mut conflict = evidence.conflict.clone();
        conflict.sort_unstable();
        if conflict.len() > MOST_SHOWN || conflict.iter().all(is_shown) {
            conflict.clear();
        }
        Self {
            refused: line(&evidence.refused),
            event: evidence.event,
            is_first: evidence.is_first,
            allowed: evidence.allowed.iter().map(ToString::to_string).collect(),
            all_allowed: evidence.all_allowed,
            conflict: conflict.iter().map(line).collect(),
            before: (last..).zip(before).map(line_before).collect(),
            before_total: evidence.prefix.len(),
            prefix: evidence.prefix[evidence.prefix.len().saturating_sub(MOST_IN_PREFIX)..]
                .iter()
                .map(|id| line(id).events.0)
                .collect(),
            open: open.iter().map(line).collect(),
            open_total: evidence.open.len(),
            quasi: None,
        }
    }

    /// Returns a sentence about the refused result and the results that would have been allowed.
    pub fn reason(&self) -> String {
        if let Some(QuasiRejection { criterion, more, .. }) = self.quasi.as_deref() {
            return format!("it is not {criterion}; {more}");
        }
        let Line { place, result, .. } = &self.refused;
        let (operation, process) = (self.refused.shown(), self.refused.process());
        let place = if place.starts_with("event") { format!("event {}", self.event) } else { place.clone() };
        let what = format!("{operation} of process {process} ({place})");
        match (result, self.allowed.as_slice()) {
            (None, _) => format!("{what} returned, but no order of the calls allows this"),
            (Some(result), _) if !self.is_first => {
                format!("{what} returned {}: by the time of this return, no order was possible", shorten(result))
            }
            (Some(result), []) if self.all_allowed => {
                format!("{what} returned {}, but could not have returned anything at that point", shorten(result))
            }
            (Some(result), []) => {
                format!("{what} returned {}, which contradicts the rest of the history", shorten(result))
            }
            (Some(result), allowed) if !self.all_allowed => {
                let example = alternatives(allowed);
                format!("{what} returned {}, but could have returned {example}, for example", shorten(result))
            }
            (Some(result), allowed) => {
                format!("{what} returned {}, but could only have returned {}", shorten(result), alternatives(allowed))
            }
        }
    }
}

impl Line {
    /// Returns the name of the object, if objects have names, followed by the operation. Both are
    /// shortened.
    fn shown(&self) -> String {
        match &self.object {
            Some(object) => format!("{} . {}", shorten(object), shorten(&self.operation)),
            None => shorten(&self.operation),
        }
    }

    fn of<Op: Display, Ret: Display>(history: &History<Op, Ret>, id: OpId, took_effect: bool) -> Self {
        let operation = &history[id];
        let process = history.process_name(operation.process);
        Self::new(operation, history.object_name(operation.object), process, took_effect)
    }

    /// Returns the name of the process, or its number if it has no name.
    fn process(&self) -> String {
        self.process_name.as_ref().map_or_else(|| self.process.to_string(), |name| shorten(name))
    }

    fn new<Op: Display, Ret: Display>(
        operation: &Operation<Op, Ret>,
        object: Option<&str>,
        process: Option<&str>,
        took_effect: bool,
    ) -> Self {
        let (unit, call, ret) = match operation.call_line() {
            Some(call) => ("line", call, operation.return_line()),
            None => ("event", operation.call_position(), operation.return_position()),
        };
        let place = match ret {
            Some(ret) if ret == call => format!("{unit} {call}"),
            Some(ret) => format!("{unit}s {call}-{ret}"),
            None => format!("{unit} {call}-"),
        };
        Self {
            place,
            process: operation.process.0,
            process_name: process.map(str::to_owned),
            object: object.map(str::to_owned),
            operation: operation.op.to_string(),
            result: operation.outcome.result().map(ToString::to_string),
            took_effect,
            together: (false, false),
            events: (operation.call_position(), operation.return_position()),
            lines: (operation.call_line(), operation.return_line()),
        }
    }
}

/// Formats results as "1, 2 or 3", at most [`MOST_SHOWN`] of them.
fn alternatives(results: &[String]) -> String {
    if results.len() > MOST_SHOWN {
        let first: Vec<String> = results[..MOST_SHOWN].iter().map(|result| shorten(result)).collect();
        let others = match results.len() - MOST_SHOWN {
            1 => "1 other result".to_owned(),
            more => format!("one of {more} other results"),
        };
        return format!("{} or {others}", first.join(", "));
    }
    let results: Vec<String> = results.iter().map(|result| shorten(result)).collect();
    match results.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// Shortens text to 60 characters, so that it fits on a line with other text. Also escapes
/// characters that are not safe to display: see [`visible`].
fn shorten(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
