//! Objects whose operations wait for each other. A specification defines which operations may
//! synchronize, and what each of them returns.
//!
//! This follows Lawrence & Lowe, *Synchronisation: Specification and Testing*, section 2. A [`SyncSpec`] combines the
//! paper's synchronization specification object and its abstraction function: given several open executions (calls of
//! operations), it returns whether they may synchronize in the current state, the result of each execution, and the
//! next state.
//!
//! | specification | synchronizing operations |
//! |---|---|
//! | [`Channel`] | a send and a receive |
//! | `FilterChannel` | a send and a receive whose filter accepts the value |
//! | `MenWomen` | a man and a woman, who learn each other's name |
//! | [`Exchanger`] | two operations, which exchange values |
//! | `CounterChannel` | a send and a receive, which get the number of the synchronization |
//! | `TwoFamilies` | one member of each family, each pair at most once |
//! | `OneFamily` | two members, each pair at most once |
//! | `Abc` | three operations, one of each kind |
//! | [`Barrier`] | n operations, which may combine values |
//! | `EnrollableBarrier` | all parties that are enrolled |
//! | `TimeoutChannel` | a send and a receive, or one alone that times out |
//! | `TimeoutExchanger` | two operations, or one alone that times out |
//! | `CloseableChannel` | a send and a receive while the channel is open, and each operation alone when it is closed |
//! | `TerminatingQueue` | each operation alone, or the dequeues of all n workers if all are waiting for an element |
//! | `TerminatingQueues` | as for `TerminatingQueue`, with a queue for each worker |
//! | `Broadcast` | a send and n receives |
//!
//! The specifications without a link are examples of the paper, and are available by [name](crate::registry).

mod abc;
mod barrier;
mod broadcast;
mod channel;
mod closeable_channel;
mod enrollable_barrier;
mod exchanger;
mod families;
mod filter_channel;
mod men_women;
mod terminating_queue;
mod terminating_queues;
mod timeout;

use std::fmt::Debug;
use std::hash::Hash;

#[doc(hidden)]
pub use abc::{Abc, AbcOp};
#[doc(hidden)]
pub use barrier::Combine;
pub use barrier::{Barrier, BarrierOp};
#[doc(hidden)]
pub use broadcast::Broadcast;
pub use channel::{Channel, ChannelOp, ChannelRet};
#[doc(hidden)]
pub use channel::{CounterChannel, CounterChannelRet};
#[doc(hidden)]
pub use closeable_channel::{CloseableChannel, CloseableChannelOp, CloseableChannelRet};
#[doc(hidden)]
pub use enrollable_barrier::{EnrollableBarrier, EnrollableBarrierOp};
pub use exchanger::Exchanger;
#[doc(hidden)]
pub use families::{Met, OneFamily, TwoFamilies, TwoFamiliesOp};
#[doc(hidden)]
pub use filter_channel::{Filter, FilterChannel, FilterChannelOp};
#[doc(hidden)]
pub use men_women::{MenWomen, MenWomenOp};
#[doc(hidden)]
pub use terminating_queue::{TerminatingQueue, TerminatingQueueOp, TerminatingQueueRet};
#[doc(hidden)]
pub use terminating_queues::{TerminatingQueues, TerminatingQueuesOp};
#[doc(hidden)]
pub use timeout::{TimeoutChannel, TimeoutChannelRet, TimeoutExchanger};

/// The possible outcomes of a synchronization. Each outcome is a possible next state, with a list
/// of the results of all executions, in the order of the executions.
pub type Synchronized<State, Ret> = Vec<(State, Vec<Ret>)>;

/// An object whose operations synchronize.
///
/// As an example, this is the synchronous channel of the paper:
///
/// ```
/// use trueline::spec::sync::{SyncSpec, Synchronized};
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Op {
///     Send(u64),
///     Receive,
/// }
///
/// struct Channel;
///
/// impl SyncSpec for Channel {
///     type Op = Op;
///     type Ret = Option<u64>;
///     type State = ();
///
///     fn initial(&self) {}
///
///     fn arities(&self, _: &()) -> Vec<usize> {
///         vec![2]
///     }
///
///     fn place(&self, op: &Op) -> u32 {
///         u32::from(*op == Op::Receive)
///     }
///
///     fn synchronize(&self, _: &(), ops: &[&Op]) -> Synchronized<(), Option<u64>> {
///         match ops {
///             [Op::Send(x), Op::Receive] => vec![((), vec![None, Some(*x)])],
///             _ => vec![],
///         }
///     }
/// }
/// ```
///
/// The documentation of each method states what its implementation must guarantee. If a specification violates a
/// guarantee, verdicts can be wrong.
pub trait SyncSpec: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// The state that is kept from one synchronization to the next. A type of size 0, such as `()`,
    /// means that the object has no state, so the checkers can ignore the order of
    /// synchronizations.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// Returns the initial state.
    fn initial(&self) -> Self::State;

    /// Returns the possible numbers of executions that synchronize in this state, in ascending order.
    fn arities(&self, state: &Self::State) -> Vec<usize>;

    /// Returns the place of an operation in the list of operations that synchronize together. The
    /// executions are passed to [`synchronize`](Self::synchronize) sorted by place. Executions with
    /// equal places are in the order of their calls; the outcomes must not depend on this order.
    fn place(&self, op: &Self::Op) -> u32 {
        let _ = op;
        0
    }

    /// Returns whether these operations, in the order of their places, can be the first members of
    /// a larger group that synchronizes in this state. The default is `true`; returning `false`
    /// saves time.
    fn extends(&self, state: &Self::State, ops: &[&Self::Op]) -> bool {
        let _ = (state, ops);
        true
    }

    /// Returns the outcomes if exactly these executions synchronize: none if they cannot, several if the
    /// synchronization is nondeterministic.
    fn synchronize(&self, state: &Self::State, ops: &[&Self::Op]) -> Synchronized<Self::State, Self::Ret>;

    /// Returns whether the partners of this execution are *interchangeable*, for an object without
    /// state whose executions synchronize in pairs. Two executions *fit* if they can synchronize
    /// with their results; an execution without a result fits if it could synchronize and return
    /// some result. The partners are interchangeable if, for any two executions y and z that fit
    /// this execution, every execution that fits y also fits z, unless y has no result and z has
    /// one. A greedy algorithm is exact if all executions have interchangeable partners.
    fn is_interchangeable(&self, op: &Self::Op, result: Option<&Self::Ret>) -> bool {
        let _ = (op, result);
        false
    }

    /// Returns whether no state is kept from one synchronization to the next.
    fn is_stateless(&self) -> bool {
        size_of::<Self::State>() == 0
    }
}
