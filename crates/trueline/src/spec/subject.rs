//! The subjects of operations.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The subject of an operation: operations with the same subject may be removed from a history together.
///
/// See [`Spec::subject`](super::Spec::subject).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One subject (a value, a key or the like), identified by this number. If two subjects have
    /// the same number by chance, they are removed together, which is harmless.
    One(u64),
    /// Several subjects, some of which can be removed from the operation: [`Spec::restrict`](super::Spec::restrict)
    /// returns the rest.
    Several,
    /// No subject: the operation stays legal no matter what else is removed.
    Free,
    /// All subjects: the operation may become illegal if any other operation is removed.
    All,
}

impl Subject {
    /// Returns the subject for a value, a key or the like. Equal values have the same subject.
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
