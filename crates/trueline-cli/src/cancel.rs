//! Handles Ctrl-C. Long work is canceled, and ends with the results so far; at any other time, the
//! program ends immediately.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use trueline::judge::CancelToken;

use crate::output;

/// When Ctrl-C is pressed, a note is printed to stderr before the work is canceled. This is the
/// maximum time to wait until the note has been written.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the program is doing work that ends early when the token of [`on_interrupt`] is
/// canceled.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Returns a token that Ctrl-C cancels while [`while_busy`] runs. Ctrl-C at any other time, or a
/// second Ctrl-C, ends the program.
pub(crate) fn on_interrupt() -> CancelToken {
    let token = CancelToken::new();
    let cancelled = token.clone();
    let set = ctrlc::set_handler(move || {
        if cancelled.is_cancelled() || !BUSY.load(Ordering::SeqCst) {
            // No verdict is known, so exit with the code for an undecided history.
            std::process::exit(3);
        }
        // The program may end as soon as the work is canceled, so print the note first. If the note
        // cannot be written because stderr has no reader, cancel the work nevertheless.
        let note =
            || output::note("interrupted: finishing with the results so far (press Ctrl-C again to stop at once)");
        let told = thread::spawn(note);
        let started = Instant::now();
        while !told.is_finished() && started.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        cancelled.cancel();
    });
    if let Err(fault) = set {
        output::note(format_args!(
            "Ctrl-C will stop trueline at once, without a result, because no handler could be installed: {fault}"
        ));
    }
    token
}

/// Runs work that ends early when the token of [`on_interrupt`] is canceled.
pub(crate) fn while_busy<T>(work: impl FnOnce() -> T) -> T {
    let before = BUSY.swap(true, Ordering::SeqCst);
    let done = work();
    BUSY.store(before, Ordering::SeqCst);
    done
}
