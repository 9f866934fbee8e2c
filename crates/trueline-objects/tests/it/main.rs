//! The objects against their specifications: alone, and under several threads.

mod concurrent;
mod record;
mod sequential;
mod workloads;
