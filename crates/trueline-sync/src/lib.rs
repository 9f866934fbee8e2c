//! Atomics, locks and threads with the signatures of `std`, whose schedule can be chosen.
//!
//! Each type is the one of `std` and, before each access, a *schedule point*: it asks the [`World`](primitives::World) that
//! its thread runs in. Without a world a point is a load and a branch that is never taken. In a world that explores
//! schedules, it is decided there which thread goes on.
//!
//! - [`sync`], [`thread`] and [`hint`] have the names and signatures of `std`. They are what `std` and `core` mean in a crate
//!   that `cargo trueline test` instruments, and can be used by name, too:
//!
//!   ```
//!   use trueline_sync::sync::atomic::{AtomicUsize, Ordering};
//!
//!   let tickets = AtomicUsize::new(0);
//!   assert_eq!(tickets.fetch_add(1, Ordering::Relaxed), 0);
//!   ```
//!
//! - [`primitives`] are for objects that are written to be tested by trueline. They can be cancelled.
//!
//! This crate has no dependencies. Programs use it by way of `trueline`, which has the worlds.

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
    //! What macros of this crate need, wherever they are used.
    pub use std::thread_local as real_thread_local;
}

pub use cancel::DeadlockWatch;
pub use statics::Statics;
pub use world::{ValueKind, edge, is_instrumented, may_end};
