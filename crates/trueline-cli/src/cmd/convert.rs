//! `trueline convert`: a history in another format.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::process::ExitCode;

use trueline::history::RawHistory;
use trueline::history::codec::{self, CodecError, Target};

use crate::args::ConvertArgs;
use crate::input::{Input, Reading, Unreadable};
use crate::output;

pub(crate) fn run(args: &ConvertArgs) -> ExitCode {
    let reading = match Reading::new(&args.read, 0) {
        Ok(reading) => reading,
        Err(fault) => {
            output::error(fault);
            return ExitCode::from(2);
        }
    };
    let input = Input::of(&args.input);
    match reading.read(&input) {
        Ok(history) => write(&history, args.to.into(), args.output.as_deref(), &input.name()),
        Err(fault) => {
            output::error(fault.describe(&input.name()));
            ExitCode::from(2)
        }
    }
}

/// Writes a history to a file, or to stdout. What cannot be written is told of `source`.
pub(crate) fn write(history: &RawHistory, target: Target, to: Option<&Path>, source: &str) -> ExitCode {
    let written = match to.filter(|path| path.as_os_str() != "-") {
        None => codec::write(history, target, BufWriter::new(io::stdout().lock())),
        Some(path) => {
            // The file is made only if there is something to write.
            match codec::write(history, target, io::sink()).map(|()| File::create(path)) {
                Ok(Ok(file)) => codec::write(history, target, BufWriter::new(file)),
                Ok(Err(fault)) => {
                    output::error(format_args!("{}: cannot create: {fault}; check the path", path.display()));
                    return ExitCode::from(2);
                }
                Err(fault) => Err(fault),
            }
        }
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has what it wanted.
        Err(fault) if is_closed_pipe(&fault) => ExitCode::SUCCESS,
        Err(fault) => {
            let place = to.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
            match std::error::Error::source(&fault) {
                Some(_) => output::error(format_args!("{place}: {}; free space, or write elsewhere", fault.message())),
                None => output::error(Unreadable::from(fault).describe(source)),
            }
            ExitCode::from(2)
        }
    }
}

fn is_closed_pipe(fault: &CodecError) -> bool {
    let source = std::error::Error::source(fault).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe)
}
