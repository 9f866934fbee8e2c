//! The derive macro has no options.
use trueline::history::Datum;

#[derive(Datum)]
struct Job {
    id: u32,
    #[datum(skip)]
    urgent: bool,
}

fn main() {}
