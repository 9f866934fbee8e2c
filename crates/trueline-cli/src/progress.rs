//! Progress of long work, on stderr and only if it is a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes longer than this shows its progress.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// Returns whether progress is shown: stderr is a terminal.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Shows `message` and the elapsed time, starting after [`LONG`], until the spinner is finished.
pub(crate) fn spinner(message: String) -> ProgressBar {
    if !is_seen() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{spinner} {msg} for {elapsed} (Ctrl-C stops it with the results so far)");
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.set_message(message);
    let shown = spinner.downgrade();
    std::thread::spawn(move || {
        std::thread::sleep(LONG);
        if let Some(spinner) = shown.upgrade().filter(|spinner| !spinner.is_finished()) {
            spinner.set_draw_target(ProgressDrawTarget::stderr());
            spinner.enable_steady_tick(Duration::from_millis(200));
        }
    });
    spinner
}
