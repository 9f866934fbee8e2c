//! `trueline map`: proposes a mapping for a foreign log, or shows the operations that a mapping reads from it.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::Value as Json;
use trueline::history::codec::mapping::{self, Guess, Mapping};
use trueline::history::codec::{self, Format};
use trueline::history::{RawHistory, visible, visible_json};

use crate::args::MapArgs;
use crate::cancel;
use crate::input::{Input, Reading, Unreadable};
use crate::limits::{Limits, Stage};
use crate::output::{self, Written};

/// A proposal is based on at most this many bytes from the beginning of the file.
const LOOKED_AT: u64 = 1 << 20;

/// Maximum number of fields that are listed.
const MOST_FIELDS: usize = 40;

pub(crate) fn run(args: &MapArgs) -> Result<ExitCode, String> {
    let reading = Reading::new(&args.read, 0)?;
    let input = Input::of(&args.input);
    if args.guess && matches!(input, Input::Stdin) {
        return Err("standard input cannot be read twice; give a file to --guess".to_owned());
    }
    let name = input.name();
    let limits = Limits::start(&args.limits, &cancel::on_interrupt());
    let told = |fault: &Unreadable| {
        output::error(fault.describe(&name));
        fault.code()
    };
    let work = || {
        cancel::while_busy(|| {
            if args.guess { guessed(args, reading, &input, &limits) } else { shown(args, &reading, &input, &limits) }
        })
    };
    let (text, code) = match limits.watch(Stage::Judging, |kind| told(&Unreadable::limit(kind)), work) {
        Ok(text) => (text, 0),
        Err((text, fault)) => (text, told(&fault)),
    };
    if text.is_empty() {
        return Ok(ExitCode::from(code));
    }
    let written = output::stdout(|out| out.write_all(text.as_bytes()));
    Ok(ExitCode::from(match written {
        Written::All | Written::ReaderGone => code,
        Written::Late => 3,
        Written::Failed => 2,
    }))
}

/// Returns the first operations of a history, which is read with the mapping from the arguments.
fn shown(args: &MapArgs, reading: &Reading, input: &Input, limits: &Limits) -> Result<String, (String, Unreadable)> {
    let history = reading.read(input, limits).map_err(|fault| (String::new(), fault))?;
    Ok(operations(&history, args.show, ""))
}

/// Returns a text that contains a proposed mapping, and the first operations as read with this
/// mapping. On failure, returns the part of the text that could be generated, and the reason for
/// the failure.
fn guessed(args: &MapArgs, reading: Reading, input: &Input, limits: &Limits) -> Result<String, (String, Unreadable)> {
    let nothing = |fault| (String::new(), fault);
    let mut start = input.start(LOOKED_AT, limits).map_err(nothing)?;
    if matches!(codec::detect(&start), Some(Format::Parquet | Format::Arrow)) {
        // The description of the columns may be at the end of the file, so read all of it.
        start = input.start(u64::MAX, limits).map_err(nothing)?;
    }
    let guess = mapping::guess(&start).map_err(|fault| nothing(fault.into()))?;
    let mut text = toml(&guess.description);
    for doubt in &guess.doubts {
        let _ = writeln!(text, "# {}", visible(doubt));
    }
    let listed = fields(&guess);
    let mapping = match Mapping::from_json(&guess.description) {
        Ok(mapping) => mapping,
        Err(fault) => return Err((text + &listed, format!("no complete mapping could be guessed: {fault}").into())),
    };
    match reading.with_mapping(mapping).read(input, limits) {
        Ok(history) => Ok(text + &operations(&history, args.show, "# ")),
        Err(fault) => Err((text + &listed, fault)),
    }
}

/// Lists the fields of the file, as TOML comments.
fn fields(guess: &Guess) -> String {
    if guess.fields.is_empty() {
        return String::new();
    }
    let mut text = "# the fields are:\n".to_owned();
    for field in guess.fields.iter().take(MOST_FIELDS) {
        let _ = writeln!(text, "#   {}", visible(field));
    }
    if guess.fields.len() > MOST_FIELDS {
        let _ = writeln!(text, "#   and {} more", guess.fields.len() - MOST_FIELDS);
    }
    text
}

/// Lists the first operations of a history, one on each line.
fn operations(history: &RawHistory, most: usize, indent: &str) -> String {
    let (all, pending) = (history.len(), history.pending());
    let mut text = format!("{indent}{all} operations, {pending} never returned\n");
    for operation in history.operations().iter().take(most) {
        let object = history.object_name(operation.object).map(|name| format!(" on {name}")).unwrap_or_default();
        let result = operation.outcome.result().map_or_else(|| "never returned".to_owned(), ToString::to_string);
        let line = operation.call_line().map(|line| format!("line {line}: ")).unwrap_or_default();
        let process = history.process_label(operation.process);
        let shown = format!("{line}process {process}{object}: {} -> {result}", operation.op);
        let _ = writeln!(text, "{indent}{}", visible(&shown));
    }
    if all > most {
        let _ = writeln!(text, "{indent}...");
    }
    text
}

/// Formats a mapping as TOML: plain entries first, then tables.
fn toml(description: &Json) -> String {
    const ORDER: [&str; 16] = [
        "extends", "format", "records", "values", "process", "type", "f", "key", "value", "result", "object", "call",
        "return", "time", "unit", "version",
    ];
    let mut text = String::new();
    for name in ORDER {
        if let Some(entry) = description.get(name) {
            let _ = writeln!(text, "{name} = {}", inline(entry));
        }
    }
    for name in ["types", "functions"] {
        if let Some(Json::Object(table)) = description.get(name) {
            let _ = writeln!(text, "\n[{name}]");
            for (key, entry) in table {
                let _ = writeln!(text, "{} = {}", inline(&key.as_str().into()), inline(entry));
            }
        }
    }
    for rule in description.get("rules").and_then(Json::as_array).into_iter().flatten() {
        let _ = writeln!(text, "\n[[rules]]");
        for (key, entry) in rule.as_object().into_iter().flatten() {
            let _ = writeln!(text, "{key} = {}", inline(entry));
        }
    }
    text + "\n"
}

/// Formats a value as TOML. Strings and lists have the same notation as in JSON.
fn inline(entry: &Json) -> String {
    match entry {
        Json::Object(table) => {
            let entries: Vec<String> =
                table.iter().map(|(name, entry)| format!("{name} = {}", inline(entry))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        entry => visible_json(&entry.to_string()),
    }
}
