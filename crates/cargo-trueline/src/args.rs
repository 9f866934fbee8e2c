//! The command line.

use std::ffi::OsString;

use crate::Fallible;

/// The output of `--help`.
pub(crate) const HELP: &str = "\
Runs tests with schedule points inside crates that do not use trueline

At a schedule point, the scheduler of trueline can switch threads. To instrument a crate is to build it with a
replacement for `std` that has schedule points; the source code of the crate does not change.

Usage:
  cargo trueline test [OPTIONS] [CARGO TEST ARGUMENTS]
  cargo trueline replay TOKEN [TEST] [OPTIONS] [CARGO TEST ARGUMENTS]

Examples:
  cargo trueline test                                    instruments the crates of this workspace
  cargo trueline test --instrument crossbeam-queue       also crossbeam-queue and its dependencies
  cargo trueline replay 'program/a 1|b 2/3-1' my_test    repeats the run whose token a failing test printed

Options:
      --instrument CRATE,..  Also instrument these crates and their dependencies
      --instrument-all       Instrument all crates except trueline and its dependencies
  -h, --help                 Print help
  -V, --version              Print the version

Tests run one at a time unless RUST_TEST_THREADS is set, because static variables of instrumented crates belong to one
exploration at a time. The exit code is that of `cargo test`, or 2 if the command line or the project is invalid.
";

/// The parsed arguments of `cargo trueline`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) command: Command,
    pub(crate) instrument: Vec<String>,
    pub(crate) instrument_all: bool,
    /// The arguments that are passed on to cargo.
    pub(crate) cargo: Vec<OsString>,
    /// The value of `--target-dir`. Below this directory, this command creates its own target
    /// directories.
    pub(crate) target_dir: Option<OsString>,
    /// The value of `--target`: a target triple.
    pub(crate) target: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum Command {
    #[default]
    Help,
    Version,
    Test,
    /// Replay the run with this token.
    Replay(String),
}

/// Parses the command line, without the name of the program.
pub(crate) fn read(arguments: Vec<OsString>) -> Fallible<Args> {
    let mut arguments = arguments.into_iter();
    let mut args = Args::default();
    let text = |argument: OsString, what: &str| {
        argument.into_string().map_err(|text| format!("{what} is not UTF-8: {}", text.to_string_lossy().escape_debug()))
    };
    match arguments.next().map(|command| text(command, "the command")).transpose()?.as_deref() {
        None | Some("-h" | "--help" | "help") => return Ok(args),
        Some("-V" | "--version") => return Ok(Args { command: Command::Version, ..args }),
        Some("test") => args.command = Command::Test,
        Some("replay") => {
            let token = arguments.next().ok_or("replay needs the token that a failing test printed")?;
            args.command = Command::Replay(text(token, "the token")?);
        }
        Some(other) => {
            return Err(format!("there is no command `{}`; try `cargo trueline --help`", other.escape_debug()));
        }
    }
    while let Some(argument) = arguments.next() {
        let Some(known) = argument.to_str() else {
            args.cargo.push(argument);
            continue;
        };
        let (name, value) = match known.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(OsString::from(value))),
            _ => (known, None),
        };
        let mut value_of = || value.clone().or_else(|| arguments.next()).ok_or_else(|| format!("{name} needs a value"));
        match name {
            "--" => {
                args.cargo.push(argument);
                args.cargo.extend(arguments.by_ref());
            }
            "-h" | "--help" => return Ok(Args::default()),
            "--instrument-all" => args.instrument_all = true,
            "--instrument" => {
                let names = text(value_of()?, "the name of a crate")?;
                args.instrument.extend(names.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
            }
            "--target-dir" => args.target_dir = Some(value_of()?),
            "--target" => {
                let target = value_of()?;
                args.cargo.extend(["--target".into(), target.clone()]);
                args.target = Some(text(target, "the target")?);
            }
            _ => args.cargo.push(argument),
        }
    }
    Ok(args)
}

impl Args {
    /// Returns those of the arguments for cargo that `cargo metadata` also accepts.
    pub(crate) fn of_metadata(&self) -> Vec<OsString> {
        const FLAGS: [&str; 5] = ["--offline", "--locked", "--frozen", "--all-features", "--no-default-features"];
        const WITH_VALUES: [&str; 4] = ["--manifest-path", "--features", "-F", "--config"];
        let mut found = Vec::new();
        let mut arguments = self.cargo.iter().take_while(|argument| *argument != "--");
        while let Some(argument) = arguments.next() {
            let Some(text) = argument.to_str() else { continue };
            let has_value =
                WITH_VALUES.iter().any(|name| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')));
            if FLAGS.contains(&text) || has_value {
                found.push(argument.clone());
            } else if WITH_VALUES.contains(&text) {
                found.push(argument.clone());
                found.extend(arguments.next().cloned());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(words: &str) -> Fallible<Args> {
        read(words.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn own_options_are_taken_and_others_passed_on() {
        let args =
            read_words("test --instrument a,b --release -p c --instrument=d my_test -- --instrument e").expect("good");
        assert_eq!(args.command, Command::Test);
        assert_eq!(args.instrument, ["a", "b", "d"]);
        assert_eq!(args.cargo, ["--release", "-p", "c", "my_test", "--", "--instrument", "e"]);
        let args = read_words("replay t/o-k my_test --target-dir x --target y").expect("good");
        assert_eq!(args.command, Command::Replay("t/o-k".to_owned()));
        assert_eq!((args.target_dir, args.target.as_deref()), (Some("x".into()), Some("y")));
        assert_eq!(args.cargo, ["my_test", "--target", "y"]);
    }

    #[test]
    fn metadata_is_asked_with_what_it_understands() {
        let args = read_words("test --offline --manifest-path a/Cargo.toml --features=b --release -F c -- --locked");
        let found = args.expect("good").of_metadata();
        assert_eq!(found, ["--offline", "--manifest-path", "a/Cargo.toml", "--features=b", "-F", "c"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (words, part) in
            [("fly", "no command `fly`"), ("replay", "needs the token"), ("test --instrument", "needs a value")]
        {
            let error = read_words(words).expect_err(words);
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(read_words("test --help").expect("good").command, Command::Help);
    }
}
