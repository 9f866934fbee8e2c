//! `trueline convert`: writes a history in another format.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use trueline::history::RawHistory;
use trueline::history::codec::{self, CodecError, Target};
use trueline::view::file;

use crate::args::ConvertArgs;
use crate::cancel;
use crate::input::{Input, Reading, Unreadable};
use crate::limits::{Limits, Stage};
use crate::output;

pub(crate) fn run(args: &ConvertArgs) -> Result<ExitCode, String> {
    let reading = Reading::new(&args.read, 0)?;
    let input = Input::of(&args.input);
    input.refuse_as_output(args.output.as_deref().filter(|path| path.as_os_str() != "-"))?;
    let name = input.name();
    let limits = Limits::start(&args.limits, &cancel::on_interrupt());
    let told = |fault: &Unreadable| {
        output::error(fault.describe(&name));
        fault.code()
    };
    let read = || cancel::while_busy(|| reading.read(&input, &limits));
    let late = |kind| told(&Unreadable::limit(kind));
    let history = match limits.watch(Stage::Judging, late, read) {
        Ok(history) => history,
        Err(fault) => return Ok(ExitCode::from(told(&fault))),
    };
    let output = args.output.as_deref();
    let write = || write(&history, args.to.into(), output, &name, Some(&limits));
    // Writing to a pipe that has no reader could take forever, so `watch` ends the process when a
    // limit is reached. Writing to a regular file is not watched: it does not take long, and ending
    // the process while it writes might leave a temporary file behind.
    let may_block = output.is_some_and(|path| path.metadata().is_ok_and(|data| !data.is_file()));
    Ok(if may_block { limits.watch(Stage::Drawing, late, write) } else { write() })
}

/// Writes a history to a file, or to stdout. In error messages, `source` is the name of the
/// history.
pub(crate) fn write(
    history: &RawHistory,
    target: Target,
    to: Option<&Path>,
    source: &str,
    limits: Option<&Limits>,
) -> ExitCode {
    let write = |out: &mut dyn Write| {
        codec::write(history, target, BufWriter::new(Limited { out, limits })).map_err(Unwritten::Codec)
    };
    let written = match to.filter(|path| path.as_os_str() != "-") {
        None => output::is_open().map_err(Unwritten::Io).and_then(|()| write(&mut output::plain_stdout())),
        Some(path) => file::write_with(path, write),
    };
    if let (Err(_), Some(kind)) = (&written, limits.and_then(Limits::reached)) {
        let fault = Unreadable::limit(kind);
        output::error(fault.describe(source));
        return ExitCode::from(fault.code());
    }
    let place = || to.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
    match written {
        Ok(()) => return ExitCode::SUCCESS,
        // The reader has closed the pipe, because it needs no more output.
        Err(Unwritten::Codec(fault)) if is_closed_pipe(&fault) => return ExitCode::SUCCESS,
        Err(Unwritten::Codec(fault)) => match std::error::Error::source(&fault) {
            Some(_) => {
                output::error(format_args!("{}: {}; free some space, or write elsewhere", place(), fault.message()))
            }
            None => output::error(Unreadable::from(fault).describe(source)),
        },
        Err(Unwritten::Io(fault)) => {
            output::error(format_args!("{}: cannot write: {fault}; check the path, or free some space", place()));
        }
    }
    ExitCode::from(2)
}

/// A writer that fails when a limit is reached.
struct Limited<'w> {
    out: &'w mut dyn Write,
    limits: Option<&'w Limits>,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.limits.and_then(Limits::reached) {
            Some(kind) => Err(io::Error::other(format!("the {kind} limit was reached"))),
            None => self.out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The reason why a history was not written.
enum Unwritten {
    Codec(CodecError),
    Io(io::Error),
}

impl From<io::Error> for Unwritten {
    fn from(fault: io::Error) -> Self {
        Self::Io(fault)
    }
}

fn is_closed_pipe(fault: &CodecError) -> bool {
    let source = std::error::Error::source(fault).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
