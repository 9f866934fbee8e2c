//! Replaces `core` in a crate that `cargo trueline` instruments. Contains all of `core`, except
//! that the atomics are those of `trueline-sync`.
//!
//! Each replaced name is imported explicitly, because an explicit import takes precedence over a glob import. If both
//! crates were glob imported, the names of `core` would win, and nothing would be instrumented.
#![no_std]

pub use ::core::*;

pub mod sync {
    //! `core::sync`.
    pub use ::core::sync::*;

    pub mod atomic {
        //! `core::sync::atomic`.
        pub use ::core::sync::atomic::*;

        #[expect(deprecated, reason = "instrumented crates may use these names")]
        pub use trueline_sync::sync::atomic::{ATOMIC_BOOL_INIT, ATOMIC_ISIZE_INIT, ATOMIC_USIZE_INIT, spin_loop_hint};
        pub use trueline_sync::sync::atomic::{AtomicBool, AtomicPtr, fence};
        #[cfg(target_has_atomic = "8")]
        pub use trueline_sync::sync::atomic::{AtomicI8, AtomicU8};
        #[cfg(target_has_atomic = "16")]
        pub use trueline_sync::sync::atomic::{AtomicI16, AtomicU16};
        #[cfg(target_has_atomic = "32")]
        pub use trueline_sync::sync::atomic::{AtomicI32, AtomicU32};
        #[cfg(target_has_atomic = "64")]
        pub use trueline_sync::sync::atomic::{AtomicI64, AtomicU64};
        #[cfg(target_has_atomic = "ptr")]
        pub use trueline_sync::sync::atomic::{AtomicIsize, AtomicUsize};
    }
}

pub mod hint {
    //! `core::hint`.
    pub use ::core::hint::*;

    pub use trueline_sync::hint::spin_loop;
}
