//! Ctrl-C: long work ends with the results so far; everything else ends immediately.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use trueline::judge::CancelToken;

use crate::output;

/// The time that the note about the interruption may wait for a reader of stderr before the work is canceled.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether work that checks the token is running.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Returns a token that Ctrl-C cancels while [`while_busy`] runs. At any other time, or if it is pressed again, Ctrl-C
/// ends the program.
pub(crate) fn on_interrupt() -> CancelToken {
    let token = CancelToken::new();
    let cancelled = token.clone();
    let set = ctrlc::set_handler(move || {
        if cancelled.is_cancelled() || !BUSY.load(Ordering::SeqCst) {
            // The exit code for undecided: nothing is known.
            std::process::exit(3);
        }
        // The program may end as soon as the work is canceled, so the note is printed first. If stderr has no reader, the
        // work is canceled anyway.
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
            "Ctrl-C will stop this at once, without a result, because no handler could be installed: {fault}"
        ));
    }
    token
}

/// Runs work that checks the token.
pub(crate) fn while_busy<T>(work: impl FnOnce() -> T) -> T {
    let before = BUSY.swap(true, Ordering::SeqCst);
    let done = work();
    BUSY.store(before, Ordering::SeqCst);
    done
}
