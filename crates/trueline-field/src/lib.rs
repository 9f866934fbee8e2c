//! Tests of published concurrent crates with trueline. This crate contains only tests.
//!
//! `tests/it/faults.rs` contains faults in the newest releases of four crates; `tests/it/clean.rs` contains correct
//! crates, as a control; `tests/it/examples.rs` contains tests to start from.
