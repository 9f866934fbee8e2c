//! Monitors: near-linear algorithms, each of which judges one type of object. Most monitors find
//! the answer without a search.
//!
//! A monitor reads [`Standard`] operations with their intervals. Each monitor checks its conditions in code: a history
//! that does not satisfy them is [refused](crate::verdict::LimitKind::Refused), not misjudged.

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

use super::{Algorithm, Budget, Config};
use crate::history::History;
use crate::spec::{Spec, Standard, Taken};
use crate::verdict::Judgment;

/// Judges a history with the monitor of its type; partitions the history first if the specification has keys.
///
/// The verdict on a history that the monitor cannot judge is [unknown](crate::verdict::LimitKind::Refused), with the
/// reason.
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
/// let judgment = monitor::check(&Stack::new(), &builder.finish(), &Budget::unlimited());
///
/// let evidence = judgment.verdict.evidence().expect("not a stack");
/// assert_eq!(evidence.conflict.len(), 3);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
///
/// # Complexity
/// The complexity depends on the monitor, and its source file states it: O(n), O(n log k) or
/// O(n log n) for n operations with at most k open at once, and exponential in the worst case for
/// queues with repeated values.
pub fn check<S: Spec>(spec: &S, history: &History<S::Op, S::Ret>, budget: &Budget) -> Judgment<S::Ret> {
    super::check(spec, history, &Config::new().algorithm(Algorithm::Monitor).budget(budget.clone()))
}

/// A value of a history. Values are numbered from 0 in the order of their first occurrences. If
/// values are ordered, `Input::rank` holds the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ValueId(pub(crate) u32);

impl ValueId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Stands for the return position of an operation that never returned.
pub(crate) const NEVER: u32 = u32::MAX;

/// An operation in the form that monitors read.
///
/// `call` and `ret` are distinct positions of events in `0..Input::events`. If the operation never
/// returned, `ret` is [`NEVER`], and the operation need not have taken effect. Its result may still
/// be known, for example if the history was cut off before the return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) what: Standard<ValueId>,
    pub(crate) call: u32,
    pub(crate) ret: u32,
}

impl Span {
    /// Returns whether the operation leaves the object unchanged.
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

/// The operations of one part of a history, in the order of their calls. Operations that leave the
/// object unchanged are omitted if they never returned.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) spans: Vec<Span>,
    /// The number of events; their positions are `0..events`.
    pub(crate) events: u32,
    /// The number of distinct values.
    pub(crate) values: u32,
    /// The initial value, if the object holds a single value, as a register does.
    pub(crate) initial: Option<ValueId>,
    /// The rank of each value in the order of priority: values of equal priority have equal ranks.
    /// Empty if the order of values does not matter.
    pub(crate) rank: Vec<u32>,
}

/// The answer of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The history is linearizable. Holds a linearization, which contains every operation that
    /// returned, as indices into `Input::spans`.
    Accepted(Vec<u32>),
    /// The history is not linearizable. Holds operations that conflict, as indices into
    /// `Input::spans`. They may be linearizable by themselves: the documentation of each monitor
    /// states which other operations must be kept with them.
    Rejected(Vec<u32>),
    /// The monitor cannot judge this history, for the given reason.
    Refused(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Random, Simulation, simulate};

    /// Returns spans that do not overlap, except that some never return.
    pub(super) fn spans(whats: &[(Standard<ValueId>, bool)]) -> Input {
        let spans = (0..).zip(whats).map(|(index, &(what, returns))| {
            let call = 2 * index;
            Span { what, call, ret: if returns { call + 1 } else { NEVER } }
        });
        let spans: Vec<Span> = spans.collect();
        let events = 2 * u32::try_from(spans.len()).expect("a test has few spans");
        Input { spans, events, values: 4, initial: None, rank: Vec::new() }
    }

    /// Returns a history of a container, and the input of its monitor. All values are distinct. The
    /// results of some pairs of operations are swapped, so the history may not be linearizable.
    pub(super) fn container<S: Spec<Value = u32>>(
        spec: &S,
        operations: u32,
        random: &mut Random,
        call: impl Fn(Option<u32>) -> S::Op,
        is_possible: impl Fn(&S::Ret) -> bool,
    ) -> (History<S::Op, S::Ret>, Input) {
        let shape = Simulation { processes: 2 + random.below(3), operations, crashes: 0, busy: false };
        let (mut values, mut state) = (0, spec.initial());
        let mut add = |random: &mut Random| {
            values += 1;
            random.chance(1, 2).then_some(values - 1)
        };
        let history = simulate(
            &shape,
            random,
            |random, _| call(add(random)),
            |_, op| {
                let (result, next) = spec.step(&state, op, None).into_iter().find(|(result, _)| is_possible(result))?;
                state = next;
                Some(result)
            },
        );
        let mut outcomes: Vec<_> = history.operations().iter().map(|operation| operation.outcome.clone()).collect();
        for _ in 0..random.below(16) {
            let first = random.below(operations) as usize;
            let second = first + 1 + random.below(6) as usize;
            let kind = |at: usize| {
                let operation = history.operations().get(at).filter(|operation| operation.return_position().is_some());
                operation.map(|operation| std::mem::discriminant(&operation.op))
            };
            if kind(first).is_some() && kind(first) == kind(second) {
                outcomes.swap(first, second);
            }
        }
        let mut outcomes = outcomes.into_iter();
        let history = history.map(|operation| (operation.op.clone(), outcomes.next().expect("one outcome for each")));
        let spans = history.operations().iter().map(|operation| {
            let what = spec.standard(&operation.op, operation.outcome.result()).expect("each op is standard");
            let ret = operation.return_position().unwrap_or(NEVER);
            Span { what: what.map(|value| ValueId(*value)), call: operation.call_position(), ret }
        });
        let spans = spans.collect();
        let events = u32::try_from(history.events().len()).expect("a test has few events");
        (history, Input { spans, events, values: operations, initial: None, rank: Vec::new() })
    }

    #[test]
    fn what_is_outside_the_conditions_is_refused() {
        use Standard::{Acquire, Exchange, FetchIncrement, Increment, Lock, LockShared, Read, Replace, Unlock, Write};
        let refuses = |answer| assert!(matches!(answer, Answer::Refused(_)), "{answer:?}");
        let value = ValueId;
        let from_0 = |whats: &[_]| Input { initial: Some(value(0)), ..spans(whats) };
        refuses(register::judge(&spans(&[(Write(value(1)), true)])));
        refuses(register::judge(&from_0(&[(Write(value(0)), true)])));
        refuses(register::judge(&from_0(&[(Write(value(1)), true), (Write(value(1)), false)])));
        refuses(register::judge(&from_0(&[(Exchange { old: Some(value(0)), new: value(1) }, true)])));
        let unknown = (Exchange { old: None, new: value(1) }, false);
        refuses(exchange::judge(&from_0(&[unknown, (Read(value(1)), true)])));
        assert_eq!(exchange::judge(&from_0(&[unknown, (Read(value(0)), true)])), Answer::Accepted(vec![1]));
        let insert = |new| (Replace { old: Some(None), new: Some(value(new)) }, true);
        let remove = (Replace { old: None, new: None }, false);
        refuses(map_key::judge(&spans(&[insert(0), insert(1), remove])));
        assert!(matches!(map_key::judge(&spans(&[insert(0), remove, insert(1)])), Answer::Refused(_)));
        assert_eq!(map_key::judge(&spans(&[remove, insert(0)])), Answer::Accepted(vec![1, 0]));
        refuses(flip::judge(&spans(&[(Increment, true)])));
        refuses(counter::judge(&spans(&[(Acquire, true)])));
        refuses(fetch_increment::judge(&spans(&[(Increment, true)])));
        refuses(fetch_increment::judge(&spans(&[(FetchIncrement(None), false), (FetchIncrement(Some(1)), false)])));
        refuses(lock::judge(&spans(&[(Lock { by: Some(1) }, true), (Unlock { by: None }, true)])));
        refuses(lock::judge(&spans(&[(Lock { by: Some(1) }, false), (Unlock { by: Some(1) }, true)])));
        refuses(shared_lock::judge(&spans(&[(LockShared { by: None }, true)])));
        refuses(shared_lock::judge(&spans(&[(LockShared { by: Some(1) }, true), (LockShared { by: Some(1) }, true)])));
        refuses(semaphore::judge(&spans(&[(Increment, true)]), 1));
    }
}
