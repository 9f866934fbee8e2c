//! What a process has used: processor time, and memory as Linux tells it (0 elsewhere).

use std::fs;

/// The processor time of this process so far: other processes on a shared machine do not count, but what they do to
/// its caches does.
pub fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// What is resident of this process now, in KiB.
pub fn resident_kib() -> u64 {
    of("self", "VmRSS")
}

/// The most that was ever resident of this process, in KiB.
pub fn most_kib() -> u64 {
    of("self", "VmHWM")
}

/// The most that was ever resident of another process, in KiB.
pub fn most_kib_of(process: u32) -> u64 {
    of(&process.to_string(), "VmHWM")
}

/// Makes [`most_kib`] count from now on, where the system can do that.
pub fn forget_most() {
    // A system that cannot leaves the old maximum, which errs to our disadvantage and everybody else's alike.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn of(process: &str, field: &str) -> u64 {
    fs::read_to_string(format!("/proc/{process}/status"))
        .ok()
        .and_then(|status| {
            let line = status.lines().find(|line| line.starts_with(field))?;
            line.split_whitespace().nth(1)?.parse().ok()
        })
        .unwrap_or(0)
}
