//! Writes a history of a key-value store, of any length, as JSON lines: a load test for
//! `trueline check --follow`.
//!
//! ```text
//! cargo run --release -p trueline --example live_load -- 20000000 keys=1000 | trueline check --spec map --follow
//! ```
//!
//! Arguments: the number of operations, and optionally `keys=N`, `processes=N`, `unknown=N` (N of
//! 1,000 operations have an unknown outcome), `violation=N` (the first get that returns after more
//! than N calls has a wrong result) and `seed=N`.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

use trueline::drive::Random;

/// The state of a process and its operation.
#[derive(Clone, Copy)]
enum Process {
    Idle,
    /// The operation was called. Contains its key and, if the operation is a put, the value to put.
    Called(u32, Option<u64>),
    /// The operation took effect. If it is a get, contains its result.
    Done(Option<Option<u64>>),
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let operations: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1_000);
    let options: HashMap<String, u64> = arguments
        .filter_map(|option| {
            option.split_once('=').and_then(|(name, number)| Some((name.to_owned(), number.parse().ok()?)))
        })
        .collect();
    let option = |name: &str, default: u64| options.get(name).copied().unwrap_or(default);
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let (keys, count) = (small(option("keys", 1_000)).max(1), small(option("processes", 32)).max(1));
    let (unknown, violation) = (small(option("unknown", 0)), option("violation", u64::MAX));
    let mut random = Random::new(option("seed", 1));
    let mut values: Vec<Option<u64>> = vec![None; keys as usize];
    let mut processes = vec![Process::Idle; count as usize];
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut called, mut is_violated) = (0, false);
    while called < operations {
        let process = random.below(count);
        let state = &mut processes[process as usize];
        *state = match *state {
            Process::Idle => {
                called += 1;
                let key = random.below(keys);
                if random.chance(1, 2) {
                    writeln!(
                        out,
                        r#"{{"process":{process},"type":"invoke","f":"put","key":"k{key}","value":{called}}}"#
                    )?;
                    Process::Called(key, Some(called))
                } else {
                    writeln!(out, r#"{{"process":{process},"type":"invoke","f":"get","key":"k{key}","value":null}}"#)?;
                    Process::Called(key, None)
                }
            }
            Process::Called(key, put) => {
                let is_unknown = unknown > 0 && random.chance(unknown, 1_000);
                let value = &mut values[key as usize];
                let got = if let Some(put) = put {
                    if !is_unknown || random.chance(1, 2) {
                        *value = Some(put);
                    }
                    None
                } else {
                    Some(*value)
                };
                if is_unknown {
                    writeln!(out, r#"{{"process":{process},"type":"info"}}"#)?;
                    Process::Idle
                } else {
                    Process::Done(got)
                }
            }
            Process::Done(got) => {
                match got {
                    None => writeln!(out, r#"{{"process":{process},"type":"ok","f":"put","value":null}}"#)?,
                    Some(_) if called > violation && !is_violated => {
                        is_violated = true;
                        writeln!(out, r#"{{"process":{process},"type":"ok","f":"get","value":-1}}"#)?;
                        out.flush()?;
                    }
                    Some(Some(value)) => {
                        writeln!(out, r#"{{"process":{process},"type":"ok","f":"get","value":{value}}}"#)?;
                    }
                    Some(None) => writeln!(out, r#"{{"process":{process},"type":"ok","f":"get","value":null}}"#)?,
                }
                Process::Idle
            }
        };
    }
    out.flush()
}
