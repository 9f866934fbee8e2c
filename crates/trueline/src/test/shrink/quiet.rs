//! A panic of the object is told once, when it is found: not again whenever a candidate panics.

use std::cell::Cell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

use super::threads::THREADS;

thread_local! {
    /// How many times this thread is to be quiet.
    static QUIET: Cell<u32> = const { Cell::new(0) };
}

/// While it is there, panics of this thread and of those that run candidates say nothing.
pub(in super::super) struct Quiet(());

impl Quiet {
    /// Hooks of others stay: they are asked for all other panics. It cannot be taken away again, since another may have been
    /// put in its place meanwhile.
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
