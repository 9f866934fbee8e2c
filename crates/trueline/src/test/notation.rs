//! Histories of a test with arguments and results as Rust prints them: `Some(8)`, `None`, `()`.

use std::fmt::{self, Debug};

use super::plan::Plan;
use crate::drive::{Call, Kind};
use crate::history::{History, Named, OpId, Shown, Value};
use crate::judge::shrink::Limits;
use crate::judge::{Argued, Budget, Judged};
use crate::verdict::{Judgment, Partners, Passed, ProgressVerdict, Verdict, Witness};

impl Plan {
    /// Returns the history with calls and results as Rust prints them.
    pub(super) fn in_rust(&self, history: &History<Call, Value>) -> History<Shown, String> {
        history.map(|operation| {
            let show_result = self.kind(&operation.op).show_result;
            (self.shown(&operation.op), operation.outcome.map(show_result))
        })
    }

    fn kind(&self, call: &Call) -> &Kind {
        &self.workload.kinds[call.operation as usize]
    }

    fn shown(&self, call: &Call) -> Shown {
        let Kind { name, show_argument, .. } = self.kind(call);
        let argument = show_argument(&call.argument);
        // Show the elements of a tuple as separate arguments, and `()` as no argument.
        let argument = match argument.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(elements) => elements.strip_suffix(',').unwrap_or(elements),
            None => &argument,
        };
        Shown::Text(format!("{name}({argument})"))
    }
}

/// A judged history of a test, with calls and results as Rust prints them.
pub(super) struct InRust<'a> {
    plan: &'a Plan,
    seen: &'a History<Call, Value>,
    judged: Box<dyn Judged + 'a>,
    judgment: Judgment<String>,
}

impl<'a> InRust<'a> {
    /// Wraps `judged`, the judgment on the history `seen` of a test, so that calls and results are
    /// shown as Rust prints them. Returns `judged` unchanged if the specification has its own
    /// descriptions of operations.
    pub(super) fn wrap(
        plan: &'a Plan,
        seen: &'a History<Call, Value>,
        judged: Box<dyn Judged + 'a>,
    ) -> Box<dyn Judged + 'a> {
        if plan.judge.describes_operations() {
            return judged;
        }
        let mut judgment = judged.judgment().clone();
        if let Verdict::Rejected(evidence) = &mut judgment.verdict {
            for allowed in &mut evidence.allowed {
                *allowed = result(plan, seen, evidence.refused, allowed);
            }
        }
        Box::new(Self { plan, seen, judged, judgment })
    }

    fn result(&self, id: OpId, text: &str) -> String {
        result(self.plan, self.seen, id, text)
    }
}

/// Converts a result of the operation `id` from the text that a judge shows to the text that Rust
/// prints.
fn result(plan: &Plan, seen: &History<Call, Value>, id: OpId, text: &str) -> String {
    match if text == "-" { Ok(Value::Null) } else { text.parse() } {
        Ok(value) => (plan.kind(&seen[id].op).show_result)(&value),
        Err(_) => text.to_owned(),
    }
}

impl Debug for InRust<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.judged.fmt(f)
    }
}

impl Judged for InRust<'_> {
    fn judgment(&self) -> &Judgment<String> {
        &self.judgment
    }

    fn operations(&self) -> usize {
        self.judged.operations()
    }

    fn pending(&self) -> usize {
        self.judged.pending()
    }

    fn history(&self) -> History<Shown, String> {
        self.plan.in_rust(self.seen)
    }

    fn operation(&self, id: OpId) -> Named<Shown, String> {
        let Named { operation, object, process } = self.judged.operation(id);
        let seen = &self.seen[id];
        let result = seen.outcome.map(self.plan.kind(&seen.op).show_result);
        Named { operation: operation.with(self.plan.shown(&seen.op), result), object, process }
    }

    fn core(&self, limits: &Limits) -> Option<Argued> {
        let (core, argument) = self.judged.core(limits)?;
        let members = core.members.clone();
        let core = core.map(|history| {
            let mut members = members.iter();
            history.map(|operation| {
                let member = members.next().expect("each operation has a member");
                let op = if member.in_part { operation.op.clone() } else { self.plan.shown(&self.seen[member.id].op) };
                (op, operation.outcome.map(|text| self.result(member.id, text)))
            })
        });
        let argument = argument.map(|argument| argument.map_of(&mut |id, text| self.result(id, text)));
        Some((core, argument))
    }

    fn states(&self, linearization: Option<&Witness>) -> Vec<Passed> {
        self.judged.states(linearization)
    }

    fn progress(&self, budget: &Budget) -> Option<ProgressVerdict<String>> {
        Some(match self.judged.progress(budget)? {
            ProgressVerdict::Unsafe(mut evidence) => {
                for allowed in &mut evidence.allowed {
                    *allowed = self.result(evidence.refused, allowed);
                }
                ProgressVerdict::Unsafe(evidence)
            }
            verdict => verdict,
        })
    }

    fn partners(&self) -> Option<Partners> {
        self.judged.partners()
    }
}
