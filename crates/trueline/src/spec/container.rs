//! What containers have in common: an operation puts a value in, takes one out, or looks at one.

use std::hash::Hash;

use super::{Standard, Subject, Taken};

/// A result of an operation on a container, such as a queue, a stack or a bag.
///
/// Each container exports this type under a name of its own: [`QueueRet`](super::QueueRet),
/// [`StackRet`](super::StackRet), [`DequeRet`](super::DequeRet), [`PriorityQueueRet`](super::PriorityQueueRet) and
/// [`BagRet`](super::BagRet).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ContainerRet<V> {
    /// The value was put in.
    Done,
    /// The value that was taken out or looked at; `None` if the container was empty.
    Value(Option<V>),
}

impl<V> ContainerRet<V> {
    /// Whether the operation found the container empty.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Value(None))
    }
}

/// What an operation does to a container.
pub(super) enum Does<'a, V> {
    /// Puts this value in.
    Puts(&'a V),
    /// Takes out the value that is next.
    Takes,
    /// Returns the value that is next, and leaves it there.
    Looks,
}

impl<'a, V: Hash> Does<'a, V> {
    /// See [`Spec::observes`](super::Spec::observes).
    pub(super) fn observes(self, recorded: Option<&ContainerRet<V>>) -> bool {
        match self {
            Self::Puts(_) => false,
            Self::Takes => recorded.is_some_and(ContainerRet::is_empty),
            Self::Looks => true,
        }
    }

    /// The value that the operation puts in or returns: see [`Spec::subject`](super::Spec::subject).
    ///
    /// A container may say so if the value that was next among all is next among those that are left: their order does not
    /// change, and a container that was empty is still empty with less in it.
    pub(super) fn subject(self, recorded: Option<&ContainerRet<V>>) -> Subject {
        match (self, recorded) {
            (Self::Puts(value), _) => Subject::of(value),
            (_, Some(ContainerRet::Value(Some(value)))) => Subject::of(value),
            _ => Subject::Free,
        }
    }

    /// See [`Spec::standard`](super::Spec::standard); the arguments name what putting, taking and looking are there.
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
