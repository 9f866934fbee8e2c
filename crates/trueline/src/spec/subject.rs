//! What an operation is about.

use std::hash::{DefaultHasher, Hash, Hasher};

/// What an operation is about: which operations may be left out of a history together.
///
/// See [`Spec::subject`](super::Spec::subject).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One value, key or the like, known by this number. Where two should have the same number by chance, they are left
    /// out together, which does no harm.
    One(u64),
    /// Several, of which some can be taken from it: [`Spec::restrict`](super::Spec::restrict) says what is left.
    Several,
    /// None: it stays legal whatever else is left out.
    Free,
    /// All of them: nothing else can be left out.
    All,
}

impl Subject {
    /// This value, key or the like: equal ones are one subject.
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
