//! Tests that the help of every command has examples, and that the examples work.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use super::matrix::commands;
use super::reading::{FOREIGN, MAPPING, TRACES, gzip};
use super::{Run, Scratch, plainly, run};

/// Returns the examples of a command's help, without their descriptions.
fn examples(command: &str) -> Vec<String> {
    let args = if command.is_empty() { vec!["--help"] } else { vec![command, "--help"] };
    let help = run(&args);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{command}");
    let start = help.stdout.find("Examples:\n").unwrap_or_else(|| panic!("{command} has no examples"));
    let usage = help.stdout.find("Usage:").expect("the help shows the usage");
    assert!(start < usage, "the help of `{command}` leads with examples");
    let mut found = Vec::new();
    for line in help.stdout[start..].lines().skip(1).take_while(|line| line.starts_with("  ")) {
        // Two spaces separate an example from another one, or from its description.
        let parts = line.split("  ").map(str::trim).filter(|part| !part.is_empty());
        found.extend(
            parts.filter(|part| part.starts_with("trueline ") || part.contains("| trueline ")).map(str::to_owned),
        );
    }
    assert!(!found.is_empty(), "{command}");
    found
}

/// Generates a history of the specification that the example names, in the format that the file name indicates.
fn history(example: &str, name: &str) -> Vec<u8> {
    let words: Vec<&str> = example.split_whitespace().collect();
    let named = words.iter().position(|word| *word == "--spec").and_then(|place| words.get(place + 1));
    let format = if name.ends_with(".edn") { "jepsen" } else { "jsonl" };
    let spec = named.copied().unwrap_or("queue");
    let made = run(&["generate", "--spec", spec, "--operations", "12", "--format", format]);
    assert_eq!(made.code, 0, "{example}: {made:?}");
    made.stdout.into_bytes()
}

/// Creates the files that an example reads, and the folders that it writes to.
fn prepare(scratch: &Scratch, example: &str) {
    let words: Vec<&str> = example.split_whitespace().collect();
    for (place, word) in words.iter().enumerate() {
        let is_written = place > 0 && ["-o", "--output", "--view", ">", "--directory"].contains(&words[place - 1]);
        let path = word.replacen('~', ".", 1);
        if is_written {
            let folder = Path::new(&path).parent().expect("a file");
            fs::create_dir_all(scratch.0.join(folder)).expect("ours");
            continue;
        }
        let content = match *word {
            "mapping.toml" => MAPPING.as_bytes().to_vec(),
            // The example names a factor for each operation, so its history must contain only these.
            "d.jsonl" => super::REJECTED.as_bytes().to_vec(),
            "foreign.jsonl" => FOREIGN.as_bytes().to_vec(),
            "faults.csv" => b"time,event\n2,failover\n".to_vec(),
            "timed.jsonl" => b"{\"process\":0,\"f\":\"enqueue\",\"value\":1,\"call\":1,\"return\":3}\n".to_vec(),
            "traces.json" => TRACES.as_bytes().to_vec(),
            "jepsen.log" => b"0\t:invoke\t:write\t[5 1]\n0\t:ok\t:write\t[5 1]\n".to_vec(),
            "recorded/" => {
                scratch.file("recorded/one.jsonl", history(example, "one.jsonl"));
                scratch.file("recorded/below/two.edn", history(example, "two.edn"));
                continue;
            }
            word if word.ends_with(".gz") => gzip(&history(example, word)),
            word if word.ends_with(".jsonl") || word.ends_with(".edn") => history(example, word),
            _ => continue,
        };
        scratch.file(&path, content);
    }
}

/// Installs a program where the examples find it.
fn program(scratch: &Scratch, name: &str, script: &str) {
    let path = scratch.file(&format!("bin/{name}"), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
}

#[test]
fn examples_work() {
    let scratch = Scratch::new("examples");
    // This script replaces or adds `--time`, so that no example takes a minute.
    program(
        &scratch,
        "trueline",
        r#"case "$1" in
test|explore)
    limit="--time 1"
    for arg; do
        case "$arg" in --list|--runs|--replay) limit="";; esac
    done
    left=$# skips=
    while [ "$left" -gt 0 ]; do
        arg="$1"; shift; left=$((left - 1))
        if [ "$skips" ]; then skips=; elif [ "$arg" = --time ]; then skips=1; else set -- "$@" "$arg"; fi
    done
    exec "$TRUELINE" "$@" $limit;;
*) exec "$TRUELINE" "$@";;
esac"#,
    );
    program(&scratch, "record", r#"echo '{"process":0,"type":"invoke","f":"add","value":1}'"#);
    program(&scratch, "man", "cat > /dev/null");
    let mut names = commands();
    names.push(String::new());
    let mut count = 0;
    for name in names.iter().filter(|name| *name != "help") {
        for example in examples(name) {
            // This command continues until it is interrupted: see `collect`.
            if name == "collect" {
                continue;
            }
            prepare(&scratch, &example);
            let path = format!("{}:{}", scratch.0.join("bin").display(), std::env::var("PATH").expect("`PATH` is set"));
            let output = plainly("sh")
                .args(["-ec", &example])
                .current_dir(&scratch.0)
                .env("PATH", path)
                .env("HOME", &scratch.0)
                .env("TRUELINE", env!("CARGO_BIN_EXE_trueline"))
                .output()
                .expect("a shell is installed");
            let ended = Run::from(output);
            // The verdict on the history or the object does not matter here.
            assert!([0, 1, 3].contains(&ended.code), "{example}: {ended:?}");
            assert!(!ended.stderr.contains("panicked") && !ended.stderr.contains("error:"), "{example}: {ended:?}");
            count += 1;
        }
    }
    assert!(count > 40, "{count}");
}

/// The Python client in the help of `collect` produces a history.
#[test]
fn the_client_of_collect_works() {
    let help = run(&["collect", "--help"]).stdout;
    let indented = help.lines().skip_while(|line| !line.starts_with("  import json"));
    let client: String = indented.take_while(|line| !line.is_empty()).map(|line| format!("{}\n", &line[2..])).collect();
    assert!(client.contains("say(\"ok\", \"write\", 5)"), "{help}");
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !python.is_ok_and(|status| status.success()) {
        let _ = writeln!(std::io::stderr(), "PASSED OVER: there is no python3");
        return;
    }
    let scratch = Scratch::new("collect-python");
    let collector = super::collect::Collector::start(&scratch);
    let (_, port) = collector.address.rsplit_once(':').expect("a port");
    let client = client.replace("7878", port);
    let register = "class register:\n    def write(value): pass\n";
    let ran =
        Command::new("python3").args(["-c", &format!("{register}{client}")]).output().expect("`python3` is installed");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (file, said) = collector.end();
    assert!(said.contains("2 events of 1 processes"), "{said}");
    assert_eq!(run(&["check", "--spec", "register", &file]).code, 0);
}
