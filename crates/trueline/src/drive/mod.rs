//! Making histories.
//!
//! So far, histories are [simulated](simulate): a sequential object is run with made-up calls and returns around its
//! operations. That is how checkers are tested and measured.

mod random;
mod simulate;

pub use random::Random;
pub use simulate::{Simulation, simulate};
