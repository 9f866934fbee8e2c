//! Near-linear monitors: for one type each, they decide without searching.
//!
//! A monitor reads [`Standard`] operations with their intervals. Each states its conditions as code: a history outside
//! them is [refused](crate::verdict::LimitKind::Refused), not misjudged.

mod bag;
mod chains;
mod container;
mod counter;
mod exchange;
pub(super) mod family;
mod fetch_increment;
mod flip;
pub(super) mod locate;
mod lock;
pub(super) mod lockstep;
mod map_key;
mod owners;
pub(super) mod part;
mod place;
mod priority_queue;
mod queue;
pub(super) mod read;
mod register;
mod semaphore;
mod shared_lock;
mod stack;
mod zones;

#[cfg(test)]
mod container_oracle;
#[cfg(test)]
mod oracle_b;

use super::{Algorithm, Budget, Config};
use crate::history::History;
use crate::spec::{Spec, Standard, Taken};
use crate::verdict::Judgement;

/// Judges a history by the monitor of its type, by partition where the specification has keys.
///
/// What the monitor cannot judge is [unknown](crate::verdict::LimitKind::Refused), with the reason.
///
/// ```
/// use trueline::history::History;
/// use trueline::judge::{Budget, monitor};
/// use trueline::spec::{Stack, StackOp, StackRet};
///
/// let mut builder = History::builder();
/// for value in [1, 2] {
///     builder.call(0, StackOp::Push(value))?;
///     builder.ret(0, StackRet::Done)?;
/// }
/// builder.call(1, StackOp::Pop)?;
/// builder.ret(1, StackRet::Value(Some(1)))?; // but 2 is on top
/// let judgement = monitor::check(&Stack::new(), &builder.finish(), &Budget::unlimited());
///
/// let evidence = judgement.verdict.evidence().expect("not a stack");
/// assert_eq!(evidence.conflict.len(), 3);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Complexity
/// That of the monitor, see its file: O(n), O(n log k) or O(n log n) for n operations of which k overlap; exponential in
/// the worst case for queues with repeated values.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgement<S::Ret> {
    super::check(spec, history, &Config::new().algorithm(Algorithm::Monitor).budget(budget.clone()))
}

/// A value of a history, numbered from 0 by first occurrence; where values are ordered, `Input::rank` has the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ValueId(pub(crate) u32);

impl ValueId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The return position of an operation that never returned.
pub(crate) const NEVER: u32 = u32::MAX;

/// One operation, as a monitor sees it.
///
/// `call` and `ret` are positions of events in `0..Input::events`, no two alike; `ret` is [`NEVER`] if it never
/// returned, in which case it need not have taken effect. Its result may still be known (`Taken::Value` and the like:
/// a history that was cut off) or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) what: Standard<ValueId>,
    pub(crate) call: u32,
    pub(crate) ret: u32,
}

impl Span {
    /// Whether it leaves the object as it is.
    fn observes(&self) -> bool {
        match self.what {
            Standard::Read(_)
            | Standard::Count(_)
            | Standard::Sees(_)
            | Standard::Get(_)
            | Standard::Front(_)
            | Standard::Top(_)
            | Standard::Min(_)
            | Standard::LockFailed => true,
            Standard::Exchange { old, new } => old == Some(new),
            Standard::Replace { old, new } => old == Some(new),
            Standard::Dequeue(taken) | Standard::Pop(taken) | Standard::DeleteMin(taken) | Standard::Take(taken) => {
                taken == Taken::Nothing
            }
            _ => false,
        }
    }
}

/// The operations of one part, in the order of their calls. Never-returning observers are not among them.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) spans: Vec<Span>,
    /// The number of positions.
    pub(crate) events: u32,
    /// The number of distinct values.
    pub(crate) values: u32,
    /// The value that the object holds at the start, if it is one that holds a value (registers).
    pub(crate) initial: Option<ValueId>,
    /// By value: its place in the order of values, equal for values of equal priority; empty where that does not matter.
    pub(crate) rank: Vec<u32>,
}

/// What a monitor says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Linearizable: here is an order, by index in `Input::spans`. It has every operation that returned.
    Accepted(Vec<u32>),
    /// Not linearizable: these few operations conflict, by index in `Input::spans`. They are not linearizable even
    /// alone, if the others of the same values are left out with them (`judge/monitor`'s own words for each say how).
    Rejected(Vec<u32>),
    /// Outside of what this monitor can judge; and why.
    Refused(&'static str),
}
