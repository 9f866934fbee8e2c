//! The command line of trueline: judges recorded histories of concurrent objects, tests built-in ones, and handles files of
//! histories.
//!
//! `args` says what can be typed; each command is a file in `cmd`. Results go to stdout, everything else to stderr.

mod args;
mod cancel;
mod ci;
mod cmd;
mod input;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;
use trueline::history::visible;

use args::{Cli, Command};

/// The arguments. An error repeats those that are wrong, in a form that can be printed.
fn arguments() -> Cli {
    Cli::try_parse().unwrap_or_else(|fault| {
        let shown = std::env::args_os().map(|argument| visible(&argument.to_string_lossy()));
        Cli::try_parse_from(shown).err().filter(|shown| shown.kind() == fault.kind()).unwrap_or(fault).exit()
    })
}

fn main() -> ExitCode {
    match arguments().command {
        Command::Check(args) => cmd::check::run(&args),
        Command::Explain(args) => cmd::check::explain(&args),
        Command::View(args) => cmd::view::run(&args),
        Command::Test(args) => cmd::test::run(&args),
        Command::Explore(args) => cmd::explore::run(&args),
        Command::Convert(args) => cmd::convert::run(&args),
        Command::Lint(args) => cmd::lint::run(&args),
        Command::Generate(args) => cmd::generate::run(&args),
        Command::Collect(args) => cmd::collect::run(&args),
        Command::Specs(args) => cmd::specs::run(&args),
        Command::Algorithms(args) => cmd::algorithms::run(&args),
        Command::Completions(args) => cmd::completions::completions(&args),
        Command::Man(args) => cmd::completions::man(&args),
    }
}
