//! Tests the common behavior of all commands: exit codes, colors, pipes, standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::process::{Command, Stdio};

use super::{ACCEPTED, REJECTED, Run, Scratch, run, run_with_input, trueline};

/// The exit codes of each command, according to its help.
const CODES: [(&str, &[i32]); 14] = [
    ("check", &[0, 1, 2, 3]),
    ("explain", &[0, 1, 2, 3]),
    ("view", &[0, 2, 3]),
    ("test", &[0, 1, 2, 3]),
    ("explore", &[0, 1, 2, 3]),
    ("convert", &[0, 2, 3]),
    ("map", &[0, 2, 3]),
    ("lint", &[0, 1, 2, 3]),
    // Ctrl-C also leads to exit code 3, see `interrupts`.
    ("generate", &[0, 2]),
    // `collect` ends only by Ctrl-C, see the module `collect`.
    ("collect", &[2]),
    ("specs", &[0, 2]),
    ("algorithms", &[0, 2]),
    ("completions", &[0, 2]),
    ("man", &[0, 2]),
];

/// Commands that are tested elsewhere.
const ELSEWHERE: [&str; 1] = ["help"];

/// A command line, and its expected end.
struct Case {
    args: Vec<String>,
    code: i32,
    /// Whether its output has colors, if they are enabled.
    is_colored: bool,
}

/// Returns a case for each exit code of each command. Their output is the same in each run.
fn cases(scratch: &Scratch) -> Vec<Case> {
    let good = scratch.file("good.jsonl", ACCEPTED);
    let bad = scratch.file("bad.jsonl", REJECTED);
    let broken = scratch.file("broken.jsonl", "{}\n");
    let keyless = scratch.file("keyless.jsonl", ACCEPTED);
    let rows: [(&str, &[&str], i32, bool); 45] = [
        ("check", &["--spec", "queue", &good], 0, true),
        ("check", &["--spec", "queue", &bad], 1, true),
        ("check", &["--spec", "queue", "--json", &bad], 1, false),
        ("check", &["--spec", "queue", &broken], 2, true),
        ("check", &["--spec", "quee", &good], 2, true),
        ("check", &["--spec", "queue", "--algorithm", "jit-graph", "--configurations", "1", &good], 3, true),
        ("explain", &["--spec", "queue", &good], 0, true),
        ("explain", &["--spec", "queue", &bad], 1, true),
        ("explain", &["--spec", "queue", "--json", &bad], 1, false),
        ("explain", &["--spec", "queue", &broken], 2, true),
        ("explain", &["--spec", "queue", "--algorithm", "jit-graph", "--configurations", "1", &good], 3, true),
        ("view", &["--spec", "queue", &good], 0, true),
        ("view", &["--spec", "queue", &bad], 0, true),
        ("view", &["--spec", "queue", &broken], 2, true),
        ("view", &["--spec", "queue", "--memory", "1B", &good], 3, true),
        ("test", &["ms-queue", "--runs", "3", "--seed", "1"], 0, true),
        ("test", &["ms-queue-faulty-no-help", "--engine", "systematic", "--seed", "1", "--time", "60"], 1, true),
        ("test", &["no-such-object"], 2, true),
        ("test", &["treiber-stack", "--algorithm", "queue-lowe", "--runs", "3", "--seed", "1"], 3, true),
        ("test", &["--list"], 0, true),
        ("explore", &["treiber-stack", "--calls", "1*1+1"], 0, true),
        ("explore", &["treiber-stack-faulty-aba", "--calls", "2*2+2"], 1, true),
        ("explore", &["no-such-object"], 2, true),
        ("explore", &["lock-free-skiplist", "--calls", "4*4+4", "--executions", "50"], 3, true),
        ("convert", &[&good, "--to", "jepsen"], 0, false),
        ("convert", &[&keyless, "--to", "porcupine-kv"], 2, true),
        ("convert", &[&good, "--to", "jepsen", "--memory", "1B"], 3, true),
        ("map", &["--guess", &good], 0, true),
        ("map", &["--guess", &broken], 2, true),
        ("map", &["--guess", &good, "--memory", "1B"], 3, true),
        ("lint", &[&good], 0, true),
        ("lint", &["--spec", "stack", &bad], 1, true),
        ("lint", &[&broken], 2, true),
        ("lint", &[&good, "--memory", "1B"], 3, true),
        ("generate", &["--spec", "queue", "--operations", "9"], 0, false),
        ("generate", &["--spec", "signal"], 2, true),
        ("collect", &["--listen", "127.0.0.1:0", "-o", "/no/such/directory/file"], 2, true),
        ("specs", &[], 0, true),
        ("specs", &["--nonsense"], 2, true),
        ("algorithms", &[], 0, true),
        ("algorithms", &["--nonsense"], 2, true),
        ("completions", &["bash"], 0, false),
        ("completions", &["command.com"], 2, true),
        ("man", &[], 0, false),
        ("man", &["--directory", "/dev/null/below"], 2, true),
    ];
    rows.into_iter()
        .map(|(command, args, code, is_colored)| {
            let args = [&[command], args].concat().into_iter().map(str::to_owned).collect();
            Case { args, code, is_colored }
        })
        .collect()
}

impl Case {
    fn run(&self, configure: impl FnOnce(&mut Command) -> &mut Command) -> Run {
        let args: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let mut command = trueline(&args);
        configure(&mut command).output().expect("the binary is built").into()
    }
}

/// Returns the names of all commands, according to the help.
pub(crate) fn commands() -> Vec<String> {
    let help = run(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names = listed.take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn every_exit_code_of_every_command() {
    let scratch = Scratch::new("matrix-codes");
    let mut seen: BTreeMap<String, BTreeSet<i32>> = BTreeMap::new();
    for case in cases(&scratch) {
        let ended = case.run(|command| command);
        assert_eq!(ended.code, case.code, "{:?}: {ended:?}", case.args);
        // Results are on stdout, errors on stderr.
        let is_error = ended.code == 2 || ended.code == 3 && ended.stdout.is_empty();
        assert_eq!(is_error, ended.stderr.contains("error:"), "{:?}: {ended:?}", case.args);
        seen.entry(case.args[0].clone()).or_default().insert(ended.code);
    }
    let said: BTreeMap<String, BTreeSet<i32>> =
        CODES.iter().map(|(name, codes)| ((*name).to_owned(), codes.iter().copied().collect())).collect();
    assert_eq!(seen, said);
    let listed: BTreeSet<String> = commands().into_iter().filter(|name| !ELSEWHERE.contains(&name.as_str())).collect();
    assert_eq!(listed, said.into_keys().collect(), "every command has a row in CODES");
}

#[test]
fn colors_are_for_those_who_want_them() {
    let scratch = Scratch::new("matrix-colors");
    let has_color = |ended: &Run| ended.stdout.contains('\x1b') || ended.stderr.contains('\x1b');
    for case in cases(&scratch) {
        let piped = case.run(|command| command);
        assert!(!has_color(&piped), "{:?} in a pipe: {piped:?}", case.args);
        let forced = case.run(|command| command.env("CLICOLOR_FORCE", "1"));
        assert_eq!(has_color(&forced), case.is_colored, "{:?}: {forced:?}", case.args);
        let refused = case.run(|command| command.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1"));
        assert!(!has_color(&refused), "{:?} with NO_COLOR: {refused:?}", case.args);
        assert_eq!((piped.code, forced.code, refused.code), (case.code, case.code, case.code), "{:?}", case.args);
    }
}

/// Tests `trueline .. | head -0`, where the pipe has no reader from the start.
#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new("matrix-closed");
    for case in cases(&scratch) {
        let open = case.run(|command| command);
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe can be created");
        drop(reader);
        let closed = case.run(|command| command.stdout(Stdio::from(writer)));
        assert_eq!(closed.code, case.code, "{:?}: {closed:?}", case.args);
        // The error output is the same as with a reader.
        assert_eq!(closed.stderr, open.stderr, "{:?}", case.args);
    }
    let (good, bad) = (scratch.file("good.jsonl", ACCEPTED), scratch.file("bad.jsonl", REJECTED));
    for (args, code) in [
        (&["--help"][..], 0),
        (&["check", "--help"], 0),
        (&["--version"], 0),
        // Without a reader, files after the first one are not judged, so it is not known whether they are accepted.
        (&["check", "--spec", "queue", &good, &bad], 3),
        (&["check", "--spec", "queue", &bad, &good], 1),
        (&["check", "--spec", "queue", "--quiet", &good, &bad], 1),
    ] {
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe can be created");
        drop(reader);
        let output = trueline(args).stdout(Stdio::from(writer)).output().expect("the binary is built");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(code), 0), "{args:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_an_error() {
    let scratch = Scratch::new("matrix-full");
    let mut told = BTreeSet::new();
    for case in cases(&scratch) {
        let has_output = !case.run(|command| command).stdout.is_empty();
        let full = File::options().write(true).open("/dev/full").expect("Linux has `/dev/full`");
        let ended = case.run(|command| command.stdout(full));
        assert!(!ended.stderr.contains("panicked"), "{:?}: {ended:?}", case.args);
        if has_output {
            assert_eq!(ended.code, 2, "{:?}: {ended:?}", case.args);
            assert!(ended.stderr.contains("standard output"), "{:?}: {ended:?}", case.args);
            told.insert(case.args[0].clone());
        } else {
            assert_eq!(ended.code, case.code, "{:?}: {ended:?}", case.args);
        }
    }
    assert_eq!(told.len(), CODES.len() - 1, "all but `collect` write to stdout: {told:?}");
}

/// The standard library replaces a closed standard output with `/dev/null`, where all output would be lost.
#[test]
#[cfg(target_os = "linux")]
fn a_closed_standard_output_is_an_error() {
    let scratch = Scratch::new("matrix-no-stdout");
    let closed = |args: &[&str], redirection: &str| -> Run {
        let mut shell = super::plainly("sh");
        shell.args(["-c", &format!("exec \"$0\" \"$@\" {redirection}"), env!("CARGO_BIN_EXE_trueline")]).args(args);
        shell.output().expect("a shell is installed").into()
    };
    let mut told = BTreeSet::new();
    for case in cases(&scratch) {
        let args: Vec<&str> = case.args.iter().map(String::as_str).collect();
        let has_output = !case.run(|command| command).stdout.is_empty();
        let ended = closed(&args, ">&-");
        assert_eq!(ended.code, if has_output { 2 } else { case.code }, "{args:?}: {ended:?}");
        if has_output {
            assert!(ended.stderr.contains("standard output"), "{args:?}: {ended:?}");
            told.insert(case.args[0].clone());
        }
        // Output that is discarded on purpose is not an error, whichever mode `/dev/null` is opened with.
        assert_eq!(closed(&args, "1<>/dev/null").code, case.code, "{args:?}");
    }
    assert_eq!(told.len(), CODES.len() - 1, "all but `collect` write to stdout: {told:?}");
    for args in [&["--help"][..], &["--version"], &["check", "--help"]] {
        let ended = closed(args, ">&-");
        assert_eq!(ended.code, 2, "{args:?}: {ended:?}");
        assert!(ended.stderr.contains("standard output"), "{args:?}: {ended:?}");
    }
}

#[test]
fn standard_input_is_a_dash() {
    let scratch = Scratch::new("matrix-stdin");
    let file = scratch.file("bad.jsonl", REJECTED);
    for (args, code) in [
        (&["check", "--spec", "queue"][..], 1),
        (&["check", "--spec", "queue", "--json"], 1),
        (&["view", "--spec", "queue"], 0),
        (&["lint", "--spec", "queue"], 0),
        (&["convert", "--to", "jepsen"], 0),
    ] {
        let piped = run_with_input(&[args, &["-"]].concat(), REJECTED.as_bytes());
        let named = run(&[args, &[file.as_str()]].concat());
        assert_eq!((piped.code, named.code), (code, code), "{args:?}: {piped:?}");
        // The output is the same, except for the name and the time.
        let masked = |text: &str, name: &str| super::masked(&text.replace(name, "FILE"));
        assert_eq!(
            masked(&piped.stdout, if args.contains(&"--json") { "\"-\"" } else { "-:" }),
            masked(&named.stdout, &if args.contains(&"--json") { format!("{file:?}") } else { format!("{file}:") }),
            "{args:?}"
        );
        // Input that is not a history is reported with its line.
        let broken = run_with_input(&[args, &["-"]].concat(), b"{}\n");
        assert_eq!(broken.code, 2, "{args:?}: {broken:?}");
        assert!(broken.stderr.starts_with("error: -:1: "), "{args:?}: {broken:?}");
        let nothing = run(&[args, &["-"]].concat());
        // A history without operations is accepted; only `lint` warns about it.
        assert_eq!(nothing.code, i32::from(args[0] == "lint"), "{args:?}: {nothing:?}");
    }
}
