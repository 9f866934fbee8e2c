//! The steps of an execution.

use std::fmt;

use super::controller::{Event, Happened};
use crate::drive::Kind;
use crate::primitives::{AccessKind, Place, Seen};

/// A recorded step of an execution.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) process: u32,
    pub(super) what: What,
}

/// The content of a step.
#[derive(Clone, Debug)]
pub(super) enum What {
    /// The event with this number.
    Event(usize),
    /// An access to a primitive.
    Seen(Seen),
    /// A random choice.
    Chose { number: usize, bound: usize },
}

/// A readable step of an execution: a call, a return, an access to a primitive, or a choice.
///
/// Primitives are named in the order in which they are first accessed: `a1`, `a2`, .. are atomics, `m1`, .. mutexes and
/// `c1`, .. condition variables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The thread.
    pub process: u32,
    /// Whether it is a call or a return, rather than a step inside an operation.
    pub is_event: bool,
    /// A description of the step.
    pub text: String,
    /// The place in the source code, if it is known.
    pub place: Option<String>,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, is_event, text, place } = self;
        let indent = if *is_event { "" } else { "  " };
        let text = format!("{indent}{text}");
        match place {
            Some(place) => write!(f, "T{process}  {text:<44}  {place}"),
            None => write!(f, "T{process}  {text}"),
        }
    }
}

/// Assigns names to primitives.
#[derive(Default)]
struct Names {
    known: Vec<(Place, String)>,
    counts: [usize; 3],
}

impl Names {
    fn name(&mut self, place: Place, class: usize) -> String {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| *known == place) {
            return name.clone();
        }
        self.counts[class] += 1;
        let name = format!("{}{}", ["a", "m", "c"][class], self.counts[class]);
        self.known.push((place, name.clone()));
        name
    }
}

/// Converts entries to readable steps.
pub(super) fn steps(entries: &[Entry], events: &[Event], kinds: &[Kind]) -> Vec<Step> {
    let mut names = Names::default();
    let mut called: Vec<(u32, &str)> = Vec::new();
    let step = |entry: &Entry| match &entry.what {
        What::Event(number) => {
            let Event { process, what } = &events[*number];
            let text = match what {
                Happened::Called(call) => {
                    let name = &*kinds[call.operation as usize].name;
                    called.retain(|(caller, _)| caller != process);
                    called.push((*process, name));
                    if call.argument.is_null() {
                        format!("call {name}")
                    } else {
                        format!("call {name} {}", call.argument)
                    }
                }
                Happened::Returned(value) => {
                    let name = called.iter().find(|(caller, _)| caller == process).map_or("", |(_, name)| *name);
                    format!("return from {name}: {value}")
                }
            };
            Some(Step { process: *process, is_event: true, text, place: None })
        }
        What::Chose { number, bound } => {
            let text = format!("choose {number} of {bound}");
            Some(Step { process: entry.process, is_event: false, text, place: None })
        }
        What::Seen(seen) => {
            let Seen { access, name, values, location, .. } = seen;
            let class = match access.kind {
                AccessKind::Lock | AccessKind::TryLock | AccessKind::Unlock | AccessKind::Wait => 1,
                AccessKind::Notify => 2,
                _ => 0,
            };
            // The outcome of a try-lock has an entry of its own, which follows this one.
            if access.kind == AccessKind::TryLock && values.is_none() {
                return None;
            }
            let place = names.name(access.place?, class);
            let text = match (access.kind, values) {
                (AccessKind::Load, Some((value, _))) => format!("{name} {place} = {value}"),
                (AccessKind::Store, Some((before, after))) => format!("{name} {place} := {after} (was {before})"),
                (AccessKind::TryLock, Some((_, 1))) => format!("{name} {place}: taken"),
                (AccessKind::TryLock, _) => format!("{name} {place}: not free"),
                (_, Some((before, after))) if before == after => format!("{name} {place} stays {before}"),
                (_, Some((before, after))) => format!("{name} {place}: {before} -> {after}"),
                (AccessKind::Wait, None) => match access.other {
                    Some(condvar) => format!("unlock {place} and wait on {}", names.name(condvar, 2)),
                    None => format!("unlock {place} and wait"),
                },
                (_, None) => format!("{name} {place}"),
            };
            let file = location.file().rsplit(['/', '\\']).next().unwrap_or_default();
            let place = Some(format!("{file}:{}", location.line()));
            Some(Step { process: entry.process, is_event: false, text, place })
        }
    };
    entries.iter().filter_map(step).collect()
}
