//! Signs of life on stderr: of what takes long, and only if somebody looks.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What takes longer shows that it is going on.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// Whether somebody looks.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Shows `message` and for how long it has gone on, from [`LONG`] on, until it is finished.
pub(crate) fn spinner(message: String) -> ProgressBar {
    if !is_seen() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
    let style = ProgressStyle::with_template("{spinner} {msg} for {elapsed} (Ctrl-C ends it with what is known)");
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
