//! `trueline algorithms`: lists the values of `--algorithm`.

use std::process::ExitCode;

use serde_json::json;
use trueline::judge::ALGORITHMS;

use crate::args::ListArgs;
use crate::output::{self, Written};

const COMPETE: (&str, &str) =
    ("compete:A,B[,..]", "runs several of these at once, each in its own thread; the first answer counts");

pub(crate) fn run(args: &ListArgs) -> ExitCode {
    let alone = ALGORITHMS.iter().map(|(algorithm, summary)| (algorithm.to_string(), *summary));
    let all: Vec<(String, &str)> = alone.chain([(COMPETE.0.to_owned(), COMPETE.1)]).collect();
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let written = output::stdout(|out| {
        for (name, summary) in &all {
            if args.json {
                writeln!(out, "{}", json!({ "name": name, "summary": summary }))?;
            } else {
                writeln!(out, "\x1b[1m{name:<width$}\x1b[0m  {summary}")?;
            }
        }
        Ok(())
    });
    if written == Written::Failed { ExitCode::from(2) } else { ExitCode::SUCCESS }
}
