//! Tests of the real binary, as people and scripts run it.

mod bad_input;
mod ci;
mod collect;
mod columns;
mod convert;
mod cores;
mod crashes;
mod docs;
mod explain;
mod explore;
mod follow;
mod generate;
mod help;
mod hostile;
mod interrupts;
mod limits;
mod lint;
mod listings;
mod matrix;
mod objects;
mod outputs;
mod pictures;
mod quasi;
mod reading;
mod round_up;
mod roundtrips;
mod samples;
mod snapshots;
mod synchronizations;
mod verdicts;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Not linearizable as a queue: 2 is not the first value.
const REJECTED: &str = r#"{"process":0,"type":"invoke","f":"enqueue","value":1,"time":1}
{"process":0,"type":"ok","f":"enqueue","value":1,"time":2}
{"process":0,"type":"invoke","f":"enqueue","value":2,"time":3}
{"process":1,"type":"invoke","f":"dequeue","value":null,"time":4}
{"process":0,"type":"ok","f":"enqueue","value":2,"time":5}
{"process":1,"type":"ok","f":"dequeue","value":2,"time":6}
"#;

/// Linearizable as a queue, with one operation that never returned.
const ACCEPTED: &str = r#"{"process":0,"f":"enqueue","value":1,"call":10,"return":20}
{"process":1,"f":"dequeue","value":null,"result":2,"call":15,"return":30}
{"process":2,"f":"enqueue","value":2,"call":5,"return":null}
"#;

/// Returns a file or directory with histories of other projects (`knossos`, `porcupine`). These
/// histories are not part of this repository: they are below `../shared/data`, or in the folder
/// that `FOREIGN_HISTORIES` names. Prints a message if they are absent.
fn foreign(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("FOREIGN_HISTORIES").map_or_else(beside, PathBuf::from);
    let found = Some(root.join(path)).filter(|found| found.exists());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "PASSED OVER: {path} is not here; FOREIGN_HISTORIES says where it is");
    }
    found
}

/// A separate directory for each test, which is initially empty.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        if path.exists() {
            fs::remove_dir_all(&path).expect("ours");
        }
        fs::create_dir_all(&path).expect("the target directory can be written to");
        Self(path)
    }

    /// Writes a file and returns its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("the file is in the directory")).expect("ours");
        fs::write(&path, content).expect("ours");
        path.to_str().expect("the path is UTF-8").to_owned()
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the path is UTF-8")
    }
}

/// The environment variables that affect colors; `CI` enables colors even on a dumb terminal. Each
/// test sets the variables that it needs.
const OF_COLORS: [&str; 4] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"];

/// Returns a command whose environment does not depend on where the tests run.
fn plainly(program: &str) -> Command {
    let mut command = Command::new(program);
    for variable in OF_COLORS {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null());
    command
}

fn trueline(args: &[&str]) -> Command {
    let mut command = plainly(env!("CARGO_BIN_EXE_trueline"));
    command.args(args);
    command
}

/// The output of a run, and its exit code.
#[derive(Debug)]
struct Run {
    code: i32,
    stdout: String,
    stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("no signal ended the process"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

fn run(args: &[&str]) -> Run {
    trueline(args).output().expect("the binary is built").into()
}

fn run_with_input(args: &[&str], input: &[u8]) -> Run {
    let mut child = trueline(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    // The process may end before it has read everything.
    let _ = child.stdin.take().expect("stdin is piped").write_all(input);
    child.wait_with_output().expect("the process has started").into()
}

/// Masks the times and memory sizes in a text: `9 µs` becomes `TIME`, and `"check_ns":9` becomes
/// `"check_ns":0`.
fn masked(text: &str) -> String {
    const UNITS: [&str; 6] = ["ns", "µs", "ms", "s", "min", "h"];
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        out.push_str(before);
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let behind = number[end..].strip_prefix(' ').unwrap_or(&number[end..]);
        let word = behind.find(|c: char| !c.is_alphanumeric()).unwrap_or(behind.len());
        let is_alone = !out.ends_with(char::is_alphanumeric);
        if out.ends_with("_ns\":") || out.ends_with("_bytes\":") {
            out.push('0');
            rest = &number[end..];
        } else if is_alone && UNITS.contains(&&behind[..word]) {
            out.push_str("TIME");
            rest = &behind[word..];
        } else {
            out.push_str(&number[..end]);
            rest = &number[end..];
        }
    }
    out.push_str(rest);
    out
}

/// Compares a text with a file in this folder; `TRUELINE_UPDATE=1` writes the file.
#[track_caller]
fn same(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    if std::env::var_os("TRUELINE_UPDATE").is_some() {
        fs::create_dir_all(path.parent().expect("the file is in a folder")).expect("ours");
        fs::write(&path, text).expect("ours");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "{name} is otherwise; if that is right, run with TRUELINE_UPDATE=1:\n{text}");
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}
