//! What concurrent objects are written on, so that they can be driven: atomics, mutexes, condition variables, waiting
//! and choosing.
//!
//! Each primitive is the one of `std` and, before each access, a *schedule point*: it asks the **world** that its thread
//! runs in. So one compiled object serves all:
//!
//! - Without a world a point is two loads and branches that are never taken. This is how objects are used.
//! - In [`Chaos`] a thread gives way at a point now and then, and wakes for nothing from a wait: the
//!   machine-independent form of a noisy machine.
//! - Another [`World`] may hold each thread at its points, and run them one at a time, in an order of its own.
//!
//! An object that waits says so, by [`spin_hint`], [`Mutex::lock`] or [`Condvar::wait`]; an object that makes a random
//! choice makes it by [`choose`]. Then it can be explored, and [cancelled](Cancellation) when it is stuck.
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
//! The orderings of accesses mean what they mean in `std`. A world that runs one thread at a time shows every access to
//! all at once, whatever its ordering.

pub use trueline_sync::primitives::{
    Access, AccessKind, AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Blocking, Cancellable, Cancellation, Cancelled,
    Chaos, Condvar, Entered, Mutex, MutexGuard, Ordering, Place, Seen, Wake, World, catch_cancelled, choose, enter,
    point, spin_hint,
};

pub(crate) use trueline_sync::{DeadlockWatch, edge};
