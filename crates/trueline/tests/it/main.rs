//! The tests of the library as its users see it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it did")]

mod assertions;
mod families;
mod layers;
mod oracle;
mod papers;
#[cfg(feature = "json")]
mod suite;
