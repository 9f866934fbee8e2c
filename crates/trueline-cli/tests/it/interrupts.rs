//! Tests Ctrl-C, closed pipes, and terminals.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{REJECTED, Run, Scratch, json, run, run_with_input, trueline};

fn interrupt(child: &Child) {
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("`kill` is installed").success()
    );
}

/// Opens a pseudoterminal: text that is written to the second file can be read from the first.
fn terminal() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudoterminal can be opened");
    grantpt(&ours).expect("ours");
    unlockpt(&ours).expect("ours");
    let name = ptsname(&ours, Vec::new()).expect("the pseudoterminal has a name");
    let theirs = rustix::fs::open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty())
        .expect("the pseudoterminal can be opened");
    (File::from(ours), File::from(theirs))
}

/// Reads a terminal until `text` is found, or until all writers have closed it. Returns the text that was read.
fn read_until(terminal: &mut File, text: Option<&str>) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        match terminal.read(&mut buffer) {
            // On some systems, an error means that no writer is left.
            Ok(0) | Err(_) => return String::from_utf8_lossy(&seen).into_owned(),
            Ok(length) => seen.extend(&buffer[..length]),
        }
        let so_far = String::from_utf8_lossy(&seen);
        if text.is_some_and(|text| so_far.contains(text)) {
            return so_far.into_owned();
        }
    }
}

/// A time limit in seconds that is never reached.
const DAY: &str = "86400";

/// Waits until the process has used this many hundredths of a second of processor time, so that it is certainly
/// working.
fn wait_until_busy(child: &Child, hundredths: u64) {
    loop {
        let stat =
            std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("the process is running, on Linux");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        assert_ne!(fields[0], "Z", "it has ended");
        let ticks: u64 = fields[11].parse::<u64>().expect("a number") + fields[12].parse::<u64>().expect("a number");
        if ticks >= hundredths {
            return;
        }
        std::thread::yield_now();
    }
}

/// Returns commands that take very long, each with the text that it shows on a terminal.
fn long_work(scratch: &Scratch) -> Vec<(Vec<String>, &'static str)> {
    let file = hard(scratch);
    let rows: [(&[&str], &str); 4] = [
        (
            &["check", "--spec", "queue", "--algorithm", "jit-tree", "--timeout", "24h", &file],
            "judging 2000 operations for",
        ),
        (&["test", "ms-queue", "--time", DAY, "--seed", "1"], " runs "),
        (&["explore", "lock-free-skiplist", "--calls", "4*4+4", "--time", DAY], " executions, "),
        (&["generate", "--spec", "register", "--operations", "10000000"], "generating 10000000 operations for"),
    ];
    rows.into_iter().map(|(args, shown)| (args.iter().map(|arg| (*arg).to_owned()).collect(), shown)).collect()
}

fn start(args: &[String], stderr: impl Into<Stdio>) -> Child {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = trueline(&args);
    command.stdout(Stdio::piped()).stderr(stderr).env("TERM", "xterm");
    command.spawn().expect("the binary is built")
}

/// Creates a history of a queue that no generic search can judge in a short time.
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
    wait_until_busy(&child, 50);
    interrupt(&child);
    let output = child.wait_with_output().expect("the process has started");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{stdout}{stderr}");
    assert_eq!(stdout.lines().count(), 1, "{stdout}");
    let report = json(&stdout);
    assert_eq!(report["verdict"], "unknown");
    assert!(report["reason"].as_str().expect("a reason").contains("canceled"), "{report}");
    assert!(report["stats"]["configurations"].as_u64().expect("a number") > 0, "{report}");
    assert!(stderr.contains("interrupted") && stderr.contains("1 of 2 files were not judged"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_test_says_how_far_it_came() {
    let child = trueline(&["test", "ms-queue", "--json", "--time", DAY, "--seed", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary is built");
    wait_until_busy(&child, 50);
    interrupt(&child);
    let output = child.wait_with_output().expect("the process has started");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    let report = json(&stdout);
    assert_eq!((report["verdict"].as_str(), report["reason"].as_str()), (Some("unknown"), Some("cancelled")));
    assert!(report["runs"].as_u64().expect("a number") > 0, "{report}");
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_view_draws_what_it_has() {
    let scratch = Scratch::new("interrupted-view");
    let file = hard(&scratch);
    let args = ["view", "--spec", "queue", "--algorithm", "jit-tree", &file];
    let child = start(&args.map(str::to_owned), Stdio::piped());
    wait_until_busy(&child, 50);
    interrupt(&child);
    let ended = Run::from(child.wait_with_output().expect("the process has started"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with(&format!("{file}: unknown\n")), "{}", ended.stdout);
    assert!(ended.stdout.contains("canceled") && ended.stderr.contains("interrupted"), "{}", ended.stdout);
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupted_exploration_says_how_far_it_came() {
    for (against, args) in [("", &[][..]), ("itself", &["--against", "itself"])] {
        let args = [&["explore", "lock-free-skiplist", "--calls", "4*4+4", "--time", DAY, "--json"], args].concat();
        let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
        let child = start(&args, Stdio::piped());
        wait_until_busy(&child, 50);
        interrupt(&child);
        let ended = Run::from(child.wait_with_output().expect("the process has started"));
        assert_eq!(ended.code, 3, "{ended:?}");
        let report = json(&ended.stdout);
        assert_eq!((report["verdict"].as_str(), report["reason"].as_str()), (Some("unknown"), Some("cancelled")));
        assert!(report["executions"].as_u64().expect("a number") > 0, "{against}: {report}");
        assert_eq!(report["complete"], false, "{against}: {report}");
        assert!(ended.stderr.contains("interrupted"), "{ended:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn interrupted_while_it_makes_up_a_history() {
    let args = ["generate", "--spec", "register", "--operations", "10000000", "--pending", "3"];
    let child = start(&args.map(str::to_owned), Stdio::piped());
    wait_until_busy(&child, 50);
    interrupt(&child);
    let ended = Run::from(child.wait_with_output().expect("the process has started"));
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains(" of 10000000 operations were generated"), "{}", ended.stderr);
    // The output is a correct history.
    let judged = run_with_input(&["check", "--json", "--spec", "register", "-"], ended.stdout.as_bytes());
    assert_eq!(judged.code, 0, "{judged:?}");
    let operations = json(&judged.stdout)["operations"].as_u64().expect("a number");
    assert!(ended.stderr.contains(&format!("note: {operations} of ")), "{operations}: {}", ended.stderr);
}

/// Without a terminal, no progress is shown, however long the work takes; on a terminal, it is shown after a while.
#[test]
#[cfg(target_os = "linux")]
fn progress_is_for_terminals() {
    let scratch = Scratch::new("progress");
    for (args, shown) in long_work(&scratch) {
        let child = start(&args, Stdio::piped());
        wait_until_busy(&child, 150);
        interrupt(&child);
        let ended = Run::from(child.wait_with_output().expect("the process has started"));
        assert_eq!(ended.code, 3, "{args:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains(shown) && !ended.stderr.contains('\x1b'), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.lines().all(|line| line.starts_with("note: ")), "{args:?}: {}", ended.stderr);

        let (mut ours, theirs) = terminal();
        let mut child = start(&args, theirs);
        let mut stdout = child.stdout.take().expect("stdout is piped");
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).map(|_| text).expect("text")
        });
        let seen = read_until(&mut ours, Some(shown));
        assert!(seen.contains(shown), "{args:?}: {seen:?}");
        interrupt(&child);
        read_until(&mut ours, None);
        assert_eq!(child.wait().expect("the process has started").code(), Some(3), "{args:?}");
        // The results do not contain any part of the progress.
        let stdout = reader.join().expect("the reader does not panic");
        assert!(!stdout.contains('\x1b'), "{args:?}");
    }
}

#[test]
fn colors_are_for_terminals() {
    let scratch = Scratch::new("terminal-colors");
    let file = scratch.file("bad.jsonl", REJECTED);
    for args in [
        &["check", "--spec", "queue", &file][..],
        &["view", "--spec", "queue", &file],
        &["lint", "--spec", "queue", &file],
        &["specs"],
        &["algorithms"],
        &["test", "--list"],
    ] {
        for (variables, is_colored) in [
            (&[("TERM", "xterm")][..], true),
            (&[("TERM", "xterm"), ("NO_COLOR", "1")], false),
            (&[("TERM", "dumb")], false),
        ] {
            let (mut ours, theirs) = terminal();
            let mut command = trueline(args);
            command.envs(variables.iter().copied()).stdout(theirs).stderr(Stdio::null());
            let mut child = command.spawn().expect("the binary is built");
            // The command also owns the other end of the terminal.
            drop(command);
            let seen = read_until(&mut ours, None);
            child.wait().expect("the process has started");
            assert_eq!(seen.contains('\x1b'), is_colored, "{args:?} with {variables:?}: {seen}");
        }
    }
}

#[test]
fn interrupted_while_it_reads() {
    for args in [&["check", "--spec", "queue", "-"][..], &["convert", "-", "--to", "events"]] {
        let mut child = trueline(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary is built");
        // This is more than a pipe can hold: once it is written, the process is reading.
        let line = REJECTED.lines().next().expect("a line");
        let mut stdin = child.stdin.take().expect("stdin is piped");
        stdin.write_all(format!("{line}\n{}", " \n".repeat(1 << 19)).as_bytes()).expect("the command reads stdin");
        interrupt(&child);
        let output = child.wait_with_output().expect("the process has started");
        drop(stdin);
        assert_eq!(output.status.code(), Some(3));
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        // The number of bytes depends on the size of the pipe.
        assert!(text.contains("interrupted after reading ") && text.contains("iB"), "{text}");
    }
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
        let mut stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        drop(stdout);
        let mut stderr = String::new();
        child.stderr.take().expect("stderr is piped").read_to_string(&mut stderr).expect("text");
        assert_eq!((child.wait().expect("the process has started").code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}
