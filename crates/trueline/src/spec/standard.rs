//! Standard operations: the operations of common objects, which the near-linear monitors can judge.

use std::cmp::Ordering;

/// A standard operation: the meaning of an operation of a user's own type, whatever its name in
/// that type. Histories of standard operations can be judged by the near-linear monitors.
///
/// The operations of one history, or of one key in it, must all belong to the same family (such as queue or set); other
/// histories are judged by search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standard<V> {
    /// Register: a read that returned this value.
    Read(V),
    /// Register: a blind write of this value.
    Write(V),
    /// Register: a read-modify-write (swap, successful compare-and-swap) that read `old` and wrote `new`. `old` is
    /// `None` if the operation never returned.
    Exchange {
        /// The value that the operation read.
        old: Option<V>,
        /// The value that the operation wrote.
        new: V,
    },
    /// Counter that starts at 0: adds one, and returns the old count. `None` if the operation never
    /// returned.
    FetchIncrement(Option<i64>),
    /// Counter that starts at 0: adds one, without a result.
    Increment,
    /// Counter that starts at 0: a read that returned this number.
    Count(i64),
    /// One key of a set: the operation changed the key from absent to present (`true`), or from present to absent
    /// (`false`).
    Flip(bool),
    /// One key of a set: the operation observed that the key was present (`true`) or absent (`false`).
    Sees(bool),
    /// One key of a map: the operation replaced `old` by `new`, where an inner `None` means absent. The outer `None` of
    /// `old` means that the operation did not return the old value, or never returned.
    Replace {
        /// The value that the operation replaced.
        old: Option<Option<V>>,
        /// The value that the operation wrote.
        new: Option<V>,
    },
    /// One key of a map: a read that returned this value; `None` if the key was absent.
    Get(Option<V>),
    /// Queue: adds a value at the end.
    Enqueue(V),
    /// Queue: removes the first value.
    Dequeue(Taken<V>),
    /// Queue: reads the first value.
    Front(Taken<V>),
    /// Stack: adds a value on top.
    Push(V),
    /// Stack: removes the top value.
    Pop(Taken<V>),
    /// Stack: reads the top value.
    Top(Taken<V>),
    /// Priority queue: adds a value.
    Insert(V),
    /// Priority queue: removes the least value.
    DeleteMin(Taken<V>),
    /// Priority queue: reads the least value.
    Min(Taken<V>),
    /// Bag: adds a value.
    Put(V),
    /// Bag: removes any value.
    Take(Taken<V>),
    /// Lock: acquires the lock; for a read-write lock, for writing.
    Lock {
        /// The owner; `None` if owners are ignored.
        by: Option<u32>,
    },
    /// Lock: releases the lock; for a read-write lock, after writing.
    Unlock {
        /// The owner; `None` if owners are ignored.
        by: Option<u32>,
    },
    /// Lock: an attempt that failed because the lock was held.
    LockFailed,
    /// Read-write lock: acquires the lock for reading.
    LockShared {
        /// The owner; `None` if owners are ignored.
        by: Option<u32>,
    },
    /// Read-write lock: releases the lock after reading.
    UnlockShared {
        /// The owner; `None` if owners are ignored.
        by: Option<u32>,
    },
    /// Semaphore: took a permit.
    Acquire,
    /// Semaphore: returned a permit.
    Release,
}

/// The result of an operation that removes or reads a value of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken<V> {
    /// The operation removed or read this value.
    Value(V),
    /// No value: the container was empty.
    Nothing,
    /// Unknown: the operation never returned.
    Unknown,
}

/// The initial contents of a [`Standard`] object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initial<V> {
    /// A container, a set or a map is empty, a lock is free, a counter is 0.
    Nothing,
    /// The initial value of a register.
    Value(V),
    /// The initial number of permits of a semaphore.
    Permits(u64),
}

impl<V> Standard<V> {
    /// Returns the same operation with its values mapped.
    pub fn map<W>(self, mut value: impl FnMut(V) -> W) -> Standard<W> {
        match self {
            Self::Read(seen) => Standard::Read(value(seen)),
            Self::Write(new) => Standard::Write(value(new)),
            Self::Exchange { old, new } => Standard::Exchange { old: old.map(&mut value), new: value(new) },
            Self::FetchIncrement(found) => Standard::FetchIncrement(found),
            Self::Increment => Standard::Increment,
            Self::Count(seen) => Standard::Count(seen),
            Self::Flip(to) => Standard::Flip(to),
            Self::Sees(state) => Standard::Sees(state),
            Self::Replace { old, new } => {
                Standard::Replace { old: old.map(|old| old.map(&mut value)), new: new.map(value) }
            }
            Self::Get(found) => Standard::Get(found.map(value)),
            Self::Enqueue(new) => Standard::Enqueue(value(new)),
            Self::Dequeue(taken) => Standard::Dequeue(taken.map(value)),
            Self::Front(taken) => Standard::Front(taken.map(value)),
            Self::Push(new) => Standard::Push(value(new)),
            Self::Pop(taken) => Standard::Pop(taken.map(value)),
            Self::Top(taken) => Standard::Top(taken.map(value)),
            Self::Insert(new) => Standard::Insert(value(new)),
            Self::DeleteMin(taken) => Standard::DeleteMin(taken.map(value)),
            Self::Min(taken) => Standard::Min(taken.map(value)),
            Self::Put(new) => Standard::Put(value(new)),
            Self::Take(taken) => Standard::Take(taken.map(value)),
            Self::Lock { by } => Standard::Lock { by },
            Self::Unlock { by } => Standard::Unlock { by },
            Self::LockFailed => Standard::LockFailed,
            Self::LockShared { by } => Standard::LockShared { by },
            Self::UnlockShared { by } => Standard::UnlockShared { by },
            Self::Acquire => Standard::Acquire,
            Self::Release => Standard::Release,
        }
    }
}

impl<V> Taken<V> {
    fn map<W>(self, value: impl FnOnce(V) -> W) -> Taken<W> {
        match self {
            Self::Value(taken) => Taken::Value(value(taken)),
            Self::Nothing => Taken::Nothing,
            Self::Unknown => Taken::Unknown,
        }
    }
}

impl<'a, V> Taken<&'a V> {
    /// Converts a recorded result, whose value is `None` if the container was empty. Without a recorded result, the
    /// value is [unknown](Self::Unknown).
    pub fn from_result(result: Option<&'a Option<V>>) -> Self {
        match result {
            Some(Some(value)) => Self::Value(value),
            Some(None) => Self::Nothing,
            None => Self::Unknown,
        }
    }
}

/// Returns the rank of each of the elements `0..count`, which `order` compares. Equal elements have
/// equal ranks.
pub(super) fn ranks(count: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<u32> {
    let mut sorted: Vec<usize> = (0..count).collect();
    sorted.sort_unstable_by(|one, other| order(*one, *other));
    let differs = |place: usize| place > 0 && order(sorted[place - 1], sorted[place]).is_ne();
    dense_ranks(count, (0..count).map(|place| (sorted[place], differs(place))))
}

/// Returns the rank of each of the elements `0..count`. `sorted` yields the elements in sorted
/// order, each with a flag that is `true` if the element differs from the previous one.
pub(super) fn dense_ranks(count: usize, sorted: impl Iterator<Item = (usize, bool)>) -> Vec<u32> {
    let mut ranks = vec![0; count];
    let mut rank = 0;
    for (index, differs) in sorted {
        rank += u32::from(differs);
        ranks[index] = rank;
    }
    ranks
}
