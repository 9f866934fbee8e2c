//! Linearizability by its definition: the oracle that every other checker is compared with.
//!
//! Lowe, definition 1: a history is linearizable if it can be extended by returns of pending
//! operations so that some legal sequential history has the same operations, in an order that keeps
//! `<_h`, the real-time order of operations that do not overlap. The oracle therefore tries every
//! sequence of operations that keeps this order, with every choice of the pending operations that
//! took effect, and with every outcome that the specification allows.
//!
//! The oracle deliberately shares nothing with the search core: no window, no classes, no rules, no memory of failed
//! configurations. The evidence comes from the definition, too: the prefixes of the history are judged one after the
//! other, to find the first one that is not linearizable.
//!
//! # Complexity
//! O(n!) steps of the specification.

use smallvec::SmallVec;

use super::erased::{Case, Machine};
use super::frame::{Frame, calls};
use super::search::Meter;
use super::search::automaton::ResultId;
use super::{Algorithm, Budget, Config};
use crate::history::{Event, EventKind, History, OpId};
use crate::spec::Spec;
use crate::verdict::{Evidence, Judgment, Limit, LimitKind, Verdict, Witness};

/// Judges a history by trying every order that the definition allows.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Budget, brute};
/// use trueline::spec::{Register, RegisterOp, RegisterRet};
///
/// let mut builder = History::builder();
/// builder.call(0, RegisterOp::Write(1))?;
/// builder.ret(0, RegisterRet::Done)?;
/// builder.call(1, RegisterOp::Read)?;
/// builder.ret(1, RegisterRet::Value(0))?;
/// let judgment = brute::check(&Register::new(0), &builder.finish(), &Budget::unlimited());
/// assert!(judgment.verdict.is_rejected());
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::plain(Algorithm::Brute, budget))
}

/// The maximum number of operations of a part. It is limited because each operation is a level of
/// recursion.
const MOST: usize = 2_000;

/// Judges one part.
pub(super) fn search(case: &dyn Case, events: &[Event], meter: &mut Meter) -> Verdict<ResultId> {
    let frame = case.frame();
    let limit = |kind, event| Verdict::Unknown(Limit { kind, event, events: frame.event_count() });
    let end = events.last().map_or(0, |event| frame.position(*event) + 1);
    let operations = prefix(frame, events, end);
    if operations.len() > MOST {
        return limit(LimitKind::Refused("it has too many operations, so not all orders can be tried"), 0);
    }
    let mut definition =
        Definition { machine: case.machine(), frame, operations, order: Vec::new(), meter, charged: 0 };
    match definition.linearizable(0) {
        Ok(true) => return Verdict::Accepted(Witness::one_by_one(definition.order)),
        Ok(false) => {}
        Err(kind) => return limit(kind, 0),
    }
    // Find the first return up to which the history has no linearization.
    let mut longest = Vec::new();
    for event in events.iter().filter(|event| event.kind() == EventKind::Return) {
        let refused = event.op();
        let position = frame.ret(refused).expect("the operation has a return event");
        definition.operations = prefix(frame, events, position + 1);
        definition.order.clear();
        match definition.linearizable(0) {
            Ok(true) => longest.clone_from(&definition.order),
            Ok(false) => {
                return Verdict::Rejected(Evidence {
                    prefix: longest,
                    together: Vec::new(),
                    refused,
                    event: position,
                    open: frame.open_at_return(events, refused),
                    allowed: Vec::new(),
                    all_allowed: false,
                    is_first: true,
                    conflict: Vec::new(),
                    quasi: None,
                });
            }
            Err(kind) => return limit(kind, position),
        }
    }
    unreachable!("the whole history was rejected, so one of its prefixes must be rejected")
}

/// Returns the operations that were called before `until`. The flag of an operation is set if it
/// must take effect, that is, if it returned before `until`.
fn prefix(frame: Frame<'_>, events: &[Event], until: u32) -> Vec<(OpId, bool)> {
    calls(events)
        .filter(|op| frame.call(*op) < until)
        .map(|op| (op, frame.ret(op).is_some_and(|ret| ret < until)))
        .collect()
}

struct Definition<'a> {
    machine: Box<dyn Machine + 'a>,
    frame: Frame<'a>,
    /// The operations that are not linearized yet. The flag of an operation is set if it must take
    /// effect.
    operations: Vec<(OpId, bool)>,
    /// The operations that have been linearized, in their order.
    order: Vec<OpId>,
    meter: &'a mut Meter,
    /// The size of the states, in bytes, as last reported to `meter`.
    charged: usize,
}

impl Definition<'_> {
    /// Returns whether the remaining operations can be linearized from `state`; if so, `order` holds the linearization.
    fn linearizable(&mut self, state: u32) -> Result<bool, LimitKind> {
        self.meter.configuration()?;
        if self.operations.iter().all(|(_, must)| !must) {
            return Ok(true);
        }
        for index in 0..self.operations.len() {
            let (op, must) = self.operations[index];
            if !self.may_be_next(op)? {
                continue;
            }
            for next in self.next(state, op)? {
                self.operations.remove(index);
                self.order.push(op);
                if self.linearizable(next)? {
                    return Ok(true);
                }
                self.order.pop();
                self.operations.insert(index, (op, must));
            }
        }
        Ok(false)
    }

    /// Returns whether no remaining operation precedes `op`.
    fn may_be_next(&mut self, op: OpId) -> Result<bool, LimitKind> {
        self.meter.work(self.operations.len())?;
        Ok(self.operations.iter().all(|(other, _)| !self.frame.precedes(*other, op)))
    }

    /// Returns the states that `op` leads to.
    fn next(&mut self, state: u32, op: OpId) -> Result<SmallVec<[u32; 2]>, LimitKind> {
        let next = self.machine.next(state, op);
        self.meter.grown(&mut self.charged, self.machine.bytes())?;
        Ok(next)
    }
}
