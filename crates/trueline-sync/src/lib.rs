//! Atomics, locks and threads with the signatures of `std`, for programs whose schedule is controlled.
//!
//! Each type wraps the `std` type with the same name, and has a *schedule point* before each access. A schedule
//! point calls the [`World`](primitives::World) of the current thread. Without a world, a schedule point is a load and
//! a branch that is never taken. A world that explores schedules decides at each schedule point which thread runs next.
//!
//! - [`sync`], [`thread`] and [`hint`] have the names and signatures of `std`. In a crate that `cargo trueline test`
//!   instruments, they replace those of `std` and `core`. They can also be used directly:
//!
//!   ```
//!   use trueline_sync::sync::atomic::{AtomicUsize, Ordering};
//!
//!   let tickets = AtomicUsize::new(0);
//!   assert_eq!(tickets.fetch_add(1, Ordering::Relaxed), 0);
//!   ```
//!
//! - [`primitives`] are for objects that are written to be tested by trueline. A thread that uses
//!   them can be canceled.
//!
//! This crate has no dependencies. Programs use it through `trueline`, which implements the worlds that explore
//! schedules.

mod cancel;
mod chaos;
#[cfg(all(trueline_instrumented, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod futex;
pub mod hint;
mod lock;
pub mod primitives;
mod random;
mod statics;
pub mod sync;
pub mod thread;
mod world;

#[doc(hidden)]
pub mod _macro_support {
    //! Items that the macros of this crate expand to.
    pub use std::thread_local as real_thread_local;
}

pub use cancel::DeadlockWatch;
pub use statics::Statics;
pub use world::{ValueKind, edge, is_instrumented, may_end};
