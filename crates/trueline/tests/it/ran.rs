//! Measures time without the influence of other programs on a busy machine.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Returns how long the calling thread has run on a processor. If the system does not report that, returns how long the
/// process has existed.
pub(crate) fn ran() -> Duration {
    static STARTED: LazyLock<Instant> = LazyLock::new(Instant::now);
    let known = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
    };
    known().unwrap_or_else(|| STARTED.elapsed())
}
