//! Shows the progress of long work on stderr, if stderr is a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use trueline::history::visible;

/// Work that takes longer than this shows its progress.
pub(crate) const LONG: Duration = Duration::from_secs(1);

/// Returns whether progress is shown, which is the case if stderr is a terminal.
pub(crate) fn is_seen() -> bool {
    io::stderr().is_terminal()
}

/// Shows `message` and the elapsed time, starting after [`LONG`], until the spinner is finished.
pub(crate) fn spinner(message: String) -> ProgressBar {
    shown_later(None, "{spinner} {msg} for {elapsed} (Ctrl-C stops it with the results so far)", message)
}

/// Shows how much of a file has been read, starting after [`LONG`], until the bar is finished. The size is 0 if it is
/// not known.
pub(crate) fn reading(name: &str, size: u64) -> ProgressBar {
    let name = visible(name);
    match size {
        0 => shown_later(None, "{spinner} {msg}: {bytes} in {elapsed}", format!("reading {name}")),
        size => {
            let template = "{bar:30} {bytes} of {total_bytes}, {eta} left, {wide_msg}";
            shown_later(Some(size), template, format!("reading {name}"))
        }
    }
}

fn shown_later(length: Option<u64>, template: &str, message: String) -> ProgressBar {
    if !is_seen() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
    spinner.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner()));
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
