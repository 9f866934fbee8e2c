//! `cargo trueline`, by the real command.
