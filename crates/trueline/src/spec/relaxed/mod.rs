//! Objects that are allowed to be a little out of order, as ordinary specifications.
//!
//! Henzinger, Kirsch, Payer, Sezgin & Sokolova, *Quantitative relaxation of concurrent data structures*, and what Round-Up's
//! paper cites. With such a specification, *linearizability* is judged, by every checker: time counts, and what is left in
//! the object at the end does no harm. [`judge::quasi`](crate::judge::quasi) judges a criterion instead, which permutes
//! operations.
//!
//! | specification | what is bounded |
//! |---|---|
//! | [`RelaxedQueue`], [`RelaxedStack`], [`RelaxedPriorityQueue`] | the rank of what is taken: one of the `k + 1` oldest, newest or least |
//! | the same with `lateness` | also how often in a row the first is passed over |
//! | [`DisplacementQueue`] | how far from its place in the order of enqueues each value is dequeued, before and behind |
//! | [`Stuttering`] | how often in a row an operation has no effect |
//!
//! How they relate to definition 4, of histories of a queue whose values are distinct, with classes of enqueues (factor 0)
//! and dequeues (factor K):
//! - Linearizable as a `DisplacementQueue` of K *and drained* (every value was dequeued, no dequeue found nothing) implies
//!   definition 4. The reverse does not hold: definition 4 lets a value be dequeued before it is enqueued.
//! - If it is not drained, neither implies the other: definition 4 needs a legal order of all.
//! - What is legal for a `DisplacementQueue` of K is legal for a `RelaxedQueue` of K with lateness, and so without. For K up
//!   to 1 the two with bounds are the same. From 2 on they are not: a value is passed over at most K times *while it is
//!   first*, but may have been before, with others: it may be K^2 places late. Without lateness it may be passed over for
//!   ever.
//!
//! `tests/it/quasi.rs` tests all of this.

mod displacement;
mod priority_queue;
mod queue;
mod stack;
mod stuttering;

pub use displacement::{DisplacementQueue, DisplacementState};
pub use priority_queue::RelaxedPriorityQueue;
pub use queue::{RelaxedQueue, RelaxedQueueState};
pub use stack::{RelaxedStack, RelaxedStackState};
pub use stuttering::Stuttering;

use std::hash::Hash;
use std::marker::PhantomData;

use super::persistent::Chain;
use super::{ContainerRet, Outcomes};

/// A container `C` that may give out one of the `k + 1` values that are next, instead of the one that is: a [`RelaxedQueue`],
/// a [`RelaxedStack`] or a [`RelaxedPriorityQueue`].
#[derive(Clone, Copy, Debug)]
pub struct Relaxed<C> {
    k: u32,
    lateness: bool,
    relaxed_empty: bool,
    container: PhantomData<fn() -> C>,
}

impl<C> Relaxed<C> {
    /// Gives out one of the `k + 1` values that are next: the oldest of a queue, the newest of a stack, the least of a
    /// priority queue.
    pub const fn new(k: u32) -> Self {
        Self { k, lateness: false, relaxed_empty: false, container: PhantomData }
    }

    /// Whether the value that is next is passed over at most `k` times in a row.
    #[must_use]
    pub const fn lateness(mut self, yes: bool) -> Self {
        self.lateness = yes;
        self
    }

    /// Whether it may claim to be empty while it has up to `k` values.
    #[must_use]
    pub const fn relaxed_empty(mut self, yes: bool) -> Self {
        self.relaxed_empty = yes;
        self
    }

    /// Whether the value that is next must be taken, as it was passed over often enough.
    fn must_be_first(&self, passed_over: u32) -> bool {
        self.lateness && passed_over >= self.k
    }

    /// How often the value that is next has been passed over once another value was taken, or itself.
    fn passed_over_then(&self, passed_over: u32, is_other: bool) -> u32 {
        if self.lateness && is_other { passed_over + 1 } else { 0 }
    }

    /// Whether another value would still be among those that may be taken.
    fn is_few(&self, values: usize) -> bool {
        values <= self.k as usize
    }

    /// What an operation may return that takes a value, or looks at one; `first_of_far` is the value that comes next after
    /// those nearby, and the others.
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

/// What a [`RelaxedQueue`] or a [`RelaxedStack`] holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RelaxedState<V: Hash + Eq> {
    /// The `k + 1` values that are next, or all if there are less, in the order in which a strict container gives them out.
    near: Vec<V>,
    /// The others.
    far: Chain<V>,
    /// How often the first was passed over; 0 if that does not count.
    passed_over: u32,
}

impl<V: Hash + Eq> RelaxedState<V> {
    fn new() -> Self {
        Self { near: Vec::new(), far: Chain::new(), passed_over: 0 }
    }

    fn heap_size(&self) -> usize {
        self.near.capacity() * size_of::<V>() + self.far.heap_size()
    }
}

/// Adds an outcome, unless it is there.
fn add<Ret: PartialEq, State: PartialEq>(outcomes: &mut Outcomes<Ret, State>, result: Ret, next: State) {
    let one = (result, next);
    if !outcomes.contains(&one) {
        outcomes.push(one);
    }
}
