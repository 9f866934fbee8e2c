//! A judgement, shown to people and programs.
//!
//! A [`Report`] is what there is to say, as plain data; [`text`] and [`json`] write it down. A [`Timeline`] is what there
//! is to see; [`terminal`], [`svg`] and [`html`] draw it.

pub mod columns;
pub mod file;
pub mod html;
pub mod json;
pub mod prose;
pub mod svg;
pub mod terminal;
pub mod text;
pub mod timeline;

use std::fmt::Display;

pub use timeline::Timeline;

use crate::history::{History, OpId, Operation, visible};
use crate::verdict::{
    Core, Evidence, Judgement, Limit, LimitKind, MoreFactor, ProgressEvidence, ProgressVerdict, Role, Stats, Verdict,
};

/// How many operations of a kind are shown.
const MOST_SHOWN: usize = 8;

/// How much of a linearization is given as data.
const MOST_IN_PREFIX: usize = 1_000;

/// What is said of one judged history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Where the history came from.
    pub file: String,
    /// The specification, by name.
    pub spec: String,
    /// The number of operations.
    pub operations: usize,
    /// How many of them never returned.
    pub pending: usize,
    /// What the judging took.
    pub stats: Stats,
    /// The verdict and what there is to say of it.
    pub finding: Finding,
    /// The few operations that a rejection rests on, if they were asked for.
    pub core: Option<Story>,
    /// Why it was rejected, sentence by sentence, if that was asked for: see [`prose`]. What is said of a case is indented.
    pub explanation: Vec<String>,
    /// What else one has to know to understand the verdict, each in a sentence.
    pub notes: Vec<String>,
}

/// A verdict, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "a report has one")]
pub enum Finding {
    /// It is linearizable.
    Accepted,
    /// It is not.
    Rejected(Rejection),
    /// What returned is right, but more should have.
    Stuck(Stall),
    /// A limit came first.
    Unknown(Limit),
}

/// Why a history was rejected, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The operation whose return no linearization allows.
    pub refused: Line,
    /// The position of that return in the order of events.
    pub event: u32,
    /// Whether this is known to be the first event up to which the history is not linearizable.
    pub is_first: bool,
    /// Results that it could have returned.
    pub allowed: Vec<String>,
    /// Whether those are all.
    pub all_allowed: bool,
    /// Operations that conflict, in the order of their calls, if they are known, few, and not all shown already.
    pub conflict: Vec<Line>,
    /// The last operations of a linearization of what was before it.
    pub before: Vec<Line>,
    /// How many operations that linearization has.
    pub before_total: usize,
    /// The positions of the calls in that linearization, in its order: the last 1,000, if there are more.
    pub prefix: Vec<u32>,
    /// Other operations that were open at the refused return, in the order of their calls.
    pub open: Vec<Line>,
    /// How many those are.
    pub open_total: usize,
    /// For quasi linearizability: what there is to say instead.
    pub quasi: Option<Box<QuasiRejection>>,
}

/// Why a history is not quasi linearizable, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuasiRejection {
    /// The criterion, with its factors.
    pub criterion: String,
    /// By how much the factors would have to be larger.
    pub more: MoreFactor,
    /// The first operations that are not in the longest beginning of a legal order that was found.
    pub out_of_reach: Vec<Line>,
    /// How many those are.
    pub out_of_reach_total: usize,
}

/// Which executions should have returned, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// What may have synchronised: the last of it.
    pub before: Vec<Line>,
    /// How many executions that are.
    pub before_total: usize,
    /// What should have synchronised, or has; some of it did not return.
    pub anticipated: Vec<Line>,
}

impl Stall {
    fn new<Op: Display, Ret: Display>(history: &History<Op, Ret>, evidence: &ProgressEvidence) -> Self {
        let ProgressEvidence { synchronisations, anticipated } = evidence;
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
            synchronisations.iter().filter(|group| !anticipated.contains(group)).cloned().collect();
        // So many groups at the end as fit.
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

    /// What should have returned, in a sentence.
    pub fn reason(&self) -> String {
        let mut names: Vec<String> = Vec::new();
        for line in self.anticipated.iter().filter(|line| line.result.is_none()) {
            let name = format!("{} of process {}", shorten(&line.operation), line.process);
            // One may take part in several steps; a process has one call that did not return.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match (names.as_slice(), self.anticipated.iter().all(|line| line.result.is_none())) {
            ([one], true) => format!("{one} should have returned"),
            ([others @ .., last], true) => format!("{} and {last} should have synchronised", others.join(", ")),
            ([one], false) => format!("{one} synchronised, and should have returned"),
            ([others @ .., last], false) => format!("{} or {last} should have returned", others.join(", ")),
            ([], _) => "something should have returned".to_owned(),
        }
    }
}

/// An operation, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it is: lines of the file, such as `3-7`, or events if there are no lines; nothing behind the dash if it
    /// never returned.
    pub place: String,
    /// Who called it.
    pub process: u32,
    /// On which object, if objects have names.
    pub object: Option<String>,
    /// What was called.
    pub operation: String,
    /// What it returned; `None` if it never did.
    pub result: Option<String>,
    /// Whether it is in the linearization of what was before the refused return.
    pub took_effect: bool,
    /// In that linearization: whether it took effect together with the one before it, and with the one behind it.
    pub together: (bool, bool),
    /// The positions of call and return in the order of all events.
    pub events: (u32, Option<u32>),
    /// The lines of the file that call and return came from.
    pub lines: (Option<u32>, Option<u32>),
}

/// The core of a rejected history, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Story {
    /// What it begins behind: whatever returned before the call of that does not matter.
    pub begins_behind: Option<Line>,
    /// The calls of the core, and the others that the explanation names, in the order of their calls.
    pub operations: Vec<Told>,
    /// The positions of the calls that are left out: of all that are not in the core.
    pub left_out: Vec<u32>,
    /// How many steps to tell less were not decided; if none, the core is 1-minimal.
    pub undecided: usize,
    /// Whether it was judged as it is, and rejected.
    pub confirmed: bool,
    /// How many histories were judged to find it.
    pub judgements: u32,
}

/// An operation of a core, ready to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// The operation, as far as it matters.
    pub line: Line,
    /// Whether it is in the core. Else it is left out, and only the explanation names it.
    pub in_core: bool,
    /// What is known of it in the history that the explanation is about.
    pub role: Role,
    /// Whether only a part of its arguments or result is shown: what is about values or keys in the core.
    pub in_part: bool,
    /// Whether it is what the core begins behind.
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
            judgements: core.oracle_calls,
        }
    }
}

impl Report {
    /// The report of `judgement`. Only the operations that are shown are asked for, each with the name of its object.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueline::history::History;
    /// use trueline::verdict::{Judgement, Stats, Verdict, Witness};
    /// use trueline::view::{Report, text};
    ///
    /// let judgement: Judgement<String> = Judgement {
    ///     verdict: Verdict::Accepted(Witness::one_by_one(Vec::new())),
    ///     stats: Stats { algorithm: "auto".into(), partitions: 1, elapsed: Duration::from_micros(1234), ..Stats::default() },
    /// };
    /// let report = Report::new("a.jsonl", "queue", (5, 1), &judgement, |id| History::<String, String>::builder().finish().named(id));
    /// let text = text::render(&report, text::Style::Plain);
    /// assert_eq!(text, "a.jsonl: accepted (auto, 5 operations, 1 pending, 1 partition, 1.2 ms)\n");
    /// ```
    pub fn new<Op: Display, Ret: Display>(
        file: impl Into<String>,
        spec: impl Into<String>,
        (operations, pending): (usize, usize),
        judgement: &Judgement<Ret>,
        operation: impl Fn(OpId) -> (Operation<Op, Ret>, Option<String>),
    ) -> Self {
        let finding = match &judgement.verdict {
            Verdict::Accepted(_) => Finding::Accepted,
            Verdict::Rejected(evidence) => {
                let line = |id, took_effect| {
                    let (operation, object) = operation(id);
                    Line::new(&operation, object.as_deref(), took_effect)
                };
                let mut rejection = Rejection::new(&line, &|id| operation(id).0.return_position(), evidence);
                rejection.quasi = evidence.quasi.as_ref().map(|quasi| {
                    Box::new(QuasiRejection {
                        criterion: judgement.stats.criterion.clone().unwrap_or_else(|| "quasi linearizable".to_owned()),
                        more: quasi.more,
                        out_of_reach: quasi.out_of_reach.iter().take(MOST_SHOWN).map(|id| line(*id, false)).collect(),
                        out_of_reach_total: quasi.out_of_reach.len(),
                    })
                });
                Finding::Rejected(rejection)
            }
            Verdict::Unknown(limit) => Finding::Unknown(limit.clone()),
        };
        let stats = judgement.stats.clone();
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

    /// The report with what should have returned, if a `history` that was accepted is stuck.
    #[must_use]
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

    /// The report with the core of the `history` that it is about.
    #[must_use]
    pub fn with_core<Op: Display, Ret: Display>(mut self, history: &History<Op, Ret>, core: &Core<Op, Ret>) -> Self {
        self.core = Some(Story::new(history, core));
        self
    }

    /// The report with an explanation: [`prose`] has the words.
    #[must_use]
    pub fn with_explanation(mut self, sentences: Vec<String>) -> Self {
        self.explanation = sentences;
        self
    }

    /// The report with one more [note](Self::notes).
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// `accepted`, `rejected` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match &self.finding {
            Finding::Accepted => "accepted",
            Finding::Rejected(_) | Finding::Stuck(_) => "rejected",
            Finding::Unknown(_) => "unknown",
        }
    }

    /// Why, in a sentence; `None` if there is nothing to explain.
    pub fn reason(&self) -> Option<String> {
        match &self.finding {
            Finding::Accepted => None,
            Finding::Rejected(rejection) => Some(rejection.reason()),
            Finding::Stuck(stall) => Some(stall.reason()),
            Finding::Unknown(limit) => Some(match remedy(limit.kind) {
                Some(remedy) => format!("{limit}; {remedy}"),
                None => limit.to_string(),
            }),
        }
    }
}

/// What to do about a limit that was reached.
fn remedy(limit: LimitKind) -> Option<&'static str> {
    match limit {
        LimitKind::Time => Some("raise --timeout, or try another --algorithm"),
        LimitKind::Memory => Some("raise --memory, or try another --algorithm"),
        LimitKind::Configurations => Some("raise --configurations, or try another --algorithm"),
        _ => None,
    }
}

impl Rejection {
    /// `line` shows an operation, given whether it took effect; `returned` tells where one returned.
    fn new<Ret: Display>(
        line: &dyn Fn(OpId, bool) -> Line,
        returned: &dyn Fn(OpId) -> Option<u32>,
        evidence: &Evidence<Ret>,
    ) -> Self {
        let line = |id: &OpId| line(*id, evidence.prefix.contains(id));
        // Not in the middle of what took effect together.
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
        let is_synchronisation = !evidence.together.is_empty();
        let together = |at: usize| (at > 0 && with_next[at - 1], with_next[at]);
        // Of those that synchronised, what they still return is not known then: their partners may have been others.
        let is_open = |id: &OpId| returned(*id).is_some_and(|position| position >= evidence.event);
        let line_before = |(at, id): (usize, &OpId)| {
            let line = line(id);
            let result =
                line.result.map(|result| if is_synchronisation && is_open(id) { "?".to_owned() } else { result });
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

    /// What was refused and what would have been allowed, in a sentence.
    pub fn reason(&self) -> String {
        if let Some(QuasiRejection { criterion, more, .. }) = self.quasi.as_deref() {
            return format!("it is not {criterion}; {more}");
        }
        let Line { place, process, operation, result, .. } = &self.refused;
        let operation = shorten(operation);
        let place = if place.starts_with("event") { format!("event {}", self.event) } else { place.clone() };
        let what = format!("{operation} of process {process} ({place})");
        match (result, self.allowed.as_slice()) {
            (None, _) => format!("{what} was refused"),
            (Some(result), _) if !self.is_first => {
                format!("{what} returned {}: there is no order any more, here at the latest", shorten(result))
            }
            (Some(result), []) if self.all_allowed => {
                format!("{what} returned {}, but could not have returned at all then", shorten(result))
            }
            (Some(result), []) => {
                format!("{what} returned {}, which does not go with what else happened", shorten(result))
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
    fn of<Op: Display, Ret: Display>(history: &History<Op, Ret>, id: OpId, took_effect: bool) -> Self {
        let operation = &history[id];
        Self::new(operation, history.object_name(operation.object), took_effect)
    }

    fn new<Op: Display, Ret: Display>(operation: &Operation<Op, Ret>, object: Option<&str>, took_effect: bool) -> Self {
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

/// "1, 2 or 3", not too many.
fn alternatives(results: &[String]) -> String {
    if results.len() > MOST_SHOWN {
        let first: Vec<String> = results[..MOST_SHOWN].iter().map(|result| shorten(result)).collect();
        return format!("{} or one of {} others", first.join(", "), results.len() - MOST_SHOWN);
    }
    let results: Vec<String> = results.iter().map(|result| shorten(result)).collect();
    match results.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

/// Not more than fits a line of a terminal with other things on it, all of it [`visible`].
fn shorten(text: &str) -> String {
    let text = visible(text);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
