//! The steps of an execution.

use std::fmt;

use super::controller::{Event, Happened};
use crate::drive::Kind;
use crate::primitives::{AccessKind, Place, Seen};
use trueline_sync::ValueKind;

/// A recorded step of an execution.
#[derive(Clone, Debug)]
pub(super) struct TraceEntry {
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
/// Primitives are named in the order in which they are first accessed: `a1`, `a2`, .. are atomics, `m1`, .. mutexes,
/// `c1`, .. condition variables, and `s1`, .. other things that threads wait for. The targets of atomic pointers are
/// named in the same way: `p1`, `p2`, ..; `p1+1` is `p1` with the lowest bit set. For a primitive of a crate that does
/// not use trueline, the first step that accesses it also shows its type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The thread that made the step.
    pub process: u32,
    /// Whether the step is a call or a return, rather than a step inside an operation.
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
    counts: [usize; 4],
    /// Targets of atomic pointers, by address.
    targets: Vec<u64>,
}

/// The low bits of an address, which may contain a tag. They are 0 in the addresses of allocations,
/// which are aligned to at least 8 bytes.
const TAG: u64 = 7;

impl Names {
    /// Returns the name of a primitive. If the primitive has no name yet, gives it a name, and
    /// returns the name followed by the type.
    fn name(&mut self, place: Place, class: usize, type_name: &str) -> String {
        if let Some((_, name)) = self.known.iter().find(|(known, _)| *known == place) {
            return name.clone();
        }
        self.counts[class] += 1;
        let name = format!("{}{}", ["a", "m", "c", "s"][class], self.counts[class]);
        self.known.push((place, name.clone()));
        if type_name.is_empty() { name } else { format!("{name} ({type_name})") }
    }

    fn value(&mut self, bits: u64, kind: ValueKind) -> String {
        match kind {
            ValueKind::Bool => (bits != 0).to_string(),
            ValueKind::Signed => (bits as i64).to_string(),
            ValueKind::Pointer if bits == 0 => "null".to_owned(),
            ValueKind::Pointer if bits <= TAG => format!("null+{bits}"),
            ValueKind::Pointer => {
                let target = bits & !TAG;
                let known = self.targets.iter().position(|known| *known == target);
                let number = known.unwrap_or_else(|| {
                    self.targets.push(target);
                    self.targets.len() - 1
                });
                let tag = bits & TAG;
                if tag == 0 { format!("p{}", number + 1) } else { format!("p{}+{tag}", number + 1) }
            }
            _ => bits.to_string(),
        }
    }
}

/// Converts entries to readable steps.
pub(super) fn steps(entries: &[TraceEntry], events: &[Event], kinds: &[Kind]) -> Vec<Step> {
    let mut names = Names::default();
    let mut called: Vec<(u32, &Kind)> = Vec::new();
    let step = |entry: &TraceEntry| match &entry.what {
        What::Event(number) => {
            let Event { process, what } = &events[*number];
            let text = match what {
                Happened::Called(call) => {
                    let kind = &kinds[call.operation as usize];
                    let name = &kind.name;
                    called.retain(|(caller, _)| caller != process);
                    called.push((*process, kind));
                    if call.argument.is_null() {
                        format!("call {name}")
                    } else {
                        format!("call {name} {}", (kind.show_argument)(&call.argument))
                    }
                }
                Happened::Returned(value) => match called.iter().find(|(caller, _)| caller == process) {
                    Some((_, kind)) => format!("return from {}: {}", kind.name, (kind.show_result)(value)),
                    None => format!("return: {value}"),
                },
            };
            Some(Step { process: *process, is_event: true, text, place: None })
        }
        What::Chose { number, bound } => {
            let text = format!("choose {number} of {bound}");
            Some(Step { process: entry.process, is_event: false, text, place: None })
        }
        What::Seen(seen) => {
            let Seen { access, name, values, location, type_name, value_kind, .. } = seen;
            let class = match access.kind {
                AccessKind::Lock | AccessKind::TryLock | AccessKind::Unlock | AccessKind::Wait => 1,
                AccessKind::Notify => 2,
                AccessKind::Update if values.is_none() => 3,
                _ => 0,
            };
            // Skip this entry, because the next entry shows the same try-lock with its outcome.
            if access.kind == AccessKind::TryLock && values.is_none() {
                return None;
            }
            let place = names.name(access.place?, class, type_name);
            let text = match (access.kind, values) {
                (AccessKind::TryLock, Some((_, 1))) => format!("{name} {place}: acquired"),
                (AccessKind::TryLock, _) => format!("{name} {place}: not free"),
                (AccessKind::Wait, None) => match access.other {
                    Some(condvar) => format!("unlock {place} and wait on {}", names.name(condvar, 2, "")),
                    None => format!("unlock {place} and wait"),
                },
                (_, None) => format!("{name} {place}"),
                (kind, Some((before, after))) => {
                    let is_same = before == after;
                    let (before, after) = (names.value(*before, *value_kind), names.value(*after, *value_kind));
                    match kind {
                        AccessKind::Load => format!("{name} {place} = {before}"),
                        AccessKind::Store => format!("{name} {place} := {after} (was {before})"),
                        _ if is_same => format!("{name} {place} stays {before}"),
                        _ => format!("{name} {place}: {before} -> {after}"),
                    }
                }
            };
            let place = Some(format!("{}:{}", in_its_crate(location.file()), location.line()));
            Some(Step { process: entry.process, is_event: false, text, place })
        }
    };
    entries.iter().filter_map(step).collect()
}

/// Returns a short name of a source file. For a file of a crate from a registry, the short name is the part of the path
/// from the crate's name and version on. For any other file, it is the file name.
fn in_its_crate(file: &str) -> &str {
    let in_registry = || {
        let (_, rest) = file.split_once("/registry/src/")?;
        rest.split_once('/').map(|(_registry, rest)| rest)
    };
    in_registry().unwrap_or_else(|| file.rsplit(['/', '\\']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_crate() {
        let file =
            "/home/me/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/concurrent-queue-2.5.0/src/bounded.rs";
        assert_eq!(in_its_crate(file), "concurrent-queue-2.5.0/src/bounded.rs");
        assert_eq!(in_its_crate("/home/me/mine/src/lib.rs"), "lib.rs");
    }

    #[test]
    fn values_are_shown_by_their_type() {
        let mut names = Names::default();
        assert_eq!(names.value(1, ValueKind::Bool), "true");
        assert_eq!(names.value(u64::MAX, ValueKind::Signed), "-1");
        assert_eq!(names.value(u64::MAX, ValueKind::Unsigned), u64::MAX.to_string());
        let shown: Vec<_> = [0, 0x1000, 0x2000, 0x1001, 2].map(|bits| names.value(bits, ValueKind::Pointer)).into();
        assert_eq!(shown, ["null", "p1", "p2", "p1+1", "null+2"]);
    }
}
