//! `trueline collect`: receives the events of the clients of a distributed system, so that they are ordered by one
//! clock.
//!
//! Each client sends a line before each call and a line after each return. The order in which the lines arrive is the
//! order of the events. This is sound only if the line of a call arrives before the call is made. Therefore every line
//! is answered, and clients must wait for the answer to the line of a call before they make the call. A return that
//! arrives late only makes the operation look longer.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Instant;

use serde_json::{Map, Value, json};
use trueline::history::codec::jsonl;
use trueline::registry::{self, LiveLimits, NamedSpec, Options};

use super::follow::{Follower, Teller};
use crate::args::CollectArgs;
use crate::output;

/// Maximum length of a line, in bytes.
const LONGEST_LINE: u64 = 1 << 20;

pub(crate) fn run(args: &CollectArgs) -> ExitCode {
    let checking = match args.spec.as_deref().map(|spec| Checking::new(spec, args)).transpose() {
        Ok(checking) => checking,
        Err(message) => {
            output::error(message);
            return ExitCode::from(2);
        }
    };
    let fault = |what: &str, fault: io::Error, remedy: &str| {
        output::error(format_args!("{what}: {fault}; {remedy}"));
        ExitCode::from(2)
    };
    let path = args.output.display().to_string();
    // Bind the port before opening the log, because a second collector on the same port must not
    // touch the log of the first.
    let bound = TcpListener::bind(&args.listen).and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (address, listener) = match bound {
        Ok(bound) => bound,
        Err(error) => return fault(&args.listen, error, "give an address of this machine and a free port"),
    };
    let log = match Log::open(&args.output, args.sync, checking) {
        Ok(log) => log,
        Err(Unusable::Io(error)) => return fault(&path, error, "check the path"),
        Err(Unusable::Message(message)) => {
            output::error(format_args!("{path}: {message}"));
            return ExitCode::from(2);
        }
    };
    let (end, ended) = mpsc::channel();
    let interrupted = end.clone();
    if let Err(error) = ctrlc::set_handler(move || drop(interrupted.send(None))) {
        output::note(format_args!("Ctrl-C will stop trueline at once, because no handler could be installed: {error}"));
    }
    let log = Arc::new(Mutex::new(log));
    output::note(format_args!("listening on {address}, writing {path}; Ctrl-C to end"));
    let shared = Arc::clone(&log);
    std::thread::spawn(move || {
        for (connection, stream) in listener.incoming().enumerate() {
            // If a connection cannot be accepted, for example because the client has already
            // disconnected, wait for the next one.
            let Ok(stream) = stream else { continue };
            let (log, end) = (Arc::clone(&shared), end.clone());
            let serve = move || match serve(&stream, connection, &log) {
                Err(Stop::Unwritten(error)) => drop(end.send(Some(error))),
                Err(Stop::Violated) => drop(end.send(None)),
                Ok(()) | Err(Stop::Client) => {}
            };
            // If no thread can be started, `serve` is dropped, which closes the connection.
            let _ = std::thread::Builder::new().spawn(serve);
        }
    });
    // The thread that accepts clients also holds a sender of this channel. Therefore `recv` keeps
    // waiting as long as clients can connect.
    let why = ended.recv().unwrap_or(None);
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    log.is_closed = true;
    let synced = if log.is_file { log.file.sync_all() } else { Ok(()) };
    output::note(log.summary());
    let checked = log.checking.take().map_or(0, Checking::end);
    match why.map_or(synced, Err) {
        Ok(()) => ExitCode::from(checked),
        Err(error) => fault(&path, error, "free some space, or write elsewhere"),
    }
}

/// The reason why a client is no longer served.
enum Stop {
    /// The client has disconnected, or sent a line that is too long.
    Client,
    /// The log cannot be written.
    Unwritten(io::Error),
    /// The events are not linearizable. With `--fail-fast`, this ends the program.
    Violated,
}

/// Serves a client until it disconnects.
fn serve(stream: &TcpStream, connection: usize, log: &Mutex<Log>) -> Result<(), Stop> {
    let gone = |_| Stop::Client;
    // Send each answer without delay, because answers are short and clients wait for them.
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
        let mut log = lock();
        let added = log.add(connection, &line);
        let is_violated = log.checking.as_ref().is_some_and(|checking| checking.ends);
        drop(log);
        let answer = match added {
            Ok(time) => json!({ "time": time }),
            Err(Refusal::Message(message)) => json!({ "error": message }),
            Err(Refusal::Unwritten(error)) => return Err(Stop::Unwritten(error)),
        };
        // Write the answer with a single call, so that it is sent in one packet.
        answers.write_all(format!("{answer}\n").as_bytes()).map_err(gone)?;
        if is_violated {
            return Err(Stop::Violated);
        }
    }
}

/// The reason why a line was not added to the log.
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
    /// The logged line of the call.
    line: String,
}

/// The events of all clients, in one order.
///
/// A line is answered only after it was handed over to the operating system, so an answered line is
/// not lost if this process crashes. With `--sync`, a line is answered only after it is on disk, so
/// it is not lost in a power failure either.
struct Log {
    file: File,
    /// Whether the output is a regular file. Other outputs, such as pipes, have no length, and
    /// cannot be locked or synced.
    is_file: bool,
    /// The length of the file up to the end of its last complete line.
    length: u64,
    syncs: bool,
    started: Instant,
    /// The time of the first new event, which is later than all events of an existing log.
    first_time: u64,
    /// The number that the next new process gets. Numbers that earlier runs have used are not used
    /// again.
    next_process: u32,
    is_closed: bool,
    /// For each process of each connection, the number that stands for the process in the log, and
    /// its open call.
    processes: HashMap<(usize, String), (u32, Option<Open>)>,
    /// Whether events name an object. The first event decides this for all events.
    named: Option<bool>,
    events: u64,
    refused: u64,
    /// Judges the events; `None` without `--check`.
    checking: Option<Checking>,
}

/// Judges the events while they are recorded.
struct Checking {
    follower: Follower<'static>,
    teller: Teller<'static>,
    fail_fast: bool,
    /// Whether the program must end, because there was a violation and `--fail-fast` was given.
    ends: bool,
    /// Whether a line could not be judged. The lines after it are not judged either.
    has_failed: bool,
}

impl Checking {
    fn new(name: &str, args: &CollectArgs) -> Result<Self, String> {
        let spec = registry::spec(name, Options::new()).map_err(|fault| fault.to_string())?;
        // Leak the specification, because it is needed until the program ends.
        let spec: &'static NamedSpec = Box::leak(Box::new(spec));
        let memory = usize::try_from(args.memory / 4 * 3).unwrap_or(usize::MAX);
        let limits = LiveLimits { memory, ..LiveLimits::default() };
        let Some(follower) = Follower::new(spec, None, None, limits) else {
            return Err(format!(
                "histories of {name} are judged only as a whole; leave out --check, and run `trueline check` on the log"
            ));
        };
        let teller = Teller::new(args.output.display().to_string(), spec.name(), (false, false, args.fail_fast));
        Ok(Self { follower, teller, fail_fast: args.fail_fast, ends: false, has_failed: false })
    }

    /// Judges a line of the log.
    fn line(&mut self, line: &[u8]) {
        if self.has_failed {
            return;
        }
        let mut news = Vec::new();
        if let Err(fault) = self.follower.line(line, false, &mut news) {
            self.has_failed = true;
            output::error(format_args!(
                "{}; this event and all later ones are not judged",
                fault.describe(&self.teller.file)
            ));
        }
        self.ends |= self.teller.tell(&mut news) && self.fail_fast;
        self.teller.summarize(&self.follower);
    }

    /// Prints the verdict, and returns the exit code.
    fn end(self) -> u8 {
        let code = self.teller.end(&self.follower, None);
        if self.has_failed { 2 } else { code }
    }
}

/// The reason why a file cannot be used as the log.
enum Unusable {
    Io(io::Error),
    Message(String),
}

impl From<io::Error> for Unusable {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Log {
    /// Opens the file that contains the log. The file is created if it does not exist; otherwise,
    /// its log is continued.
    fn open(path: &Path, syncs: bool, checking: Option<Checking>) -> Result<Self, Unusable> {
        let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let is_file = file.metadata()?.is_file();
        let mut log = Self {
            file,
            is_file,
            length: 0,
            syncs: syncs && is_file,
            started: Instant::now(),
            first_time: 0,
            next_process: 0,
            is_closed: false,
            processes: HashMap::new(),
            named: None,
            events: 0,
            refused: 0,
            checking,
        };
        if is_file {
            lock(&log.file)?;
            log.go_on()?;
        }
        Ok(log)
    }

    /// Reads the existing log, in order to continue it. An incomplete last line, which was never answered, is removed.
    fn go_on(&mut self) -> Result<(), Unusable> {
        let mut lines = BufReader::new(self.file.try_clone()?);
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            // A logged line may be longer than the line that the client sent, because the log adds
            // information.
            let length = (&mut lines).take(2 * LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
            if length == 0 {
                break;
            }
            let is_whole = line.ends_with(b"\n");
            let may_be_cut_off = !is_whole && length < 2 * LONGEST_LINE;
            let event = serde_json::from_slice(&line)
                .map_err(|fault| (may_be_cut_off && fault.is_eof(), fault.to_string()))
                .and_then(|event| self.go_on_behind(&event).map_err(|message| (false, message)));
            match event {
                Ok(()) => {
                    self.length += length;
                    self.judge(&line);
                }
                Err((true, _)) => {
                    self.file.set_len(self.length)?;
                    output::note(format_args!(
                        "line {number} of the log is incomplete, and is removed ({length} bytes)"
                    ));
                    break;
                }
                Err((false, message)) => {
                    return Err(Unusable::Message(format!(
                        "line {number} was not written by `trueline collect` ({message}); the file is unchanged; name \
                         another file"
                    )));
                }
            }
            if !is_whole {
                self.write(b"\n")?;
                break;
            }
        }
        if self.length > 0 {
            output::note(format_args!("appending to the existing log ({} bytes)", self.length));
        }
        Ok(())
    }

    /// Updates the state for an event that an earlier run has written.
    fn go_on_behind(&mut self, event: &Map<String, Value>) -> Result<(), String> {
        let number = |name: &str| {
            event.get(name).and_then(Value::as_u64).ok_or_else(|| format!("its `{name}` is missing or not a number"))
        };
        let process = u32::try_from(number("process")?).map_err(|fault| fault.to_string())?;
        let time = number("time")?;
        if !matches!(event.get("type").and_then(Value::as_str), Some("invoke" | "ok" | "fail" | "info")) {
            return Err("its `type` is missing or is not invoke, ok, fail or info".to_owned());
        }
        self.next_process = self.next_process.max(process.checked_add(1).ok_or("its `process` is too large")?);
        self.first_time = self.first_time.max(time.saturating_add(1));
        self.named = Some(event.contains_key("object"));
        Ok(())
    }

    /// Writes the bytes to the file. If writing to a regular file fails, removes the bytes that
    /// were already written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let synced = |file: &File| if self.syncs { file.sync_data() } else { Ok(()) };
        let written = self.file.write_all(bytes).and_then(|()| synced(&self.file));
        match &written {
            Ok(()) => self.length += bytes.len() as u64,
            Err(_) if self.is_file => {
                // If the bytes cannot be removed, the incomplete line is removed at the next start.
                let _ = self.file.set_len(self.length);
            }
            Err(_) => {}
        }
        written
    }

    /// With `--check`, judges a line that is in the log.
    fn judge(&mut self, line: &[u8]) {
        if let Some(checking) = &mut self.checking {
            checking.line(line);
        }
    }

    fn summary(&self) -> String {
        let Self { events, refused, processes, .. } = self;
        let open = processes.values().filter(|(_, open)| open.is_some()).count();
        format!(
            "received {events} events of {} processes, {open} of which have an open call; rejected {refused} lines",
            processes.len()
        )
    }

    /// Adds a line of a client to the log, and returns the time of the line.
    fn add(&mut self, connection: usize, line: &[u8]) -> Result<u64, Refusal> {
        let added = self.try_add(connection, line);
        match &added {
            Ok(_) => self.events += 1,
            Err(_) => self.refused += 1,
        }
        added
    }

    /// Adds a line of a client to the log. If the line is refused, nothing changes, because the
    /// state is updated only after the line is written.
    fn try_add(&mut self, connection: usize, line: &[u8]) -> Result<u64, Refusal> {
        if self.is_closed {
            return Err("the log is closed".into());
        }
        let object = serde_json::from_slice(line)
            .map_err(|fault| Refusal::Message(format!("this is not a JSON object ({fault}); send one on each line")))?;
        let Value::Object(mut event) = object else {
            return Err("this is not a JSON object; send one on each line".into());
        };
        let client = event.remove("process").unwrap_or(Value::Null);
        if !matches!(client, Value::Null | Value::Number(_) | Value::String(_)) {
            return Err("`process` must be a number or a name, or be left out".into());
        }
        let kind = match event.get("type").and_then(Value::as_str) {
            Some(kind @ ("invoke" | "ok" | "fail" | "info")) => kind.to_owned(),
            _ => return Err("`type` must be invoke, ok, fail or info".into()),
        };
        let process = (connection, client.to_string());
        let known = self.processes.get(&process);
        let number = known.map_or(self.next_process, |(number, _)| *number);
        if number == u32::MAX {
            return Err("too many processes; start another log".into());
        }
        let open = known.and_then(|(_, open)| open.as_ref());
        let mut called = None;
        match (&*kind, open) {
            ("invoke", Some(_)) => {
                return Err("the previous call of this process has not returned; send its return first, or use another `process`".into());
            }
            ("invoke", None) => {
                let object = event.get("object").cloned();
                if self.named.is_some_and(|named| named != object.is_some()) {
                    return Err(
                        "some calls name an `object`, and others do not; name it in all calls or in none".into()
                    );
                }
                match event.get("f") {
                    Some(f @ Value::String(_)) => called = Some((f.clone(), object)),
                    _ => return Err("`f` is missing; name the operation that is called, such as \"f\":\"read\"".into()),
                }
            }
            (_, None) => return Err("no call is open; send the call first".into()),
            (_, Some(open)) => {
                if event.get("f").is_some_and(|given| *given != open.f) {
                    return Err("the open call has a different `f`; send the same `f`, or leave it out".into());
                }
                match &open.object {
                    Some(object) => drop(event.insert("object".to_owned(), object.clone())),
                    None if event.contains_key("object") => {
                        return Err("the open call names no `object`; leave `object` out".into());
                    }
                    None => {}
                }
            }
        }
        let elapsed = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let time = self.first_time.saturating_add(elapsed);
        let mut out = Map::new();
        out.insert("process".to_owned(), json!(number));
        out.insert("time".to_owned(), json!(time));
        event.remove("time");
        out.extend(event);
        if !client.is_null() {
            out.insert("client".to_owned(), client);
        }
        // Write the line with a single call, so that after a failure of the machine, only the last
        // line of the log can be incomplete.
        let mut line = Value::Object(out).to_string();
        line.push('\n');
        // Refuse a line that would make the log unreadable. To find out, read a short log that
        // consists of the open call and the line. A failed operation is not part of a history, so
        // if the line is a `fail`, add the call once more; otherwise the short log would contain no
        // operation.
        let another = if kind == "fail" { open.map(|open| open.line.as_str()) } else { None };
        let history = [open.map_or("", |open| &open.line), &line, another.unwrap_or("")].concat();
        if let Err(fault) = jsonl::read(history.as_bytes()) {
            return Err(Refusal::Message(fault.message().to_owned()));
        }
        self.write(line.as_bytes()).map_err(Refusal::Unwritten)?;
        self.judge(line.as_bytes());
        if let Some((_, object)) = &called {
            self.named = Some(object.is_some());
        }
        self.next_process = self.next_process.max(number + 1);
        self.processes.insert(process, (number, called.map(|(f, object)| Open { f, object, line })));
        Ok(time)
    }
}

/// Locks the file against other collectors for as long as this process lives.
#[cfg(unix)]
fn lock(file: &File) -> Result<(), Unusable> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(Unusable::Message(
            "another `trueline collect` is writing this file; stop it, or name another file".to_owned(),
        )),
        // Some file systems do not support locks.
        _ => Ok(()),
    }
}

/// On systems without `flock`, the file is not locked.
#[cfg(not(unix))]
fn lock(_: &File) -> Result<(), Unusable> {
    Ok(())
}
