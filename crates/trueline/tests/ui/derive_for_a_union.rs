//! A derive for a union, which does not record which of its fields is valid.
use trueline::history::{Argument, Datum};

#[derive(Datum, Argument)]
union Bits {
    int: u32,
    bytes: [u8; 4],
}

fn main() {}
