//! Tests of the library's public interface.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tests print what they did")]

mod assertions;
mod bounded;
#[cfg(feature = "derive")]
mod derive;
mod families;
#[cfg(feature = "named")]
mod fuzz_judges;
#[cfg(feature = "named")]
mod guessed;
mod happens;
mod hostile;
mod hostile_text;
mod interval;
mod large;
mod layers;
#[cfg(feature = "named")]
mod live;
mod messages;
#[cfg(feature = "named")]
mod mutate;
#[cfg(feature = "named")]
mod mutations;
mod oracle;
#[cfg(feature = "named")]
mod others_data;
mod papers;
mod prefixes;
mod prose;
mod quasi;
#[cfg(feature = "named")]
mod ran;
mod rules;
mod shrink;
#[cfg(feature = "systematic")]
mod shrink_programs;
mod specified;
#[cfg(feature = "named")]
mod stress;
#[cfg(feature = "named")]
mod suite;
mod sync;
#[cfg(feature = "systematic")]
mod systematic;
mod tested;
#[cfg(feature = "systematic")]
mod unmodified;
#[cfg(feature = "named")]
mod versions;
#[cfg(feature = "json")]
mod view;
mod words;
