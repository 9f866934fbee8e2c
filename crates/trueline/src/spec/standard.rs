//! Operations that every checker knows.

use std::cmp::Ordering;

/// What an operation is, whatever a user's own type calls it: how histories reach the near-linear monitors.
///
/// The operations of one history, or of one key of it, must all be of one family; what is of none is judged by search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Standard<V> {
    /// Of a register: a read that saw this value.
    Read(V),
    /// Of a register: a blind write of this value.
    Write(V),
    /// Of a register: a read-modify-write (swap, successful compare-and-swap) that saw `old` and left `new`.
    /// `old` is `None` if it never returned.
    Exchange {
        /// What it saw.
        old: Option<V>,
        /// What it left.
        new: V,
    },
    /// Of a counter from 0: adds one, and returned what was there; `None` if it never returned.
    FetchIncrement(Option<i64>),
    /// Of a counter from 0: adds one, and says nothing.
    Increment,
    /// Of a counter from 0: a read that saw this number.
    Count(i64),
    /// Of one key of a set: it made the key present (`true`) or absent, which it was not before.
    Flip(bool),
    /// Of one key of a set: it saw the key present (`true`) or absent.
    Sees(bool),
    /// Of one key of a map: left `new` (`None`: nothing) and found `old` there; the outer `None` if it does not tell, or
    /// never returned.
    Replace {
        /// What it found.
        old: Option<Option<V>>,
        /// What it left.
        new: Option<V>,
    },
    /// Of one key of a map: found this value, or nothing.
    Get(Option<V>),
    /// Of a queue: puts a value at the end.
    Enqueue(V),
    /// Of a queue: takes the first.
    Dequeue(Taken<V>),
    /// Of a queue: looks at the first.
    Front(Taken<V>),
    /// Of a stack: puts a value on top.
    Push(V),
    /// Of a stack: takes the top.
    Pop(Taken<V>),
    /// Of a stack: looks at the top.
    Top(Taken<V>),
    /// Of a priority queue: puts a value in.
    Insert(V),
    /// Of a priority queue: takes the least.
    DeleteMin(Taken<V>),
    /// Of a priority queue: looks at the least.
    Min(Taken<V>),
    /// Of a bag: puts a value in.
    Put(V),
    /// Of a bag: takes any.
    Take(Taken<V>),
    /// Of a lock: acquired, for writing where there is a difference.
    Lock {
        /// By whom, if owners count.
        by: Option<u32>,
    },
    /// Of a lock: released, from writing where there is a difference.
    Unlock {
        /// By whom, if owners count.
        by: Option<u32>,
    },
    /// Of a lock: a try that found it held.
    LockFailed,
    /// Of a read-write lock: acquired for reading.
    LockShared {
        /// By whom, if owners count.
        by: Option<u32>,
    },
    /// Of a read-write lock: released from reading.
    UnlockShared {
        /// By whom, if owners count.
        by: Option<u32>,
    },
    /// Of a semaphore: took a permit.
    Acquire,
    /// Of a semaphore: gave a permit back.
    Release,
}

/// What an operation that takes or looks found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken<V> {
    /// This value.
    Value(V),
    /// Nothing: the container was empty.
    Nothing,
    /// Nobody knows: it never returned.
    Unknown,
}

/// What a [`Standard`] object holds at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initial<V> {
    /// Nothing: a container, a set or a map is empty, a lock is free, a counter is 0.
    Nothing,
    /// Of a register: this value.
    Value(V),
    /// Of a semaphore: so many permits.
    Permits(u64),
}

impl<V> Standard<V> {
    /// The same operation with other values.
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
    /// What a result says that is `None` for nothing; and nobody knows it if there is no result.
    pub fn from_result(result: Option<&'a Option<V>>) -> Self {
        match result {
            Some(Some(value)) => Self::Value(value),
            Some(None) => Self::Nothing,
            None => Self::Unknown,
        }
    }
}

/// The ranks of `0..count` by this order.
pub(super) fn ranks(count: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<u32> {
    let mut sorted: Vec<usize> = (0..count).collect();
    sorted.sort_unstable_by(|one, other| order(*one, *other));
    let differs = |place: usize| place > 0 && order(sorted[place - 1], sorted[place]).is_ne();
    dense_ranks(count, (0..count).map(|place| (sorted[place], differs(place))))
}

/// The ranks of `0..count`, which are given in their order, each with whether it differs from the one before.
pub(super) fn dense_ranks(count: usize, sorted: impl Iterator<Item = (usize, bool)>) -> Vec<u32> {
    let mut ranks = vec![0; count];
    let mut rank = 0;
    for (index, differs) in sorted {
        rank += u32::from(differs);
        ranks[index] = rank;
    }
    ranks
}
