//! Reads environment variables.

use std::str::FromStr;
use std::time::Duration;

use super::plan::Options;
use crate::history::visible;

/// The environment variables that change how tests run, with their descriptions.
pub(super) const VARIABLES: [(&str, &str); 11] = [
    ("TRUELINE_SEED", "the seed of all randomness"),
    ("TRUELINE_REPLAY", "the token of the run to repeat, as a report printed it"),
    ("TRUELINE_TIME", "the time for runs, in seconds"),
    ("TRUELINE_RUNS", "the number of runs, which replaces the time limit"),
    ("TRUELINE_THREADS", "the number of threads"),
    ("TRUELINE_OPERATIONS", "the number of operations of each thread"),
    ("TRUELINE_CHAOS", "N, to yield at one in N schedule points; 0 disables yielding"),
    ("TRUELINE_CLOCK", "tsc, instant or counter"),
    ("TRUELINE_PAGES", "the directory for pages that show failing runs"),
    ("TRUELINE_SHRINK_TIME", "the time for shrinking the program of a failing run, in seconds"),
    ("TRUELINE_WEAK", "1, to also call operations that are tagged weak"),
];

/// Reads a variable.
///
/// # Panics
/// Panics if the variable is set to an invalid value: a test that ignored it would not test what
/// the user asked for.
fn read<T: FromStr<Err: std::fmt::Display>>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    let what = VARIABLES.iter().find(|(known, _)| *known == name).map_or("", |(_, what)| what);
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => panic!(
            "{name}={} cannot be read ({}): it must be {what}; correct it, or unset it",
            visible(&text),
            visible(&error.to_string())
        ),
    }
}

/// Reads a variable that is a number of seconds.
fn read_seconds(name: &str) -> Option<Duration> {
    let seconds = read::<f64>(name)?;
    let time = Duration::try_from_secs_f64(seconds);
    Some(time.unwrap_or_else(|error| panic!("{name}={seconds} cannot be read: {error}")))
}

/// Returns whether tests call operations that are tagged as weak, or `None` if the variable is not
/// set.
pub(super) fn weak() -> Option<bool> {
    read::<u8>("TRUELINE_WEAK").map(|weak| weak != 0)
}

impl Options {
    /// Returns these options. For each environment variable that is set, its value overrides an
    /// option.
    pub(super) fn with_environment(mut self) -> Self {
        self.seed = read("TRUELINE_SEED").or(self.seed);
        self.replay = read("TRUELINE_REPLAY").or(self.replay);
        if let Some(time) = read_seconds("TRUELINE_TIME") {
            (self.time, self.runs) = (Some(time), None);
        }
        self.shrink_for = read_seconds("TRUELINE_SHRINK_TIME").unwrap_or(self.shrink_for);
        if let Some(runs) = read("TRUELINE_RUNS") {
            (self.runs, self.time) = (Some(runs), None);
        }
        self.threads = read("TRUELINE_THREADS").or(self.threads);
        self.operations = read("TRUELINE_OPERATIONS").map(|operations| (operations, operations)).or(self.operations);
        self.chaos = read("TRUELINE_CHAOS").or(self.chaos);
        self.clock = read("TRUELINE_CLOCK").or(self.clock);
        self.pages = read("TRUELINE_PAGES").or(self.pages);
        self
    }
}
