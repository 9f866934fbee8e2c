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

use super::Outcomes;

/// Adds an outcome, unless it is there.
fn add<Ret: PartialEq, State: PartialEq>(outcomes: &mut Outcomes<Ret, State>, result: Ret, next: State) {
    let one = (result, next);
    if !outcomes.contains(&one) {
        outcomes.push(one);
    }
}
