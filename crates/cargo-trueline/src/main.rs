//! `cargo trueline test`: runs tests with schedule points inside of crates that know nothing of trueline.
//!
//! A test of `trueline` explores schedules of an object as far as the object has schedule points: accesses to atomics, locks and
//! threads of `trueline-sync`. Here cargo builds the same tests with a compiler in which `std` and `core` mean the shims of
//! `trueline-sync`, for the crates that are named. Nothing in these crates changes, and the compiler is the stable one.
//!
//! - `args` reads the command line.
//! - `project` asks cargo what depends on what, and so which packages are instrumented.
//! - `shims` builds the shims.
//! - `wrapper` is called by cargo in place of the compiler, and adds the shims to its arguments.
//! - `run` puts it together.

mod args;
mod project;
mod run;
mod shims;
mod wrapper;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// What is wrong with the command line or the project, in words.
type Fallible<T> = Result<T, String>;

/// Bad usage or input.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = env::args_os().skip(1).collect();
    if let Some(code) = wrapper::run(&arguments) {
        return code;
    }
    // Cargo passes on the name of the subcommand.
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

/// Writes to standard error.
#[expect(clippy::print_stderr, reason = "errors and notes go there")]
fn complain(text: &str) {
    eprintln!("{text}");
}
