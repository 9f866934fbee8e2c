//! Tests of published concurrent crates with trueline.

mod clean;
mod examples;
mod faults;
