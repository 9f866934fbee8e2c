//! Tests `collect` with real sockets.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use super::{Scratch, json, run, trueline};

/// A running collector.
pub(crate) struct Collector {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    pub(crate) address: String,
    file: String,
}

impl Collector {
    pub(crate) fn start(scratch: &Scratch) -> Self {
        Self::start_with(scratch, &mut trueline(&[]), &[])
    }

    /// Starts a collector with additional arguments, by a command that may set limits.
    pub(crate) fn start_with(scratch: &Scratch, command: &mut Command, args: &[&str]) -> Self {
        let file = scratch.0.join("history.jsonl").to_str().expect("plain").to_owned();
        let mut child = command
            .args(["collect", "--listen", "127.0.0.1:0", "-o", &file])
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary is built");
        let mut stderr = BufReader::new(child.stderr.take().expect("stderr is piped"));
        let mut said = String::new();
        while !said.contains("listening on ") {
            assert_ne!(stderr.read_line(&mut said).expect("stderr can be read"), 0, "{said}");
        }
        let address =
            said.split("listening on ").nth(1).and_then(|rest| rest.split(',').next()).expect(&said).to_owned();
        Self { child, stderr, address, file }
    }

    /// Waits until the collector ends by itself.
    pub(crate) fn wait(mut self) -> std::process::ExitStatus {
        self.child.wait().expect("the process has started")
    }

    /// Kills the collector, as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the process is running");
        self.child.wait().expect("the process has started");
    }

    pub(crate) fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).expect("the collector listens");
        Client { answers: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }

    /// Interrupts the collector with Ctrl-C. Returns the file, and its last output.
    pub(crate) fn end(mut self) -> (String, String) {
        let killed =
            Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("`kill` is installed");
        assert!(killed.success());
        let status = self.child.wait().expect("the process has started");
        assert_eq!(status.code(), Some(0));
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut said).expect("text");
        (self.file, said)
    }
}

pub(crate) struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    fn say(&mut self, line: &str) -> serde_json::Value {
        json(&self.try_say(line).expect("the collector answers"))
    }

    /// Returns the response to a line; `None` if the collector has ended.
    pub(crate) fn try_say(&mut self, line: &str) -> Option<String> {
        self.stream.write_all(format!("{line}\n").as_bytes()).ok()?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer).ok()?;
        answer.ends_with('\n').then_some(answer)
    }

    fn logged(&mut self, line: &str) {
        let answer = self.say(line);
        assert!(answer["time"].is_u64(), "{answer}");
    }
}

#[test]
fn a_history_of_several_clients() {
    let scratch = Scratch::new("collect");
    let collector = Collector::start(&scratch);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let collector = &collector;
            scope.spawn(move || {
                let mut log = collector.connect();
                for value in 0..20 {
                    let value = client * 100 + value;
                    log.logged(&format!(r#"{{"type":"invoke","f":"enqueue","value":{value}}}"#));
                    log.logged(r#"{"type":"ok","f":"enqueue"}"#);
                }
            });
        }
    });
    let mut last = collector.connect();
    last.logged(r#"{"process":"main","type":"invoke","f":"dequeue"}"#);
    let (file, said) = collector.end();
    assert!(
        said.contains("received 161 events of 5 processes, 1 of which have an open call; rejected 0 lines"),
        "{said}"
    );
    let judged = run(&["check", "--json", "--spec", "queue", &file]);
    assert_eq!(judged.code, 0, "{judged:?}");
    assert_eq!(
        (json(&judged.stdout)["operations"].as_u64(), json(&judged.stdout)["pending"].as_u64()),
        (Some(81), Some(1))
    );
    // All times are from one clock, which does not go back.
    let linted = run(&["lint", "--spec", "queue", &file]);
    assert_eq!(linted.code, 0, "{linted:?}");
}

#[test]
fn bad_clients() {
    let scratch = Scratch::new("collect-bad");
    let collector = Collector::start(&scratch);
    let mut client = collector.connect();
    for (line, expected) in [
        ("nonsense", "not a JSON object"),
        ("[1]", "not a JSON object"),
        (r#"{"type":"ok","f":"read"}"#, "no call is open"),
        (r#"{"type":"begin","f":"read"}"#, "invoke, ok, fail or info"),
        (r#"{"type":"invoke"}"#, "`f` is missing"),
        (r#"{"type":"invoke","f":"write","value":1.5}"#, "numbers must be integers"),
        (r#"{"type":"invoke","f":"write","process":[1]}"#, "a number or a name"),
    ] {
        let answer = client.say(line);
        assert!(answer["error"].as_str().expect(line).contains(expected), "{answer}");
    }
    client.logged(r#"{"type":"invoke","f":"write","value":1}"#);
    assert!(
        client.say(r#"{"type":"invoke","f":"read"}"#)["error"].as_str().expect("refused").contains("has not returned")
    );
    assert!(client.say(r#"{"type":"ok","f":"read"}"#)["error"].as_str().expect("refused").contains("a different `f`"));
    client.logged(r#"{"process":7,"type":"invoke","f":"read"}"#);
    client.logged(r#"{"process":7,"type":"ok","value":1}"#);
    assert!(
        client.say(r#"{"process":8,"type":"invoke","f":"read","object":"x"}"#)["error"]
            .as_str()
            .expect("refused")
            .contains("in all calls or in none")
    );
    // After a line without end, the connection is closed, and the others continue.
    let mut endless = collector.connect();
    let _ = endless.stream.write_all(&vec![b'x'; (1 << 20) + 2]);
    let mut answer = String::new();
    let _ = endless.answers.read_line(&mut answer);
    assert!(answer.is_empty() || answer.contains("longer than 1048576"), "{answer}");
    drop(collector.connect());
    client.logged(r#"{"type":"ok","f":"write"}"#);
    let (file, _) = collector.end();
    let text = fs::read_to_string(&file).expect("the file was written");
    assert_eq!(text.lines().count(), 4, "{text}");
    assert_eq!(run(&["check", "--spec", "register", &file]).code, 0, "{text}");
}

#[test]
fn what_cannot_be_listened_on_or_written() {
    let scratch = Scratch::new("collect-errors");
    let file = scratch.0.join("x").to_str().expect("plain").to_owned();
    let nowhere = run(&["collect", "--listen", "192.0.2.1:1", "-o", &file]);
    assert!(nowhere.code == 2 && nowhere.stderr.contains("192.0.2.1:1: "), "{nowhere:?}");
    assert_eq!(run(&["collect", "--listen", "nonsense", "-o", &file]).code, 2);
    let unwritable = run(&["collect", "--listen", "127.0.0.1:0", "-o", "/no/such/dir/x"]);
    assert!(unwritable.code == 2 && unwritable.stderr.contains("/no/such/dir/x: "), "{unwritable:?}");
    assert_eq!(run(&["collect"]).code, 2);
}

#[test]
fn a_log_that_is_there_is_continued() {
    let scratch = Scratch::new("collect-again");
    for run in 0..3 {
        let collector = Collector::start(&scratch);
        let mut client = collector.connect();
        client.logged(&format!(r#"{{"type":"invoke","f":"write","value":{run}}}"#));
        client.logged(r#"{"type":"ok"}"#);
        client.logged(r#"{"type":"invoke","f":"read"}"#);
        collector.end();
    }
    let file = scratch.0.join("history.jsonl");
    let text = fs::read_to_string(&file).expect("the file was written");
    assert_eq!(text.lines().count(), 9, "{text}");
    // After a restart, processes have new numbers and later times, so reads that were open stay
    // open.
    let file = file.to_str().expect("plain");
    let judged = run(&["check", "--json", "--spec", "register", file]);
    assert_eq!((judged.code, json(&judged.stdout)["pending"].as_u64()), (0, Some(3)), "{judged:?}");
    assert_eq!(run(&["lint", "--spec", "register", file]).code, 0);
    let collector = Collector::start(&scratch);
    let answer = collector.connect().say(r#"{"type":"invoke","f":"read","object":"x"}"#);
    assert!(answer["error"].as_str().expect("refused").contains("in all calls or in none"), "{answer}");
    collector.end();
    assert_eq!(fs::read_to_string(file).expect("the file can be read"), text);
}

#[test]
fn a_line_that_was_cut_off_is_removed_wherever_it_was_cut() {
    let scratch = Scratch::new("collect-repair");
    let whole = "{\"f\":\"read\",\"process\":0,\"time\":5,\"type\":\"invoke\"}\n";
    let last = "{\"f\":\"größer\",\"process\":1,\"time\":7,\"type\":\"invoke\"}";
    let ends =
        [1, 2, 6, 9, last.find('ß').expect("the last line contains an ß") + 1, 20, 40, last.len() - 1, last.len()];
    for end in ends {
        let file = scratch.file("history.jsonl", [whole.as_bytes(), &last.as_bytes()[..end]].concat());
        let collector = Collector::start(&scratch);
        collector.connect().logged(r#"{"type":"invoke","f":"read"}"#);
        collector.end();
        let text = fs::read_to_string(&file).expect("the file is UTF-8");
        let lines: Vec<&str> = text.lines().collect();
        // If only the line break is missing, the line is complete.
        let kept = if end == last.len() { vec![whole.trim_end(), last] } else { vec![whole.trim_end()] };
        assert_eq!(lines[..lines.len() - 1], kept, "{end}");
        assert_eq!(run(&["check", "--spec", "register", &file]).code, if kept.len() == 2 { 2 } else { 0 }, "{text}");
    }
}

#[test]
fn a_file_that_is_no_log_is_not_touched() {
    let scratch = Scratch::new("collect-other");
    for other in [
        "notes, without an end",
        "{\"a\":1}",
        "{\"process\":0,\"f\":\"read\",\"call\":1}\n",
        "{\n  \"a\": 1\n}\n",
        "{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}\n",
        "\n",
        "{\"f\":\"x\",\"process\":4294967295,\"time\":1,\"type\":\"invoke\"}\n",
    ] {
        let file = scratch.file("history.jsonl", other);
        let refused = run(&["collect", "--listen", "127.0.0.1:0", "-o", &file]);
        assert!(refused.code == 2 && refused.stderr.contains("line 1 was not written by"), "{refused:?}");
        assert_eq!(fs::read_to_string(&file).expect("the file can be read"), other);
    }
}

#[test]
fn a_second_collector_does_not_touch_the_log() {
    let scratch = Scratch::new("collect-twice");
    let collector = Collector::start(&scratch);
    let mut client = collector.connect();
    client.logged(r#"{"type":"invoke","f":"read"}"#);
    let before = fs::read_to_string(&collector.file).expect("the file can be read");
    // A second collector is refused on the same port, and on another port.
    let second = run(&["collect", "--listen", &collector.address, "-o", &collector.file]);
    assert!(second.code == 2 && second.stderr.contains(&collector.address), "{second:?}");
    let second = run(&["collect", "--listen", "127.0.0.1:0", "-o", &collector.file]);
    assert!(second.code == 2 && second.stderr.contains("another `trueline collect` is writing"), "{second:?}");
    assert_eq!(fs::read_to_string(&collector.file).expect("the file can be read"), before);
    client.logged(r#"{"type":"ok"}"#);
    collector.end();
}

#[test]
fn a_refused_line_changes_nothing() {
    let scratch = Scratch::new("collect-refused");
    let collector = Collector::start(&scratch);
    let mut client = collector.connect();
    let refused = |client: &mut Client, line: &str, expected: &str| {
        let answer = client.say(line);
        assert!(answer["error"].as_str().expect(line).contains(expected), "{line}: {answer}");
    };
    // The names of the object and of the processes in rejected calls are forgotten.
    refused(&mut client, r#"{"process":"a","type":"invoke","object":"x"}"#, "`f` is missing");
    refused(&mut client, r#"{"process":"b","type":"invoke","f":"write","object":"x","value":1.5}"#, "integers");
    refused(&mut client, r#"{"process":"c","type":"ok"}"#, "no call is open");
    client.logged(r#"{"process":"d","type":"invoke","f":"write","value":1}"#);
    for kind in ["ok", "fail", "info"] {
        refused(&mut client, &format!(r#"{{"process":"d","type":"{kind}","object":"x"}}"#), "names no `object`");
        refused(&mut client, &format!(r#"{{"process":"d","type":"{kind}","f":"read"}}"#), "a different `f`");
        refused(&mut client, &format!(r#"{{"process":"d","type":"{kind}","call":1}}"#), "both `type` and `call`");
    }
    client.logged(r#"{"process":"d","type":"fail"}"#);
    client.logged(r#"{"process":"d","type":"invoke","f":"write","value":2}"#);
    client.logged(r#"{"process":"d","type":"info","value":{"anything":1.5}}"#);
    let (file, said) = collector.end();
    assert!(
        said.contains("received 4 events of 1 processes, 0 of which have an open call; rejected 12 lines"),
        "{said}"
    );
    let judged = run(&["check", "--json", "--spec", "register", &file]);
    assert_eq!((judged.code, json(&judged.stdout)["operations"].as_u64()), (0, Some(1)), "{judged:?}");
}
