//! Specifications: the sequential objects that concurrent ones are compared with.
//!
//! A [`Spec`] defines the initial state of the object, and for each operation the possible results and next states. A
//! checker needs nothing else. All other methods have defaults, and each default is the conservative answer: an
//! omission costs time, but never changes a verdict.
//!
//! If the effect of an operation depends on the thread that calls it (a mutex with owners), `Op` must contain the
//! caller: for every checker, equal operations are interchangeable.
//!
//! The specifications here are those of common objects. Those of keyed stores, arrays and the examples of papers are
//! available by [name](crate::registry).

/// Generates `new` and `Default` for a specification without parameters. A derived `Default` would require `Default` of
/// the values.
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
/// It returns whether the operation can have this result next; if it can, the operation has then taken effect. After it
/// has returned `false`, it is not called again.
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
    /// A state of the object. States are cloned and compared often: if they grow, use a type
    /// whose versions share structure, such as those of the crates `imbl` and `rpds`.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// The keys by which a history may be partitioned; `()` if it cannot be partitioned.
    type Key: Clone + Eq + Hash + Debug + Send + Sync;
    /// The values that [standard](Spec::standard) operations add and remove; `()` if they have no values, or if no
    /// operation is standard.
    type Value: Clone + Eq + Hash + Sync;

    /// Returns the state before the first operation. For a partitioned history, it is the initial state of each
    /// partition.
    fn initial(&self) -> Self::State;

    /// Returns the possible results of `op` in `state`, each with the state that it leads to.
    ///
    /// `recorded` is the result of the operation in the history. The implementation may return only the outcomes with
    /// this result, because others are ignored. If it is `None`, the result is unknown, and all outcomes must be
    /// returned.
    fn step(
        &self,
        state: &Self::State,
        op: &Self::Op,
        recorded: Option<&Self::Ret>,
    ) -> Outcomes<Self::Ret, Self::State>;

    /// Returns the object in its initial state, if it can execute operations faster than [`step`](Spec::step), because
    /// it need not keep old states.
    ///
    /// Returning an object is a promise: it returns `true` if and only if `step` has an outcome with this result, and
    /// then `step` has only one such outcome. Before a checker returns the linearization that it has found, it executes
    /// the linearization on this object, or by `step` if there is no object.
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
    /// If `recorded` is `None`, this must hold for every result. A write that happens to write the current value does
    /// not observe.
    fn observes(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
        let _ = (op, recorded);
        false
    }

    /// Returns whether `op` with this result is possible in *every* state, and always leads to the same next state: a
    /// blind write.
    ///
    /// If `recorded` is `None`, this must hold for every result. For an operation with a [key](Spec::key), "every
    /// state" means every state that operations with this key lead to.
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
    /// `false` is a promise: no sequence of operations leads there, unless one of them overwrites with its recorded
    /// result. `true` is always allowed. For a goal with a [key](Spec::key), only operations with that key count, and
    /// the answer may depend only on their effects on the state. This is called only if `goal` with `result` [is a
    /// goal](Spec::is_goal).
    ///
    /// For example, in an append-only log, a read that returned *abc* cannot be reached once the log is *ac*.
    fn reaches(&self, state: &Self::State, goal: &Self::Op, result: &Self::Ret) -> bool {
        let _ = (state, goal, result);
        true
    }

    /// Returns the [standard](Standard) operation that `op` with this result is equivalent to, if there is one. This is
    /// how histories of a user's own types reach the near-linear monitors.
    ///
    /// Returning standard operations is a promise: if all operations of a history (or of the part with one
    /// [key](Spec::key)) are standard, then it is linearizable if and only if it is linearizable as a history of the
    /// standard object with the initial contents [`Spec::standard_initial`]. Other histories are judged by search.
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

    /// Returns whether operations with different [keys](Spec::key) are standard operations of *one* object (a bag,
    /// whose keys are its values), not of one object for each key (a set, each value of which is an object of its own).
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

    /// Returns the rank of each of these values in the [standard order](Spec::standard_order), starting at 0; values of
    /// equal priority have equal ranks. A specification whose values can be sorted faster than by `standard_order` may
    /// override this.
    fn standard_ranks(&self, values: &[&Self::Value]) -> Vec<u32> {
        standard::ranks(values.len(), &|one, other| self.standard_order(values[one], values[other]))
    }

    /// Returns the subject of this operation. [`shrink`](crate::judge::shrink) uses it to remove all operations with
    /// the same subject from a history at once, which removes most of a history quickly.
    ///
    /// The answer is a promise. Take a legal sequence of operations, none of which has the subject
    /// [`All`](Subject::All), and any set of subjects. If the operations with these subjects are removed, and all
    /// others are [restricted](Spec::restrict) to the remaining subjects, then the sequence is still legal. An
    /// operation without a recorded result is pending. It may have [one](Subject::One) subject only if, for every
    /// possible result, it has that subject or observes. It may be [free](Subject::Free) only if each possible result
    /// makes it free or gives it one subject.
    ///
    /// By default, the subject of an operation is its [key](Spec::key), and `All` if it has no key.
    #[doc(hidden)]
    fn subject(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> Subject {
        self.key(op, recorded).map_or(Subject::All, |key| Subject::of(&key))
    }

    /// Returns the rest of an operation, with its recorded result if there is one, after the subjects that are `gone`
    /// have been removed; `None` if nothing is left. It is not called for an operation whose only subject is gone.
    ///
    /// This method is part of the promise of [`subject`](Spec::subject). The rest must observe if the operation did. It
    /// may be weaker than the operation even if no subject is gone.
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

    /// Returns the state after `op` with this result, if it does not depend on the state before.
    ///
    /// Unlike a [blind write](Spec::overwrites), the operation need not be possible in every state. For an operation
    /// with a [key](Spec::key), this is the state of its partition. By default, the state is known only for blind
    /// writes.
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
