//! Objects whose operations wait for each other: which of them may synchronise, and what each then returns.
//!
//! Lawrence & Lowe, *Synchronisation: Specification and Testing*, section 2. A [`SyncSpec`] is the papers'
//! synchronisation specification object and the abstraction function in one: asked for some executions that are all
//! open, it says whether they may synchronise in the present state, what each returns, and what the state is then.
//!
//! | specification | who synchronises |
//! |---|---|
//! | [`Channel`] | a send and a receive |
//! | [`FilterChannel`] | a send and a receive that wants the value |
//! | [`MenWomen`] | a man and a woman, who learn of each other |
//! | [`Exchanger`] | two, who exchange values |
//! | [`CounterChannel`] | a send and a receive, which are numbered |
//! | [`TwoFamilies`] | one of each family, each pair once |
//! | [`OneFamily`] | two, each pair once |
//! | [`Abc`] | one of each of three kinds |
//! | [`Barrier`] | n, who may combine values |
//! | [`EnrollableBarrier`] | all who are enrolled |
//! | [`TimeoutChannel`] | a send and a receive, or one that gives up |
//! | [`TimeoutExchanger`] | two, or one that gives up |
//! | [`CloseableChannel`] | a send and a receive until it is closed, then each alone |
//! | [`TerminatingQueue`] | each alone, or all n that wait for an element |
//! | [`TerminatingQueues`] | the same with a queue for each worker |
//! | [`Broadcast`] | a send and n receives |

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

pub use abc::{Abc, AbcOp};
pub use barrier::{Barrier, BarrierOp, Combine};
pub use broadcast::Broadcast;
pub use channel::{Channel, ChannelOp, ChannelRet, CounterChannel, CounterChannelRet};
pub use closeable_channel::{CloseableChannel, CloseableChannelOp, CloseableChannelRet};
pub use enrollable_barrier::{EnrollableBarrier, EnrollableBarrierOp};
pub use exchanger::Exchanger;
pub use families::{Met, OneFamily, TwoFamilies, TwoFamiliesOp};
pub use filter_channel::{Filter, FilterChannel, FilterChannelOp};
pub use men_women::{MenWomen, MenWomenOp};
pub use terminating_queue::{TerminatingQueue, TerminatingQueueOp, TerminatingQueueRet};
pub use terminating_queues::{TerminatingQueues, TerminatingQueuesOp};
pub use timeout::{TimeoutChannel, TimeoutChannelRet, TimeoutExchanger};

/// What a synchronisation may lead to: each possible state, with what each execution then returns, in their order.
pub type Synchronised<State, Ret> = Vec<(State, Vec<Ret>)>;

/// An object whose operations synchronise.
///
/// The papers' synchronous channel, as short as there:
///
/// ```
/// use trueline::spec::sync::{SyncSpec, Synchronised};
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
///     fn synchronise(&self, _: &(), ops: &[&Op]) -> Synchronised<(), Option<u64>> {
///         match ops {
///             [Op::Send(x), Op::Receive] => vec![((), vec![None, Some(*x)])],
///             _ => vec![],
///         }
///     }
/// }
/// ```
///
/// What the methods promise is stated with each; a specification that lies gets wrong verdicts.
pub trait SyncSpec: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// The result of an operation.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;
    /// What is kept from one synchronisation to the next. A type of size 0, such as `()`, says that nothing is: the
    /// checkers then know that the order of synchronisations does not matter.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// The state in the beginning.
    fn initial(&self) -> Self::State;

    /// How many executions may synchronise in this state: the possible numbers, from the smallest.
    fn arities(&self, state: &Self::State) -> Vec<usize>;

    /// The place of an operation among those that it synchronises with. [`synchronise`](Self::synchronise) is given
    /// executions by place, and those of one place in the order of their calls, which must not matter.
    fn place(&self, op: &Self::Op) -> u32 {
        let _ = op;
        0
    }

    /// Whether some operations, in the order of their places, may be the first of more that synchronise in this state.
    /// The default says yes; to say no saves time.
    fn extends(&self, state: &Self::State, ops: &[&Self::Op]) -> bool {
        let _ = (state, ops);
        true
    }

    /// What may come of it if exactly these executions synchronise: nothing if they may not, several if there is a
    /// choice.
    fn synchronise(&self, state: &Self::State, ops: &[&Self::Op]) -> Synchronised<Self::State, Self::Ret>;

    /// Of an object without state whose executions synchronise in pairs: whether the partners of this execution are
    /// *interchangeable*. If it fits y and z, then whatever fits y fits z too, or y has no result and z has. An execution
    /// without a result fits another if it may be given one with which it does. Then a greedy algorithm is exact.
    fn is_interchangeable(&self, op: &Self::Op, result: Option<&Self::Ret>) -> bool {
        let _ = (op, result);
        false
    }

    /// Whether nothing is kept from one synchronisation to the next.
    fn is_stateless(&self) -> bool {
        size_of::<Self::State>() == 0
    }
}
