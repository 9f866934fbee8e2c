//! Tests that files survive `kill -9`, full disks and two processes at once: nothing that was
//! acknowledged is lost, and the remaining file can be read. `cargo test -p trueline-cli --test it
//! crashes -- --ignored --nocapture` makes 300 such tries, or the number that `TRUELINE_SOAK`
//! specifies.
#![cfg(unix)]

use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use trueline::drive::Random;

use super::collect::Collector;
use super::{ACCEPTED, REJECTED, Scratch, json, masked, plainly, run, trueline};

fn rounds(usual: u32) -> u32 {
    std::env::var("TRUELINE_SOAK").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

/// Returns a command whose files cannot grow beyond this many KiB: as on a full disk, a write fails, or is cut off.
fn with_room_for(kibibytes: u64) -> Command {
    let mut command = plainly("bash");
    let script = format!("ulimit -f {kibibytes}; trap '' XFSZ; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_trueline")]);
    command
}

/// The way in which a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    Killed,
    FullDisk,
    TwoAtOnce,
}

const CRASHES: [Crash; 3] = [Crash::Killed, Crash::FullDisk, Crash::TwoAtOnce];

/// Lets clients log to a collector until it ends. Everything that it has acknowledged must be in the file, before and
/// after the next start, and the file must be readable.
fn crash_collectors(rounds: u32) {
    let scratch = Scratch::new("crashes-collect");
    let file = scratch.0.join("history.jsonl");
    let mut random = Random::new(1);
    let mut acknowledged: HashSet<u64> = HashSet::new();
    let (mut halves, mut failed) = (0, 0);
    for round in 0..rounds {
        let crash = CRASHES[round as usize % CRASHES.len()];
        let size = fs::metadata(&file).map_or(0, |data| data.len());
        let mut command = match crash {
            Crash::FullDisk => with_room_for(size / 1024 + 1 + u64::from(random.below(4))),
            _ => trueline(&[]),
        };
        let args: &[&str] = if round % 7 == 0 { &["--sync"] } else { &[] };
        let collector = Collector::start_with(&scratch, &mut command, args);
        if crash == Crash::TwoAtOnce {
            let second = run(&["collect", "--listen", "127.0.0.1:0", "-o", file.to_str().expect("plain")]);
            assert_eq!(second.code, 2, "{second:?}");
        }
        let patience = 1 + random.below(60);
        let clients: Vec<_> = (0..2_u64)
            .map(|client| {
                let mut connection = collector.connect();
                std::thread::spawn(move || {
                    let mut answered = Vec::new();
                    for number in 0_u64.. {
                        let value = (u64::from(round) << 24) + (client << 20) + number;
                        let line = match number % 2 {
                            0 => format!(r#"{{"type":"invoke","f":"write","value":{value}}}"#),
                            _ => r#"{"type":"ok"}"#.to_owned(),
                        };
                        let Some(answer) = connection.try_say(&line) else { break };
                        // The event of the other client did not fit.
                        if json(&answer)["error"] == "the log is closed" {
                            break;
                        }
                        assert!(json(&answer)["time"].is_u64(), "{answer}");
                        if number % 2 == 0 {
                            answered.push(value);
                        }
                    }
                    answered
                })
            })
            .collect();
        if crash != Crash::FullDisk {
            std::thread::sleep(Duration::from_millis(u64::from(patience)));
            collector.kill();
        } else {
            // The collector ends by itself when the disk is full.
            failed += u32::from(collector.wait().code() == Some(2));
        }
        for client in clients {
            acknowledged.extend(client.join().expect("the client received only correct answers"));
        }
        let text = fs::read_to_string(&file).expect("the file is UTF-8");
        halves += u32::from(!text.is_empty() && !text.ends_with('\n'));
        let logged: HashSet<u64> = text
            .lines()
            .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
            .filter_map(|event| event["value"].as_u64())
            .collect();
        let lost = acknowledged.difference(&logged).count();
        assert_eq!(lost, 0, "round {round}, {crash:?}: {lost} of {} are lost", acknowledged.len());
    }
    Collector::start(&scratch).end();
    let read = run(&["convert", file.to_str().expect("plain"), "--to", "jsonl-operations", "-o", "/dev/null"]);
    assert_eq!(read.code, 0, "{read:?}");
    assert!(rounds < 6 || failed > 0, "no disk was full");
    report(format_args!(
        "collect: {rounds} crashes, {} acknowledged events, none lost; {halves} half lines were repaired, {failed} disks were full",
        acknowledged.len()
    ));
}

fn report(message: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{message}");
}

/// Kills a process after this time, unless it has ended.
fn kill_after(mut child: Child, time: Duration) {
    let started = Instant::now();
    while started.elapsed() < time && child.try_wait().expect("the process has started").is_none() {
        std::thread::yield_now();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Writes each kind of output over an older one. The file must be one of the two, completely.
fn crash_writers(rounds: u32) {
    let scratch = Scratch::new("crashes-outputs");
    let mut random = Random::new(2);
    let large = scratch.file("large.jsonl", long_history());
    let small = scratch.file("small.jsonl", REJECTED);
    let accepted = scratch.file("accepted.jsonl", ACCEPTED);
    let out = scratch.0.join("out.svg");
    let out_path = out.to_str().expect("plain");
    type Writers<'a> = [Vec<&'a str>; 2];
    let page = scratch.0.join("out.html");
    let page_path = page.to_str().expect("plain");
    // Each writer can write two different contents.
    let writers: [(&Path, Writers<'_>); 5] = [
        (&out, [&large, &small].map(|file| vec!["convert", file.as_str(), "--to", "events", "-o", out_path])),
        (
            &out,
            ["1", "2"].map(|seed| {
                vec!["generate", "--spec", "queue", "--operations", "2000", "--seed", seed, "-o", out_path]
            }),
        ),
        (
            &out,
            [&small, &accepted]
                .map(|file| vec!["check", "--spec", "queue", "--quiet", "--junit", out_path, file.as_str()]),
        ),
        (&out, [&small, &accepted].map(|file| vec!["view", "--spec", "queue", "-o", out_path, file.as_str()])),
        (
            &page,
            [&small, &accepted]
                .map(|file| vec!["check", "--spec", "queue", "--quiet", "--view", page_path, file.as_str()]),
        ),
    ];
    // Times differ from run to run.
    let content = |path: &Path| {
        let text = fs::read_to_string(path).expect("the file exists and is UTF-8");
        masked(&text)
            .split("time=\"")
            .map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'))
            .collect::<String>()
    };
    let (mut kept, mut replaced) = (0, 0);
    for round in 0..rounds {
        let (path, [old, new]) = &writers[round as usize % writers.len()];
        let write = |args: &[&str]| {
            let started = Instant::now();
            assert!(matches!(run(args).code, 0 | 1), "{args:?}");
            (content(path), started.elapsed())
        };
        let (expected_new, time) = write(new);
        let (expected_old, _) = write(old);
        assert_ne!(expected_old, expected_new);
        let start = |args: &[&str]| {
            trueline(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary is built")
        };
        match CRASHES[(round as usize / writers.len()) % CRASHES.len()] {
            Crash::Killed => kill_after(start(new), time.mul_f64(f64::from(random.below(1200)) / 1000.0)),
            Crash::FullDisk => {
                let room = u64::from(random.below(1 + u32::try_from(expected_new.len() / 1024).unwrap_or(u32::MAX)));
                let run: super::Run = with_room_for(room).args(new).output().expect("`bash` is installed").into();
                assert!(matches!(run.code, 0..=2), "{run:?}");
            }
            Crash::TwoAtOnce => {
                let mut both = [start(new), start(old)];
                for child in &mut both {
                    assert!(matches!(child.wait().expect("the process has started").code(), Some(0 | 1)));
                }
            }
        }
        let found = content(path);
        kept += u32::from(found == expected_old);
        replaced += u32::from(found == expected_new);
        assert!(found == expected_old || found == expected_new, "round {round}: {} bytes are neither", found.len());
    }
    report(format_args!("outputs: {rounds} crashes, all readable; {kept} were as before, {replaced} were replaced"));
}

/// Returns a history that is long enough for its writer to be killed while it writes.
fn long_history() -> String {
    let line = |number: u32| {
        format!("{{\"process\":0,\"f\":\"enqueue\",\"value\":{number},\"call\":{0},\"return\":{0}}}\n", number * 2)
    };
    (0..5000).map(line).collect()
}

#[test]
fn files_survive_a_few_crashes() {
    crash_collectors(6);
    crash_writers(15);
}

#[test]
#[ignore = "a soak: it takes minutes"]
fn files_survive_crashes() {
    crash_collectors(rounds(300));
    crash_writers(rounds(300));
}
