//! A history and what was judged of it, as a picture that is only data: rows, bars, points and links.
//!
//! A [`Timeline`] has a row for each process and a bar for each operation, from its call to its return. Where a
//! linearization is known, each operation in it has a number and a point on its bar; operations that took effect together
//! share them. There are no types of the user in it, only text that can be shown as it is: see [`visible`].
//!
//! [`terminal`](super::terminal), [`svg`](super::svg) and [`html`](super::html) draw it, and look at nothing else. What is
//! drawn of a long history is chosen before: [`Timeline::near_problem`], [`Timeline::core_only`].
//!
//! ```
//! use trueline::history::{History, OpId};
//! use trueline::verdict::{Judgement, Stats, Verdict, Witness};
//! use trueline::view::terminal::{self, Settings};
//! use trueline::view::timeline::{Label, Timeline};
//!
//! let mut builder = History::builder();
//! builder.call(0, "write(1)")?;
//! builder.call(1, "read()")?;
//! builder.ret(1, "1")?;
//! builder.ret(0, "ok")?;
//! let judgement: Judgement<String> = Judgement {
//!     verdict: Verdict::Accepted(Witness::one_by_one(vec![OpId(0), OpId(1)])),
//!     stats: Stats::default(),
//! };
//! let timeline = Timeline::new(&builder.finish(), Label::of).with_judgement(&judgement);
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

use std::fmt::Display;
use std::sync::Arc;

pub use crate::history::visible;
pub use place::{Places, Point};

use super::Report;
use crate::history::{EventKind, History, OpId, Operation, Record, Shown};
use crate::verdict::{Core, Evidence, Judgement, Passed, ProgressVerdict, Verdict, Witness, groups};

/// A history and what was judged of it, ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Where the history came from.
    pub title: String,
    /// The specification, by name.
    pub spec: String,
    /// What was found.
    pub outcome: Outcome,
    /// Why, in a sentence, if there is something to explain.
    pub reason: Option<String>,
    /// The algorithm that judged.
    pub algorithm: String,
    /// The processes, by their numbers.
    pub rows: Vec<Row>,
    /// The operations, in the order of their calls.
    pub bars: Vec<Bar>,
    /// Calls and returns in their order: which bar begins or ends.
    pub events: Vec<Edge>,
    /// The bars in the order of the linearization that is known: the witness, or the longest prefix.
    pub order: Vec<u32>,
    /// How many of them took effect together, one number for each time; empty if each did alone.
    pub together: Vec<u32>,
    /// What is wrong.
    pub problem: Option<Problem>,
    /// States before and after operations of the linearization, for those near its end.
    pub states: Vec<Passed>,
    /// Whether it is known which operations are in the core.
    pub has_core: bool,
    /// How many operations of the whole history are not here.
    pub left_out: usize,
    /// The last operation of the linearization, even if it is not here.
    linearized: Option<OpId>,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// There is a linearization.
    Accepted,
    /// There is none.
    Rejected,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl Outcome {
    /// `accepted`, `rejected` or `unknown`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::Unknown => "unknown",
        }
    }
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub label: String,
    /// How many lanes its bars need so that none overlap: one, unless operations touch in time.
    pub lanes: u32,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    /// The operation of the history.
    pub id: OpId,
    /// The row of its process.
    pub row: u32,
    /// The lane in the row.
    pub lane: u32,
    /// The position of its call in [`Timeline::events`].
    pub call: u32,
    /// The position of its return, if it returned.
    pub ret: Option<u32>,
    /// What was called.
    pub label: Label,
    /// What it returned, if that is known.
    pub result: Option<String>,
    /// The lines of the file that call and return came from; 0 where there are none.
    pub lines: (u32, u32),
    /// The positions of call and return in the order of events of the whole history; the return's is 0 without one.
    pub events: (u32, u32),
    /// Its number in the linearization, from 1 on; that of the first if several took effect together.
    pub step: Option<u32>,
    /// Whether it is one of the few operations that the rejection rests on.
    pub core: bool,
    /// What else is to be said of it.
    pub mark: Mark,
}

/// What is to be said of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Nothing.
    #[default]
    None,
    /// No linearization allows its return; of several, not all of them.
    Refused,
    /// It should have returned.
    Stuck,
    /// It is one of those that a monitor found to conflict.
    Conflict,
}

impl Mark {
    /// Whether it is what is wrong.
    pub fn is_problem(self) -> bool {
        matches!(self, Self::Refused | Self::Stuck)
    }
}

/// The beginning or the end of a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which bar.
    pub bar: u32,
    /// Call or return.
    pub kind: EventKind,
}

/// What is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The bars to look at first: the refused operation, or those that should have returned.
    pub bars: Vec<u32>,
    /// The position in [`Timeline::events`] of the refused return; their number, if what is wrong is that none came.
    pub event: u32,
    /// Results that would have been allowed.
    pub allowed: Vec<String>,
    /// Whether those are all.
    pub all_allowed: bool,
    /// Operations that should have taken effect together, but did not.
    pub anticipated: Vec<Vec<u32>>,
}

/// What was called, as text, with what it can be searched by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The whole: `put("k", 2)`.
    pub text: String,
    /// The name of the operation: `put`.
    pub kind: String,
    /// The key that it concerns, if it is known.
    pub key: Option<String>,
}

impl Label {
    /// The label of anything that can be shown; the name of the operation is what is before the first bracket or space.
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

    /// The label of an operation as a file gives it, with its key.
    pub fn of_record(record: &Record) -> Self {
        Self {
            text: visible(&record.to_string()),
            kind: visible(&record.f),
            key: record.key.as_ref().map(|key| visible(&key.to_string())),
        }
    }

    /// The label of an operation as reports show it.
    pub fn of_shown(operation: &Shown) -> Self {
        match operation {
            Shown::Record(record) => Self::of_record(record),
            Shown::Text(text) => Self::of(text),
        }
    }
}

/// A number of something in memory that has a number for each operation.
fn number(index: usize) -> u32 {
    u32::try_from(index).expect("operations have numbers")
}

impl Timeline {
    /// The timeline of a history of which nothing is known yet; `label` says what was called.
    pub fn new<Op, Ret: Display>(history: &History<Op, Ret>, label: impl Fn(&Op) -> Label) -> Self {
        Self::of_some(history, label, |_| true)
    }

    /// The timeline of what is near the problem, in about `most` operations: as [`near_problem`](Self::near_problem), but the rest
    /// is not even made. It is to be given the same judgement and core.
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
        let row_of = |process| processes.binary_search(&process).expect("it is one of them");
        let bar = |(id, operation): (OpId, &Operation<Op, Ret>)| {
            let mut label = label(&operation.op);
            if let Some(object) = history.object_name(operation.object) {
                let object = visible(object);
                label.key = Some(match label.key {
                    Some(key) => format!("{object} . {key}"),
                    None => object.clone(),
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
        // Bars are in the order of their operations, which is that of calls.
        let mut next = 0;
        let mut numbers = vec![u32::MAX; history.len()];
        for event in history.events().iter().filter(|event| keeps(event.op())) {
            let here = number(events.len());
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
        let rows = processes.iter().map(|process| Row { label: format!("process {process}"), lanes: 1 }).collect();
        let mut timeline = Self {
            title: String::new(),
            spec: String::new(),
            outcome: Outcome::Unknown,
            reason: None,
            algorithm: String::new(),
            rows,
            left_out: history.len() - bars.len(),
            bars,
            events,
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

    /// The timeline with what `report` says: names, the verdict, and the reason for it.
    #[must_use]
    pub fn with_report(mut self, report: &Report) -> Self {
        self.title = visible(&report.file);
        self.spec = visible(&report.spec);
        self.algorithm = visible(&report.stats.algorithm);
        self.reason = report.reason().map(|reason| visible(&reason));
        self
    }

    /// The timeline with the verdict on its history: the linearization, and what was refused.
    #[must_use]
    pub fn with_judgement<Ret: Display>(mut self, judgement: &Judgement<Ret>) -> Self {
        self.algorithm = visible(&judgement.stats.algorithm);
        match &judgement.verdict {
            Verdict::Accepted(witness) => {
                self.outcome = Outcome::Accepted;
                self.linearize(witness);
            }
            Verdict::Rejected(evidence) => self.refuse(evidence),
            Verdict::Unknown(_) => self.outcome = Outcome::Unknown,
        }
        self
    }

    /// The timeline with what should have returned.
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
                let done: Vec<Vec<OpId>> = evidence.synchronisations.iter().filter(is_done).cloned().collect();
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

    /// The timeline with the few operations that the rejection rests on.
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

    /// The timeline with the states that its linearization passes.
    #[must_use]
    pub fn with_states(mut self, states: Vec<Passed>) -> Self {
        // The same state is the same text in memory, before and after.
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
        // Where operations may be out of order, no return by itself is wrong.
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

    /// The bar of an operation, if it is here.
    pub fn bar_of(&self, op: OpId) -> Option<u32> {
        // The common case: all are here.
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

    /// Gives bars of one row that overlap lanes of their own.
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

    /// The bars that took effect together, in the order of the linearization.
    pub fn groups(&self) -> impl Iterator<Item = &[u32]> {
        groups(&self.order, &self.together)
    }

    /// How many operations never returned.
    pub fn pending(&self) -> usize {
        self.bars.iter().filter(|bar| bar.ret.is_none()).count()
    }

    /// The states before and after an operation, if they are known.
    pub fn states_of(&self, op: OpId) -> Option<&Passed> {
        self.states.iter().find(|passed| passed.op == op)
    }

    /// The state in which the refused operation found its object, if it is known: the last of the linearization.
    pub fn state_at_problem(&self) -> Option<&str> {
        let at_the_end = || self.states.last().filter(|passed| self.linearized == Some(passed.op));
        self.problem.as_ref().and_then(|_| at_the_end()).map(|passed| &*passed.after)
    }
}

impl Bar {
    /// What was called and what came of it: `dequeue() → 2`, with this arrow. A result that says nothing is left out.
    pub fn text(&self, arrow: &str) -> String {
        match &self.result {
            Some(result) if result != "ok" && result != "-" && result != "()" => {
                format!("{} {arrow} {result}", self.label.text)
            }
            _ => self.label.text.clone(),
        }
    }

    /// Where it is: lines of the file, such as `lines 3-7`, or events if there are no lines.
    pub fn place(&self) -> String {
        let (unit, (call, ret)) = if self.lines.0 > 0 { ("line", self.lines) } else { ("event", self.events) };
        match self.ret {
            Some(_) if ret == call => format!("{unit} {call}"),
            Some(_) => format!("{unit}s {call}-{ret}"),
            None => format!("{unit} {call}-"),
        }
    }
}
