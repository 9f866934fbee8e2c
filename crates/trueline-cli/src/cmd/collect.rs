//! `trueline collect`: a process that clients of a distributed system log to, so that one clock orders what they say.
//!
//! Each client sends a line before it calls and one after it returned. The order in which the lines come is the order of
//! the events, and that is sound only if a call is here before it is made: so every line is answered, and clients wait for
//! the answer to a call before they make it. A return that comes late only makes the operation look longer.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

use serde_json::{Map, Value, json};
use trueline::history::codec::jsonl;

use crate::args::CollectArgs;
use crate::output;

/// The longest line that is taken, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

pub(crate) fn run(args: &CollectArgs) -> ExitCode {
    let fault = |what: &str, fault: io::Error, remedy: &str| {
        output::error(format_args!("{what}: {fault}; {remedy}"));
        ExitCode::from(2)
    };
    let path = args.output.display().to_string();
    let file = match File::create(&args.output) {
        Ok(file) => file,
        Err(error) => return fault(&path, error, "check the path"),
    };
    let bound = TcpListener::bind(&args.listen).and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = match bound {
        Ok(bound) => bound,
        Err(error) => return fault(&args.listen, error, "give an address of this machine and a free port"),
    };
    let (end, ended) = mpsc::channel();
    let interrupted = end.clone();
    if let Err(error) = ctrlc::set_handler(move || drop(interrupted.send(None))) {
        output::note(format_args!("Ctrl-C ends this at once: {error}"));
    }
    let log = Arc::new(Mutex::new(Log::new(file)));
    output::note(format_args!("listening on {address}, writing {path}; Ctrl-C to end"));
    let shared = Arc::clone(&log);
    std::thread::spawn(move || {
        for (connection, stream) in listener.incoming().enumerate() {
            // One that could not be accepted has gone away.
            let Ok(stream) = stream else { continue };
            let (log, end) = (Arc::clone(&shared), end.clone());
            let serve = move || {
                if let Err(Stop::Unwritten(error)) = serve(&stream, connection, &log) {
                    let _ = end.send(Some(error));
                }
            };
            // Without a thread for it, the client sees its connection closed.
            let _ = std::thread::Builder::new().spawn(serve);
        }
    });
    // The sender is alive as long as clients can come.
    let why = ended.recv().unwrap_or(None);
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let synced = log.file.sync_all();
    output::note(log.summary());
    // Whoever writes later would write behind the end: the lock is kept until the process is gone.
    match why.map_or(synced, Err) {
        Ok(()) => {
            log.is_closed = true;
            ExitCode::SUCCESS
        }
        Err(error) => fault(&path, error, "free space, or write elsewhere"),
    }
}

/// Why a client is served no longer.
enum Stop {
    /// It is gone, or too bad.
    Client,
    /// The file cannot be written.
    Unwritten(io::Error),
}

/// Takes the lines of a client until it is gone.
fn serve(stream: &TcpStream, connection: usize, log: &Mutex<Log>) -> Result<(), Stop> {
    let gone = |_| Stop::Client;
    // Answers are short, and waited for.
    stream.set_nodelay(true).map_err(gone)?;
    let mut lines = BufReader::new(stream);
    let mut answers = stream;
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = (&mut lines).take(LONGEST_LINE + 1).read_until(b'\n', &mut line).map_err(gone)?;
        if length == 0 {
            return Ok(());
        }
        let lock = || log.lock().unwrap_or_else(PoisonError::into_inner);
        if line.len() as u64 > LONGEST_LINE {
            lock().refused += 1;
            let answer =
                json!({"error": format!("the line is longer than {LONGEST_LINE} bytes; log less of the value")});
            let _ = writeln!(answers, "{answer}");
            return Err(Stop::Client);
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match lock().add(connection, &line) {
            Ok(time) => json!({ "time": time }),
            Err(Refusal::Message(message)) => json!({ "error": message }),
            Err(Refusal::Unwritten(error)) => return Err(Stop::Unwritten(error)),
        };
        // In one piece, so that it is one packet.
        answers.write_all(format!("{answer}\n").as_bytes()).map_err(gone)?;
    }
}

/// Why a line is not in the log.
enum Refusal {
    Message(String),
    Unwritten(io::Error),
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        Self::Message(message.to_owned())
    }
}

/// A call that has not returned.
struct Open {
    f: Value,
    object: Option<Value>,
    /// The line of the call.
    line: String,
}

/// What clients have said, in one order.
struct Log {
    file: File,
    started: Instant,
    is_closed: bool,
    /// The number and the open call of each process of each connection.
    processes: HashMap<(usize, String), (u32, Option<Open>)>,
    /// Whether events name an object: the first decides.
    named: Option<bool>,
    events: u64,
    refused: u64,
}

impl Log {
    fn new(file: File) -> Self {
        let started = Instant::now();
        Self { file, started, is_closed: false, processes: HashMap::new(), named: None, events: 0, refused: 0 }
    }

    fn summary(&self) -> String {
        let Self { events, refused, processes, .. } = self;
        let open = processes.values().filter(|(_, open)| open.is_some()).count();
        format!(
            "{events} events of {} processes, {open} of them in an operation; {refused} lines were refused",
            processes.len()
        )
    }

    /// Adds a line of a client; gives its time.
    fn add(&mut self, connection: usize, line: &[u8]) -> Result<u64, Refusal> {
        let added = self.try_add(connection, line);
        match &added {
            Ok(_) => self.events += 1,
            Err(_) => self.refused += 1,
        }
        added
    }

    fn try_add(&mut self, connection: usize, line: &[u8]) -> Result<u64, Refusal> {
        if self.is_closed {
            return Err("the log is closed".into());
        }
        let object = serde_json::from_slice(line)
            .map_err(|fault| Refusal::Message(format!("this is no JSON object ({fault}); send one on each line")))?;
        let Value::Object(mut event) = object else {
            return Err("this is no JSON object; send one on each line".into());
        };
        let client = event.remove("process").unwrap_or(Value::Null);
        if !matches!(client, Value::Null | Value::Number(_) | Value::String(_)) {
            return Err("`process` must be a number or a name, or be left out".into());
        }
        let kind = match event.get("type").and_then(Value::as_str) {
            Some(kind @ ("invoke" | "ok" | "fail" | "info")) => kind.to_owned(),
            _ => return Err("`type` must be invoke, ok, fail or info".into()),
        };
        let next = u32::try_from(self.processes.len()).map_err(|_| Refusal::from("too many processes"))?;
        let (number, open) = self.processes.entry((connection, client.to_string())).or_insert((next, None));
        let mut called = None;
        match (&*kind, &*open) {
            ("invoke", Some(_)) => {
                return Err("the call before this one is open; send its return first, or use another `process`".into());
            }
            ("invoke", None) => {
                let object = event.get("object").cloned();
                if *self.named.get_or_insert(object.is_some()) != object.is_some() {
                    return Err("some calls name an `object`, and others do not; name it everywhere or nowhere".into());
                }
                match event.get("f") {
                    Some(f @ Value::String(_)) => called = Some((f.clone(), object)),
                    _ => return Err("`f` is missing; say what is called, such as \"f\":\"read\"".into()),
                }
            }
            (_, None) => return Err("no call is open; send the call first".into()),
            (_, Some(open)) => {
                if event.get("f").is_some_and(|given| *given != open.f) {
                    return Err("the open call has another `f`; send the same, or leave it out".into());
                }
                if let Some(object) = &open.object {
                    event.insert("object".to_owned(), object.clone());
                }
            }
        }
        let time = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut out = Map::new();
        out.insert("process".to_owned(), json!(*number));
        out.insert("time".to_owned(), json!(time));
        event.remove("time");
        out.extend(event);
        if !client.is_null() {
            out.insert("client".to_owned(), client);
        }
        // In one piece: if the machine fails, there is no half of a line but the last.
        let mut line = Value::Object(out).to_string();
        line.push('\n');
        // What could not be read later is refused now.
        let readable = match (&*kind, &*open) {
            ("ok", Some(open)) => jsonl::read(format!("{}{line}", open.line).as_bytes()).err(),
            ("invoke", _) => jsonl::read(line.as_bytes()).err(),
            _ => None,
        };
        if let Some(fault) = readable {
            return Err(Refusal::Message(fault.message().to_owned()));
        }
        self.file.write_all(line.as_bytes()).map_err(Refusal::Unwritten)?;
        *open = called.map(|(f, object)| Open { f, object, line });
        Ok(time)
    }
}
