//! A field that cannot be recorded.
use std::time::Instant;
use trueline::history::Datum;

#[derive(Datum)]
enum Polled {
    Pending,
    Ready { value: u32, at: Instant },
}

fn main() {}
