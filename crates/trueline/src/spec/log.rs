//! An append-only log.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use smallvec::smallvec;

use super::persistent::Chain;
use super::{Outcomes, Spec, Subject, blocked, outcome};

/// An append-only log of values `V`, initially empty.
///
/// | operation | result | leaves the state unchanged |
/// |---|---|---|
/// | `Append(v)` | `Index`, the number of values before `v`; `Done` if the log does not return this number | never |
/// | `Read` | `Values`, all values, the oldest first | always |
/// | `Size` | `Size`, the number of values | always |
///
/// Because a log only grows, the values that a later read returns start with the current values,
/// and later indices and sizes are at least the current size.
///
/// Some logs return the index of an appended value and some do not, so both results of an append
/// are legal. The result of a read depends on all values, so there are no keys. The values that a
/// read returned are a [`Chain`], whose hash is compared first. A new state allocates at most one
/// list node; see [`Chain::heap_size`].
///
/// ```
/// use trueline::spec::{Log, LogOp, LogRet, Spec};
///
/// let log = Log::new();
/// let state = log.step(&log.initial(), &LogOp::Append('a'), Some(&LogRet::Index(0))).remove(0).1;
/// let state = log.step(&state, &LogOp::Append('b'), Some(&LogRet::Done)).remove(0).1;
/// let read = LogRet::Values(['a', 'b'].into_iter().collect());
/// assert_eq!(log.step(&state, &LogOp::Read, None)[0].0, read);
/// assert!(log.step(&state, &LogOp::Append('c'), Some(&LogRet::Index(1))).is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Log<V>(PhantomData<fn() -> V>);

without_parameters!(Log<V>, "Creates the specification of a log that is initially empty.");

/// An operation of a [`Log`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LogOp<V> {
    /// Adds a value at the end.
    Append(V),
    /// Returns all values.
    Read,
    /// Returns the number of values.
    Size,
}

/// A result of a [`LogOp`].
#[derive(Clone, Hash, Debug)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "like the derived implementation, but without its bound")]
pub enum LogRet<V> {
    /// An append took place.
    Done,
    /// An append took place when the log had this many values.
    Index(usize),
    /// The values that a read returned.
    Values(Chain<V>),
    /// The number of values.
    Size(usize),
}

// Implemented by hand, because comparing chains requires `V: Eq`.
impl<V: Eq> PartialEq for LogRet<V> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Done, Self::Done) => true,
            (Self::Index(left), Self::Index(right)) | (Self::Size(left), Self::Size(right)) => left == right,
            (Self::Values(left), Self::Values(right)) => left == right,
            (Self::Done | Self::Index(_) | Self::Values(_) | Self::Size(_), _) => false,
        }
    }
}

impl<V: Eq> Eq for LogRet<V> {}

impl<V: Clone + Eq + Hash + Debug + Send + Sync> Spec for Log<V> {
    type Op = LogOp<V>;
    type Ret = LogRet<V>;
    type State = Chain<V>;
    type Key = ();
    type Value = ();

    fn initial(&self) -> Chain<V> {
        Chain::new()
    }

    fn step(&self, state: &Chain<V>, op: &LogOp<V>, recorded: Option<&LogRet<V>>) -> Outcomes<LogRet<V>, Chain<V>> {
        match (op, recorded) {
            (LogOp::Append(value), None) => {
                let next = state.push_newest(value.clone());
                smallvec![(LogRet::Index(state.len()), next.clone()), (LogRet::Done, next)]
            }
            (LogOp::Append(value), Some(LogRet::Done)) => outcome(LogRet::Done, state.push_newest(value.clone())),
            (LogOp::Append(value), Some(LogRet::Index(index))) if *index == state.len() => {
                outcome(LogRet::Index(*index), state.push_newest(value.clone()))
            }
            (LogOp::Read, None) => outcome(LogRet::Values(state.clone()), state.clone()),
            (LogOp::Read, Some(LogRet::Values(values))) if values == state => {
                outcome(LogRet::Values(values.clone()), state.clone())
            }
            (LogOp::Size, None) => outcome(LogRet::Size(state.len()), state.clone()),
            (LogOp::Size, Some(LogRet::Size(size))) if *size == state.len() => {
                outcome(LogRet::Size(*size), state.clone())
            }
            (LogOp::Append(_) | LogOp::Read | LogOp::Size, Some(_)) => blocked(),
        }
    }

    fn subject(&self, op: &LogOp<V>, recorded: Option<&LogRet<V>>) -> Subject {
        match (op, recorded) {
            (LogOp::Append(value), _) => Subject::of(value),
            (LogOp::Read, Some(LogRet::Values(_))) => Subject::Several,
            (LogOp::Size, Some(LogRet::Size(0))) | (LogOp::Read, _) => Subject::Free,
            (LogOp::Size, _) => Subject::All,
        }
    }

    fn restrict(
        &self,
        op: &LogOp<V>,
        recorded: Option<&LogRet<V>>,
        gone: &dyn Fn(Subject) -> bool,
    ) -> Option<(LogOp<V>, Option<LogRet<V>>)> {
        match (op, recorded) {
            // The index of the appended value changes if other values are removed, so forget the
            // index.
            (LogOp::Append(_), Some(LogRet::Index(_))) => Some((op.clone(), Some(LogRet::Done))),
            (LogOp::Read, Some(LogRet::Values(values))) => {
                // A chain iterates from the newest value.
                let left: Vec<&V> = values.iter().filter(|value| !gone(Subject::of(*value))).collect();
                Some((op.clone(), Some(LogRet::Values(left.into_iter().rev().cloned().collect()))))
            }
            _ => Some((op.clone(), recorded.cloned())),
        }
    }

    fn leads_to(&self, op: &LogOp<V>, recorded: &LogRet<V>) -> Option<Chain<V>> {
        match (op, recorded) {
            (LogOp::Read, LogRet::Values(values)) => Some(values.clone()),
            (LogOp::Size, LogRet::Size(0)) => Some(Chain::new()),
            _ => None,
        }
    }

    fn observes(&self, op: &LogOp<V>, _recorded: Option<&LogRet<V>>) -> bool {
        match op {
            LogOp::Append(_) => false,
            LogOp::Read | LogOp::Size => true,
        }
    }

    fn is_goal(&self, _op: &LogOp<V>, result: &LogRet<V>) -> bool {
        !matches!(result, LogRet::Done)
    }

    /// Returns whether appends may lead to the goal. A log only grows, so a goal is out of reach if
    /// its result belongs to a shorter log, or to a log that starts with other values.
    fn reaches(&self, state: &Chain<V>, _goal: &LogOp<V>, result: &LogRet<V>) -> bool {
        match result {
            LogRet::Done => true,
            LogRet::Index(length) | LogRet::Size(length) => state.len() <= *length,
            LogRet::Values(values) => values.may_start_with(state),
        }
    }

    fn heap_size(&self, state: &Chain<V>) -> usize {
        state.heap_size()
    }
}

#[cfg(test)]
mod tests {
    use super::LogOp::{Append, Read, Size};
    use super::LogRet::{Done, Index, Values};
    use super::*;
    use crate::spec::laws;

    fn read<const N: usize>(values: [u8; N]) -> (LogOp<u8>, LogRet<u8>) {
        (Read, Values(values.into_iter().collect()))
    }

    #[test]
    fn keeps_the_laws() {
        // Append only one value. Then there is exactly one log of each length, so `results` can
        // contain every possible result.
        let operations = [Append(0), Read, Size];
        let mut results: Vec<_> = (0..=40).flat_map(|length| [Index(length), LogRet::Size(length)]).collect();
        results.extend((0..=40).map(|length| Values((0..length).map(|_| 0).collect())));
        results.push(Done);
        laws::check(&Log::new(), &operations, &results, 1);
        laws::check_observers_are_known(&Log::new(), &operations, |_, _| false, 2);
    }

    #[test]
    fn keeps_everything_in_order() {
        let appends = vec![read([]), (Append(1), Index(0)), (Append(2), Done), (Append(3), Index(2))];
        let legal = |more: &[(LogOp<u8>, LogRet<u8>)]| laws::is_legal(&Log::new(), &[&appends, more].concat());
        assert!(legal(&[read([1, 2, 3]), (Size, LogRet::Size(3))]));
        assert!(!legal(&[read([1, 3, 2])]));
        assert!(!legal(&[read([1, 2])]));
        assert!(!legal(&[(Append(4), Index(2))]));
        assert!(!legal(&[(Size, Done)]));
    }
}
