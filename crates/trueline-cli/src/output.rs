//! Writing to stdout and stderr without ever panicking.

use std::fmt::Display;
use std::io::{self, Write};

use trueline::history::{visible, visible_json};

/// Says on stderr what is wrong, on one line. If stderr is gone, nobody listens.
pub(crate) fn error(message: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "\x1b[1;31merror:\x1b[0m {}", visible(&message.to_string()));
}

/// Says on stderr what may not be what was meant, on one line.
pub(crate) fn warning(message: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "\x1b[1;33mwarning:\x1b[0m {}", visible(&message.to_string()));
}

/// Says on stderr what may be of interest, on one line.
pub(crate) fn note(message: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "\x1b[1mnote:\x1b[0m {}", visible(&message.to_string()));
}

/// Runs `write` with stdout, without colour where that is not wanted.
///
/// Returns whether stdout still takes what is written. If its reader went away, that is no error: the reader has what
/// it wanted. Any other failure is reported.
pub(crate) fn stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Written {
    let mut stdout = anstream::stdout().lock();
    match is_open().and_then(|()| write(&mut stdout)).and_then(|()| stdout.flush()) {
        Ok(()) => Written::All,
        Err(fault) if fault.kind() == io::ErrorKind::BrokenPipe => Written::ReaderGone,
        Err(fault) => {
            error(format_args!("cannot write to standard output: {fault}; free space, or write elsewhere"));
            Written::Failed
        }
    }
}

/// Writes a JSON object on a line of its own.
pub(crate) fn json(out: &mut dyn Write, object: &serde_json::Value) -> io::Result<()> {
    writeln!(out, "{}", visible_json(&object.to_string()))
}

/// An error if standard output cannot be written to, which the standard library passes over in silence.
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

/// Whether output was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Written {
    /// It was.
    All,
    /// Nobody reads it any more.
    ReaderGone,
    /// It could not be, and that was said.
    Failed,
}
