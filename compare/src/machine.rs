//! The introduction of the page that shows the comparison: the machine, the versions of the crates,
//! and the method of measurement.

use std::fs;
use std::thread;

use crate::child::Limits;

const LOCK: &str = include_str!("../Cargo.lock");

/// Returns the version of a crate, from the lock file of the workspace.
fn version(name: &str) -> &'static str {
    let mut lines = LOCK.lines();
    let found = lines.find(|line| line.strip_prefix("name = ").is_some_and(|quoted| quoted.trim_matches('"') == name));
    let version = found.and_then(|_| lines.next()?.strip_prefix("version = "));
    version.map_or("unknown", |version| version.trim_matches('"'))
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or("unknown", |(_, model)| model.trim()).to_owned()
}

/// Returns the introduction of the page.
pub(crate) fn preamble(limits: Limits) -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let processor = processor();
    let (time, memory) = (limits.time.as_secs(), limits.memory_kib >> 20);
    let [trueline, porcupine, todc, stateright] = ["trueline", "porcupine-rs", "todc-utils", "stateright"].map(version);
    format!(
        "\
`cargo run --release --manifest-path compare/Cargo.toml -- --write COMPARISON.md` produces this page.

- **Machine**: {processor}, {cores} cores.
- **Checkers**: trueline {trueline}; porcupine-rs {porcupine}, todc-utils {todc}, stateright {stateright}, as they are
  published. Porcupine itself is written in Go, and Knossos in Clojure; neither was available on this machine.
- **Time**: each checker checks each history in a separate process, on one thread, up to 20 times within 2 s; the best time
  counts. Times are processor times, from the history in the checker's own data structures to the verdict (wall times for
  porcupine-rs with threads). Our verdict comes with a linearization that has been replayed, or with the exact event
  that no linearization allows; the verdict of the peers is yes or no. A checker that runs for {time} s, or uses
  {memory} GiB more than the history, is stopped and *gives up*.
- **Memory** is the peak of resident memory, minus the resident memory after the history was loaded.
- **Objects** for the peers are written with the collections of the standard library. Where a history is checked *by key*,
  it is split for the peers before the clock starts (trueline splits it itself); porcupine-rs can also split it, with a
  thread for each key.
- **Operations that never return** are not supported by porcupine-rs and todc-utils: these checkers receive them as
  operations that return last, with any result. For objects that allow every operation in every state, as all of these do,
  this is equivalent.
- **Verdicts** of all checkers agree with each other and with the expected verdicts, unless this page begins with a list of
  disagreements.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        assert_eq!(version("trueline"), env!("CARGO_PKG_VERSION"));
        for peer in ["porcupine-rs", "todc-utils", "stateright"] {
            assert!(version(peer).starts_with("0."), "{peer}");
        }
        assert_eq!(version("no-such-crate"), "unknown");
    }
}
