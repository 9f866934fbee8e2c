//! What is right: the sequential object that a concurrent one is compared with.
//!
//! A [`Spec`] says how the object starts and what each operation may return and lead to. That is all that a checker
//! needs; everything else has a default, and each default is the cautious answer, so that an omission costs time and
//! never a verdict.
//!
//! An operation that depends on *who* calls it (a mutex with owners) carries its caller in `Op`: operations that are
//! equal are interchangeable for every checker.

/// `new` and `Default` of a specification without parameters. Derived, `Default` would ask for that of the values.
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
mod log;
mod map;
mod model;
mod multi_register;
mod multiset;
mod mutex;
mod once_cell;
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
pub use multi_register::{MicroOp, MultiRegister, MultiRegisterOp, MultiRegisterRet};
pub use multiset::{Multiset, MultisetOp, MultisetRet};
pub use mutex::{LockRet, Mutex, MutexOp};
pub use once_cell::{OnceCell, OnceCellOp, OnceCellRet};
pub use priority_queue::{PriorityQueue, PriorityQueueOp, PriorityQueueRet};
pub use queue::{Queue, QueueOp, QueueRet};
pub use register::{Register, RegisterOp, RegisterRet};
pub use relaxed::{DisplacementQueue, RelaxedPriorityQueue, RelaxedQueue, RelaxedStack, Stuttering};
pub use rwlock::{RwLock, RwLockOp, RwLockState};
pub use semaphore::{Semaphore, SemaphoreOp};
pub use set::{Set, SetOp, SetRet};
pub use stack::{Stack, StackOp, StackRet};
pub use stack_heights::{StackHeights, StackHeightsOp, StackHeightsRet};
pub use standard::{Initial, Standard, Taken};
pub use subject::Subject;

/// What an operation may do in a state: each possible result with the state it leads to.
///
/// One outcome is a deterministic operation, none is one that is blocked in this state, several are a choice.
pub type Outcomes<Ret, State> = SmallVec<[(Ret, State); 1]>;

/// What an operation of the specification `S` may do in a state: what [`Spec::step`] returns.
type Steps<S> = Outcomes<<S as Spec>::Ret, <S as Spec>::State>;

/// The one outcome of a deterministic operation.
pub fn outcome<Ret, State>(result: Ret, next: State) -> Outcomes<Ret, State> {
    smallvec![(result, next)]
}

/// No outcome: the operation is blocked in this state.
pub fn blocked<Ret, State>() -> Outcomes<Ret, State> {
    SmallVec::new()
}

/// A sequential object that carries out operations itself, one after the other: see [`Spec::object`].
///
/// It answers whether the operation can have this result next, and if so, it has taken effect. After an answer of no, it
/// is not asked again.
pub type Object<'a, Op, Ret> = Box<dyn FnMut(&'a Op, &'a Ret) -> bool + 'a>;

/// A sequential object: what is right.
///
/// ```
/// use trueline::spec::{Outcomes, Spec, outcome};
///
/// /// A light switch that tells whether it was on.
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
    /// A state of the object. It is cloned and compared often: where states grow, use a [`persistent`] form.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// What a history may be partitioned by; `()` where it cannot be.
    type Key: Clone + Eq + Hash + Debug + Send + Sync;
    /// What [standard](Spec::standard) operations put in and take out; `()` where they have no values, or there are none.
    type Value: Clone + Eq + Hash + Sync;

    /// The state before the first operation; for a partitioned history, of each partition.
    fn initial(&self) -> Self::State;

    /// What `op` may return in `state`, and the state each result leads to.
    ///
    /// `recorded` is the result that the history has, and the answer may be limited to outcomes with it (others are
    /// ignored). Where it is `None`, the result is unknown, and all outcomes must be given.
    fn step(
        &self,
        state: &Self::State,
        op: &Self::Op,
        recorded: Option<&Self::Ret>,
    ) -> Outcomes<Self::Ret, Self::State>;

    /// The object itself at the start, if it can do what [`step`](Spec::step) says at less cost: it need not keep its states.
    ///
    /// This is a promise: it answers yes exactly if `step` has an outcome with this result, which is the only one with this
    /// result then. The linearization that a checker has found is carried out by it before it is given; where there is no
    /// object, states are enough.
    ///
    /// ```
    /// use trueline::spec::{Queue, QueueOp, QueueRet, Spec};
    ///
    /// let queue = Queue::new();
    /// let mut object = queue.object().unwrap();
    /// assert!(object(&QueueOp::Enqueue(1), &QueueRet::Done));
    /// assert!(object(&QueueOp::Dequeue, &QueueRet::Value(Some(1))));
    /// assert!(!object(&QueueOp::Dequeue, &QueueRet::Value(Some(1)))); // it is empty
    /// ```
    fn object<'a>(&'a self) -> Option<Object<'a, Self::Op, Self::Ret>> {
        None
    }

    /// Whether `op` with this result leaves the state as it is, in *every* state in which it can have this result.
    ///
    /// `None` stands for "whatever the result is". A write that happens to write the present value does not observe.
    fn observes(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
        let _ = (op, recorded);
        false
    }

    /// Whether `op` with this result is possible in *every* state, and leads to one and the same state from all of them:
    /// a blind write.
    ///
    /// `None` stands for "whatever the result is". For an operation with a [key](Spec::key), every state means every
    /// state that operations with this key lead to.
    fn overwrites(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> bool {
        let _ = (op, recorded);
        false
    }

    /// The key that this operation concerns; `None` if it concerns several or all.
    ///
    /// Giving keys is a promise: a sequence of operations that all have keys is legal if and only if, for every key,
    /// the operations with that key are legal from the initial state. A recorded result may be needed to tell the
    /// key; `recorded` is `None` for operations that are pending.
    fn key(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> Option<Self::Key> {
        let _ = (op, recorded);
        None
    }

    /// Whether [`reaches`](Spec::reaches) may say of `op` with this result that it is out of reach.
    fn is_goal(&self, op: &Self::Op, result: &Self::Ret) -> bool {
        let _ = (op, result);
        false
    }

    /// Whether operations that do not [overwrite](Spec::overwrites) may lead from `state` to one in which `goal` returns
    /// `result`: how a search knows early that it is on a wrong way.
    ///
    /// `false` is a promise: no operations lead there, unless one of them overwrites with the result that it has.
    /// `true` may be said where it is not known. For a goal with a [key](Spec::key), operations with that key are meant,
    /// and only what they have done to the state may be looked at. Asked only of what [is a goal](Spec::is_goal).
    ///
    /// In an append-only log, a read that returned *abc* is out of reach once the log is *ac*.
    fn reaches(&self, state: &Self::State, goal: &Self::Op, result: &Self::Ret) -> bool {
        let _ = (state, goal, result);
        true
    }

    /// What `op` with this result is, if every checker knows such operations: how histories of a user's own types reach
    /// the near-linear monitors.
    ///
    /// This is a promise: a history (or the part of one [key](Spec::key)) all of whose operations are standard is
    /// linearizable if and only if it is as a history of the standard object, from [`Spec::standard_initial`]. What is
    /// not of this kind is judged by search.
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

    /// Whether operations with different [keys](Spec::key) are standard operations of *one* object (a bag, whose values
    /// are keys), not each of its own (a set, whose values are objects for themselves).
    fn standard_spans_keys(&self) -> bool {
        false
    }

    /// What the standard object holds at the start.
    fn standard_initial(&self) -> Initial<&Self::Value> {
        Initial::Nothing
    }

    /// Which of two values a standard priority queue gives out first.
    fn standard_order(&self, one: &Self::Value, other: &Self::Value) -> Ordering {
        let _ = (one, other);
        Ordering::Equal
    }

    /// The rank of each of these values in the [standard order](Spec::standard_order), from 0; values of equal priority have
    /// equal ranks. A specification whose values can be sorted faster than by `standard_order` may do so here.
    fn standard_ranks(&self, values: &[&Self::Value]) -> Vec<u32> {
        standard::ranks(values.len(), &|one, other| self.standard_order(values[one], values[other]))
    }

    /// What this operation is about, for whoever wants to leave out of a history all that is about the same: how
    /// [`shrink`](crate::judge::shrink) gets rid of most of it.
    ///
    /// This is a promise. Take a legal sequence of operations, none of which is about [all](Subject::All), and any set of
    /// subjects. Without the operations about these, and with all others [restricted](Spec::restrict) to other subjects,
    /// the sequence is still legal. An operation whose result is not recorded is
    /// pending: it may be about [one](Subject::One) subject only if it is about that, or observes, whatever its result
    /// is; it is [free](Subject::Free) if each result makes it free, or be about one subject.
    ///
    /// Of itself, an operation is about its [key](Spec::key), and about all if it has none.
    fn subject(&self, op: &Self::Op, recorded: Option<&Self::Ret>) -> Subject {
        self.key(op, recorded).map_or(Subject::All, |key| Subject::of(&key))
    }

    /// What is left of an operation when some subjects, but not its only one, are `gone`, with its result if that is
    /// recorded; `None` if nothing is.
    ///
    /// It is part of the promise of [`subject`](Spec::subject). What is left must observe if the operation did, and may
    /// say less than before even if nothing is gone.
    fn restrict(
        &self,
        op: &Self::Op,
        recorded: Option<&Self::Ret>,
        gone: &dyn Fn(Subject) -> bool,
    ) -> Option<(Self::Op, Option<Self::Ret>)> {
        let _ = gone;
        Some((op.clone(), recorded.cloned()))
    }

    /// The state behind `op` with this result, if that is the same whatever the state before was.
    ///
    /// Unlike a [blind write](Spec::overwrites), it need not be possible in every state. For an operation with a
    /// [key](Spec::key), it is the state of its partition. Of itself, only of blind writes it is known.
    fn leads_to(&self, op: &Self::Op, recorded: &Self::Ret) -> Option<Self::State> {
        if !self.overwrites(op, Some(recorded)) {
            return None;
        }
        let outcomes = self.step(&self.initial(), op, Some(recorded));
        outcomes.into_iter().find(|(result, _)| result == recorded).map(|(_, next)| next)
    }

    /// About how many bytes a state holds on the heap *that it does not share* with the states it came from.
    ///
    /// Checkers count this against their memory limit.
    fn heap_size(&self, state: &Self::State) -> usize {
        let _ = state;
        0
    }

    /// A result as a person should read it.
    fn describe_result(&self, result: &Self::Ret) -> String {
        format!("{result:?}")
    }

    /// An operation as a person should read it.
    fn describe_operation(&self, op: &Self::Op) -> String {
        format!("{op:?}")
    }

    /// A state as a person should read it.
    fn describe_state(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }
}
