//! Tests that limits hold, on a history for which every generic search takes longer.

use std::fmt::Write as _;

use trueline::drive::{Random, Simulation, simulate};
use trueline::history::EventKind;
use trueline::spec::{Queue, QueueOp, QueueRet, Spec};

use crate::{Scratch, json, run};

/// Generates 1,000 operations of 4 busy clients on a queue, as JSON lines.
fn hard_queue() -> String {
    let shape = Simulation { processes: 4, operations: 1000, crashes: 0, busy: true };
    let spec = Queue::new();
    let mut state = spec.initial();
    let mut next = 0;
    let history = simulate(
        &shape,
        &mut Random::new(1),
        |random, _| {
            next += 1;
            if random.chance(1, 2) { QueueOp::Enqueue(next) } else { QueueOp::Dequeue }
        },
        |_, op| {
            let (result, after) = spec.step(&state, op, None).into_iter().next()?;
            state = after;
            Some(result)
        },
    );
    let mut lines = String::new();
    for event in history.events() {
        let operation = &history[event.op()];
        let (f, argument) = match &operation.op {
            QueueOp::Enqueue(value) => ("enqueue", value.to_string()),
            _ => ("dequeue", "null".to_owned()),
        };
        let (kind, value) = match (event.kind(), operation.outcome.result()) {
            (EventKind::Return, Some(QueueRet::Value(value))) => {
                ("ok", value.map_or("null".to_owned(), |value| value.to_string()))
            }
            (EventKind::Return, _) => ("ok", argument),
            (EventKind::Call, _) => ("invoke", argument),
        };
        let process = operation.process;
        writeln!(lines, r#"{{"process":{process},"type":"{kind}","f":"{f}","value":{value}}}"#).expect("a string");
    }
    lines
}

#[test]
fn a_hard_history_is_undecided_within_the_limits() {
    let scratch = Scratch::new("limits");
    let file = scratch.file("hard-queue.jsonl", hard_queue());
    // The monitor of queues stays within the limits.
    assert_eq!(run(&["check", "--spec", "queue", "--timeout", "10s", "--memory", "64MiB", &file]).code, 0);
    for algorithm in
        ["wing-gong-tree", "wing-gong-graph", "jit-tree", "jit-graph", "linear", "bounded-graph", "bounded-graph-lru"]
    {
        let limits = ["--timeout", "200ms", "--memory", "64MiB"];
        let judged =
            run(&[&["check", "--json", "--spec", "queue", "--algorithm", algorithm, &file], &limits[..]].concat());
        assert_eq!(judged.code, 3, "{judged:?}");
        let object = json(&judged.stdout);
        assert_eq!(object["verdict"], "unknown");
        let reason = object["reason"].as_str().expect("a reason");
        assert!(reason.contains("time limit") || reason.contains("memory limit"), "{reason}");
        assert!(object["stats"]["peak_bytes"].as_u64().expect("a number") <= 64 << 20, "{object}");
    }
}

#[test]
fn a_little_memory_is_named_as_the_limit() {
    let scratch = Scratch::new("little-memory");
    let file = scratch.file("hard-queue.jsonl", hard_queue());
    for algorithm in ["wing-gong-graph", "jit-graph", "linear"] {
        let judged = run(&["check", "--spec", "queue", "--algorithm", algorithm, "--memory", "2MiB", &file]);
        assert_eq!(judged.code, 3, "{judged:?}");
        assert!(judged.stdout.contains("the memory limit was reached"), "{judged:?}");
        assert!(judged.stdout.contains("raise --memory"), "{judged:?}");
    }
}

/// Returns a compressed file of blank lines, which has no content however long it is.
fn endless(length: u64) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b'\n'), length), &mut encoder)
        .expect("writing to memory does not fail");
    encoder.finish().expect("writing to memory does not fail")
}

#[test]
fn reading_is_limited_by_time() {
    let scratch = Scratch::new("reading-time");
    // 4 GiB of blank lines, in members of 4 MiB.
    let bomb = scratch.file("bomb.jsonl.gz", endless(4 << 20).repeat(1 << 10));
    // Empty gzip members, and frames that zstd skips, contain no lines between which the time could
    // be checked.
    let empty = scratch.file("empty.jsonl.gz", endless(0).repeat(1 << 18));
    let skipped = scratch.file("skipped.jsonl.zst", [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0].repeat(1 << 19));
    for (file, may_end) in [(&bomb, false), (&empty, true), (&skipped, true)] {
        let judged = run(&["check", "--json", "--spec", "queue", "--timeout", "50ms", file]);
        if may_end && judged.code == 2 {
            continue;
        }
        assert_eq!(judged.code, 3, "{judged:?}");
        let object = json(&judged.stdout);
        assert_eq!(object["verdict"], "unknown");
        let reason = object["reason"].as_str().expect("a reason");
        assert!(
            reason.starts_with("the time limit was reached while the history was read; raise --timeout"),
            "{reason}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_that_says_nothing_is_not_waited_for() {
    use std::process::Stdio;

    let scratch = Scratch::new("silent-pipe");
    let pipe = scratch.0.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("`mkfifo` is installed").success());
    let judged = run(&["check", "--spec", "queue", "--timeout", "50ms", pipe.to_str().expect("plain")]);
    assert!(judged.code == 3 && judged.stdout.contains("while the history was read"), "{judged:?}");
    let mut child = crate::trueline(&["check", "--spec", "queue", "--timeout", "50ms", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the binary is built");
    // The standard input of the child stays open until the child has ended.
    let _open = child.stdin.take();
    assert_eq!(child.wait().expect("the process has started").code(), Some(3));
}

#[test]
fn reading_is_limited_by_memory() {
    let scratch = Scratch::new("reading-memory");
    let mut lines = String::new();
    for number in 0..10_000 {
        let (call, ret) = (2 * number, 2 * number + 1);
        writeln!(lines, r#"{{"process":0,"f":"enqueue","value":{number},"call":{call},"return":{ret}}}"#)
            .expect("a string");
    }
    let plain = scratch.file("long.jsonl", &lines);
    let compressed = scratch.file("long.jsonl.gz", crate::reading::gzip(lines.as_bytes()));
    for file in [&plain, &compressed] {
        let judged = run(&["check", "--json", "--spec", "queue", "--memory", "1MiB", file]);
        assert_eq!(judged.code, 3, "{judged:?}");
        let reason = json(&judged.stdout)["reason"].as_str().expect("a reason").to_owned();
        assert!(
            reason.starts_with("the memory limit was reached while the history was read; raise --memory"),
            "{reason}"
        );
    }
    // The history takes no more than a few times the size of its file.
    assert_eq!(run(&["check", "--spec", "queue", "--memory", "64MiB", &plain]).code, 0);
}

#[test]
fn windows_of_zstd_are_limited() {
    let scratch = Scratch::new("zstd-window");
    // A frame that requires a window of 2 GiB, and one whose content is 1 TiB in one segment; neither has much content.
    let raw_block = |text: &str| {
        let header = u32::try_from(text.len() << 3 | 1).expect("short").to_le_bytes();
        [&header[..3], text.as_bytes()].concat()
    };
    let magic = [0x28, 0xb5, 0x2f, 0xfd];
    let windowed = [&magic[..], &[0x00, 21 << 3], &raw_block(crate::ACCEPTED)].concat();
    let segment = [&magic[..], &[0xe0], &(1_u64 << 40).to_le_bytes(), &raw_block(crate::ACCEPTED)].concat();
    let small = [&magic[..], &[0x00, 0], &raw_block(crate::ACCEPTED)].concat();
    for (name, content) in [("window.zst", windowed), ("segment.zst", segment)] {
        let file = scratch.file(name, &content);
        let judged = run(&["check", "--spec", "queue", "--memory", "64MiB", &file]);
        assert!(judged.code == 3 && judged.stdout.contains("the memory limit was reached"), "{judged:?}");
    }
    let judged = run(&["check", "--spec", "queue", "--memory", "64MiB", &scratch.file("small.zst", small)]);
    assert_eq!(judged.code, 0, "{judged:?}");
}

/// Runs a command with at most this many megabytes of address space: a process that exceeds `--memory` by far aborts.
#[cfg(target_os = "linux")]
fn run_within(megabytes: u32, args: &[&str]) -> crate::Run {
    let mut shell = crate::plainly("sh");
    let limited = format!("ulimit -v {}; exec \"$0\" \"$@\"", megabytes * 1024);
    shell
        .args(["-c", &limited, env!("CARGO_BIN_EXE_trueline")])
        .args(args)
        .output()
        .expect("a shell is installed")
        .into()
}

/// Returns a history of writes that never returned, and a read of a value that no operation wrote.
#[cfg(target_os = "linux")]
fn pending_writes(count: u32) -> String {
    let mut lines = String::new();
    for number in 0..count {
        let value = number + 1;
        writeln!(lines, r#"{{"process":{number},"f":"write","value":{value},"call":{number},"return":null}}"#)
            .expect("a string");
    }
    let (call, ret) = (count + 1, count + 2);
    writeln!(lines, r#"{{"process":{count},"f":"read","result":-1,"call":{call},"return":{ret}}}"#).expect("a string");
    lines
}

#[cfg(target_os = "linux")]
#[test]
fn many_pending_operations_fit_the_memory() {
    let scratch = Scratch::new("pending-writes");
    let file = scratch.file("pending.jsonl", pending_writes(20_000));
    let page = scratch.0.join("page.html");
    let page = page.to_str().expect("plain");
    for command in [&["check"][..], &["check", "--core"], &["explain"], &["check", "--view", page]] {
        let judged = run_within(640, &[command, &["--spec", "register:0", "--memory", "256MiB", &file]].concat());
        assert!(
            judged.code == 1 && judged.stdout.contains("read() of process 20000 (line 20001) returned -1"),
            "{command:?}: {judged:?}"
        );
    }
    // If a value is written twice, there is no monitor: searches may not decide, but they must end.
    let twice = scratch.file("twice.jsonl", pending_writes(20_000).replace(r#""value":1,"#, r#""value":2,"#));
    for file in [&file, &twice] {
        let args = ["check", "--spec", "register:0", "--memory", "64MiB", "--timeout", "1s", file];
        assert!(matches!(run_within(640, &args).code, 1 | 3), "{file}");
    }
    for algorithm in ["jit-graph", "wing-gong-graph", "linear", "linear-at-return", "bounded-graph", "brute"] {
        let args = ["check", "--spec", "register:0", "--memory", "64MiB", "--timeout", "1s", "--algorithm", algorithm];
        let judged = run_within(640, &[&args[..], &[&file]].concat());
        assert!(matches!(judged.code, 1 | 3), "{algorithm}: {judged:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_definitions_stay_within_the_memory() {
    let scratch = Scratch::new("definitions");
    for spec in ["queue", "register", "exchanger", "one-family"] {
        let args = ["generate", "--spec", spec, "--operations", "24", "--processes", "12", "--contention", "1"];
        let file = scratch.file(&format!("{spec}.jsonl"), run(&args).stdout);
        let brute = ["check", "--spec", spec, "--algorithm", "brute", "--memory", "32MiB", "--timeout", "2s", &file];
        let factor: &[&str] = if matches!(spec, "queue" | "register") { &["--factor", "3"] } else { &[] };
        let judged = run_within(400, &[&brute[..], factor].concat());
        assert!(matches!(judged.code, 0 | 1 | 3), "{spec}: {judged:?}");
    }
}

/// Runs a command that reaches its time limit at this stage, which debug builds support for tests.
/// Returns `None` in other builds.
fn run_ending(at: &str, args: &[&str]) -> Option<crate::Run> {
    if !cfg!(debug_assertions) {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"PASSED OVER: only debug builds end the time at a stage\n",
        );
        return None;
    }
    Some(crate::trueline(args).env("TRUELINE_TIME_ENDS", at).output().expect("the binary is built").into())
}

const CUT: &str = "the time limit was reached after the verdict";

#[test]
fn a_rejection_stays_one_when_the_time_ends_after_it() {
    let scratch = Scratch::new("cut-after-rejection");
    let file = scratch.file("rejected.jsonl", crate::REJECTED);
    let page = scratch.0.join("page.html");
    let xml = scratch.0.join("out.xml");
    let (page, xml) = (page.to_str().expect("plain"), xml.to_str().expect("plain"));
    // Each command, with the parts of its output that are missing if the work is canceled after the
    // verdict, and those that are missing if the work never ends.
    for (command, cancelled, ended) in [
        (&["check"][..], None, "├"),
        (&["check", "--core"], Some("the core:"), "├"),
        (&["check", "--core", "--json"], Some("\"core\":"), "\"explanation\":"),
        (&["check", "--core", "--junit", xml], Some("the core:"), "why:"),
        (&["check", "--view", page], None, "├"),
        (&["explain"], Some("the core:"), "why:"),
        (&["explain", "--json"], Some("\"core\":"), "\"explanation\":"),
    ] {
        let args = [command, &["--spec", "queue", &file]].concat();
        let whole = run(&args);
        assert!(whole.code == 1 && !whole.stdout.contains(CUT), "{args:?}: {whole:?}");
        for missing in [cancelled.unwrap_or(ended), ended] {
            assert!(whole.stdout.contains(missing), "{missing}, {args:?}: {whole:?}");
        }
        for (stage, missing) in
            [("Explaining", cancelled), ("Explaining forever", Some(ended)), ("Drawing forever", Some(ended))]
        {
            let Some(cut) = run_ending(stage, &args) else { return };
            assert_eq!(cut.code, 1, "{stage}, {args:?}: {cut:?}");
            assert!(cut.stdout.contains("could only have returned 1"), "{stage}, {args:?}: {cut:?}");
            assert!(missing.is_none_or(|missing| !cut.stdout.contains(missing)), "{stage}, {args:?}: {cut:?}");
            // A plain check lacks nothing when its work is canceled, because it does not need a core.
            let is_cut = stage.ends_with("forever") || command != ["check"];
            assert_eq!(cut.stdout.contains(CUT), is_cut, "{stage}, {args:?}: {cut:?}");
            if command.contains(&"--junit") {
                let xml = std::fs::read_to_string(xml).expect("the JUnit file is written, too");
                assert!(xml.contains("<failure"), "{stage}: {xml}");
            }
        }
        // If the work is canceled before the verdict, no verdict is printed, even for a history
        // that would be accepted.
        for stage in ["Judging", "Judging forever"] {
            let Some(cut) = run_ending(stage, &args) else { return };
            assert_eq!(cut.code, 3, "{stage}, {args:?}: {cut:?}");
            assert!(cut.stdout.contains("the time limit was reached"), "{stage}, {args:?}: {cut:?}");
        }
    }
    let accepted = scratch.file("accepted.jsonl", crate::ACCEPTED);
    for (stage, code) in [("Judging forever", 3), ("Explaining", 0), ("Explaining forever", 0), ("Drawing forever", 0)]
    {
        let Some(cut) = run_ending(stage, &["check", "--core", "--spec", "queue", &accepted]) else { return };
        assert_eq!(cut.code, code, "{stage}: {cut:?}");
    }
    // If there are several files, those after the canceled one are not judged, and that is reported.
    let Some(cut) = run_ending("Drawing forever", &["check", "--spec", "queue", &file, &accepted]) else { return };
    assert!(cut.code == 1 && cut.stderr.contains("1 of 2 files were not judged"), "{cut:?}");
}

#[test]
fn half_a_history_is_not_generated() {
    for stage in ["Judging", "Judging forever"] {
        let Some(cut) = run_ending(stage, &["generate", "--spec", "queue", "--operations", "9"]) else { return };
        assert_eq!((cut.code, cut.stdout.as_str()), (3, ""), "{stage}: {cut:?}");
        assert!(cut.stderr.contains("the time limit was reached"), "{stage}: {cut:?}");
    }
}

/// Returns a full pipe: the writer, and a reader that never reads.
#[cfg(target_os = "linux")]
fn full_pipe() -> (std::fs::File, std::fs::File) {
    let (reader, writer) = rustix::pipe::pipe().expect("a pipe can be created");
    let size = rustix::pipe::fcntl_getpipe_size(&writer).expect("the size of the pipe is known");
    let mut writer = std::fs::File::from(writer);
    std::io::Write::write_all(&mut writer, &vec![b'.'; size]).expect("the pipe holds as many bytes as its size");
    (reader.into(), writer)
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_reads_nothing_is_not_waited_for() {
    let scratch = Scratch::new("full-pipe");
    let rejected = scratch.file("rejected.jsonl", crate::REJECTED);
    let accepted = scratch.file("accepted.jsonl", crate::ACCEPTED);
    let (_reader, writer) = full_pipe();
    let full = || writer.try_clone().expect("a pipe");
    let queue = ["--spec", "queue"];
    for (args, codes) in [
        ([&["check", &rejected][..], &queue].concat(), &[1, 3][..]),
        ([&["check", "--json", &accepted, &rejected][..], &queue].concat(), &[3]),
        ([&["explain", &accepted][..], &queue].concat(), &[3]),
        ([&["view", &accepted][..], &queue].concat(), &[3]),
        (vec!["lint", &accepted], &[3]),
        (vec!["convert", &accepted, "--to", "jepsen"], &[3]),
        (vec!["convert", &accepted, "--to", "jepsen", "-o", "/dev/stdout"], &[3]),
        (vec!["generate", "--spec", "queue", "--operations", "9"], &[3]),
    ] {
        let timeout = ["--timeout", "100ms"];
        let ended = crate::trueline(&args).args(timeout).stdout(full()).output().expect("the binary is built");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code().is_some_and(|code| codes.contains(&code)), "{args:?}: {ended:?}");
        assert!(stderr.contains("the time limit was reached"), "{args:?}: {stderr}");
        // The error output is full, too.
        let silent = crate::trueline(&args).args(timeout).stdout(full()).stderr(full()).status();
        assert!(silent.expect("the binary is built").code().is_some_and(|code| codes.contains(&code)), "{args:?}");
    }
    if cfg!(debug_assertions) {
        let mut command = crate::trueline(&["check", "--spec", "queue", &rejected]);
        let ended = command.env("TRUELINE_TIME_ENDS", "Drawing forever").stdout(full()).stderr(full()).status();
        assert_eq!(ended.expect("the binary is built").code(), Some(1), "a rejection stays one");
    }
}
