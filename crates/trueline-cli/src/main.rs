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

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Check(args) => cmd::check::run(&args),
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
