//! `cargo trueline test`: runs tests with schedule points inside crates that do not depend on
//! trueline.
//!
//! A test of `trueline` can explore only the schedule points that the object has: accesses to the
//! atomics, locks and threads of `trueline-sync`. This command builds the same tests, but
//! instruments some crates: it replaces `std` and `core` in these crates with the shims of
//! `trueline-sync`. The source code of these crates is not changed, and the stable compiler is
//! used.
//!
//! - `args` reads the command line.
//! - `config` reads cargo's configuration files.
//! - `project` reads the dependencies from cargo, and decides which packages are instrumented.
//! - `shims` builds the shims.
//! - `wrapper` is called by cargo in place of the compiler, and adds the shims to its arguments.
//! - `run` combines these modules.

mod args;
mod config;
mod project;
mod run;
mod shims;
mod wrapper;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// A result whose error is a message about the command line or the project.
type Fallible<T> = Result<T, String>;

/// The exit code for bad usage or input.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let Some(code) = wrapper::run(&arguments) {
        return code;
    }
    // Cargo passes the name of the subcommand as the first argument.
    if arguments.first().is_some_and(|argument| argument == "trueline") {
        arguments.remove(0);
    }
    match run::run(arguments) {
        Ok(code) => code,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Prints an error or a note to standard error.
#[expect(clippy::print_stderr, reason = "this function is the only way to print errors and notes")]
fn complain(text: &str) {
    eprintln!("{text}");
}
