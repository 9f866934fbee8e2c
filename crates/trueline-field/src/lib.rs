//! Published concurrent crates, tested by trueline: the tests are all there is.
//!
//! `tests/it/faults.rs` has faults that the newest releases of five crates have; `tests/it/clean.rs` has crates that are
//! right, as a control; `tests/it/examples.rs` are tests to begin one's own with.
