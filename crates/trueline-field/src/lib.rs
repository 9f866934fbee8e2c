//! Tests of published concurrent crates with trueline. This crate contains only tests.
//!
//! `tests/it/faults.rs` finds faults in the newest releases of four crates. `tests/it/clean.rs`
//! tests correct crates, as a control. `tests/it/examples.rs` contains example tests to adapt.
