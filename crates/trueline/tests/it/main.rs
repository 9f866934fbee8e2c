//! The tests of the library as its users see it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it did")]

mod assertions;
mod families;
mod large;
mod layers;
#[cfg(feature = "named")]
mod mutate;
#[cfg(feature = "named")]
mod mutations;
mod oracle;
#[cfg(feature = "named")]
mod others_data;
mod papers;
mod prefixes;
mod rules;
mod shrink;
#[cfg(feature = "named")]
mod suite;
mod words;
