//! `collect`: real sockets.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use super::{Scratch, json, run, trueline};

/// A running collector.
pub(super) struct Collector {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    pub(super) address: String,
    file: String,
}

impl Collector {
    pub(super) fn start(scratch: &Scratch) -> Self {
        let file = scratch.0.join("history.jsonl").to_str().expect("plain").to_owned();
        let mut child = trueline(&["collect", "--listen", "127.0.0.1:0", "-o", &file])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary is built");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("it says where it listens");
        let address =
            line.split("listening on ").nth(1).and_then(|rest| rest.split(',').next()).expect(&line).to_owned();
        Self { child, stderr, address, file }
    }

    fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        Client { answers: BufReader::new(stream.try_clone().expect("a socket")), stream }
    }

    /// Ctrl-C; gives the file and what it said last.
    pub(super) fn end(mut self) -> (String, String) {
        let killed = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().expect("kill is there");
        assert!(killed.success());
        let status = self.child.wait().expect("it was started");
        assert_eq!(status.code(), Some(0));
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.stderr, &mut said).expect("text");
        (self.file, said)
    }
}

struct Client {
    stream: TcpStream,
    answers: BufReader<TcpStream>,
}

impl Client {
    fn say(&mut self, line: &str) -> serde_json::Value {
        self.stream.write_all(format!("{line}\n").as_bytes()).expect("it is there");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("it answers");
        json(&answer)
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
    assert!(said.contains("161 events of 5 processes, 1 of them in an operation; 0 lines were refused"), "{said}");
    let judged = run(&["check", "--json", "--spec", "queue", &file]);
    assert_eq!(judged.code, 0, "{judged:?}");
    assert_eq!(
        (json(&judged.stdout)["operations"].as_u64(), json(&judged.stdout)["pending"].as_u64()),
        (Some(81), Some(1))
    );
    // One clock, which does not go back.
    let linted = run(&["lint", "--spec", "queue", &file]);
    assert_eq!(linted.code, 0, "{linted:?}");
}

#[test]
fn bad_clients() {
    let scratch = Scratch::new("collect-bad");
    let collector = Collector::start(&scratch);
    let mut client = collector.connect();
    for (line, expected) in [
        ("nonsense", "no JSON object"),
        ("[1]", "no JSON object"),
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
    assert!(client.say(r#"{"type":"invoke","f":"read"}"#)["error"].as_str().expect("refused").contains("is open"));
    assert!(client.say(r#"{"type":"ok","f":"read"}"#)["error"].as_str().expect("refused").contains("another `f`"));
    client.logged(r#"{"process":7,"type":"invoke","f":"read"}"#);
    client.logged(r#"{"process":7,"type":"ok","value":1}"#);
    assert!(
        client.say(r#"{"process":8,"type":"invoke","f":"read","object":"x"}"#)["error"]
            .as_str()
            .expect("refused")
            .contains("everywhere or nowhere")
    );
    // A line without end: the connection is closed, and the others go on.
    let mut endless = collector.connect();
    let _ = endless.stream.write_all(&vec![b'x'; (1 << 20) + 2]);
    let mut answer = String::new();
    let _ = endless.answers.read_line(&mut answer);
    assert!(answer.is_empty() || answer.contains("longer than 1048576"), "{answer}");
    drop(collector.connect());
    client.logged(r#"{"type":"ok","f":"write"}"#);
    let (file, _) = collector.end();
    let text = fs::read_to_string(&file).expect("it was written");
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
