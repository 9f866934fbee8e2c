//! The panic hook of tests: it silences panics while shrinking tries candidates, and keeps track of
//! the panics that are being printed.
//!
//! A panic with a backtrace may take seconds to print. A thread that prints one makes progress, so watchdogs do not count
//! this time.

use std::cell::Cell;
use std::panic::{set_hook, take_hook};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant};

/// The name of threads whose panics are not printed.
pub(crate) const QUIET_THREADS: &str = "trueline, smaller";

/// The time after which printing a panic no longer counts as progress, because a panic hook that the
/// test has installed may never return.
const LONGEST: Duration = Duration::from_secs(5);

thread_local! {
    /// The number of `Quiet` values that exist on this thread.
    static QUIET: Cell<u32> = const { Cell::new(0) };
}

/// For each panic that is being printed, the time when printing began.
static PRINTING: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

fn printing() -> MutexGuard<'static, Vec<Instant>> {
    PRINTING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the hook when first called. To print a panic, this hook calls the hook that was installed
/// before. This hook is never removed, because another hook may have been installed meanwhile.
pub(crate) fn install() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            let is_candidate = std::thread::current().name() == Some(QUIET_THREADS);
            if !is_candidate && QUIET.try_with(Cell::get).unwrap_or(0) == 0 {
                let began = Instant::now();
                printing().push(began);
                others(panic);
                let mut printing = printing();
                if let Some(place) = printing.iter().position(|other| *other == began) {
                    printing.swap_remove(place);
                }
            }
        }));
    });
}

/// Returns whether a thread of this process is printing a panic. Ignores panics whose printing has
/// taken longer than [`LONGEST`].
pub(crate) fn are_printed() -> bool {
    printing().iter().any(|began| began.elapsed() < LONGEST)
}

/// While this value exists, panics of the current thread print nothing. Panics of threads with the
/// name [`QUIET_THREADS`] never print anything.
pub(crate) struct Quiet(());

impl Quiet {
    pub(crate) fn new() -> Self {
        install();
        QUIET.set(QUIET.get() + 1);
        Self(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(QUIET.get() - 1);
    }
}
