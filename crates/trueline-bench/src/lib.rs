//! Code that is shared by programs that measure trueline: histories, and the resources that a process uses.

pub mod failures;
pub mod histories;
pub mod usage;
