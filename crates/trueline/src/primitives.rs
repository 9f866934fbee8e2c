//! The primitives that concurrent objects must use to be tested: atomics, mutexes, condition variables, waiting and
//! random choices.
//!
//! Each primitive wraps the one of `std`, and has a *schedule point* before each access, which calls the **world** of
//! its thread. So the same compiled object can be used in all of these ways:
//!
//! - Without a world, a schedule point is two loads, and branches that are never taken. This is how objects are
//!   normally used.
//! - In [`Chaos`], threads yield at some schedule points, and sometimes wake spuriously from a wait. This has the
//!   effect of a noisy machine, on any machine.
//! - Another [`World`] may stop each thread at its schedule points, and run the threads one at a time, in any order.
//!
//! An object must wait with [`spin_hint`], [`Mutex::lock`] or [`Condvar::wait`], and make random choices with
//! [`choose`]. Then it can be explored, and [canceled](Cancellation) when it is stuck.
//!
//! ```
//! use trueline::primitives::{AtomicU64, Ordering};
//!
//! /// A counter that loses increments: another may come between the load and the store.
//! #[derive(Default)]
//! struct Counter(AtomicU64);
//!
//! impl Counter {
//!     fn increment(&self) {
//!         let value = self.0.load(Ordering::SeqCst);
//!         self.0.store(value + 1, Ordering::SeqCst);
//!     }
//! }
//!
//! let counter = Counter::default();
//! counter.increment();
//! assert_eq!(counter.0.into_inner(), 1);
//! ```
//!
//! The orderings of accesses have the same meaning as in `std`. In a world that runs one thread at a time, every access
//! is immediately visible to all threads, whatever its ordering.

pub use trueline_sync::primitives::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Cancellation, Cancelled, Chaos, Condvar, Entered, Mutex, MutexGuard,
    Ordering, World, catch_cancelled, choose, enter, point, spin_hint,
};
// The interface between a world and the primitives, which only trueline's scheduler needs.
#[doc(hidden)]
pub use trueline_sync::primitives::{Access, AccessKind, Blocking, Cancellable, Place, Seen, Wake};

pub(crate) use trueline_sync::{DeadlockWatch, edge};
