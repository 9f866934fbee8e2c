//! `trueline specs`: lists the values of `--spec`.

use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;
use trueline::registry::{SPECS, SpecInfo};

use crate::args::ListArgs;
use crate::output::{self, Written};

pub(crate) fn run(args: &ListArgs) -> ExitCode {
    let written = output::stdout(|out| {
        for spec in SPECS {
            if args.json { json(out, spec)? } else { text(out, spec)? }
        }
        if !args.json {
            writeln!(out, "Operation names may start with `:`, and may use `_` in place of `-`.")?;
        }
        Ok(())
    });
    if written == Written::Failed { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

fn text(out: &mut dyn Write, spec: &SpecInfo) -> io::Result<()> {
    writeln!(out, "\x1b[1m{}{}\x1b[0m  {}", spec.name, spec.parameter, spec.summary)?;
    for operation in spec.operations {
        let mut names = operation.name.to_owned();
        if !operation.aliases.is_empty() {
            names = format!("{names} ({})", operation.aliases.join(", "));
        }
        writeln!(out, "  {names}")?;
        writeln!(out, "      value: {}; result: {}", operation.value, operation.result)?;
    }
    writeln!(out)
}

fn json(out: &mut dyn Write, spec: &SpecInfo) -> io::Result<()> {
    let operations: Vec<_> = spec
        .operations
        .iter()
        .map(|operation| {
            json!({
                "name": operation.name,
                "aliases": operation.aliases,
                "value": operation.value,
                "result": operation.result,
            })
        })
        .collect();
    let spec = json!({
        "name": spec.name,
        "parameter": spec.parameter,
        "summary": spec.summary,
        "operations": operations,
    });
    writeln!(out, "{spec}")
}
