//! Primitives for objects that are written to be tested by trueline: the contents of `trueline::primitives`.
//!
//! Unlike a thread that uses the types of [`sync`](crate::sync), a thread that uses these
//! primitives can be [canceled](Cancellation) by unwinding. Their locks are never poisoned.

mod atomic;
mod condvar;
mod mutex;

pub use std::sync::atomic::Ordering;

pub use crate::cancel::{Cancellable, Cancellation, Cancelled, catch_cancelled};
pub use crate::chaos::Chaos;
pub use crate::world::{
    Access, AccessKind, Blocking, Entered, Place, Seen, Wake, World, choose, enter, point, spin_hint,
};
pub use atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
pub use condvar::Condvar;
pub use mutex::{Mutex, MutexGuard};
