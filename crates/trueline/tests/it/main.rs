//! The tests of the library as its users see it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it did")]

mod assertions;
mod families;
mod layers;
#[cfg(feature = "json")]
mod mutate;
#[cfg(feature = "json")]
mod mutations;
mod oracle;
#[cfg(feature = "json")]
mod others_data;
mod papers;
mod shrink;
#[cfg(feature = "json")]
mod suite;
