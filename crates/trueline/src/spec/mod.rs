//! Specifications: the sequential objects that concurrent ones are compared with.
//!
//! A [`Spec`] defines the initial state of the object, and for each operation the possible results and next states. A
//! checker needs nothing else. All other methods have defaults, and each default is the conservative answer: not
//! overriding a default may cost time, but never changes a verdict.
//!
//! If the effect of an operation depends on the thread that calls it (a mutex with owners), `Op`
//! must contain the caller, because checkers treat equal operations as interchangeable.
//!
//! This module has the specifications of common objects. The specifications of keyed stores, arrays
//! and examples from papers are available by [name](crate::registry).
//!
//! The documentation of each specification has a table of its operations. The column *leaves the
//! state unchanged* states for which results [`Spec::observes`] returns `true`. An operation with a
//! [key](Spec::key) affects only the part of the state that belongs to its key, so a history can be
//! judged key by key.

/// Generates `new` and `Default` for a specification without parameters. A derived `Default` would
/// require the value type to implement `Default`.
macro_rules! without_parameters {
    ($spec:ident<$values:ident>, $doc:literal) => {
        impl<$values> $spec<$values> {
            #[doc = $doc]
            pub const fn new() -> Self {
                Self(PhantomData)
            }
        }

        impl<$values> Default for $spec<$values> {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

mod array;
mod bag;
mod bounded_queue;
mod cas_register;
mod container;
mod counter;
mod deque;
mod fetch_add;
pub mod interval;
mod kv;
#[cfg(test)]
mod laws;
mod log;
mod map;
mod model;
mod multi_register;
mod multiset;
mod mutex;
mod once_cell;
#[doc(hidden)]
pub mod persistent;
mod priority_queue;
mod queue;
mod register;
pub mod relaxed;
mod rwlock;
mod semaphore;
mod set;
mod stack;
mod stack_heights;
mod standard;
pub(crate) mod state;
mod subject;
pub mod sync;

use std::cmp::Ordering;
use std::fmt::Debug;
use std::hash::Hash;

use smallvec::{SmallVec, smallvec};

#[doc(hidden)]
pub use array::{Array, ArrayOp, ArrayRet};
pub use bag::{Bag, BagOp, BagRet};
pub use bounded_queue::{BoundedQueue, BoundedQueueOp, BoundedQueueRet};
pub use cas_register::{CasRegister, CasRegisterOp, CasRegisterRet};
pub use container::ContainerRet;
pub use counter::{Counter, CounterOp, CounterRet};
pub use deque::{Deque, DequeOp, DequeRet};
pub use fetch_add::{FetchAdd, FetchAddOp};
pub use kv::{Kv, KvOp, KvRet};
pub use log::{Log, LogOp, LogRet};
pub use map::{Map, MapOp, MapRet};
pub use model::{FromModel, Model};
#[doc(hidden)]
pub use multi_register::{MicroOp, MultiRegister, MultiRegisterOp, MultiRegisterRet};
pub use multiset::{Multiset, MultisetOp, MultisetRet};
pub use mutex::{LockRet, Mutex, MutexOp};
pub use once_cell::{OnceCell, OnceCellOp, OnceCellRet};
pub use priority_queue::{PriorityQueue, PriorityQueueOp, PriorityQueueRet};
pub use queue::{Queue, QueueOp, QueueRet};
pub use register::{Register, RegisterOp, RegisterRet};
pub use relaxed::{DisplacementQueue, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack, Stuttering};
#[doc(hidden)]
pub use rwlock::RwLockState;
pub use rwlock::{RwLock, RwLockOp};
pub use semaphore::{Semaphore, SemaphoreOp};
pub use set::{Set, SetOp, SetRet};
pub use stack::{Stack, StackOp, StackRet};
#[doc(hidden)]
pub use stack_heights::{StackHeights, StackHeightsOp, StackHeightsRet};
pub use standard::{Initial, Standard, Taken};
#[doc(hidden)]
pub use subject::Subject;

/// The possible outcomes of an operation in a state: each possible result, with the state that it leads to.
///
/// A deterministic operation has one outcome, an operation that is blocked in this state has none, and a
/// nondeterministic operation has several.
pub type Outcomes<Ret, State> = SmallVec<[(Ret, State); 1]>;

/// The possible outcomes of an operation of the specification `S` in a state, as [`Spec::step`] returns them.
type Steps<S> = Outcomes<<S as Spec>::Ret, <S as Spec>::State>;

/// Returns the only outcome of a deterministic operation.
pub fn outcome<Ret, State>(result: Ret, next: State) -> Outcomes<Ret, State> {
    smallvec![(result, next)]
}

/// Returns no outcome: the operation is blocked in this state.
pub fn blocked<Ret, State>() -> Outcomes<Ret, State> {
    SmallVec::new()
}

/// A sequential object that executes operations itself, one after another: see [`Spec::object`].
///
/// The object is a function that takes an operation and its result, and returns whether the
/// operation can have this result next. If the function returns `true`, the operation has taken
/// effect. After the function has returned `false`, it is not called again.
pub type Object<'a, Op, Ret> = Box<dyn FnMut(&'a Op, &'a Ret) -> bool + 'a>;

/// A specification: the sequential object that a concurrent one is compared with.
///
/// ```
/// use trueline::spec::{Outcomes, Spec, outcome};
///
/// /// A light switch that returns whether it was on.
/// struct Switch;
///
/// impl Spec for Switch {
///     type Op = (); // toggle
///     type Ret = bool; // was it on?
///     type State = bool;
///     type Key = ();
///     type Value = ();
///
///     fn initial(&self) -> bool {
///         false
///     }
///
///     fn step(&self, on: &bool, _toggle: &(), _recorded: Option<&bool>) -> Outcomes<bool, bool> {
///         outcome(*on, !*on)
///     }
/// }
/// ```
pub trait Spec: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// A state of the object. States are cloned and compared often. If they can become large, use a
    /// type whose versions share structure, such as those of the crates `imbl` and `rpds`.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// The keys by which a history may be partitioned; `()` if it cannot be partitioned.
    type Key: Clone + Eq + Hash + Debug + Send + Sync;
    /// The values that [standard](Spec::standard) operations add and remove; `()` if they have no values, or if no
    /// operation is standard.
    type Value: Clone + Eq + Hash + Sync;

    /// Returns the state before the first operation. If a history is partitioned, each partition starts in this state.
    fn initial(&self) -> Self::State;

    /// Returns the possible results of `op` in `state`, each with the state that it leads to.
    ///
    /// `recorded` is the result of the operation in the history. The implementation may return only
    /// the outcomes with this result, because other outcomes are ignored. If `recorded` is `None`,
    /// the result is unknown, and all outcomes must be returned.
    fn step(
        &self,
        state: &Self::State,
        op: &Self::Op,
        recorded: Option<&Self::Ret>,
    ) -> Outcomes<Self::Ret, Self::State>;

    /// Returns an object in its initial state that executes operations faster than
    /// [`step`](Spec::step), for example because it does not keep old states. Returns `None` if
    /// there is no such object.
    ///
    /// Returning an object is a promise: the object returns `true` if and only if `step` has an
    /// outcome with this result, and `step` never has more than one such outcome. Before a checker
    /// returns the linearization that it has found, it executes the linearization on this object,
    /// or by `step` if there is no object.
    ///
    /// ```
    /// use trueline::spec::{Queue, QueueOp, QueueRet, Spec};
    ///
    /// let queue = Queue::new();
    /// let mut object = queue.object().unwrap();
    /// assert!(object(&QueueOp::Enqueue(1), &QueueRet::Done));
    /// assert!(object(&QueueOp::Dequeue, &QueueRet::Value(Some(1))));
    /// assert!(!object(&QueueOp::Dequeue, &QueueRet::Value(Some(1)))); // the queue is empty
    /// ```
    fn object<'a>(&'a self) -> Option<Object<'a, Self::Op, Self::Ret>> {
        None
    }

    /// Returns whether `op` with this result leaves the state unchanged in *every* state in which it can have this
    /// result.
    ///
    /// If `recorded` is `None`, returns whether this holds for every result. A write that happens
    /// to write the current value does not observe: in a different state, the same write changes
    /// the state.
    fn observes(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
        let _ = (op, recorded);
        false
    }

    /// Returns whether `op` with this result is possible in *every* state, and always leads to the same next state: a
    /// blind write.
    ///
    /// If `recorded` is `None`, returns whether this holds for every result. For an operation with
    /// a [key](Spec::key), "every state" means every state that operations with this key lead to.
    fn overwrites(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
        let _ = (op, recorded);
        false
    }

    /// Returns the key of this operation; `None` if it affects or reads several keys, or all.
    ///
    /// Returning keys is a promise: a sequence of operations that all have keys is legal if and only if, for every key,
    /// the operations with that key are legal from the initial state. The key may depend on the recorded result;
    /// `recorded` is `None` if the operation is pending.
    fn key(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> Option<Self::Key> {
        let _ = (op, recorded);
        None
    }

    /// Returns whether [`reaches`](Spec::reaches) can return `false` for `op` with this result.
    fn is_goal(&self, op: &Self::Op, result: &Self::Ret) -> bool {
        let _ = (op, result);
        false
    }

    /// Returns whether operations that do not [overwrite](Spec::overwrites) may lead from `state` to a state in which
    /// `goal` returns `result`. A search uses this to abandon a branch early.
    ///
    /// Returning `false` is a promise: a sequence of operations leads to such a state only if one
    /// of the operations overwrites (with its recorded result). Returning `true` is always allowed.
    /// For a goal with a [key](Spec::key), only operations with that key count, and the answer may
    /// depend only on their effects on the state. This method is called only if `goal` with
    /// `result` [is a goal](Spec::is_goal).
    ///
    /// For example, in an append-only log, a read that returned *abc* cannot be reached once the log is *ac*.
    fn reaches(&self, state: &Self::State, goal: &Self::Op, result: &Self::Ret) -> bool {
        let _ = (state, goal, result);
        true
    }

    /// Returns the [standard](Standard) operation that `op` with this result is equivalent to, if
    /// there is one. With this method, histories of a user's own types can be judged by the
    /// near-linear monitors.
    ///
    /// Returning standard operations is a promise: if all operations of a history (or of the part
    /// with one [key](Spec::key)) are standard, then the history (or the part) is linearizable if
    /// and only if it is linearizable as a history of the standard object with the initial contents
    /// [`Spec::standard_initial`]. Other histories are judged by search.
    ///
    /// ```
    /// use trueline::spec::{Queue, QueueOp, QueueRet, Spec, Standard, Taken};
    ///
    /// let queue = Queue::new();
    /// assert_eq!(queue.standard(&QueueOp::Enqueue('a'), Some(&QueueRet::Done)), Some(Standard::Enqueue(&'a')));
    /// assert_eq!(queue.standard(&QueueOp::Dequeue, None), Some(Standard::Dequeue(Taken::Unknown)));
    /// ```
    fn standard<'a>(&'a self, op: &'a Self::Op, recorded: Option<&'a Self::Ret>) -> Option<Standard<&'a Self::Value>> {
        let _ = (op, recorded);
        None
    }

    /// Returns whether operations with different [keys](Spec::key) are standard operations of *one*
    /// object, as for a bag, whose keys are its values. By default, each key is an object of its
    /// own, as for a set, in which the operations on one value do not affect other values.
    fn standard_spans_keys(&self) -> bool {
        false
    }

    /// Returns the initial contents of the standard object.
    fn standard_initial(&self) -> Initial<&Self::Value> {
        Initial::Nothing
    }

    /// Compares two values of a standard priority queue: the smaller one is removed first.
    fn standard_order(&self, one: &Self::Value, other: &Self::Value) -> Ordering {
        let _ = (one, other);
        Ordering::Equal
    }

    /// Returns the rank of each of these values in the [standard order](Spec::standard_order),
    /// starting at 0; values of equal priority have equal ranks. A specification whose values can
    /// be sorted faster than by `standard_order` may override this method.
    fn standard_ranks(&self, values: &[&Self::Value]) -> Vec<u32> {
        standard::ranks(values.len(), &|one, other| self.standard_order(values[one], values[other]))
    }

    /// Returns the subject of this operation. To remove most of a history quickly,
    /// [`shrink`](crate::judge::shrink) removes all operations with the same subject at once.
    ///
    /// The answer is a promise. Take any set of subjects, and any legal sequence of operations in
    /// which no operation has the subject [`All`](Subject::All). Remove the operations with these
    /// subjects, and [restrict](Spec::restrict) the other operations to the remaining subjects. The
    /// sequence must then be legal, too.
    ///
    /// An operation without a recorded result is pending. A pending operation may have
    /// [one](Subject::One) subject only if, with every possible result, it has that subject or
    /// observes. A pending operation may be [free](Subject::Free) only if, with every possible
    /// result, it is free or has one subject.
    ///
    /// By default, the subject of an operation is its [key](Spec::key), and `All` if it has no key.
    #[doc(hidden)]
    fn subject(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> Subject {
        self.key(op, recorded).map_or(Subject::All, |key| Subject::of(&key))
    }

    /// Removes the subjects for which `gone` returns `true` from an operation, and from its
    /// recorded result if there is one. Returns the rest of the operation and of the result, or
    /// `None` if nothing is left. This method is not called for an operation whose only subject has
    /// been removed.
    ///
    /// This method is part of the promise of [`subject`](Spec::subject). If the operation
    /// [observes](Spec::observes), the rest must observe, too. The rest may be weaker than the
    /// operation (allow more states) even if no subject has been removed.
    #[doc(hidden)]
    fn restrict(
        &self,
        op: &Self::Op,
        recorded: Option<&Self::Ret>,
        gone: &dyn Fn(Subject) -> bool,
    ) -> Option<(Self::Op, Option<Self::Ret>)> {
        let _ = gone;
        Some((op.clone(), recorded.cloned()))
    }

    /// Returns the state after `op` with this result, if that state does not depend on the state before.
    ///
    /// Unlike a [blind write](Spec::overwrites), the operation need not be possible in every state.
    /// For an operation with a [key](Spec::key), the returned state is that of the key's partition.
    /// By default, the state is known only for blind writes.
    fn leads_to(&self, op: &Self::Op, recorded: &Self::Ret) -> Option<Self::State> {
        if !self.overwrites(op, Some(recorded)) {
            return None;
        }
        let outcomes = self.step(&self.initial(), op, Some(recorded));
        outcomes.into_iter().find(|(result, _)| result == recorded).map(|(_, next)| next)
    }

    /// Returns the approximate number of heap bytes that a state does *not* share with the states from which it was
    /// derived.
    ///
    /// Checkers count this against their memory limit.
    fn heap_size(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }

    /// Formats a result for a report.
    fn describe_result(&self, result: &Self::Ret) -> String {
        format!("{result:?}")
    }

    /// Formats an operation for a report.
    fn describe_operation(&self, op: &Self::Op) -> String {
        format!("{op:?}")
    }

    /// Formats a state for a report.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
}
