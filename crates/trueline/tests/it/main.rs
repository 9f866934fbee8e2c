//! The tests of the library as its users see it.

mod families;
mod oracle;
