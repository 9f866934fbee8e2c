//! The primitives that concurrent objects must use to be tested: atomics, mutexes, condition variables, waiting and
//! random choices.
//!
//! Each primitive wraps the corresponding `std` primitive, and has a *schedule point* before each
//! access. A schedule point calls the **world** of its thread: the scheduler that controls the
//! thread, if there is one. So the same compiled object can be used in all of these ways:
//!
//! - Without a world, as objects are normally used, a schedule point costs two loads, and branches
//!   that are never taken.
//! - In the world [`Chaos`], threads yield at some schedule points, and sometimes wake spuriously
//!   from a wait. So threads interleave as on a busy machine, even if the machine is idle.
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
// The interface between a world and the primitives. Only trueline's scheduler needs this interface.
#[doc(hidden)]
pub use trueline_sync::primitives::{Access, AccessKind, Blocking, Cancellable, Place, Seen, Wake};

pub(crate) use trueline_sync::{DeadlockWatch, edge};
