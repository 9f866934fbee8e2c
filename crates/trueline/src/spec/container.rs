//! The code that containers share. Each operation on a container adds, removes or reads a value.

use std::hash::Hash;

use super::{Standard, Subject, Taken};

/// A result of an operation on a container, such as a queue, a stack or a bag.
///
/// Each container exports this type under a name of its own: [`QueueRet`](super::QueueRet),
/// [`StackRet`](super::StackRet), [`DequeRet`](super::DequeRet), [`PriorityQueueRet`](super::PriorityQueueRet) and
/// [`BagRet`](super::BagRet).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ContainerRet<V> {
    /// The value was added.
    Done,
    /// The value that was removed or read; `None` if the container was empty.
    Value(Option<V>),
}

impl<V> ContainerRet<V> {
    /// Returns whether the operation found the container empty.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Value(None))
    }
}

/// The effect of an operation on a container.
pub(super) enum Does<'a, V> {
    /// Adds this value.
    Puts(&'a V),
    /// Removes the next value.
    Takes,
    /// Reads the next value, and leaves it in the container.
    Looks,
}

impl<'a, V: Hash> Does<'a, V> {
    /// Implements [`Spec::observes`](super::Spec::observes).
    pub(super) fn observes(self, recorded: Option<&ContainerRet<V>>) -> bool {
        match self {
            Self::Puts(_) => false,
            Self::Takes => recorded.is_some_and(ContainerRet::is_empty),
            Self::Looks => true,
        }
    }

    /// Implements [`Spec::subject`](super::Spec::subject): the subject is the value that the operation adds or returns.
    ///
    /// This is correct for a container in which removing values does not change the order of the
    /// others: if the next value is not removed, it is still the next, and an empty container is
    /// still empty.
    pub(super) fn subject(self, recorded: Option<&ContainerRet<V>>) -> Subject {
        match (self, recorded) {
            (Self::Puts(value), _) => Subject::of(value),
            (_, Some(ContainerRet::Value(Some(value)))) => Subject::of(value),
            _ => Subject::Free,
        }
    }

    /// Implements [`Spec::standard`](super::Spec::standard). The functions `puts`, `takes` and
    /// `looks` construct the standard operations that add, remove and read a value.
    pub(super) fn standard(
        self,
        recorded: Option<&'a ContainerRet<V>>,
        puts: impl FnOnce(&'a V) -> Standard<&'a V>,
        takes: impl FnOnce(Taken<&'a V>) -> Standard<&'a V>,
        looks: impl FnOnce(Taken<&'a V>) -> Standard<&'a V>,
    ) -> Option<Standard<&'a V>> {
        let (is_done, found) = match recorded {
            None => (true, Some(Taken::Unknown)),
            Some(ContainerRet::Done) => (true, None),
            Some(ContainerRet::Value(value)) => (false, Some(Taken::from_result(Some(value)))),
        };
        match self {
            Self::Puts(value) => is_done.then(|| puts(value)),
            Self::Takes => found.map(takes),
            Self::Looks => found.map(looks),
        }
    }
}
