//! Ctrl-C and closed pipes.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{REJECTED, Scratch, json, run, trueline};

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there").success());
}

/// Waits until the process has used some time of a processor: until it works.
fn wait_until_busy(child: &Child) {
    let started = Instant::now();
    loop {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("Linux, and it runs");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks: u64 = fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number");
        if ticks >= 50 {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "it does not get going");
        std::thread::yield_now();
    }
}

/// A queue that no generic search can judge soon.
fn hard(scratch: &Scratch) -> String {
    let file = scratch.0.join("hard.jsonl").to_str().expect("plain").to_owned();
    let made = run(&[
        "generate",
        "--spec",
        "queue",
        "--operations",
        "2000",
        "--processes",
        "12",
        "--contention",
        "1",
        "--violation",
        "-o",
        &file,
    ]);
    assert_eq!(made.code, 0, "{made:?}");
    file
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_check_says_how_far_it_came() {
    let scratch = Scratch::new("interrupted-check");
    let file = hard(&scratch);
    let child = trueline(&["check", "--json", "--spec", "queue", "--algorithm", "jit-tree", &file, &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    wait_until_busy(&child);
    interrupt(&child);
    let output = child.wait_with_output().expect("it was started");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{stdout}{stderr}");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let report = json(&stdout);
    assert_eq!(report["verdict"], "unknown");
    assert!(report["reason"].as_str().expect("a reason").contains("cancelled"), "{report}");
    assert!(report["stats"]["configurations"].as_u64().expect("a number") > 0, "{report}");
    assert!(stderr.contains("interrupted") && stderr.contains("1 of 2 files were not judged"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_test_says_how_far_it_came() {
    let child = trueline(&["test", "ms-queue", "--json", "--time", "600", "--seed", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    wait_until_busy(&child);
    interrupt(&child);
    let output = child.wait_with_output().expect("it was started");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let report = json(&stdout);
    assert_eq!((report["verdict"].as_str(), report["reason"].as_str()), (Some("unknown"), Some("cancelled")));
    assert!(report["runs"].as_u64().expect("a number") > 0, "{report}");
}

#[test]
fn interrupted_while_it_waits_for_input() {
    let mut child = trueline(&["check", "--spec", "queue", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    // More than a pipe holds: when this is written, it reads.
    let line = REJECTED.lines().next().expect("a line");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(format!("{line}\n{}", " \n".repeat(1 << 19)).as_bytes()).expect("it reads");
    interrupt(&child);
    let status = child.wait().expect("it was started");
    drop(stdin);
    assert_eq!(status.code(), Some(3));
}

#[test]
fn closed_pipes_end_quietly() {
    let scratch = Scratch::new("closed-pipes");
    let file = scratch.0.join("long.jsonl").to_str().expect("plain").to_owned();
    assert_eq!(run(&["generate", "--spec", "register", "--operations", "20000", "-o", &file]).code, 0);
    for args in [
        &["convert", &file, "--to", "jepsen"][..],
        &["generate", "--spec", "queue", "--operations", "20000"],
        &["specs"],
        &["man"],
        &["completions", "bash"],
        &["test", "--list"],
    ] {
        let mut child =
            trueline(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is built");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        drop(stdout);
        let mut stderr = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut stderr).expect("text");
        assert_eq!((child.wait().expect("it was started").code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}
