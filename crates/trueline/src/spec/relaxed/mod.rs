//! Specifications of objects whose operations may be slightly out of order.
//!
//! They follow Henzinger, Kirsch, Payer, Sezgin & Sokolova, *Quantitative relaxation of concurrent
//! data structures*, and the work that the paper on Round-Up (a checker of quasi linearizability)
//! cites. With such a specification, every checker judges *linearizability*: the real-time order
//! must be kept, and the object need not be empty at the end. In contrast,
//! [`judge::quasi`](crate::judge::quasi) judges a different criterion, which permutes operations.
//!
//! | specification | bound |
//! |---|---|
//! | [`RelaxedQueue`], [`RelaxedStack`], [`RelaxedPriorityQueue`] | the rank of the removed value, from 0 to `k` |
//! | these three with `lateness` | also the number of times in a row that the first value is passed over |
//! | [`DisplacementQueue`] | the distance of each value from its place in the order of enqueues |
//! | [`Stuttering`] | the number of operations in a row that have no effect |
//!
//! The following statements relate `DisplacementQueue` and `RelaxedQueue` to definition 4 of quasi
//! linearizability. They apply to histories with distinct values, if enqueues form a class with the
//! factor 0 and dequeues form a class with the factor K:
//! - A history that is linearizable for a `DisplacementQueue` of K *and drained* (every value was dequeued, and no
//!   dequeue found the queue empty) satisfies definition 4. The converse does not hold: definition 4 allows a value to
//!   be dequeued before it is enqueued.
//! - If the history is not drained, neither linearizability for a `DisplacementQueue` of K nor
//!   definition 4 implies the other: definition 4 needs a legal order of all operations.
//! - A sequence that is legal for a `DisplacementQueue` of K is legal for a `RelaxedQueue` of K
//!   with lateness, and therefore also for one without lateness. For K up to 1, the
//!   `DisplacementQueue` and the `RelaxedQueue` with lateness are the same. For K of 2 or more they
//!   differ: a value is passed over at most K times *while it is first*. But before that, it may
//!   have been passed over together with the values in front of it, so it may be up to K^2
//!   positions late. Without lateness, it may be passed over forever.
//!
//! `tests/it/quasi.rs` tests these statements.

mod displacement;
mod priority_queue;
mod queue;
mod stack;
mod stuttering;

pub use displacement::DisplacementQueue;
#[doc(hidden)]
pub use displacement::DisplacementState;
pub use priority_queue::RelaxedPriorityQueue;
pub use queue::RelaxedQueue;
#[doc(hidden)]
pub use queue::RelaxedQueueState;
pub use stack::RelaxedStack;
#[doc(hidden)]
pub use stack::RelaxedStackState;
pub use stuttering::Stuttering;

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;

use super::persistent::Chain;
use super::{ContainerRet, Outcomes};

/// A container `C` that may return any of the next `k + 1` values, not only the next one: a [`RelaxedQueue`], a
/// [`RelaxedStack`] or a [`RelaxedPriorityQueue`].
#[derive(Clone, Copy, Debug)]
pub struct Relaxed<C> {
    k: u32,
    lateness: bool,
    relaxed_empty: bool,
    container: PhantomData<fn() -> C>,
}

impl<C> Relaxed<C> {
    /// Creates a container that returns any of the next `k + 1` values: the oldest of a queue, the newest of a stack,
    /// the least of a priority queue.
    pub const fn new(k: u32) -> Self {
        Self { k, lateness: false, relaxed_empty: false, container: PhantomData }
    }

    /// Sets whether the next value can be passed over at most `k` times in a row. By default, the
    /// number of times is not limited.
    #[must_use]
    pub const fn lateness(mut self, yes: bool) -> Self {
        self.lateness = yes;
        self
    }

    /// Sets whether the container may report that it is empty while it has up to `k` values.
    #[must_use]
    pub const fn relaxed_empty(mut self, yes: bool) -> Self {
        self.relaxed_empty = yes;
        self
    }

    /// Returns whether the next value must be taken, because it has already been passed over `k` times in a row.
    fn must_be_first(&self, passed_over: u32) -> bool {
        self.lateness && passed_over >= self.k
    }

    /// Returns the number of times in a row that the next value has been passed over, including by
    /// the operation that has just taken a value. `is_other` is `true` if that operation took
    /// another value, and `false` if it took the next value itself.
    fn passed_over_then(&self, passed_over: u32, is_other: bool) -> u32 {
        if self.lateness && is_other { passed_over + 1 } else { 0 }
    }

    /// Returns whether there are at most `k` values. If so, a value that is added can also be taken
    /// next.
    fn is_few(&self, values: usize) -> bool {
        values <= self.k as usize
    }

    /// Returns the outcomes of an operation that removes or reads a value. The values in `far`
    /// cannot be taken yet. `first_of_far` returns the next value that moves from `far` to `near`,
    /// and the rest of `far`.
    fn take<V: Clone + Hash + Eq>(
        &self,
        state: &RelaxedState<V>,
        takes: bool,
        recorded: Option<&ContainerRet<V>>,
        first_of_far: impl for<'c> Fn(&'c Chain<V>) -> Option<(&'c V, Chain<V>)>,
    ) -> Outcomes<ContainerRet<V>, RelaxedState<V>> {
        let RelaxedState { near, far, passed_over } = state;
        let mut outcomes = Outcomes::new();
        let may_be_taken = if self.must_be_first(*passed_over) { 1 } else { near.len() };
        for (rank, value) in near.iter().enumerate().take(may_be_taken) {
            if recorded.is_some_and(|recorded| *recorded != ContainerRet::Value(Some(value.clone()))) {
                continue;
            }
            let mut next = state.clone();
            if takes {
                next.near.remove(rank);
                if let Some((value, rest)) = first_of_far(far) {
                    next.near.push(value.clone());
                    next.far = rest;
                }
                next.passed_over = self.passed_over_then(*passed_over, rank > 0);
            }
            add(&mut outcomes, ContainerRet::Value(Some(value.clone())), next);
        }
        if near.is_empty() || (self.relaxed_empty && self.is_few(near.len())) {
            add(&mut outcomes, ContainerRet::Value(None), state.clone());
        }
        outcomes
    }
}

/// The state of a [`RelaxedQueue`] or a [`RelaxedStack`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct RelaxedState<V: Hash + Eq> {
    /// The next `k + 1` values, or all if there are fewer, in the order in which a strict container returns them.
    near: Vec<V>,
    /// The other values.
    far: Chain<V>,
    /// The number of times that the first value was passed over; 0 without lateness.
    passed_over: u32,
}

impl<V: Hash + Eq> RelaxedState<V> {
    fn new() -> Self {
        Self { near: Vec::new(), far: Chain::new(), passed_over: 0 }
    }

    /// Describes the state, given its values in the order in which they are shown.
    fn describe(&self, values: &[&V]) -> String
    where
        V: Debug,
    {
        match (self.near.first(), self.passed_over) {
            (None, _) | (_, 0) => format!("{values:?}"),
            (Some(first), 1) => format!("{values:?} ({first:?} was passed over once)"),
            (Some(first), times) => format!("{values:?} ({first:?} was passed over {times} times)"),
        }
    }

    fn heap_size(&self) -> usize {
        self.near.capacity() * size_of::<V>() + self.far.heap_size()
    }
}

/// Adds an outcome, unless it is present already.
fn add<Ret: PartialEq, State: PartialEq>(outcomes: &mut Outcomes<Ret, State>, result: Ret, next: State) {
    let one = (result, next);
    if !outcomes.contains(&one) {
        outcomes.push(one);
    }
}
