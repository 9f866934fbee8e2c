//! Tests the README and the guide: every command line is run, every block of code is run or read, and every link leads
//! somewhere.
//!
//! Blocks marked `rust` are compiled and run as documentation tests of `trueline-guide`. No block is skipped silently:
//! those that cannot be run are listed here, with the reason. `TRUELINE_UPDATE=1` writes the output of commands into
//! the pages, which must be reviewed before they are committed.

// A shell is required.
#![cfg(unix)]

mod commands;
mod figures;
mod links;
mod pages;
mod reports;

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use commands::{Shell, Step, is_same, steps};
use pages::{Block, Page, pages, root};

use crate::collect::Collector;
use crate::{Scratch, run};

/// Blocks that cannot be run: the page, their first line, and why.
const NOT_RUN: [(&str, &str, &str); 1] = [(
    "docs/src/databases.md",
    "import json, socket",
    "it is Python, which the tests do not need: `the_client_in_python` runs it where there is Python",
)];

/// Commands that cannot be run, with the reason.
const COMMANDS_NOT_RUN: [(&str, &str); 7] = [
    (
        "trueline collect --listen 127.0.0.1:7878 -o collected.jsonl",
        "it listens until Ctrl-C; tests/it/collect.rs runs it",
    ),
    ("cargo install cargo-trueline", "it installs what is published"),
    ("cargo add --dev trueline --features systematic", "it depends on what is published"),
    (
        "cargo trueline test --instrument concurrent-queue",
        "it builds trueline; crates/cargo-trueline/tests/it runs the command, and the tests in field/ this one",
    ),
    ("RUSTFLAGS=\"--cfg trueline\" cargo test", "it builds a crate of the reader"),
    ("cargo build --release -p trueline-cli", "it builds for minutes; .ci/run does it"),
    ("cargo run --release -p trueline-bench --features files,objects -- find", "a benchmark"),
];

/// The minimum number of blocks of each kind. With fewer blocks, the test has probably failed to
/// find some.
const AT_LEAST: [(&str, usize); 8] = [
    ("commands", 60),
    ("files", 12),
    ("json", 10),
    ("reports", 1),
    ("rust", 10),
    ("same as a file", 2),
    ("toml", 2),
    ("yaml", 1),
];

/// The results of the blocks of a page.
#[derive(Default)]
struct Done {
    /// The number of blocks of each kind.
    kinds: BTreeMap<String, usize>,
    faults: Vec<String>,
    /// The page with the output of commands, if it was requested.
    text: Option<String>,
}

impl Done {
    fn count(&mut self, kind: &str) {
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "with --nocapture, the test reports what it ran")]
fn every_block_is_run_or_read() {
    let pages = pages();
    // Pages are tested one after the other, because some commands use several threads, and all have time limits.
    let done: Vec<Done> = pages.iter().map(blocks).collect();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for (page, done) in pages.iter().zip(&done) {
        for (kind, count) in &done.kinds {
            *kinds.entry(kind).or_default() += count;
        }
        if let Some(text) = &done.text {
            fs::write(root().join(&page.name), text).expect("the page can be written");
        }
    }
    println!("blocks of the README and the guide: {kinds:?}");
    let faults: Vec<&str> = done.iter().flat_map(|done| &done.faults).map(String::as_str).collect();
    assert!(faults.is_empty(), "{} faults:\n\n{}", faults.len(), faults.join("\n"));
    for (kind, least) in AT_LEAST {
        let found = kinds.get(kind).copied().unwrap_or_default();
        assert!(found >= least, "{found} of {kind}, {least} expected: {kinds:?}");
    }
    for (name, first, _) in NOT_RUN {
        let is_there = |page: &Page| page.blocks.iter().any(|block| block.text.lines().next() == Some(first));
        assert!(pages.iter().any(|page| page.name == name && is_there(page)), "{name} has no block `{first}` any more");
    }
    for (command, _) in COMMANDS_NOT_RUN {
        let is_there = |block: &Block| block.text.lines().any(|line| line.trim_start_matches("$ ") == command);
        assert!(pages.iter().any(|page| page.blocks.iter().any(is_there)), "`{command}` is nowhere any more");
    }
}

/// Tests each block of a page, in order.
fn blocks(page: &Page) -> Done {
    let mut done = Done::default();
    let mut shell = Shell::new(&page.name);
    let mut written: Vec<(&str, usize)> = Vec::new();
    let mut updated: Vec<(&Block, String)> = Vec::new();
    for block in &page.blocks {
        let at = format!("{}:{}", page.name, block.line);
        if let Some(path) = block.same_as() {
            done.count("same as a file");
            match fs::read_to_string(root().join(path)) {
                Ok(text) if has_lines(&text, &block.text) => {}
                Ok(_) => done.faults.push(format!("{at}: {path} does not have this text")),
                Err(error) => done.faults.push(format!("{at}: {path}: {error}")),
            }
        }
        if let Some(name) = block.file() {
            done.count("files");
            shell.write(name, &block.text);
            written.push((name, block.line));
        }
        let first = block.text.lines().next().unwrap_or_default();
        if NOT_RUN.iter().any(|(name, line, _)| *name == page.name && *line == first) {
            done.count("not run");
            continue;
        }
        let fault = match block.language.as_str() {
            "text" if block.report().is_some() => {
                done.count("reports");
                reports::comes_true(block.report().unwrap_or_default(), &block.text).err()
            }
            "console" | "text" if block.text.contains("$ ") && block.file().is_none() => {
                match console(block, &mut shell, &mut written, &mut done) {
                    Ok(text) => {
                        updated.extend(text.map(|text| (block, text)));
                        None
                    }
                    Err(fault) => Some(fault),
                }
            }
            "sh" => sh(block, &mut shell, &mut done).err(),
            "rust" => {
                done.count("rust");
                rust(page, block).err()
            }
            "json" => {
                done.count("json");
                let values = serde_json::Deserializer::from_str(&block.text).into_iter::<serde_json::Value>();
                values.filter_map(Result::err).next().map(|error| error.to_string())
            }
            "toml" => {
                done.count("toml");
                block.text.parse::<toml::Table>().err().map(|error| error.to_string())
            }
            "yaml" => {
                done.count("yaml");
                yaml_rust2::YamlLoader::load_from_str(&block.text).err().map(|error| error.to_string())
            }
            // Other files are read by the commands that follow.
            _ if block.file().is_some() => None,
            language => Some(format!(
                "the test cannot run a block of `{language}`: show it as a file, or put it in NOT_RUN with the reason"
            )),
        };
        done.faults.extend(fault.map(|fault| format!("{at}: {fault}")));
    }
    for (name, line) in written {
        done.faults.push(format!("{}:{line}: no command reads {name}", page.name));
    }
    if !updated.is_empty() {
        let mut text = page.text.clone();
        for (block, new) in updated.into_iter().rev() {
            assert_eq!(
                page.text[block.range.clone()],
                block.text,
                "{}: write an indented block anew by hand",
                page.name
            );
            text.replace_range(block.range.clone(), &new);
        }
        done.text = Some(text);
    }
    done
}

/// Runs the commands of a block. Returns the new block, if it must be changed.
fn console(
    block: &Block,
    shell: &mut Shell,
    written: &mut Vec<(&str, usize)>,
    done: &mut Done,
) -> Result<Option<String>, String> {
    let is_update = std::env::var_os("TRUELINE_UPDATE").is_some();
    let (mut faults, mut text, mut is_changed) = (Vec::new(), String::new(), false);
    for step in steps(block)? {
        let Step { command, prompt, expected } = &step;
        text.push_str(prompt);
        written.retain(|(name, _)| !command.contains(name));
        if COMMANDS_NOT_RUN.iter().any(|(known, _)| known == command) {
            done.count("commands not run");
            continue;
        }
        done.count("commands");
        let said = shell.run(command);
        let is_new = !is_same(&step, &said.text);
        if is_new && is_update && !expected.iter().any(|line| line.trim() == "...") {
            is_changed = true;
            text.push_str(&said.text);
            continue;
        }
        if is_new {
            let expected = expected.join("\n");
            faults.push(format!("`{command}` (exit code {}) said\n{}\nnot\n{expected}\n", said.code, said.text));
        }
        expected.iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    Ok(is_changed.then_some(text))
}

/// Checks commands of `cargo`, one on each line. Those that do not build anything are run.
fn sh(block: &Block, shell: &mut Shell, done: &mut Done) -> Result<(), String> {
    for line in block.text.lines() {
        if COMMANDS_NOT_RUN.iter().any(|(known, _)| *known == line) {
            done.count("commands not run");
        } else if let Some(args) = line.strip_prefix("cargo run --release -p trueline-cli -- ") {
            done.count("commands");
            let said = shell.run(&format!("trueline {args}"));
            if said.code != 0 {
                return Err(format!("`{line}` (exit code {}) said\n{}", said.code, said.text));
            }
        } else if line == "cargo test --workspace" {
            // This command runs the tests themselves.
            done.count("commands");
            let script = fs::read_to_string(root().join(".ci/run")).expect("the file can be read");
            if !script.lines().any(|known| known == line) {
                return Err(format!("`{line}` is not in .ci/run"));
            }
        } else {
            return Err(format!("`{line}` is not run: put it in COMMANDS_NOT_RUN with the reason"));
        }
    }
    Ok(())
}

/// Returns whether a file contains the lines of a block in their order, ignoring indentation. In place of `.run();` at
/// the end of a test that panics, the file may check the outcome.
fn has_lines(file: &str, block: &str) -> bool {
    let mut lines = file.lines().map(str::trim);
    let wanted = block.lines().map(str::trim).filter(|line| !line.is_empty() && *line != ".run();");
    wanted.into_iter().all(|wanted| lines.any(|line| line == wanted))
}

/// Checks that a block is compiled and run as a documentation test.
fn rust(page: &Page, block: &Block) -> Result<(), String> {
    if let Some(word) = block.attributes.iter().find(|word| *word != "should_panic" && *word != "compile_fail") {
        return Err(format!("`{word}`: it must be compiled and run"));
    }
    if block.text.contains("#[test]") && block.same_as().is_none() {
        return Err(
            "a documentation test leaves out what is `#[test]`: show a file that is run, by `same as`".to_owned()
        );
    }
    let list = fs::read_to_string(root().join("crates/trueline-guide/src/lib.rs")).expect("the file can be read");
    if !list.contains(&format!("\"../../../{}\"", page.name)) {
        return Err(format!("{} is not in the list of crates/trueline-guide/src/lib.rs", page.name));
    }
    Ok(())
}

/// Inline code and the commands of workflows are not run here, but the commands and options that they name must exist.
#[test]
fn commands_and_options_within_lines_exist() {
    let mut options: BTreeMap<String, String> = BTreeMap::new();
    let mut faults = Vec::new();
    let mut seen = 0;
    for page in pages() {
        let workflows =
            page.blocks.iter().filter(|block| block.language == "yaml").flat_map(|block| block.text.lines());
        let runs = workflows.filter_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix("run: "));
        for span in page.spans.iter().map(String::as_str).chain(runs) {
            let mut words = span.split_whitespace().skip_while(|word| *word == "$" || word.contains("TRUELINE_"));
            if words.next() != Some("trueline") {
                continue;
            }
            let Some(command) = words.next().filter(|word| !word.starts_with('-')) else { continue };
            seen += 1;
            let help = options.entry(command.to_owned()).or_insert_with(|| {
                let help = run(&[command, "--help"]);
                if help.code == 0 { help.stdout } else { String::new() }
            });
            if help.is_empty() {
                faults.push(format!("{}: `{span}`: there is no such command", page.name));
            }
            for option in words.filter(|word| word.starts_with("--") && word.len() > 2) {
                let option = option.split('=').next().unwrap_or(option);
                if !help.lines().any(|line| line.trim_start().split([' ', ',']).any(|word| word == option)) {
                    faults.push(format!("{}: `{span}`: {command} has no {option}", page.name));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(seen > 10, "{seen}");
}

#[test]
#[expect(clippy::print_stdout, reason = "the test reports what it skips")]
fn the_client_in_python() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("SKIPPED: there is no python3");
        return;
    }
    let page = Page::read("docs/src/databases.md");
    let block = page.blocks.iter().find(|block| block.language == "python").expect("the page shows a client in Python");
    let scratch = Scratch::new("docs-python");
    let collector = Collector::start(&scratch);
    let port = collector.address.rsplit(':').next().expect("the address has a port").to_owned();
    assert!(block.text.contains("7878"), "{}", block.text);
    let client = Command::new("python3")
        .arg("-c")
        .arg(block.text.replace("7878", &port))
        .output()
        .expect("`python3` is installed");
    assert!(client.status.success(), "{client:?}");
    let (file, said) = collector.end();
    assert!(said.contains("2 events of 1 processes"), "{said}");
    assert_eq!(run(&["check", "--spec", "register", &file]).code, 0);
}
