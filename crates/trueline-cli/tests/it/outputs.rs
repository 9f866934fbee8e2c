//! Tests the files that commands write: completely or not at all, and never over an input.
#![cfg(unix)]

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Stdio;

use super::{ACCEPTED, REJECTED, Run, Scratch, run, run_with_input, trueline};

#[test]
fn an_output_that_is_the_input_is_refused() {
    let scratch = Scratch::new("same-file");
    let text = |name: &str| scratch.0.join(name).to_str().expect("plain").to_owned();
    let file = scratch.file("in.svg", REJECTED);
    fs::hard_link(&file, text("hard.svg")).expect("ours");
    symlink("in.svg", text("soft.svg")).expect("ours");
    for output in [&file, &text("hard.svg"), &text("soft.svg"), &text("./in.svg")] {
        for args in [
            &["convert", &file, "--to", "events", "-o", output][..],
            &["check", "--spec", "queue", "--junit", output, &file],
            &["check", "--spec", "queue", "--view", output, &file],
            &["view", "--spec", "queue", "-o", output, &file],
            &["view", "--spec", "queue", "-o", &file, output],
        ] {
            let refused = run(args);
            assert_eq!(refused.code, 2, "{args:?}: {refused:?}");
            assert!(refused.stderr.contains("is also the input"), "{args:?}: {refused:?}");
            assert_eq!(fs::read_to_string(&file).expect("the file can be read"), REJECTED);
        }
    }
    // An input is also refused as an output if the shell redirects the output to it.
    let append = || File::options().append(true).open(&file).expect("ours");
    let refused: Run =
        trueline(&["convert", &file, "--to", "events"]).stdout(append()).output().expect("the binary is built").into();
    assert!(refused.code == 2 && refused.stderr.contains("standard output is also the input"), "{refused:?}");
    let from = || File::open(&file).expect("ours");
    let refused: Run = trueline(&["convert", "-", "--to", "events", "-o", &file])
        .stdin(from())
        .output()
        .expect("the binary is built")
        .into();
    assert!(refused.code == 2 && refused.stderr.contains("is also the input"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).expect("the file can be read"), REJECTED);
}

/// Returns all commands that write a file, with the file.
fn writers<'a>(file: &'a str, output: &'a str) -> Vec<(Vec<&'a str>, i32)> {
    vec![
        (vec!["convert", file, "--to", "events", "-o", output], 0),
        (vec!["generate", "--spec", "queue", "--operations", "50", "-o", output], 0),
        (vec!["check", "--spec", "queue", "--quiet", "--junit", output, file], 1),
        (vec!["check", "--spec", "queue", "--quiet", "--view", output, file], 1),
        (vec!["view", "--spec", "queue", "-o", output, file], 0),
    ]
}

#[test]
fn what_is_replaced_keeps_its_permissions_and_nothing_is_left_behind() {
    let scratch = Scratch::new("replaced");
    let file = scratch.file("in.jsonl", REJECTED);
    let output = scratch.0.join("out/out.svg");
    for (args, code) in writers(&file, output.to_str().expect("plain")) {
        let old = scratch.file("out/out.svg", "old");
        fs::set_permissions(&old, Permissions::from_mode(0o604)).expect("ours");
        let run = run(&args);
        assert_eq!(run.code, code, "{args:?}: {run:?}");
        assert_ne!(fs::read_to_string(&output).expect("the file can be read"), "old", "{args:?}");
        assert_eq!(fs::metadata(&output).expect("the file exists").permissions().mode() & 0o777, 0o604, "{args:?}");
        assert_eq!(fs::read_dir(scratch.0.join("out")).expect("ours").count(), 1, "{args:?}");
    }
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let scratch = Scratch::new("full-disk");
    let file = scratch.file("in.jsonl", REJECTED);
    let output = scratch.0.join("out/out.svg");
    // The largest file that the shell allows has no bytes, which has the effect of a full disk.
    for (args, _) in writers(&file, output.to_str().expect("plain")) {
        let old = scratch.file("out/out.svg", "old");
        let script = "ulimit -f 0; trap '' XFSZ; exec \"$0\" \"$@\"";
        let run: Run = super::plainly("bash")
            .args(["-c", script, env!("CARGO_BIN_EXE_trueline")])
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .and_then(std::process::Child::wait_with_output)
            .expect("`bash` is installed")
            .into();
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert!(run.stderr.contains("cannot write"), "{args:?}: {run:?}");
        assert_eq!(fs::read_to_string(&old).expect("the file can be read"), "old", "{args:?}");
        assert_eq!(fs::read_dir(scratch.0.join("out")).expect("ours").count(), 1, "{args:?}");
    }
}

#[test]
fn what_is_no_file_is_written_to() {
    let scratch = Scratch::new("no-file");
    let file = scratch.file("in.jsonl", ACCEPTED);
    let written = run(&["convert", &file, "--to", "jsonl-operations", "-o", "/dev/stdout"]);
    assert_eq!((written.code, written.stdout.lines().count()), (0, 3), "{written:?}");
    assert_eq!(run(&["convert", &file, "--to", "jsonl-operations", "-o", "/dev/null"]).code, 0);
    assert!(!Path::new("/dev/null").is_file());
}

#[test]
fn standard_output_that_cannot_be_written_is_an_error() {
    let scratch = Scratch::new("read-only-output");
    let file = scratch.file("in.jsonl", ACCEPTED);
    for args in [
        &["check", "--spec", "queue", &file][..],
        &["check", "--json", "--spec", "queue", &file],
        &["explain", "--spec", "queue", &file],
        &["lint", &file],
        &["view", "--spec", "queue", &file],
        &["convert", &file, "--to", "jsonl-operations"],
        &["generate", "--spec", "queue"],
        &["specs"],
        &["algorithms"],
        &["completions", "bash"],
        &["man"],
        &["test", "--list"],
    ] {
        let read_only = File::open("/dev/null").expect("`/dev/null` can be opened");
        let run: Run = trueline(args).stdout(read_only).output().expect("the binary is built").into();
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert!(run.stderr.contains("standard output"), "{args:?}: {run:?}");
    }
}

#[test]
fn mappings_have_an_end() {
    let scratch = Scratch::new("long-mapping");
    let file = scratch.file("in.jsonl", ACCEPTED);
    let long = scratch.file("long.toml", vec![b'#'; (1 << 20) + 1]);
    for map in [long.as_str(), "/dev/zero"] {
        let refused = run(&["check", "--spec", "queue", "--map", map, &file]);
        assert!(refused.code == 2 && refused.stderr.contains("longer than 1 MiB"), "{refused:?}");
    }
    let refused = run_with_input(&["check", "--spec", "queue", "--map", "/dev/stdin", &file], &[0xff; 10]);
    assert!(refused.code == 2 && refused.stderr.contains("cannot read"), "{refused:?}");
}
