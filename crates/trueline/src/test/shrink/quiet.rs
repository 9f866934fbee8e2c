//! Silences panics while candidates are tried: a panic of the object is reported once, when it is found.

use std::cell::Cell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

use super::threads::THREADS;

thread_local! {
    /// The number of `Quiet` values that exist on this thread.
    static QUIET: Cell<u32> = const { Cell::new(0) };
}

/// While it exists, panics of this thread, and of the threads that run candidates, print nothing.
pub(in super::super) struct Quiet(());

impl Quiet {
    /// Installs a panic hook on first use. The previous hook handles all other panics. Our hook is never removed,
    /// because another one may have been installed meanwhile.
    pub(in super::super) fn new() -> Self {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let others = take_hook();
            set_hook(Box::new(move |panic| {
                let is_candidate = std::thread::current().name() == Some(THREADS);
                if !is_candidate && QUIET.try_with(Cell::get).unwrap_or(0) == 0 {
                    others(panic);
                }
            }));
        });
        QUIET.set(QUIET.get() + 1);
        Self(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(QUIET.get() - 1);
    }
}
