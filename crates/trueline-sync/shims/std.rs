//! Replaces `std` in a crate that `cargo trueline` instruments. Contains all of `std`, except that
//! the atomics, locks and threads are those of `trueline-sync`.
//!
//! Each replaced name is imported explicitly, because an explicit import takes precedence over a glob import. If both
//! crates were glob imported, the names of `std` would win, and nothing would be instrumented.

pub use ::std::*;

pub use trueline_sync::thread_local;

pub mod prelude {
    //! `std::prelude`. Some macros are in scope in every crate: newer compilers take these macros
    //! from this module, and older compilers take them from the crate root.
    pub use ::std::prelude::*;

    macro_rules! with_thread_local {
        ($($name:ident)*) => {
            $(pub mod $name {
                //! A prelude of `std`.
                pub use ::std::prelude::$name::*;

                pub use trueline_sync::thread_local;
            })*
        };
    }

    with_thread_local! { v1 rust_2015 rust_2018 rust_2021 rust_2024 }
}

pub mod sync {
    //! `std::sync`.
    pub use ::std::sync::*;

    #[expect(deprecated, reason = "instrumented crates may use this name")]
    pub use trueline_sync::sync::ONCE_INIT;
    pub use trueline_sync::sync::{
        Barrier, BarrierWaitResult, Condvar, LazyLock, Mutex, MutexGuard, Once, OnceLock, OnceState, RwLock,
        RwLockReadGuard, RwLockWriteGuard, WaitTimeoutResult,
    };

    pub use trueline_shim_core::sync::atomic;

    pub mod mpsc {
        //! `std::sync::mpsc`.
        pub use ::std::sync::mpsc::*;

        pub use trueline_sync::sync::mpsc::{
            IntoIter, Iter, Receiver, Sender, SyncSender, TryIter, channel, sync_channel,
        };
    }
}

pub use trueline_shim_core::hint;

pub mod thread {
    //! `std::thread`.
    pub use ::std::thread::*;

    pub use trueline_sync::thread::{
        AccessError, Builder, JoinHandle, LocalKey, Scope, ScopedJoinHandle, Thread, ThreadId, current, park,
        park_timeout, scope, sleep, spawn, yield_now,
    };
    #[expect(deprecated, reason = "instrumented crates may use these names")]
    pub use trueline_sync::thread::{park_timeout_ms, sleep_ms};
}
