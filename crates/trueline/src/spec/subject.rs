//! The subjects of operations.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The subject of an operation: operations with the same subject may be removed from a history together.
///
/// See [`Spec::subject`](super::Spec::subject).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One value, key or the like, identified by this number. If two of them have the same number by chance, they are
    /// removed together, which does no harm.
    One(u64),
    /// Several subjects, some of which can be removed from the operation: [`Spec::restrict`](super::Spec::restrict)
    /// returns the rest.
    Several,
    /// No subject: the operation stays legal whatever else is removed.
    Free,
    /// All subjects: no other operation can be removed.
    All,
}

impl Subject {
    /// Returns the subject of this value, key or the like. Equal ones are the same subject.
    ///
    /// ```
    /// use trueline::spec::Subject;
    ///
    /// assert_eq!(Subject::of("key"), Subject::of("key"));
    /// assert_ne!(Subject::of("key"), Subject::of("other"));
    /// ```
    pub fn of<T: Hash + ?Sized>(value: &T) -> Self {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        Self::One(hasher.finish())
    }
}
