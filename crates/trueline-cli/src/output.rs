//! Writes to stdout and stderr without ever panicking, and without waiting for their readers longer than the limits
//! allow.

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anstream::AutoStream;
use trueline::history::{visible, visible_json};

/// The deadline for readers of the output; `None` waits indefinitely.
static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);

/// Sets the deadline until which writes to stdout and stderr wait for a reader; `None` waits indefinitely.
pub(crate) fn wait_until(deadline: Option<Instant>) {
    *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
}

/// Prints an error to stderr, on one line. Failures to write are ignored.
pub(crate) fn error(message: impl Display) {
    tell("\x1b[1;31merror:\x1b[0m", &message.to_string());
}

/// Prints a warning to stderr, on one line.
pub(crate) fn warning(message: impl Display) {
    tell("\x1b[1;33mwarning:\x1b[0m", &message.to_string());
}

/// Prints a note to stderr, on one line.
pub(crate) fn note(message: impl Display) {
    tell("\x1b[1mnote:\x1b[0m", &message.to_string());
}

fn tell(heading: &str, message: &str) {
    let mut stderr = colored(stream::stderr(), AutoStream::choice(&io::stderr()));
    let _ = writeln!(stderr, "{heading} {}", visible(message)).and_then(|()| stderr.flush());
}

/// Returns standard output, for text without colors.
pub(crate) fn plain_stdout() -> impl Write {
    stream::stdout()
}

/// Returns a buffered writer. It removes colors from the text unless `choice` allows colors.
fn colored(stream: impl Write + 'static, choice: anstream::ColorChoice) -> AutoStream<Box<dyn Write>> {
    AutoStream::new(Box::new(BufWriter::new(stream)), choice)
}

/// Runs `write` with standard output. Colors are removed where they are not supported, such as in a
/// file.
///
/// Returns whether the output was written. A closed pipe is not an error, because its reader needs
/// no more output. All other failures are reported to stderr.
pub(crate) fn stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Written {
    let mut stdout = colored(stream::stdout(), AutoStream::choice(&io::stdout()));
    match is_open().and_then(|()| write(&mut stdout)).and_then(|()| stdout.flush()) {
        Ok(()) => Written::All,
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Written::ReaderGone,
        Err(fault) if fault.kind() == io::ErrorKind::TimedOut => {
            error(
                "the time limit was reached while standard output waited for its reader; read the output sooner, or raise --timeout",
            );
            Written::Late
        }
        Err(fault) => {
            error(format_args!("cannot write to standard output: {fault}; free some space, or write elsewhere"));
            Written::Failed
        }
    }
}

/// Writes a JSON object on a line of its own.
pub(crate) fn json(out: &mut dyn Write, object: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", visible_json(&object.to_string()))
}

/// Returns an error if standard output cannot be written to. The standard library ignores such errors silently.
pub(crate) fn is_open() -> io::Result<()> {
    if trueline::drive::stdout_was_closed() {
        return Err(io::Error::other("it is closed"));
    }
    #[cfg(unix)]
    {
        use rustix::fs::{OFlags, fcntl_getfl};
        if fcntl_getfl(io::stdout())?.intersection(OFlags::ACCMODE) == OFlags::RDONLY {
            return Err(rustix::io::Errno::BADF.into());
        }
    }
    Ok(())
}

/// The result of writing output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Written {
    /// Everything was written.
    All,
    /// The reader has closed the pipe.
    ReaderGone,
    /// Writing failed, and the error was reported.
    Failed,
    /// The reader did not read the output before the deadline, and this was reported.
    Late,
}

/// Standard output and standard error. Writes wait for slow readers, until the deadline.
#[cfg(unix)]
mod stream {
    use std::io::{self, Write};
    use std::os::fd::BorrowedFd;
    use std::sync::PoisonError;
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// The largest write that fits into every pipe that `poll` reports as writable.
    const PIECE: usize = 4096;

    pub(super) fn stdout() -> impl Write + 'static {
        Waiting(rustix::stdio::stdout())
    }

    pub(super) fn stderr() -> impl Write + 'static {
        Waiting(rustix::stdio::stderr())
    }

    struct Waiting(BorrowedFd<'static>);

    impl Waiting {
        /// Waits until the stream is writable, or returns an error once the deadline has passed.
        fn wait(&self) -> io::Result<()> {
            let deadline = *super::DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
                // A time that does not fit into a `Timespec` counts as unlimited.
                let timeout = left.and_then(|left| Timespec::try_from(left).ok());
                match poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], timeout.as_ref()) {
                    Ok(0) if left == Some(Duration::ZERO) => return Err(io::ErrorKind::TimedOut.into()),
                    Ok(0) | Err(rustix::io::Errno::INTR) => {}
                    Ok(_) => return Ok(()),
                    Err(fault) => return Err(fault.into()),
                }
            }
        }
    }

    impl Write for Waiting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            loop {
                self.wait()?;
                match rustix::io::write(self.0, &bytes[..bytes.len().min(PIECE)]) {
                    // Another process has filled the pipe in the meantime.
                    Err(rustix::io::Errno::AGAIN) => {}
                    written => return Ok(written?),
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}

/// Standard output and standard error. Writes wait for slow readers indefinitely.
#[cfg(not(unix))]
mod stream {
    pub(super) use std::io::{stderr, stdout};
}
