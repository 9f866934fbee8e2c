//! Runs the command lines of the pages with the real binary, and compares their output with the page.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::pages::{Block, root};
use crate::{Scratch, plainly};

/// A folder in which the commands of one page run, one after the other. It contains a copy of `testdata`, and the files
/// that the page shows.
pub(super) struct Shell {
    scratch: Scratch,
    /// The exit code of the last command, for `echo $?`.
    code: i32,
}

/// The output of a command.
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) text: String,
}

impl Shell {
    pub(super) fn new(page: &str) -> Self {
        let scratch = Scratch::new(&format!("docs-{}", page.replace(['/', '.'], "-")));
        copy(&root().join("testdata"), &scratch.0.join("testdata"));
        fs::create_dir(scratch.0.join("tmp")).expect("ours");
        Self { scratch, code: 0 }
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        self.scratch.file(name, text);
    }

    pub(super) fn run(&mut self, command: &str) -> Said {
        let binary = Path::new(env!("CARGO_BIN_EXE_trueline"));
        let mut folders = vec![binary.parent().expect("the binary is in a folder").to_owned()];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let output = plainly("sh")
            .arg("-c")
            .arg(format!("exec 2>&1\n(exit {})\n{command}\n", self.code))
            .current_dir(&self.scratch.0)
            .env("PATH", std::env::join_paths(folders).expect("the folders come from `PATH`"))
            .env("TMPDIR", self.scratch.0.join("tmp"))
            .output()
            .expect("a shell is installed");
        self.code = output.status.code().expect("no signal ended the process");
        let text = String::from_utf8(output.stdout).expect("text");
        // In the tests, histories are saved next to the tests; if trueline is installed, in the folder for temporary
        // files.
        let text = SAVED.replace_all(&text, "/tmp/trueline/").into_owned();
        Said { code: self.code, text }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("ours");
    for entry in fs::read_dir(from).expect("the folder can be read") {
        let entry = entry.expect("the folder can be read");
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("ours");
        }
    }
}

/// A command of a block, and its output on the page.
#[derive(Debug, PartialEq)]
pub(super) struct Step {
    pub(super) command: String,
    /// The lines of the page that contain the command.
    pub(super) prompt: String,
    pub(super) expected: Vec<String>,
}

/// Returns the commands of a block: lines that begin with `$`, and continue in lines that begin with `>`.
pub(super) fn steps(block: &Block) -> Result<Vec<Step>, String> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block.text.lines() {
        let last = steps.last_mut();
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), prompt: format!("{line}\n"), expected: Vec::new() });
        } else if let (Some(further), Some(step)) =
            (line.strip_prefix("> "), last.filter(|step| step.expected.is_empty()))
        {
            step.prompt.push_str(&format!("{line}\n"));
            step.command.push_str(&format!("\n{further}"));
        } else if let Some(step) = steps.last_mut() {
            step.expected.push(line.to_owned());
        } else {
            return Err(format!("`{line}` comes before the first command; those begin with `$ `"));
        }
    }
    Ok(steps)
}

/// A folder in which failing runs are saved.
static SAVED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\S+/trueline/").expect("a pattern"));

/// Masks a line: times differ from run to run, line numbers of sources from change to change, and
/// all numbers of random results.
fn mask(line: &str, is_chance: bool) -> String {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\b\d+(\.\d+)? ?(ns|µs|ms|s|min)\b|(_ns|_bytes)":\d+|time="[\d.]+"#).expect("a pattern")
    });
    static SOURCE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\.rs:\d+").expect("a pattern"));
    static RATE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[\d,.]+ per second\b").expect("a pattern"));
    static TOKEN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"\b(s[0-9a-f]{4,}(\.[0-9a-z-]+)+|g[^\s"/]+\.c\d+[^\s"]*)"#).expect("a pattern"));
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d[\d,.]*").expect("a pattern"));
    let line = TIME.replace_all(line.trim_end(), "TIME");
    let line = RATE.replace_all(&line, "RATE");
    let line = SAVED.replace_all(&line, "/tmp/trueline/");
    let line = SOURCE.replace_all(&line, ".rs:LINE");
    if !is_chance {
        return line.into_owned();
    }
    let line = TOKEN.replace_all(&line, "TOKEN");
    NUMBER.replace_all(&line, "NUMBER").into_owned()
}

/// Returns whether the output is the one on the page, where `...` matches any lines, or any part of a line.
pub(super) fn is_same(step: &Step, said: &str) -> bool {
    let is_chance = step.command.starts_with("trueline test");
    let expected: Vec<String> = step.expected.iter().map(|line| mask(line, is_chance)).collect();
    let said: Vec<String> = said.lines().map(|line| mask(line, is_chance)).collect();
    lines_match(&expected, &said)
}

/// Compares lines, where `...` stands for any number of lines. As in the matching of globs, it
/// suffices to try again from the last `...`: every earlier `...` can keep the fewest lines that it
/// may stand for.
fn lines_match(expected: &[String], said: &[String]) -> bool {
    let (mut at, mut line, mut last) = (0, 0, None);
    loop {
        match expected.get(at) {
            Some(any) if any.trim() == "..." => {
                at += 1;
                last = Some((at, line));
            }
            Some(first) if said.get(line).is_some_and(|said| line_matches(first, said)) => {
                (at, line) = (at + 1, line + 1)
            }
            None if line == said.len() => return true,
            _ => match last {
                Some((behind, start)) if start < said.len() => {
                    (at, line) = (behind, start + 1);
                    last = Some((at, line));
                }
                _ => return false,
            },
        }
    }
}

fn line_matches(expected: &str, said: &str) -> bool {
    let mut parts = expected.split("...");
    let Some(rest) = said.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    let rest = middle.iter().try_fold(rest, |rest, part| Some(&rest[rest.find(part)? + part.len()..]));
    rest.is_some_and(|rest| rest.ends_with(last))
}

#[test]
fn what_is_the_same() {
    let step = |command: &str, expected: &str| Step {
        command: command.to_owned(),
        prompt: String::new(),
        expected: expected.lines().map(str::to_owned).collect(),
    };
    let check = |expected, said| is_same(&step("trueline check", expected), said);
    assert!(check("a: accepted (4 operations, 73 µs)\n", "a: accepted (4 operations, 1.2 ms)\n"));
    assert!(!check("a: accepted (4 operations, 73 µs)\n", "a: accepted (5 operations, 73 µs)\n"));
    assert!(check("a\n...\nd", "a\nb\nc\nd\n") && check("a\n...\nd", "a\nd\n"));
    assert!(check("...\na\n...\nb\n...", "a\na\nc\nb\nb\n") && !check("...\na\n...\nb", "b\na\n"));
    assert!(!check("a\n...\nd", "a\nb\n") && !check("a", "a\nb\n") && !check("a\nb", "a\n"));
    assert!(check("from ... to 5", "from 1 to 5") && !check("from ... to 5", "from 1 to 6"));
    let test = |expected, said| is_same(&step("trueline test x", expected), said);
    assert!(test("wrong in run 7: s3315ff7dd0fe65ea.t4.o15-15.c64", "wrong in run 12: s44aa.t2.o1-1.c4"));
    assert!(test("again: gpop+push_2,pop.c16 cargo", "again: gpush_~5b0~2c2~5d+pop.c0.z1-1_2-0 cargo"));
    assert!(!test("wrong in run 7", "right in run 7"));
}

#[test]
fn commands_and_what_they_say() {
    let block = |text: &str| Block {
        language: "console".to_owned(),
        attributes: Vec::new(),
        comment: None,
        text: text.to_owned(),
        range: 0..0,
        line: 1,
    };
    let found = steps(&block("$ one \\\n> two\nsaid\n> said\n$ three\n")).expect("the commands begin with `$`");
    let found: Vec<(&str, usize)> = found.iter().map(|step| (step.command.as_str(), step.expected.len())).collect();
    assert_eq!(found, [("one \\\ntwo", 2), ("three", 0)]);
    assert!(steps(&block("said\n$ one\n")).is_err());
}
