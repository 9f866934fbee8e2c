//! Tests `check --follow` and `collect --check`. No test waits for a time: a process ends by itself, or is interrupted
//! after it has written what is expected.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use super::collect::Collector;
use super::{Scratch, json, run, run_with_input, trueline};

/// The read of `x` returns a value that was overwritten, and `y` is fine.
const STALE: &str = r#"{"process":0,"type":"invoke","f":"put","key":"x","value":"1"}
{"process":0,"type":"ok","f":"put","value":null}
{"process":1,"type":"invoke","f":"put","key":"y","value":"7"}
{"process":0,"type":"invoke","f":"put","key":"x","value":"2"}
{"process":0,"type":"ok","f":"put","value":null}
{"process":2,"type":"invoke","f":"get","key":"x","value":null}
{"process":2,"type":"ok","f":"get","value":"1"}
"#;

fn start(args: &[&str]) -> Child {
    let mut command = trueline(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary is built")
}

fn interrupt(child: &Child) {
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("`kill` is installed").success()
    );
}

/// Returns the next line of output.
fn next_line(out: &mut BufReader<ChildStdout>) -> serde_json::Value {
    let mut line = String::new();
    assert_ne!(out.read_line(&mut line).expect("text"), 0, "it ended");
    json(&line)
}

#[test]
fn fail_fast_ends_although_the_input_does_not() {
    let mut child = start(&["check", "--spec", "kv", "--follow", "--fail-fast"]);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(STALE.as_bytes()).expect("the command reads stdin");
    let mut said = String::new();
    child.stdout.take().expect("stdout is piped").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("the process has started").code(), Some(1));
    assert_eq!(
        said,
        "-: rejected (online, 4 operations, 1 pending, 2 partitions)\n  \
         key \"x\": get(\"x\") of process 2 (lines 6-7) returned \"1\", but could only have returned \"2\"\n"
    );
    drop(stdin);
}

#[test]
fn without_fail_fast_other_keys_are_judged_to_the_end() {
    let more = r#"{"process":2,"type":"invoke","f":"get","key":"x"}
{"process":2,"type":"ok","value":"nonsense"}
{"process":2,"type":"invoke","f":"get","key":"y"}
{"process":2,"type":"ok","value":"8"}
"#;
    let run =
        run_with_input(&["check", "--spec", "kv", "--follow", "--json", "-"], (STALE.to_owned() + more).as_bytes());
    assert_eq!(run.code, 1, "{run:?}");
    let events: Vec<serde_json::Value> = run.stdout.lines().map(json).collect();
    assert_eq!(events.len(), 3, "{run:?}");
    assert_eq!(events[0]["event"], "violation");
    assert_eq!(
        (&events[0]["line"], &events[0]["call_line"], &events[0]["key"]),
        (&7.into(), &6.into(), &"\"x\"".into())
    );
    assert_eq!(events[0]["allowed"], serde_json::json!(["\"2\""]));
    assert_eq!((&events[1]["line"], &events[1]["allowed"]), (&11.into(), &serde_json::json!(["\"\"", "\"7\""])));
    assert_eq!((&events[2]["event"], &events[2]["verdict"]), (&"end".into(), &"rejected".into()));
    assert_eq!(
        (&events[2]["operations"], &events[2]["pending"], &events[2]["violations"]),
        (&6.into(), &1.into(), &2.into())
    );
}

#[test]
fn a_growing_file_is_followed_until_an_interrupt() {
    let scratch = Scratch::new("follow-growing");
    let (first, last) = STALE.split_at(STALE.len() - 20);
    let file = scratch.file("history.jsonl", first);
    let mut child = start(&["check", "--spec", "kv", "--follow", "--json", &file]);
    let mut out = BufReader::new(child.stdout.take().expect("stdout is piped"));
    // The last line is completed while the file is followed.
    let mut log = OpenOptions::new().append(true).open(&file).expect("ours");
    log.write_all(last.as_bytes()).expect("ours");
    let violation = next_line(&mut out);
    assert_eq!((&violation["event"], &violation["line"]), (&"violation".into(), &7.into()));
    // This line is never completed.
    log.write_all(br#"{"process":3,"ty"#).expect("ours");
    interrupt(&child);
    let end = next_line(&mut out);
    assert_eq!((&end["event"], &end["verdict"], &end["operations"]), (&"end".into(), &"rejected".into(), &4.into()));
    assert_eq!(child.wait().expect("the process has started").code(), Some(1));
}

#[test]
fn a_file_that_no_longer_grows_ends_the_command_if_this_is_wanted() {
    let scratch = Scratch::new("follow-idle");
    let good = STALE.replace(r#""ok","f":"get","value":"1""#, r#""ok","f":"get","value":"2""#);
    let file = scratch.file("history.jsonl", good);
    let done = run(&["check", "--spec", "kv", "--follow", "--idle", "1ms", &file]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.stdout, format!("{file}: accepted (online, 4 operations, 1 pending, 2 partitions)\n"));
}

#[test]
fn a_late_fail_takes_back_what_the_operation_did() {
    let lines = r#"{"process":0,"type":"invoke","f":"write","value":1}
{"process":1,"type":"invoke","f":"read","value":null}
{"process":1,"type":"ok","f":"read","value":1}
{"process":0,"type":"fail","f":"write","value":1}
"#;
    let run = run_with_input(&["check", "--spec", "register:0", "--follow"], lines.as_bytes());
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("write(1) of process 0 (lines 1-4) failed, so it had no effect"), "{run:?}");
    let info = lines.replace("fail", "info");
    assert_eq!(run_with_input(&["check", "--spec", "register:0", "--follow"], info.as_bytes()).code, 0);
}

#[test]
fn whole_operations_are_sorted_within_the_time_given() {
    let lines = r#"{"process":1,"f":"read","result":1,"call":12,"return":13}
{"process":0,"f":"write","value":1,"call":5,"return":14}
{"process":1,"f":"read","result":0,"call":20,"return":21}
{"process":2,"f":"write","value":0,"call":18,"return":40}
"#;
    let follow = |args: &[&str]| {
        run_with_input(&[&["check", "--spec", "register:0", "--follow"], args].concat(), lines.as_bytes())
    };
    assert_eq!(follow(&["--late", "100"]).code, 0);
    let late = follow(&["--late", "5"]);
    assert_eq!(late.code, 3, "{late:?}");
    assert!(late.stderr.contains("not decided: the object: the operation was called at 5"), "{late:?}");
    let without = follow(&[]);
    assert_eq!(without.code, 2, "{without:?}");
    assert!(without.stderr.contains("-:1: this line is a whole operation") && without.stderr.contains("--late D"));
    let stale = lines.replace(r#""call":18,"return":40"#, r#""call":22,"return":40"#);
    let stale = run_with_input(&["check", "--spec", "register:0", "--follow", "--late", "100"], stale.as_bytes());
    assert_eq!(stale.code, 1, "{stale:?}");
    assert!(
        stale.stdout.contains("read() of process 1 (line 3) returned 0, but could only have returned 1"),
        "{stale:?}"
    );
}

#[test]
fn operations_that_span_keys_are_judged_at_the_end_or_not_decided() {
    let scratch = Scratch::new("follow-spans");
    let lines = r#"{"process":0,"type":"invoke","f":"put","key":"x","value":1}
{"process":0,"type":"ok","f":"put"}
{"process":0,"type":"invoke","f":"clear"}
{"process":0,"type":"ok","f":"clear"}
{"process":0,"type":"invoke","f":"get","key":"x"}
{"process":0,"type":"ok","f":"get","value":null}
"#;
    let piped = run_with_input(&["check", "--spec", "map", "--follow"], lines.as_bytes());
    assert_eq!(piped.code, 3, "{piped:?}");
    assert!(piped.stdout.contains("clear() on line 3 spans several keys"), "{piped:?}");
    let file = scratch.file("history.jsonl", lines);
    let whole = run(&["check", "--spec", "map", "--follow", "--idle", "1ms", &file]);
    assert_eq!(whole.code, 0, "{whole:?}");
    assert!(whole.stderr.contains("judged as a whole"), "{whole:?}");
}

#[test]
fn other_families_and_formats_are_judged_as_a_whole() {
    let queue = run_with_input(&["check", "--spec", "queue", "--follow", "--every", "2"], super::REJECTED.as_bytes());
    assert_eq!(queue.code, 1, "{queue:?}");
    for said in
        ["histories of queue are not judged event by event", "accepted up to line 2", "not linearizable up to line 6"]
    {
        assert!(queue.stderr.contains(said), "{said}: {queue:?}");
    }
    assert!(queue.stdout.contains("-: rejected (auto, 3 operations"), "{queue:?}");
    let edn = b"[{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 5}]";
    let edn = run_with_input(&["check", "--spec", "register:0", "--follow"], edn);
    assert_eq!(edn.code, 1, "{edn:?}");
    assert!(edn.stderr.contains("this format is not read line by line"), "{edn:?}");
    // The input does not end, but the command does.
    let mut child = start(&["check", "--spec", "queue", "--follow", "--every", "6", "--fail-fast", "--quiet"]);
    let mut stdin = child.stdin.take().expect("stdin is piped");
    stdin.write_all(super::REJECTED.as_bytes()).expect("the command reads stdin");
    assert_eq!(child.wait().expect("the process has started").code(), Some(1));
}

#[test]
fn a_connection_is_followed() {
    let mut child = start(&["check", "--spec", "kv", "--follow", "tcp:127.0.0.1:0"]);
    let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
    let mut said = String::new();
    stderr.read_line(&mut said).expect("text");
    let address = said.trim_end().rsplit(' ').next().expect("the line ends in an address").to_owned();
    let mut stream = TcpStream::connect(&address).expect("the command listens");
    stream.write_all(STALE.as_bytes()).expect("the command reads the connection");
    drop(stream);
    assert_eq!(child.wait().expect("the process has started").code(), Some(1));
}

#[test]
fn the_collector_judges_what_it_records() {
    let scratch = Scratch::new("follow-collect");
    let args = ["--check", "--spec", "register:0", "--fail-fast"];
    let collector = Collector::start_with(&scratch, &mut trueline(&[]), &args);
    let mut client = collector.connect();
    for line in [r#"{"type":"invoke","f":"read"}"#, r#"{"type":"ok","f":"read","value":5}"#] {
        assert!(client.try_say(line).is_some_and(|answer| answer.contains("time")));
    }
    assert_eq!(collector.wait().code(), Some(1));
}

#[test]
fn mistakes_are_reported() {
    for (args, said) in [
        (&["--fail-fast"][..], "--follow"),
        (&["--follow", "--view", "a.html"], "--view is not supported with --follow"),
        (&["--follow", "--every", "0"], "at least 1"),
        (&["--follow", "--every", "often"], "a number of lines"),
        (&["--follow", "a.jsonl", "b.jsonl"], "--follow judges one input"),
        (&["--follow", "nowhere.jsonl"], "nowhere.jsonl: cannot open"),
        (&["--follow", "tcp:nowhere"], "give an address of this machine"),
    ] {
        let run = run(&[&["check", "--spec", "kv"], args].concat());
        assert_eq!(run.code, 2, "{args:?}: {run:?}");
        assert!(run.stderr.contains(said), "{args:?}: {run:?}");
    }
    for (line, said) in [
        ("{\"process\":0,\"type\":\"invoke\",\"f\":\"got\"}", "-:1: `kv` has no operation \"got\""),
        ("{\"process\":0,\"type\":\"ok\"}", "-:1: process 0 returns, but has no open call"),
        ("{\"process\":0,", "-:1: the file ends inside this line"),
    ] {
        let run = run_with_input(&["check", "--spec", "kv", "--follow"], line.as_bytes());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(said), "{run:?}");
    }
    let explain = run(&["explain", "--spec", "kv", "--follow"]);
    assert_eq!(explain.code, 2, "{explain:?}");
    let queue = run(&["collect", "--check", "--spec", "queue", "-o", "never.jsonl", "--listen", "127.0.0.1:0"]);
    assert_eq!(queue.code, 2, "{queue:?}");
}
