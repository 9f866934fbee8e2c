//! The resources that a process has used: its CPU time and its memory. The memory is known only on
//! Linux; on other systems, it is 0.

use std::fs;

/// Returns the CPU time of this process so far, in nanoseconds. On a shared machine, the time of other processes does
/// not count, but their effect on the caches does.
pub fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Returns the resident memory of this process, in KiB.
pub fn resident_kib() -> u64 {
    of("self", "VmRSS")
}

/// Returns the peak resident memory of this process, in KiB.
pub fn most_kib() -> u64 {
    of("self", "VmHWM")
}

/// Returns the peak resident memory of another process, in KiB.
pub fn most_kib_of(process: u32) -> u64 {
    of(&process.to_string(), "VmHWM")
}

/// Resets the peak that [`most_kib`] returns, if the operating system supports this.
pub fn forget_most() {
    // If the operating system does not support this, the old peak remains. Then the memory of every
    // measured program is overestimated by the same amount.
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
