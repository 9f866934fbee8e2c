//! A union does not say which of its fields is valid.
use trueline::history::{Argument, Datum};

#[derive(Datum, Argument)]
union Bits {
    int: u32,
    bytes: [u8; 4],
}

fn main() {}
