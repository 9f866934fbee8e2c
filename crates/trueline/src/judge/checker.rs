//! Support for algorithms of your own. The trait [`Checker`] makes an algorithm available to
//! [`check`](super::check), to competitions, and to comparisons with the oracle.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

use super::erased::{Case, Machine};
use super::frame::{Frame, calls};
use super::search::Meter;
use super::search::automaton::ResultId;
use crate::history::{Event, EventKind, OpId};
use crate::verdict::{Evidence, Limit, LimitKind, Verdict, Witness};

/// An algorithm of your own that decides whether a history is linearizable.
///
/// [`Algorithm::own`](super::Algorithm::own) turns a checker into an
/// [`Algorithm`](super::Algorithm), which can be used like the built-in algorithms: in a
/// [`Config`](super::Config), in a test, or as a competitor of
/// [`Algorithm::Compete`](super::Algorithm::Compete). trueline divides the history into parts, runs
/// the algorithm on each part, and replays the linearizations that the algorithm returns. If the
/// algorithm rejects a part, trueline runs it on prefixes of this part, to find the first event at
/// which the part fails.
///
/// To test an algorithm, compare its verdicts with those of [`brute::check`](super::brute::check) on small histories.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::judge::{Algorithm, Checker, CheckerInput, Config, check};
/// use trueline::spec::{Register, RegisterOp, RegisterRet};
/// use trueline::verdict::LimitKind;
///
/// /// Tries all orders.
/// #[derive(Debug)]
/// struct Naive;
///
/// impl Checker for Naive {
///     fn name(&self) -> &str {
///         "naive"
///     }
///
///     fn linearize(&self, input: &mut CheckerInput<'_>) -> Result<Option<Vec<OpId>>, LimitKind> {
///         let mut order = Vec::new();
///         let rest = input.operations().to_vec();
///         Ok(extend(input, CheckerInput::INITIAL, &mut order, &rest)?.then_some(order))
///     }
/// }
///
/// fn extend(
///     input: &mut CheckerInput<'_>,
///     state: u32,
///     order: &mut Vec<OpId>,
///     rest: &[OpId],
/// ) -> Result<bool, LimitKind> {
///     if rest.iter().all(|op| input.ret(*op).is_none()) {
///         return Ok(true); // operations that did not return need not have taken effect
///     }
///     for &op in rest {
///         if rest.iter().any(|other| input.precedes(*other, op)) {
///             continue;
///         }
///         for next in input.step(state, op)? {
///             order.push(op);
///             let others: Vec<OpId> = rest.iter().copied().filter(|other| *other != op).collect();
///             if extend(input, next, order, &others)? {
///                 return Ok(true);
///             }
///             order.pop();
///         }
///     }
///     Ok(false)
/// }
///
/// let mut builder = History::builder();
/// builder.call(0, RegisterOp::Write(1))?;
/// builder.ret(0, RegisterRet::Done)?;
/// builder.call(1, RegisterOp::Read)?;
/// builder.ret(1, RegisterRet::Value(0))?;
/// let config = Config::new().algorithm(Algorithm::own(Naive));
/// let judgment = check(&Register::new(0), &builder.finish(), &config);
/// assert_eq!(judgment.stats.algorithm, "naive");
/// assert_eq!(judgment.verdict.evidence().unwrap().refused, OpId(1));
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub trait Checker: fmt::Debug + Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Returns the name of the algorithm, for reports.
    fn name(&self) -> &str;

    /// Returns a linearization: the operations in an order in which they may have taken effect. Returns `None` if there
    /// is no linearization.
    ///
    /// A linearization contains every operation that [returned](CheckerInput::ret), and may contain
    /// some of the other operations. If one operation [precedes](CheckerInput::precedes) another, it
    /// also comes before the other one in the linearization. The specification must
    /// [allow](CheckerInput::step) the operations in this order.
    ///
    /// # Errors
    /// Returns the limit that ended the search, as [`CheckerInput::step`] returned it, or [`LimitKind::Refused`] if the
    /// algorithm cannot judge this history.
    fn linearize(&self, input: &mut CheckerInput<'_>) -> Result<Option<Vec<OpId>>, LimitKind>;
}

/// The operations that a [`Checker`] has to order, and the states of their specification.
pub struct CheckerInput<'c> {
    frame: Frame<'c>,
    /// Events at or after this position are ignored.
    until: u32,
    operations: Vec<OpId>,
    machine: Box<dyn Machine + 'c>,
    meter: &'c mut Meter,
    /// The size of the states, in bytes, as last reported to `meter`.
    charged: usize,
}

impl fmt::Debug for CheckerInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckerInput").field("operations", &self.operations).finish_non_exhaustive()
    }
}

impl<'c> CheckerInput<'c> {
    /// The number of the initial state.
    pub const INITIAL: u32 = 0;

    fn new(case: &'c dyn Case, events: &[Event], until: u32, meter: &'c mut Meter) -> Self {
        let frame = case.frame();
        let operations = calls(events).filter(|op| frame.call(*op) < until).collect();
        Self { frame, until, operations, machine: case.machine(), meter, charged: 0 }
    }

    /// Returns the operations, in the order of their calls.
    pub fn operations(&self) -> &[OpId] {
        &self.operations
    }

    /// Returns the position of the operation's call in the order of events.
    pub fn call(&self, op: OpId) -> u32 {
        self.frame.call(op)
    }

    /// Returns the position of the operation's return in the order of events. Returns `None` if the
    /// operation did not return. Such an operation may or may not have taken effect.
    pub fn ret(&self, op: OpId) -> Option<u32> {
        self.frame.ret(op).filter(|ret| *ret < self.until)
    }

    /// Returns whether `first` returned before `second` was called.
    pub fn precedes(&self, first: OpId, second: OpId) -> bool {
        self.frame.precedes(first, second)
    }

    /// Returns the states that the operation leads to from `state`. If the operation has a recorded
    /// result, only outcomes with this result are considered. The list is empty if the
    /// specification does not allow the operation in this state.
    ///
    /// States are numbers; equal numbers are equal states.
    ///
    /// # Errors
    /// Returns an error if the limits of the [`Budget`](super::Budget) are reached. Each call counts as a
    /// configuration.
    pub fn step(&mut self, state: u32, op: OpId) -> Result<Vec<u32>, LimitKind> {
        self.meter.configuration()?;
        let next = self.machine.next(state, op);
        self.meter.grown(&mut self.charged, self.machine.bytes())?;
        Ok(next.into_vec())
    }
}

/// A [`Checker`] as a part of an [`Algorithm`](super::Algorithm). Two values are equal if they are clones of each
/// other.
#[derive(Clone)]
pub struct OwnChecker(Arc<dyn Checker>);

impl OwnChecker {
    pub(super) fn new(checker: impl Checker + 'static) -> Self {
        Self(Arc::new(checker))
    }

    pub(super) fn name(&self) -> &str {
        self.0.name()
    }

    /// Judges one part.
    pub(super) fn search(&self, case: &dyn Case, events: &[Event], meter: &mut Meter) -> Verdict<ResultId> {
        let frame = case.frame();
        let mut linearize = |until| self.0.linearize(&mut CheckerInput::new(case, events, until, meter));
        match linearize(u32::MAX) {
            Ok(Some(order)) => return Verdict::Accepted(Witness::one_by_one(order)),
            Ok(None) => {}
            Err(kind) => return Verdict::Unknown(Limit::new(kind, 0, frame.event_count())),
        }
        // Every prefix of a linearizable history is linearizable, so the first failing return is found by bisection.
        let returns: Vec<OpId> =
            events.iter().filter(|event| event.kind() == EventKind::Return).map(|event| event.op()).collect();
        assert!(
            !returns.is_empty(),
            "{} rejected a history in which no operation returned, but such a history is always linearizable",
            self.name()
        );
        let position = |at: usize| frame.ret(returns[at]).expect("the operation has a return event");
        // The prefix up to return number `good` is linearizable, and the prefix up to return number
        // `bad` is not. Returns are counted from 1.
        let (mut good, mut bad) = (0, returns.len());
        let (mut prefix, mut is_first) = (Vec::new(), true);
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            match linearize(position(middle - 1) + 1) {
                Ok(Some(order)) => (good, prefix) = (middle, order),
                Ok(None) => bad = middle,
                Err(_) => {
                    is_first = false;
                    break;
                }
            }
        }
        let refused = returns[bad - 1];
        let open = frame.open_at_return(events, refused);
        Verdict::Rejected(Evidence { prefix, open, is_first, ..Evidence::at(refused, position(bad - 1)) })
    }
}

impl fmt::Debug for OwnChecker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for OwnChecker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OwnChecker {}

impl Hash for OwnChecker {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}
