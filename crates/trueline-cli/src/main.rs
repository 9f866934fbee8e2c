//! The command line of trueline: judges recorded histories of concurrent objects, and tests built-in ones.
//!
//! `args` says what can be typed; each command is a file in `cmd`. Results go to stdout, everything else to stderr.

mod args;
mod cmd;
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
        Command::Specs(args) => cmd::specs::run(&args),
        Command::Algorithms(args) => cmd::algorithms::run(&args),
    }
}
