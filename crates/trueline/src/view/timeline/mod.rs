//! A history and its judgment as a picture in plain data: rows, bars, points and links.
//!
//! A [`Timeline`] has a row for each process and a bar for each operation, from its call to its
//! return. If a linearization is known, each operation in it has a number, and a point on its bar;
//! operations that took effect together share the number and the point. A timeline contains no user
//! types, only text that is safe to display: see [`visible`].
//!
//! [`terminal`](super::terminal), [`svg`](super::svg) and [`html`](super::html) draw it, and use nothing else. The part
//! of a long history to draw is selected beforehand, with [`Timeline::near_problem`] or [`Timeline::core_only`].
//!
//! ```
//! use trueline::history::{History, OpId};
//! use trueline::verdict::{Judgment, Stats, Verdict, Witness};
//! use trueline::view::terminal::{self, Settings};
//! use trueline::view::timeline::{Label, Timeline};
//!
//! let mut builder = History::builder();
//! builder.call(0, "write(1)")?;
//! builder.call(1, "read()")?;
//! builder.ret(1, "1")?;
//! builder.ret(0, "ok")?;
//! let witness = Witness::one_by_one(vec![OpId(0), OpId(1)]);
//! let judgment: Judgment<String> = Judgment::new(Verdict::Accepted(witness), Stats::default());
//! let timeline = Timeline::new(&builder.finish(), Label::of).with_judgment(&judgment);
//! assert_eq!(timeline.bars[1].step, Some(2)); // the read is second
//! let picture = terminal::render(&timeline, &Settings::default());
//! let lines = [
//!     "             write(1)",
//!     "  process 0  ├─1────────────┤",
//!     "                 read() → 1",
//!     "  process 1      ├─2───────┤",
//!     "  (numbers: an order that works)",
//! ];
//! assert_eq!(picture.lines().collect::<Vec<_>>(), lines);
//! # Ok::<(), trueline::history::HistoryError>(())
//! ```

mod cut;
mod place;

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::Arc;

pub use crate::history::visible;
pub use place::{Places, Point};

use super::{Finding, Report};
use crate::history::{Annotation, EventKind, History, ObjectId, OpId, Operation, ProcessId, Record, Shown};
use crate::verdict::{Core, Evidence, Judgment, Passed, ProgressVerdict, Verdict, Witness, groups};

/// A history and its judgment, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// The file or other source that the history came from.
    #[doc(hidden)]
    pub title: String,
    /// The name of the specification.
    #[doc(hidden)]
    pub spec: String,
    /// The verdict.
    #[doc(hidden)]
    pub outcome: Outcome,
    /// The reason for the verdict, in one sentence; `None` if the history was accepted.
    #[doc(hidden)]
    pub reason: Option<String>,
    /// The explanation of the rejection, one string for each sentence, as in
    /// [`Report::explanation`]; empty if the history was not rejected, or if no explanation was
    /// requested.
    pub why: Vec<String>,
    /// Notes that a reader needs to understand the verdict, as in [`Report::notes`].
    pub notes: Vec<String>,
    /// The algorithm that judged the history.
    #[doc(hidden)]
    pub algorithm: String,
    /// The processes, ordered by their numbers.
    #[doc(hidden)]
    pub rows: Vec<Row>,
    /// The operations, in the order of their calls.
    #[doc(hidden)]
    pub bars: Vec<Bar>,
    /// Calls and returns in their order, each as the beginning or the end of a bar.
    #[doc(hidden)]
    pub events: Vec<Edge>,
    /// The annotations: descriptions of something that happened between the events, such as a
    /// failover.
    pub annotations: Vec<Annotated>,
    /// The bars of the operations in the known linearization (the witness, or the longest
    /// linearizable prefix), in the order of the linearization.
    #[doc(hidden)]
    pub order: Vec<u32>,
    /// The sizes of the groups that took effect together, in order; empty if each operation took effect alone.
    #[doc(hidden)]
    pub together: Vec<u32>,
    /// The problem that led to a rejection.
    #[doc(hidden)]
    pub problem: Option<Problem>,
    /// The states before and after operations of the linearization. Only the states of operations
    /// near the end of the linearization may be stored.
    #[doc(hidden)]
    pub states: Vec<Passed>,
    /// Whether the core is known. If so, `core` of each bar marks its operations.
    #[doc(hidden)]
    pub has_core: bool,
    /// The number of operations of the whole history that the timeline leaves out.
    #[doc(hidden)]
    pub left_out: usize,
    /// The last operation of the linearization, even if the timeline leaves it out.
    linearized: Option<OpId>,
}

/// The verdict on a history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The history has a linearization.
    Accepted,
    /// The history has no linearization.
    Rejected,
    /// No verdict was reached.
    #[default]
    Unknown,
}

impl Outcome {
    /// Returns `accepted`, `rejected` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

/// The row of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The name of the process.
    pub label: String,
    /// The number of lanes that the bars of the process need in order not to overlap: one, unless an operation was
    /// called before the previous operation of the process had returned.
    pub lanes: u32,
}

/// The bar of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bar {
    /// The operation's number in the history.
    pub id: OpId,
    /// The row of the process that called the operation.
    pub row: u32,
    /// The lane in the row.
    pub lane: u32,
    /// The position of the call in [`Timeline::events`].
    pub call: u32,
    /// The position of the return, if the operation returned.
    pub ret: Option<u32>,
    /// The operation and its arguments.
    pub label: Label,
    /// The name of the operation's object, if the object has a name. The label contains this name,
    /// too.
    pub object: Option<Arc<str>>,
    /// The result of the operation, if it is known.
    pub result: Option<String>,
    /// The lines of the file that the call and the return came from; 0 for an unknown line.
    pub lines: (u32, u32),
    /// The positions of the call and of the return in the events of the whole history; 0 for a
    /// missing return.
    pub events: (u32, u32),
    /// The number of the operation's group in the linearization, starting at 1. Operations that
    /// took effect together are one group; any other operation is a group of its own.
    pub step: Option<u32>,
    /// Whether the operation is in the core.
    pub core: bool,
    /// The role of the operation in the problem, if there is one.
    pub mark: Mark,
}

/// The role of an operation in a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mark {
    /// The operation has no role in the problem.
    #[default]
    None,
    /// No linearization allows the return of the operation. If several operations have this mark,
    /// no linearization allows all their returns.
    Refused,
    /// The operation should have returned.
    Stuck,
    /// A monitor found that the operation conflicts with other operations.
    Conflict,
}

impl Mark {
    /// Returns whether the mark denotes a problem.
    pub fn is_problem(self) -> bool {
        matches!(self, Self::Refused | Self::Stuck)
    }
}

/// The beginning or the end of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edge {
    /// The bar.
    pub bar: u32,
    /// Whether the bar begins (a call) or ends (a return).
    pub kind: EventKind,
}

/// Something that happened between two events and is not an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotated {
    /// The number of events of the timeline before the annotation.
    pub position: u32,
    /// The line of the file that the annotation came from; 0 if the line is unknown.
    pub line: u32,
    /// The text of the annotation.
    pub text: String,
}

/// The problem in a rejected history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The bars to look at first: the refused operations, or those that should have returned.
    pub bars: Vec<u32>,
    /// The position in [`Timeline::events`] of the refused return; the number of events if the problem is a missing
    /// return.
    pub event: u32,
    /// Results that would have been allowed.
    pub allowed: Vec<String>,
    /// Whether [`allowed`](Self::allowed) lists all results that would have been allowed.
    pub all_allowed: bool,
    /// Operations that should have taken effect together, but did not.
    pub anticipated: Vec<Vec<u32>>,
}

/// The object and the key that a rejection concerns. Operations on other objects and keys do not
/// contribute to the rejection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name of the object.
    pub object: Option<Arc<str>>,
    /// The key.
    pub key: Option<String>,
}

impl Subject {
    /// Returns whether the operation of `bar` concerns this object and this key. An operation
    /// without a key concerns all keys of its object.
    pub fn contains(&self, bar: &Bar) -> bool {
        let is_same_key = || self.key.is_none() || bar.key().is_none_or(|key| self.key.as_deref() == Some(key));
        (self.object.is_none() || self.object == bar.object) && is_same_key()
    }
}

impl Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.object, &self.key) {
            (Some(object), Some(key)) => write!(f, "object {object}, key {key}"),
            (Some(object), None) => write!(f, "object {object}"),
            (None, Some(key)) => write!(f, "key {key}"),
            (None, None) => Ok(()),
        }
    }
}

/// The text of a call, and the name and key to search for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The complete text, such as `put("k", 2)`.
    pub text: String,
    /// The name of the operation, such as `put`.
    pub kind: String,
    /// The key that the operation concerns, if it is known.
    pub key: Option<String>,
}

impl Label {
    /// Returns the label of anything that implements `Display`. The name of the operation ends before the first
    /// bracket, space or quotation mark.
    ///
    /// ```
    /// use trueline::view::timeline::Label;
    ///
    /// assert_eq!(Label::of(&"Enqueue(5)").kind, "Enqueue");
    /// ```
    pub fn of(operation: &impl Display) -> Self {
        let text = visible(&operation.to_string());
        let end = text.find(['(', '{', '[', ' ', '"']).unwrap_or(text.len());
        Self { kind: text[..end].to_owned(), text, key: None }
    }

    /// Returns the label of an operation as read from a file, with its key.
    pub fn of_record(record: &Record) -> Self {
        Self {
            text: visible(&record.to_string()),
            kind: visible(&record.f),
            key: record.key.as_ref().map(|key| visible(&key.to_string())),
        }
    }

    /// Returns the label of an operation as reports display it.
    pub fn of_shown(operation: &Shown) -> Self {
        match operation {
            Shown::Record(record) => Self::of_record(record),
            Shown::Text(text) => Self::of(text),
        }
    }
}

/// Converts an index or a count of operations or events to `u32`.
fn number(index: usize) -> u32 {
    u32::try_from(index).expect("the numbers of events and of operations fit in 32 bits")
}

#[doc(hidden)]
impl Timeline {
    /// Creates a timeline of a history that has not been judged; `label` describes each call.
    pub fn new<Op, Ret: Display>(history: &History<Op, Ret>, label: impl Fn(&Op) -> Label) -> Self {
        Self::of_some(history, label, |_| true)
    }

    /// Creates a timeline of about `most` operations near the problem, like
    /// [`near_problem`](Self::near_problem), but without first creating the whole timeline. The
    /// caller must then add `verdict` and `core` to the timeline.
    pub fn excerpt<Op, Ret: Display>(
        history: &History<Op, Ret>,
        label: impl Fn(&Op) -> Label,
        verdict: &Verdict<Ret>,
        core: Option<&Core<Op, Ret>>,
        most: usize,
    ) -> Self {
        if history.len() <= most {
            return Self::new(history, label);
        }
        let mut keeps = vec![false; history.len()];
        let mut keep = |op: OpId| keeps[op.index()] = true;
        core.iter().flat_map(|core| core.shown()).take(most).for_each(&mut keep);
        let events = history.events();
        let end = match verdict {
            Verdict::Rejected(evidence) => {
                let Evidence { prefix, open, conflict, refused, event, .. } = evidence;
                let last = |ops: &[OpId]| ops[ops.len().saturating_sub(most)..].to_vec();
                last(prefix).into_iter().chain(last(open)).chain(last(conflict)).chain([*refused]).for_each(&mut keep);
                *event as usize + 1
            }
            _ => events.len(),
        };
        let pending = (0..).map(OpId).zip(history.operations()).filter(|(_, op)| op.return_position().is_none());
        pending.take(most).for_each(|(op, _)| keep(op));
        let from = if verdict.is_rejected() { end.saturating_sub(most) } else { 0 };
        events[from..end].iter().take(most).for_each(|event| keep(event.op()));
        Self::of_some(history, label, |op| keeps[op.index()])
    }

    fn of_some<Op, Ret: Display>(
        history: &History<Op, Ret>,
        label: impl Fn(&Op) -> Label,
        keeps: impl Fn(OpId) -> bool,
    ) -> Self {
        let kept = || (0..).map(OpId).zip(history.operations()).filter(|(id, _)| keeps(*id));
        let mut processes: Vec<_> = kept().map(|(_, operation)| operation.process).collect();
        processes.sort_unstable();
        processes.dedup();
        let row_of = |process| processes.binary_search(&process).expect("the list has all processes");
        // All operations on an object share one copy of its name.
        let mut objects: BTreeMap<ObjectId, Arc<str>> = BTreeMap::new();
        let bar = |(id, operation): (OpId, &Operation<Op, Ret>)| {
            let mut label = label(&operation.op);
            let object = history
                .object_name(operation.object)
                .map(|name| Arc::clone(objects.entry(operation.object).or_insert_with(|| visible(name).into())));
            if let Some(object) = &object {
                label.key = Some(match label.key {
                    Some(key) => format!("{object} . {key}"),
                    None => object.to_string(),
                });
                label.text = format!("{object} . {}", label.text);
            }
            Bar {
                id,
                row: number(row_of(operation.process)),
                lane: 0,
                call: 0,
                ret: None,
                label,
                object,
                result: operation.outcome.result().map(|result| visible(&result.to_string())),
                lines: (operation.call_line().unwrap_or(0), operation.return_line().unwrap_or(0)),
                events: (operation.call_position(), operation.return_position().unwrap_or(0)),
                step: None,
                core: false,
                mark: Mark::None,
            }
        };
        let mut bars: Vec<Bar> = kept().map(bar).collect();
        let mut events: Vec<Edge> = Vec::with_capacity(bars.len() * 2);
        // Bars are in the order of their operations, which is the order of their calls.
        let mut next = 0;
        let mut numbers = vec![u32::MAX; history.len()];
        let mut annotations = Vec::new();
        let mut left = history.annotations().iter().peekable();
        for (position, event) in (0..).zip(history.events()).filter(|(_, event)| keeps(event.op())) {
            let here = number(events.len());
            while let Some(annotation) = left.next_if(|annotation| annotation.position <= position) {
                annotations.push(Annotated::new(annotation, here));
            }
            let bar = &mut numbers[event.op().index()];
            match event.kind() {
                EventKind::Call => {
                    *bar = next;
                    next += 1;
                    bars[*bar as usize].call = here;
                }
                EventKind::Return => bars[*bar as usize].ret = Some(here),
            }
            events.push(Edge { bar: *bar, kind: event.kind() });
        }
        annotations.extend(left.map(|annotation| Annotated::new(annotation, number(events.len()))));
        let row = |process: &ProcessId| {
            let label = format!("process {}", visible(&history.process_label(*process)));
            Row { label, lanes: 1 }
        };
        let rows = processes.iter().map(row).collect();
        let mut timeline = Self {
            title: String::new(),
            spec: String::new(),
            outcome: Outcome::Unknown,
            reason: None,
            why: Vec::new(),
            notes: Vec::new(),
            algorithm: String::new(),
            rows,
            left_out: history.len() - bars.len(),
            bars,
            events,
            annotations,
            order: Vec::new(),
            together: Vec::new(),
            problem: None,
            states: Vec::new(),
            linearized: None,
            has_core: false,
        };
        timeline.assign_lanes();
        timeline
    }

    /// Adds the names, the algorithm, the reason, the explanation of a rejection and the notes from `report`.
    #[must_use]
    pub fn with_report(mut self, report: &Report) -> Self {
        self.title = visible(&report.file);
        self.spec = visible(&report.spec);
        self.algorithm = visible(&report.stats.algorithm);
        self.reason = report.reason().map(|reason| visible(&reason));
        self.notes = report.notes.iter().map(|note| visible(note)).collect();
        match report.finding {
            Finding::Rejected(_) | Finding::Stuck(_) => self.with_why(&report.explanation),
            Finding::Accepted | Finding::Unknown(_) => self,
        }
    }

    /// Adds an explanation of the rejection, one string for each sentence.
    #[must_use]
    pub fn with_why(mut self, sentences: &[String]) -> Self {
        self.why = sentences.iter().map(|sentence| visible(sentence)).collect();
        self
    }

    /// Adds the verdict on the history: the linearization, and the refused operation.
    #[must_use]
    pub fn with_judgment<Ret: Display>(mut self, judgment: &Judgment<Ret>) -> Self {
        self.algorithm = visible(&judgment.stats.algorithm);
        match &judgment.verdict {
            Verdict::Accepted(witness) => {
                self.outcome = Outcome::Accepted;
                self.linearize(witness);
            }
            Verdict::Rejected(evidence) => self.refuse(evidence),
            Verdict::Unknown(_) => self.outcome = Outcome::Unknown,
        }
        self
    }

    /// Adds a verdict on progress: the operations that should have returned.
    #[must_use]
    pub fn with_progress<Ret: Display>(mut self, verdict: &ProgressVerdict<Ret>) -> Self {
        match verdict {
            ProgressVerdict::Accepted(groups) => {
                self.outcome = Outcome::Accepted;
                self.linearize(&Witness::in_groups(groups));
            }
            ProgressVerdict::Rejected(evidence) => {
                self.outcome = Outcome::Rejected;
                let is_done = |group: &&Vec<OpId>| !evidence.anticipated.contains(group);
                let done: Vec<Vec<OpId>> = evidence.synchronizations.iter().filter(is_done).cloned().collect();
                self.linearize(&Witness::in_groups(&done));
                let bars_of = |group: &Vec<OpId>| group.iter().filter_map(|op| self.bar_of(*op)).collect();
                let anticipated: Vec<Vec<u32>> = evidence.anticipated.iter().map(bars_of).collect();
                let stuck = |bar: &u32| self.bars[*bar as usize].ret.is_none();
                let bars: Vec<u32> = anticipated.iter().flatten().copied().filter(stuck).collect();
                for bar in &bars {
                    self.bars[*bar as usize].mark = Mark::Stuck;
                }
                let event = number(self.events.len());
                self.problem = Some(Problem { bars, event, anticipated, ..Problem::default() });
            }
            ProgressVerdict::Unsafe(evidence) => self.refuse(evidence),
            ProgressVerdict::Unknown(_) => self.outcome = Outcome::Unknown,
        }
        self
    }

    /// Marks the operations of the core.
    #[must_use]
    pub fn with_core<Op, Ret>(mut self, core: &Core<Op, Ret>) -> Self {
        self.has_core = true;
        for id in core.shown() {
            self.change(id, |bar| bar.core = true);
        }
        if let Some(problem) = &self.problem {
            for bar in &problem.bars {
                self.bars[*bar as usize].core = true;
            }
        }
        self
    }

    /// Adds the states that the linearization passes through.
    #[must_use]
    pub fn with_states(mut self, states: Vec<Passed>) -> Self {
        // Equal states share one text in memory. If no character of a text has to be escaped, keep
        // sharing the text.
        let clean = |text: &Arc<str>| {
            let cleaned = visible(text);
            if *cleaned == **text { Arc::clone(text) } else { cleaned.into() }
        };
        self.states = states
            .into_iter()
            .map(|Passed { op, before, after }| Passed { op, before: clean(&before), after: clean(&after) })
            .collect();
        self
    }

    fn refuse<Ret: Display>(&mut self, evidence: &Evidence<Ret>) {
        self.outcome = Outcome::Rejected;
        self.linearize(&Witness {
            order: evidence.prefix.clone(),
            together: evidence.together.clone(),
            permuted: Vec::new(),
        });
        for op in &evidence.conflict {
            self.change(*op, |bar| bar.mark = Mark::Conflict);
        }
        // Under quasi linearizability, operations may be out of order, so no single return is at fault.
        let refused = match evidence.quasi {
            Some(_) if !evidence.conflict.is_empty() => evidence.conflict.clone(),
            _ => vec![evidence.refused],
        };
        for op in &refused {
            self.change(*op, |bar| bar.mark = Mark::Refused);
        }
        let event = self.bar_of(evidence.refused).and_then(|bar| self.bars[bar as usize].ret);
        self.problem = Some(Problem {
            bars: refused.iter().filter_map(|op| self.bar_of(*op)).collect(),
            event: event.unwrap_or_else(|| number(self.events.len())),
            allowed: evidence.allowed.iter().map(|result| visible(&result.to_string())).collect(),
            all_allowed: evidence.all_allowed,
            anticipated: Vec::new(),
        });
    }

    fn linearize(&mut self, witness: &Witness) {
        for bar in &mut self.bars {
            bar.step = None;
        }
        let (mut order, mut together) = (Vec::with_capacity(witness.order.len()), Vec::new());
        for (step, group) in (1..).zip(witness.groups()) {
            let before = order.len();
            order.extend(group.iter().filter_map(|op| self.bar_of(*op)));
            for bar in &order[before..] {
                self.bars[*bar as usize].step = Some(step);
            }
            if !witness.together.is_empty() && order.len() > before {
                together.push(number(order.len() - before));
            }
        }
        (self.order, self.together) = (order, together);
        self.linearized = witness.order.last().copied();
    }

    /// Returns the bar of an operation, or `None` if the timeline leaves it out.
    pub fn bar_of(&self, op: OpId) -> Option<u32> {
        // In the common case, the timeline has all operations, so the number of an operation is the
        // index of its bar.
        if self.bars.get(op.index()).is_some_and(|bar| bar.id == op) {
            return Some(op.0);
        }
        self.bars.binary_search_by_key(&op, |bar| bar.id).ok().map(number)
    }

    fn change(&mut self, op: OpId, change: impl FnOnce(&mut Bar)) {
        if let Some(bar) = self.bar_of(op) {
            change(&mut self.bars[bar as usize]);
        }
    }

    /// Assigns different lanes to overlapping bars of the same row.
    fn assign_lanes(&mut self) {
        let mut busy: Vec<Vec<bool>> = vec![Vec::new(); self.rows.len()];
        for Edge { bar, kind } in &self.events {
            let bar = &mut self.bars[*bar as usize];
            let lanes = &mut busy[bar.row as usize];
            match kind {
                EventKind::Call => {
                    let free = lanes.iter().position(|busy| !busy).unwrap_or_else(|| {
                        lanes.push(false);
                        lanes.len() - 1
                    });
                    lanes[free] = true;
                    bar.lane = number(free);
                }
                EventKind::Return => lanes[bar.lane as usize] = false,
            }
        }
        for (row, lanes) in self.rows.iter_mut().zip(busy) {
            row.lanes = number(lanes.len().max(1));
        }
    }

    /// Returns the object and the key that the problem concerns. Returns `None` if the timeline has
    /// no problem, or if the problem concerns several objects.
    ///
    /// All operations of the problem and of the core are on this object and key. If the core is
    /// unknown, the key is returned only if all operations on the object have a key, because an
    /// operation without a key concerns all keys, and might be part of the problem.
    pub fn subject(&self) -> Option<Subject> {
        let problem = self.problem.as_ref()?;
        let first = &self.bars[*problem.bars.first()? as usize];
        let blamed = || {
            let named = problem.bars.iter().chain(problem.anticipated.iter().flatten());
            let named = named.map(|bar| &self.bars[*bar as usize]);
            named.chain(self.bars.iter().filter(|bar| bar.core || bar.mark != Mark::None))
        };
        let object = first.object.clone().filter(|_| blamed().all(|bar| bar.object == first.object));
        let key = first.key().filter(|_| blamed().all(|bar| (&bar.object, bar.key()) == (&first.object, first.key())));
        let has_keys = || self.bars.iter().all(|bar| bar.object != first.object || bar.key().is_some());
        let key = key.filter(|_| self.has_core || has_keys()).map(str::to_owned);
        (object.is_some() || key.is_some()).then_some(Subject { object, key })
    }

    /// Returns the groups of bars that took effect together, in the order of the linearization.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        groups(&self.order, &self.together)
    }

    /// Returns the number of operations in the timeline that never returned.
    pub fn pending(&self) -> usize {
        self.bars.iter().filter(|bar| bar.ret.is_none()).count()
    }

    /// Returns the states before and after an operation, if they are known.
    pub fn states_of(&self, op: OpId) -> Option<&Passed> {
        self.states.iter().find(|passed| passed.op == op)
    }

    /// Returns the state in which the refused operation found its object. This is the last state of
    /// the linearization. Returns `None` if the state is unknown.
    pub fn state_at_problem(&self) -> Option<&str> {
        let at_the_end = || self.states.last().filter(|passed| self.linearized == Some(passed.op));
        self.problem.as_ref().and_then(|_| at_the_end()).map(|passed| &*passed.after)
    }
}

impl Annotated {
    fn new(annotation: &Annotation, position: u32) -> Self {
        Self { position, line: annotation.line, text: visible(&annotation.text) }
    }
}

impl Bar {
    /// Returns the call and its result, such as `dequeue() → 2`, with the given arrow. Leaves out a result that carries
    /// no information.
    pub fn text(&self, arrow: &str) -> String {
        match &self.result {
            Some(result) if result != "ok" && result != "-" && result != "()" => {
                format!("{} {arrow} {result}", self.label.text)
            }
            _ => self.label.text.clone(),
        }
    }

    /// Returns the key of the operation, without the name of the object.
    pub fn key(&self) -> Option<&str> {
        let key = self.label.key.as_deref()?;
        match &self.object {
            Some(object) => key.strip_prefix(&**object)?.strip_prefix(" . "),
            None => Some(key),
        }
    }

    /// Returns where the operation is in the input: its lines, such as `lines 3-7`, or its events
    /// if the lines are unknown; `line 3-` if the operation never returned.
    pub fn place(&self) -> String {
        let (unit, (call, ret)) = if self.lines.0 > 0 { ("line", self.lines) } else { ("event", self.events) };
        match self.ret {
            Some(_) if ret == call => format!("{unit} {call}"),
            Some(_) => format!("{unit}s {call}-{ret}"),
            None => format!("{unit} {call}-"),
        }
    }
}
