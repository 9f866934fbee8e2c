//! What programs that measure trueline share: histories, and what a process has used.

pub mod failures;
pub mod histories;
pub mod usage;
