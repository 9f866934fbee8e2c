//! The tests of the library as its users see it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a test says what it did")]

mod families;
mod mutate;
mod mutations;
mod oracle;
mod others_data;
