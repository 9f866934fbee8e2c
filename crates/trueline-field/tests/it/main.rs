//! Published concurrent crates, tested by trueline.

mod clean;
mod examples;
mod faults;
