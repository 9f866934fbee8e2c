//! The command line of trueline: judges recorded histories of concurrent objects, tests built-in objects, and converts,
//! checks and generates files of histories.
//!
//! `args` defines the arguments; each command has a file in `cmd`. Results go to stdout, everything else to stderr.

mod args;
mod cancel;
mod ci;
mod cmd;
mod input;
mod limits;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;
use trueline::history::visible;

use args::{Cli, Command};

/// Parses the arguments. An error quotes wrong arguments in an escaped form, which is safe to print.
fn arguments() -> Result<Cli, clap::Error> {
    Cli::try_parse().map_err(|fault| {
        let shown = std::env::args_os().map(|argument| visible(&argument.to_string_lossy()));
        Cli::try_parse_from(shown).err().filter(|shown| shown.kind() == fault.kind()).unwrap_or(fault)
    })
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(fault) if fault.use_stderr() => fault.exit(),
        // Help and version go to stdout, like results.
        Err(help) => {
            let written = output::stdout(|out| write!(out, "{}", help.render().ansi()));
            return ExitCode::from(if written == output::Written::Failed { 2 } else { 0 });
        }
    };
    let done = match arguments.command {
        Command::Check(args) => cmd::check::run(&args),
        Command::Explain(args) => cmd::check::explain(&args),
        Command::View(args) => cmd::view::run(&args),
        Command::Test(args) => Ok(cmd::test::run(&args)),
        Command::Explore(args) => Ok(cmd::explore::run(&args)),
        Command::Convert(args) => cmd::convert::run(&args),
        Command::Map(args) => cmd::map::run(&args),
        Command::Lint(args) => cmd::lint::run(&args),
        Command::Generate(args) => Ok(cmd::generate::run(&args)),
        Command::Collect(args) => Ok(cmd::collect::run(&args)),
        Command::Specs(args) => Ok(cmd::specs::run(&args)),
        Command::Algorithms(args) => Ok(cmd::algorithms::run(&args)),
        Command::Completions(args) => Ok(cmd::completions::completions(&args)),
        Command::Man(args) => cmd::completions::man(&args),
    };
    done.unwrap_or_else(|fault| {
        output::error(fault);
        ExitCode::from(2)
    })
}
